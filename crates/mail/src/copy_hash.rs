//! Hashes what a reader sees of a message, so that its copies are known, and nothing else is taken for one.
//!
//! In: parts in the order of the message, then header fields. Out: 128 bits, which are the same only for
//! messages that read the same. Knows nothing of how parts are found and fields are decoded.
//!
//! The hash is the first 16 bytes of a SHA-256, as a little-endian number. A stranger may choose his message
//! to match another one: that takes 2^128 attempts. 2^64 find two messages that match each other, and then
//! hide one of their own writer's.
//!
//! It is over items without gaps. A number is eight bytes, little-endian; a value is its length, a number,
//! and its bytes.
//!
//! A part is: a byte 1; the number of the part it lies in, from 1, or 0 for the message itself; 1 if it is to
//! be shown as an attachment, else 0; and values: its type, its name, `smime-type`, what HTML beside it names
//! it by (only within a multipart/related), what besides its bytes decides how its text reads
//! (`charset::reading`), and the SHA-256 of its content. The content is that of a leaf, with its transfer
//! encoding off, or the header block of a nested message; of a multipart it is empty. Of text and of such a
//! block every CRLF counts as LF, and spaces, tabs and line ends at the end do not count.
//!
//! A header field is: a byte 2, its name as a value, how many values it has, and these.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use sha2::{Digest, Sha256};

use crate::body_hash::{BodyHash, without_line_ends};
use crate::content::{ContentFields, Disposition};

/// Begins a part.
const PART: u8 = 1;
/// Begins a header field.
const FIELD: u8 = 2;

/// How a part looks, besides its content.
#[derive(Clone, Copy)]
pub(crate) struct Look<'a> {
    /// Its type: of all kinds of nested messages `message/rfc822`.
    pub(crate) mime: &'a str,
    /// The number of the part that it lies in.
    pub(crate) parent: Option<usize>,
    /// What its header says of its content.
    pub(crate) content: &'a ContentFields,
    /// It lies in a multipart/related, so that HTML may name it.
    pub(crate) is_related: bool,
    /// What besides its bytes decides how its text reads.
    pub(crate) reading: &'a str,
}

/// The hashes of the parts so far.
pub(crate) struct PartHashes {
    items: Sha256,
    /// Of the content of one part.
    content: Sha256,
    /// The hash that ids are derived from, where one has to be.
    body: Option<BodyHash>,
}

impl PartHashes {
    /// Begins for a message that names its Message-ID.
    pub(crate) fn of_named() -> PartHashes {
        PartHashes { items: Sha256::new(), content: Sha256::new(), body: None }
    }

    /// Begins for a message whose Message-ID is derived from the hash of its bodies.
    pub(crate) fn of_nameless() -> PartHashes {
        PartHashes { body: Some(BodyHash::default()), ..PartHashes::of_named() }
    }

    /// Adds a part that holds others.
    pub(crate) fn add_container(&mut self, look: &Look<'_>) {
        self.look(look);
        self.finish_content();
    }

    /// Adds a part of text.
    pub(crate) fn add_text(&mut self, look: &Look<'_>, text: &[u8]) {
        self.begin(look);
        without_line_ends(text, |bytes| self.content(bytes));
        self.end();
    }

    /// Begins a part whose content comes in pieces.
    pub(crate) fn begin(&mut self, look: &Look<'_>) {
        self.look(look);
        if let Some(body) = &mut self.body {
            body.begin(look.mime);
        }
    }

    /// Adds a piece of content.
    pub(crate) fn content(&mut self, bytes: &[u8]) {
        self.content.update(bytes);
        if let Some(body) = &mut self.body {
            body.content(bytes);
        }
    }

    /// Ends the part.
    pub(crate) fn end(&mut self) {
        self.finish_content();
        if let Some(body) = &mut self.body {
            body.end();
        }
    }

    /// Returns the hash to go on with, and that of the bodies if a Message-ID is derived from it.
    pub(crate) fn finish(self) -> (CopyHash, Option<u128>) {
        (CopyHash { items: self.items }, self.body.map(|body| body.finish()))
    }

    fn look(&mut self, look: &Look<'_>) {
        self.items.update([PART]);
        number(&mut self.items, look.parent.map_or(0, |parent| parent.saturating_add(1)));
        number(&mut self.items, usize::from(look.content.disposition == Disposition::Attachment));
        let place = if look.is_related { look.content.place.as_slice() } else { b"" };
        let smime_type = look.content.smime_type.as_deref().unwrap_or_default();
        for text in [look.mime.as_bytes(), look.content.name.as_bytes(), smime_type.as_bytes(), place] {
            value(&mut self.items, text);
        }
        value(&mut self.items, look.reading.as_bytes());
    }

