//! Parses new messages: their text goes to a text segment, the rest waits to become rows.
//!
//! Input: contents that were read, with the numbers of their messages. Output: documents of the text index,
//! and what the rows need. It depends on nothing but the content, so many threads do it at a time and no
//! lock is needed. Must not know files, nor which messages the index has.

use crate::attached::{Asking, Attached};
use crate::error::Result;
use crate::pass::commit::contents::Read;
use crate::pass::commit::link::Ids;
use crate::record::{self, Contact, LineRecord, Rest};
use crate::rows;
use crate::tables::message_id_hash;
use crate::text::{Document, Documents, TextField, ValueField};
use std::collections::BTreeSet;

/// New messages with their numbers, to be parsed together.
pub(in crate::pass) type Task = Vec<(u32, Read)>;

/// A message's row, without its links to others.
pub(in crate::pass) struct Parsed {
    pub(super) number: u32,
    pub(super) sha256: [u8; 32],
    pub(super) ids: Ids,
    pub(super) date_seconds: Option<i64>,
    pub(super) size_bytes: u64,
    pub(super) derived: u16,
    /// The two header records.
    pub(super) line: Vec<u8>,
    pub(super) rest: Vec<u8>,
}

/// What parsing needs to know.
#[derive(Clone, Copy)]
pub(in crate::pass) struct Parsing<'a> {
    /// The present time, to judge dates by.
    pub now_seconds: i64,
    /// Names of header fields that are indexed in addition to the standard ones.
    pub headers: &'a [String],
    /// What reads the text of attachments, if anything does.
    pub attached: Option<Asking<'a>>,
}

impl Parsing<'_> {
    /// Adds a message's document to `documents`, and returns the values for its row.
    ///
    /// # Errors
    /// A full disk.
    pub(in crate::pass) fn parse(
        &self,
        number: u32,
        read: &Read,
        documents: &mut dyn Documents,
    ) -> Result<Parsed> {
        parse(number, read, *self, documents)
    }
}

fn parse(
    number: u32,
    read: &Read,
    Parsing { now_seconds, headers, attached }: Parsing<'_>,
    documents: &mut dyn Documents,
) -> Result<Parsed> {
    let context = mail::Context { headers, ..mail::Context::new(now_seconds) };
    let parsed;
    let message = match &read.message {
        Some(message) => &**message,
        None => {
            parsed = mail::parse(&read.content.bytes, &context);
            &parsed
        }
    };
    // A message that was not read completely may differ in the rest, so it counts as a copy of no other.
    let copy_hash = message.copy_hash.filter(|_| !read.content.truncated);
    let sha256_half = u128::from_le_bytes(*read.sha256.first_chunk().expect("an id has 32 bytes"));
    let (low, high) = rows::halves(copy_hash.unwrap_or(sha256_half));
    let ids = Ids {
        own: message_id_hash(&message.message_id),
        references: message.references.iter().map(|id| message_id_hash(id)).collect(),
        copy: [low, high],
    };
    let (line, rest) = records(message, read.content.truncated);
    let row = Parsed {
        number,
        sha256: read.sha256,
        ids,
        date_seconds: message.date_seconds(),
        size_bytes: read.size_bytes,
        derived: message.flags.bits(),
        line: record::encode_line(&line),
        rest: record::encode_rest(&rest),
    };
    let read_now;
    let attached = match (&read.attached, attached) {
        (Some(attached), _) => attached,
        (None, asking) => {
            let split = || Ok(mail::MessageParts::of_bytes(&read.content.bytes));
            read_now = asking.map(|asking| asking.read(message, split)).unwrap_or_default();
            &read_now
        }
    };
    let mut document = document(number, message);
    add_attached(&mut document, attached);
    add_problems(&mut document, message, read.content.truncated);
    documents.add(&document)?;
    Ok(row)
}

