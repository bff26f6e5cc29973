//! The listing of one directory, compared with its rows: what is new, what is gone, what needs a closer look.
//!
//! Input: entries in directory order, and the rows of that directory. Output: lists of differences. Pure:
//! does not access the disk. `plan` finds moved files after all directories were compared.

use crate::rows::{FileRow, Subdirectory};
use mail::Fingerprint;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

/// The entries of one directory, in memory that is used again for the next one.
#[derive(Debug, Default)]
pub(super) struct Listing {
    names: Vec<u8>,
    entries: Vec<Entry>,
    fingerprint: Fingerprint,
}

/// One entry: a file's name (a range of the listing's bytes), its inode and the hash of both.
#[derive(Clone, Debug)]
struct Entry {
    name: Range<usize>,
    /// The inode in the directory entry.
    inode: u64,
    /// `mail::entry_hash` of name and inode.
    hash: u128,
}

/// A file in a directory, as listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::pass) struct Found {
    /// The index of its folder in this pass's list.
    pub folder: usize,
    /// `cur` or `new`.
    pub subdirectory: Subdirectory,
    /// Its name, byte for byte.
    pub name: Vec<u8>,
    /// The inode.
    pub inode: u64,
}

/// How a directory differs from its rows.
#[derive(Debug, Default)]
pub(super) struct Difference {
    /// Files without a row.
    pub added: Vec<Found>,
    /// Rows without a file.
    pub gone: Vec<FileRow>,
    /// Rows whose file has the same name but another inode.
    pub other_inode: Vec<(FileRow, Found)>,
    /// Rows whose file is listed as before, but whose size and times are to be checked.
    pub to_stat: Vec<(FileRow, Found)>,
}

/// Which apparently unchanged files are checked one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closer {
    /// All of them.
    All,
    /// Files with the draft flag.
    Drafts,
}

impl Closer {
    /// Returns whether a file with this name is checked.
    pub(super) fn wants(self, name: &[u8]) -> bool {
        self == Closer::All || mail::is_draft(name)
    }
}

/// Gets the key, name and inode of a row.
pub(crate) type Visit<'a, Key> = &'a mut dyn FnMut(Key, &[u8], u64);

/// The rows of one directory, however they are stored.
pub(super) trait StoredRows {
    /// Identifies a row; passed to `load`.
    type Key: Copy;
    /// Error of reading rows.
    type Error;
    /// Calls `visit` with key, name and inode of each row, in any order.
    ///
    /// # Errors
    /// Damage.
    fn visit(&self, visit: Visit<'_, Self::Key>) -> Result<(), Self::Error>;
    /// Returns a whole row.
    ///
    /// # Errors
    /// Damage.
    fn load(&self, key: Self::Key) -> Result<FileRow, Self::Error>;
}

impl Listing {
    /// Adds an entry.
    pub(super) fn push(&mut self, name: &[u8], inode: u64) {
        let start = self.names.len();
        self.names.extend_from_slice(name);
        let hash = mail::entry_hash(name, inode);
        self.fingerprint.add(hash);
        self.entries.push(Entry { name: start..self.names.len(), inode, hash });
    }

    /// Removes all entries but keeps the memory.
    pub(super) fn clear(&mut self) {
        self.names.clear();
        self.entries.clear();
        self.fingerprint = Fingerprint::default();
    }

    /// Returns the fingerprint of all entries.
    pub(super) fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Returns how many entries there are.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the names in directory order.
    pub(super) fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.entries.iter().map(|entry| self.name(entry))
    }

    fn name(&self, entry: &Entry) -> &[u8] {
        self.names.get(entry.name.clone()).unwrap_or_default()
    }
}

