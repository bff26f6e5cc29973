//! Reads index files into columns, on all threads.
//!
//! Input: names of index files. Output: their blobs as columns, in the order of the names, or what is wrong
//! with a file.

use super::columns::Columns;
use super::files::IndexFiles;
use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::file_name::{FileKind, FileName};
use crate::format::blob::{BlobKind, PackedBlob};
use crate::format::index_file::scan;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use work::Progress;

/// The contents of one index file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FileRows {
    pub(super) id: Id,
    /// Each only once.
    pub(super) packs: Vec<FilePack>,
    /// Pack by pack; there by place, no row twice. The pack's number is not known yet.
    pub(super) data: Columns,
    /// Likewise.
    pub(super) trees: Columns,
}

/// A pack that an index file names, and which of its rows are the pack's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FilePack {
    pub(super) id: Id,
    pub(super) data: Range<usize>,
    pub(super) trees: Range<usize>,
}

/// About the fewest bytes that a blob takes in JSON.
const BLOB_JSON_BYTES: usize = 128;

/// Reads index files, the smallest name first.
pub(super) fn read_all(
    files: &dyn IndexFiles,
    wanted: &[(Id, u64)],
    thread_count: usize,
    progress: &dyn Progress,
) -> Vec<Result<FileRows>> {
    progress.expect(wanted.len() as u64, wanted.iter().map(|(_, bytes)| bytes).sum());
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        while let Some((place, &(id, bytes))) = take_next(&next, wanted) {
            found.push((place, progress.check().map_err(Error::from).and_then(|()| read_one(files, id))));
            progress.add(1, bytes);
        }
        found
    };
    let thread_count = thread_count.clamp(1, wanted.len().max(1));
    let mut found = thread::scope(|scope| {
        let threads: Vec<_> = (1..thread_count).map(|_| scope.spawn(work)).collect();
        let mut found = work();
        for thread in threads {
            // A panic of another thread continues in this one.
            found.extend(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        found
    });
    found.sort_unstable_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, rows)| rows).collect()
}

fn take_next<'a, T>(next: &AtomicUsize, items: &'a [T]) -> Option<(usize, &'a T)> {
    let place = next.fetch_add(1, Ordering::Relaxed);
    Some((place, items.get(place)?))
}

fn read_one(files: &dyn IndexFiles, id: Id) -> Result<FileRows> {
    let json = files.read(id)?;
    decode(id, &json)
}

/// Reads the JSON of the index file `id`.
///
/// # Errors
/// [`Error::Damage`] that names it.
pub(super) fn decode(id: Id, json: &[u8]) -> Result<FileRows> {
    let file = FileName { kind: FileKind::Index, id };
    let mut rows = FileRows { id, ..FileRows::default() };
    // Growing memory copies it and takes twice the needed space.
    rows.data.reserve(json.len() / BLOB_JSON_BYTES);
    let mut sorted = Vec::new();
    scan(file, json, |pack, blobs| {
        rows.add(pack, blobs, &mut sorted);
        Ok(())
    })?;
    rows.data.shrink();
    rows.trees.shrink();
    let mut names: Vec<&Id> = rows.packs.iter().map(|pack| &pack.id).collect();
    names.sort_unstable();
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        rows = join_packs(id, json)?;
    }
    Ok(rows)
}

/// Reads an index file that names a pack in several places.
fn join_packs(id: Id, json: &[u8]) -> Result<FileRows> {
    let file = FileName { kind: FileKind::Index, id };
    let mut packs: BTreeMap<Id, Vec<PackedBlob>> = BTreeMap::new();
    scan(file, json, |pack, blobs| {
        packs.entry(*pack).or_default().extend_from_slice(blobs);
        Ok(())
    })?;
    let mut rows = FileRows { id, ..FileRows::default() };
    let mut sorted = Vec::new();
    for (pack, blobs) in &packs {
        rows.add(pack, blobs, &mut sorted);
    }
    Ok(rows)
}

impl FileRows {
    /// Adds a pack. `sorted` is kept from call to call for its memory.
    fn add(&mut self, id: &Id, blobs: &[PackedBlob], sorted: &mut Vec<PackedBlob>) {
        let blobs = if blobs.is_sorted_by(|left, right| order(left) < order(right)) {
            blobs
        } else {
            sorted.clear();
            sorted.extend_from_slice(blobs);
            sorted.sort_unstable_by(|left, right| order(left).cmp(&order(right)));
            sorted.dedup();
            sorted
        };
        let before = (self.data.len(), self.trees.len());
        for blob in blobs {
            match blob.kind {
                BlobKind::Data => self.data.push(0, blob),
                BlobKind::Tree => self.trees.push(0, blob),
            }
        }
        let (data, trees) = (before.0..self.data.len(), before.1..self.trees.len());
        self.packs.push(FilePack { id: *id, data, trees });
    }
}

/// Returns the sort key of blobs in a pack. It gives the order of either kind's table.
fn order(blob: &PackedBlob) -> (u32, &Id, u32, u32, BlobKind) {
    (blob.offset, &blob.id, blob.length, blob.uncompressed_length, blob.kind)
}

/// Returns the files that could be read. Errors of single files are added to `damaged`, if it is given.
///
/// # Errors
/// The first error that is not added there.
pub(super) fn sound(
    read: Vec<Result<FileRows>>,
    mut damaged: Option<&mut Vec<Error>>,
) -> Result<Vec<FileRows>> {
    let mut rows = Vec::with_capacity(read.len());
    for file in read {
        match (file, &mut damaged) {
            (Ok(file), _) => rows.push(file),
            (Err(error), Some(damaged)) if is_of_a_file(&error) => damaged.push(error),
            (Err(error), _) => return Err(error),
        }
    }
    Ok(rows)
}

/// Returns whether an error concerns a single file, so that the next one may be sound.
fn is_of_a_file(error: &Error) -> bool {
    matches!(error, Error::Damage { .. } | Error::Missing { .. } | Error::Unsupported { .. })
}
