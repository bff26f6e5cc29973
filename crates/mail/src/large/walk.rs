//! Splits a message in a window, as `mime/parts.rs` does in memory.
//!
//! Input: a window on a message. Output: its header, and its parts: the content of text or its beginning, and
//! the range of everything else. Small entities are left to `mime/parts.rs`. The window goes back only for
//! long text, and where an expected boundary is missing.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::borrow::Cow;
use std::io;
use std::ops::Range;

use super::budget::MemoryBudget;
use super::header::{Begin, header_length};
use super::keep::kept;
use super::lines::{Found, find, scan};
use super::multiparts::{End, OpenMultiparts, line_ends};
use super::window::{Window, wide};
use crate::bytes::{after, before};
use crate::decode::transfer::Transfer;
use crate::header::block::{Block, skip_envelope, split};
use crate::limits::{
    LARGE_HEADER_BYTES_MAX, LARGE_NESTED_BYTES_MAX, LARGE_TEXT_BYTES_MAX, MIME_DEPTH_MAX, PART_COUNT_MAX,
};
use crate::mime::content_fields::{ContentFields, read_content};
use crate::mime::parts::{Body, Nesting, Part, Walk as MemoryWalk};
use crate::problem::{Problem, Problems};

/// The header of a message, with the bytes before it, and its parts.
pub(super) type HeaderAndParts = (Vec<u8>, Vec<Part<'static>>);

/// Splits the message; the window must be at its start. Parts up to `small_bytes` are parsed in memory.
pub(super) fn take_apart(
    window: &mut Window<'_>,
    small_bytes: usize,
    problems: &mut Problems,
) -> io::Result<HeaderAndParts> {
    let mut walk = Walk::new(window, small_bytes, problems);
    let header = walk.message_itself()?;
    Ok((header, walk.parts))
}

/// Splits the message again, and returns the content of the part with this index if it is inside content that
/// is decoded in memory. The window must be at the start of the message.
pub(super) fn content_in_memory(
    window: &mut Window<'_>,
    small_bytes: usize,
    index: usize,
) -> io::Result<Option<Vec<u8>>> {
    let mut problems = Problems::default();
    let mut walk = Walk::new(window, small_bytes, &mut problems);
    walk.wanted = Some(index);
    walk.message_itself()?;
    Ok(walk.kept)
}

/// The entity at a position.
enum Peeked {
    /// A small entity, without the bytes after it.
    Small(Vec<u8>, End),
    /// A larger one: its header with the bytes before it, and the offset of its body.
    Large { header: Vec<u8>, body: u64 },
}

struct Walk<'w, 's, 'p> {
    window: &'w mut Window<'s>,
    small_bytes: usize,
    multiparts: OpenMultiparts,
    parts: Vec<Part<'static>>,
    problems: &'p mut Problems,
    budget: MemoryBudget,
    /// There were too many parts; the rest is left out.
    is_cut: bool,
    /// The index of a part whose content is wanted.
    wanted: Option<usize>,
    /// That content, if it was decoded in memory.
    kept: Option<Vec<u8>>,
}

impl<'w, 's, 'p> Walk<'w, 's, 'p> {
    fn new(window: &'w mut Window<'s>, small_bytes: usize, problems: &'p mut Problems) -> Walk<'w, 's, 'p> {
        Walk {
            window,
            small_bytes,
            multiparts: OpenMultiparts::default(),
            parts: Vec::new(),
            problems,
            budget: MemoryBudget::new(),
            is_cut: false,
            wanted: None,
            kept: None,
        }
    }
}

impl Walk<'_, '_, '_> {
    /// Splits the message itself, and returns its header with the bytes before it.
    fn message_itself(&mut self) -> io::Result<Vec<u8>> {
        let nesting = Nesting { parent: None, depth: 0, default_type: "text/plain" };
        match self.peek(Begin::Message)? {
            Peeked::Small(bytes, _) => {
                let block = split(skip_envelope(&bytes));
                self.add_from_memory((&bytes, 0), nesting, |walk, nesting| walk.entity(&block, nesting));
                Ok(before(&bytes, bytes.len().saturating_sub(block.body.len())).to_vec())
            }
            Peeked::Large { header, body } => {
                self.window.seek(body)?;
                self.entity(&split(skip_envelope(&header)), nesting)?;
                Ok(header)
            }
        }
    }

