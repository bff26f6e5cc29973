//! Splits a message into its parts.
//!
//! Input: a message's header block and body. Output: a flat list of parts in the order of the message, each
//! with the index of the part that contains it. Leaves have their content in its transfer encoding. Only
//! nested messages and S/MIME are decoded here.
//!
//! mail-parser 0.11 is not used, for four reasons, each tried. It searches the rest of the message again for
//! every boundary that never comes (390 kB take 0.8 s, growing with the square). It overflows the stack when
//! it drops a million nested messages. It loses a letter of quoted-printable text that ends in a soft line
//! break, and panics in a build with overflow checks. And it returns text of an unknown charset only after
//! its bytes are lost. Here every level searches its bytes once, and there are at most `MIME_DEPTH_MAX`
//! levels.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::borrow::Cow;
use std::ops::Range;

use crate::decode::transfer::{Transfer, decode};
use crate::header::block::{Block, skip_envelope, split};
use crate::limits::{MIME_DEPTH_MAX, PART_COUNT_MAX, SMIME_BYTES_MAX};
use crate::mime::boundary::{Pieces, guess_boundary};
use crate::mime::content_fields::{ContentFields, read_content};
use crate::mime::smime::{Opened, open};
use crate::problem::{Problem, Problems};

/// A part of a message.
pub(crate) struct Part<'a> {
    /// The index of the part that contains this one; `None` for the message itself.
    pub(crate) parent: Option<usize>,
    pub(crate) content: ContentFields,
    pub(crate) body: Body<'a>,
    /// The byte range of a leaf's content in a message that is too large for memory. The body then has the
    /// beginning of a text, or nothing.
    pub(crate) unloaded: Option<Range<u64>>,
    pub(crate) entity: Entity<'a>,
}

/// The header block and the body of a part as the message has them, where those bytes last as long as the
/// parts; else both are empty.
#[derive(Clone, Copy, Default)]
pub(crate) struct Entity<'a> {
    pub(crate) header: &'a [u8],
    /// Still in its transfer encoding, that of nested messages too.
    pub(crate) body: &'a [u8],
}

/// The body of a part.
pub(crate) enum Body<'a> {
    /// Other parts.
    Multipart,
    /// A nested message with this header block and size, which contains one other part. `whole` is all of it,
    /// where that lasts as long as the parts.
    Message { headers: Cow<'a, [u8]>, size_bytes: usize, whole: Option<&'a [u8]> },
    /// Signed or compressed S/MIME content in its transfer encoding, which contains one other part.
    Smime { bytes: Cow<'a, [u8]>, wrapping: Wrapping },
    /// Content, still in its transfer encoding.
    Leaf(Cow<'a, [u8]>),
}

/// How S/MIME wraps a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrapping {
    Signed,
    Compressed,
}

/// Splits a message whose header block is parsed already.
pub(crate) fn take_apart<'a>(block: &Block<'a>, problems: &mut Problems) -> Vec<Part<'a>> {
    let mut walk = Walk::new(problems);
    walk.entity(block, Nesting { parent: None, depth: 0, default_type: "text/plain" });
    walk.into_parts().0
}

/// The position of a part in the tree.
#[derive(Clone, Copy)]
pub(crate) struct Nesting {
    pub(crate) parent: Option<usize>,
    pub(crate) depth: usize,
    /// The type of a part that names none.
    pub(crate) default_type: &'static str,
}

/// Splits a message in memory.
pub(crate) struct Walk<'a, 'p> {
    parts: Vec<Part<'a>>,
    /// Bytes that may still be extracted from S/MIME.
    room_bytes: usize,
    /// The index of a part whose content is wanted.
    wanted: Option<usize>,
    /// That content.
    kept: Option<Vec<u8>>,
    problems: &'p mut Problems,
}

impl<'a, 'p> Walk<'a, 'p> {
    pub(crate) fn new(problems: &'p mut Problems) -> Walk<'a, 'p> {
        let parts = Vec::with_capacity(4);
        Walk { parts, room_bytes: SMIME_BYTES_MAX, wanted: None, kept: None, problems }
    }

