//! Reads the contents of all parts of a message, each once: their text, hash and size.
//!
//! Input: parts. Output: the text to be searched, the attachments, and the hashes of the parts. Knows nothing
//! of the message's own header.
//!
//! The text consists of all text parts in the order of the message, including attached ones, those of nested
//! messages, and the subjects of nested messages. Of a multipart/alternative it has one form, which
//! `alternatives.rs` chooses. Of the other forms, only lines with a word that the text lacks are kept, so
//! that all words are found and none is there twice.
//!
//! Ranges mark which parts of the text were attached, as a message or as text.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::borrow::Cow;
use std::ops::Range;

use encoding_rs::Encoding;

use crate::body::alternatives::{PreferredAlternative, Vocabulary, choose};
use crate::body::attachments::{Attachment, PartRole, role};
use crate::body::part_text::{cut_text, label, linked_part_text};
use crate::bytes::{before, cut};
use crate::decode::charset;
use crate::decode::encoded_words::decode_value;
use crate::decode::transfer::{decode, decode_by_blocks};
use crate::hash::copy_hash::{PartHashes, PartHeader};
use crate::hash::normalized_text::TextBlocks;
use crate::header::block::split;
use crate::limits::{ATTACHMENT_COUNT_MAX, FORM_COUNT_MAX, TEXT_BYTES_MAX, VALUE_BYTES_MAX};
use crate::mime::content_fields::ContentFields;
use crate::mime::content_source::ContentSource;
use crate::mime::parts::{Body, Part, is_inside};
use crate::problem::{Problem, Problems};
use crate::text::links::{Link, LinkList, Links};

/// What was read from the contents of a message.
#[derive(Default)]
pub(crate) struct Bodies {
    pub(crate) text: String,
    /// The ranges of attached texts in `text`.
    pub(crate) embedded: Vec<Range<usize>>,
    pub(crate) links: LinkList,
    pub(crate) other_forms: Vec<OtherForm>,
    pub(crate) attachments: Vec<Attachment>,
    /// At least one part is an attachment, and not only embedded.
    pub(crate) has_attachment: bool,
}

/// A sample of text that is not only ASCII.
const NOT_ASCII: &[u8] = b"\xff";

/// A form of the text, or of a piece of it, that is not shown because another form is better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherForm {
    /// Its type and subtype in lower case.
    pub mime: String,
    /// The lines with a word that neither the text nor an earlier form has.
    pub text: String,
    /// It is in an attached part or a nested message.
    pub is_embedded: bool,
}

/// Reads the contents of all parts, those not in memory from `source`, and adds them to the hashes.
pub(crate) fn read_bodies(
    parts: &[Part<'_>],
    source: &mut dyn ContentSource,
    (preferred, links, fallback): (PreferredAlternative, Links, Option<&'static Encoding>),
    hashes: &mut PartHashes,
    problems: &mut Problems,
) -> Bodies {
    let is_chosen = choose(parts, preferred, fallback);
    let mut reader = Reader {
        bodies: Bodies::default(),
        parts,
        source,
        hashes,
        hashes_of_opened: PartHashes::with_message_id(),
        is_opened: false,
        block: Vec::new(),
        fallback,
        links,
        problems,
    };
    for (part, is_chosen) in parts.iter().zip(is_chosen) {
        let role = role(part, parts);
        let start = reader.bodies.text.len();
        reader.is_opened = is_inside(part, parts, |body| matches!(body, Body::Smime { .. }));
        let form_count = reader.bodies.other_forms.len();
        let size_bytes = reader.part(part, is_chosen);
        let is_message = |body: &Body<'_>| matches!(body, Body::Message { .. });
        if role != PartRole::Content || is_message(&part.body) || is_inside(part, parts, is_message) {
            reader.note_embedded(start, form_count);
        }
        reader.attachment(part, role, size_bytes);
    }
    reader.keep_new_lines();
    reader.bodies
}

struct Reader<'p> {
    bodies: Bodies,
    parts: &'p [Part<'p>],
    source: &'p mut dyn ContentSource,
    hashes: &'p mut PartHashes,
    /// Discards the hashes of content extracted from S/MIME: the S/MIME content itself is hashed already.
    hashes_of_opened: PartHashes,
    is_opened: bool,
    /// A buffer for blocks of attachments.
    block: Vec<u8>,
    fallback: Option<&'static Encoding>,
    links: Links,
    problems: &'p mut Problems,
}

