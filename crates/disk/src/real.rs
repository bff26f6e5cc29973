//! The operating system's disk.
//!
//! Input: paths and bytes. Output: files with mode 0600 in directories with mode 0700, whatever the umask.
//! Does not depend on what the files mean, nor on the caller.

use crate::create::create_new;
use crate::limited_read::open_file;
use crate::{Disk, Error, File, Lock, Map, Result, Seen, Wait, flock, seen};
use rustix::fs::{CWD, RenameFlags};
use std::ffi::OsString;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

const DIRECTORY_MODE: u32 = 0o700;
const ONE_DIRECTORY: &str = "one sync of one directory must make a rename durable";

/// The operating system's disk. Every descriptor is closed on exec.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn list(&self, directory: &Path) -> Result<Vec<OsString>> {
        let names = fs::read_dir(directory)
            .and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<_>>());
        names.map_err(|source| Error::io("list", directory, source))
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>> {
        read_whole(path).map_err(|source| Error::io("read", path, source))
    }

    fn read_range(&self, path: &Path, offset: u64, length_bytes: usize) -> Result<Vec<u8>> {
        read_at(path, offset, length_bytes).map_err(|source| Error::io("read", path, source))
    }

    fn size(&self, path: &Path) -> Result<u64> {
        let length = fs::metadata(path).and_then(|metadata| length_of(&metadata));
        length.map_err(|source| Error::io("stat", path, source))
    }

    fn map(&self, path: &Path) -> Result<Map> {
        let file = open_file(path).map_err(|source| Error::io("open", path, source))?;
        Map::of_file(&file, path)
    }

    fn create(&self, path: &Path) -> Result<Box<dyn File>> {
        let file = create_new(path).map_err(|source| Error::io("create", path, source))?;
        Ok(Box::new(RealFile::new(file, path, 0)))
    }

    fn append(&self, path: &Path, length_bytes: u64) -> Result<Box<dyn File>> {
        let file = open_at(path, length_bytes).map_err(|source| Error::io("append to", path, source))?;
        Ok(Box::new(RealFile::new(file, path, length_bytes)))
    }

    fn cut_seen(&self, path: &Path, keep_bytes: u64, seen: Option<Seen>) -> Result<()> {
        let cut = seen::open(path, seen).and_then(|mut file| keep_first(&mut file, keep_bytes));
        cut.map_err(|source| Error::io("cut", path, source))
    }

    fn remove_seen(&self, path: &Path, seen: Option<Seen>) -> Result<()> {
        seen::check_path(path, seen).map_err(|source| Error::io("remove", path, source))?;
        self.remove(path)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> Result<()> {
        assert_eq!(from.parent(), to.parent(), "{ONE_DIRECTORY}");
        rename_new(from, to).map_err(|source| Error::io("rename to", to, source))
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        assert_eq!(from.parent(), to.parent(), "{ONE_DIRECTORY}");
        fs::rename(from, to).map_err(|source| Error::io("rename", from, source))
    }

    fn remove(&self, path: &Path) -> Result<()> {
        match fs::remove_file(path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", path, source)),
            _ => Ok(()),
        }
    }

    fn create_directory(&self, directory: &Path) -> Result<()> {
        let missing: Vec<&Path> =
            directory.ancestors().take_while(|ancestor| !is_directory(ancestor)).collect();
        let found = missing.last().map_or(Some(directory), |path| path.parent());
        // A killed run may have created it without syncing its name. If we may not read its parent, this
        // program did not create it.
        if let Some(above) = found.and_then(Path::parent)
            && let Err(error) = self.sync_directory(above)
            && !error.is_permission_denied()
        {
            return Err(error);
        }
        missing.iter().rev().try_for_each(|path| create_one_directory(path))
    }

    fn mode(&self, path: &Path) -> Result<Option<u32>> {
        let metadata = fs::metadata(path).map_err(|source| Error::io("stat", path, source))?;
        Ok(Some(metadata.permissions().mode() & 0o7777))
    }

    fn set_mode(&self, path: &Path, mode: u32) -> Result<()> {
        let set = fs::set_permissions(path, Permissions::from_mode(mode));
        set.map_err(|source| Error::io("set the mode of", path, source))
    }

    fn copy_owner(&self, from: &Path, to: &Path) -> Result<()> {
        copy_owner(from, to).map_err(|source| Error::io("set owner and mode of", to, source))
    }

    fn sync_file(&self, path: &Path) -> Result<()> {
        let synced = open_file(path).and_then(|file| file.sync_all());
        synced.map_err(|source| Error::io("sync", path, source))
    }

    fn sync_directory(&self, directory: &Path) -> Result<()> {
        // A file in a directory's place must not pass for one.
        let opened = OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY).open(or_here(directory));
        opened.and_then(|file| file.sync_all()).map_err(|source| Error::io("sync", directory, source))
    }

    fn lock(&self, path: &Path, holder: &str, wait: Wait) -> Result<Lock> {
        flock::lock(path, holder, wait)
    }

    fn share_lock(&self, path: &Path, wait: Wait) -> Result<Lock> {
        flock::share(path, wait)
    }
}

