//! Takes a message apart that passes by in a window, as `parts.rs` does it in memory.
//!
//! Comes in: a window on a message. Goes out: its header, and its parts: of text the content or its
//! beginning, of all else the place. What is small is left to `parts.rs`. Only what has no boundary where one
//! should be, and long text, is gone back to.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::borrow::Cow;
use std::io;
use std::ops::Range;

use super::levels::{End, Levels, line_ends};
use super::lines::{Found, find, scan};
use super::room::Room;
use super::window::{Window, wide};
use crate::bytes::{after, before};
use crate::content::{ContentFields, read_content};
use crate::headers::{Block, skip_envelope, split};
use crate::limits::{
    LARGE_HEADER_BYTES_MAX, LARGE_NESTED_BYTES_MAX, LARGE_TEXT_BYTES_MAX, MIME_DEPTH_MAX, PART_COUNT_MAX,
};
use crate::parts::{Body, Part, Place, Walk as NearWalk};
use crate::problem::{Problem, Problems};
use crate::transfer::Transfer;

/// The parts of a message, and its header with what stands before it.
pub(super) type Apart = (Vec<u8>, Vec<Part<'static>>);

/// Takes the message apart at whose beginning the window stands. Parts up to `near_bytes` are taken apart in
/// memory.
pub(super) fn take_apart(
    window: &mut Window<'_>,
    near_bytes: usize,
    problems: &mut Problems,
) -> io::Result<Apart> {
    let mut walk = Walk {
        window,
        near_bytes,
        levels: Levels::default(),
        parts: Vec::new(),
        problems,
        room: Room::new(),
        is_cut: false,
    };
    let place = Place { parent: None, depth: 0, default: "text/plain" };
    let header = match walk.peek(Begin::Message)? {
        Peeked::Near(bytes, _) => {
            let block = split(skip_envelope(&bytes));
            walk.near((&bytes, 0), place, |near, place| near.entity(&block, place));
            before(&bytes, bytes.len().saturating_sub(block.body.len())).to_vec()
        }
        Peeked::Far { header, body } => {
            walk.window.seek(body)?;
            walk.entity(&split(skip_envelope(&header)), place)?;
            header
        }
    };
    Ok((header, walk.parts))
}

/// What begins somewhere.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begin {
    /// A part of a multipart.
    Part,
    /// A message, before which other lines may stand.
    Message,
}

/// What begins at a place.
enum Peeked {
    /// Something that is small enough, without what follows it.
    Near(Vec<u8>, End),
    /// Something larger: its header with all that stands before its body, and where that begins.
    Far { header: Vec<u8>, body: u64 },
}

struct Walk<'w, 's, 'p> {
    window: &'w mut Window<'s>,
    near_bytes: usize,
    levels: Levels,
    parts: Vec<Part<'static>>,
    problems: &'p mut Problems,
    room: Room,
    /// There were too many parts: the rest is left out.
    is_cut: bool,
}

