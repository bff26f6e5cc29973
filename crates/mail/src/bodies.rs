//! Reads the contents of all parts of a message, each once: their text, hash and size.
//!
//! Parts come in, the text to be searched, the attachments and what is hashed of the parts go out. Knows
//! nothing of the message's own header.
//!
//! The text is that of all parts of text, attached ones and those of nested messages included, with the
//! subjects of these, in the order of the message. Of a multipart/alternative it has one form, which
//! `forms.rs` chooses; of the others the lines are kept that hold a word which the text lacks, so that all
//! words are found and none is there twice.
//!
//! Which of it was attached, as a message or as text, is told by its places in the text.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::borrow::Cow;
use std::ops::Range;

use encoding_rs::Encoding;

use crate::attachments::{Attachment, Verdict, verdict};
use crate::bytes::{before, cut};
use crate::charset;
use crate::content::ContentFields;
use crate::copy_hash::{Look, PartHashes};
use crate::far::{Far, TextBlocks};
use crate::forms::{Preferred, Words, choose};
use crate::headers::split;
use crate::limits::{ATTACHMENT_COUNT_MAX, FORM_COUNT_MAX, TEXT_BYTES_MAX, VALUE_BYTES_MAX};
use crate::part_text::{cut_text, label, part_text};
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
    pub(crate) other_forms: Vec<OtherForm>,
    pub(crate) attachments: Vec<Attachment>,
    /// Some part is an attachment, and not only embedded.
    pub(crate) has_attachment: bool,
}

/// Stands for a text that has other characters than ASCII.
const NOT_ASCII: &[u8] = b"\xff";

/// A form of the text, or of a piece of it, that is not shown, because another says the same better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherForm {
    /// Its type and subtype in lower case.
    pub mime: String,
    /// Its lines that hold a word which neither the text nor an earlier form has.
    pub text: String,
    /// It lies in a message within the message.
    pub is_embedded: bool,
}

/// Reads the contents of all parts, from `far` what is not in memory, and adds them to the hashes.
pub(crate) fn read_bodies(
    parts: &[Part<'_>],
    far: &mut dyn Far,
    (preferred, fallback): (Preferred, Option<&'static Encoding>),
    hashes: &mut PartHashes,
    problems: &mut Problems,
) -> Bodies {
    let is_chosen = choose(parts, preferred, fallback);
    let mut reader = Reader {
        bodies: Bodies::default(),
        parts,
        far,
        hashes,
        hashes_of_opened: PartHashes::of_named(),
        is_opened: false,
        block: Vec::new(),
        fallback,
        problems,
    };
    for (part, is_chosen) in parts.iter().zip(is_chosen) {
        let verdict = verdict(part, parts);
        let start = reader.bodies.text.len();
        reader.is_opened = is_in(part, parts, |body| matches!(body, Body::Sealed { .. }));
        let form_count = reader.bodies.other_forms.len();
        let size_bytes = reader.part(part, is_chosen);
        let is_message = |body: &Body<'_>| matches!(body, Body::Message { .. });
        if verdict != Verdict::Content || is_message(&part.body) || is_in(part, parts, is_message) {
            reader.note_embedded(start, form_count);
        }
        reader.attachment(part, verdict, size_bytes);
    }
    reader.keep_what_is_more();
    reader.bodies
}

/// Says whether a part lies in one whose body is such.
fn is_in(part: &Part<'_>, parts: &[Part<'_>], is_such: impl Fn(&Body<'_>) -> bool) -> bool {
    // A part stands behind the one that it lies in, so that this ends.
    let mut number = part.parent;
    while let Some(parent) = number.and_then(|number| parts.get(number)) {
        if is_such(&parent.body) {
            return true;
        }
        number = parent.parent;
    }
    false
}

struct Reader<'p> {
    bodies: Bodies,
    parts: &'p [Part<'p>],
    far: &'p mut dyn Far,
    hashes: &'p mut PartHashes,
    /// Take what came out of S/MIME, of which what it was in is hashed already; nobody reads them.
    hashes_of_opened: PartHashes,
    is_opened: bool,
    /// Memory for blocks of attachments.
    block: Vec<u8>,
    fallback: Option<&'static Encoding>,
    problems: &'p mut Problems,
}

