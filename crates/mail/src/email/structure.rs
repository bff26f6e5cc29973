//! Builds the tree of a message's parts (RFC 8621, 4.1.4).
//!
//! Input: the bytes of a message. Output: the tree, with the properties of each part, and the lists that
//! `lists` makes of it. A nested message and S/MIME are leaves; what is in them has numbers of its own, but
//! does not appear here. Beyond `MIME_DEPTH_MAX` the rest is one leaf. Does not depend on what is done with
//! a part.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::borrow::Cow;
use std::ops::Range;

use encoding_rs::Encoding;

use crate::body::attachments::{PartRole, role};
use crate::bytes::{before, range_of, with_line_feeds};
use crate::decode::charset;
use crate::decode::encoded_words::decode_value;
use crate::decode::transfer::transfer;
use crate::email::content::read_size;
use crate::email::field::HeaderField;
use crate::email::lists::BodyLists;
use crate::email::part::BodyPart;
use crate::extract::parts::numbered;
use crate::header::block::{Block, skip_envelope, split};
use crate::header::message_ids::message_id;
use crate::header::quoted::without_comments;
use crate::limits::VALUE_BYTES_MAX;
use crate::mime::content_fields::Disposition;
use crate::mime::parts::{Body, Part, take_apart};
use crate::problem::{Problem, Problems};

/// A message: its parts, and how it is shown.
#[derive(Clone, Debug)]
pub struct Email<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    /// The charset of text that names none.
    pub(super) fallback: Option<&'static Encoding>,
    /// The message itself as a part.
    pub structure: BodyPart,
    /// The numbers of the parts that show the message as text, in order.
    pub text_body: Vec<usize>,
    /// The numbers of the parts that show the message as HTML, in order.
    pub html_body: Vec<usize>,
    /// The numbers of all other parts, and of pictures, sound and films that only one of the two shows.
    pub attachments: Vec<usize>,
    /// Whether there is something to download: what searches find as having an attachment. Signatures, and
    /// pictures that belong to a text, do not count.
    pub has_attachment: bool,
    /// What was wrong when the message was split: what may be missing.
    pub problems: Vec<Problem>,
}

impl<'a> Email<'a> {
    /// Splits a message. Every sequence of bytes is a message.
    #[must_use]
    pub fn of_bytes(bytes: &'a [u8]) -> Email<'a> {
        let bytes = with_line_feeds(bytes);
        let mut problems = Problems::default();
        let parts = take_apart(&split(skip_envelope(&bytes)), &mut problems);
        let structure = Tree::new(&bytes, &parts).part(0).unwrap_or_default();
        let fallback = parts.iter().find_map(|part| charset::encoding(part.content.charset.as_deref()?));
        let has_attachment = parts.iter().any(|part| role(part, &parts) == PartRole::Attached);
        drop(parts);
        let BodyLists { text: text_body, html: html_body, attachments } = BodyLists::of(&structure);
        let problems = problems.into_list();
        Email { bytes, fallback, structure, text_body, html_body, attachments, has_attachment, problems }
    }

    /// Returns the part with this number; `None` if there is none, or it lies in a nested message.
    #[must_use]
    pub fn part(&self, part_id: usize) -> Option<&BodyPart> {
        self.structure.find(part_id)
    }

    /// Returns the header fields of a part in order, `FIELD_COUNT_MAX` at most; those of the message for its
    /// `structure`.
    #[must_use]
    pub fn header_fields(&self, part: &BodyPart) -> Vec<HeaderField<'_>> {
        let header = self.bytes.get(part.header.clone()).unwrap_or_default();
        split(header).fields.iter().map(|field| HeaderField::new(field, self.fallback)).collect()
    }
}

/// A list of parts as a tree.
struct Tree<'t> {
    whole: &'t [u8],
    parts: &'t [Part<'t>],
    /// The number of each part; for a multipart, that of the part before it, or 0.
    numbers: Vec<usize>,
    /// The indexes of the parts in each multipart.
    children: Vec<Vec<usize>>,
}

