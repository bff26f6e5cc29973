//! Directories: emptied, copied, read completely.
//!
//! Input: paths. Output: directories, or the bytes in one. Does not know what is in the files.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Creates an empty directory, and replaces an existing one.
///
/// # Errors
/// If it cannot be removed or created.
pub fn renew(place: &Path) -> Result<()> {
    if place.exists() {
        fs::remove_dir_all(place).with_context(|| format!("cannot remove {}", place.display()))?;
    }
    fs::create_dir_all(place).with_context(|| format!("cannot create {}", place.display()))
}

/// Copies a directory with everything in it.
///
/// # Errors
/// Disk errors.
pub fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
        if path.is_dir() {
            copy_tree(&path, &to.join(name))?;
        } else {
            fs::copy(&path, to.join(name)).with_context(|| format!("cannot copy {}", path.display()))?;
        }
    }
    Ok(())
}

/// Returns the bytes of all files below `place`, by their paths within it.
///
/// # Errors
/// Disk errors.
pub fn contents(place: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    let mut pending = vec![place.to_owned()];
    while let Some(directory) = pending.pop() {
        let listed =
            fs::read_dir(&directory).with_context(|| format!("cannot read {}", directory.display()))?;
        for entry in listed {
            let path = entry?.path();
            if path.is_dir() {
                pending.push(path);
            } else {
                let name = path.strip_prefix(place)?.to_string_lossy().into_owned();
                files.insert(name, fs::read(&path)?);
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_same_contents_and_a_renewed_directory_none() {
        let place = tempfile::tempdir().unwrap();
        let (from, to) = (place.path().join("from"), place.path().join("to"));
        fs::create_dir_all(from.join("a/b")).unwrap();
        fs::write(from.join("a/b/one"), "1").unwrap();
        fs::write(from.join("two"), "2").unwrap();
        copy_tree(&from, &to).unwrap();
        let copied = contents(&to).unwrap();
        assert_eq!(copied, contents(&from).unwrap());
        assert_eq!(copied.keys().collect::<Vec<_>>(), ["a/b/one", "two"]);
        renew(&to).unwrap();
        assert!(contents(&to).unwrap().is_empty());
    }
}
