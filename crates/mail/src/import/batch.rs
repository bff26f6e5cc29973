//! Writes many messages for a folder of a Maildir: into `tmp`, synced all at once.
//!
//! Input: a folder, messages with names, flags and dates. Output: durable files in `tmp`, and where each is
//! to be renamed to, which is up to the caller. What a crash left in `tmp` is removed by the next import. One
//! import writes into a folder at a time. Does not look at messages.

use crate::error::{Error, Result};
use crate::import::draft::Draft;
use crate::maildir::deliver::create_directory;
use crate::maildir::file_name::with_flags;
use crate::maildir::flags::Flags;
use crate::maildir::path::join;
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use std::fs::{File, FileTimes, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How many messages a batch holds.
pub const BATCH_COUNT_MAX: usize = 4096;
/// How many bytes of messages a batch holds before it is full.
pub const BATCH_BYTES_MAX: u64 = 256 << 20;
/// Names in `tmp` that belong to imports begin so.
const PREFIX: &str = "pneu-import-";

/// Messages that are about to be stored in a folder.
pub struct Batch<'h> {
    folder: PathBuf,
    /// The directory `tmp`, locked as long as this is held.
    lock: File,
    hands: &'h dyn Hands,
    written: Vec<Written>,
    bytes: u64,
    /// How many files in `tmp` there were.
    count: u64,
}

/// A message that is written and has no name yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its file in `tmp`.
    pub temporary: PathBuf,
    /// The file that it is to become, in `new` or `cur`.
    pub to: PathBuf,
    /// The SHA-256 of its bytes.
    pub sha256: [u8; 32],
}

/// Where a message goes.
#[derive(Clone, Copy, Debug)]
pub struct Place<'n> {
    /// A name that no other file has, without flags.
    pub name: &'n [u8],
    /// Its flags: with some it goes into `cur`, else into `new`.
    pub flags: Option<Flags>,
    /// When it came, in seconds since 1970: the time of its last write.
    pub date_seconds: Option<i64>,
}

/// What is done to the disk. Tests let it fail.
pub(super) trait Hands {
    fn create(&self, path: &Path) -> io::Result<File>;
    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<()>;
    /// Makes files in one file system durable.
    fn sync_files(&self, directory: &File, files: &mut dyn Iterator<Item = &Path>) -> io::Result<()>;
    fn remove(&self, path: &Path) -> io::Result<()>;
}

/// Does it.
pub(super) struct RealHands;

impl Batch<'static> {
    /// Locks a folder for an import. Removes what an earlier import left in `tmp` when it was killed.
    ///
    /// # Errors
    /// Another import writes into the folder; it cannot be read or written.
    pub fn open(folder: &Path) -> Result<Batch<'static>> {
        Batch::open_with(folder, &RealHands)
    }
}

impl<'h> Batch<'h> {
    pub(super) fn open_with(folder: &Path, hands: &'h dyn Hands) -> Result<Batch<'h>> {
        let directory = folder.join("tmp");
        create_directory(&directory)?;
        let lock = File::open(&directory).map_err(|error| Error::io("open", &directory, error))?;
        // Some file systems have no locks, which is another error.
        if rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
            let busy = io::Error::new(io::ErrorKind::ResourceBusy, "another import writes into it");
            return Err(Error::io("lock", folder, busy));
        }
        let failed = |error| Error::io("read the directory", &directory, error);
        for entry in std::fs::read_dir(&directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.file_name().as_bytes().starts_with(PREFIX.as_bytes()) {
                hands.remove(&entry.path()).map_err(|error| Error::io("remove", &entry.path(), error))?;
            }
        }
        Ok(Batch { folder: folder.to_owned(), lock, hands, written: Vec::new(), bytes: 0, count: 0 })
    }

    /// Returns a new path in `tmp`.
    pub fn temporary(&mut self) -> PathBuf {
        self.count += 1;
        self.folder.join("tmp").join(format!("{PREFIX}{}", self.count))
    }

