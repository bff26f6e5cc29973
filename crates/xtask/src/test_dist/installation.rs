//! Where a package was installed, and how its programs are run there.
//!
//! Input: a root or an environment. Output: commands with a separate environment. Does not know what is
//! tested.

use anyhow::Result;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The home directory in a separate root.
const HOME: &str = "/home/trial";

/// A place with installed programs and a home directory.
pub(super) struct Installation {
    /// The root that programs see; `None` for the real one.
    root: Option<PathBuf>,
    /// Where the programs are, as seen from that root.
    programs: PathBuf,
    /// The home directory, as seen from that root.
    home: PathBuf,
}

impl Installation {
    /// A separate root, with programs in `programs`.
    pub(super) fn inside(root: &Path, programs: &str) -> Installation {
        Installation { root: Some(root.to_owned()), programs: programs.into(), home: HOME.into() }
    }

    /// A directory of programs in the real root.
    pub(super) fn beside(home: &Path, programs: &Path) -> Installation {
        Installation { root: None, programs: programs.to_owned(), home: home.to_owned() }
    }

    /// Returns the home directory as this process sees it.
    pub(super) fn home_outside(&self) -> PathBuf {
        match &self.root {
            None => self.home.clone(),
            Some(root) => root.join(self.home.strip_prefix("/").unwrap_or(&self.home)),
        }
    }

    /// Returns the home directory as the programs see it.
    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    /// Creates an empty home directory.
    pub(super) fn renew(&self) -> Result<()> {
        crate::directory::renew(&self.home_outside())
    }

    /// Returns a command that runs the program `name` with nothing of this process's environment.
    pub(super) fn command(&self, name: &str) -> Command {
        let program = self.programs.join(name);
        let mut command = match &self.root {
            None => Command::new(program),
            Some(root) => {
                let mut command = change_root(root);
                command.arg(program);
                command
            }
        };
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("HOME", &self.home);
        if self.root.is_none() {
            command.current_dir(&self.home);
        }
        command
    }
}

/// Returns a command that runs its arguments in another root: as root itself, or as root of a user namespace.
pub(super) fn change_root(root: &Path) -> Command {
    use std::os::unix::fs::MetadataExt;
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let mut command = if is_root { Command::new("chroot") } else { Command::new("unshare") };
    if !is_root {
        command.args(["--map-root-user", "chroot"]);
    }
    command.arg(root);
    command
}