    fn finish_content(&mut self) {
        let digest = self.content.finalize_reset();
        value(&mut self.items, &digest);
    }
}

/// The hash of all parts, and of the header fields so far.
pub(crate) struct CopyHash {
    items: Sha256,
}

impl CopyHash {
    /// Adds a header field with all its values.
    pub(crate) fn add_field(&mut self, name: &str, values: &[&str]) {
        self.items.update([FIELD]);
        value(&mut self.items, name.as_bytes());
        number(&mut self.items, values.len());
        values.iter().for_each(|text| value(&mut self.items, text.as_bytes()));
    }

    /// Returns the hash.
    pub(crate) fn finish(self) -> u128 {
        let digest = self.items.finalize();
        u128::from_le_bytes(*digest.first_chunk().expect("a SHA-256 has 32 bytes"))
    }
}

fn number(hasher: &mut Sha256, number: usize) {
    hasher.update((number as u64).to_le_bytes());
}

fn value(hasher: &mut Sha256, bytes: &[u8]) {
    number(hasher, bytes.len());
    hasher.update(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(content: &ContentFields) -> Look<'_> {
        Look { mime: &content.mime, parent: None, content, is_related: false, reading: "" }
    }

    fn content(mime: &str) -> ContentFields {
        ContentFields { mime: mime.into(), ..ContentFields::default() }
    }

    fn hash(look: &Look<'_>, text: &str, subject: &[&str]) -> u128 {
        let mut hashes = PartHashes::of_named();
        hashes.add_text(look, text.as_bytes());
        let (mut hash, none) = hashes.finish();
        assert_eq!(none, None);
        hash.add_field("subject", subject);
        hash.finish()
    }

    #[test]
    fn everything_that_is_seen_counts() {
        let fields = content("text/plain");
        let plain = hash(&look(&fields), "a\nb\n", &["s"]);
        assert_eq!(plain, hash(&look(&fields), "a\r\nb\r\n \t\r\n", &["s"]));
        let attached = ContentFields { disposition: Disposition::Attachment, ..fields.clone() };
        let named = ContentFields { name: "a.txt".into(), ..fields.clone() };
        let placed = ContentFields { place: b"x".to_vec(), ..fields.clone() };
        let signed = ContentFields { smime_type: Some("signed-data".into()), ..fields.clone() };
        assert_eq!(plain, hash(&look(&placed), "a\nb\n", &["s"]), "nothing names it");
        let html = content("text/html");
        let mut all = vec![
            plain,
            hash(&look(&fields), "a\rb\n", &["s"]),
            hash(&look(&fields), "a\nb\n", &["t"]),
            hash(&look(&fields), "a\nb\n", &[]),
            hash(&look(&fields), "a\nb\n", &["s", ""]),
            hash(&look(&html), "a\nb\n", &["s"]),
            hash(&look(&attached), "a\nb\n", &["s"]),
            hash(&look(&named), "a\nb\n", &["s"]),
            hash(&look(&signed), "a\nb\n", &["s"]),
            hash(&Look { is_related: true, ..look(&placed) }, "a\nb\n", &["s"]),
            hash(&Look { reading: "KOI8-R", ..look(&fields) }, "a\nb\n", &["s"]),
            hash(&Look { parent: Some(0), ..look(&fields) }, "a\nb\n", &["s"]),
        ];
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    /// The format of the hash is stored: it must not change.
    #[test]
    fn the_hash_is_what_the_text_above_says() {
        let fields = content("a/b");
        let number = |number: u64| number.to_le_bytes().to_vec();
        let value = |bytes: &[u8]| [number(bytes.len() as u64), bytes.to_vec()].concat();
        let part = |mime: &[u8], parent, content: &[u8]| {
            let content = value(&Sha256::digest(content));
            [vec![1], number(parent), number(0), value(mime), vec![0; 32], content].concat()
        };
        let field = [vec![2], value(b"to"), number(2), value(b"x"), value(b"")].concat();
        let items = [part(b"a/b", 0, b""), part(b"a/b", 1, b"\xff"), field].concat();
        let expected: [u8; 16] = *Sha256::digest(items).first_chunk().unwrap();
        let mut hashes = PartHashes::of_nameless();
        hashes.add_container(&look(&fields));
        hashes.begin(&Look { parent: Some(0), ..look(&fields) });
        hashes.content(b"\xff");
        hashes.end();
        let (mut hash, body) = hashes.finish();
        hash.add_field("to", &["x", ""]);
        assert_eq!(hash.finish(), u128::from_le_bytes(expected));
        assert_eq!(body, Some(xxhash_rust::xxh3::xxh3_128(b"a/b\0\xff\x01\0\0\0\0\0\0\0")));
    }
}