impl Walk<'_, '_, '_> {
    /// Looks at what begins at the place, and stays there.
    fn peek(&mut self, begin: Begin) -> io::Result<Peeked> {
        let start = self.window.position();
        let mut wanted = self.near_bytes.max(1);
        loop {
            self.window.fill(wanted)?;
            let bytes = before(self.window.ahead(), wanted);
            let is_end = self.window.is_over() && self.window.ahead().len() <= wanted;
            match find(bytes, true, is_end, &|line, _| self.levels.which(line)) {
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
                    return Ok(Peeked::Near(self.levels.cut(whole, Some(level)).to_vec(), end));
                }
                Found::Nothing { .. } if is_end => {
                    let at = start.saturating_add(wide(bytes.len()));
                    let line_ends = self.line_ends(bytes);
                    let end = End { level: None, is_last: false, start: at, next: at, line_ends };
                    return Ok(Peeked::Near(self.levels.cut(bytes, None).to_vec(), end));
                }
                Found::Nothing { .. } => {}
            }
            let (length, is_certain) = header_length(bytes, begin);
            if is_certain || wanted >= LARGE_HEADER_BYTES_MAX {
                if !is_certain {
                    self.problems.add(Problem::HeaderCut);
                }
                let (header, body) = (before(bytes, length).to_vec(), start.saturating_add(wide(length)));
                return Ok(Peeked::Far { header, body });
            }
            wanted = wanted.saturating_mul(2);
        }
    }

    /// Returns the line ends at the end of bytes that begin at the place.
    fn line_ends(&self, bytes: &[u8]) -> Vec<u8> {
        let own = line_ends(bytes);
        let earlier = if own.len() == bytes.len() { line_ends(self.window.behind()) } else { &[] };
        [earlier, own].concat()
    }

    /// Goes to where the part ends whose content the window stands in, at the beginning of a line. Says, too,
    /// whether only white space was passed by.
    fn find_end(&mut self) -> io::Result<(End, bool)> {
        let levels = &self.levels;
        let scanned = scan(self.window, u64::MAX, &|line, _| levels.which(line))?;
        let start = self.window.position();
        let line_ends = line_ends(self.window.behind()).to_vec();
        let end = match scanned.line {
            Some(((level, is_last), next)) => End { level: Some(level), is_last, start, next, line_ends },
            None => End { level: None, is_last: false, start, next: start, line_ends },
        };
        Ok((end, scanned.is_blank))
    }

    /// Takes a part of a multipart apart, and returns where it ends.
    fn piece(&mut self, place: Place) -> io::Result<End> {
        let start = self.window.position();
        match self.peek(Begin::Part)? {
            Peeked::Near(bytes, end) => {
                if !bytes.trim_ascii().is_empty() {
                    self.near((&bytes, start), place, |near, place| near.entity(&split(&bytes), place));
                }
                Ok(end)
            }
            Peeked::Far { header, body } => {
                self.window.seek(body)?;
                let count = self.parts.len();
                let (end, is_blank) = self.entity(&split(&header), place)?;
                if is_blank && header.trim_ascii().is_empty() {
                    self.parts.truncate(count);
                }
                Ok(end)
            }
        }
    }

    /// Takes apart what has this header block; the window stands at its body. Says, too, whether that is a
    /// content of white space.
    fn entity(&mut self, block: &Block<'_>, place: Place) -> io::Result<(End, bool)> {
        if block.has_junk {
            self.problems.add(Problem::HeaderJunk);
        }
        if block.is_cut {
            self.problems.add(Problem::HeaderCut);
        }
        let content = read_content(block, place.default, self.problems);
        let is_container = content.is_multipart() || content.is_message();
        if is_container && place.depth >= MIME_DEPTH_MAX {
            self.problems.add(Problem::NestedTooDeep);
            self.leaf(as_text(content), place)
        } else if content.is_multipart() {
            Ok((self.multipart(content, place)?, false))
        } else if content.is_message() {
            Ok((self.message(content, place)?, false))
        } else if content.may_be_sealed() {
            Ok((self.sealed(content, place)?, false))
        } else {
            self.leaf(content, place)
        }
    }

    /// Opens S/MIME: in memory, or not at all.
    fn sealed(&mut self, content: ContentFields, place: Place) -> io::Result<End> {
        let (end, range) = self.find_range()?;
        let length = range.end.saturating_sub(range.start);
        let is_short = length <= wide(LARGE_NESTED_BYTES_MAX);
        let loaded = if is_short { self.load(&range, LARGE_NESTED_BYTES_MAX)? } else { None };
        let Some(bytes) = loaded else {
            self.problems.add(Problem::SealedCut);
            self.push_leaf(content, range, place)?;
            return Ok(end);
        };
        self.near((&bytes, range.start), place, |near, place| near.sealed(content, &bytes, place));
        Ok(end)
    }

    /// Returns where the content ends at whose beginning the window stands, and all of it.
    fn find_range(&mut self) -> io::Result<(End, Range<u64>)> {
        let start = self.window.position();
        let (end, _) = self.find_end()?;
        let range = start..self.levels.end_of(start, &end);
        Ok((end, range))
    }

    fn leaf(&mut self, content: ContentFields, place: Place) -> io::Result<(End, bool)> {
        let from = self.window.position();
        let (end, is_blank) = self.find_end()?;
        self.push_leaf(content, from..self.levels.end_of(from, &end), place)?;
        Ok((end, is_blank))
    }

    /// Adds a content: of text as much as is kept, of all else the place.
    fn push_leaf(&mut self, content: ContentFields, range: Range<u64>, place: Place) -> io::Result<()> {
        let head = if content.is_text() {
            self.load(&range, LARGE_TEXT_BYTES_MAX.min(self.room.text_bytes))?.unwrap_or_default()
        } else {
            Vec::new()
        };
        self.room.text_bytes = self.room.text_bytes.saturating_sub(head.len());
        let is_whole = wide(head.len()) == range.end.saturating_sub(range.start);
        let far = (!is_whole).then_some(range);
        self.parts.push(Part { parent: place.parent, content, body: Body::Leaf(Cow::Owned(head)), far });
        Ok(())
    }

    /// Reads the beginning of a range; `None` if it cannot be gone back to.
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

    /// Takes a multipart apart at whose body the window stands.
    fn multipart(&mut self, content: ContentFields, place: Place) -> io::Result<End> {
        let body = self.window.position();
        let end = match content.boundary.clone() {
            Some(boundary) => {
                let own = self.levels.enter(&boundary);
                let (end, _) = self.find_end()?;
                if end.level == Some(own) {
                    return self.pieces(content, place, (body, end));
                }
                self.levels.leave();
                end
            }
            None => self.find_end()?.0,
        };
        let whole = body..self.levels.end_of(body, &end);
        if let Some(boundary) = self.guess_boundary(&whole)?
            && self.window.seek(body)?
        {
            let own = self.levels.enter(&boundary);
            let (first, _) = self.find_end()?;
            if first.level == Some(own) {
                return self.pieces(content, place, (body, first));
            }
            self.levels.leave();
        }
        self.problems.add(Problem::BoundaryMissing);
        self.push_leaf(as_text(content), whole, place)?;
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

    /// Takes the innermost multipart apart, from its first boundary on; before that stands a preamble.
    fn pieces(
        &mut self,
        content: ContentFields,
        place: Place,
        (preamble, first): (u64, End),
    ) -> io::Result<End> {
        let own = first.level;
        let default = if content.mime == "multipart/digest" { "message/rfc822" } else { "text/plain" };
        let parent = self.parts.len();
        self.parts.push(Part { parent: place.parent, content, body: Body::Multipart, far: None });
        let place = Place { parent: Some(parent), depth: place.depth.saturating_add(1), default };
        let mut end = first;
        while end.level == own && !end.is_last {
            if self.parts.len() >= PART_COUNT_MAX {
                self.problems.add(Problem::PartsCut);
                self.is_cut = true;
            }
            if self.is_cut {
                self.levels.leave();
                return Ok(End { level: None, is_last: false, ..end });
            }
            self.window.seek(end.next)?;
            end = self.piece(place)?;
        }
        let is_closed = end.level == own;
        if !is_closed && !self.is_cut {
            self.problems.add(Problem::BoundaryUnclosed);
        }
        if self.parts.len() == parent.saturating_add(1) {
            self.problems.add(Problem::BoundaryMissing);
            self.levels.keep_line_ends();
            self.lone_preamble(preamble, place)?;
        }
        self.levels.leave();
        if is_closed {
            self.window.seek(end.next)?;
            end = self.find_end()?.0;
        }
        Ok(end)
    }

    /// Reads what stands before a boundary that nothing follows, as `parts.rs` does.
    fn lone_preamble(&mut self, start: u64, place: Place) -> io::Result<()> {
        if !self.window.seek(start)? {
            return Ok(());
        }
        match self.peek(Begin::Message)? {
            Peeked::Near(bytes, _) => {
                self.near((&bytes, start), place, |near, place| near.lone_preamble(&bytes, place));
            }
            Peeked::Far { header, body } => {
                let block = split(skip_envelope(&header));
                if block.first("content-type").is_some() {
                    self.window.seek(body)?;
                    self.entity(&block, place)?;
                } else {
                    let count = self.parts.len();
                    let (_, is_blank) = self.leaf(as_text(ContentFields::default()), place)?;
                    self.parts.truncate(if is_blank { count } else { self.parts.len() });
                }
            }
        }
        Ok(())
    }

    /// Takes a nested message apart at whose beginning the window stands.
    fn message(&mut self, content: ContentFields, place: Place) -> io::Result<End> {
        if content.transfer != Transfer::Identity {
            return self.encoded_message(content, place);
        }
        let start = self.window.position();
        let (header, body) = match self.peek(Begin::Message)? {
            Peeked::Near(bytes, end) => {
                self.near((&bytes, start), place, |near, place| near.message(content, &bytes, place));
                return Ok(end);
            }
            Peeked::Far { header, body } => (header, body),
        };
        let block = split(skip_envelope(&header));
        if block.fields.is_empty() {
            return Ok(self.leaf(as_text(content), place)?.0);
        }
        let parent = self.parts.len();
        let headers = Cow::Owned(block.bytes.to_vec());
        let message = Body::Message { headers, size_bytes: 0 };
        self.parts.push(Part { parent: place.parent, content, body: message, far: None });
        self.window.seek(body)?;
        let inner =
            Place { parent: Some(parent), depth: place.depth.saturating_add(1), default: "text/plain" };
        let (end, _) = self.entity(&block, inner)?;
        let length = self.levels.end_of(start, &end).saturating_sub(start);
        if let Some(Part { body: Body::Message { size_bytes, .. }, .. }) = self.parts.get_mut(parent) {
            *size_bytes = usize::try_from(length).unwrap_or(usize::MAX);
        }
        Ok(end)
    }

    /// Takes a nested message apart that is encoded, which RFC 2046 forbids: in memory, or not at all.
    fn encoded_message(&mut self, content: ContentFields, place: Place) -> io::Result<End> {
        let (end, range) = self.find_range()?;
        let length = range.end.saturating_sub(range.start);
        let is_short = length <= wide(LARGE_NESTED_BYTES_MAX);
        let loaded = if is_short { self.load(&range, LARGE_NESTED_BYTES_MAX)? } else { None };
        let Some(bytes) = loaded else {
            self.problems.add(Problem::NestedTooLarge);
            self.push_leaf(content, range, place)?;
            return Ok(end);
        };
        self.near((&bytes, range.start), place, |near, place| near.message(content, &bytes, place));
        Ok(end)
    }

    /// Takes something apart in memory, and adds its parts. Of contents that are no text only the place is
    /// kept, of which the memory begins at an offset.
    fn near<'b>(
        &mut self,
        (bytes, offset): (&'b [u8], u64),
        place: Place,
        take_apart: impl FnOnce(&mut NearWalk<'b, '_>, Place),
    ) {
        let mut near = NearWalk::new(self.problems).with_room(self.room.unsealed_bytes);
        take_apart(&mut near, Place { parent: None, ..place });
        let (parts, unsealed_bytes) = near.into_parts();
        self.room.unsealed_bytes = unsealed_bytes;
        let count = self.parts.len();
        let room = PART_COUNT_MAX.saturating_sub(count);
        if parts.len() > room {
            self.problems.add(Problem::PartsCut);
        }
        for part in parts.into_iter().take(room) {
            let parent = part.parent.map_or(place.parent, |parent| Some(parent.saturating_add(count)));
            let far = match &part.body {
                Body::Leaf(Cow::Borrowed(content)) if !self.room.keeps(&part.content, content) => {
                    place_in(bytes, content, offset)
                }
                Body::Sealed { bytes: Cow::Borrowed(content), .. } => place_in(bytes, content, offset),
                _ => None,
            };
            let part = match (far, part.body) {
                (Some(far), Body::Sealed { seal, .. }) => {
                    let body = Body::Sealed { bytes: Cow::default(), seal };
                    Part { parent, content: part.content, body, far: Some(far) }
                }
                (Some(far), _) => {
                    Part { parent, content: part.content, body: Body::Leaf(Cow::default()), far: Some(far) }
                }
                (None, body) => {
                    let body = self.room.bounded(body, self.problems);
                    Part { parent, content: part.content, body, far: part.far }.into_owned()
                }
            };
            self.parts.push(part);
        }
    }
}

