//! Reads the contents of all parts of a message, each once: their text, hash and size.
//!
//! Parts come in, the text to be searched, the attachments and what is hashed of the parts go out. Knows
//! nothing of the message's own header.
//!
//! The text is that of all parts of text, attached ones and those of nested messages included, with the subjects of
//! these, in the order of the message. Of a multipart/alternative only one form counts: the plain one, or if that has no
//! words, HTML.
//!
//! Which of it was attached, as a message or as text, is told by its places in the text.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::borrow::Cow;
use std::ops::Range;

use encoding_rs::Encoding;

use crate::attachments::{Attachment, Verdict, verdict};
use crate::bytes::{after, before, cut};
use crate::charset;
use crate::content::{ContentFields, Disposition};
use crate::copy_hash::{Look, PartHashes};
use crate::headers::split;
use crate::html::html_to_text;
use crate::limits::{ATTACHMENT_COUNT_MAX, TEXT_BYTES_MAX, VALUE_BYTES_MAX};
use crate::parts::{Body, Part};
use crate::problem::{Problem, Problems};
use crate::transfer::{decode, decode_by_blocks};
use crate::words;

/// What the contents of a message gave.
#[derive(Default)]
pub(crate) struct Bodies {
    pub(crate) text: String,
    /// The places of attached texts in `text`.
    pub(crate) embedded: Vec<Range<usize>>,
    pub(crate) attachments: Vec<Attachment>,
    /// Some part is an attachment, and not only embedded.
    pub(crate) has_attachment: bool,
}

/// Reads the contents of all parts, and adds them to the hashes.
pub(crate) fn read_bodies(
    parts: &[Part<'_>],
    fallback: Option<&'static Encoding>,
    hashes: &mut PartHashes,
    problems: &mut Problems,
) -> Bodies {
    let is_chosen = choose(parts);
    let mut reader =
        Reader { bodies: Bodies::default(), parts, hashes, block: Vec::new(), fallback, problems };
    for (part, is_chosen) in parts.iter().zip(is_chosen) {
        let verdict = verdict(part, parts);
        let start = reader.bodies.text.len();
        let size_bytes = reader.part(part, is_chosen);
        if verdict != Verdict::Content || is_in_message(part, parts) {
            reader.note_embedded(start);
        }
        reader.attachment(part, verdict, size_bytes);
    }
    reader.bodies
}

/// The forms in which an alternative says the same, the best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    Plain,
    Html,
    Other,
    None,
}

fn form(content: &ContentFields) -> Option<Form> {
    match content.mime.as_str() {
        _ if content.disposition == Disposition::Attachment || !content.is_text() => None,
        "text/plain" => Some(Form::Plain),
        "text/html" => Some(Form::Html),
        // An invitation says more than the text beside it.
        "text/calendar" => None,
        _ => Some(Form::Other),
    }
}

/// Says of each part whether its text counts: all but the worse forms of an alternative.
fn choose(parts: &[Part<'_>]) -> Vec<bool> {
    let mut best = vec![Form::None; parts.len()];
    for part in parts {
        let Some(form) = form(&part.content) else { continue };
        let alternatives = alternatives(part, parts);
        if alternatives.is_empty() || !has_words(part) {
            continue;
        }
        for number in alternatives {
            if let Some(best) = best.get_mut(number) {
                *best = form.min(*best);
            }
        }
    }
    let is_best = |part: &Part<'_>| {
        let Some(form) = form(&part.content) else { return true };
        alternatives(part, parts).into_iter().filter_map(|number| best.get(number)).all(|best| form <= *best)
    };
    parts.iter().map(is_best).collect()
}

/// Returns the numbers of the alternatives that a part lies in, within its own message.
fn alternatives(part: &Part<'_>, parts: &[Part<'_>]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut number = part.parent;
    while let Some((at, parent)) = number.and_then(|at| Some((at, parts.get(at)?))) {
        if !matches!(parent.body, Body::Multipart) {
            break;
        }
        if parent.content.mime == "multipart/alternative" {
            found.push(at);
        }
        number = parent.parent;
    }
    found
}

/// Says whether a part is a message within the message, or lies in one.
fn is_in_message(part: &Part<'_>, parts: &[Part<'_>]) -> bool {
    let mut above = Some(part);
    while let Some(part) = above {
        if matches!(part.body, Body::Message { .. }) {
            return true;
        }
        // A part stands behind the one that it lies in, so that this ends.
        above = part.parent.and_then(|number| parts.get(number));
    }
    false
}

/// Says whether there is any letter or digit in a part's text. Mostly its first kilobyte tells.
fn has_words(part: &Part<'_>) -> bool {
    let Body::Leaf(content) = &part.body else { return false };
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte >= 0x80;
    let has = |bytes| decode(bytes, part.content.transfer).0.iter().any(is_word);
    has(before(content, 1 << 10)) || (content.len() > 1 << 10 && has(content))
}

struct Reader<'p> {
    bodies: Bodies,
    parts: &'p [Part<'p>],
    hashes: &'p mut PartHashes,
    /// Memory for blocks of attachments.
    block: Vec<u8>,
    fallback: Option<&'static Encoding>,
    problems: &'p mut Problems,
}