    /// Peeks at the entity at the position, without moving.
    fn peek(&mut self, begin: Begin) -> io::Result<Peeked> {
        let start = self.window.position();
        let mut wanted = self.small_bytes.max(1);
        loop {
            self.window.fill(wanted)?;
            let bytes = before(self.window.ahead(), wanted);
            let is_end = self.window.is_over() && self.window.ahead().len() <= wanted;
            match find(bytes, true, is_end, &|line, _| self.multiparts.which(line)) {
                Found::Line(line) => {
                    let (level, is_last) = line.value;
                    let whole = before(bytes, line.start);
                    let end = End {
                        level: Some(level),
                        is_last,
                        start: start.saturating_add(wide(line.start)),
                        next: start.saturating_add(wide(line.next)),
                        line_ends: self.line_ends(whole),
                    };
                    return Ok(Peeked::Small(self.multiparts.cut(whole, Some(level)).to_vec(), end));
                }
                Found::Nothing { .. } if is_end => {
                    let at = start.saturating_add(wide(bytes.len()));
                    let line_ends = self.line_ends(bytes);
                    let end = End { level: None, is_last: false, start: at, next: at, line_ends };
                    return Ok(Peeked::Small(self.multiparts.cut(bytes, None).to_vec(), end));
                }
                Found::Nothing { .. } => {}
            }
            let (length, is_certain) = header_length(bytes, begin);
            if is_certain || wanted >= LARGE_HEADER_BYTES_MAX {
                if !is_certain {
                    self.problems.add(Problem::HeaderCut);
                }
                let (header, body) = (before(bytes, length).to_vec(), start.saturating_add(wide(length)));
                return Ok(Peeked::Large { header, body });
            }
            wanted = wanted.saturating_mul(2);
        }
    }

    /// Returns the line ends at the end of bytes that start at the position.
    fn line_ends(&self, bytes: &[u8]) -> Vec<u8> {
        let own = line_ends(bytes);
        let earlier = if own.len() == bytes.len() { line_ends(self.window.behind()) } else { &[] };
        [earlier, own].concat()
    }

    /// Advances to the end of the part around the position, which must be at the start of a line. Also
    /// returns whether only white space was skipped.
    fn find_end(&mut self) -> io::Result<(End, bool)> {
        let multiparts = &self.multiparts;
        let scanned = scan(self.window, u64::MAX, &|line, _| multiparts.which(line))?;
        let start = self.window.position();
        let line_ends = line_ends(self.window.behind()).to_vec();
        let end = match scanned.line {
            Some(((level, is_last), next)) => End { level: Some(level), is_last, start, next, line_ends },
            None => End { level: None, is_last: false, start, next: start, line_ends },
        };
        Ok((end, scanned.is_blank))
    }

    /// Splits a part of a multipart, and returns its end.
    fn piece(&mut self, nesting: Nesting) -> io::Result<End> {
        let start = self.window.position();
        match self.peek(Begin::Part)? {
            Peeked::Small(bytes, end) => {
                if !bytes.trim_ascii().is_empty() {
                    self.add_from_memory((&bytes, start), nesting, |walk, nesting| {
                        walk.entity(&split(&bytes), nesting);
                    });
                }
                Ok(end)
            }
            Peeked::Large { header, body } => {
                self.window.seek(body)?;
                let count = self.parts.len();
                let (end, is_blank) = self.entity(&split(&header), nesting)?;
                if is_blank && header.trim_ascii().is_empty() {
                    self.parts.truncate(count);
                }
                Ok(end)
            }
        }
    }

