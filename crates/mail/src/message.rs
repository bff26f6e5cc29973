//! What a message is, and how its bytes become one.
//!
//! The bytes of a message come in, a `Message` goes out, whatever the bytes are: what is missing is derived, what is
//! broken is guessed, what is too much is left out, and the problems say so. Nothing here panics, nothing takes time
//! that grows faster than the message. Knows nothing of files and of how messages are kept.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::borrow::Cow;
use std::ops::Range;

use encoding_rs::Encoding;
use xxhash_rust::xxh3::Xxh3;

use crate::addresses::parse_addresses;
use crate::attachments::Attachment;
use crate::bodies::read_bodies;
use crate::bytes::before;
use crate::charset;
use crate::copy_hash::{CopyHash, PartHashes};
use crate::dates::{self, DateSource};
use crate::derived::{self, Derived};
use crate::headers::{Block, skip_envelope, split};
use crate::ids;
use crate::language::language;
use crate::limits::{LIST_BYTES_MAX, MIME_TYPE_COUNT_MAX, NAMED_FIELD_COUNT_MAX, VALUE_BYTES_MAX};
use crate::mailbox::Address;
use crate::parts::{Part, take_apart};
use crate::problem::{Problem, Problems};
use crate::snippet::snippet;
use crate::words;

/// What a message cannot say of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Context<'a> {
    /// The modification time of its file, its date where it names none.
    pub file_mtime_seconds: i64,
    /// The time now; dates far ahead of it are not believed.
    pub now_seconds: i64,
    /// Names of header fields that are wanted as they are, besides those that a message has anyway.
    pub headers: &'a [String],
}

impl Context<'_> {
    /// Returns what a message cannot say of itself; no further header fields are wanted.
    #[must_use]
    pub const fn new(file_mtime_seconds: i64, now_seconds: i64) -> Context<'static> {
        Context { file_mtime_seconds, now_seconds, headers: &[] }
    }
}

/// A message taken apart. All strings are UTF-8; those of the header are one line, without NULs, but may hold other control
/// characters, which are for whoever shows them to deal with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The decoded subject.
    pub subject: String,
    /// From.
    pub from: Vec<Address>,
    /// To.
    pub to: Vec<Address>,
    /// Cc.
    pub cc: Vec<Address>,
    /// Bcc.
    pub bcc: Vec<Address>,
    /// Reply-To.
    pub reply_to: Vec<Address>,
    /// The Message-ID without its brackets, or one derived from the content: 32 hexadecimal digits and `@derived.pneu`.
    pub message_id: String,
    /// The Message-ID was derived.
    pub message_id_derived: bool,
    /// The ids of References and In-Reply-To, each once, the oldest first, what the message answers last.
    pub references: Vec<String>,
    /// The ids of In-Reply-To.
    pub in_reply_to: Vec<String>,
    /// Seconds since 1970, UTC.
    pub date_seconds: i64,
    /// Where the date comes from.
    pub date_source: DateSource,
    /// The id of the mailing list, or empty.
    pub list_id: String,
    /// The attachments, in their order.
    pub attachments: Vec<Attachment>,
    /// The types of all parts, in lower case, each once.
    pub mime_types: Vec<String>,
    /// The text of all parts, HTML as text; lines end with LF.
    pub text: String,
    /// The places in `text` of what was attached: messages within the message, and files of text.
    pub embedded: Vec<Range<usize>>,
    /// The language of the text that its writer wrote (ISO 639-1), or empty where that is not certain.
    pub language: &'static str,
    /// The first words of the text that its writer wrote.
    pub snippet: String,
    /// The hash of what a reader sees; the same for copies that came different ways, and for nothing else.
    /// None if a limit cut anything that counts: then nothing is known to be a copy. See `copy_hash.rs`.
    pub copy_hash: Option<u128>,
    /// What follows from the content.
    pub flags: Derived,
    /// The labels of X-Keywords, X-Label and Keywords.
    pub labels: Vec<String>,
    /// Header fields that the context names, with the name as there and the decoded value: each field that is there, in the
    /// context's order.
    pub headers: Vec<(String, String)>,
    /// What is wrong with the message.
    pub problems: Vec<Problem>,
}

