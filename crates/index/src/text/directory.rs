//! tantivy's files on `disk`: those of a segment are the parts of one sealed file, verified in blocks of 16
//! KiB when it is read.
//!
//! Input: file names and bytes from tantivy. Output: sealed files in one directory. Locks are no-ops, and
//! small files (tantivy's lists of segments) stay in memory: the store's lock decides who may write, and the
//! commit decides which segments exist.

use crate::error::Error;
use crate::state::{TextPlace, TextSegment};
use crate::text::parts::{self, ENDING, PARTS, Part, Parts, SMALL_BYTES_MAX, Sink, WORDS};
use crate::text::spool::{MEMORY_BYTES_MAX, Spools};
use disk::Disk;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use store::MappedFile;
use tantivy::TantivyError;
use tantivy::directory::error::{DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use tantivy::directory::{Directory, DirectoryLock, FileHandle, Lock, WatchCallback, WatchHandle, WritePtr};
use work::Cancel;

/// An opened directory. It shares real files with other openings, but has its own small files, and parts of
/// segments that are being written.
#[derive(Clone)]
pub(crate) struct TextFiles {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    small: Arc<Mutex<HashMap<PathBuf, Vec<u8>>>>,
    spools: Spools,
    /// The files of segments, by the segment's id.
    held: Arc<Mutex<HashMap<String, Held>>>,
    /// The digests of the segments that it is bound to.
    expected: Arc<HashMap<String, u64>>,
}

/// The file of a segment.
#[derive(Clone)]
enum Held {
    Mapped(MappedFile),
    Open(Arc<Parts>),
}

impl TextFiles {
    /// Opens the directory `path` on `disk`.
    pub(crate) fn new(disk: &Arc<dyn Disk>, path: &Path) -> TextFiles {
        TextFiles {
            disk: Arc::clone(disk),
            path: path.to_owned(),
            small: Arc::default(),
            spools: Spools::new(MEMORY_BYTES_MAX),
            held: Arc::default(),
            expected: Arc::default(),
        }
    }

    /// Opens the same directory with small files of its own.
    pub(crate) fn with_own_small_files(&self) -> TextFiles {
        let (expected, spools) = (Arc::clone(&self.expected), self.spools.with_none_written());
        TextFiles { expected, spools, ..TextFiles::new(&self.disk, &self.path) }
    }

    /// Opens the same directory for a merge of the segments that are open in `sources`. They are read from
    /// begin to end, so their memory is let go of again and again.
    pub(super) fn with_sources(self, sources: &TextFiles) -> TextFiles {
        let held = Arc::clone(&sources.held);
        let let_go = move || {
            for held in held.lock().unwrap_or_else(PoisonError::into_inner).values() {
                if let Held::Open(parts) = held {
                    parts.let_go();
                }
            }
        };
        TextFiles { spools: self.spools.calling(let_go), ..self }
    }

    /// Opens the same directory, where writing fails once `cancel` says so.
    pub(super) fn stopped_by(self, cancel: &Cancel) -> TextFiles {
        TextFiles { spools: self.spools.stopped_by(cancel), ..self }
    }

    /// Opens the same directory, where all parts of segments in writing go to files.
    #[cfg(test)]
    pub(super) fn spilling(self) -> TextFiles {
        TextFiles { spools: Spools::new(0), ..self }
    }

    /// Opens the same directory, bound to these segments: of each, only the committed file is accepted.
    pub(crate) fn bound_to(&self, segments: &[TextSegment]) -> TextFiles {
        let expected = segments.iter().map(|segment| (segment.id.clone(), segment.digest)).collect();
        TextFiles { expected: Arc::new(expected), ..TextFiles::new(&self.disk, &self.path) }
    }

    /// Seals a segment of `document_count` documents whose parts are written: in memory if it is small, else
    /// in a file. The file is synced, its name is not.
    ///
    /// # Errors
    /// A full disk.
    pub(crate) fn seal(&self, id: String, document_count: u32) -> io::Result<TextSegment> {
        let name = |end: &str| PathBuf::from(format!("{id}.{end}"));
        let path = self.path.join(file_name(&id));
        let copy = |end: &str, write: &mut Sink<'_>| {
            let has_it = self.spools.copy(&name(end), write)?;
            // Each segment has all other parts, if only a few bytes.
            assert!(has_it || end == WORDS, "{id} has no part {end}");
            Ok(())
        };
        let part_bytes = |end: &&str| self.spools.get(&name(end)).map_or(0, |part| part.len());
        let (place, digest) = if PARTS.iter().map(part_bytes).sum::<usize>() <= SMALL_BYTES_MAX {
            let (bytes, digest) = parts::in_memory(&path, copy)?;
            (TextPlace::Commit { slot: None, bytes: bytes.into() }, digest)
        } else {
            (TextPlace::File, parts::write(self.disk.as_ref(), &path, copy)?)
        };
        PARTS.iter().for_each(|end| self.spools.forget(&name(end)));
        Ok(TextSegment { id, document_count, digest, place })
    }

    /// Maps the file of a segment, and keeps the map: from now on it stays, even if it is removed. Reads
    /// nothing of it.
    ///
    /// # Errors
    /// The file is missing or cannot be mapped.
    pub(crate) fn map(&self, segment: &TextSegment) -> Result<(), OpenReadError> {
        if !self.held().contains_key(&segment.id) {
            let map = mapped(self.disk.as_ref(), &self.path, segment)
                .map_err(|error| refusal(error, &self.path.join(file_name(&segment.id))))?;
            self.held().entry(segment.id.clone()).or_insert(Held::Mapped(map));
        }
        Ok(())
    }

    /// Opens the files of segments that are mapped. The disk reads the ends of all of them at the same time.
    ///
    /// # Errors
    /// A file is damaged.
    pub(crate) fn open(&self, segments: &[TextSegment]) -> Result<(), OpenReadError> {
        for segment in segments {
            let held = self.held().get(&segment.id).cloned();
            if let Some(Held::Mapped(file)) = held {
                file.ask_for_end();
            }
        }
        segments.iter().try_for_each(|segment| self.parts(&segment.id).map(|_| ()))
    }

    /// Forgets all open and mapped files. tantivy keeps the directory as long as one of its segments is open,
    /// and files that were removed must not stay for so long.
    pub(crate) fn forget(&self) {
        self.held().clear();
    }

    /// Shares the open or mapped file of a segment with another opening of the directory.
    pub(crate) fn share(&self, other: &TextFiles, segment: &TextSegment) {
        let of_segment = other.held().get(&segment.id).cloned();
        if let Some(held) = of_segment {
            self.held().insert(segment.id.clone(), held);
        }
    }

    /// Converts an error of tantivy to an error of the index.
    pub(super) fn error(&self, source: TantivyError) -> Error {
        let what = sentence(&self.path, &source);
        Error::Text { path: self.path.clone(), what, source: Box::new(source) }
    }

    /// Keeps a small file in memory, where tantivy looks for it.
    pub(crate) fn put_small(&self, name: &str, bytes: Vec<u8>) {
        self.small.lock().unwrap_or_else(PoisonError::into_inner).insert(name.into(), bytes);
    }

    fn small(&self, path: &Path) -> Option<Vec<u8>> {
        self.small.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }

    fn held(&self) -> MutexGuard<'_, HashMap<String, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the parts of a segment's file, which is opened if it is not yet.
    fn parts(&self, segment: &str) -> Result<Arc<Parts>, OpenReadError> {
        let file = self.path.join(file_name(segment));
        // Nobody else waits while this reads the disk. If two threads open it, one of them does so in vain.
        let held = self.held().get(segment).cloned();
        let mapped = match held {
            Some(Held::Open(parts)) => return Ok(parts),
            Some(Held::Mapped(mapped)) => Ok(mapped),
            None => MappedFile::new(self.disk.as_ref(), &file),
        };
        let opened = mapped.and_then(|mapped| Parts::open(mapped, self.expected.get(segment).copied()));
        let parts = Arc::new(opened.map_err(|error| refusal(error, &file))?);
        self.held().insert(segment.to_owned(), Held::Open(Arc::clone(&parts)));
        Ok(parts)
    }

    /// Returns a part of a sealed segment, or nothing if the segment does not have it.
    ///
    /// # Errors
    /// The segment's file is missing or damaged.
    pub(super) fn part(&self, segment: &str, ending: &str) -> Result<Option<Part>, OpenReadError> {
        Ok(self.parts(segment)?.part(ending))
    }
}

