//! Stores new messages in a Maildir, as <https://cr.yp.to/proto/maildir.html> says: written and synced in
//! `tmp`, then renamed into `new` or `cur`.
//!
//! Input: a folder, a name that no other file has, a stream. Output: the path of the file, which is durable.
//! Nothing is ever replaced, and nothing is left in `tmp` after an error. Does not look at the message,
//! except for an mbox's line in front of it.

use crate::error::{Error, Result};
use crate::maildir::file_name::with_flags;
use crate::maildir::flags::Flags;
use crate::maildir::path::join;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The line that mbox files and some delivery agents put in front of a message begins so. It is no part of
/// the message.
const ENVELOPE: &[u8] = b"From ";
/// The directories of a folder.
const DIRECTORIES: [&str; 3] = ["tmp", "new", "cur"];

/// Creates a folder with its three directories, readable by its owner only, and makes them durable. What
/// exists of it stays. Its parent must exist.
///
/// # Errors
/// A directory cannot be created or synced.
pub fn create_folder(folder: &Path) -> Result<()> {
    create_directory(folder)?;
    for directory in DIRECTORIES {
        create_directory(&folder.join(directory))?;
    }
    sync_directory(folder)?;
    folder.parent().map_or(Ok(()), sync_directory)
}

/// Stores a message under `name`, which [`unique_name`](crate::unique_name) makes: in `cur` if it has flags,
/// else in `new`. When this returns, the file and its name are durable.
///
/// # Errors
/// The folder cannot be written; `message` cannot be read, or is empty. The message is not there then.
pub fn deliver(folder: &Path, name: &[u8], flags: Option<Flags>, message: &mut dyn Read) -> Result<PathBuf> {
    let temporary = Temporary::create(folder, name)?;
    temporary.write(message)?;
    let (directory, name) = match flags {
        Some(flags) => ("cur", with_flags(name, flags)),
        None => ("new", name.to_vec()),
    };
    let directory = folder.join(directory);
    // Opened before the file appears there: after that nothing should go wrong.
    let open = File::open(&directory).map_err(|source| Error::io("open", &directory, source))?;
    let path = join(&directory, &name);
    publish(&temporary.path, &path).map_err(|source| Error::io("create", &path, source))?;
    match sync(&open) {
        // If it can be removed, whoever tries again delivers it once. If not, it is there: twice is worse.
        Err(source) if std::fs::remove_file(&path).is_ok() => Err(Error::io("sync", &directory, source)),
        _ => Ok(path),
    }
}

/// Gives a file in `tmp` its name. The name in `tmp` may stay.
fn publish(temporary: &Path, path: &Path) -> io::Result<()> {
    match rename_exclusively(temporary, path) {
        Err(error) if is_unsupported(error) => std::fs::hard_link(temporary, path),
        done => Ok(done?),
    }
}

/// Returns whether a file system cannot rename without replacing.
pub(crate) fn is_unsupported(error: Errno) -> bool {
    [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP, Errno::PERM].contains(&error)
}

/// Returns the name of this host, for the names of files.
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Renames a file to a name that no file has, within a file system.
///
/// # Errors
/// There is a file of that name; other errors of the system.
pub fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    match rename_exclusively(from, to) {
        Err(error) if is_unsupported(error) => {
            std::fs::hard_link(from, to)?;
            // It keeps one name, whichever.
            std::fs::remove_file(from).inspect_err(|_| _ = std::fs::remove_file(to))
        }
        done => Ok(done?),
    }
}

/// Renames a file or a directory to a name that nothing has. Not every file system can do that.
pub(crate) fn rename_exclusively(from: &Path, to: &Path) -> std::result::Result<(), Errno> {
    renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE)
}

/// Makes the names in a directory durable.
///
/// # Errors
/// It cannot be opened or synced.
pub fn sync_directory(directory: &Path) -> Result<()> {
    let synced = File::open(directory).and_then(|open| sync(&open));
    synced.map_err(|source| Error::io("sync", directory, source))
}

/// Syncs an open directory. Some file systems, such as those of FUSE, cannot do that, and need not.
fn sync(directory: &File) -> io::Result<()> {
    let is_unsupported = |error: &io::Error| {
        let code = error.raw_os_error();
        [Errno::INVAL, Errno::OPNOTSUPP, Errno::NOSYS].iter().any(|known| Some(known.raw_os_error()) == code)
    };
    match directory.sync_all() {
        Err(error) if is_unsupported(&error) => Ok(()),
        done => done,
    }
}

/// A file in `tmp`. It is removed when this is dropped, if it still has that name.
struct Temporary {
    file: File,
    path: PathBuf,
}

impl Temporary {
    fn create(folder: &Path, name: &[u8]) -> Result<Temporary> {
        let directory = folder.join("tmp");
        let path = join(&directory, name);
        let open = || OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let file = match open() {
            // A folder may lack `tmp`, if all its mail was written by programs that do without.
            Err(error) if error.kind() == io::ErrorKind::NotFound && has_messages(folder) => {
                create_directory(&directory)?;
                open()
            }
            other => other,
        };
        match file {
            Ok(file) => Ok(Temporary { file, path }),
            Err(source) => Err(Error::io("create", &path, source)),
        }
    }