    /// Adds the part with this header block, and all parts in it; the window must be at its body. Also
    /// returns whether that is a leaf of white space.
    fn entity(&mut self, block: &Block<'_>, nesting: Nesting) -> io::Result<(End, bool)> {
        if block.has_junk {
            self.problems.add(Problem::HeaderJunk);
        }
        if block.is_cut {
            self.problems.add(Problem::HeaderCut);
        }
        let content = read_content(block, nesting.default_type, self.problems);
        let is_container = content.is_multipart() || content.is_message();
        if is_container && nesting.depth >= MIME_DEPTH_MAX {
            self.problems.add(Problem::NestedTooDeep);
            self.leaf(as_text(content), nesting)
        } else if content.is_multipart() {
            Ok((self.multipart(content, nesting)?, false))
        } else if content.is_message() {
            Ok((self.message(content, nesting)?, false))
        } else if content.may_open_without_key() {
            Ok((self.smime(content, nesting)?, false))
        } else {
            self.leaf(content, nesting)
        }
    }

    /// Opens S/MIME content in memory, or not at all.
    fn smime(&mut self, content: ContentFields, nesting: Nesting) -> io::Result<End> {
        let (end, range) = self.find_range()?;
        let length = range.end.saturating_sub(range.start);
        let is_short = length <= wide(LARGE_NESTED_BYTES_MAX);
        let loaded = if is_short { self.load(&range, LARGE_NESTED_BYTES_MAX)? } else { None };
        let Some(bytes) = loaded else {
            self.problems.add(Problem::SmimeCut);
            self.push_leaf(content, range, nesting)?;
            return Ok(end);
        };
        self.add_from_memory((&bytes, range.start), nesting, |walk, nesting| {
            walk.smime(content, &bytes, nesting);
        });
        Ok(end)
    }

    /// Returns the end and the range of the content that starts at the position.
    fn find_range(&mut self) -> io::Result<(End, Range<u64>)> {
        let start = self.window.position();
        let (end, _) = self.find_end()?;
        let range = start..self.multiparts.end_of(start, &end);
        Ok((end, range))
    }

    fn leaf(&mut self, content: ContentFields, nesting: Nesting) -> io::Result<(End, bool)> {
        let from = self.window.position();
        let (end, is_blank) = self.find_end()?;
        self.push_leaf(content, from..self.multiparts.end_of(from, &end), nesting)?;
        Ok((end, is_blank))
    }

    /// Adds a leaf: of text as much as the budget allows, of everything else the range.
    fn push_leaf(&mut self, content: ContentFields, range: Range<u64>, nesting: Nesting) -> io::Result<()> {
        let head = if content.is_text() {
            self.load(&range, LARGE_TEXT_BYTES_MAX.min(self.budget.text_bytes))?.unwrap_or_default()
        } else {
            Vec::new()
        };
        self.budget.text_bytes = self.budget.text_bytes.saturating_sub(head.len());
        let is_whole = wide(head.len()) == range.end.saturating_sub(range.start);
        let unloaded = (!is_whole).then_some(range);
        let body = Body::Leaf(Cow::Owned(head));
        self.parts.push(Part { unloaded, ..Part::new(nesting.parent, content, body) });
        Ok(())
    }

    /// Reads the beginning of a range; `None` if the window cannot go back to it.
    fn load(&mut self, range: &Range<u64>, limit_bytes: usize) -> io::Result<Option<Vec<u8>>> {
        let length = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
        let length = length.min(limit_bytes);
        if length == 0 {
            return Ok(Some(Vec::new()));
        }
        if !self.window.seek(range.start)? {
            return Ok(None);
        }
        let mut loaded = Vec::with_capacity(length);
        while loaded.len() < length {
            self.window.fill(1)?;
            let bytes = before(self.window.ahead(), length.saturating_sub(loaded.len()));
            let count = bytes.len();
            if count == 0 {
                break;
            }
            loaded.extend_from_slice(bytes);
            self.window.advance(count);
        }
        Ok(Some(loaded))
    }

