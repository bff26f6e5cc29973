//! Parses a message.
//!
//! Input: the bytes of a message. Output: a `Message`, whatever the bytes are: missing fields are derived,
//! broken ones are guessed, and anything beyond a limit is left out, each with a problem. Nothing here
//! panics, and the time grows linearly with the message. Does not depend on files or on how messages are
//! stored.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::ops::Range;

use encoding_rs::Encoding;
use xxhash_rust::xxh3::Xxh3;

use crate::body::read::read_bodies;
use crate::bytes::{before, with_line_feeds};
use crate::decode::charset;
use crate::decode::encoded_words::decode_value;
use crate::hash::copy_hash::{CopyHash, PartHashes};
use crate::header::addresses::parse_addresses;
use crate::header::block::{Block, skip_envelope, split};
use crate::header::dates;
use crate::header::mailbox::Address;
use crate::header::message_ids;
use crate::limits::{LIST_BYTES_MAX, MIME_TYPE_COUNT_MAX, NAMED_FIELD_COUNT_MAX, VALUE_BYTES_MAX};
use crate::message::content_flags::{self, ContentFlags};
use crate::message::model::{Context, Message};
use crate::mime::content_source::{ContentSource, NoSource};
use crate::mime::parts::{Part, take_apart};
use crate::problem::{Problem, Problems};
use crate::text::language::language;
use crate::text::snippet::snippet;

/// Parses a message. Every sequence of bytes is a message.
#[must_use]
pub fn parse(bytes: &[u8], context: &Context<'_>) -> Message {
    let bytes = with_line_feeds(bytes);
    let block = split(skip_envelope(&bytes));
    let mut problems = Problems::default();
    if block.fields.is_empty() {
        problems.add(Problem::NoHeader);
    }
    let parts = take_apart(&block, &mut problems);
    assemble(&block, &parts, &mut NoSource, context, problems)
}

/// Builds a message from its header and its parts, and reads contents that are not in memory from `source`.
pub(crate) fn assemble(
    block: &Block<'_>,
    parts: &[Part<'_>],
    source: &mut dyn ContentSource,
    context: &Context<'_>,
    mut problems: Problems,
) -> Message {
    let fallback = parts.iter().find_map(|part| charset::encoding(part.content.charset.as_deref()?));
    let own_id = block.first("message-id").and_then(message_ids::message_id);
    let mut hashes =
        if own_id.is_some() { PartHashes::with_message_id() } else { PartHashes::without_message_id() };
    let options = (context.preferred, context.links, fallback);
    let bodies = read_bodies(parts, source, options, &mut hashes, &mut problems);
    let (mut copy_hash, body_hash) = hashes.finish();
    let mut header = Header { block, fallback, problems: &mut problems };

    let from = header.addresses("from");
    let to = header.addresses("to");
    let cc = header.addresses("cc");
    let bcc = header.addresses("bcc");
    let reply_to = header.addresses("reply-to");
    let subject = header.text("subject");
    let headers = header.named(context.headers);
    header.hash(&mut copy_hash);
    let in_reply_to = header.ids("in-reply-to", message_ids::in_reply_to);
    let references = header.ids("references", message_ids::references);
    let references = message_ids::merge(references, &in_reply_to, &mut problems);
    let in_reply_to = message_ids::merge(in_reply_to, &[], &mut problems);
    let (message_id, message_id_derived) = message_id(block, (own_id, body_hash), &mut problems);
    let date = dates::choose(block.first("date"), block.all("received"), context.now_seconds, &mut problems);

    let mut flags = content_flags::flags_of(block, parts);
    flags.insert(content_flags::flags_of_text(&bodies.text));
    if date.is_none() {
        flags.insert(ContentFlags::UNDATED);
    }
    if bodies.has_attachment {
        flags.insert(ContentFlags::ATTACHMENT);
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
        date,
        list_id: content_flags::list_id(block, fallback, &mut problems),
        attachments: bodies.attachments,
        mime_types: mime_types(parts),
        snippet: snippet(&bodies.text),
        language: language(author_text(&bodies.text, &bodies.embedded)),
        text: bodies.text,
        links: bodies.links,
        other_forms: bodies.other_forms,
        embedded: bodies.embedded,
        copy_hash: None,
        flags,
        labels: content_flags::labels(block, fallback, &mut problems),
        headers,
        problems: Vec::new(),
    };
    hash_header(&mut copy_hash, &message);
    message.copy_hash = (!problems.is_cut()).then(|| copy_hash.finish());
    message.problems = problems.into_list();
    message
}

/// Returns the text before the first attached text, or all of it if there is nothing before.
fn author_text<'a>(text: &'a str, embedded: &[Range<usize>]) -> &'a str {
    let own = embedded.first().and_then(|first| text.get(..first.start)).unwrap_or(text);
    if own.is_empty() { text } else { own }
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
        decode_value(value, self.fallback, self.problems)
    }

    /// Returns all fields of these names that have a value.
    fn named(&mut self, names: &[String]) -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = Vec::new();
        for name in names {
            for value in self.block.all(name).take(NAMED_FIELD_COUNT_MAX) {
                let value = decode_value(
                    limited(value, VALUE_BYTES_MAX, self.problems),
                    self.fallback,
                    self.problems,
                );
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

    /// Hashes the text fields that a reader sees: every occurrence, because programs differ in which of two
    /// they show. Of the priority, the sender's counts, because lists add theirs.
    fn hash(&mut self, hash: &mut CopyHash) {
        for name in ["subject", "date"] {
            let mut values = Vec::new();
            for value in self.block.all(name) {
                let value = limited(value, VALUE_BYTES_MAX, self.problems);
                values.push(decode_value(value, self.fallback, self.problems));
            }
            // Empty ones look the same as none.
            let values = if values.iter().all(String::is_empty) { Vec::new() } else { values };
            hash.add_field(name, &values.iter().map(String::as_str).collect::<Vec<_>>());
        }
        let priority = content_flags::senders_priority(self.block).bits().to_string();
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

/// Hashes what a reader sees of the header, except text fields.
///
/// From, To, Cc, Bcc and Reply-To count by their parsed addresses, since programs fold and quote them
/// differently. Bcc counts although only the sender's copy has it: otherwise it would be lost when a copy
/// without it is shown. References and In-Reply-To count in their merged form, because they place the message
/// in its conversation. Labels count because they are tags: a stranger's copy must not add any. Sender does
/// not count: lists replace it, and nothing shows it.
fn hash_header(hash: &mut CopyHash, message: &Message) {
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

/// Cuts a value that is too long, at a UTF-8 character boundary.
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

/// Returns the message's own ID, or one derived from the hash of its bodies, and whether it is derived.
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

/// Derives an ID that does not depend on how the message was transported: the XXH3-128 of the fields Date,
/// From, To, Cc and Subject, without their white space and each followed by a zero byte, and of the hash of
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
