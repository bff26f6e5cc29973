//! Reads what this program needs from its environment besides what every program does.

use std::ffi::OsString;
use std::path::PathBuf;

/// Where stores may be kept, and how much of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CacheSurroundings {
    /// The user's directory for caches (`XDG_CACHE_HOME`, or else `.cache` in `HOME`).
    pub cache_home: Option<PathBuf>,
    /// The most that is kept there, as the user wrote it (`PNEU_TARANTOOL_CACHE_MAX`).
    pub size_max: Option<OsString>,
    /// The directory for what is not kept (`TMPDIR`).
    pub temporary: PathBuf,
}

/// Returns them. By the rules of the XDG base directory specification, a path that is not absolute is
/// ignored.
pub(crate) fn cache_surroundings() -> CacheSurroundings {
    let directory = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    CacheSurroundings {
        cache_home: directory("XDG_CACHE_HOME").or_else(|| Some(directory("HOME")?.join(".cache"))),
        size_max: std::env::var_os("PNEU_TARANTOOL_CACHE_MAX").filter(|value| !value.is_empty()),
        temporary: std::env::temp_dir(),
    }
}

/// Returns the number of the user that the process acts as.
pub(crate) fn user_id() -> u32 {
    rustix::process::geteuid().as_raw()
}