/// Takes a message apart. Every sequence of bytes is a message.
#[must_use]
pub fn parse(bytes: &[u8], context: &Context<'_>) -> Message {
    let bytes = with_line_feeds(bytes);
    let block = split(skip_envelope(&bytes));
    let mut problems = Problems::default();
    if block.fields.is_empty() {
        problems.add(Problem::NoHeader);
    }
    let parts = take_apart(&block, &mut problems);
    let fallback = parts.iter().find_map(|part| charset::encoding(part.content.charset.as_deref()?));
    let own_id = block.first("message-id").and_then(ids::message_id);
    let mut hashes = if own_id.is_some() { PartHashes::of_named() } else { PartHashes::of_nameless() };
    let bodies = read_bodies(&parts, fallback, &mut hashes, &mut problems);
    let (mut copy_hash, body_hash) = hashes.finish();
    let mut header = Header { block: &block, fallback, problems: &mut problems };

    let from = header.addresses("from");
    let to = header.addresses("to");
    let cc = header.addresses("cc");
    let bcc = header.addresses("bcc");
    let reply_to = header.addresses("reply-to");
    let subject = header.text("subject");
    let headers = header.named(context.headers);
    header.hash(&mut copy_hash);
    let in_reply_to = header.ids("in-reply-to", ids::in_reply_to);
    let references = header.ids("references", ids::references);
    let references = ids::merge(references, &in_reply_to, &mut problems);
    let in_reply_to = ids::merge(in_reply_to, &[], &mut problems);
    let (message_id, message_id_derived) = message_id(&block, (own_id, body_hash), &mut problems);
    let (date_seconds, date_source) =
        dates::choose(block.first("date"), block.all("received"), context, &mut problems);

    let mut flags = derived::flags_of(&block, &parts);
    flags.insert(derived::flags_of_text(&bodies.text));
    if bodies.has_attachment {
        flags.insert(Derived::ATTACHMENT);
    }
    let mut message = Message {
        subject,
        from,
        to,
        cc,
        bcc,
        reply_to,
        message_id,
        message_id_derived,
        references,
        in_reply_to,
        date_seconds,
        date_source,
        list_id: derived::list_id(&block, fallback, &mut problems),
        attachments: bodies.attachments,
        mime_types: mime_types(&parts),
        snippet: snippet(&bodies.text),
        language: language(own_text(&bodies.text, &bodies.embedded)),
        text: bodies.text,
        embedded: bodies.embedded,
        copy_hash: None,
        flags,
        labels: derived::labels(&block, fallback, &mut problems),
        headers,
        problems: Vec::new(),
    };
    add_seen(&mut copy_hash, &message);
    message.copy_hash = (!problems.is_cut()).then(|| copy_hash.finish());
    message.problems = problems.into_list();
    message
}

impl Message {
    /// Returns the texts that were attached.
    pub fn embedded_texts(&self) -> impl Iterator<Item = &str> {
        self.embedded.iter().filter_map(|place| self.text.get(place.clone()))
    }
}

/// Returns the text before the first that was attached; all of it if nothing else is there.
fn own_text<'a>(text: &'a str, embedded: &[Range<usize>]) -> &'a str {
    let own = embedded.first().and_then(|first| text.get(..first.start)).unwrap_or(text);
    if own.is_empty() { text } else { own }
}

/// Replaces CRs by LFs in a message that has no LF at all, as old Macintoshes wrote.
pub(crate) fn with_line_feeds(bytes: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\n', bytes).is_some() || memchr::memchr(b'\r', bytes).is_none() {
        return Cow::Borrowed(bytes);
    }
    Cow::Owned(bytes.iter().map(|&byte| if byte == b'\r' { b'\n' } else { byte }).collect())
}

/// The message's own header block, and how to decode it.
struct Header<'a, 'p> {
    block: &'a Block<'a>,
    fallback: Option<&'static Encoding>,
    problems: &'p mut Problems,
}

impl Header<'_, '_> {
    fn text(&mut self, name: &str) -> String {
        let Some(value) = self.block.first(name) else { return String::new() };
        let value = limited(value, VALUE_BYTES_MAX, self.problems);
        words::text(value, self.fallback, self.problems)
    }

