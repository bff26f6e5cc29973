//! A message that is too large to be held, without most of its long contents.
//!
//! Input: a message in a file. Output: bytes that are split into the same parts as the message; the sizes of
//! all parts; and which contents are cut. If the bytes would be split otherwise, they are the beginning of
//! the message as it is. Must not know what is asked of a message.

use mail::{BodyPart, Email};
use pneu::{MailError, MessageContent, PartInfo};
use std::collections::BTreeSet;
use std::ops::Range;

/// The most bytes that are held; what follows is missing.
const BYTES_MAX: usize = 16 << 20;
/// The most bytes of a text, in its transfer encoding.
const TEXT_BYTES_MAX: u64 = 8 << 20;
/// Bytes that are held of any other content, in its transfer encoding: more than a splitter looks at.
const CONTENT_BYTES_MAX: u64 = 64 << 10;

/// A message without most of its long contents.
#[derive(Debug, Default)]
pub(crate) struct Abridged {
    /// What is left of it.
    pub(crate) bytes: Vec<u8>,
    /// The sizes of all parts, decoded, by their numbers from 1; none that is not known.
    sizes: Vec<Option<u64>>,
    /// The numbers of parts whose content is cut.
    cut: BTreeSet<usize>,
    /// The end of the message is missing.
    ends_early: bool,
}

impl Abridged {
    /// Reads a message that is too large to be held.
    ///
    /// # Errors
    /// Its file cannot be read again, or was changed.
    pub(crate) fn read(content: &MessageContent) -> Result<Abridged, MailError> {
        let parts = content.with_parts(|parts| parts.list().map(|list| (list, parts.contents_apart())));
        let (list, contents) = parts??;
        let (mut left_out, mut cut) = (Vec::new(), BTreeSet::new());
        for (number, range) in contents {
            let is_text = part(&list, number).is_some_and(|part| part.mime.starts_with("text/"));
            let held_bytes = if is_text { TEXT_BYTES_MAX } else { CONTENT_BYTES_MAX };
            let rest = range.start.saturating_add(held_bytes)..range.end;
            if !rest.is_empty() {
                left_out.push(rest);
                cut.insert(number);
            }
        }
        let Held { bytes, ends_early, .. } = held(content, left_out)?;
        if are_parts(&Email::of_bytes(&bytes).structure, &list) {
            let sizes = list.iter().map(|part| part.size_bytes).collect();
            return Ok(Abridged { bytes, sizes, cut, ends_early });
        }
        let Held { bytes, ends_early, .. } = held(content, Vec::new())?;
        Ok(Abridged { bytes, ends_early, ..Abridged::default() })
    }

    /// Returns the size of a part, decoded, if it is known.
    pub(crate) fn size_bytes(&self, number: usize) -> Option<u64> {
        self.sizes.get(number.checked_sub(1)?).copied().flatten()
    }

    /// Returns whether the content of a part is cut, which may be the last one of what is left.
    pub(crate) fn is_cut(&self, number: usize, is_last: bool) -> bool {
        self.cut.contains(&number) || (self.ends_early && is_last)
    }
}

fn part(list: &[PartInfo], number: usize) -> Option<&PartInfo> {
    list.get(number.checked_sub(1)?)
}

/// Returns whether all parts of a tree have their numbers and types in the list.
fn are_parts(tree: &BodyPart, list: &[PartInfo]) -> bool {
    let is_known = |number: usize| part(list, number).is_some_and(|known| known.mime == tree.mime);
    tree.part_id.is_none_or(is_known) && tree.sub_parts.iter().all(|below| are_parts(below, list))
}

/// Reads a message without some ranges of it.
fn held(content: &MessageContent, left_out: Vec<Range<u64>>) -> Result<Held, MailError> {
    let mut held = Held { left_out, ..Held::default() };
    content.each_block::<MailError>(&mut |block| {
        held.take(block);
        Ok(())
    })?;
    Ok(held)
}

/// What is held while a message is read.
#[derive(Default)]
struct Held {
    bytes: Vec<u8>,
    /// Ranges to leave out, in order.
    left_out: Vec<Range<u64>>,
    /// How many of them were passed.
    passed_count: usize,
    offset: u64,
    ends_early: bool,
}

impl Held {
    fn take(&mut self, mut block: &[u8]) {
        while !block.is_empty() {
            let range = self.left_out.get(self.passed_count);
            let is_held = range.is_none_or(|range| self.offset < range.start);
            let end = range.map_or(u64::MAX, |range| if is_held { range.start } else { range.end });
            let length = usize::try_from(end.saturating_sub(self.offset)).unwrap_or(usize::MAX);
            let (piece, rest) = block.split_at(length.min(block.len()));
            if is_held {
                let room = BYTES_MAX.saturating_sub(self.bytes.len());
                self.ends_early |= piece.len() > room;
                self.bytes.extend_from_slice(piece.get(..room).unwrap_or(piece));
            }
            self.offset = self.offset.saturating_add(piece.len() as u64);
            self.passed_count += usize::from(!is_held && self.offset >= end);
            block = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_left_out_however_a_message_is_cut_into_blocks() {
        let message: Vec<u8> = (0..100).collect();
        let left_out = vec![0..3, 5..6, 6..9, 20..50, 99..120];
        let is_left_out = |byte: u8| left_out.iter().any(|range| range.contains(&u64::from(byte)));
        let expected: Vec<u8> = message.iter().copied().filter(|byte| !is_left_out(*byte)).collect();
        for length in 1..=100 {
            let mut held = Held { left_out: left_out.clone(), ..Held::default() };
            message.chunks(length).for_each(|block| held.take(block));
            assert_eq!((&held.bytes, held.ends_early), (&expected, false), "{length}");
        }
        let mut held = Held::default();
        held.take(&vec![1; BYTES_MAX]);
        assert!(!held.ends_early);
        held.take(&[2]);
        assert!(held.ends_early && held.bytes.len() == BYTES_MAX);
    }
}