impl Reader<'_> {
    fn hashes(&mut self) -> &mut PartHashes {
        if self.is_opened { &mut self.hashes_of_opened } else { self.hashes }
    }

    /// Reads one part and returns the size of its decoded content.
    fn part(&mut self, part: &Part<'_>, is_chosen: bool) -> usize {
        match (&part.far, &part.body) {
            (Some(range), Body::Leaf(head)) => return self.far_leaf(part, (head, range), is_chosen),
            (Some(range), Body::Sealed { .. }) => return self.far_leaf(part, (&[], range), false),
            _ => {}
        }
        match &part.body {
            Body::Multipart => {
                let look = self.look(part, &part.content.mime, "");
                self.hashes().add_container(&look);
                0
            }
            Body::Sealed { bytes, .. } => self.leaf_of_data(part, bytes),
            Body::Message { headers, size_bytes } => {
                let reading = charset::reading(headers, None, self.fallback);
                let look = self.look(part, "message/rfc822", &reading);
                self.hashes().add_text(&look, headers);
                if let Some(subject) = split(headers).first("subject") {
                    let subject = words::text(before(subject, VALUE_BYTES_MAX), self.fallback, self.problems);
                    self.add_text(&subject);
                }
                *size_bytes
            }
            Body::Leaf(content) if part.content.is_text() => {
                let (decoded, is_clean) = decode(content, part.content.transfer);
                self.note_damage(is_clean);
                let label = label(&part.content, &decoded);
                let reading = charset::reading(&decoded, label.as_deref(), self.fallback);
                let look = self.look(part, &part.content.mime, &reading);
                self.hashes().add_text(&look, &decoded);
                if !part.content.is_code() {
                    self.leaf_of_text(&part.content, &decoded, is_chosen);
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

    /// Returns what besides its bytes decides how data read: within S/MIME there may be text that names no charset.
    fn reading_of_data(&self, part: &Part<'_>) -> Cow<'static, str> {
        match &part.body {
            Body::Sealed { .. } => charset::reading(NOT_ASCII, None, self.fallback),
            _ => Cow::Borrowed(""),
        }
    }

    /// Reads a content of which only the beginning is in memory, if it is text, or nothing.
    fn far_leaf(&mut self, part: &Part<'_>, (head, range): (&[u8], &Range<u64>), is_chosen: bool) -> usize {
        let content = &part.content;
        let is_text = content.is_text() && !matches!(part.body, Body::Sealed { .. });
        let reading = if is_text {
            let (decoded, _) = decode(cut_text(head, head.len().saturating_sub(1)), content.transfer);
            if !content.is_code() {
                self.leaf_of_text(content, &decoded, is_chosen);
                self.problems.add(Problem::TextCut);
            }
            // Whether all of it is ASCII is not known yet.
            charset::reading(NOT_ASCII, label(content, &decoded).as_deref(), self.fallback)
        } else {
            self.reading_of_data(part)
        };
        let (mut size_bytes, mut text) = (0_usize, TextBlocks::default());
        self.hashes.begin(&self.look(part, &content.mime, &reading));
        let hashes = &mut self.hashes;
        let is_clean = self.far.each_block(range.clone(), content.transfer, &mut |block| {
            size_bytes = size_bytes.saturating_add(block.len());
            if is_text {
                text.add(block, &mut |text| hashes.content(text));
            } else {
                hashes.content(block);
            }
        });
        self.hashes.end();
        self.note_damage(is_clean);
        size_bytes
    }

    /// Takes note that the text from `start` on, and forms after the first `form_count`, were attached.
    fn note_embedded(&mut self, start: usize, form_count: usize) {
        self.bodies.other_forms.iter_mut().skip(form_count).for_each(|form| form.is_embedded = true);
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
        let reading = self.reading_of_data(part);
        let look = self.look(part, &part.content.mime, &reading);
        let hashes = if self.is_opened { &mut self.hashes_of_opened } else { &mut *self.hashes };
        hashes.begin(&look);
        let is_clean = decode_by_blocks(bytes, part.content.transfer, &mut self.block, |block| {
            size_bytes = size_bytes.saturating_add(block.len());
            hashes.content(block);
        });
        hashes.end();
        self.note_damage(is_clean);
        size_bytes
    }

    fn leaf_of_text(&mut self, content: &ContentFields, decoded: &[u8], is_chosen: bool) {
        let taken = if is_chosen {
            self.bodies.text.len()
        } else {
            self.bodies.other_forms.iter().fold(0, |sum: usize, form| sum.saturating_add(form.text.len()))
        };
        let room = TEXT_BYTES_MAX.saturating_sub(taken);
        let text = part_text(content, decoded, (room, self.fallback), self.problems);
        if is_chosen {
            self.add_text(&text);
        } else if self.bodies.other_forms.len() < FORM_COUNT_MAX {
            // NULs and line ends matter to nobody: of this text only words are looked for.
            let text = text.replace(['\r', '\0'], "\n");
            let mime = content.mime.clone();
            self.bodies.other_forms.push(OtherForm { mime, text, is_embedded: false });
        } else {
            self.problems.add(Problem::TextCut);
        }
    }

    /// Leaves of the forms that are not shown what they say more than the text, as far as there is room
    /// beside it.
    fn keep_what_is_more(&mut self) {
        self.bodies.other_forms.retain(|form| form.text.contains(char::is_alphanumeric));
        if self.bodies.other_forms.is_empty() {
            return;
        }
        let mut words = Words::default();
        words.add(&self.bodies.text);
        let mut room = TEXT_BYTES_MAX.saturating_sub(self.bodies.text.len());
        for form in &mut self.bodies.other_forms {
            form.text = words.lines_with_more(&form.text);
            let length = cut(&form.text, room).len();
            if length < form.text.len() {
                form.text.truncate(length);
                self.problems.add(Problem::TextCut);
            }
            room = room.saturating_sub(length);
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
