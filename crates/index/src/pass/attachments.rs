//! Adds the text of attachments to messages that are indexed already.
//!
//! Input: an index, and what reads attachments. Output: the documents of messages that it has not read yet
//! are replaced. A segment of text is worked on at a time: its messages are read again, a part of them
//! together, and then it is exchanged for one with their new documents, by one commit as in a merge. What is
//! done is noted in the documents themselves, so that work that was stopped goes on where it was. Must not
//! know how attachments are read.

use crate::attached::Asking;
use crate::environment::{Environment, present_for_dates};
use crate::error::{Error, Result};
use crate::pass::commit::{Manner, Parsing, Read, read_large};
use crate::pass::merge::{known_messages, publish};
use crate::pass::options::UpdateOptions;
use crate::pass::orphans::{self, TEXT_MERGER_LOCK};
use crate::search::Mailbox;
use crate::set::NumberSet;
use crate::state::{State, TextSegment};
use crate::tables::messages;
use crate::{open, rows, text};
use disk::{Lock, Wait};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use store::{PRIMARY, Value};
use work::{Progress, Stage};

/// Fewest messages that are read before their segment is exchanged.
const BATCH_COUNT_MIN: usize = 1024;
/// How many times at most a segment is exchanged, so that a large one is not copied again and again.
const EXCHANGE_COUNT_MAX: usize = 8;
/// A message above this size is read while no other such message is.
const LARGE_BYTES: usize = 16 << 20;

/// What was read of attachments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttachmentsRead {
    /// Messages whose attachments were read.
    pub messages: u64,
    /// Messages that have no file, or whose files cannot be read as the index knows them.
    pub without_file: u64,
    /// What could not be read, one sentence for each kind of problem.
    pub problems: Vec<String>,
}

/// What is known of the work.
struct Work<'a> {
    environment: &'a Environment,
    options: &'a UpdateOptions,
    asking: Asking<'a>,
    /// Messages that were looked at, whether they could be read or not.
    seen: BTreeSet<u32>,
    read: AttachmentsRead,
}

/// Reads the attachments that the options' reader has not read yet.
///
/// # Errors
/// There is no index; damage; a full disk; [`Error::Interrupted`]. What was published by then stays.
pub(crate) fn read_attachments(
    environment: &Environment,
    options: &UpdateOptions,
    observer: &dyn Progress,
) -> Result<AttachmentsRead> {
    let Some(asking) = options.asking(observer) else { return Ok(AttachmentsRead::default()) };
    let (seen, read) = Default::default();
    let mut work = Work { environment, options, asking, seen, read };
    let done = work.run();
    if done.is_err() {
        orphans::remove_after_failure(environment);
    }
    done.map(|()| work.read)
}

