//! Reads the contents of all parts of a message, each once: their text, hash and size.
//!
//! Parts come in, the text to be searched, the hash of the bodies and the attachments go out. Knows nothing of the
//! message's own header.
//!
//! The text is that of all parts of text, attached ones and those of nested messages included, with the
//! subjects of these, in the order of the message. Of a multipart/alternative it has one form, which
//! `forms.rs` chooses; of the others the lines are kept that hold a word which the text lacks, so that all
//! words are found and none is there twice.
//!
//! Which of it was attached, as a message or as text, is told by its places in the text.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::ops::Range;

use encoding_rs::Encoding;

use crate::attachments::{Attachment, Verdict, verdict};
use crate::body_hash::BodyHash;
use crate::bytes::{before, cut};
use crate::content::ContentFields;
use crate::forms::{Preferred, Words, choose};
use crate::headers::split;
use crate::limits::{ATTACHMENT_COUNT_MAX, FORM_COUNT_MAX, TEXT_BYTES_MAX, VALUE_BYTES_MAX};
use crate::part_text::part_text;
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
    pub(crate) hash: u128,
    pub(crate) attachments: Vec<Attachment>,
    /// Some part is an attachment, and not only embedded.
    pub(crate) has_attachment: bool,
}

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

/// Reads the contents of all parts.
pub(crate) fn read_bodies(
    parts: &[Part<'_>],
    (preferred, fallback): (Preferred, Option<&'static Encoding>),
    problems: &mut Problems,
) -> Bodies {
    let is_chosen = choose(parts, preferred, fallback);
    let mut reader = Reader {
        bodies: Bodies::default(),
        hash: BodyHash::default(),
        hash_of_opened: BodyHash::default(),
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
    let mut bodies = reader.bodies;
    bodies.hash = reader.hash.finish();
    bodies
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
    hash: BodyHash,
    /// Takes what came out of S/MIME, of which what it was in is hashed already; nobody reads it.
    hash_of_opened: BodyHash,
    is_opened: bool,
    /// Memory for blocks of attachments.
    block: Vec<u8>,
    fallback: Option<&'static Encoding>,
    problems: &'p mut Problems,
}

impl Reader<'_> {
    fn hash(&mut self) -> &mut BodyHash {
        if self.is_opened { &mut self.hash_of_opened } else { &mut self.hash }
    }

    /// Reads one part and returns the size of its decoded content.
    fn part(&mut self, part: &Part<'_>, is_chosen: bool) -> usize {
        match &part.body {
            Body::Multipart => 0,
            Body::Sealed { bytes, .. } => self.leaf_of_data(&part.content, bytes),
            Body::Message { headers, size_bytes } => {
                self.hash().add_text("message/rfc822", headers);
                if let Some(subject) = split(headers).first("subject") {
                    let subject = words::text(before(subject, VALUE_BYTES_MAX), self.fallback, self.problems);
                    self.add_text(&subject);
                }
                *size_bytes
            }
            Body::Leaf(content) if part.content.is_text() => {
                let (decoded, is_clean) = decode(content, part.content.transfer);
                self.note_damage(is_clean);
                self.hash().add_text(&part.content.mime, &decoded);
                if !part.content.is_code() {
                    self.leaf_of_text(&part.content, &decoded, is_chosen);
                }
                decoded.len()
            }
            Body::Leaf(content) => self.leaf_of_data(&part.content, content),
        }
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

    fn leaf_of_data(&mut self, content: &ContentFields, bytes: &[u8]) -> usize {
        let mut size_bytes = 0_usize;
        let hash = if self.is_opened { &mut self.hash_of_opened } else { &mut self.hash };
        hash.begin(&content.mime);
        let is_clean = decode_by_blocks(bytes, content.transfer, &mut self.block, |block| {
            size_bytes = size_bytes.saturating_add(block.len());
            hash.content(block);
        });
        hash.end();
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
