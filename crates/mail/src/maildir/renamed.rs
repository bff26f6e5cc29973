//! Finds message files that were renamed: the unique part of a name stays the same when flags change.

use crate::maildir::file_name::parse_name;
use std::collections::HashMap;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Returns the names in a directory by their unique parts. Reads the whole directory once: for many files.
///
/// # Errors
/// The directory cannot be read.
pub fn names_by_unique_part(directory: &Path) -> io::Result<HashMap<Vec<u8>, Vec<Vec<u8>>>> {
    let mut names: HashMap<Vec<u8>, Vec<Vec<u8>>> = HashMap::new();
    for entry in std::fs::read_dir(directory)? {
        let name = entry?.file_name().as_bytes().to_vec();
        names.entry(parse_name(&name).unique.to_vec()).or_default().push(name);
    }
    Ok(names)
}

/// Returns where a message file is now if its flags changed or it moved between `new` and `cur`. Stops at the
/// first match, in `cur` first. Returns `None` if there is no such file or its folder cannot be read.
#[must_use]
pub fn find_renamed(path: &Path) -> Option<PathBuf> {
    let unique = parse_name(path.file_name()?.as_bytes()).unique;
    let folder = path.parent()?.parent()?;
    ["cur", "new"].into_iter().find_map(|directory| {
        let entries = std::fs::read_dir(folder.join(directory)).ok()?;
        let is_same = |entry: &std::fs::DirEntry| parse_name(entry.file_name().as_bytes()).unique == unique;
        entries.flatten().find(is_same).map(|entry| entry.path())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_under_other_flags_and_in_the_other_directory() {
        let folder = tempfile::tempdir().unwrap();
        for directory in ["cur", "new"] {
            std::fs::create_dir(folder.path().join(directory)).unwrap();
        }
        let (old, now) = (folder.path().join("new/1.x"), folder.path().join("cur/1.x:2,S"));
        assert_eq!(find_renamed(&old), None);
        std::fs::write(&now, "").unwrap();
        assert_eq!(find_renamed(&old), Some(now));
        let names = names_by_unique_part(&folder.path().join("cur")).unwrap();
        assert_eq!(names.into_iter().collect::<Vec<_>>(), [(b"1.x".to_vec(), vec![b"1.x:2,S".to_vec()])]);
        assert!(names_by_unique_part(&folder.path().join("tmp")).is_err());
    }
}