/// Compares the listing of one directory with its rows.
///
/// # Errors
/// The error of reading the rows.
pub(super) fn compare<K: StoredRows>(
    listing: &Listing,
    at: (usize, Subdirectory),
    closer: Closer,
    known: &K,
) -> Result<Difference, K::Error> {
    let mut by_hash: HashMap<u64, u32, BuildHasherDefault<AlreadyHashed>> = HashMap::default();
    by_hash.reserve(listing.len());
    for (index, entry) in (0u32..).zip(&listing.entries) {
        by_hash.insert(short(entry.hash), index);
    }
    let mut seen = vec![false; listing.len()];
    let mut unmatched = Vec::new();
    let mut looked_at = Vec::new();
    known.visit(&mut |key, name, inode| {
        let index =
            by_hash.get(&short(mail::entry_hash(name, inode))).map_or(usize::MAX, |index| *index as usize);
        match (listing.entries.get(index), seen.get_mut(index)) {
            (Some(entry), Some(slot)) if entry.inode == inode && listing.name(entry) == name => {
                *slot = true;
                if closer.wants(name) {
                    looked_at.push((key, index));
                }
            }
            _ => unmatched.push(key),
        }
    })?;
    let mut difference = Difference::default();
    for (key, index) in looked_at {
        let entry = &listing.entries[index];
        difference.to_stat.push((known.load(key)?, found(listing, entry, at)));
    }
    let mut fresh: HashMap<Vec<u8>, Found> = HashMap::new();
    for (entry, _) in listing.entries.iter().zip(&seen).filter(|(_, seen)| !**seen) {
        let found = found(listing, entry, at);
        fresh.insert(found.name.clone(), found);
    }
    if !fresh.is_empty() {
        // A name may be listed twice: a network file system may repeat it, or the file was removed and made
        // again meanwhile. Its row has been matched.
        for (entry, _) in listing.entries.iter().zip(&seen).filter(|(_, seen)| **seen) {
            fresh.remove(listing.name(entry));
        }
    }
    for key in unmatched {
        let row = known.load(key)?;
        match fresh.remove(&row.name) {
            Some(found) => difference.other_inode.push((row, found)),
            None => difference.gone.push(row),
        }
    }
    difference.added = fresh.into_values().collect();
    difference.added.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(difference)
}

fn found(listing: &Listing, entry: &Entry, (folder, subdirectory): (usize, Subdirectory)) -> Found {
    Found { folder, subdirectory, name: listing.name(entry).to_vec(), inode: entry.inode }
}

/// Returns half of a hash. It is enough to find an entry, whose name and inode are then compared.
fn short(hash: u128) -> u64 {
    (hash >> 64) as u64
}

/// Uses a key that is already a hash as its hash.
#[derive(Default)]
pub(super) struct AlreadyHashed(u64);

impl Hasher for AlreadyHashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mail::Flags;
    use std::convert::Infallible;

    /// One row, of the file `a` with inode 5.
    struct OneRow;

    impl StoredRows for OneRow {
        type Key = ();
        type Error = Infallible;

        fn visit(&self, visit: Visit<'_, ()>) -> Result<(), Infallible> {
            visit((), b"a", 5);
            Ok(())
        }

        fn load(&self, (): ()) -> Result<FileRow, Infallible> {
            Ok(FileRow {
                folder: 1,
                subdirectory: Subdirectory::Cur,
                name: b"a".to_vec(),
                inode: 5,
                size_bytes: 0,
                mtime_ns: 0,
                ctime_ns: 0,
                flags: Flags::NONE,
                keywords: 0,
                message: 0,
            })
        }
    }

    fn compared(entries: &[(&[u8], u64)]) -> (usize, usize, usize) {
        let mut listing = Listing::default();
        entries.iter().for_each(|(name, inode)| listing.push(name, *inode));
        let Ok(difference) = compare(&listing, (0, Subdirectory::Cur), Closer::Drafts, &OneRow);
        (difference.added.len(), difference.gone.len(), difference.other_inode.len())
    }

    #[test]
    fn a_name_that_is_listed_twice_is_one_file() {
        assert_eq!(compared(&[(b"a", 5), (b"a", 5)]), (0, 0, 0));
        assert_eq!(
            compared(&[(b"a", 5), (b"a", 7)]),
            (0, 0, 0),
            "replaced while it was listed: its row is seen"
        );
        assert_eq!(compared(&[(b"a", 7), (b"a", 5)]), (0, 0, 0));
        assert_eq!(compared(&[(b"a", 7), (b"a", 8)]), (0, 0, 1));
        assert_eq!(compared(&[(b"b", 7), (b"b", 8), (b"a", 5)]), (1, 0, 0));
    }
}
