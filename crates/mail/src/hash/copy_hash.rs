//! Hashes everything that a reader sees of a message, to recognise its copies and nothing else.
//!
//! Input: parts in the order of the message, then header fields. Output: 128 bits that are equal only for
//! messages that read the same. Does not know how parts are found and fields are decoded.
//!
//! The hash is the first 16 bytes of a SHA-256, as a little-endian number. A stranger who wants a message to
//! match an existing one needs 2^128 attempts. With 2^64 attempts he finds two messages that match each
//! other, which only lets him hide a message of his own.
//!
//! The SHA-256 covers items without gaps. A number is eight bytes, little-endian; a value is its length, as a
//! number, and its bytes.
//!
//! A part is: a byte 1; the number of the part that contains it, counted from 1, or 0 for the message itself;
//! 1 if its disposition is attachment, else 0; and these values: its type, its name, `smime-type`, the names
//! by which HTML refers to it (only within a multipart/related), its decoding key (`charset::decoding_key`),
//! and the SHA-256 of its content. The content is that of a leaf after transfer decoding, or the header block
//! of a nested message; of a multipart it is empty. In text and in such a block every CRLF counts as LF, and
//! spaces, tabs and line ends at the end do not count.
//!
//! A header field is: a byte 2, its name as a value, the number of its values, and the values.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use sha2::{Digest, Sha256};

use crate::hash::body_hash::BodyHash;
use crate::hash::normalized_text::without_line_ends;
use crate::mime::content_fields::{ContentFields, Disposition};

/// Starts a part.
const PART: u8 = 1;
/// Starts a header field.
const FIELD: u8 = 2;

/// Everything hashed of a part except its content.
#[derive(Clone, Copy)]
pub(crate) struct PartHeader<'a> {
    /// Its type. All kinds of nested messages have `message/rfc822`.
    pub(crate) mime: &'a str,
    /// The index of the part that contains it.
    pub(crate) parent: Option<usize>,
    /// Its content fields.
    pub(crate) content: &'a ContentFields,
    /// It is in a multipart/related, so that HTML may refer to it.
    pub(crate) is_related: bool,
    /// Everything besides its bytes that decides how its text decodes.
    pub(crate) decoding_key: &'a str,
}

/// The hashes of the parts so far.
pub(crate) struct PartHashes {
    items: Sha256,
    /// The hash of one part's content.
    content: Sha256,
    /// The hash that a Message-ID is derived from, if it has to be.
    body: Option<BodyHash>,
}

impl PartHashes {
    /// Starts for a message that has a Message-ID.
    pub(crate) fn with_message_id() -> PartHashes {
        PartHashes { items: Sha256::new(), content: Sha256::new(), body: None }
    }

    /// Starts for a message whose Message-ID is derived from the hash of its bodies.
    pub(crate) fn without_message_id() -> PartHashes {
        PartHashes { body: Some(BodyHash::default()), ..PartHashes::with_message_id() }
    }

    /// Adds a part that contains others.
    pub(crate) fn add_container(&mut self, header: &PartHeader<'_>) {
        self.add_header(header);
        self.finish_content();
    }

    /// Adds a part of text.
    pub(crate) fn add_text(&mut self, header: &PartHeader<'_>, text: &[u8]) {
        self.begin(header);
        without_line_ends(text, |bytes| self.content(bytes));
        self.end();
    }

    /// Starts a part whose content is added in pieces.
    pub(crate) fn begin(&mut self, header: &PartHeader<'_>) {
        self.add_header(header);
        if let Some(body) = &mut self.body {
            body.begin(header.mime);
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

    /// Returns the copy hash, to be continued with header fields, and the hash of the bodies if a Message-ID
    /// is derived from it.
    pub(crate) fn finish(self) -> (CopyHash, Option<u128>) {
        (CopyHash { items: self.items }, self.body.map(|body| body.finish()))
    }

    fn add_header(&mut self, header: &PartHeader<'_>) {
        self.items.update([PART]);
        number(&mut self.items, header.parent.map_or(0, |parent| parent.saturating_add(1)));
        number(&mut self.items, usize::from(header.content.disposition == Disposition::Attachment));
        let content_ids = if header.is_related { header.content.content_ids.as_slice() } else { b"" };
        let smime_type = header.content.smime_type.as_deref().unwrap_or_default();
        for text in
            [header.mime.as_bytes(), header.content.name.as_bytes(), smime_type.as_bytes(), content_ids]
        {
            value(&mut self.items, text);
        }
        value(&mut self.items, header.decoding_key.as_bytes());
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

    fn header(content: &ContentFields) -> PartHeader<'_> {
        PartHeader { mime: &content.mime, parent: None, content, is_related: false, decoding_key: "" }
    }

    fn content(mime: &str) -> ContentFields {
        ContentFields { mime: mime.into(), ..ContentFields::default() }
    }

    fn hash(header: &PartHeader<'_>, text: &str, subject: &[&str]) -> u128 {
        let mut hashes = PartHashes::with_message_id();
        hashes.add_text(header, text.as_bytes());
        let (mut hash, none) = hashes.finish();
        assert_eq!(none, None);
        hash.add_field("subject", subject);
        hash.finish()
    }

    #[test]
    fn everything_that_is_seen_counts() {
        let fields = content("text/plain");
        let plain = hash(&header(&fields), "a\nb\n", &["s"]);
        assert_eq!(plain, hash(&header(&fields), "a\r\nb\r\n \t\r\n", &["s"]));
        let attached = ContentFields { disposition: Disposition::Attachment, ..fields.clone() };
        let named = ContentFields { name: "a.txt".into(), ..fields.clone() };
        let placed = ContentFields { content_ids: b"x".to_vec(), ..fields.clone() };
        let signed = ContentFields { smime_type: Some("signed-data".into()), ..fields.clone() };
        assert_eq!(plain, hash(&header(&placed), "a\nb\n", &["s"]), "nothing names it");
        let html = content("text/html");
        let mut all = vec![
            plain,
            hash(&header(&fields), "a\rb\n", &["s"]),
            hash(&header(&fields), "a\nb\n", &["t"]),
            hash(&header(&fields), "a\nb\n", &[]),
            hash(&header(&fields), "a\nb\n", &["s", ""]),
            hash(&header(&html), "a\nb\n", &["s"]),
            hash(&header(&attached), "a\nb\n", &["s"]),
            hash(&header(&named), "a\nb\n", &["s"]),
            hash(&header(&signed), "a\nb\n", &["s"]),
            hash(&PartHeader { is_related: true, ..header(&placed) }, "a\nb\n", &["s"]),
            hash(&PartHeader { decoding_key: "KOI8-R", ..header(&fields) }, "a\nb\n", &["s"]),
            hash(&PartHeader { parent: Some(0), ..header(&fields) }, "a\nb\n", &["s"]),
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
        let mut hashes = PartHashes::without_message_id();
        hashes.add_container(&header(&fields));
        hashes.begin(&PartHeader { parent: Some(0), ..header(&fields) });
        hashes.content(b"\xff");
        hashes.end();
        let (mut hash, body) = hashes.finish();
        hash.add_field("to", &["x", ""]);
        assert_eq!(hash.finish(), u128::from_le_bytes(expected));
        assert_eq!(body, Some(xxhash_rust::xxh3::xxh3_128(b"a/b\0\xff\x01\0\0\0\0\0\0\0")));
    }
}
