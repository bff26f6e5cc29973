//! Writes the content of a part into a new file.
//!
//! Input: the parts of a message, a directory, a name. Output: the file, whole, or none. No file is ever
//! replaced.

use crate::new_file::{Existing, NewFile, NewFileError};
use mail::{MessageParts, PartRead};
use std::io::Write;
use std::path::{Path, PathBuf};
use work::Cancel;

/// Why a part was not saved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PartError {
    /// The file cannot be written, or something with that name is there.
    #[error(transparent)]
    File(#[from] NewFileError),
    /// The message cannot be read.
    #[error(transparent)]
    Mail(#[from] mail::Error),
    /// The content would be decoded again once too often.
    #[error("part {number} is inside encoded or signed content, like many others; save it alone")]
    TooMany {
        /// The number of the part.
        number: usize,
    },
    /// The message has no such part.
    #[error("the message has no part {number}")]
    NoSuchPart {
        /// The number.
        number: usize,
    },
    /// The request was cancelled.
    #[error("interrupted")]
    Cancelled,
}

/// A part that was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The file.
    pub path: PathBuf,
    /// Whether its transfer encoding was damaged, so that the file may lack something.
    pub is_damaged: bool,
}

/// Saves the part with this number as `name` in `directory`. The file is readable by its owner only.
///
/// # Errors
/// There is a file of that name; it cannot be written; the message cannot be read, or has no such part. No
/// file is left then.
pub fn save_part(
    parts: &mut MessageParts<'_>,
    number: usize,
    (directory, name): (&Path, &str),
    cancel: &Cancel,
) -> Result<Saved, PartError> {
    let new = NewFile::begin(&directory.join(name), Existing::Refused)?;
    let is_damaged = write(parts, number, &new, cancel)?;
    Ok(Saved { path: new.finish()?, is_damaged })
}

/// Writes the content, and returns whether its encoding was damaged.
fn write(
    parts: &mut MessageParts<'_>,
    number: usize,
    new: &NewFile,
    cancel: &Cancel,
) -> Result<bool, PartError> {
    let mut written = Ok(());
    let read = parts.each_block(number, &mut |block| {
        if written.is_ok() && !cancel.is_cancelled() {
            written = new.file().write_all(block);
        }
    })?;
    written.map_err(|source| new.failed(source))?;
    if cancel.is_cancelled() {
        return Err(PartError::Cancelled);
    }
    match read {
        PartRead::Clean => Ok(false),
        PartRead::Damaged => Ok(true),
        PartRead::NoSuchPart => Err(PartError::NoSuchPart { number }),
        PartRead::TooMany => Err(PartError::TooMany { number }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    const MESSAGE: &[u8] = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\none\n\
        --b\nContent-Type: a/b\nContent-Transfer-Encoding: base64\n\nQUJD****\n--b--\n";

    fn saved(number: usize, directory: &Path, name: &str) -> Result<Saved, PartError> {
        save_part(&mut MessageParts::of_bytes(MESSAGE), number, (directory, name), &Cancel::new())
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_part_is_written_whole_and_for_its_owner() {
        let directory = tempfile::tempdir().unwrap();
        let first = saved(1, directory.path(), "one.txt").unwrap();
        assert_eq!((fs::read(&first.path).unwrap(), first.is_damaged), (b"one".to_vec(), false));
        assert_eq!(fs::metadata(&first.path).unwrap().permissions().mode() & 0o777, 0o600);
        let second = saved(2, directory.path(), "two").unwrap();
        assert!(second.is_damaged && fs::read(&second.path).unwrap().starts_with(b"ABC"));
        assert_eq!(names(directory.path()).len(), 2);
    }

    #[test]
    fn nothing_is_replaced_and_no_link_is_followed() {
        let directory = tempfile::tempdir().unwrap();
        let place = |name: &str| directory.path().join(name);
        fs::write(place("file"), "old").unwrap();
        fs::create_dir(place("directory")).unwrap();
        symlink(place("file"), place("link")).unwrap();
        symlink(place("nowhere"), place("dangling")).unwrap();
        for name in ["file", "directory", "link", "dangling"] {
            let refused = saved(1, directory.path(), name).unwrap_err();
            assert!(matches!(refused, PartError::File(NewFileError::Exists { .. })), "{name}: {refused}");
        }
        assert_eq!(fs::read(place("file")).unwrap(), b"old");
        assert!(!place("nowhere").exists());
        assert_eq!(names(directory.path()).len(), 4, "no temporary file is left");
    }

    #[test]
    fn a_failure_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        assert!(matches!(saved(3, directory.path(), "x"), Err(PartError::NoSuchPart { number: 3 })));
        assert!(matches!(
            saved(1, &directory.path().join("no"), "x"),
            Err(PartError::File(NewFileError::Write { .. }))
        ));
        let cancel = Cancel::new();
        cancel.cancel();
        let mut parts = MessageParts::of_bytes(MESSAGE);
        let stopped = save_part(&mut parts, 1, (directory.path(), "x"), &cancel);
        assert!(matches!(stopped, Err(PartError::Cancelled)));
        assert_eq!(names(directory.path()), [""; 0]);
    }
}
