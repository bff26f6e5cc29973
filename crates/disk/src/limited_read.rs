//! Opens and reads a file of any kind, without waiting forever and without using all memory.
//!
//! Input: a path and a limit. Output: an open file, or the bytes. Does not depend on what they mean.
//!
//! Opening a pipe waits until another process writes to it, and a device such as `/dev/zero` has no end. They
//! are allowed only where the user names the path on the command line ([`Source::Anything`]), as in
//! `--password-file <(pass show mail)`.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// What a path may refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A regular file, and nothing else.
    File,
    /// A pipe or a device too; it is waited for.
    Anything,
}

/// Reads the whole content at a path.
///
/// # Errors
/// An error of the system; the path is not a regular file; it has more than `limit_bytes` bytes.
pub fn read_small(path: &Path, limit_bytes: usize, from: Source) -> io::Result<Vec<u8>> {
    let file = match from {
        Source::File => open_file(path)?,
        Source::Anything => File::open(path)?,
    };
    read_to_limit(file, limit_bytes)
}

/// Reads to the end.
///
/// # Errors
/// An error of the reader; there are more than `limit_bytes` bytes. At most one byte more is read.
pub fn read_to_limit(reader: impl Read, limit_bytes: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(limit_bytes as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limit_bytes {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it has more than {limit_bytes} bytes"),
        ));
    }
    Ok(bytes)
}

/// Opens a regular file for reading. Refuses anything else without waiting for it or reading it.
///
/// # Errors
/// An error of the system; it is not a regular file.
pub fn open_file(path: &Path) -> io::Result<File> {
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path);
    let file = match opened {
        // A file server has a lease on the file, which ends only for those who wait.
        Err(error) if error.kind() == io::ErrorKind::WouldBlock && path.metadata()?.is_file() => {
            File::open(path)?
        }
        other => other?,
    };
    let metadata = file.metadata()?;
    if metadata.is_file() {
        Ok(file)
    } else if metadata.is_dir() {
        Err(io::ErrorKind::IsADirectory.into())
    } else {
        Err(not_a_file())
    }
}

/// Returns the error for a pipe, a socket or a device.
pub(crate) fn not_a_file() -> io::Error {
    io::Error::other("it is not a regular file")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    #[test]
    fn only_a_regular_file_is_read_and_none_beyond_its_limit() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        fs::write(path("file"), "12345").unwrap();
        symlink(path("file"), path("link")).unwrap();
        symlink("/dev/zero", path("zero")).unwrap();
        assert!(Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
        let read =
            |name: &str, limit, from| read_small(&path(name), limit, from).map_err(|error| error.to_string());
        for from in [Source::File, Source::Anything] {
            for name in ["file", "link"] {
                assert_eq!(read(name, 5, from), Ok(b"12345".to_vec()));
                assert_eq!(read(name, 4, from), Err("it has more than 4 bytes".to_owned()));
            }
            assert!(read("", 5, from).unwrap_err().to_lowercase().contains("is a directory"));
            assert!(read("absent", 5, from).unwrap_err().contains("No such file"));
        }
        for name in ["zero", "pipe"] {
            assert_eq!(read(name, 5, Source::File), Err("it is not a regular file".to_owned()), "{name}");
        }
        assert_eq!(read("zero", 5, Source::Anything), Err("it has more than 5 bytes".to_owned()));
        assert_eq!(read_small(Path::new("/dev/null"), 5, Source::Anything).unwrap(), b"");
        let mut writer =
            Command::new("sh").args(["-c", "printf abc > \"$0\""]).arg(path("pipe")).spawn().unwrap();
        assert_eq!(read("pipe", 5, Source::Anything), Ok(b"abc".to_vec()));
        writer.wait().unwrap();
    }
}