    /// Writes a message into `tmp`, unless its draft is there already.
    ///
    /// # Errors
    /// It cannot be written. Nothing is left of it.
    pub fn add(&mut self, draft: &mut Draft, place: Place<'_>) -> Result<()> {
        let (file, temporary) = match draft.take_file() {
            Some(file) => file,
            None => {
                let path = self.temporary();
                let created = self.hands.create(&path);
                (created.map_err(|error| Error::io("create", &path, error))?, path)
            }
        };
        let written = self.write(&file, draft, place.date_seconds);
        if let Err(error) = written {
            // What is left is removed by the next import.
            let _ = self.hands.remove(&temporary);
            return Err(Error::io("write", &temporary, error));
        }
        let (directory, name) = match place.flags {
            Some(flags) => ("cur", with_flags(place.name, flags)),
            None => ("new", place.name.to_vec()),
        };
        self.bytes += draft.size_bytes();
        let to = join(&self.folder.join(directory), &name);
        self.written.push(Written { temporary, to, sha256: draft.sha256() });
        Ok(())
    }

    fn write(&self, file: &File, draft: &Draft, date_seconds: Option<i64>) -> io::Result<()> {
        self.hands.write(file, draft.unwritten())?;
        let seconds = date_seconds.and_then(|seconds| u64::try_from(seconds).ok());
        let time =
            seconds.and_then(|seconds| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds)));
        time.map_or(Ok(()), |time| file.set_times(FileTimes::new().set_modified(time)))
    }

    /// Returns whether it is time to name the messages.
    pub fn is_full(&self) -> bool {
        self.written.len() >= BATCH_COUNT_MAX || self.bytes >= BATCH_BYTES_MAX
    }

    /// Makes all messages durable that have no names yet, and returns them.
    ///
    /// # Errors
    /// They cannot be made durable.
    pub fn make_durable(&self) -> Result<&[Written]> {
        if !self.written.is_empty() {
            let mut files = self.written.iter().map(|written| written.temporary.as_path());
            let synced = self.hands.sync_files(&self.lock, &mut files);
            synced.map_err(|error| Error::io("sync", &self.folder, error))?;
        }
        Ok(&self.written)
    }

    /// Begins the next batch, once all messages have their names.
    pub fn begin_next(&mut self) {
        self.bytes = 0;
        self.written.clear();
    }

    /// Begins the next batch, and removes all messages that have no names.
    pub fn discard(&mut self) {
        // Those that have their names are no longer in `tmp`.
        self.written.iter().for_each(|written| _ = self.hands.remove(&written.temporary));
        self.begin_next();
    }
}

