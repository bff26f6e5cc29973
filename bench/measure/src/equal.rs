//! Whether two directories have the same content.
//!
//! Input: two directories. Output: how many files both have, or the first difference. Does not know who made
//! them.

use anyhow::{Context, Result, bail, ensure};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Compares names, kinds, rights, lengths, times and contents of all files below two directories, and returns
/// how many there are.
///
/// # Errors
/// The first difference.
pub fn compare(left: &Path, right: &Path) -> Result<u64> {
    let (names, other_names) = (names(left)?, names(right)?);
    if let Some((name, other)) = names.iter().zip(&other_names).find(|(name, other)| name != other) {
        bail!("{} is only in one of {} and {}", name.min(other).display(), left.display(), right.display());
    }
    ensure!(
        names.len() == other_names.len(),
        "{} has {} entries, {} has {}",
        left.display(),
        names.len(),
        right.display(),
        other_names.len()
    );
    let mut files = 0;
    for name in &names {
        let (left, right) = (left.join(name), right.join(name));
        let (ours, theirs) = (fs::symlink_metadata(&left)?, fs::symlink_metadata(&right)?);
        ensure!(
            known_of(&ours) == known_of(&theirs),
            "{} and {} differ: {:?}, {:?}",
            left.display(),
            right.display(),
            known_of(&ours),
            known_of(&theirs)
        );
        if ours.is_file() {
            files += 1;
            ensure!(fs::read(&left)? == fs::read(&right)?, "{} has another content", left.display());
        }
    }
    Ok(files)
}

/// The mode. For everything except directories also length and time.
fn known_of(metadata: &Metadata) -> (u32, Option<(u64, i64, i64)>) {
    let file = (!metadata.is_dir()).then(|| (metadata.len(), metadata.mtime(), metadata.mtime_nsec()));
    (metadata.mode(), file)
}

fn names(root: &Path) -> Result<Vec<PathBuf>> {
    let mut names = Vec::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(below) = waiting.pop() {
        let directory = root.join(&below);
        for entry in
            fs::read_dir(&directory).with_context(|| format!("cannot read {}", directory.display()))?
        {
            let entry = entry?;
            let name = below.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                waiting.push(name.clone());
            }
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(directory: &Path, content: &str) {
        fs::create_dir_all(directory.join("a/b")).unwrap();
        for name in ["one", "a/two", "a/b/three"] {
            let path = directory.join(name);
            fs::write(&path, content).unwrap();
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(std::time::UNIX_EPOCH).unwrap();
        }
    }

    #[test]
    fn the_first_difference_is_named() {
        let place = tempfile::tempdir().unwrap();
        let (left, right) = (place.path().join("left"), place.path().join("right"));
        tree(&left, "same");
        tree(&right, "same");
        assert_eq!(compare(&left, &right).unwrap(), 3);
        fs::write(right.join("a/two"), "else").unwrap();
        let file = fs::File::options().write(true).open(right.join("a/two")).unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
        let error = compare(&left, &right).unwrap_err();
        assert!(error.to_string().ends_with("left/a/two has another content"), "{error}");
        file.set_modified(std::time::SystemTime::now()).unwrap();
        assert!(compare(&left, &right).unwrap_err().to_string().contains("differ"));
        fs::rename(right.join("a/two"), right.join("a/zwei")).unwrap();
        let error = compare(&left, &right).unwrap_err();
        assert!(error.to_string().starts_with("a/two is only in one of"), "{error}");
        fs::remove_file(right.join("a/zwei")).unwrap();
        assert!(compare(&left, &right).is_err());
    }
}
