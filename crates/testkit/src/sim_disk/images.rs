//! The disks that a crash may leave.
//!
//! Input: a disk's state, with what is durable and what is not. Output: at most a dozen disks that the rules
//! allow, the worst ones deliberately and some at random. Does not depend on the meaning of the files.

use super::sim::SimDisk;
use super::state::{Entry, Inode, Names, State, is_directory};
use crate::Random;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Separates the random numbers of images from those of refused writes.
const IMAGES_STREAM: u64 = 1;
/// A disk writes this many bytes together or not at all.
const SECTOR_BYTES: usize = 512;

/// A disk as it may be found after a crash.
#[derive(Debug)]
pub struct Image {
    /// The disk. Everything on it is durable.
    pub disk: SimDisk,
    /// What was lost, for the message of a failing test.
    pub description: &'static str,
}

/// Which changes of names happened.
#[derive(Clone, Copy)]
enum NamesKept {
    None,
    All,
    AllButOne,
    One,
    ByChance,
}

/// Which unsynced bytes were written.
#[derive(Clone, Copy)]
enum Written {
    None,
    All,
    /// All, but only the first sectors of the last write; the file ends there.
    Torn,
    /// The same, but the file has its length.
    TornInZeros,
    Zeros,
    ByChance,
}

/// For each image: its description, the names, the bytes.
const RECIPES: [(&str, NamesKept, Written); 12] = [
    ("only what was synced", NamesKept::None, Written::None),
    ("everything, synced or not", NamesKept::All, Written::All),
    ("all names, but the last write torn at a sector", NamesKept::All, Written::Torn),
    (
        "all names and sizes, but the last write torn at a sector, zeros behind",
        NamesKept::All,
        Written::TornInZeros,
    ),
    ("all names and sizes, but zeros for unsynced bytes", NamesKept::All, Written::Zeros),
    ("all names, but none of the unsynced bytes", NamesKept::All, Written::None),
    ("all bytes, but none of the unsynced names", NamesKept::None, Written::All),
    ("all bytes, all names but one", NamesKept::AllButOne, Written::All),
    ("one unsynced name, none of the unsynced bytes", NamesKept::One, Written::None),
    ("some names, some sectors", NamesKept::ByChance, Written::ByChance),
    ("some names, some other sectors", NamesKept::ByChance, Written::ByChance),
    ("all names, some sectors", NamesKept::All, Written::ByChance),
];

/// What is found: names with the bytes of files, and directories without.
type Found = BTreeMap<PathBuf, Option<Arc<Vec<u8>>>>;

impl SimDisk {
    /// Returns the disks that may be found after a crash at this moment: at most 12, each only once.
    /// Everything on them is durable.
    pub fn images(&self) -> Vec<Image> {
        let inner = self.inner();
        let mut random = Random::of(inner.seed, IMAGES_STREAM, inner.trace.len() as u64);
        images(inner.seed, &inner.state, &mut random)
    }
}

/// Returns the distinct states that may be found after a crash.
fn images(seed: u64, state: &State, random: &mut Random) -> Vec<Image> {
    let mut different: Vec<(&'static str, Found)> = Vec::new();
    for (description, kept, written) in RECIPES {
        let found = found(state, kept, written, random);
        if different.iter().all(|(_, other)| *other != found) {
            different.push((description, found));
        }
    }
    let image = |(description, found)| Image {
        disk: SimDisk::from_state(seed, State::of_durable(found)),
        description,
    };
    different.into_iter().map(image).collect()
}

fn found(state: &State, kept: NamesKept, written: Written, random: &mut Random) -> Found {
    let names = names(state, kept, random);
    let bytes = |entry| match entry {
        Entry::Directory => None,
        Entry::File(inode) => Some(bytes(state, inode, written, random)),
    };
    let entries = names.values().copied().map(bytes).collect::<Vec<_>>();
    names.into_keys().zip(entries).collect()
}

/// Returns the names that are left.
fn names(state: &State, kept: NamesKept, random: &mut Random) -> Names {
    let one = random.index(state.pending.len().max(1));
    let mut names = state.durable.clone();
    for (index, change) in state.pending.iter().enumerate() {
        let has_happened = match kept {
            NamesKept::None => false,
            NamesKept::All => true,
            NamesKept::AllButOne => index != one,
            NamesKept::One => index == one,
            NamesKept::ByChance => random.per_mille(500),
        };
        if has_happened {
            change.apply(&mut names);
        }
    }
    // The content of a lost directory is lost. A directory sorts before its content.
    let mut reachable = Names::new();
    for (path, entry) in names {
        if path.parent().is_some_and(|directory| is_directory(&reachable, directory)) {
            reachable.insert(path, entry);
        }
    }
    reachable
}

/// Returns the bytes that are left of a file.
fn bytes(state: &State, number: usize, written: Written, random: &mut Random) -> Arc<Vec<u8>> {
    let inode = &state.inodes[number];
    let last_write = state.last_write.as_ref().filter(|(last, _)| *last == number).map(|(_, range)| range);
    let (shorter, longer) = {
        let (seen, durable) = (inode.seen.len(), inode.durable.len());
        (seen.min(durable), seen.max(durable))
    };
    match (written, last_write) {
        (Written::None, _) => Arc::clone(&inode.durable),
        (Written::All, _) | (Written::Torn | Written::TornInZeros, None) => Arc::clone(&inode.seen),
        _ if inode.same_bytes == longer => Arc::clone(&inode.durable),
        (Written::Torn, Some(range)) => {
            let end = tear(range, random).clamp(inode.same_bytes, inode.seen.len());
            Arc::new(inode.seen[..end].to_vec())
        }
        (Written::TornInZeros, Some(range)) => {
            let end = tear(range, random);
            mix(inode, inode.seen.len(), |sector| sector < end)
        }
        (Written::Zeros, _) => mix(inode, inode.seen.len(), |_| false),
        (Written::ByChance, _) => {
            let lengths = [shorter, longer, shorter + random.index(longer - shorter + 1)];
            let (length_bytes, count) = (*random.pick(&lengths), *random.pick(&[250, 500, 875]));
            mix(inode, length_bytes, |_| random.per_mille(count))
        }
    }
}

/// Returns an offset within `range` at which a sector begins, or its start if none does.
fn tear(range: &Range<usize>, random: &mut Random) -> usize {
    let first = range.start / SECTOR_BYTES + 1;
    let boundary_count = range.end.div_ceil(SECTOR_BYTES).saturating_sub(first);
    if boundary_count == 0 { range.start } else { (first + random.index(boundary_count)) * SECTOR_BYTES }
}

/// Returns the durable bytes with another length. Sectors for which `is_written` returns true have the seen
/// bytes; `is_written` gets the offset of a sector's first unsynced byte.
fn mix(inode: &Inode, length_bytes: usize, mut is_written: impl FnMut(usize) -> bool) -> Arc<Vec<u8>> {
    let mut bytes = inode.durable.to_vec();
    bytes.resize(length_bytes, 0);
    let end = length_bytes.min(inode.seen.len());
    let mut start = inode.same_bytes;
    while start < end {
        let next = ((start / SECTOR_BYTES + 1) * SECTOR_BYTES).min(end);
        if is_written(start) {
            bytes[start..next].copy_from_slice(&inode.seen[start..next]);
        }
        start = next;
    }
    Arc::new(bytes)
}