impl Hands for RealHands {
    fn create(&self, path: &Path) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
    }

    fn write(&self, mut file: &File, bytes: &[u8]) -> io::Result<()> {
        file.write_all(bytes)
    }

    fn sync_files(&self, directory: &File, files: &mut dyn Iterator<Item = &Path>) -> io::Result<()> {
        // One call for a whole batch: a call for each file takes milliseconds each.
        match rustix::fs::syncfs(directory) {
            Ok(()) => Ok(()),
            Err(Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP) => {
                for path in files {
                    File::open(path)?.sync_all()?;
                }
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maildir::deliver::{create_folder, rename_to_new};
    use std::cell::Cell;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    /// Does so many operations, and none after them, as if the machine had stopped. The last write is torn.
    struct Mortal {
        left: Cell<usize>,
    }

    impl Mortal {
        fn lives(&self) -> io::Result<()> {
            let left =
                self.left.get().checked_sub(1).ok_or_else(|| io::Error::other("the machine stopped"))?;
            self.left.set(left);
            Ok(())
        }
    }

    impl Hands for Mortal {
        fn create(&self, path: &Path) -> io::Result<File> {
            self.lives()?;
            RealHands.create(path)
        }

        fn write(&self, file: &File, bytes: &[u8]) -> io::Result<()> {
            RealHands.write(file, &bytes[..bytes.len() / 2])?;
            self.lives()?;
            RealHands.write(file, &bytes[bytes.len() / 2..])
        }

        fn sync_files(&self, directory: &File, files: &mut dyn Iterator<Item = &Path>) -> io::Result<()> {
            self.lives()?;
            RealHands.sync_files(directory, files)
        }

        fn remove(&self, path: &Path) -> io::Result<()> {
            self.lives()?;
            RealHands.remove(path)
        }
    }

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("inbox");
        create_folder(&folder).unwrap();
        (place, folder)
    }

    fn contents(folder: &Path, directory: &str) -> Vec<String> {
        let entries = std::fs::read_dir(folder.join(directory)).unwrap();
        let read =
            |entry: io::Result<std::fs::DirEntry>| std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let mut contents: Vec<String> = entries.map(read).collect();
        contents.sort();
        contents
    }

    fn draft(content: &str) -> Draft {
        let mut draft = Draft::default();
        draft.push(content.as_bytes(), None).unwrap();
        draft
    }

    /// Names the messages of a batch.
    fn name_all(batch: &mut Batch<'_>, lives: &dyn Fn() -> io::Result<()>) -> Result<()> {
        for Written { temporary, to, .. } in batch.make_durable()? {
            lives()
                .and_then(|()| rename_to_new(temporary, to))
                .map_err(|error| Error::io("create", to, error))?;
        }
        batch.begin_next();
        Ok(())
    }

    /// Imports messages that are not there, two in a batch. Returns whether it was done.
    fn import(folder: &Path, wanted: &[&str], hands: &dyn Hands, lives: &dyn Fn() -> io::Result<()>) -> bool {
        let run = || -> Result<()> {
            let mut batch = Batch::open_with(folder, hands)?;
            let there = [contents(folder, "cur"), contents(folder, "new")].concat();
            for (number, content) in wanted.iter().enumerate() {
                if there.iter().any(|there| there == content) {
                    continue;
                }
                let name = format!("{number}.{}", there.len());
                let flags = (number % 2 == 0).then_some(Flags::SEEN);
                let place = Place { name: name.as_bytes(), flags, date_seconds: Some(1000) };
                batch.add(&mut draft(content), place)?;
                if batch.written.len() == 2 {
                    name_all(&mut batch, lives)?;
                }
            }
            name_all(&mut batch, lives)
        };
        run().is_ok()
    }

    #[test]
    fn after_a_crash_each_message_is_whole_or_not_there_and_never_there_twice() {
        let wanted = ["one message", "two messages", "three messages", "four messages", "five messages"];
        let mut done = false;
        for operation_count in 0..100 {
            let (_place, folder) = folder();
            let mortal = Mortal { left: Cell::new(operation_count) };
            done = import(&folder, &wanted, &mortal, &|| mortal.lives());
            let there = [contents(&folder, "cur"), contents(&folder, "new")].concat();
            assert!(
                there.iter().all(|there| wanted.contains(&there.as_str())),
                "{operation_count}: {there:?}"
            );
            assert!(import(&folder, &wanted, &RealHands, &|| Ok(())));
            let mut all = [contents(&folder, "cur"), contents(&folder, "new")].concat();
            all.sort();
            let mut expected = wanted.to_vec();
            expected.sort_unstable();
            assert_eq!(all, expected, "{operation_count}");
            assert!(contents(&folder, "tmp").is_empty(), "{operation_count}");
            if done {
                break;
            }
        }
        assert!(done);
    }

    #[test]
    fn a_message_has_its_flags_and_its_date() {
        let (_place, folder) = folder();
        let mut batch = Batch::open(&folder).unwrap();
        let place = |name, flags| Place { name, flags, date_seconds: Some(1_000_000_000) };
        batch.add(&mut draft("a"), place(b"1.a", Some(Flags::SEEN | Flags::FLAGGED))).unwrap();
        batch.add(&mut draft("b"), place(b"2.a", None)).unwrap();
        assert!(contents(&folder, "cur").is_empty());
        let [first, second] = batch.make_durable().unwrap() else { panic!("there are two") };
        assert_eq!(first.sha256, draft("a").sha256());
        assert!(second.temporary.exists() && !second.to.exists());
        name_all(&mut batch, &|| Ok(())).unwrap();
        let metadata = folder.join("cur/1.a:2,FS").metadata().unwrap();
        assert_eq!((metadata.mtime(), metadata.permissions().mode() & 0o777), (1_000_000_000, 0o600));
        assert!(folder.join("new/2.a").exists());
        // What was not named is removed.
        batch.add(&mut draft("c"), place(b"3.a", None)).unwrap();
        batch.discard();
        assert_eq!(batch.make_durable().unwrap(), []);
        assert_eq!((contents(&folder, "new"), contents(&folder, "tmp").len()), (vec!["b".to_owned()], 0));
    }

    #[test]
    fn one_import_writes_into_a_folder_at_a_time() {
        let (_place, folder) = folder();
        let batch = Batch::open(&folder).unwrap();
        let error = Batch::open(&folder).err().unwrap().to_string();
        assert!(error.ends_with("another import writes into it"), "{error}");
        drop(batch);
        std::fs::write(folder.join("tmp/pneu-import-7"), "left").unwrap();
        std::fs::write(folder.join("tmp/other"), "of another program").unwrap();
        Batch::open(&folder).unwrap();
        assert_eq!(contents(&folder, "tmp"), ["of another program"]);
    }
}
