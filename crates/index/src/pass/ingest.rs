//! Reads new files and turns them into rows and text, on all cores.
//!
//! In: files to read, and which contents are known. Out: rows of `messages`, documents of the text index, and what each file holds.
//! Memory is bounded: small files are read many at a time, large ones alone. Commits nothing.

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::pass::UpdateOptions;
use crate::pass::plan::Candidate;
use crate::record::{self, Contact, Line, Rest};
use crate::rows;
use crate::search::message_id_hash;
use crate::state::TextSegment;
use crate::tables::messages;
use crate::text::{Document, TextField, TextFiles, TextWriter};
use mail::{Content, FileStat};
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use store::{Rows, Snapshot, Value};

/// Files that are read before any is parsed.
pub(super) const CHUNK_FILE_COUNT: usize = 512;
/// Content up to which a file is read together with others.
const SMALL_BYTES: usize = 256 << 10;
/// Documents a thread should at least have: fewer go into one segment of the text index.
const DOCUMENTS_PER_WRITER_MIN: usize = 64;

/// What came of one file.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It holds this message.
    Message {
        /// The message's number.
        number: u32,
        /// The file as it was read.
        stat: FileStat,
    },
    /// It went away meanwhile: the next pass sees where to.
    Vanished,
    /// It could not be read.
    Unreadable(mail::Error),
}

/// What a batch of files became.
pub(super) struct Ingest {
    files: TextFiles,
    writers: Vec<Worker>,
    numbers: HashMap<[u8; 32], u32>,
    next_message: u32,
    first_message: u32,
    now_seconds: i64,
    message_bytes_max: usize,
}

/// What one thread writes.
struct Worker {
    text: TextWriter,
    rows: Rows,
}

/// Where files lie and what is known.
pub(super) struct Source<'a> {
    /// The directories of folders, by their place in the plan.
    pub folders: &'a dyn Fn(usize) -> &'a Path,
    /// The newest commit.
    pub snapshot: &'a Snapshot,
}

impl Ingest {
    /// Begins a batch whose first new message gets `next_message`.
    pub(super) fn new(
        snapshot: &Snapshot,
        files: &TextFiles,
        next_message: u32,
        environment: &Environment,
        options: &UpdateOptions,
    ) -> Result<Ingest> {
        let mut writers = Vec::new();
        for _ in 0..environment.thread_count.max(1) {
            writers.push(Worker {
                text: TextWriter::new(files, environment.thread_count),
                rows: rows::empty(snapshot, messages::TABLE)?,
            });
        }
        Ok(Ingest {
            files: files.clone(),
            writers,
            numbers: HashMap::new(),
            next_message,
            first_message: next_message,
            now_seconds: environment.now_seconds(),
            message_bytes_max: options.message_bytes_max,
        })
    }

    /// Returns how many messages of this batch were not known before.
    pub(super) fn new_message_count(&self) -> usize {
        (self.next_message - self.first_message) as usize
    }

    /// Reads a chunk of files and says what each holds, in their order.
    ///
    /// # Errors
    /// A full disk, damage in the store; files that cannot be read are an outcome.
    pub(super) fn read(&mut self, source: &Source<'_>, chunk: &[Candidate]) -> Result<Vec<Outcome>> {
        let path = |candidate: &Candidate| path_of((source.folders)(candidate.found.folder), candidate);
        let paths: Vec<PathBuf> = chunk.iter().map(path).collect();
        let mut contents: Vec<mail::Result<Read>> =
            paths.par_iter().map(|path| read(path, SMALL_BYTES)).collect();
        let mut outcomes = Vec::with_capacity(chunk.len());
        let mut fresh = Vec::new();
        for (content, path) in contents.iter_mut().zip(&paths) {
            if matches!(content, Ok(read) if read.content.truncated) {
                // Whatever is small goes first, so that only one large file is in memory at a time.
                self.parse(std::mem::take(&mut fresh))?;
                *content = read_large(path, self.message_bytes_max);
            }
            match std::mem::replace(content, Err(mail::Error::io("read", path, std::io::ErrorKind::NotFound)))
            {
                Ok(read) => {
                    let stat = read.content.stat;
                    let (number, is_new) = self.number(source.snapshot, read.sha256)?;
                    outcomes.push(Outcome::Message { number, stat });
                    if is_new {
                        let is_large = read.content.bytes.len() > SMALL_BYTES;
                        fresh.push((number, read));
                        if is_large {
                            self.parse(std::mem::take(&mut fresh))?;
                        }
                    }
                }
                Err(error) if error.is_not_found() => outcomes.push(Outcome::Vanished),
                Err(error) => outcomes.push(Outcome::Unreadable(error)),
            }
        }
        self.parse(fresh)?;
        Ok(outcomes)
    }

    /// Finishes the batch: the rows of new messages, the new segments of the text index, and the next number.
    ///
    /// # Errors
    /// A full disk.
    pub(super) fn finish(self) -> Result<(Vec<Rows>, Vec<TextSegment>, u32)> {
        let path = self.files.path().to_owned();
        let finished: Vec<_> =
            self.writers.into_par_iter().map(|worker| (worker.rows, worker.text.finish())).collect();
        let mut rows = Vec::new();
        let mut segments = Vec::new();
        for (part, text) in finished {
            rows.push(part);
            segments.extend(text.map_err(|source| Error::Text { path: path.clone(), source })?);
        }
        rows.retain(|rows| !rows.is_empty());
        Ok((rows, segments, self.next_message))
    }