/// Returns the sealed bytes of a segment.
fn mapped(disk: &dyn Disk, directory: &Path, segment: &TextSegment) -> store::Result<MappedFile> {
    let path = directory.join(file_name(&segment.id));
    match &segment.place {
        TextPlace::Commit { bytes, .. } => Ok(MappedFile::of_bytes(&path, bytes)),
        TextPlace::File => MappedFile::new(disk, &path),
    }
}

/// Returns the name of a segment's file.
pub(crate) fn file_name(segment: &str) -> String {
    format!("{segment}.{ENDING}")
}

/// Returns the files of segments that are not in `named`, and parts of any segment that are in files of their
/// own. They may be removed if nobody is writing segments.
///
/// # Errors
/// An error of the disk.
pub(crate) fn unnamed(
    disk: &dyn Disk,
    directory: &Path,
    named: &HashSet<&str>,
) -> disk::Result<Vec<PathBuf>> {
    let names = match disk.list(directory) {
        Ok(names) => names,
        Err(error) if error.is_not_found() => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let is_unnamed = |name: &OsString| {
        name.to_str().and_then(|text| text.split_once('.')).is_some_and(|(id, end)| {
            // Only files whose names have the form that this directory writes.
            id.len() == 32
                && id.bytes().all(|byte| byte.is_ascii_hexdigit())
                && end != "lock"
                && (end != ENDING || !named.contains(id))
        })
    };
    Ok(names.into_iter().filter(is_unnamed).map(|name| directory.join(name)).collect())
}

/// Returns tantivy's message about the text index in `path`, without debug output. If the error came from our
/// own directory, its message already names the file.
fn sentence(path: &Path, error: &TantivyError) -> String {
    let what = match error {
        TantivyError::IoError(io_error)
        | TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. })
        | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, .. })
        | TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { io_error, .. }) => {
            let told = io_error.get_ref().and_then(|inner| inner.downcast_ref::<store::Error>());
            if let Some(told) = told {
                return told.to_string();
            }
            io_error.to_string()
        }
        TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(path)) => {
            return format!("{} does not exist", path.display());
        }
        TantivyError::OpenReadError(other) => other.to_string(),
        TantivyError::OpenWriteError(other) => other.to_string(),
        TantivyError::OpenDirectoryError(other) => other.to_string(),
        other => other.to_string(),
    };
    format!("text index in {}: {what}", path.display())
}