    /// Asks for the content of the part with this index. It is kept in its transfer encoding; a nested
    /// message is kept decoded.
    pub(crate) fn with_wanted(self, wanted: Option<usize>) -> Walk<'a, 'p> {
        Walk { wanted, ..self }
    }

    /// Returns the content that was asked for, if it was met.
    pub(crate) fn take_kept(&mut self) -> Option<Vec<u8>> {
        self.kept.take()
    }

    /// Sets how many bytes may be extracted from S/MIME.
    pub(crate) fn with_room(self, room_bytes: usize) -> Walk<'a, 'p> {
        Walk { room_bytes, ..self }
    }

    /// Returns the parts so far, and how many more bytes may be extracted from S/MIME.
    pub(crate) fn into_parts(self) -> (Vec<Part<'a>>, usize) {
        (self.parts, self.room_bytes)
    }

    /// Adds the part with this header block, and all parts in it.
    pub(crate) fn entity(&mut self, block: &Block<'a>, nesting: Nesting) {
        if block.has_junk {
            self.problems.add(Problem::HeaderJunk);
        }
        if block.is_cut {
            self.problems.add(Problem::HeaderCut);
        }
        let content = read_content(block, nesting.default_type, self.problems);
        let index = self.parts.len();
        let is_container = content.is_multipart() || content.is_message();
        if is_container && nesting.depth >= MIME_DEPTH_MAX {
            self.problems.add(Problem::NestedTooDeep);
            self.leaf_of_text(content, block.body, nesting);
        } else if content.is_multipart() {
            self.multipart(content, block.body, nesting);
        } else if content.is_message() {
            self.message(content, block.body, nesting);
        } else if content.may_open_without_key() {
            self.smime(content, block.body, nesting);
        } else {
            self.push(nesting, content, Body::Leaf(Cow::Borrowed(block.body)));
        }
        // Whatever it turned out to be, it comes before the parts in it.
        if let Some(part) = self.parts.get_mut(index) {
            part.entity = Entity { header: block.bytes, body: block.body };
        }
    }

    fn push(&mut self, nesting: Nesting, content: ContentFields, body: Body<'a>) -> usize {
        if self.wanted == Some(self.parts.len()) {
            self.kept = match &body {
                Body::Multipart => None,
                Body::Message { whole, .. } => whole.map(<[u8]>::to_vec),
                Body::Smime { bytes, .. } | Body::Leaf(bytes) => Some(bytes.to_vec()),
            };
        }
        self.parts.push(Part::new(nesting.parent, content, body));
        self.parts.len().saturating_sub(1)
    }

    /// Adds a container that cannot be split as text, so that its words are found.
    fn leaf_of_text(&mut self, content: ContentFields, body: &'a [u8], nesting: Nesting) {
        let content = ContentFields { mime: "text/plain".into(), ..content };
        self.push(nesting, content, Body::Leaf(Cow::Borrowed(body)));
    }

    fn multipart(&mut self, content: ContentFields, body: &'a [u8], nesting: Nesting) {
        let boundary =
            content.boundary.clone().filter(|boundary| Pieces::new(body, boundary.as_bytes()).has_any());
        let Some(boundary) = boundary.or_else(|| guess_boundary(body)) else {
            self.problems.add(Problem::BoundaryMissing);
            return self.leaf_of_text(content, body, nesting);
        };
        let default_type = if content.mime == "multipart/digest" { "message/rfc822" } else { "text/plain" };
        let parent = self.push(nesting, content, Body::Multipart);
        let nesting = Nesting { parent: Some(parent), depth: nesting.depth.saturating_add(1), default_type };
        let mut pieces = Pieces::new(body, boundary.as_bytes());
        while let Some(piece) = pieces.next_piece() {
            if self.parts.len() >= PART_COUNT_MAX {
                self.problems.add(Problem::PartsCut);
                return;
            }
            if !piece.trim_ascii().is_empty() {
                self.entity(&split(piece), nesting);
            }
        }
        if !pieces.is_closed {
            self.problems.add(Problem::BoundaryUnclosed);
        }
        if self.parts.len() == parent.saturating_add(1) {
            self.problems.add(Problem::BoundaryMissing);
            self.lone_preamble(pieces.preamble, nesting);
        }
    }

