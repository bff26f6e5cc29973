//! Reads messages again together with their attachments, and writes their new documents.
//!
//! Input: the numbers of messages. Output: segments of text that no commit names yet, and what became of each
//! message. The threads are not those of the program's pool: a filter may take a minute, and other work
//! must not wait for it. Must not know what becomes of the segments.

use crate::attached::Asking;
use crate::environment::{Environment, present_for_dates};
use crate::error::Result;
use crate::pass::commit::{Manner, Parsing, Read, read_large};
use crate::pass::options::UpdateOptions;
use crate::search::Mailbox;
use crate::state::{State, TextSegment};
use crate::tables::messages;
use crate::{rows, text};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use store::{PRIMARY, Value};

/// A message above this size is read while no other such message is.
const LARGE_BYTES: usize = 16 << 20;

/// What the reading of messages shares.
pub(super) struct Reading<'a> {
    environment: &'a Environment,
    options: &'a UpdateOptions,
    asking: Asking<'a>,
    mailbox: &'a Mailbox,
    headers: Vec<String>,
    now_seconds: i64,
    /// Messages of which a filter has read text that the index has.
    read_before: &'a BTreeSet<u32>,
    /// Held while a large message is in memory.
    large: Mutex<()>,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Its attachments were read, and it has a new document.
    Read {
        /// Whether that has text of them.
        has_grown: bool,
    },
    /// It was left as it is: there is nothing to gain now.
    Left,
    /// It has no file.
    NoFile,
    /// Its files could not be read as the index knows them. It may be in the middle of a move.
    Unreadable,
}

/// What was read.
#[derive(Default)]
pub(super) struct Batch {
    /// What became of each message.
    pub ended: Vec<(u32, Ended)>,
    /// The segments of new documents.
    pub segments: Vec<TextSegment>,
}

impl<'a> Reading<'a> {
    /// Reads with what the options say.
    pub(super) fn new(
        environment: &'a Environment,
        options: &'a UpdateOptions,
        asking: Asking<'a>,
        (mailbox, state): (&'a Mailbox, &State),
        read_before: &'a BTreeSet<u32>,
    ) -> Reading<'a> {
        Reading {
            environment,
            options,
            asking,
            mailbox,
            headers: headers(options, state),
            now_seconds: present_for_dates(environment.now_seconds()),
            read_before,
            large: Mutex::new(()),
        }
    }

    /// Reads messages, on as many threads as the environment allows, until the time is up or the work is
    /// stopped. Each thread reads one message at least.
    ///
    /// # Errors
    /// A full disk, damage in the store.
    pub(super) fn read_all(&self, chosen: &[u32], time: Duration) -> Result<Batch> {
        let thread_count = self.environment.context.threads.count().clamp(1, chosen.len().max(1));
        let (next, started) = (AtomicUsize::new(0), Instant::now());
        let work = || self.read_some(chosen, &next, &|| started.elapsed() >= time);
        let results: Vec<Result<Batch>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (1..thread_count).map(|_| scope.spawn(work)).collect();
            let own = work();
            let others = threads.into_iter().map(|thread| match thread.join() {
                Ok(batch) => batch,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            std::iter::once(own).chain(others).collect()
        });
        let mut all = Batch::default();
        for batch in results {
            let batch = batch?;
            all.ended.extend(batch.ended);
            all.segments.extend(batch.segments);
        }
        Ok(all)
    }

    /// Reads messages that no other thread has taken.
    fn read_some(&self, chosen: &[u32], next: &AtomicUsize, is_over: &dyn Fn() -> bool) -> Result<Batch> {
        let Environment { disk, context, .. } = self.environment;
        let directory = self.environment.text_directory();
        let mut documents = text::writer(disk, &directory, context.threads.count());
        let mut batch = Batch::default();
        while (batch.ended.is_empty() || !is_over())
            && !self.asking.observer.is_cancelled()
            && let Some(number) = chosen.get(next.fetch_add(1, Ordering::Relaxed))
        {
            let ended = self.read(*number, documents.as_mut())?;
            batch.ended.push((*number, ended));
            self.asking.observer.add(1, 0);
        }
        batch.segments = documents.finish()?;
        Ok(batch)
    }

    fn read(&self, number: u32, documents: &mut dyn text::Documents) -> Result<Ended> {
        let Some(sha256) = self.id(number)? else { return Ok(Ended::Left) };
        let files = self.mailbox.files_of(number)?;
        if files.is_empty() {
            return Ok(Ended::NoFile);
        }
        let manner = Manner {
            limit_bytes: self.options.message_bytes_max,
            now_seconds: self.now_seconds,
            headers: &self.headers,
            is_known: &|id| *id != sha256,
            attached: Some(self.asking),
        };
        for file in files {
            let is_large = mail::stat_file(&file.path).is_ok_and(|stat| stat.size_bytes > LARGE_BYTES as u64);
            let _alone = is_large.then(|| self.large.lock().unwrap_or_else(PoisonError::into_inner));
            // A file that was changed since is another message.
            let Ok(read) = read_large(&file.path, &manner) else { continue };
            if read.sha256 == sha256 {
                return self.write(number, read, documents);
            }
        }
        Ok(Ended::Unreadable)
    }

    /// Returns the id of a message; `None` if it was removed from the index.
    fn id(&self, number: u32) -> Result<Option<[u8; 32]>> {
        let table = self.mailbox.snapshot().table(messages::TABLE)?;
        let Some(id) = table.get(PRIMARY, &[Value::U32(number)])? else { return Ok(None) };
        let part = rows::part_of(&table, id);
        Ok(part.ids(messages::SHA256, id.row..id.row + 1)?.first().copied())
    }

    fn write(&self, number: u32, mut read: Read, documents: &mut dyn text::Documents) -> Result<Ended> {
        if read.message.is_none() {
            let context = mail::Context { headers: &self.headers, ..mail::Context::new(self.now_seconds) };
            let message = mail::parse(&read.content.bytes, &context);
            let split = || Ok(mail::MessageParts::of_bytes(&read.content.bytes));
            read.attached = Some(self.asking.read(&message, split));
            read.message = Some(Box::new(message));
        }
        let attached = read.attached.as_ref();
        if attached.is_some_and(|attached| attached.is_stopped) {
            return Ok(Ended::Unreadable);
        }
        // Nothing is gained by the same document, and one with less must not replace what was read before.
        let is_less = |partial: bool| partial && self.read_before.contains(&number);
        if attached.is_none_or(|attached| attached.filters.is_empty() || is_less(attached.is_partial)) {
            return Ok(Ended::Left);
        }
        let has_grown =
            attached.is_some_and(|attached| attached.texts.iter().any(|text| !text.trim().is_empty()));
        let parsing = Parsing { now_seconds: self.now_seconds, headers: &self.headers, attached: None };
        parsing.parse(number, &read, documents)?;
        Ok(Ended::Read { has_grown })
    }
}

/// Returns the header fields of new documents: those that are configured, and those that the index has of
/// every message.
fn headers(options: &UpdateOptions, state: &State) -> Vec<String> {
    let mut headers = options.headers.clone();
    let is_named = |name: &&String| !options.headers.iter().any(|own| own.eq_ignore_ascii_case(name));
    headers.extend(state.headers.iter().filter(is_named).cloned());
    headers
}
