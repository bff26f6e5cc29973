//! Writes index files exactly as restic does.
//!
//! Input: packs with their blobs. Output: JSON.

use crate::encoding::hex;
use crate::encoding::id::Id;
use crate::format::blob::{BlobKind, PackedBlob};

/// An index file with this many blobs is full and is stored, as in restic.
pub const BLOB_COUNT_FULL: usize = 50_000;

const BEGIN: &[u8] = b"{\"packs\":[";

/// Builds an index file.
#[derive(Clone, Debug)]
pub struct IndexFileWriter {
    json: Vec<u8>,
    blob_count: usize,
}

impl Default for IndexFileWriter {
    fn default() -> Self {
        IndexFileWriter { json: BEGIN.to_vec(), blob_count: 0 }
    }
}

impl IndexFileWriter {
    /// Adds a pack with all its blobs. A pack that is split over several index files is damage.
    pub fn add(&mut self, pack: &Id, blobs: &[PackedBlob]) {
        self.text(if self.json.len() == BEGIN.len() { b"{\"id\":\"" } else { b",{\"id\":\"" });
        self.text(&hex::encode(&pack.0));
        self.text(b"\",\"blobs\":[");
        for (place, blob) in blobs.iter().enumerate() {
            self.text(if place == 0 { b"{\"id\":\"" } else { b",{\"id\":\"" });
            self.blob(blob);
        }
        self.text(b"]}");
        self.blob_count += blobs.len();
    }

    /// Returns the number of blobs added.
    pub fn blob_count(&self) -> usize {
        self.blob_count
    }

    /// Returns the JSON.
    pub fn finish(mut self) -> Vec<u8> {
        self.text(b"]}\n");
        self.json
    }

    fn blob(&mut self, blob: &PackedBlob) {
        self.text(&hex::encode(&blob.id.0));
        self.text(match blob.kind {
            BlobKind::Data => b"\",\"type\":\"data\"",
            BlobKind::Tree => b"\",\"type\":\"tree\"",
        });
        self.number(b",\"offset\":", blob.offset);
        self.number(b",\"length\":", blob.length);
        if blob.uncompressed_length != 0 {
            self.number(b",\"uncompressed_length\":", blob.uncompressed_length);
        }
        self.text(b"}");
    }

    fn number(&mut self, key: &[u8], number: u32) {
        self.text(key);
        self.text(number.to_string().as_bytes());
    }

    fn text(&mut self, text: &[u8]) {
        self.json.extend_from_slice(text);
    }
}