    /// Reads the preamble of a multipart without pieces: its only part, whose own boundary was lost.
    pub(crate) fn lone_preamble(&mut self, preamble: &'a [u8], nesting: Nesting) {
        let block = split(skip_envelope(preamble));
        if block.first("content-type").is_some() {
            self.entity(&block, nesting);
        } else if !preamble.trim_ascii().is_empty() {
            let block = Block { body: preamble, ..Block::default() };
            self.entity(&block, Nesting { default_type: "text/plain", ..nesting });
        }
    }

    /// Splits a nested message.
    pub(crate) fn message(&mut self, content: ContentFields, body: &'a [u8], nesting: Nesting) {
        if content.transfer != Transfer::Identity {
            return self.encoded_message(content, body, nesting);
        }
        let block = split(skip_envelope(body));
        if block.fields.is_empty() {
            return self.leaf_of_text(content, body, nesting);
        }
        let headers = Cow::Borrowed(block.bytes);
        let whole = Body::Message { headers, size_bytes: body.len(), whole: Some(body) };
        let parent = self.push(nesting, content, whole);
        self.entity(
            &block,
            Nesting {
                parent: Some(parent),
                depth: nesting.depth.saturating_add(1),
                default_type: "text/plain",
            },
        );
    }

    /// Decodes a nested message that is encoded, which RFC 2046 forbids, and copies its parts.
    fn encoded_message(&mut self, content: ContentFields, body: &[u8], nesting: Nesting) {
        let (decoded, is_clean) = decode(body, content.transfer);
        if !is_clean {
            self.problems.add(Problem::TransferDamaged);
        }
        let content = ContentFields { transfer: Transfer::Identity, ..content };
        self.nested(nesting, |walk, nesting| walk.message(content, &decoded, nesting));
    }

    /// Opens S/MIME content that needs no key, and splits it. The hashes cover the content as it was sent.
    pub(crate) fn smime(&mut self, mut content: ContentFields, body: &'a [u8], nesting: Nesting) {
        let (decoded, _) = decode(body, content.transfer);
        let room_bytes = if nesting.depth < MIME_DEPTH_MAX { self.room_bytes } else { 0 };
        let (wrapping, opened) = match open(&decoded, room_bytes) {
            Opened::Signed(opened) => (Wrapping::Signed, opened),
            Opened::Compressed(opened) => (Wrapping::Compressed, opened),
            closed => {
                if matches!(closed, Opened::TooLong | Opened::Unreadable) {
                    // Up to the whole allowance was decompressed for nothing. Halving it bounds how often
                    // that can happen.
                    self.room_bytes /= 2;
                }
                match closed {
                    Opened::Encrypted => content.needs_key = true,
                    Opened::TooLong => self.problems.add(Problem::SmimeCut),
                    Opened::Unreadable if !content.is_unnamed_smime() => {
                        self.problems.add(Problem::SmimeDamaged);
                    }
                    _ => {}
                }
                self.push(nesting, content, Body::Leaf(Cow::Borrowed(body)));
                return;
            }
        };
        drop(decoded);
        self.room_bytes = self.room_bytes.saturating_sub(opened.len());
        let parent = self.push(nesting, content, Body::Smime { bytes: Cow::Borrowed(body), wrapping });
        let nesting = Nesting {
            parent: Some(parent),
            depth: nesting.depth.saturating_add(1),
            default_type: "text/plain",
        };
        self.nested(nesting, |walk, nesting| {
            let block = split(skip_envelope(&opened));
            if block.fields.is_empty() {
                walk.leaf_of_text(ContentFields::default(), &opened, nesting);
            } else {
                walk.entity(&block, nesting);
            }
        });
    }

