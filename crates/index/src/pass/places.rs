//! What a pass over part of the mail looks at: whole folders, and single files in others.
//!
//! Input: paths, from whoever knows what changed. Output: what is wanted of each folder. Must not know the
//! disk.

use crate::rows::Subdirectory;
use std::collections::{BTreeSet, HashMap};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The places that a pass looks at. Everything else stays as it is in the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    folders: HashMap<PathBuf, Wanted>,
}

/// What is wanted of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// All its files.
    Whole,
    /// These files.
    Files(BTreeSet<(Subdirectory, Vec<u8>)>),
}

impl Places {
    /// Adds a whole folder: the path of a directory that has `cur` and `new`, or had them. It may be new or
    /// gone. Folders below it are not included.
    pub fn add_folder(&mut self, folder: &Path) {
        self.folders.insert(folder.to_owned(), Wanted::Whole);
    }

    /// Adds one place in `cur` or `new` of a folder, where a file is or was. Any other path adds the whole
    /// folder two levels above it.
    pub fn add_file(&mut self, path: &Path) {
        let Some((directory, folder)) = path.parent().and_then(|parent| Some((parent, parent.parent()?)))
        else {
            return;
        };
        let is_it = |subdirectory: &Subdirectory| directory.ends_with(subdirectory.name());
        let subdirectory = Subdirectory::ALL.into_iter().find(is_it);
        let (Some(subdirectory), Some(name)) = (subdirectory, path.file_name()) else {
            return self.add_folder(folder);
        };
        let wanted = self.folders.entry(folder.to_owned()).or_insert_with(|| Wanted::Files(BTreeSet::new()));
        if let Wanted::Files(files) = wanted {
            files.insert((subdirectory, name.as_bytes().to_vec()));
        }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// Returns the folders, in any order.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.folders.keys().map(PathBuf::as_path)
    }

    /// Returns what is wanted of a folder.
    pub(crate) fn wanted(&self, folder: &Path) -> Option<&Wanted> {
        self.folders.get(folder)
    }
}

impl<'a> FromIterator<&'a Path> for Places {
    /// Collects whole folders.
    fn from_iter<T: IntoIterator<Item = &'a Path>>(folders: T) -> Places {
        let mut places = Places::default();
        folders.into_iter().for_each(|folder| places.add_folder(folder));
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_folder_includes_its_files_whatever_comes_first() {
        let (folder, file) = (Path::new("/mail/a"), Path::new("/mail/a/cur/1:2,S"));
        let mut first = Places::default();
        first.add_file(file);
        assert!(matches!(first.wanted(folder), Some(Wanted::Files(files)) if files.len() == 1));
        first.add_folder(folder);
        let mut second: Places = [folder].into_iter().collect();
        second.add_file(file);
        assert_eq!(first, second);
        assert_eq!(first.wanted(folder), Some(&Wanted::Whole));
    }

    #[test]
    fn what_is_in_neither_directory_stands_for_its_folder() {
        let mut places = Places::default();
        places.add_file(Path::new("/mail/a/tmp/1"));
        assert_eq!(places.wanted(Path::new("/mail/a")), Some(&Wanted::Whole));
        places.add_file(Path::new("/"));
        assert_eq!(places.folders().count(), 1);
    }
}
