//! What a blob is, and where one lies.
//!
//! Must not know how blobs are packed or found.

use crate::id::Id;
use crate::key::OVERHEAD;

/// The two kinds of blobs; they never share a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlobKind {
    /// A piece of a file.
    Data,
    /// A directory.
    Tree,
}

impl BlobKind {
    /// Returns what such a blob is called in sentences and in index files.
    pub fn word(self) -> &'static str {
        match self {
            BlobKind::Data => "data",
            BlobKind::Tree => "tree",
        }
    }

    /// Returns what one blob is called in sentences: "tree 1a2b...".
    pub fn named(self, id: &Id) -> String {
        format!("{} {id}", self.word())
    }
}

/// Where one copy of a blob lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// The pack.
    pub pack: Id,
    /// Where it begins in the pack, in bytes.
    pub offset: u32,
    /// How many bytes it takes there, encrypted.
    pub length: u32,
    /// How many bytes its content has if it is compressed; 0 if it is not.
    pub uncompressed_length: u32,
}

impl Location {
    /// Returns how many bytes the blob's content has.
    pub fn plain_length(&self) -> u64 {
        plain_length(self.length, self.uncompressed_length)
    }
}

/// Returns how many bytes are in a sealed blob. Index files may say anything, even less than sealing takes.
fn plain_length(length: u32, uncompressed_length: u32) -> u64 {
    match uncompressed_length {
        0 => u64::from(length).saturating_sub(OVERHEAD as u64),
        length => length.into(),
    }
}

/// A blob in a pack, as index files and the headers of packs tell of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackedBlob {
    /// Its kind.
    pub kind: BlobKind,
    /// Its name.
    pub id: Id,
    /// Where it begins in the pack, in bytes.
    pub offset: u32,
    /// How many bytes it takes there, encrypted.
    pub length: u32,
    /// How many bytes its content has if it is compressed; 0 if it is not.
    pub uncompressed_length: u32,
}

impl PackedBlob {
    /// Returns how many bytes its content has.
    pub fn plain_length(&self) -> u64 {
        plain_length(self.length, self.uncompressed_length)
    }

    /// Returns where it lies, if its pack is `pack`.
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
    fn no_length_is_less_than_nothing() {
        for (length, uncompressed_length, plain) in
            [(0, 0, 0), (31, 0, 0), (33, 0, 1), (5, 7, 7), (u32::MAX, u32::MAX, u32::MAX)]
        {
            let location = Location { pack: Id::default(), offset: 0, length, uncompressed_length };
            assert_eq!(location.plain_length(), u64::from(plain));
        }
    }
}