/// Converts an error of the store about a file to one of tantivy.
fn refusal(error: store::Error, file: &Path) -> OpenReadError {
    match error {
        store::Error::Io(error) if error.is_not_found() => OpenReadError::FileDoesNotExist(file.to_owned()),
        other => OpenReadError::wrap_io_error(io::Error::other(other), file.to_owned()),
    }
}

/// Verifies that these segments have the committed files, and all their checksums if the check is a deep one.
/// Returns all damage found.
pub(crate) fn verify(
    disk: &dyn Disk,
    directory: &Path,
    segments: &[TextSegment],
    is_deep: bool,
) -> Vec<(PathBuf, String)> {
    let mut damage = Vec::new();
    for segment in segments {
        let path = directory.join(file_name(&segment.id));
        let opened =
            mapped(disk, directory, segment).and_then(|file| Parts::open(file, Some(segment.digest)));
        match opened.map(|parts| if is_deep { parts.verify_all() } else { Vec::new() }) {
            Ok(found) => damage.extend(found.into_iter().map(|error| (path.clone(), error.to_string()))),
            Err(store::Error::Io(error)) if error.is_not_found() => {
                damage.push((path, "the commit names this file, but it does not exist".to_owned()));
            }
            Err(error) => damage.push((path, error.to_string())),
        }
    }
    damage
}

impl fmt::Debug for TextFiles {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "TextFiles({})", self.path.display())
    }
}

impl Directory for TextFiles {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        if let Some(written) = self.spools.get(path) {
            return Ok(Arc::new(written));
        }
        let missing = || OpenReadError::FileDoesNotExist(self.path.join(path));
        let name = path.to_str().and_then(|name| name.split_once('.'));
        let (segment, ending) = name.ok_or_else(missing)?;
        Ok(Arc::new(self.part(segment, ending)?.ok_or_else(missing)?))
    }

    fn delete(&self, _path: &Path) -> Result<(), DeleteError> {
        // Only what `unnamed` returns is removed: a reader may still need them.
        Ok(())
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(self.small(path).is_some())
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let spool = self.spools.begin(&self.disk, &self.path, path);
        Ok(io::BufWriter::with_capacity(1 << 12, Box::new(spool)))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.small(path).ok_or_else(|| OpenReadError::FileDoesNotExist(path.to_owned()))
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.small.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), data.to_vec());
        Ok(())
    }

    fn sync_directory(&self) -> io::Result<()> {
        // The writer syncs the directory once for all segments of a commit.
        Ok(())
    }

    fn acquire_lock(&self, _lock: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}
