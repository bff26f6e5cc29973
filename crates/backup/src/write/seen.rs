//! What a look at the files of a directory showed.
//!
//! Input: a sight of each file, by its place among the rows of its directory. Output: whether it is
//! unchanged, and its metadata. Does not read the disk.

use crate::blobs::entry::Stat;
use crate::cache::CachedFile;
use crate::error::Result;
use std::collections::HashMap;

/// What was seen, by the path of the directory.
pub(crate) type SeenFiles = HashMap<Vec<u8>, Seen>;

/// What a look at a file showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    /// Nothing certain.
    Unknown,
    /// The file is as its row has it.
    Same,
    /// Likewise; and it has one name, and lies on the device of its directory.
    SameAlone,
}

/// What was seen of the files of a directory.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    device: u64,
    sights: Vec<Sight>,
    /// Whether the index has exactly the files that have rows, and all are as their rows.
    pub is_unchanged: bool,
}

impl Seen {
    /// Returns a directory on a device, with a count of files that nobody has looked at.
    pub(crate) fn new(device: u64, file_count: usize) -> Seen {
        Seen { device, sights: vec![Sight::Unknown; file_count], is_unchanged: false }
    }

    /// Sets what a look at a file showed.
    pub(crate) fn set(&mut self, place: usize, sight: Sight) {
        if let Some(slot) = self.sights.get_mut(place) {
            *slot = sight;
        }
    }

    /// Returns whether a file is as its row has it.
    pub(crate) fn is_same(&self, place: usize) -> bool {
        self.sights.get(place).is_some_and(|sight| *sight != Sight::Unknown)
    }

    /// Returns the metadata of a file, if all of it is known.
    pub(crate) fn stat(&self, place: usize, file: &CachedFile<'_>) -> Result<Option<Stat>> {
        let is_known = self.sights.get(place) == Some(&Sight::SameAlone);
        is_known.then(|| file.stat(self.device, 1)).transpose()
    }
}
