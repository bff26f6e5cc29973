//! A file that appears whole under its name, or not at all.
//!
//! Input: a path, then bytes. Output: the file, readable by its owner only. The bytes go to a temporary file
//! of the same directory, which gets the name at the end. No symbolic link in the place of the name is
//! followed. Does not know what is written.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Whether a file of the same name is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It is not.
    Refused,
    /// It is, if it is a file or a symbolic link.
    Replaced,
}

/// Why a file was not written. No temporary file is left then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NewFileError {
    /// Something with that name is there.
    #[error("{} exists, and is not replaced", path.display())]
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// Something with that name is there, and is no file.
    #[error("{} is not a file, and is not replaced", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The path.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

/// A file that is being written. If it is dropped before it is finished, nothing is left of it.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    existing: Existing,
    temporary: NamedTempFile,
}

impl NewFile {
    /// Begins a file.
    ///
    /// # Errors
    /// There is something of that name that is not replaced; the directory takes no file.
    pub fn begin(path: &Path, existing: Existing) -> Result<NewFile, NewFileError> {
        // Checked first, so that much is not written in vain. The last step checks it again.
        if let Ok(found) = path.symlink_metadata() {
            let path = path.to_owned();
            match existing {
                Existing::Refused => return Err(NewFileError::Exists { path }),
                Existing::Replaced if found.is_file() || found.is_symlink() => {}
                Existing::Replaced => return Err(NewFileError::NotAFile { path }),
            }
        }
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let temporary = tempfile::Builder::new()
            .prefix(".pneu-")
            .permissions(Permissions::from_mode(0o600))
            .tempfile_in(directory.unwrap_or(Path::new(".")))
            .map_err(|source| NewFileError::Write { path: path.to_owned(), source })?;
        Ok(NewFile { path: path.to_owned(), existing, temporary })
    }

    /// Returns the file to write to.
    pub fn file(&self) -> &File {
        self.temporary.as_file()
    }

    /// Returns what says that the file cannot be written.
    pub fn failed(&self, source: io::Error) -> NewFileError {
        NewFileError::Write { path: self.path.clone(), source }
    }

    /// Makes the content durable, and gives the file its name. Returns its path.
    ///
    /// # Errors
    /// It cannot be written; meanwhile something else has the name.
    pub fn finish(self) -> Result<PathBuf, NewFileError> {
        self.temporary.as_file().sync_all().map_err(|source| self.failed(source))?;
        let NewFile { path, existing, temporary } = self;
        let persisted = match existing {
            Existing::Refused => temporary.persist_noclobber(&path),
            Existing::Replaced => temporary.persist(&path),
        };
        match persisted {
            Ok(_) => Ok(path),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                Err(NewFileError::Exists { path })
            }
            Err(error) => Err(NewFileError::Write { path, source: error.error }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::symlink;

    fn write(path: &Path, existing: Existing) -> Result<PathBuf, NewFileError> {
        let new = NewFile::begin(path, existing)?;
        new.file().write_all(b"new").map_err(|error| new.failed(error))?;
        new.finish()
    }

    #[test]
    fn what_exists_is_replaced_only_if_that_is_wanted() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let link = directory.path().join("link");
        fs::write(&path, "old").unwrap();
        symlink(&path, &link).unwrap();
        for name in [&path, &link] {
            assert!(matches!(write(name, Existing::Refused), Err(NewFileError::Exists { .. })));
        }
        write(&link, Existing::Replaced).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old", "the link is replaced, not its target");
        assert!(fs::symlink_metadata(&link).unwrap().is_file());
        write(&path, Existing::Replaced).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        let refused = write(directory.path(), Existing::Replaced);
        assert!(matches!(refused, Err(NewFileError::NotAFile { .. })), "{refused:?}");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_file_that_appears_meanwhile_is_kept_and_one_that_is_dropped_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let new = NewFile::begin(&path, Existing::Refused).unwrap();
        fs::write(&path, "other").unwrap();
        assert!(matches!(new.finish(), Err(NewFileError::Exists { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"other");
        drop(NewFile::begin(&path, Existing::Replaced).unwrap());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        let nowhere = write(&directory.path().join("no/file"), Existing::Refused);
        assert!(matches!(nowhere, Err(NewFileError::Write { .. })));
    }
}
