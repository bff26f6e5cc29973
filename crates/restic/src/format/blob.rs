//! Blobs: their kinds, lengths and locations.
//!
//! Does not depend on how blobs are packed or found.

use crate::crypto::key::OVERHEAD;
use crate::encoding::id::Id;

/// The two kinds of blobs. They never share a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlobKind {
    /// A piece of a file.
    Data,
    /// A directory.
    Tree,
}

/// Size limit of a piece of a file, in bytes: restic cuts at 8 MiB, other programs at a configured size.
pub(crate) const DATA_BYTES_MAX: u64 = 256 << 20;
/// A sealed piece may be this much longer, if compressing it made it larger.
const SEALED_EXCESS_MAX: u64 = 2 << 20;
/// Size limit of any tree, in bytes: a directory of 160,000 files.
pub(crate) const TREE_BYTES_FREE: u64 = 64 << 20;
/// A longer tree may have at most this many bytes for each compressed byte. Real trees stay far below: a tree
/// of empty files with the same time has a hundred, and four hundred if each file also has the same long
/// access control list.
pub(crate) const TREE_RATIO_MAX: u64 = 1_024;

impl BlobKind {
    /// Returns the kind's name in messages and in index files.
    pub fn word(self) -> &'static str {
        match self {
            BlobKind::Data => "data",
            BlobKind::Tree => "tree",
        }
    }

    /// Returns a blob's name in messages: "tree 1a2b...".
    pub fn named(self, id: &Id) -> String {
        format!("{} {id}", self.word())
    }
}

/// The location of one copy of a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// The pack.
    pub pack: Id,
    /// Where it begins in the pack, in bytes.
    pub offset: u32,
    /// Its sealed length in bytes.
    pub length: u32,
    /// The length of its content in bytes if it is compressed; 0 if it is not.
    pub uncompressed_length: u32,
}

impl Location {
    /// Returns the length of the blob's content in bytes.
    pub fn plain_length(&self) -> u64 {
        plain_length(self.length, self.uncompressed_length)
    }
}

/// Returns the size of a sealed blob's content in bytes. Index files may contain any length, even one shorter
/// than the overhead of sealing.
fn plain_length(length: u32, uncompressed_length: u32) -> u64 {
    match uncompressed_length {
        0 => u64::from(length).saturating_sub(OVERHEAD as u64),
        length => length.into(),
    }
}

/// A blob in a pack, as index files and pack headers describe it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackedBlob {
    /// Its kind.
    pub kind: BlobKind,
    /// Its name.
    pub id: Id,
    /// Where it begins in the pack, in bytes.
    pub offset: u32,
    /// Its sealed length in bytes.
    pub length: u32,
    /// The length of its content in bytes if it is compressed; 0 if it is not.
    pub uncompressed_length: u32,
}

impl PackedBlob {
    /// Returns what is wrong with the blob's lengths, as the rest of a sentence. A blob with too large a
    /// length is never read into memory.
    pub(crate) fn length_fault(&self) -> Option<String> {
        let (sealed, plain) = (u64::from(self.length), self.plain_length());
        let limit = match self.kind {
            BlobKind::Data => DATA_BYTES_MAX,
            BlobKind::Tree => TREE_BYTES_FREE.max(sealed.saturating_mul(TREE_RATIO_MAX)),
        };
        let is_long =
            plain > limit || self.kind == BlobKind::Data && sealed > DATA_BYTES_MAX + SEALED_EXCESS_MAX;
        is_long.then(|| format!("it has {plain} bytes, {sealed} in the pack, and the limit is {limit}"))
    }

    /// Returns the length of its content in bytes.
    pub fn plain_length(&self) -> u64 {
        plain_length(self.length, self.uncompressed_length)
    }

    /// Returns its location in `pack`.
    pub fn location(&self, pack: Id) -> Location {
        Location {
            pack,
            offset: self.offset,
            length: self.length,
            uncompressed_length: self.uncompressed_length,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_blob_is_longer_than_memory_is_meant_for() {
        let is_long = |kind, length: u64, plain: u64| {
            let [length, uncompressed_length] = [length, plain].map(|bytes| u32::try_from(bytes).unwrap());
            let blob = PackedBlob { kind, id: Id::default(), offset: 0, length, uncompressed_length };
            blob.length_fault().is_some()
        };
        let (data, tree) = (BlobKind::Data, BlobKind::Tree);
        assert!(!is_long(data, 20_000, DATA_BYTES_MAX) && is_long(data, 20_000, DATA_BYTES_MAX + 1));
        assert!(!is_long(data, DATA_BYTES_MAX + 32, 0) && is_long(data, DATA_BYTES_MAX + 33, 0));
        assert!(is_long(data, DATA_BYTES_MAX + SEALED_EXCESS_MAX + 1, 5));
        // 1.5 GB of spaces are these 48 KB.
        assert!(!is_long(tree, 48_000, TREE_BYTES_FREE) && is_long(tree, 48_000, 1_500_000_000));
        assert!(!is_long(tree, 4_000_000, 1_500_000_000), "a directory of four million files");
        assert!(!is_long(tree, u64::from(u32::MAX), 0), "what is not compressed is as long as it is");
    }

    #[test]
    fn no_length_is_less_than_nothing() {
        for (length, uncompressed_length, plain) in
            [(0, 0, 0), (31, 0, 0), (33, 0, 1), (5, 7, 7), (u32::MAX, u32::MAX, u32::MAX)]
        {
            let location = Location { pack: Id::default(), offset: 0, length, uncompressed_length };
            assert_eq!(location.plain_length(), u64::from(plain));
        }
    }
}
