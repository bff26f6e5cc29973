//! Hashes the decoded bodies of a message that names no usable Message-ID: one is derived from this hash.
//!
//! Decoded contents come in, part by part in the order of the message; a number goes out that is the same
//! whatever happened to the message on its way: transport headers, transfer encodings, line ends, empty lines
//! at the end. Knows nothing of how parts are found. Derived ids are kept in tags and backups, so this hash
//! stays what it is. It resists no attacker: what decides which messages are copies is `copy_hash.rs`.
//!
//! The hash is XXH3-128 over, for each part but multiparts:
//! 1. its type and subtype in lower case, and a zero byte;
//! 2. its content with its transfer encoding off. Of text (and of the header block of a nested message) every CRLF counts as
//!    LF, and spaces, tabs and line ends at the end do not count;
//! 3. the length of what was hashed of the content, as eight bytes, little-endian.
//!
//! Charsets stay as they are. A nested message counts by its header block, of type `message/rfc822`, and then by its parts.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use xxhash_rust::xxh3::Xxh3;

use crate::bytes::{after, before};

/// The hash of the parts so far.
#[derive(Default)]
pub(crate) struct BodyHash {
    hasher: Box<Xxh3>,
    length: u64,
}

impl BodyHash {
    /// Begins a part whose content comes in pieces.
    pub(crate) fn begin(&mut self, mime: &str) {
        self.hasher.update(mime.as_bytes());
        self.hasher.update(&[0]);
        self.length = 0;
    }

    /// Adds a piece of content.
    pub(crate) fn content(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.length = self.length.saturating_add(bytes.len() as u64);
    }

    /// Ends the part.
    pub(crate) fn end(&mut self) {
        self.hasher.update(&self.length.to_le_bytes());
    }

    /// Returns the hash of all parts.
    pub(crate) fn finish(&self) -> u128 {
        self.hasher.digest128()
    }
}

/// Hands out a text in pieces: without the CR of each CRLF, and without spaces, tabs and line ends at its
/// end.
pub(crate) fn without_line_ends(text: &[u8], mut each: impl FnMut(&[u8])) {
    let mut rest = text.trim_ascii_end();
    while let Some(end) = memchr::memmem::find(rest, b"\r\n") {
        each(before(rest, end));
        rest = after(rest, end.saturating_add(1));
    }
    each(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    impl BodyHash {
        fn add_text(&mut self, mime: &str, text: &[u8]) {
            self.begin(mime);
            without_line_ends(text, |bytes| self.content(bytes));
            self.end();
        }
    }

    fn hash(parts: &[(&str, &str)]) -> u128 {
        let mut hash = BodyHash::default();
        parts.iter().for_each(|(mime, text)| hash.add_text(mime, text.as_bytes()));
        hash.finish()
    }

    #[test]
    fn the_way_does_not_count_and_the_content_does() {
        let plain = hash(&[("text/plain", "a\nb\n")]);
        assert_eq!(plain, hash(&[("text/plain", "a\r\nb\r\n \t\r\n")]));
        assert_ne!(plain, hash(&[("text/html", "a\nb\n")]));
        assert_ne!(plain, hash(&[("text/plain", "a\rb\n")]));
        assert_ne!(plain, hash(&[("text/plain", "a\nb"), ("text/plain", "")]));
        assert_ne!(hash(&[("a/b", "x"), ("a/b", "y")]), hash(&[("a/b", "xy"), ("a/b", "")]));
    }

    /// The format of the hash is stored: it must not change.
    #[test]
    fn the_hash_is_what_the_text_above_says() {
        let expected =
            xxhash_rust::xxh3::xxh3_128(b"text/plain\0a\nb\x03\0\0\0\0\0\0\0a/b\0\xff\x01\0\0\0\0\0\0\0");
        let mut hash = BodyHash::default();
        hash.add_text("text/plain", b"a\r\nb\r\n");
        hash.begin("a/b");
        hash.content(b"\xff");
        hash.end();
        assert_eq!(hash.finish(), expected);
    }
}