    /// Returns the number of a content, and whether it is new.
    fn number(&mut self, snapshot: &Snapshot, sha256: [u8; 32]) -> Result<(u32, bool)> {
        if let Some(number) = self.numbers.get(&sha256) {
            return Ok((*number, false));
        }
        let table = snapshot.table(messages::TABLE)?;
        let known = match table.get(messages::BY_SHA256, &[Value::Id(&sha256)])? {
            Some(id) => Some(rows::part_of(&table, id).u32_at(messages::NUMBER, id.row)?),
            None => None,
        };
        let number = known.unwrap_or(self.next_message);
        if known.is_none() {
            self.next_message = number
                .checked_add(1)
                .ok_or(Error::Limit { what: "the number of messages", limit: u64::from(u32::MAX) })?;
        }
        self.numbers.insert(sha256, number);
        Ok((number, known.is_none()))
    }

    /// Parses new messages and writes their text and rows.
    fn parse(&mut self, fresh: Vec<(u32, Read)>) -> Result<()> {
        let now_seconds = self.now_seconds;
        let text_error = |source| Error::Text { path: self.files.path().to_owned(), source };
        let next = AtomicUsize::new(0);
        let count = (fresh.len() / DOCUMENTS_PER_WRITER_MIN + 1).min(self.writers.len());
        let results: Vec<Result<()>> = self.writers[..count]
            .par_iter_mut()
            .map(|worker| {
                while let Some((number, read)) = fresh.get(next.fetch_add(1, Ordering::Relaxed)) {
                    worker.add(*number, read, now_seconds).map_err(|failure| match failure {
                        Failure::Text(source) => text_error(source),
                        Failure::Store(error) => Error::Store(error),
                    })?;
                }
                Ok(())
            })
            .collect();
        results.into_iter().collect()
    }
}

enum Failure {
    Text(tantivy::TantivyError),
    Store(store::Error),
}

impl Worker {
    fn add(&mut self, number: u32, read: &Read, now_seconds: i64) -> std::result::Result<(), Failure> {
        let context = mail::Context::new(read.content.stat.mtime_ns.div_euclid(1_000_000_000), now_seconds);
        let message = mail::parse(&read.content.bytes, &context);
        self.text.add(document(number, &message)).map_err(Failure::Text)?;
        let body = message.body_hash.to_le_bytes();
        let (low, high) = body.split_at(8);
        let half = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("half of 16 bytes is 8"));
        let (line, rest) = records(&message, read.content.truncated);
        let pushed = self.rows.push(&[
            Value::U32(number),
            Value::Id(&read.sha256),
            Value::U64(message_id_hash(&message.message_id)),
            Value::U64(half(low)),
            Value::U64(half(high)),
            Value::I64(message.date_seconds),
            Value::U64(read.size_bytes),
            Value::U16(message.flags.bits()),
            Value::Bytes(&record::encode_line(&line)),
            Value::Bytes(&record::encode_rest(&rest)),
        ]);
        pushed.map_err(Failure::Store)
    }
}

/// A file's content with its id.
struct Read {
    content: Content,
    sha256: [u8; 32],
    size_bytes: u64,
}

fn read(path: &Path, limit_bytes: usize) -> mail::Result<Read> {
    let content = mail::read_message(path, limit_bytes)?;
    let sha256 = Sha256::digest(&content.bytes).into();
    let size_bytes = content.bytes.len() as u64;
    Ok(Read { content, sha256, size_bytes })
}

/// Reads a file that is not small. Of one over the limit the first part is indexed, and all of it is hashed.
fn read_large(path: &Path, limit_bytes: usize) -> mail::Result<Read> {
    let whole = read(path, limit_bytes)?;
    if !whole.content.truncated {
        return Ok(whole);
    }
    let (sha256, size_bytes) = hash_file(path).map_err(|error| mail::Error::io("read", path, error))?;
    Ok(Read { content: whole.content, sha256, size_bytes })
}

/// Returns SHA-256 and size of a file's bytes, without keeping them.
fn hash_file(path: &Path) -> std::io::Result<([u8; 32], u64)> {
    let mut file = std::fs::File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    let mut size_bytes = 0;
    loop {
        match std::io::Read::read(&mut file, &mut buffer)? {
            0 => return Ok((hasher.finalize().into(), size_bytes)),
            count => {
                hasher.update(buffer.get(..count).unwrap_or_default());
                size_bytes += count as u64;
            }
        }
    }
}

fn path_of(folder: &Path, candidate: &Candidate) -> PathBuf {
    mail::join(&folder.join(candidate.found.place.name()), &candidate.found.name)
}

/// Returns what the text index holds of a message.
fn document(number: u32, message: &mail::Message) -> Document {
    let mut document = Document::new(number);
    let lists = [
        (TextField::From, &message.from),
        (TextField::To, &message.to),
        (TextField::Cc, &message.cc),
        (TextField::Bcc, &message.bcc),
    ];
    for (field, addresses) in lists {
        for address in addresses {
            document.add(field, &address.name);
            document.add(field, &address.address);
        }
    }
    document.add(TextField::Subject, &message.subject);
    document.add(TextField::Body, &message.text);
    for attachment in &message.attachments {
        document.add(TextField::File, &attachment.name);
    }
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

/// Returns the header records of a message.
fn records(message: &mail::Message, is_cut: bool) -> (Line, Rest) {
    let from = message
        .from
        .first()
        .map_or("", |address| if address.name.is_empty() { &address.address } else { &address.name });
    let line = Line { from: from.to_owned(), subject: message.subject.clone() };
    let contacts = |addresses: &[mail::Address]| -> Vec<Contact> {
        addresses
            .iter()
            .map(|address| Contact { name: address.name.clone(), address: address.address.clone() })
            .collect()
    };
    let mut problems: Vec<String> = message.problems.iter().map(ToString::to_string).collect();
    if is_cut {
        problems.push("it is too long: only its beginning is indexed".to_owned());
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
        snippet: message.snippet.clone(),
        problems,
    };
    (line, rest)
}
