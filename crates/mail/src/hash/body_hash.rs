//! Hashes the decoded bodies of a message without a usable Message-ID, which is then derived from this hash.
//!
//! Input: decoded contents, part by part in the order of the message. Output: a number that is the same
//! whatever happened to the message on its way: transport headers, transfer encodings, line ends, empty lines
//! at the end. Does not know how parts are found. Derived IDs are stored in tags and backups, so this hash
//! must not change. It resists no attacker: `copy_hash.rs` decides which messages are copies.
//!
//! The hash is XXH3-128 over the following, for each part except multiparts:
//! 1. its type and subtype in lower case, and a zero byte;
//! 2. its content after transfer decoding. In text, and in the header block of a nested message, every CRLF
//!    counts as LF, and spaces, tabs and line ends at the end do not count;
//! 3. the number of bytes hashed of the content, as eight bytes, little-endian.
//!
//! Charsets are not decoded. A nested message counts by its header block, with type `message/rfc822`, and
//! then by its parts.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use xxhash_rust::xxh3::Xxh3;

/// The hash of the parts so far.
#[derive(Default)]
pub(crate) struct BodyHash {
    hasher: Box<Xxh3>,
    length: u64,
}

impl BodyHash {
    /// Starts a part whose content is added in pieces.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::normalized_text::without_line_ends;

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