    /// Splits a multipart; the window must be at its body.
    fn multipart(&mut self, content: ContentFields, nesting: Nesting) -> io::Result<End> {
        let body = self.window.position();
        let end = match content.boundary.clone() {
            Some(boundary) => {
                let own = self.multiparts.enter(&boundary);
                let (end, _) = self.find_end()?;
                if end.level == Some(own) {
                    return self.pieces(content, nesting, (body, end));
                }
                self.multiparts.leave();
                end
            }
            None => self.find_end()?.0,
        };
        let whole = body..self.multiparts.end_of(body, &end);
        if let Some(boundary) = self.guess_boundary(&whole)?
            && self.window.seek(body)?
        {
            let own = self.multiparts.enter(&boundary);
            let (first, _) = self.find_end()?;
            if first.level == Some(own) {
                return self.pieces(content, nesting, (body, first));
            }
            self.multiparts.leave();
        }
        self.problems.add(Problem::BoundaryMissing);
        self.push_leaf(as_text(content), whole, nesting)?;
        Ok(end)
    }

    /// Finds a boundary as `boundary.rs` does.
    fn guess_boundary(&mut self, body: &Range<u64>) -> io::Result<Option<String>> {
        if !self.window.seek(body.start)? {
            return Ok(None);
        }
        let scanned = scan(self.window, body.end, &|line, following| {
            let boundary = after(line, 2).trim_ascii_end();
            let follows = before(following, b"content-".len()).eq_ignore_ascii_case(b"content-");
            (follows && !boundary.is_empty()).then(|| std::str::from_utf8(boundary).ok().map(str::to_owned))
        })?;
        Ok(scanned.line.and_then(|(boundary, _)| boundary))
    }

    /// Splits the innermost multipart, from its first boundary on. `preamble` is the offset of its body.
    fn pieces(
        &mut self,
        content: ContentFields,
        nesting: Nesting,
        (preamble, first): (u64, End),
    ) -> io::Result<End> {
        let own = first.level;
        let default_type = if content.mime == "multipart/digest" { "message/rfc822" } else { "text/plain" };
        let parent = self.parts.len();
        self.parts.push(Part::new(nesting.parent, content, Body::Multipart));
        let nesting = Nesting { parent: Some(parent), depth: nesting.depth.saturating_add(1), default_type };
        let mut end = first;
        while end.level == own && !end.is_last {
            if self.parts.len() >= PART_COUNT_MAX {
                self.problems.add(Problem::PartsCut);
                self.is_cut = true;
            }
            if self.is_cut {
                self.multiparts.leave();
                return Ok(End { level: None, is_last: false, ..end });
            }
            self.window.seek(end.next)?;
            end = self.piece(nesting)?;
        }
        let is_closed = end.level == own;
        if !is_closed && !self.is_cut {
            self.problems.add(Problem::BoundaryUnclosed);
        }
        if self.parts.len() == parent.saturating_add(1) {
            self.problems.add(Problem::BoundaryMissing);
            self.multiparts.keep_line_ends();
            self.lone_preamble(preamble, nesting)?;
        }
        self.multiparts.leave();
        if is_closed {
            self.window.seek(end.next)?;
            end = self.find_end()?.0;
        }
        Ok(end)
    }

    /// Reads the preamble of a multipart without pieces, as `mime/parts.rs` does.
    fn lone_preamble(&mut self, start: u64, nesting: Nesting) -> io::Result<()> {
        if !self.window.seek(start)? {
            return Ok(());
        }
        match self.peek(Begin::Message)? {
            Peeked::Small(bytes, _) => {
                self.add_from_memory((&bytes, start), nesting, |walk, nesting| {
                    walk.lone_preamble(&bytes, nesting);
                });
            }
            Peeked::Large { header, body } => {
                let block = split(skip_envelope(&header));
                if block.first("content-type").is_some() {
                    self.window.seek(body)?;
                    self.entity(&block, nesting)?;
                } else {
                    let count = self.parts.len();
                    let (_, is_blank) = self.leaf(as_text(ContentFields::default()), nesting)?;
                    self.parts.truncate(if is_blank { count } else { self.parts.len() });
                }
            }
        }
        Ok(())
    }

