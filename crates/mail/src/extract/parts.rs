//! Numbers the parts of a message, and reads their contents.
//!
//! Input: the bytes of a message, or a large message. Output: a list of parts, and the decoded content of
//! each, block by block. Multiparts have no number: they have no content of their own. Contents inside a
//! decoded part are not kept; to give one out, the message is split again.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::borrow::Cow;
use std::ops::Range;

use encoding_rs::Encoding;

use crate::body::attachments::role;
use crate::body::part_text::{cut_text, linked_part_text};
use crate::bytes::{before, with_line_feeds};
use crate::decode::charset;
use crate::decode::encoded_words::decode_value;
use crate::decode::transfer::{Transfer, decode_by_blocks};
use crate::decode::uuencode::Uudecoder;
use crate::error::Result;
use crate::extract::info::PartInfo;
use crate::header::block::{Field, skip_envelope, split};
use crate::large::{LargeContents, LargeMessage};
use crate::limits::{
    AGAIN_COUNT_MAX, CALENDAR_COUNT_MAX, LIST_BYTES_MAX, SHOWN_PART_BYTES_MAX, TEXT_BYTES_MAX,
    VALUE_BYTES_MAX,
};
use crate::mime::parts::{Body, Nesting, Part, Walk, is_inside, take_apart};
use crate::problem::{Problem, Problems};
use crate::text::links::{LinkList, Links};

/// The parts of one message.
pub struct MessageParts<'a> {
    /// The header of the message, with the bytes before it.
    header: Cow<'a, [u8]>,
    /// All parts, multiparts too.
    parts: Vec<Part<'a>>,
    source: Source<'a>,
    problems: Vec<Problem>,
    /// How many more contents may be decoded again.
    again_left: usize,
}

/// Where contents are read.
enum Source<'a> {
    Memory(&'a [u8]),
    Large(&'a LargeMessage<'a>, LargeContents<'a>),
}

/// How reading the content of a part ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartRead {
    /// All of it was read.
    Clean,
    /// Its transfer encoding is damaged. What could be decoded was read.
    Damaged,
    /// No part has this number.
    NoSuchPart,
    /// Nothing was read: more than [`AGAIN_COUNT_MAX`] contents would be decoded again.
    TooMany,
}

impl PartRead {
    fn of(is_clean: bool) -> PartRead {
        if is_clean { PartRead::Clean } else { PartRead::Damaged }
    }
}

/// The text of a part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartText {
    /// The text, of HTML what is shown of it.
    pub text: String,
    /// The links of HTML; their ranges are in `text`.
    pub links: LinkList,
    /// Whether the text is longer.
    pub is_cut: bool,
}

impl<'a> MessageParts<'a> {
    /// Splits a message in memory.
    #[must_use]
    pub fn of_bytes(bytes: &'a [u8]) -> MessageParts<'a> {
        let mut problems = Problems::default();
        let (header, parts) = match with_line_feeds(bytes) {
            Cow::Borrowed(bytes) => {
                let block = split(skip_envelope(bytes));
                (Cow::Borrowed(block.bytes), take_apart(&block, &mut problems))
            }
            Cow::Owned(bytes) => {
                let block = split(skip_envelope(&bytes));
                let parts = take_apart(&block, &mut problems).into_iter().map(Part::into_owned).collect();
                (Cow::Owned(block.bytes.to_vec()), parts)
            }
        };
        MessageParts::new((header, parts), Source::Memory(bytes), problems)
    }

    /// Splits a large message. [`LargeMessage::each_block`] or `identify` must be called before.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), [`Error::Damaged`](crate::Error::Damaged),
    /// [`Error::Changed`](crate::Error::Changed).
    pub fn of_large(message: &'a LargeMessage<'a>) -> Result<MessageParts<'a>> {
        let mut problems = Problems::default();
        let (header, parts) = message.split(&mut problems)?;
        Ok(MessageParts::new((header.into(), parts), Source::Large(message, message.contents()?), problems))
    }