    /// Copies the parts that `read` finds in bytes outside the message.
    fn nested<'b>(&mut self, nesting: Nesting, read: impl FnOnce(&mut Walk<'b, '_>, Nesting)) {
        let offset = self.parts.len();
        let wanted = self.wanted.and_then(|wanted| wanted.checked_sub(offset));
        let mut walk = Walk { room_bytes: self.room_bytes, wanted, ..Walk::new(&mut *self.problems) };
        read(&mut walk, Nesting { parent: None, ..nesting });
        self.room_bytes = walk.room_bytes;
        self.kept = self.kept.take().or(walk.kept);
        let nested: Vec<Part<'static>> = walk.parts.into_iter().map(Part::into_owned).collect();
        let room = PART_COUNT_MAX.saturating_sub(offset);
        if nested.len() > room {
            self.problems.add(Problem::PartsCut);
        }
        for part in nested.into_iter().take(room) {
            let parent = part.parent.map_or(nesting.parent, |parent| Some(parent.saturating_add(offset)));
            self.parts.push(Part { parent, ..part });
        }
    }
}

impl<'a> Part<'a> {
    /// Returns a part of which nothing more is known.
    pub(crate) fn new(parent: Option<usize>, content: ContentFields, body: Body<'a>) -> Part<'a> {
        Part { parent, content, body, unloaded: None, entity: Entity::default() }
    }

    pub(crate) fn into_owned(self) -> Part<'static> {
        let body = match self.body {
            Body::Multipart => Body::Multipart,
            Body::Message { headers, size_bytes, .. } => {
                Body::Message { headers: Cow::Owned(headers.into_owned()), size_bytes, whole: None }
            }
            Body::Smime { bytes, wrapping } => {
                Body::Smime { bytes: Cow::Owned(bytes.into_owned()), wrapping }
            }
            Body::Leaf(bytes) => Body::Leaf(Cow::Owned(bytes.into_owned())),
        };
        Part { unloaded: self.unloaded, ..Part::new(self.parent, self.content, body) }
    }
}

