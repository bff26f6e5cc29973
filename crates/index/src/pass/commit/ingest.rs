//! Converts the contents of files to rows and text, on all cores.
//!
//! Input: files that were read, and the known contents. Output: rows of `messages`, documents of the text
//! index, and the message of each file. Only one large file is in memory at a time. Commits nothing.

use crate::environment::{Environment, present_for_dates};
use crate::error::{Error, Result};
use crate::pass::commit::contents::{Manner, Read, read_large};
use crate::pass::commit::dates::NamedDates;
use crate::pass::commit::link::{Ids, Linker, Links};
use crate::pass::commit::people::{Mention, People, Role};
use crate::pass::options::UpdateOptions;
use crate::record::{self, Contact, LineRecord, Rest};
use crate::rows;
use crate::state::TextSegment;
use crate::tables::{NO_DATE, contacts, copies, message_id_hash, messages, threads};
use crate::text::{self, Document, Documents, TextField, ValueField};
use mail::FileStat;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use store::{Rows, Snapshot, Value};

/// New messages with their numbers, to be parsed together.
pub(super) type Task = Vec<(u32, Read)>;

/// The outcome of one file.
#[derive(Debug)]
pub(in crate::pass) enum Outcome {
    /// It holds this message.
    Message {
        /// The message's number.
        number: u32,
        /// The file's stat when it was read.
        stat: FileStat,
    },
    /// It disappeared meanwhile. The next pass finds out where it went.
    Vanished,
    /// It could not be read.
    Unreadable(mail::Error),
}

/// A batch of files being converted.
pub(in crate::pass) struct Ingest {
    pub(super) writers: Vec<Box<dyn Documents>>,
    /// Parsed messages whose turn to be linked has not come, by number.
    waiting: BTreeMap<u32, Parsed>,
    /// The number of the message that is linked next.
    next_linked: u32,
    /// Linked messages that names of files may still date.
    undated: Vec<(Parsed, Links)>,
    /// Dates in the names of archived messages.
    pub(super) named: NamedDates,
    rows: Rows,
    linker: Linker,
    people: People,
    numbers: HashMap<[u8; 32], u32>,
    next_message: u32,
    first_message: u32,
    pub(super) now_seconds: i64,
    message_bytes_max: usize,
    pub(super) headers: Vec<String>,
}

/// The result of a batch, to be committed.
pub(in crate::pass) struct Ingested {
    /// Rows of new messages, threads, copies and people, by table.
    pub rows: Vec<(&'static str, Rows)>,
    /// New segments of the text index.
    pub text: Vec<TextSegment>,
    /// The next message number.
    pub next_message: u32,
    /// The next node number.
    pub next_node: u32,
}

/// The next numbers of messages and nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pass) struct Next {
    /// The next message number.
    pub message: u32,
    /// The next node number.
    pub node: u32,
}

impl Ingest {
    /// Begins a batch with these next numbers.
    pub(in crate::pass) fn new(
        snapshot: &Snapshot,
        next: Next,
        environment: &Environment,
        options: &UpdateOptions,
    ) -> Result<Ingest> {
        let count = environment.context.thread_count.max(1);
        Ok(Ingest {
            writers: text::writers(&environment.disk, &environment.text_directory(), count),
            waiting: BTreeMap::new(),
            next_linked: next.message,
            undated: Vec::new(),
            named: NamedDates::default(),
            rows: rows::empty(snapshot, messages::TABLE)?,
            linker: Linker::new(snapshot, next.node)?,
            people: People::new(snapshot)?,
            numbers: HashMap::new(),
            next_message: next.message,
            first_message: next.message,
            now_seconds: present_for_dates(environment.now_seconds()),
            message_bytes_max: options.message_bytes_max,
            headers: options.headers.clone(),
        })
    }

    /// Returns how many messages of this batch were not known before.
    pub(in crate::pass) fn new_message_count(&self) -> usize {
        (self.next_message - self.first_message) as usize
    }