    fn new(
        (header, parts): (Cow<'a, [u8]>, Vec<Part<'a>>),
        source: Source<'a>,
        problems: Problems,
    ) -> MessageParts<'a> {
        MessageParts { header, parts, source, problems: problems.into_list(), again_left: AGAIN_COUNT_MAX }
    }

    /// Returns every field of the message's header, in its order: the name as it is written, and the decoded
    /// value on one line. Also returns whether that is not all: there are too many fields, or a long one.
    #[must_use]
    pub fn header_fields(&self) -> (Vec<(String, String)>, bool) {
        let mut problems = Problems::default();
        let fallback = self.fallback();
        let block = split(skip_envelope(&self.header));
        let field = |field: &Field<'_>| {
            let value = decode_value(before(field.value(), LIST_BYTES_MAX), fallback, &mut problems);
            (String::from_utf8_lossy(field.name).into_owned(), value)
        };
        let is_cut = block.is_cut || block.fields.iter().any(|field| field.value().len() > LIST_BYTES_MAX);
        (block.fields.iter().map(field).collect(), is_cut)
    }

    /// Returns the bytes of the message; `None` if it is too large to be in memory.
    #[must_use]
    pub fn bytes(&self) -> Option<&'a [u8]> {
        match self.source {
            Source::Memory(bytes) => Some(bytes),
            Source::Large(..) => None,
        }
    }

    /// Returns the charset of text that names none.
    fn fallback(&self) -> Option<&'static Encoding> {
        self.parts.iter().find_map(|part| charset::encoding(part.content.charset.as_deref()?))
    }

    /// Returns what was wrong when the message was split: what may be missing.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Returns all parts with content of their own. Reads every content, for its size.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), [`Error::Damaged`](crate::Error::Damaged),
    /// [`Error::Changed`](crate::Error::Changed).
    pub fn list(&mut self) -> Result<Vec<PartInfo>> {
        let indexes = self.numbered();
        let mut list = Vec::with_capacity(indexes.len());
        for (number, index) in (1..).zip(indexes) {
            list.extend(self.info(number, index)?);
        }
        Ok(list)
    }

    /// Returns the numbers and types of all parts that are neither messages nor containers. Reads no content.
    #[must_use]
    pub fn types(&self) -> Vec<(usize, String)> {
        let part = |index: usize| self.parts.get(index);
        let leaves = self.numbered().into_iter().zip(1..).filter_map(|(index, number)| {
            let part = part(index).filter(|part| matches!(part.body, Body::Leaf(_)))?;
            Some((number, part.content.mime.clone()))
        });
        leaves.collect()
    }

    /// Returns the numbers of parts whose content is not held, and where in the message it is, still in its
    /// transfer encoding: in order, in the message as it is decompressed. Of a message in memory, and inside
    /// content that is decoded, there are none. A message within the message counts by its own parts.
    #[must_use]
    pub fn contents_apart(&self) -> Vec<(usize, Range<u64>)> {
        let leaves = (1..).zip(self.numbered()).filter_map(|(number, index)| {
            let part = self.parts.get(index).filter(|part| matches!(part.body, Body::Leaf(_)))?;
            Some((number, part.unloaded.clone()?))
        });
        leaves.collect()
    }

    /// Passes the decoded content of the part with this number to `consume`, in blocks.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io), [`Error::Damaged`](crate::Error::Damaged),
    /// [`Error::Changed`](crate::Error::Changed).
    pub fn each_block(&mut self, number: usize, consume: &mut dyn FnMut(&[u8])) -> Result<PartRead> {
        let index = number.checked_sub(1).and_then(|position| self.numbered().get(position).copied());
        let Some(index) = index else { return Ok(PartRead::NoSuchPart) };
        if let Some(is_clean) = self.each_kept_block(index, consume)? {
            return Ok(PartRead::of(is_clean));
        }
        let Some(left) = self.again_left.checked_sub(1) else { return Ok(PartRead::TooMany) };
        self.again_left = left;
        let content = match &self.source {
            Source::Memory(bytes) => content_again(bytes, index),
            Source::Large(message, _) => message.content_in_memory(index)?,
        };
        let transfer = self.parts.get(index).map_or(Transfer::Identity, transfer);
        let content = content.unwrap_or_default();
        if !self.is_uuencoded(index) {
            return Ok(PartRead::of(decode_by_blocks(&content, transfer, &mut Vec::new(), consume)));
        }
        let (mut decoder, mut decoded) = (Uudecoder::default(), Vec::new());
        decoder.decode(&content, &mut decoded);
        let is_clean = decoder.end(&mut decoded);
        consume(&decoded);
        Ok(PartRead::of(is_clean))
    }

    /// Returns the text of the part with this number; `None` if it is not text.
    ///
    /// # Errors
    /// Those of [`MessageParts::each_block`].
    pub fn text(&mut self, number: usize, links: Links) -> Result<Option<PartText>> {
        let index = number.checked_sub(1).and_then(|position| self.numbered().get(position).copied());
        let is_text = |part: &Part<'_>| {
            matches!(part.body, Body::Leaf(_)) && (part.content.is_text() || is_calendar(part))
        };
        let Some(index) = index.filter(|index| self.parts.get(*index).is_some_and(is_text)) else {
            return Ok(None);
        };
        let mut decoded = Vec::new();
        self.each_block(number, &mut |block| {
            let room = SHOWN_PART_BYTES_MAX.saturating_add(1).saturating_sub(decoded.len());
            decoded.extend_from_slice(before(block, room));
        })?;
        let Some(part) = self.parts.get(index) else { return Ok(None) };
        let bytes = cut_text(&decoded, SHOWN_PART_BYTES_MAX);
        let mut problems = Problems::default();
        let wanted = (TEXT_BYTES_MAX, self.fallback(), links);
        let (text, links) = linked_part_text(&part.content, bytes, wanted, &mut problems);
        let is_cut = bytes.len() < decoded.len() || problems.into_list().contains(&Problem::TextCut);
        Ok(Some(PartText { text: text.into_owned(), links, is_cut }))
    }

    /// Returns the texts of the message's own calendar parts, [`CALENDAR_COUNT_MAX`] at most; not those of
    /// attached messages.
    ///
    /// # Errors
    /// Those of [`MessageParts::each_block`].
    pub fn calendars(&mut self) -> Result<Vec<String>> {
        let is_own = |index: &usize| {
            let part = self.parts.get(*index);
            let is_message = |body: &Body<'_>| matches!(body, Body::Message { .. });
            part.is_some_and(|part| is_calendar(part) && !is_inside(part, &self.parts, is_message))
        };
        let numbered = self.numbered();
        let numbers = (1_usize..).zip(&numbered).filter(|(_, index)| is_own(index));
        let numbers: Vec<usize> = numbers.map(|(number, _)| number).take(CALENDAR_COUNT_MAX).collect();
        let mut texts = Vec::new();
        for number in numbers {
            texts.extend(self.text(number, Links::Ignored)?.map(|part| part.text));
        }
        Ok(texts)
    }

    fn numbered(&self) -> Vec<usize> {
        numbered(&self.parts)
    }

    fn info(&mut self, number: usize, index: usize) -> Result<Option<PartInfo>> {
        let mut size_bytes = 0_u64;
        let mut count = |block: &[u8]| size_bytes = size_bytes.saturating_add(size(block.len()));
        let mut own_name = String::new();
        let is_clean = match self.is_uuencoded(index) {
            true => self.each_uudecoded_block(index, &mut own_name, &mut count)?,
            false => self.each_kept_block(index, &mut count)?,
        };
        let Some(part) = self.parts.get(index) else { return Ok(None) };
        let mut problems = Problems::default();
        let (mut subject, mut known) = (String::new(), is_clean.map(|_| size_bytes));
        if let Body::Message { headers, size_bytes, .. } = &part.body {
            known = Some(size(*size_bytes));
            if let Some(value) = split(headers).first("subject") {
                subject = decode_value(before(value, VALUE_BYTES_MAX), None, &mut problems);
            }
        }
        Ok(Some(PartInfo {
            number,
            depth: self.depth(part),
            mime: part.content.mime.clone(),
            name: if part.content.name.is_empty() { own_name } else { part.content.name.clone() },
            subject,
            size_bytes: known,
            role: role(part, &self.parts),
            is_message: matches!(part.body, Body::Message { .. }),
            is_damaged: is_clean == Some(false),
        }))
    }

    /// Returns how many messages and S/MIME parts a part is inside.
    fn depth(&self, part: &Part<'_>) -> usize {
        let mut depth = 0_usize;
        // A part follows the one that contains it, so this ends.
        let mut parent = part.parent.and_then(|number| self.parts.get(number));
        while let Some(outer) = parent {
            depth = depth.saturating_add(usize::from(!matches!(outer.body, Body::Multipart)));
            parent = outer.parent.and_then(|number| self.parts.get(number));
        }
        depth
    }

    fn is_uuencoded(&self, index: usize) -> bool {
        let part = self.parts.get(index);
        part.is_some_and(|part| part.content.is_uuencoded && matches!(part.body, Body::Leaf(_)))
    }

    /// Passes the decoded content of a part to `consume`, and returns whether it was clean; `None` if it is
    /// neither in memory nor at one place of the message.
    fn each_kept_block(&mut self, index: usize, consume: &mut dyn FnMut(&[u8])) -> Result<Option<bool>> {
        if self.is_uuencoded(index) {
            return self.each_uudecoded_block(index, &mut String::new(), consume);
        }
        self.each_encoded_block(index, consume)
    }

    /// Does the same with uuencoded content. Also returns the name in it.
    fn each_uudecoded_block(
        &mut self,
        index: usize,
        name: &mut String,
        consume: &mut dyn FnMut(&[u8]),
    ) -> Result<Option<bool>> {
        let (mut decoder, mut decoded) = (Uudecoder::default(), Vec::new());
        let read = self.each_encoded_block(index, &mut |block| {
            decoder.decode(block, &mut decoded);
            consume(&decoded);
            decoded.clear();
        })?;
        let is_clean = decoder.end(&mut decoded);
        consume(&decoded);
        decoder.name().clone_into(name);
        Ok(read.map(|was_read| was_read && is_clean))
    }

    /// Does the same, without decoding uuencode.
    fn each_encoded_block(&mut self, index: usize, consume: &mut dyn FnMut(&[u8])) -> Result<Option<bool>> {
        let Some(part) = self.parts.get(index) else { return Ok(None) };
        if let (Some(range), Source::Large(message, contents)) = (&part.unloaded, &mut self.source) {
            return message.each_block_of(contents, (range.clone(), transfer(part)), consume).map(Some);
        }
        let is_any_lost =
            matches!(self.source, Source::Large(..)) && self.problems.contains(&Problem::PartsCut);
        let bytes: &[u8] = match &part.body {
            Body::Message { whole: Some(whole), .. } => whole,
            // Of a large message, an empty content may be one that was not kept.
            Body::Smime { bytes, .. } | Body::Leaf(bytes) if !bytes.is_empty() || !is_any_lost => bytes,
            _ => return Ok(None),
        };
        Ok(Some(decode_by_blocks(bytes, transfer(part), &mut Vec::new(), consume)))
    }
}