/// A file being written by the operating system.
///
/// After a failed write or sync the system may show bytes that are not on the disk, and may call a second
/// sync a success (it has marked the pages clean). So the first failure cuts the file back to what is known
/// to be durable, as well as it can, and everything after it is refused: neither a reader nor the next writer
/// builds on bytes that a crash would take away.
struct RealFile {
    file: fs::File,
    path: PathBuf,
    length_bytes: u64,
    durable_bytes: u64,
    has_failed: bool,
}

impl RealFile {
    fn new(file: fs::File, path: &Path, length_bytes: u64) -> RealFile {
        RealFile { file, path: path.to_owned(), length_bytes, durable_bytes: length_bytes, has_failed: false }
    }

    fn check(&mut self, action: &'static str, result: io::Result<()>) -> Result<()> {
        result.map_err(|source| {
            self.has_failed = true;
            // If this fails too, checksums still tell a torn tail.
            let _ = self.file.set_len(self.durable_bytes);
            Error::io(action, &self.path, source)
        })
    }

    fn refuse_if_failed(&self, action: &'static str) -> Result<()> {
        if self.has_failed {
            return Err(Error::io(action, &self.path, io::Error::other("an earlier write to it failed")));
        }
        Ok(())
    }
}

impl File for RealFile {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.refuse_if_failed("write")?;
        // Goes on after short writes and interruptions.
        let result = self.file.write_all(bytes);
        self.check("write", result)?;
        self.length_bytes += bytes.len() as u64;
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.refuse_if_failed("sync")?;
        // fsync and not fdatasync: the mode must be durable too, and a file that grew costs the same journal
        // write with both.
        let result = self.file.sync_all();
        self.check("sync", result)?;
        self.durable_bytes = self.length_bytes;
        Ok(())
    }
}

/// Returns the length of what must be a file.
fn length_of(metadata: &fs::Metadata) -> io::Result<u64> {
    if metadata.is_file() { Ok(metadata.len()) } else { Err(io::ErrorKind::IsADirectory.into()) }
}

fn read_whole(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_file(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads exactly these bytes of the file.
fn read_at(path: &Path, offset: u64, length_bytes: usize) -> io::Result<Vec<u8>> {
    let file = open_file(path)?;
    let found_bytes = file.metadata()?.len();
    let needed_bytes = offset.saturating_add(length_bytes as u64);
    if found_bytes < needed_bytes {
        return Err(Error::too_short(found_bytes, needed_bytes));
    }
    let mut bytes = vec![0; length_bytes];
    file.read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}

/// Opens the file, cuts it after `length_bytes`, and makes the rest durable.
fn open_at(path: &Path, length_bytes: u64) -> io::Result<fs::File> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    keep_first(&mut file, length_bytes)?;
    Ok(file)
}

/// Cuts the file after `length_bytes`, makes the rest durable, and goes to its end.
fn keep_first(file: &mut fs::File, length_bytes: u64) -> io::Result<()> {
    let found_bytes = file.metadata()?.len();
    if found_bytes < length_bytes {
        return Err(Error::too_short(found_bytes, length_bytes));
    }
    if found_bytes > length_bytes {
        file.set_len(length_bytes)?;
    }
    // Before anything is appended: else a crash could bring back the cut tail's sectors between the new
    // bytes. Also if nothing was cut: a writer that was killed may have left bytes that are valid and not
    // durable, and the caller will build on them.
    file.sync_all()?;
    file.seek(SeekFrom::Start(length_bytes))?;
    Ok(())
}

/// Renames a file to a name that nothing has.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::io::Errno;
    match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Some file systems cannot do it in one step.
        Err(Errno::INVAL | Errno::NOSYS) => match fs::symlink_metadata(to) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs::rename(from, to),
            Err(error) => Err(error),
        },
        renamed => Ok(renamed?),
    }
}

/// Gives `to` the owner, the group and the mode of `from`, as far as that is allowed.
fn copy_owner(from: &Path, to: &Path) -> io::Result<()> {
    let wanted = fs::metadata(from)?;
    let file = OpenOptions::new().write(true).custom_flags(libc::O_NOFOLLOW).open(to)?;
    let found = file.metadata()?;
    let change = |now: u32, then: u32| Some(then).filter(|_| now != then);
    let grouped = fchown(&file, None, change(found.gid(), wanted.gid()));
    // The group first: the owner alone may still be refused.
    let owned = fchown(&file, change(found.uid(), wanted.uid()), None);
    let rights = if grouped.is_ok() { 0o777 } else { 0o707 };
    file.set_permissions(Permissions::from_mode(wanted.mode() & rights))?;
    grouped.and(owned)
}

/// Creates a directory whose parent is there, with the right mode, and makes its name durable.
fn create_one_directory(path: &Path) -> Result<()> {
    match fs::DirBuilder::new().mode(DIRECTORY_MODE).create(path) {
        Ok(()) => fs::set_permissions(path, Permissions::from_mode(DIRECTORY_MODE)),
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_directory(path) => Ok(()),
        Err(error) => Err(error),
    }
    .map_err(|source| Error::io("create", path, source))?;
    path.parent().map_or(Ok(()), |parent| RealDisk.sync_directory(parent))
}

fn is_directory(path: &Path) -> bool {
    or_here(path).is_dir()
}

/// The parent of a bare name is the empty path, which stands for the current directory but cannot be opened.
fn or_here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}