impl<'t> Tree<'t> {
    fn new(whole: &'t [u8], parts: &'t [Part<'t>]) -> Tree<'t> {
        let mut tree =
            Tree { whole, parts, numbers: vec![0; parts.len()], children: vec![Vec::new(); parts.len()] };
        for (number, index) in (1..).zip(numbered(parts)) {
            tree.numbers.get_mut(index).into_iter().for_each(|known| *known = number);
        }
        let mut last = 0;
        for number in &mut tree.numbers {
            last = last.max(*number);
            *number = last;
        }
        for (index, part) in parts.iter().enumerate() {
            let children = part.parent.and_then(|parent| tree.children.get_mut(parent));
            children.into_iter().for_each(|children| children.push(index));
        }
        tree
    }

    /// Returns the part with this index. It is at most `MIME_DEPTH_MAX` levels deep.
    fn part(&self, index: usize) -> Option<BodyPart> {
        let part = self.parts.get(index)?;
        let fields = split(part.entity.header);
        let mut found = BodyPart { header: self.range(part.entity.header), ..described(part, &fields) };
        if matches!(part.body, Body::Multipart) {
            let children = self.children.get(index).into_iter().flatten();
            found.sub_parts = children.filter_map(|child| self.part(*child)).collect();
            let last = found.sub_parts.last().map(|part| part.last);
            found.last = last.or(self.numbers.get(index).copied()).unwrap_or_default();
            return Some(found);
        }
        found.part_id = self.numbers.get(index).copied();
        found.last = found.part_id.unwrap_or_default();
        found.encoded = self.range(part.entity.body);
        let (size_bytes, own_name) = read_size(part.entity.body, &found.content);
        found.size_bytes = size_bytes;
        found.name = found.name.or(own_name);
        Some(found)
    }

    /// Returns the range of bytes in the message. No bytes may lie anywhere.
    fn range(&self, bytes: &[u8]) -> Range<usize> {
        range_of(self.whole, bytes).unwrap_or_default()
    }
}

/// Returns a part with what its header says.
fn described(part: &Part<'_>, fields: &Block<'_>) -> BodyPart {
    let mut content = part.content.clone();
    content.is_uuencoded &= matches!(part.body, Body::Leaf(_));
    // That of an encoded message was left out when it was taken apart.
    let named = fields.first("content-transfer-encoding").map(transfer);
    content.transfer = named.flatten().unwrap_or_default();
    let is_text = content.mime.starts_with("text/");
    let is_ascii = is_text || fields.first("content-type").is_none();
    let read = |value| decode_value(before(value, VALUE_BYTES_MAX), None, &mut Problems::default());
    BodyPart {
        name: Some(content.name.clone()).filter(|name| !name.is_empty()),
        mime: content.mime.clone(),
        charset: content.charset.clone().or_else(|| is_ascii.then(|| "us-ascii".to_owned())),
        disposition: disposition(content.disposition, fields),
        content_id: fields.first("content-id").and_then(message_id),
        languages: fields.first("content-language").and_then(|value| languages(&read(value))),
        location: fields
            .first("content-location")
            .map(|value| read(value).replace(' ', ""))
            .filter(|location| !location.is_empty()),
        is_transfer_unknown: named == Some(None) && !content.is_uuencoded,
        content,
        ..BodyPart::default()
    }
}

fn disposition(known: Disposition, fields: &Block<'_>) -> Option<String> {
    match known {
        Disposition::Attachment => Some("attachment".to_owned()),
        Disposition::Inline => Some("inline".to_owned()),
        Disposition::Unsaid => {
            let value =
                String::from_utf8_lossy(before(fields.first("content-disposition")?, 256)).into_owned();
            let word = without_comments(value.split(';').next()?).trim().to_ascii_lowercase();
            (!word.is_empty()).then_some(word)
        }
    }
}

/// Returns the tags of a list, without comments.
fn languages(text: &str) -> Option<Vec<String>> {
    let text = without_comments(text);
    let tags: Vec<String> =
        text.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect();
    (!tags.is_empty()).then_some(tags)
}