impl Work<'_> {
    fn run(&mut self) -> Result<()> {
        self.asking.observer.stage(Stage::Read);
        let state = self.state()?;
        let mut count = 0;
        for segment in &state.text {
            count += self.unread(segment)?.len() as u64;
        }
        self.asking.observer.expect(count, 0);
        while self.batch()? {}
        if self.asking.observer.is_cancelled() { Err(Error::Interrupted) } else { Ok(()) }
    }

    fn state(&self) -> Result<State> {
        open::state(&open::snapshot(self.environment)?, &self.environment.index_directory())
    }

    /// Returns the messages of a segment that are to be read.
    fn unread(&self, segment: &TextSegment) -> Result<BTreeSet<u32>> {
        let directory = self.environment.text_directory();
        let place = (&self.environment.disk, directory.as_path());
        let mut unread = text::unread(place, segment, &|mime| self.asking.reader.filters_for(mime))?;
        unread.retain(|number| !self.seen.contains(number));
        Ok(unread)
    }

    /// Takes the lock of mergers, so that no segment disappears meanwhile.
    fn lock(&self) -> Result<Lock> {
        let (disk, holder) = (&self.environment.disk, &self.environment.holder);
        let path = self.environment.text_directory().join(TEXT_MERGER_LOCK);
        match disk.lock(&path, holder, Wait::Refuse) {
            Err(disk::Error::Locked { holder: other, .. }) => {
                self.asking.observer.waiting(&other);
                Ok(disk.lock(&path, holder, Wait::Block)?)
            }
            other => Ok(other?),
        }
    }

    /// Reads some messages of one segment, and exchanges it. Returns whether there may be more.
    fn batch(&mut self) -> Result<bool> {
        let _merger = self.lock()?;
        let share = orphans::share(self.environment, self.asking.observer)?;
        let mailbox = Mailbox::open(self.environment)?;
        let state = open::state(mailbox.snapshot(), &self.environment.index_directory())?;
        for segment in &state.text {
            if self.asking.observer.is_cancelled() {
                return Ok(false);
            }
            let unread = self.unread(segment)?;
            if unread.is_empty() {
                continue;
            }
            let count = (segment.document_count as usize / EXCHANGE_COUNT_MAX).max(BATCH_COUNT_MIN);
            let chosen: Vec<u32> = unread.into_iter().take(count).collect();
            let (replaced, new) = self.read_all(&mailbox, &state, &chosen)?;
            if !replaced.is_empty() {
                let known = known_messages(mailbox.snapshot(), &state)?;
                let place = (&self.environment.disk, &*self.environment.text_directory());
                let merged = text::replace(place, (segment, &new), &replaced, known.as_ref())?;
                publish(self.environment, merged, share)?;
                self.read.messages += replaced.count();
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// Reads these messages and writes their documents, on all cores. Returns which were read, and the
    /// segments of their documents.
    fn read_all(
        &mut self,
        mailbox: &Mailbox,
        state: &State,
        chosen: &[u32],
    ) -> Result<(NumberSet, Vec<TextSegment>)> {
        let Environment { disk, context, .. } = self.environment;
        let headers = self.headers(state);
        let reading = Reading {
            work: &*self,
            mailbox,
            headers: &headers,
            now_seconds: present_for_dates(self.environment.now_seconds()),
            large: Mutex::new(()),
        };
        let directory = self.environment.text_directory();
        let thread_count = context.thread_count.max(1);
        let next = AtomicUsize::new(0);
        let work = |_| -> Result<Share> {
            let mut documents = text::writer(disk, &directory, thread_count);
            let mut share = Share::default();
            while !self.asking.observer.is_cancelled()
                && let Some(number) = chosen.get(next.fetch_add(1, Ordering::Relaxed))
            {
                let ended = reading.read(*number, documents.as_mut())?;
                share.ended.push((*number, ended));
                self.asking.observer.add(1, 0);
            }
            share.segments = documents.finish()?;
            Ok(share)
        };
        let results: Vec<_> = (0..thread_count.min(chosen.len())).into_par_iter().map(work).collect();
        let (mut replaced, mut new) = (NumberSet::new(state.next_message), Vec::new());
        for result in results {
            let share = result?;
            for (number, ended) in share.ended {
                self.seen.insert(number);
                match ended {
                    Ended::Read => replaced.insert(number),
                    Ended::NoFile => self.read.without_file += 1,
                    Ended::Left => {}
                }
            }
            new.extend(share.segments);
        }
        Ok((replaced, new))
    }

    /// Returns the header fields of new documents: those that are configured, and those that the index has of
    /// every message.
    fn headers(&self, state: &State) -> Vec<String> {
        let mut headers = self.options.headers.clone();
        let is_named =
            |name: &&String| !self.options.headers.iter().any(|own| own.eq_ignore_ascii_case(name));
        headers.extend(state.headers.iter().filter(is_named).cloned());
        headers
    }
}

/// What one core has done of a batch.
#[derive(Default)]
struct Share {
    /// What became of each message.
    ended: Vec<(u32, Ended)>,
    /// The segments of new documents.
    segments: Vec<TextSegment>,
}

/// What the reading of messages shares.
struct Reading<'a> {
    work: &'a Work<'a>,
    mailbox: &'a Mailbox,
    headers: &'a [String],
    now_seconds: i64,
    /// Held while a large message is in memory.
    large: Mutex<()>,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// Its attachments were read, and it has a new document.
    Read,
    /// It was left as it is.
    Left,
    /// It has no file that can be read.
    NoFile,
}

impl Reading<'_> {
    fn read(&self, number: u32, documents: &mut dyn text::Documents) -> Result<Ended> {
        let Some(sha256) = self.id(number)? else { return Ok(Ended::Left) };
        let files = self.mailbox.files_of(number)?;
        let Work { options, asking, .. } = *self.work;
        let manner = Manner {
            limit_bytes: options.message_bytes_max,
            now_seconds: self.now_seconds,
            headers: self.headers,
            is_known: &|id| *id != sha256,
            attached: Some(asking),
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
        Ok(Ended::NoFile)
    }

    /// Returns the id of a message; `None` if it was removed from the index.
    fn id(&self, number: u32) -> Result<Option<[u8; 32]>> {
        let table = self.mailbox.snapshot().table(messages::TABLE)?;
        let Some(id) = table.get(PRIMARY, &[Value::U32(number)])? else { return Ok(None) };
        let part = rows::part_of(&table, id);
        Ok(part.ids(messages::SHA256, id.row..id.row + 1)?.first().copied())
    }

    fn write(&self, number: u32, mut read: Read, documents: &mut dyn text::Documents) -> Result<Ended> {
        let asking = self.work.asking;
        if read.message.is_none() {
            let context = mail::Context { headers: self.headers, ..mail::Context::new(self.now_seconds) };
            let message = mail::parse(&read.content.bytes, &context);
            let split = || Ok(mail::MessageParts::of_bytes(&read.content.bytes));
            read.attached = Some(asking.read(&message.mime_types, split));
            read.message = Some(Box::new(message));
        }
        // Nothing is gained by the same document.
        if read.attached.as_ref().is_none_or(|attached| attached.filters.is_empty()) {
            return Ok(Ended::Left);
        }
        let parsing = Parsing { now_seconds: self.now_seconds, headers: self.headers, attached: None };
        parsing.parse(number, &read, documents)?;
        Ok(Ended::Read)
    }
}
