//! The contents of one directory: names and inodes, in reusable memory.
//!
//! Input: entries in directory order. Output: the entries and their fingerprint. Must not know rows.

use mail::Fingerprint;
use std::ops::Range;

/// The entries of one directory.
#[derive(Debug, Default)]
pub(super) struct Listing {
    names: Vec<u8>,
    entries: Vec<Entry>,
    fingerprint: Fingerprint,
}

/// One entry: a file's name (a range of the listing's bytes), its inode and the hash of both.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    name: Range<usize>,
    /// The inode in the directory entry.
    pub inode: u64,
    /// `mail::entry_hash` of name and inode.
    pub hash: u128,
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

    /// Returns the entries in directory order.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns an entry's name.
    pub(super) fn name(&self, entry: &Entry) -> &[u8] {
        self.names.get(entry.name.clone()).unwrap_or_default()
    }

    /// Returns how many entries there are.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }
}
