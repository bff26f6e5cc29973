//! tantivy's files on `disk`: each is a sealed file, verified in blocks of 16 KiB when it is read.
//!
//! Input: file names and bytes from tantivy. Output: sealed files in one directory. Locks are no-ops, and
//! small files (tantivy's lists of segments) stay in memory: the store's lock decides who may write, and the
//! commit decides which segments exist.

use crate::error::Error;
use crate::state::{TEXT_ENDINGS, TextSegment};
use crate::text::SEALED_KIND;
use disk::Disk;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use store::{MappedFile, Sealed, SealedWriter};
use tantivy::directory::error::{DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, Lock, OwnedBytes, TerminatingWrite, WatchCallback,
    WatchHandle, WritePtr,
};
use tantivy::{HasLen, TantivyError};

/// An opened directory. It shares real files with other openings, but has its own small files.
#[derive(Clone)]
pub(crate) struct TextFiles {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    small: Arc<Mutex<HashMap<PathBuf, Vec<u8>>>>,
    held: Arc<Mutex<HashMap<PathBuf, Arc<dyn FileHandle>>>>,
    /// Files that were mapped before they are opened.
    mapped: Arc<Mutex<HashMap<PathBuf, MappedFile>>>,
    /// The digests of the files of the segments that it is bound to; 0 for a file that a segment does not
    /// have.
    expected: Arc<HashMap<PathBuf, u64>>,
}

impl TextFiles {
    /// Opens the directory `path` on `disk`.
    pub(crate) fn new(disk: &Arc<dyn Disk>, path: &Path) -> TextFiles {
        TextFiles {
            disk: Arc::clone(disk),
            path: path.to_owned(),
            small: Arc::default(),
            held: Arc::default(),
            mapped: Arc::default(),
            expected: Arc::default(),
        }
    }

    /// Opens the same directory with small files of its own.
    pub(crate) fn with_own_small_files(&self) -> TextFiles {
        TextFiles { expected: Arc::clone(&self.expected), ..TextFiles::new(&self.disk, &self.path) }
    }

    /// Opens the same directory, bound to these segments: of each, only the committed files are accepted.
    pub(crate) fn bound_to(&self, segments: &[TextSegment]) -> TextFiles {
        let expected = segments.iter().flat_map(files_of).collect();
        TextFiles { expected: Arc::new(expected), ..TextFiles::new(&self.disk, &self.path) }
    }

    /// Stores the digests of the files of segments just written.
    ///
    /// # Errors
    /// A file cannot be read back.
    pub(crate) fn note_digests(&self, segments: &mut [TextSegment]) -> io::Result<()> {
        for segment in segments {
            let names = TEXT_ENDINGS.map(|end| format!("{}.{end}", segment.id));
            for (digest, name) in segment.digests.iter_mut().zip(names) {
                *digest = match Sealed::open(self.disk.as_ref(), &self.path.join(name), SEALED_KIND) {
                    Ok(sealed) => sealed.digest(),
                    Err(error) if error.is_not_found() => 0,
                    Err(error) => return Err(io::Error::other(error)),
                };
            }
        }
        Ok(())
    }

    /// Opens a file and keeps it open. Later requests through this opening of the directory get the same
    /// handle.
    ///
    /// # Errors
    /// The file is missing or damaged.
    pub(crate) fn hold(&self, path: &Path) -> Result<(), OpenReadError> {
        let handle = self.get_file_handle(path)?;
        self.held.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), handle);
        Ok(())
    }

    /// Maps all files of a segment that a search opens, and keeps the maps: from now on they stay, even if
    /// they are removed. Reads none of them.
    ///
    /// # Errors
    /// A file is missing or cannot be mapped.
    pub(crate) fn map(&self, segment: &TextSegment) -> Result<(), OpenReadError> {
        let mut mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        for (path, _) in files_of(segment).filter(|(path, digest)| *digest != 0 && !is_word_list(path)) {
            if let Entry::Vacant(place) = mapped.entry(path) {
                let file = self.path.join(place.key());
                let map = MappedFile::new(self.disk.as_ref(), &file);
                place.insert(map.map_err(|error| refusal(error, &file))?);
            }
        }
        Ok(())
    }

    /// Forgets all open and mapped files. tantivy keeps the directory as long as one of its segments is open,
    /// and files that were removed must not stay for so long.
    pub(crate) fn forget(&self) {
        self.mapped.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.held.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Asks for the ends of a segment's mapped files, which are about to be opened.
    pub(crate) fn ask_for_ends(&self, segment: &TextSegment) {
        let mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        files_of(segment).filter_map(|(path, _)| mapped.get(&path)).for_each(MappedFile::ask_for_end);
    }

    /// Shares the open and mapped files of a segment with another opening of the directory.
    pub(crate) fn share(&self, other: &TextFiles, segment: &TextSegment) {
        let mapped = other.mapped.lock().unwrap_or_else(PoisonError::into_inner);
        let of_segment =
            files_of(segment).filter_map(|(path, _)| mapped.get(&path).map(|file| (path, file.clone())));
        self.mapped.lock().unwrap_or_else(PoisonError::into_inner).extend(of_segment);
        let held = other.held.lock().unwrap_or_else(PoisonError::into_inner);
        let of_segment =
            files_of(segment).filter_map(|(path, _)| held.get(&path).map(|file| (path, Arc::clone(file))));
        self.held.lock().unwrap_or_else(PoisonError::into_inner).extend(of_segment);
    }

    /// Opens the lists of words of all segments that it is bound to, and keeps them open. A list that a merge
    /// removed meanwhile is left out: queries do without it.
    ///
    /// # Errors
    /// A list is damaged.
    pub(crate) fn hold_word_lists(&self) -> Result<(), OpenReadError> {
        let named = self.expected.iter().filter(|(path, digest)| **digest != 0 && is_word_list(path));
        named.map(|(path, _)| path).try_for_each(|path| match self.hold(path) {
            Err(OpenReadError::FileDoesNotExist(_)) => Ok(()),
            other => other,
        })
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
}

/// Returns the files of segments that are not in `named`. They may be removed if nobody is writing segments.
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
                && !named.contains(id)
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

/// Returns whether a file is a list of words, which only some queries open.
fn is_word_list(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "words")
}