    /// Returns all fields of these names that have a value.
    fn named(&mut self, names: &[String]) -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = Vec::new();
        for name in names {
            for value in self.block.all(name).take(NAMED_FIELD_COUNT_MAX) {
                let value =
                    words::text(limited(value, VALUE_BYTES_MAX, self.problems), self.fallback, self.problems);
                if !value.is_empty() {
                    found.push((name.clone(), value));
                }
            }
        }
        found
    }

    fn addresses(&mut self, name: &str) -> Vec<Address> {
        let mut addresses = Vec::new();
        for value in self.block.all(name) {
            let value = limited(value, LIST_BYTES_MAX, self.problems);
            parse_addresses(value, self.fallback, &mut addresses, self.problems);
        }
        addresses
    }

    /// Adds what a reader sees of fields that are text: each of them, because programs differ in which of two
    /// they show. Of the priority counts what the sender says: lists add theirs.
    fn hash(&mut self, hash: &mut CopyHash) {
        for name in ["subject", "date"] {
            let mut values = Vec::new();
            for value in self.block.all(name) {
                let value = limited(value, VALUE_BYTES_MAX, self.problems);
                values.push(words::text(value, self.fallback, self.problems));
            }
            // Empty ones look like none.
            let values = if values.iter().all(String::is_empty) { Vec::new() } else { values };
            hash.add_field(name, &values.iter().map(String::as_str).collect::<Vec<_>>());
        }
        let priority = derived::senders_priority(self.block).bits().to_string();
        hash.add_field("priority", &[&priority]);
    }

    fn ids(&mut self, name: &str, read: fn(&[u8]) -> Vec<String>) -> Vec<String> {
        let mut found = Vec::new();
        for value in self.block.all(name) {
            found.extend(read(limited(value, LIST_BYTES_MAX, self.problems)));
        }
        found
    }
}

/// Adds what a reader sees of the header besides fields of text.
///
/// From, To, Cc, Bcc and Reply-To count as the addresses they are, since programs fold and quote them
/// differently. Bcc counts though only the sender's copy has it: hidden behind a copy without, it would be
/// lost. References and In-Reply-To count, put together as they are shown, because they say where the message
/// stands in its conversation. So do labels, since they are tags: a stranger's copy must not bring any.
/// Sender does not: lists replace it, and nothing shows it.
fn add_seen(hash: &mut CopyHash, message: &Message) {
    hash.add_field("message-id", &[&message.message_id]);
    for (name, addresses) in [
        ("from", &message.from),
        ("to", &message.to),
        ("cc", &message.cc),
        ("bcc", &message.bcc),
        ("reply-to", &message.reply_to),
    ] {
        let values = addresses.iter().flat_map(|one| [one.name.as_str(), one.address.as_str()]);
        hash.add_field(name, &values.collect::<Vec<_>>());
    }
    for (name, values) in [("references", &message.references), ("labels", &message.labels)] {
        hash.add_field(name, &values.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

/// Cuts a value that is too long, at a character of UTF-8.
fn limited<'a>(value: &'a [u8], length: usize, problems: &mut Problems) -> &'a [u8] {
    if value.len() <= length {
        return value;
    }
    problems.add(Problem::HeaderCut);
    let is_middle = |at: usize| value.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let start = length.saturating_sub(3);
    let end = (start..=length).rev().find(|&at| !is_middle(at)).unwrap_or(length);
    before(value, end)
}

/// Returns the message's own id, or one derived from the hash of its bodies, and whether it was.
fn message_id(
    block: &Block<'_>,
    (own_id, body_hash): (Option<String>, Option<u128>),
    problems: &mut Problems,
) -> (String, bool) {
    if let Some(id) = own_id {
        return (id, false);
    }
    problems.add(Problem::MessageIdMissing);
    (derive_id(block, body_hash.unwrap_or_default()), true)
}

/// Derives an id that stays the same as long as the message does, whatever happens to it on its way: the XXH3-128 of the
/// fields Date, From, To, Cc and Subject, without their white space and each followed by a zero byte, and of the hash of
/// the bodies.
fn derive_id(block: &Block<'_>, body_hash: u128) -> String {
    let mut hasher = Xxh3::new();
    for name in ["date", "from", "to", "cc", "subject"] {
        let value = block.first(name).unwrap_or_default();
        value.split(u8::is_ascii_whitespace).for_each(|word| hasher.update(word));
        hasher.update(&[0]);
    }
    hasher.update(&body_hash.to_le_bytes());
    format!("{:032x}@derived.pneu", hasher.digest128())
}

fn mime_types(parts: &[Part<'_>]) -> Vec<String> {
    let mut types: Vec<String> = Vec::new();
    for part in parts {
        if types.len() < MIME_TYPE_COUNT_MAX && !types.contains(&part.content.mime) {
            types.push(part.content.mime.clone());
        }
    }
    types
}
