//! What a blob is, and where one lies.
//!
//! Must not know how blobs are packed or found.

use crate::id::Id;

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