    /// Lends the writers of the text index, one for each thread.
    pub(super) fn lend_writers(&mut self) -> Vec<Box<dyn Documents>> {
        std::mem::take(&mut self.writers)
    }

    /// Takes them back.
    pub(super) fn take_writers(&mut self, writers: Vec<Box<dyn Documents>>) {
        self.writers = writers;
    }

    /// Numbers a file that was read, and adds its message to `task` if it is new. `read_large` reads the rest
    /// of a large file. Numbers must be given in the order of the files. `snapshot` is the newest commit.
    ///
    /// # Errors
    /// Damage in the store. A file that cannot be read is an outcome, not an error.
    pub(super) fn take_file(
        &mut self,
        snapshot: &Snapshot,
        content: mail::Result<Read>,
        task: &mut Task,
    ) -> Result<Outcome> {
        match content {
            Ok(read) => {
                let stat = read.content.stat;
                let (number, is_new) = self.number(snapshot, read.sha256)?;
                if is_new {
                    task.push((number, read));
                }
                Ok(Outcome::Message { number, stat })
            }
            Err(error) if error.is_not_found() => Ok(Outcome::Vanished),
            Err(error) => Ok(Outcome::Unreadable(error)),
        }
    }

    /// Reads a file that is larger than what is read ahead.
    pub(super) fn read_large(&self, snapshot: &Snapshot, path: &Path) -> mail::Result<Read> {
        let numbers = &self.numbers;
        let is_known =
            |sha256: &[u8; 32]| known(numbers, snapshot, sha256).is_ok_and(|known| known.is_some());
        read_large(path, &self.manner(&is_known))
    }

    /// Takes messages that were parsed, in any order, and links those whose turn it is.
    ///
    /// # Errors
    /// Damage in the store.
    pub(super) fn accept(&mut self, parsed: Vec<Parsed>) -> Result<()> {
        self.waiting.extend(parsed.into_iter().map(|message| (message.number, message)));
        while let Some(message) = self.waiting.remove(&self.next_linked) {
            self.next_linked += 1;
            self.link_one(message)?;
        }
        Ok(())
    }

    /// Links a message to others of the batch and to known ones.
    fn link_one(&mut self, message: Parsed) -> Result<()> {
        self.people.note(message.date_seconds, &message.mentions);
        let links = self.linker.link(message.number, &message.ids)?;
        match message.date_seconds {
            Some(date) => self.push(&message, &links, date)?,
            None => self.undated.push((message, links)),
        }
        Ok(())
    }

    /// Finishes the batch. `named` has dates from file names, for messages without a date of their own.
    ///
    /// # Errors
    /// A full disk.
    pub(in crate::pass) fn finish(mut self, named: &NamedDates) -> Result<Ingested> {
        for (message, links) in std::mem::take(&mut self.undated) {
            let date = [named, &self.named].map(|names| names.date(message.number));
            let date = date.into_iter().filter(|date| *date != NO_DATE).min().unwrap_or(NO_DATE);
            self.push(&message, &links, date)?;
        }
        let finished: Vec<_> = self.writers.into_par_iter().map(Documents::finish).collect();
        let mut text = Vec::new();
        for segments in finished {
            text.extend(segments?);
        }
        let linked = self.linker.finish()?;
        let mut rows = vec![
            (messages::TABLE, self.rows),
            (threads::TABLE, linked.threads),
            (copies::TABLE, linked.copies),
            (contacts::TABLE, self.people.finish()?),
        ];
        rows.retain(|(_, rows)| !rows.is_empty());
        Ok(Ingested { rows, text, next_message: self.next_message, next_node: linked.next_node })
    }