impl Reader<'_> {
    fn hashes(&mut self) -> &mut PartHashes {
        if self.is_opened { &mut self.hashes_of_opened } else { self.hashes }
    }

    /// Reads one part and returns the size of its decoded content.
    fn part(&mut self, part: &Part<'_>, is_chosen: bool) -> usize {
        match (&part.unloaded, &part.body) {
            (Some(range), Body::Leaf(head)) => return self.unloaded_leaf(part, (head, range), is_chosen),
            (Some(range), Body::Smime { .. }) => return self.unloaded_leaf(part, (&[], range), false),
            _ => {}
        }
        match &part.body {
            Body::Multipart => {
                let header = self.header(part, &part.content.mime, "");
                self.hashes().add_container(&header);
                0
            }
            Body::Smime { bytes, .. } => self.leaf_of_data(part, bytes),
            Body::Message { headers, size_bytes, .. } => {
                let decoding_key = charset::decoding_key(headers, None, self.fallback);
                let header = self.header(part, "message/rfc822", &decoding_key);
                self.hashes().add_text(&header, headers);
                if let Some(subject) = split(headers).first("subject") {
                    let subject =
                        decode_value(before(subject, VALUE_BYTES_MAX), self.fallback, self.problems);
                    self.add_text(&subject);
                }
                *size_bytes
            }
            Body::Leaf(content) if part.content.is_text() => {
                let (decoded, is_clean) = decode(content, part.content.transfer);
                self.note_damage(is_clean);
                let label = label(&part.content, &decoded);
                let decoding_key = charset::decoding_key(&decoded, label.as_deref(), self.fallback);
                let header = self.header(part, &part.content.mime, &decoding_key);
                self.hashes().add_text(&header, &decoded);
                if !part.content.is_code() {
                    self.leaf_of_text(&part.content, &decoded, is_chosen);
                }
                decoded.len()
            }
            Body::Leaf(content) => self.leaf_of_data(part, content),
        }
    }

    /// Returns everything hashed of a part except its content.
    fn header<'a>(&self, part: &'a Part<'_>, mime: &'a str, decoding_key: &'a str) -> PartHeader<'a> {
        let parent = part.parent.and_then(|number| self.parts.get(number));
        let is_related = parent.is_some_and(|parent| parent.content.mime == "multipart/related");
        PartHeader { mime, parent: part.parent, content: &part.content, is_related, decoding_key }
    }

    /// Returns the decoding key of a part that is not text: S/MIME may contain text without a charset.
    fn decoding_key_of_data(&self, part: &Part<'_>) -> Cow<'static, str> {
        match &part.body {
            Body::Smime { .. } => charset::decoding_key(NOT_ASCII, None, self.fallback),
            _ => Cow::Borrowed(""),
        }
    }

    /// Reads a content that is not in memory, or only the beginning of it if it is text.
    fn unloaded_leaf(
        &mut self,
        part: &Part<'_>,
        (head, range): (&[u8], &Range<u64>),
        is_chosen: bool,
    ) -> usize {
        let content = &part.content;
        let is_text = content.is_text() && !matches!(part.body, Body::Smime { .. });
        let decoding_key = if is_text {
            let (decoded, _) = decode(cut_text(head, head.len().saturating_sub(1)), content.transfer);
            if !content.is_code() {
                self.leaf_of_text(content, &decoded, is_chosen);
                self.problems.add(Problem::TextCut);
            }
            // It is not known yet whether all of it is ASCII.
            charset::decoding_key(NOT_ASCII, label(content, &decoded).as_deref(), self.fallback)
        } else {
            self.decoding_key_of_data(part)
        };
        let (mut size_bytes, mut text) = (0_usize, TextBlocks::default());
        self.hashes.begin(&self.header(part, &content.mime, &decoding_key));
        let hashes = &mut self.hashes;
        let is_clean = self.source.each_block(range.clone(), content.transfer, &mut |block| {
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

    /// Marks the text from `start` on, and the forms after the first `form_count`, as attached.
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
        let decoding_key = self.decoding_key_of_data(part);
        let header = self.header(part, &part.content.mime, &decoding_key);
        let hashes = if self.is_opened { &mut self.hashes_of_opened } else { &mut *self.hashes };
        hashes.begin(&header);
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
        let wanted = (room, self.fallback, if is_chosen { self.links } else { Links::Ignored });
        let (text, links) = linked_part_text(content, decoded, wanted, self.problems);
        if is_chosen {
            self.add_linked_text(&text, links);
        } else if self.bodies.other_forms.len() < FORM_COUNT_MAX {
            // NULs and line ends do not matter here: only words of this text are searched.
            let text = text.replace(['\r', '\0'], "\n");
            let mime = content.mime.clone();
            self.bodies.other_forms.push(OtherForm { mime, text, is_embedded: false });
        } else {
            self.problems.add(Problem::TextCut);
        }
    }

    /// Reduces the forms that are not shown to the lines that add words, as far as there is room beside the
    /// text.
    fn keep_new_lines(&mut self) {
        self.bodies.other_forms.retain(|form| form.text.contains(char::is_alphanumeric));
        if self.bodies.other_forms.is_empty() {
            return;
        }
        let mut words = Vocabulary::default();
        words.add(&self.bodies.text);
        let mut room = TEXT_BYTES_MAX.saturating_sub(self.bodies.text.len());
        for form in &mut self.bodies.other_forms {
            form.text = words.lines_with_new_words(&form.text);
            let length = cut(&form.text, room).len();
            if length < form.text.len() {
                form.text.truncate(length);
                self.problems.add(Problem::TextCut);
            }
            room = room.saturating_sub(length);
        }
    }

    /// Appends a text, and its links with their ranges in all of the text.
    fn add_linked_text(&mut self, text: &str, links: LinkList) {
        let before = self.bodies.text.len();
        self.add_text(text);
        if links.list.is_empty() {
            return;
        }
        let end = self.bodies.text.len();
        let gap = if before > 0 && end > before { "\n\n".len() } else { 0 };
        let place = AddedText::new(text, before.saturating_add(gap)..end);
        let all = &mut self.bodies.links;
        all.left_out_count = all.left_out_count.saturating_add(links.left_out_count);
        for link in links.list {
            let range = place.of(link.text.start)..place.of(link.text.end);
            all.add(Link { text: range, part_end: end, ..link });
        }
    }

    /// Appends a text, with LF for line ends and without NULs.
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

    fn attachment(&mut self, part: &Part<'_>, role: PartRole, size_bytes: usize) {
        if role == PartRole::Content {
            return;
        }
        self.bodies.has_attachment |= role == PartRole::Attached;
        if self.bodies.attachments.len() >= ATTACHMENT_COUNT_MAX {
            return self.problems.add(Problem::AttachmentsCut);
        }
        let content = &part.content;
        let (name, mime) = (content.name.clone(), content.mime.clone());
        self.bodies.attachments.push(Attachment { name, mime, size_bytes: size_bytes as u64 });
    }
}

/// The ranges of appended text after white space at its ends, NULs, and CRs before line feeds were removed.
struct AddedText {
    place: Range<usize>,
    /// Bytes of white space before it.
    blank: usize,
    /// The offsets of removed bytes, in ascending order.
    left_out: Vec<usize>,
}

impl AddedText {
    fn new(text: &str, place: Range<usize>) -> AddedText {
        let blank = text.len().saturating_sub(text.trim_start().len());
        let bytes = text.as_bytes();
        let is_left_out = |at: &usize| {
            matches!(
                (bytes.get(*at), bytes.get(at.saturating_add(1))),
                (Some(b'\0'), _) | (Some(b'\r'), Some(b'\n'))
            )
        };
        let left_out = memchr::memchr2_iter(b'\r', 0, bytes).filter(is_left_out).filter(|at| *at >= blank);
        AddedText { place, blank, left_out: left_out.collect() }
    }

    /// Returns where a place of the text is now.
    fn of(&self, at: usize) -> usize {
        let left_out = self.left_out.partition_point(|left_out| *left_out < at);
        let within = at.saturating_sub(self.blank).saturating_sub(left_out);
        self.place.start.saturating_add(within).min(self.place.end)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Context, Links, Message, parse};

    fn parsed(message: &str, links: Links) -> Message {
        parse(message.as_bytes(), &Context { links, ..Context::new(1_700_000_000) })
    }

    /// Shows links as `text -> target, end of the part`.
    fn links(message: &Message) -> Vec<String> {
        let shown = |link: &crate::Link| {
            format!("{} -> {}, {}", &message.text[link.text.clone()], link.target, link.part_end)
        };
        message.links.list.iter().map(shown).collect()
    }

    #[test]
    fn links_are_those_of_the_text_that_is_shown_and_change_nothing_else() {
        let html = "--b\nContent-Type: text/html\n\n<pre>  x\0y\r&#13;&#10;\n<a href=https://a/>one\0 1</a>\
            </pre> &#13;<a href=https://b/>tw\u{f6}</a>\n";
        let message = format!(
            "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nplain https://p/\n{html}{html}--b--\n"
        );
        let with = parsed(&message, Links::Listed);
        assert_eq!(with.text, "plain https://p/\n\nxy\n\none 1\ntw\u{f6}\n\nxy\n\none 1\ntw\u{f6}");
        assert_eq!(
            links(&with),
            [
                "one 1 -> https://a/, 32",
                "tw\u{f6} -> https://b/, 32",
                "one 1 -> https://a/, 48",
                "tw\u{f6} -> https://b/, 48"
            ]
        );
        let without = parsed(&message, Links::Ignored);
        assert!(without.links.list.is_empty() && without.copy_hash.is_some());
        assert_eq!(Message { links: without.links.clone(), ..with }, without);
    }

    #[test]
    fn a_form_that_is_not_shown_has_no_links() {
        let message = "Content-Type: multipart/alternative; boundary=b\n\n--b\n\nsee the page\n--b\n\
            Content-Type: text/html\n\nsee <a href=https://a/>the page</a>\n--b--\n";
        assert_eq!(links(&parsed(message, Links::Listed)), [""; 0]);
    }

    #[test]
    fn all_parts_together_have_so_many_links() {
        let part = format!("--b\nContent-Type: text/html\n\n{}\n", "<a href=https://a/>x</a> ".repeat(300));
        let message = format!("Content-Type: multipart/mixed; boundary=b\n\n{part}{part}--b--\n");
        let found = parsed(&message, Links::Listed).links;
        assert_eq!((found.list.len(), found.left_out_count), (crate::limits::LINK_COUNT_MAX, 100));
    }
}