/// Returns whether a part is in one whose body `is_such`.
pub(crate) fn is_inside(part: &Part<'_>, parts: &[Part<'_>], is_such: impl Fn(&Body<'_>) -> bool) -> bool {
    // A part follows the one that contains it, so this ends.
    let mut number = part.parent;
    while let Some(parent) = number.and_then(|number| parts.get(number)) {
        if is_such(&parent.body) {
            return true;
        }
        number = parent.parent;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line a part: its depth as indentation, its type, and its content.
    fn show(text: &str) -> (String, Vec<Problem>) {
        let mut problems = Problems::default();
        let block = split(text.as_bytes());
        let parts = take_apart(&block, &mut problems);
        let mut lines = String::new();
        for part in &parts {
            let mut parent = part.parent;
            while let Some(number) = parent {
                lines.push_str("  ");
                parent = parts[number].parent;
            }
            lines.push_str(&part.content.mime);
            if let Body::Leaf(content) = &part.body {
                lines.push_str(&format!(" {:?}", String::from_utf8_lossy(content)));
            }
            lines.push('\n');
        }
        (lines, problems.into_list())
    }

    fn multipart(body: &str) -> String {
        format!("Content-Type: multipart/mixed; boundary=b\n\n{body}")
    }

    #[test]
    fn a_message_without_parts_is_one() {
        assert_eq!(show("A: b\n\nHi\n").0, "text/plain \"Hi\\n\"\n");
        assert_eq!(show("").0, "text/plain \"\"\n");
    }

    #[test]
    fn multiparts_are_taken_apart() {
        let text = multipart("before\n--b\n\none\n--b \t\nContent-Type: text/html\n\ntwo\n\n--b--\nafter\n");
        let expected = "multipart/mixed\n  text/plain \"one\"\n  text/html \"two\\n\"\n";
        assert_eq!(show(&text), (expected.to_owned(), vec![]));
        assert_eq!(show(&text.replace('\n', "\r\n")).0, expected.replace("\\n\"", "\\r\\n\""));
    }

    #[test]
    fn only_whole_lines_are_boundaries() {
        let text = multipart("--b\n\nx --b\n--bc\n--b-\n--b--c\n--b--");
        let expected = "multipart/mixed\n  text/plain \"x --b\\n--bc\\n--b-\\n--b--c\"\n";
        assert_eq!(show(&text), (expected.to_owned(), vec![]));
    }

    #[test]
    fn broken_multiparts_are_read_as_far_as_they_go() {
        let (lines, problems) = show(&multipart("--b\n\none\n--b\n\ntwo\n"));
        assert_eq!(lines, "multipart/mixed\n  text/plain \"one\"\n  text/plain \"two\"\n");
        assert_eq!(problems, [Problem::BoundaryUnclosed]);
        let (lines, problems) = show(&multipart("no parts\n"));
        assert_eq!(lines, "text/plain \"no parts\\n\"\n");
        assert_eq!(problems, [Problem::BoundaryMissing]);
        let (lines, problems) = show(&multipart("--x\nContent-Type: a/b\n\none\n--x--\n"));
        assert_eq!(lines, "multipart/mixed\n  a/b \"one\"\n");
        assert_eq!(problems, []);
        let (lines, problems) = show(&multipart("lost its boundary\n--b--\n"));
        assert_eq!(lines, "multipart/mixed\n  text/plain \"lost its boundary\\n\"\n");
        assert_eq!(problems, [Problem::BoundaryMissing]);
        let (lines, _) = show(&multipart("\nContent-Type: text/html\n\none\n--b--\n"));
        assert_eq!(lines, "multipart/mixed\n  text/html \"one\\n\"\n");
        let (lines, _) = show(&multipart("--b\n--b\n\n--b\nno header, no empty line\n--b--"));
        assert_eq!(lines, "multipart/mixed\n  text/plain \"no header, no empty line\"\n");
    }

    #[test]
    fn nested_messages_are_taken_apart_encoded_or_not() {
        let (lines, _) = show("Content-Type: message/rfc822\n\nSubject: in\n\ninner\n");
        assert_eq!(lines, "message/rfc822\n  text/plain \"inner\\n\"\n");
        let nested = "Content-Type: message/rfc822\nContent-Transfer-Encoding: quoted-printable\n\n";
        let (lines, _) = show(&multipart(&format!("--b\n{nested}Subject: in\n\n=41\n--b\n\nlast\n--b--")));
        assert_eq!(lines, "multipart/mixed\n  message/rfc822\n    text/plain \"A\"\n  text/plain \"last\"\n");
        let (lines, _) = show("Content-Type: message/rfc822\n\nno header\n");
        assert_eq!(lines, "text/plain \"no header\\n\"\n");
        let digest = multipart("--b\n\nSubject: one\n\nfirst\n--b--").replace("mixed", "digest");
        assert_eq!(show(&digest).0, "multipart/digest\n  message/rfc822\n    text/plain \"first\"\n");
    }

    #[test]
    fn depth_and_number_have_limits() {
        for nested in [
            "Content-Type: message/rfc822\n\n",
            "Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n",
        ] {
            let (lines, problems) = show(&(nested.repeat(100_000) + "A: b\n\ndeep\n"));
            assert!(lines.lines().count() <= MIME_DEPTH_MAX + 1);
            assert!(problems.contains(&Problem::NestedTooDeep) || nested.contains("base64"), "{problems:?}");
        }
        let (lines, problems) = show(&multipart(&"--b\n\nx\n".repeat(PART_COUNT_MAX + 1)));
        assert_eq!(lines.lines().count(), PART_COUNT_MAX);
        assert_eq!(problems, [Problem::PartsCut]);
    }

    /// mail-parser would search the rest again for each of the boundaries that never come.
    #[test]
    fn boundaries_that_never_come_cost_nothing() {
        let piece = "--b\nContent-Type: multipart/mixed; boundary=zz\n\nx\n";
        let (lines, _) = show(&multipart(&piece.repeat(200_000)));
        assert_eq!(lines.lines().count(), PART_COUNT_MAX);
        let (lines, _) = show(&multipart(&"--b".repeat(1 << 20)));
        assert_eq!(lines.lines().count(), 1);
    }
}