    /// Splits a nested message; the window must be at its start.
    fn message(&mut self, content: ContentFields, nesting: Nesting) -> io::Result<End> {
        if content.transfer != Transfer::Identity {
            return self.encoded_message(content, nesting);
        }
        let start = self.window.position();
        let (header, body) = match self.peek(Begin::Message)? {
            Peeked::Small(bytes, end) => {
                self.add_from_memory((&bytes, start), nesting, |walk, nesting| {
                    walk.message(content, &bytes, nesting);
                });
                return Ok(end);
            }
            Peeked::Large { header, body } => (header, body),
        };
        let block = split(skip_envelope(&header));
        if block.fields.is_empty() {
            return Ok(self.leaf(as_text(content), nesting)?.0);
        }
        let parent = self.parts.len();
        let headers = Cow::Owned(block.bytes.to_vec());
        let message = Body::Message { headers, size_bytes: 0, whole: None };
        self.parts.push(Part::new(nesting.parent, content, message));
        self.window.seek(body)?;
        let inner = Nesting {
            parent: Some(parent),
            depth: nesting.depth.saturating_add(1),
            default_type: "text/plain",
        };
        let (end, _) = self.entity(&block, inner)?;
        let range = start..self.multiparts.end_of(start, &end);
        if let Some(Part { body: Body::Message { size_bytes, .. }, unloaded, .. }) =
            self.parts.get_mut(parent)
        {
            let length = range.end.saturating_sub(range.start);
            *size_bytes = usize::try_from(length).unwrap_or(usize::MAX);
            *unloaded = Some(range);
        }
        Ok(end)
    }

    /// Splits a nested message that is encoded, which RFC 2046 forbids: in memory, or not at all.
    fn encoded_message(&mut self, content: ContentFields, nesting: Nesting) -> io::Result<End> {
        let (end, range) = self.find_range()?;
        let length = range.end.saturating_sub(range.start);
        let is_short = length <= wide(LARGE_NESTED_BYTES_MAX);
        let loaded = if is_short { self.load(&range, LARGE_NESTED_BYTES_MAX)? } else { None };
        let Some(bytes) = loaded else {
            self.problems.add(Problem::NestedTooLarge);
            self.push_leaf(content, range, nesting)?;
            return Ok(end);
        };
        self.add_from_memory((&bytes, range.start), nesting, |walk, nesting| {
            walk.message(content, &bytes, nesting);
        });
        Ok(end)
    }

    /// Splits an entity in memory, and adds its parts. Of contents that are not text only the range is kept;
    /// `offset` is that of `bytes` in the message.
    fn add_from_memory<'b>(
        &mut self,
        (bytes, offset): (&'b [u8], u64),
        nesting: Nesting,
        take_apart: impl FnOnce(&mut MemoryWalk<'b, '_>, Nesting),
    ) {
        let count = self.parts.len();
        let wanted = self.wanted.and_then(|wanted| wanted.checked_sub(count));
        let memory = MemoryWalk::new(self.problems).with_room(self.budget.smime_bytes);
        let mut memory = memory.with_wanted(wanted);
        take_apart(&mut memory, Nesting { parent: None, ..nesting });
        self.kept = self.kept.take().or(memory.take_kept());
        let (parts, smime_bytes) = memory.into_parts();
        self.budget.smime_bytes = smime_bytes;
        let room = PART_COUNT_MAX.saturating_sub(count);
        if parts.len() > room {
            self.problems.add(Problem::PartsCut);
        }
        for part in parts.into_iter().take(room) {
            let parent = part.parent.map_or(nesting.parent, |parent| Some(parent.saturating_add(count)));
            let part = Part { parent, ..part };
            self.parts.push(kept((bytes, offset), part, &mut self.budget, self.problems));
        }
    }
}

fn as_text(content: ContentFields) -> ContentFields {
    ContentFields { mime: "text/plain".into(), ..content }
}