/// Returns the indexes of the parts that have a number, in the order of their numbers.
pub(crate) fn numbered(parts: &[Part<'_>]) -> Vec<usize> {
    let is_numbered = |(_, part): &(usize, &Part<'_>)| !matches!(part.body, Body::Multipart);
    parts.iter().enumerate().filter(is_numbered).map(|(index, _)| index).collect()
}

/// Returns whether a part is calendar data.
fn is_calendar(part: &Part<'_>) -> bool {
    matches!(part.content.mime.as_str(), "text/calendar" | "application/ics")
}

/// Returns the transfer encoding of a part's content as it is read here: a message is decoded already.
pub(crate) fn transfer(part: &Part<'_>) -> Transfer {
    match part.body {
        Body::Message { .. } | Body::Multipart => Transfer::Identity,
        Body::Smime { .. } | Body::Leaf(_) => part.content.transfer,
    }
}

/// Splits a message again, and returns the content of the part with this index.
pub(crate) fn content_again(bytes: &[u8], index: usize) -> Option<Vec<u8>> {
    let bytes = with_line_feeds(bytes);
    let mut problems = Problems::default();
    let mut walk = Walk::new(&mut problems).with_wanted(Some(index));
    let block = split(skip_envelope(&bytes));
    walk.entity(&block, Nesting { parent: None, depth: 0, default_type: "text/plain" });
    walk.take_kept()
}

fn size(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