/// Returns the document of a message for the text index.
fn document(number: u32, message: &mail::Message) -> Document<'_> {
    let mut document = Document::new(number);
    let lists = [
        (TextField::From, ValueField::From, &message.from),
        (TextField::To, ValueField::To, &message.to),
        (TextField::Cc, ValueField::Cc, &message.cc),
        (TextField::Bcc, ValueField::Bcc, &message.bcc),
    ];
    for (words, values, addresses) in lists {
        for address in addresses {
            document.add(words, &address.name);
            document.add(words, &address.address);
            document.add_value(values, address_line(address));
        }
    }
    document.add(TextField::Subject, &message.subject);
    document.add_value(ValueField::Subject, &message.subject);
    document.add(TextField::Body, &message.text);
    message.embedded_texts().for_each(|text| document.add(TextField::Embed, text));
    for form in &message.other_forms {
        document.add(TextField::Body, &form.text);
        if form.is_embedded {
            document.add(TextField::Embed, &form.text);
        }
    }
    for attachment in &message.attachments {
        document.add(TextField::File, &attachment.name);
        document.add_value(ValueField::File, &attachment.name);
    }
    message.headers.iter().for_each(|(name, value)| document.add_header(name, value));
    document.add_exact(TextField::Language, message.language);
    document.add_whole(TextField::List, &message.list_id);
    for mime in &message.mime_types {
        document.add_whole(TextField::Mime, mime);
    }
    for reference in &message.references {
        document.add_exact(TextField::Reference, reference);
    }
    for label in &message.labels {
        document.add_whole(TextField::Label, label);
    }
    document.add_exact(TextField::MessageId, &message.message_id);
    document
}

/// Adds the text of attachments, which is searched like that of attached text files.
fn add_attached<'a>(document: &mut Document<'a>, attached: &'a Attached) {
    for text in &attached.texts {
        document.add(TextField::Body, text);
        document.add(TextField::Embed, text);
    }
    attached.filters.iter().for_each(|name| document.add_filter(name));
}

/// Adds the kinds of a message's problems and their groups, each once.
fn add_problems<'a>(document: &mut Document<'a>, message: &'a mail::Message, is_cut: bool) {
    let kinds = message.problems.iter().map(mail::Problem::kind).chain(is_cut.then_some(mail::MESSAGE_CUT));
    let words: BTreeSet<&'a str> = kinds.flat_map(|kind| [kind, mail::problem_group(kind)]).collect();
    words.into_iter().for_each(|word| document.add_exact(TextField::Problem, word));
}

/// Returns an address in the form that regular expressions see.
fn address_line(address: &mail::Address) -> String {
    match (address.name.as_str(), address.address.as_str()) {
        ("", address) => address.to_owned(),
        (name, "") => name.to_owned(),
        (name, address) => format!("{name} <{address}>"),
    }
}

/// Returns the header records of a message.
fn records(message: &mail::Message, is_cut: bool) -> (LineRecord, Rest) {
    let from = message
        .from
        .first()
        .map_or("", |address| if address.name.is_empty() { &address.address } else { &address.name });
    let line = LineRecord { from: from.to_owned(), subject: message.subject.clone() };
    let contacts = |addresses: &[mail::Address]| -> Vec<Contact> {
        addresses
            .iter()
            .map(|address| Contact { name: address.name.clone(), address: address.address.clone() })
            .collect()
    };
    let mut problems: Vec<String> = message.problems.iter().map(ToString::to_string).collect();
    if is_cut {
        problems.push("it is longer than 4 GiB: only its beginning is indexed".to_owned());
    }
    let rest = Rest {
        message_id: message.message_id.clone(),
        from: contacts(&message.from),
        to: contacts(&message.to),
        cc: contacts(&message.cc),
        bcc: contacts(&message.bcc),
        references: message.references.clone(),
        list_id: message.list_id.clone(),
        attachments: message.attachments.iter().map(|attachment| attachment.name.clone()).collect(),
        labels: message.labels.clone(),
        snippet: message.snippet.clone(),
        language: message.language.to_owned(),
        headers: message.headers.clone(),
        problems,
    };
    (line, rest)
}
