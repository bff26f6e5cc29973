//! Where stores are kept, and how much of them: the directory, and its checks.
//!
//! What another user can write into is never used: that user could answer in place of the files.

use crate::environment::{CacheSurroundings, user_id};
use anyhow::{Context, Result, anyhow, bail};
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The name of the directory in the user's directory for caches.
const NAME: &str = "pneu-tarantool";
/// The most that is kept if the user says nothing: 4 GiB.
const SIZE_MAX_DEFAULT: u64 = 4 << 30;
const MODE: u32 = 0o700;
/// The bits of a mode by which others may write.
const OTHERS_WRITE: u32 = 0o022;

/// Returns how many bytes may be kept.
///
/// # Errors
/// What the user wrote is no size.
pub(crate) fn size_max(surroundings: &CacheSurroundings) -> Result<u64> {
    let Some(text) = &surroundings.size_max else { return Ok(SIZE_MAX_DEFAULT) };
    parse_size(text).ok_or_else(|| {
        anyhow!(
            "PNEU_TARANTOOL_CACHE_MAX is \"{}\"; a number of bytes is expected, or one that ends with K, M, \
             G or T",
            text.to_string_lossy()
        )
    })
}

fn parse_size(text: &OsStr) -> Option<u64> {
    let text = text.to_str()?.trim();
    let units = [('K', 10), ('M', 20), ('G', 30), ('T', 40)];
    let unit = units.iter().find(|(letter, _)| text.to_ascii_uppercase().ends_with(*letter));
    let digits = if unit.is_some() { text.get(..text.len() - 1)? } else { text };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse::<u64>().ok().filter(|_| is_number)?.checked_mul(1 << unit.map_or(0, |(_, bits)| *bits))
}

/// Returns the directory for stores that are kept, created if it does not exist. `None` if there is no home
/// for it.
///
/// # Errors
/// It cannot be created, or is not the user's own.
pub(super) fn directory(surroundings: &CacheSurroundings) -> Result<Option<PathBuf>> {
    let Some(home) = &surroundings.cache_home else { return Ok(None) };
    let path = home.join(NAME);
    let cannot = || format!("cannot keep stores in {}; --no-cache does without", path.display());
    fs::create_dir_all(home).with_context(cannot)?;
    match DirBuilder::new().mode(MODE).create(&path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error).with_context(cannot),
        _ => {}
    }
    let metadata = fs::symlink_metadata(&path).with_context(cannot)?;
    if let Some(what) = refusal(&metadata, user_id()) {
        bail!("{} {what}: it is not used; --no-cache does without", path.display());
    }
    if metadata.mode() & 0o777 != MODE {
        fs::set_permissions(&path, Permissions::from_mode(MODE)).with_context(cannot)?;
    }
    Ok(Some(path))
}

/// Returns why a directory is not used.
fn refusal(metadata: &Metadata, user: u32) -> Option<&'static str> {
    if metadata.is_symlink() {
        Some("is a link")
    } else if !metadata.is_dir() {
        Some("is no directory")
    } else if metadata.uid() != user {
        Some("belongs to another user")
    } else if metadata.mode() & OTHERS_WRITE != 0 {
        Some("can be written by other users")
    } else {
        None
    }
}

/// Creates a directory for a store that is not kept.
///
/// # Errors
/// It cannot be created, or exists.
pub(crate) fn temporary_directory(above: &Path, seed: u64) -> Result<PathBuf> {
    let path = above.join(format!("{NAME}-{seed:016x}"));
    let created = DirBuilder::new().mode(MODE).create(&path);
    created.with_context(|| format!("cannot create {}", path.display()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    #[test]
    fn sizes_have_units() {
        for (text, size) in [
            ("0", Some(0)),
            ("1500", Some(1500)),
            ("2k", Some(2048)),
            ("3G", Some(3 << 30)),
            ("16777216T", None),
        ] {
            assert_eq!(parse_size(OsStr::new(text)), size, "{text}");
        }
        for text in ["", "G", "-1", "1.5G", "1GB", "ü"] {
            let said = CacheSurroundings { size_max: Some(OsString::from(text)), ..Default::default() };
            assert!(size_max(&said).is_err(), "{text}");
        }
        assert_eq!(size_max(&CacheSurroundings::default()).unwrap(), 4 << 30);
    }

    #[test]
    fn only_a_directory_of_the_user_is_used() {
        let home = tempfile::tempdir().unwrap();
        let surroundings =
            CacheSurroundings { cache_home: Some(home.path().join("c")), ..CacheSurroundings::default() };
        let path = directory(&surroundings).unwrap().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        directory(&surroundings).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        let refused = || directory(&surroundings).unwrap_err().to_string();
        fs::set_permissions(&path, Permissions::from_mode(0o770)).unwrap();
        assert!(
            refused().ends_with("can be written by other users: it is not used; --no-cache does without")
        );
        let elsewhere = home.path().join("elsewhere");
        fs::rename(&path, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
        assert!(refused().contains("is a link"));
        fs::remove_file(&path).unwrap();
        fs::write(&path, "").unwrap();
        assert!(refused().contains("is no directory"));
        assert_eq!(directory(&CacheSurroundings::default()).unwrap(), None);
        let own = fs::metadata(home.path()).unwrap();
        assert_eq!(refusal(&own, own.uid() + 1), Some("belongs to another user"));
    }
}
