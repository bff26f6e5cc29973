//! Reads the blocks of files on several threads, before a scan goes through each file in order.
//!
//! Input: the files of directories. Output: [`CheckedFiles`], which has the rows of each sound block. It does
//! not judge what follows from that, nor what is between blocks.
//!
//! Blocks are found by their heads alone, up to the first position where none begins; the scan searches after
//! that. A damaged block is not recorded. Memory: some 100 bytes for each block.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::{Damage, Result};
use crate::file::block::{BlockPlace, Step, Unpacker, read_head};
use crate::file::chunks::chunks;
use crate::file::directory;
use crate::file::header::FileKind;
use crate::file::row::{Row, rows};
use disk::{Disk, Map};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use work::Progress;

/// The rows of a whole block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BlockRows {
    /// How many there are.
    pub(crate) count: u64,
    /// The replicas that wrote the rows.
    pub(crate) replicas: Vec<Reach>,
}

/// The rows of a replica in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reach {
    /// The replica; 0 for all rows of a snapshot.
    pub(crate) replica: u32,
    /// The number of the first row.
    pub(crate) first: i64,
    /// The greatest number plus one.
    pub(crate) next: i64,
}

/// The whole blocks of some files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedFiles {
    files: BTreeMap<PathBuf, CheckedBlocks>,
}

/// The whole blocks of a file, by where they begin and end.
pub(crate) type CheckedBlocks = BTreeMap<(usize, usize), BlockRows>;

impl CheckedFiles {
    /// Returns the checked blocks of a file.
    pub(crate) fn file(&self, path: &Path) -> Option<&CheckedBlocks> {
        self.files.get(path)
    }
}

/// Files whose blocks are to be read.
#[derive(Debug)]
pub struct UncheckedFiles {
    files: Vec<UncheckedFile>,
}

#[derive(Debug)]
struct UncheckedFile {
    path: PathBuf,
    kind: FileKind,
    bytes: Map,
    blocks: Vec<BlockPlace>,
}

/// A run of blocks of the file with a number.
struct Task {
    file: usize,
    blocks: Range<usize>,
}

impl UncheckedFiles {
    /// Finds the blocks of all snapshots in a directory and of all logs in another.
    ///
    /// # Errors
    /// Disk errors.
    pub fn open(disk: &dyn Disk, directory: &Path, log_directory: &Path) -> Result<UncheckedFiles> {
        let mut files = Vec::new();
        for (directory, kind) in [(directory, FileKind::Snapshot), (log_directory, FileKind::Log)] {
            for named in directory::list(disk, directory, kind)? {
                let (bytes, begin) = match directory::open(disk, &named, kind)? {
                    Ok(opened) => (opened.bytes, Some(opened.header_bytes)),
                    Err(unopened) => (unopened.bytes.clone(), unopened.first_block),
                };
                let blocks = begin.map(|begin| blocks(&bytes, begin)).unwrap_or_default();
                files.push(UncheckedFile { path: named.path, kind, bytes, blocks });
            }
        }
        Ok(UncheckedFiles { files })
    }

    /// Returns how many stored bytes there are in all blocks.
    pub fn stored_bytes(&self) -> u64 {
        let blocks = self.files.iter().flat_map(|file| &file.blocks);
        blocks.map(|block| block.payload.len() as u64).sum()
    }

    /// Reads all blocks, on `thread_count` threads. `progress` counts blocks and their stored bytes. It
    /// cannot be cancelled: unread blocks would count as damaged.
    pub fn check(&self, thread_count: usize, progress: &dyn Progress) -> CheckedFiles {
        let of_file = |(file, ahead): (usize, &UncheckedFile)| {
            let chunks = chunks(&ahead.blocks, thread_count);
            chunks.into_iter().map(move |blocks| Task { file, blocks })
        };
        let tasks: Vec<Task> = self.files.iter().enumerate().flat_map(of_file).collect();
        let next = AtomicUsize::new(0);
        let done = Mutex::new(Vec::new());
        let work = || {
            while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                let Some(file) = self.files.get(task.file) else { break };
                let whole = file.read(task.blocks.clone(), progress);
                done.lock().expect("nobody panics with it").push((task.file, whole));
            }
        };
        thread::scope(|scope| {
            for _ in 1..thread_count.min(tasks.len()) {
                scope.spawn(work);
            }
            work();
        });
        let mut checked = CheckedFiles::default();
        for (file, whole) in done.into_inner().expect("nobody panicked with it") {
            let Some(file) = self.files.get(file) else { continue };
            checked.files.entry(file.path.clone()).or_default().extend(whole);
        }
        checked
    }
}

impl UncheckedFile {
    /// Reads some blocks; returns those that are whole.
    fn read(&self, blocks: Range<usize>, progress: &dyn Progress) -> CheckedBlocks {
        let mut unpacker = Unpacker::for_file(self.kind);
        let mut whole = CheckedBlocks::new();
        for place in self.blocks.get(blocks).unwrap_or_default() {
            if let Ok(rows) = read_block(&mut unpacker, &self.bytes, place, self.kind) {
                whole.insert((place.offset, place.payload.end), rows);
            }
            progress.add(1, place.payload.len() as u64);
        }
        whole
    }
}

/// Returns the consecutive blocks from `at` on.
fn blocks(bytes: &[u8], mut at: usize) -> Vec<BlockPlace> {
    let mut blocks = Vec::new();
    while let Ok(Step::Block(place)) = read_head(bytes, at) {
        at = place.payload.end;
        blocks.push(place);
    }
    blocks
}

/// Reads the rows of a block.
///
/// # Errors
/// If the block is damaged, or one of its rows is invalid.
pub(crate) fn read_block(
    unpacker: &mut Unpacker,
    bytes: &[u8],
    place: &BlockPlace,
    kind: FileKind,
) -> std::result::Result<BlockRows, Damage> {
    let payload = unpacker.unpack(bytes, place)?;
    let mut found = BlockRows::default();
    for row in rows(payload) {
        found.add(&row.map_err(|damage| Damage::new(place.offset, damage.what))?, kind);
    }
    Ok(found)
}

impl BlockRows {
    /// Adds a row.
    pub(crate) fn add(&mut self, row: &Row, kind: FileKind) {
        self.count = self.count.saturating_add(1);
        let replica = match kind {
            FileKind::Snapshot => 0,
            _ => row.replica,
        };
        let next = row.lsn.saturating_add(1);
        match self.replicas.iter_mut().find(|reach| reach.replica == replica) {
            // Repeated and late rows do not lower the end.
            Some(reach) => reach.next = reach.next.max(next),
            None => self.replicas.push(Reach { replica, first: row.lsn, next }),
        }
    }
}
