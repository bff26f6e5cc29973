//! Reads compressed payloads.

/// What reading payloads needs and keeps: decoded blocks, in a cache bounded in bytes, and decompression contexts. One per thread.
#[derive(Default)]
pub struct PayloadReader {}

impl PayloadReader {
    /// Returns a reader that has read nothing.
    pub fn new() -> PayloadReader {
        PayloadReader::default()
    }
}