/// Returns the names of the files that a segment may have, with their digests.
fn files_of(segment: &TextSegment) -> impl Iterator<Item = (PathBuf, u64)> + '_ {
    let named = TEXT_ENDINGS.iter().zip(segment.digests);
    named.map(|(end, digest)| (PathBuf::from(format!("{}.{end}", segment.id)), digest))
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
    for (name, digest) in segments.iter().flat_map(files_of).filter(|(_, digest)| *digest != 0) {
        let path = directory.join(name);
        let found = Sealed::open(disk, &path, SEALED_KIND)
            .and_then(|sealed| sealed.expect_digest(digest).map(|()| sealed))
            .map(|sealed| if is_deep { sealed.verify_all() } else { Vec::new() });
        match found {
            Ok(found) => damage.extend(found.into_iter().map(|error| (path.clone(), error.to_string()))),
            Err(error) if error.is_not_found() => {
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
        if let Some(handle) = self.held.lock().unwrap_or_else(PoisonError::into_inner).get(path) {
            return Ok(Arc::clone(handle));
        }
        let file = self.path.join(path);
        let expected = self.expected.get(path).copied();
        if expected == Some(0) {
            return Err(OpenReadError::FileDoesNotExist(file));
        }
        let mapped = self.mapped.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned();
        let mapped = mapped.map_or_else(|| MappedFile::new(self.disk.as_ref(), &file), Ok);
        let sealed = mapped.and_then(|mapped| mapped.open(SEALED_KIND)).and_then(|sealed| {
            expected.map_or(Ok(()), |expected| sealed.expect_digest(expected)).map(|()| sealed)
        });
        let sealed = sealed.map_err(|error| refusal(error, &file))?;
        Ok(Arc::new(SealedHandle { bytes: OwnedBytes::new(sealed.map().clone()), sealed }))
    }

    fn delete(&self, _path: &Path) -> Result<(), DeleteError> {
        // Only what `unnamed` returns is removed: a reader may still need them.
        Ok(())
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(self.small(path).is_some())
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let file = self.path.join(path);
        let wrap = |error: store::Error| OpenWriteError::wrap_io_error(io::Error::other(error), file.clone());
        let writer = SealedWriter::create(self.disk.as_ref(), &file, SEALED_KIND).map_err(wrap)?;
        // The sealed writer buffers 64 KiB itself.
        Ok(io::BufWriter::with_capacity(1 << 12, Box::new(SealedFile { writer: Mutex::new(Some(writer)) })))
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

struct SealedHandle {
    bytes: OwnedBytes,
    sealed: Sealed,
}

impl fmt::Debug for SealedHandle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SealedHandle({} bytes)", self.len())
    }
}

impl HasLen for SealedHandle {
    fn len(&self) -> usize {
        usize::try_from(self.sealed.content_length()).unwrap_or(usize::MAX)
    }
}

impl FileHandle for SealedHandle {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        self.sealed.range(range.start as u64..range.end as u64).map_err(io::Error::other)?;
        Ok(self.bytes.slice(range))
    }
}

/// tantivy requires a writer that threads may share, but never shares it.
struct SealedFile {
    writer: Mutex<Option<SealedWriter>>,
}

impl SealedFile {
    fn writer(&mut self) -> &mut Option<SealedWriter> {
        self.writer.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl io::Write for SealedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let writer = self.writer().as_mut().ok_or_else(|| io::Error::other("the file is already sealed"))?;
        writer.write(bytes).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for SealedFile {
    fn terminate_ref(&mut self, _token: AntiCallToken) -> io::Result<()> {
        match self.writer().take() {
            Some(writer) => writer.finish().map(|_| ()).map_err(io::Error::other),
            None => Ok(()),
        }
    }
}