    fn write(&self, message: &mut dyn Read) -> Result<()> {
        let count = copy(message, &self.file).map_err(|error| match error {
            Copying::Reading(source) => Error::io("read", Path::new("the message"), source),
            Copying::Writing(source) => Error::io("write", &self.path, source),
        })?;
        if count == 0 {
            let empty = io::Error::new(io::ErrorKind::InvalidData, "it is empty");
            return Err(Error::io("read", Path::new("the message"), empty));
        }
        self.file.sync_all().map_err(|source| Error::io("sync", &self.path, source))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After a rename there is no such name; else whoever cleans `tmp` removes it after 36 hours.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Returns whether a directory is a folder: it has `cur` and `new`.
fn has_messages(folder: &Path) -> bool {
    ["cur", "new"].into_iter().all(|directory| folder.join(directory).is_dir())
}

/// Which half of copying failed.
enum Copying {
    Reading(io::Error),
    Writing(io::Error),
}

/// Copies a message without an mbox's line in front of it. Returns how many bytes it has.
fn copy(message: &mut dyn Read, mut file: &File) -> std::result::Result<u64, Copying> {
    let mut reader = BufReader::with_capacity(1 << 16, message);
    let mut begin = Vec::new();
    reader.by_ref().take(ENVELOPE.len() as u64).read_to_end(&mut begin).map_err(Copying::Reading)?;
    if begin == ENVELOPE {
        reader.skip_until(b'\n').map_err(Copying::Reading)?;
        begin.clear();
    }
    file.write_all(&begin).map_err(Copying::Writing)?;
    let mut count = begin.len() as u64;
    loop {
        let bytes = reader.fill_buf().map_err(Copying::Reading)?;
        if bytes.is_empty() {
            return Ok(count);
        }
        file.write_all(bytes).map_err(Copying::Writing)?;
        let length = bytes.len();
        count += length as u64;
        reader.consume(length);
    }
}

/// Creates a directory that only its owner reads, unless it is there.
///
/// # Errors
/// It cannot be created; something else has that name.
pub fn create_directory(path: &Path) -> Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        done => done.map_err(|source| Error::io("create", path, source)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn names(folder: &Path) -> Vec<String> {
        let mut names = Vec::new();
        for directory in DIRECTORIES {
            for entry in std::fs::read_dir(folder.join(directory)).into_iter().flatten() {
                names.push(format!("{directory}/{}", entry.unwrap().file_name().into_string().unwrap()));
            }
        }
        names.sort();
        names
    }

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("inbox");
        create_folder(&folder).unwrap();
        (place, folder)
    }

    #[test]
    fn a_message_is_in_new_or_with_its_flags_in_cur_and_only_its_owner_reads_it() {
        let (_place, folder) = folder();
        let path = deliver(&folder, b"1.a", None, &mut &b"Subject: x\n\nFrom here\n"[..]).unwrap();
        assert_eq!(path, folder.join("new/1.a"));
        assert_eq!(std::fs::read(&path).unwrap(), b"Subject: x\n\nFrom here\n");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let path = deliver(&folder, b"2.a", Some(Flags::SEEN | Flags::FLAGGED), &mut &b"x"[..]).unwrap();
        assert_eq!(path, folder.join("cur/2.a:2,FS"));
        deliver(&folder, b"3.a", Some(Flags::NONE), &mut &b"x"[..]).unwrap();
        assert_eq!(names(&folder), ["cur/2.a:2,FS", "cur/3.a:2,", "new/1.a"]);
    }

    #[test]
    fn the_line_of_an_mbox_is_left_out() {
        let (_place, folder) = folder();
        for (number, (message, stored)) in [
            ("From ana Mon Jan  1 00:00:00 2024\nSubject: x\n\nFrom b\n", "Subject: x\n\nFrom b\n"),
            ("From: ana\n\n", "From: ana\n\n"),
            (">From ana\nx", ">From ana\nx"),
            ("Fro", "Fro"),
        ]
        .into_iter()
        .enumerate()
        {
            let path =
                deliver(&folder, number.to_string().as_bytes(), None, &mut message.as_bytes()).unwrap();
            assert_eq!(std::fs::read_to_string(path).unwrap(), stored);
        }
    }

    #[test]
    fn what_cannot_be_delivered_leaves_nothing_and_replaces_nothing() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("the pipe broke"))
            }
        }
        let (_place, folder) = folder();
        let error = deliver(&folder, b"1.a", None, &mut b"Subject: x\n".chain(Broken)).unwrap_err();
        assert_eq!(error.to_string(), "cannot read the message: the pipe broke");
        for empty in ["", "From ana\n", "From "] {
            let error = deliver(&folder, b"1.a", None, &mut empty.as_bytes()).unwrap_err();
            assert_eq!(error.to_string(), "cannot read the message: it is empty");
        }
        assert!(names(&folder).is_empty());
        std::fs::write(folder.join("new/1.a"), "old").unwrap();
        assert!(deliver(&folder, b"1.a", None, &mut &b"x"[..]).is_err());
        assert_eq!(std::fs::read(folder.join("new/1.a")).unwrap(), b"old");
        assert_eq!(names(&folder), ["new/1.a"]);
        let error = deliver(&folder.join("no"), b"1.a", None, &mut &b"x"[..]).unwrap_err();
        assert!(error.is_not_found() && !folder.join("no").exists());
    }

    #[test]
    fn a_folder_without_tmp_gets_one() {
        let (_place, folder) = folder();
        std::fs::remove_dir(folder.join("tmp")).unwrap();
        deliver(&folder, b"1.a", None, &mut &b"x"[..]).unwrap();
        std::fs::remove_dir(folder.join("tmp")).unwrap();
        create_folder(&folder).unwrap();
        assert!(folder.join("tmp").is_dir() && folder.join("new/1.a").exists(), "the rest stays");
    }

    #[test]
    fn a_file_gets_no_name_that_another_has() {
        let (_place, folder) = folder();
        let (a, b) = (folder.join("a"), folder.join("b"));
        std::fs::write(&a, "a").unwrap();
        rename_to_new(&a, &b).unwrap();
        std::fs::write(&a, "other").unwrap();
        assert_eq!(rename_to_new(&a, &b).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&b).unwrap(), b"a");
    }
}