fn as_text(content: ContentFields) -> ContentFields {
    ContentFields { mime: "text/plain".into(), ..content }
}

/// Returns the place of a slice of `bytes`, which begin at an offset.
fn place_in(bytes: &[u8], slice: &[u8], offset: u64) -> Option<Range<u64>> {
    let start = slice.as_ptr().addr().checked_sub(bytes.as_ptr().addr())?;
    let end = start.checked_add(slice.len()).filter(|end| *end <= bytes.len())?;
    Some(offset.saturating_add(wide(start))..offset.saturating_add(wide(end)))
}

/// Returns how long the header is that some bytes begin with, with all that stands before the body, and
/// whether that is certain whatever follows them.
fn header_length(bytes: &[u8], begin: Begin) -> (usize, bool) {
    let lines = before(bytes, memchr::memrchr(b'\n', bytes).map_or(0, |end| end.saturating_add(1)));
    let header = if begin == Begin::Message { skip_envelope(lines) } else { lines };
    // Whether empty lines are skipped is told by the first that is not empty.
    let is_open = begin == Begin::Message
        && lines
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(lines)
            .iter()
            .all(|byte| matches!(byte, b'\r' | b'\n'));
    let block = split(header);
    let has_empty_line = block.bytes.len() < header.len().saturating_sub(block.body.len());
    // Without an empty line the body begins with a line that is no field and before another.
    let has_body = memchr::memchr_iter(b'\n', block.body).nth(1).is_some();
    (lines.len().saturating_sub(block.body.len()), !is_open && (has_empty_line || has_body))
}
