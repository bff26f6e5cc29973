//! Writes the files of a corpus on several threads.
//!
//! Input: folders, and a function that writes the files of one message. Output: files and their count. Does
//! not depend on their content.

use super::folders::Folder;
use super::{Corpus, FolderCount};
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

/// How many messages a thread takes at a time.
const CHUNK: u32 = 256;

/// Receives the files that one thread writes.
pub(super) struct Sink<'a> {
    /// `cur` and `new` of each folder.
    directories: &'a [[PathBuf; 2]],
    bytes: u64,
    files: Vec<u64>,
}

/// A file to be written.
pub(super) struct NewFile<'a> {
    pub(super) folder: usize,
    pub(super) is_new: bool,
    pub(super) name: &'a str,
    pub(super) content: &'a [u8],
    pub(super) mtime_seconds: i64,
}

impl Sink<'_> {
    /// Writes one file.
    pub(super) fn put(&mut self, file: &NewFile<'_>) -> io::Result<()> {
        let path = self.directories[file.folder][usize::from(file.is_new)].join(file.name);
        let mut out = OpenOptions::new().write(true).create_new(true).open(path)?;
        out.write_all(file.content)?;
        let seconds = u64::try_from(file.mtime_seconds).expect("all mail is younger than 1970");
        out.set_modified(UNIX_EPOCH + Duration::from_secs(seconds))?;
        self.bytes += file.content.len() as u64;
        self.files[file.folder] += 1;
        Ok(())
    }
}

/// Creates `folders` below `root` and calls `put` for the numbers below `messages`, on `threads` threads.
pub(super) fn write_all(
    root: &Path,
    folders: &[Folder],
    messages: u32,
    threads: usize,
    put: &(dyn Fn(u32, &mut Sink<'_>) -> io::Result<()> + Sync),
) -> io::Result<Corpus> {
    let directories = folders.iter().map(|folder| create(root, folder)).collect::<io::Result<Vec<_>>>()?;
    let left = Mutex::new(0..messages);
    let work = |worker: usize| -> io::Result<(u64, Vec<u64>)> {
        let mut sink = Sink { directories: &directories, bytes: 0, files: vec![0; folders.len()] };
        while let Some(chunk) = take(&left, worker) {
            for number in chunk {
                put(number, &mut sink)?;
            }
        }
        Ok((sink.bytes, sink.files))
    };
    let results: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|worker| scope.spawn(move || work(worker))).collect();
        workers.into_iter().map(|worker| worker.join().expect("a writing thread does not panic")).collect()
    });
    let mut corpus = Corpus {
        files: 0,
        bytes: 0,
        folders: folders.iter().map(|folder| FolderCount { path: folder.path.clone(), files: 0 }).collect(),
    };
    for result in results {
        let (bytes, files) = result?;
        corpus.bytes += bytes;
        corpus.files += files.iter().sum::<u64>();
        for (folder, count) in corpus.folders.iter_mut().zip(files) {
            folder.files += count;
        }
    }
    Ok(corpus)
}

/// Takes the next chunk. Every other worker starts from the end, so that two workers seldom create names in
/// one directory, where they would wait for each other.
fn take(left: &Mutex<Range<u32>>, worker: usize) -> Option<Range<u32>> {
    let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
    let count = CHUNK.min(left.end - left.start);
    if count == 0 {
        return None;
    }
    if worker.is_multiple_of(2) {
        left.start += count;
        Some(left.start - count..left.start)
    } else {
        left.end -= count;
        Some(left.end..left.end + count)
    }
}

fn create(root: &Path, folder: &Folder) -> io::Result<[PathBuf; 2]> {
    let path = root.join(OsStr::from_bytes(&folder.path));
    for name in ["cur", "new", "tmp"] {
        fs::create_dir_all(path.join(name))?;
    }
    Ok([path.join("cur"), path.join("new")])
}