    /// Returns the number of a content, and whether it is new.
    pub(super) fn number(&mut self, snapshot: &Snapshot, sha256: [u8; 32]) -> Result<(u32, bool)> {
        let known = known(&self.numbers, snapshot, &sha256)?;
        let number = known.unwrap_or(self.next_message);
        if known.is_none() {
            self.next_message = number
                .checked_add(1)
                .ok_or(Error::Limit { what: "the number of messages", limit: u64::from(u32::MAX) })?;
        }
        self.numbers.insert(sha256, number);
        Ok((number, known.is_none()))
    }

    pub(super) fn manner<'a>(&'a self, is_known: &'a (dyn Fn(&[u8; 32]) -> bool + Sync)) -> Manner<'a> {
        let (limit_bytes, now_seconds) = (self.message_bytes_max, self.now_seconds);
        Manner { limit_bytes, now_seconds, headers: &self.headers, is_known }
    }

    fn push(&mut self, message: &Parsed, links: &Links, date: i64) -> Result<()> {
        let [copy_low, copy_high] = message.ids.copy;
        Ok(self.rows.push(&[
            Value::U32(message.number),
            Value::Id(&message.sha256),
            Value::U64(message.ids.own),
            Value::U64(copy_low),
            Value::U64(copy_high),
            Value::I64(date),
            Value::U64(message.size_bytes),
            Value::U16(message.derived),
            Value::U32(links.node),
            Value::U32(links.parent),
            Value::Bytes(&message.line),
            Value::Bytes(&message.rest),
        ])?)
    }
}

/// Returns the number of a known content, from this batch or before it.
fn known(numbers: &HashMap<[u8; 32], u32>, snapshot: &Snapshot, sha256: &[u8; 32]) -> Result<Option<u32>> {
    if let Some(number) = numbers.get(sha256) {
        return Ok(Some(*number));
    }
    let table = snapshot.table(messages::TABLE)?;
    match table.get(messages::BY_SHA256, &[Value::Id(sha256)])? {
        Some(id) => Ok(Some(rows::part_of(&table, id).u32_at(messages::NUMBER, id.row)?)),
        None => Ok(None),
    }
}

/// A message's row, without its links to others.
pub(super) struct Parsed {
    pub(super) number: u32,
    sha256: [u8; 32],
    ids: Ids,
    mentions: Vec<Mention>,
    date_seconds: Option<i64>,
    size_bytes: u64,
    derived: u16,
    line: Vec<u8>,
    rest: Vec<u8>,
}

/// What parsing needs to know.
#[derive(Clone, Copy)]
pub(super) struct Parsing<'a> {
    /// The present time, to judge dates by.
    pub now_seconds: i64,
    /// Names of header fields that are indexed in addition to the standard ones.
    pub headers: &'a [String],
}

impl Parsing<'_> {
    /// Adds a message's document to `documents`, and returns the values for its row.
    ///
    /// # Errors
    /// A full disk.
    pub(super) fn parse(&self, number: u32, read: &Read, documents: &mut dyn Documents) -> Result<Parsed> {
        parse(number, read, (self.now_seconds, self.headers), documents)
    }
}

fn parse(
    number: u32,
    read: &Read,
    (now_seconds, headers): (i64, &[String]),
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
        mentions: mentions(message),
        date_seconds: message.date_seconds(),
        size_bytes: read.size_bytes,
        derived: message.flags.bits(),
        line: record::encode_line(&line),
        rest: record::encode_rest(&rest),
    };
    let mut document = document(number, message);
    add_problems(&mut document, message, read.content.truncated);
    documents.add(&document)?;
    Ok(row)
}

fn mentions(message: &mail::Message) -> Vec<Mention> {
    let lists = [
        (Role::Sender, &message.from),
        (Role::Recipient, &message.to),
        (Role::Recipient, &message.cc),
        (Role::Recipient, &message.bcc),
    ];
    let mention = |role, address: &mail::Address| Mention {
        address: address.address.clone(),
        name: address.name.clone(),
        role,
    };
    lists
        .into_iter()
        .flat_map(|(role, list)| list.iter().map(move |address| mention(role, address)))
        .collect()
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