impl Reader<'_> {
    /// Reads one part and returns the size of its decoded content.
    fn part(&mut self, part: &Part<'_>, is_chosen: bool) -> usize {
        match &part.body {
            Body::Multipart => {
                self.hashes.add_container(&self.look(part, &part.content.mime, ""));
                0
            }
            Body::Message { headers, size_bytes } => {
                let reading = charset::reading(headers, None, self.fallback);
                self.hashes.add_text(&self.look(part, "message/rfc822", &reading), headers);
                if let Some(subject) = split(headers).first("subject") {
                    let subject = words::text(before(subject, VALUE_BYTES_MAX), self.fallback, self.problems);
                    self.add_text(&subject);
                }
                *size_bytes
            }
            Body::Leaf(content) if part.content.is_text() => {
                let (decoded, is_clean) = decode(content, part.content.transfer);
                self.note_damage(is_clean);
                let reading = charset::reading(&decoded, part.content.charset.as_deref(), self.fallback);
                self.hashes.add_text(&self.look(part, &part.content.mime, &reading), &decoded);
                if is_chosen && !part.content.is_code() {
                    self.leaf_of_text(&part.content, &decoded);
                }
                decoded.len()
            }
            Body::Leaf(content) => self.leaf_of_data(part, content),
        }
    }

    /// Returns how a part looks, besides its content.
    fn look<'a>(&self, part: &'a Part<'_>, mime: &'a str, reading: &'a str) -> Look<'a> {
        let parent = part.parent.and_then(|number| self.parts.get(number));
        let is_related = parent.is_some_and(|parent| parent.content.mime == "multipart/related");
        Look { mime, parent: part.parent, content: &part.content, is_related, reading }
    }

    /// Takes note that the text from `start` on was attached.
    fn note_embedded(&mut self, start: usize) {
        let added = self.bodies.text.get(start..).unwrap_or_default().trim_start();
        if !added.is_empty() {
            let end = self.bodies.text.len();
            self.bodies.embedded.push(end.saturating_sub(added.len())..end);
        }
    }

    fn note_damage(&mut self, is_clean: bool) {
        if !is_clean {
            self.problems.add(Problem::TransferDamaged);
        }
    }

    fn leaf_of_data(&mut self, part: &Part<'_>, bytes: &[u8]) -> usize {
        let mut size_bytes = 0_usize;
        self.hashes.begin(&self.look(part, &part.content.mime, ""));
        let hashes = &mut self.hashes;
        let is_clean = decode_by_blocks(bytes, part.content.transfer, &mut self.block, |block| {
            size_bytes = size_bytes.saturating_add(block.len());
            hashes.content(block);
        });
        self.hashes.end();
        self.note_damage(is_clean);
        size_bytes
    }

    fn leaf_of_text(&mut self, content: &ContentFields, decoded: &[u8]) {
        let room = TEXT_BYTES_MAX.saturating_sub(self.bodies.text.len());
        // HTML is mostly markup, so more of it is needed for the same text.
        let factor = if content.is_html() { 16 } else { 2 };
        let bytes = cut_text(decoded, room.saturating_mul(factor).max(1 << 12));
        if bytes.len() < decoded.len() {
            self.problems.add(Problem::TextCut);
        }
        let label = content.charset.as_deref();
        let meta = if label.is_none() && content.is_html() { meta_charset(bytes) } else { None };
        let text = charset::decode(bytes, label.or(meta.as_deref()), self.fallback, self.problems);
        if content.is_html() {
            // One character more than there is room for, so that cutting is noticed.
            self.add_text(&html_to_text(&text, room.saturating_add(4)));
        } else {
            self.add_text(&text);
        }
    }

    /// Adds a text after those that are there, with LF for line ends and without NULs.
    fn add_text(&mut self, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let out = &mut self.bodies.text;
        if out.len().saturating_add(2) > TEXT_BYTES_MAX {
            return self.problems.add(Problem::TextCut);
        }
        if !out.is_empty() {
            out.push_str("\n\n");
        }
        let room = TEXT_BYTES_MAX.saturating_sub(out.len());
        let kept = cut(text, room);
        if kept.len() < text.len() {
            self.problems.add(Problem::TextCut);
        }
        let mut rest = kept;
        while let Some(at) = memchr::memchr2(b'\r', 0, rest.as_bytes()) {
            let (plain, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
            out.push_str(plain);
            if from.starts_with('\0') {
                self.problems.add(Problem::NulBytes);
            } else if !from.starts_with("\r\n") {
                out.push('\n');
            }
            rest = from.get(1..).unwrap_or_default();
        }
        out.push_str(rest);
    }

    fn attachment(&mut self, part: &Part<'_>, verdict: Verdict, size_bytes: usize) {
        if verdict == Verdict::Content {
            return;
        }
        self.bodies.has_attachment |= verdict == Verdict::Attached;
        if self.bodies.attachments.len() >= ATTACHMENT_COUNT_MAX {
            return self.problems.add(Problem::AttachmentsCut);
        }
        let content = &part.content;
        let (name, mime) = (content.name.clone(), content.mime.clone());
        self.bodies.attachments.push(Attachment { name, mime, size_bytes: size_bytes as u64 });
    }
}

/// Cuts bytes of text at a line end, so that no character is split.
fn cut_text(bytes: &[u8], length: usize) -> &[u8] {
    if bytes.len() <= length {
        return bytes;
    }
    let bytes = before(bytes, length);
    before(bytes, memchr::memrchr(b'\n', bytes).unwrap_or(bytes.len()))
}

/// Finds the charset that HTML names for itself, where its header names none.
pub(crate) fn meta_charset(html: &[u8]) -> Option<String> {
    let head = before(html, 1 << 10).to_ascii_lowercase();
    let start = memchr::memmem::find(&head, b"charset=")?;
    let value = after(&head, start.saturating_add(b"charset=".len()));
    let value = value.strip_prefix(b"\"").or_else(|| value.strip_prefix(b"'")).unwrap_or(value);
    let end = value.iter().position(|byte| !(byte.is_ascii_alphanumeric() || b"-_:.".contains(byte)))?;
    let label: Cow<'_, str> = String::from_utf8_lossy(before(value, end));
    // What names a charset in ASCII cannot be UTF-16.
    (!label.is_empty() && !label.starts_with("utf-16")).then(|| label.into_owned())
}
