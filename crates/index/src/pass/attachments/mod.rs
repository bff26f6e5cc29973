//! Adds the text of attachments to messages that are indexed already.
//!
//! Input: an index, and what reads attachments. Output: the documents of messages that it has not read yet
//! are replaced, and the change log tells whose text grew. A segment of text is worked on at a time: some of
//! its messages are read again, and then it is exchanged for one with their new documents, by one commit as
//! in a merge. What is done is noted in the documents themselves, so that work that was stopped goes on where
//! it was. While filters run, others write, merge and publish: only the lock of this work is held, and the
//! share that keeps new segments of text. `reading` reads the messages; `looked` beside this folder says
//! which segments need not be looked at. Must not know how attachments are read.

mod reading;

use crate::attached::Asking;
use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::open;
use crate::pass::looked::Looked;
use crate::pass::merge::{known_messages, publish};
use crate::pass::options::UpdateOptions;
use crate::pass::orphans::{self, TEXT_MERGER_LOCK};
use crate::search::Mailbox;
use crate::set::NumberSet;
use crate::state::{State, TextSegment};
use crate::tables::messages;
use crate::text;
use disk::{Lock, Wait};
use mail::ContentFlags;
use reading::{Batch, Ended, Reading};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use store::Transaction;
use work::{Progress, Stage};

/// Name of the lock file that is held while attachments are read, in the directory of the text index.
pub(crate) const ATTACHMENTS_LOCK: &str = "attachments.lock";
/// For how long messages are read before they are published. What is lost by a crash took no longer, and the
/// time of the last command.
const BATCH_TIME: Duration = Duration::from_secs(5);
/// In a segment of more documents it takes twice as long, three times ..., since all of it is written anew.
const BATCH_DOCUMENTS: u32 = 65_536;
/// How often the lock of mergers is tried.
const LOOK: Duration = Duration::from_millis(20);

/// Which messages are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Those that were not looked at before with these filters. Costs almost nothing if there are none. If
    /// another process is looking, it is left to that.
    New,
    /// All that no filter has read: also those for which there was no file, or no program.
    All,
}

/// What was read of attachments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttachmentsRead {
    /// Messages whose attachments were read.
    pub messages: u64,
    /// Messages that have no file, or whose files cannot be read as the index knows them.
    pub without_file: u64,
    /// What could not be read, one sentence for each kind of problem.
    pub problems: Vec<String>,
    /// The other process that reads them now.
    pub is_read_by: Option<String>,
}

/// What is known of the work.
struct Work<'a> {
    environment: &'a Environment,
    options: &'a UpdateOptions,
    asking: Asking<'a>,
    /// What the next runs need not look at.
    looked: Looked,
    /// Segments that were looked at in this run, but have messages that the next run shall look at.
    visited: BTreeSet<String>,
    /// Messages that were looked at, whether they could be read or not.
    seen: BTreeSet<u32>,
    /// Those that the next run shall look at.
    unreadable: BTreeSet<u32>,
    read: AttachmentsRead,
    /// Is called when more text was published.
    published: &'a (dyn Fn() + Sync),
}

/// Reads the attachments that the options' reader has not read yet. Calls `published` after each commit with
/// text of attachments.
///
/// # Errors
/// There is no index; damage; a full disk; [`Error::Interrupted`]. What was published by then stays.
pub(crate) fn read_attachments(
    environment: &Environment,
    options: &UpdateOptions,
    look: Look,
    observer: &dyn Progress,
    published: &(dyn Fn() + Sync),
) -> Result<AttachmentsRead> {
    let Some(asking) = options.asking(observer) else { return Ok(AttachmentsRead::default()) };
    let (looked, is_all) = looked(environment, asking, look)?;
    if is_all {
        return Ok(AttachmentsRead::default());
    }
    let _lock = match lock(environment, look, observer)? {
        Ok(lock) => lock,
        Err(holder) => {
            return Ok(AttachmentsRead { is_read_by: Some(holder), ..AttachmentsRead::default() });
        }
    };
    let (visited, seen, unreadable, read) = Default::default();
    let mut work = Work { environment, options, asking, looked, visited, seen, unreadable, read, published };
    let done = work.run(look);
    if done.is_err() {
        orphans::remove_after_failure(environment);
    }
    done.map(|()| work.read)
}

/// Returns whether this filter has read a message whose text the index has.
///
/// # Errors
/// There is no index, or it is damaged.
pub fn is_read_by(environment: &Environment, filter: &str) -> Result<bool> {
    let state = open::state(&open::snapshot(environment)?, &environment.index_directory())?;
    text::is_read_by((&environment.disk, &environment.text_directory()), &state.text, filter)
}

/// Returns what need not be looked at, and whether that is all.
fn looked(environment: &Environment, asking: Asking<'_>, look: Look) -> Result<(Looked, bool)> {
    let snapshot = open::snapshot(environment)?;
    let state = open::state(&snapshot, &environment.index_directory())?;
    let filters: BTreeSet<String> = asking.reader.filters().into_iter().collect();
    let known = Looked::of(&snapshot);
    let segments =
        if look == Look::New && known.filters == filters { known.segments } else { BTreeSet::new() };
    let is_all = state.text.iter().all(|segment| segments.contains(&segment.id));
    Ok((Looked { filters, segments }, is_all))
}

/// Takes the lock of this work, or returns who has it.
fn lock(
    environment: &Environment,
    look: Look,
    observer: &dyn Progress,
) -> Result<std::result::Result<Lock, String>> {
    let path = open::text_lock(environment, ATTACHMENTS_LOCK)?;
    match environment.disk.lock(&path, &environment.holder, Wait::Refuse) {
        Err(disk::Error::Locked { holder, .. }) if look == Look::New => Ok(Err(holder)),
        Err(disk::Error::Locked { holder, .. }) => {
            observer.waiting(&holder);
            let lock = environment.disk.lock(&path, &environment.holder, Wait::Block)?;
            // The process works again.
            observer.is_cancelled();
            Ok(Ok(lock))
        }
        other => Ok(Ok(other?)),
    }
}

impl Work<'_> {
    fn run(&mut self, look: Look) -> Result<()> {
        // Another process may have looked meanwhile.
        self.looked = looked(self.environment, self.asking, look)?.0;
        let before = self.looked.clone();
        self.asking.observer.stage(Stage::Read);
        let mut count = 0;
        for segment in self.state()?.text.iter().filter(|segment| !self.is_visited(segment)) {
            count += self.unread(segment)?.len() as u64;
        }
        self.asking.observer.expect(count, 0);
        loop {
            if self.asking.observer.is_cancelled() {
                return Err(Error::Interrupted);
            }
            let state = self.state()?;
            let Some(segment) = state.text.iter().find(|segment| !self.is_visited(segment)) else { break };
            let unread = self.unread(segment)?;
            let left: Vec<u32> =
                unread.keys().copied().filter(|number| !self.seen.contains(number)).collect();
            if left.is_empty() {
                let is_looked_at = !unread.keys().any(|number| self.unreadable.contains(number));
                let segments = if is_looked_at { &mut self.looked.segments } else { &mut self.visited };
                segments.insert(segment.id.clone());
            } else {
                let read_before =
                    unread.into_iter().filter_map(|(number, is_read)| is_read.then_some(number));
                self.batch(segment, &left, &read_before.collect())?;
            }
        }
        if look == Look::All || self.looked != before { self.note() } else { Ok(()) }
    }

    fn is_visited(&self, segment: &TextSegment) -> bool {
        self.looked.segments.contains(&segment.id) || self.visited.contains(&segment.id)
    }

    fn state(&self) -> Result<State> {
        open::state(&open::snapshot(self.environment)?, &self.environment.index_directory())
    }

    /// Returns the messages of a segment that a filter has not read, and whether another one has.
    fn unread(&self, segment: &TextSegment) -> Result<BTreeMap<u32, bool>> {
        let directory = self.environment.text_directory();
        let place = (&self.environment.disk, directory.as_path());
        let encrypted = self.encrypted()?;
        text::unread(place, segment, &|mime| self.asking.reader.filters_for(mime), encrypted.as_ref())
    }

    /// Returns the encrypted messages, if there is a filter for them.
    fn encrypted(&self) -> Result<Option<text::Chosen>> {
        let Some(filter) = self.asking.reader.filter_for_encrypted() else { return Ok(None) };
        let snapshot = open::snapshot(self.environment)?;
        let state = open::state(&snapshot, &self.environment.index_directory())?;
        let mut found = NumberSet::new(state.next_message);
        for part in snapshot.table(messages::TABLE)?.parts() {
            let flags = part.u16s(messages::DERIVED, 0..part.row_count())?;
            let numbers = part.u32s(messages::NUMBER, 0..part.row_count())?;
            for (_, (flags, number)) in part.live_values(flags.iter().zip(numbers.iter())) {
                if ContentFlags::from_bits(*flags).contains(ContentFlags::ENCRYPTED) {
                    found.insert(*number);
                }
            }
        }
        Ok(Some((filter, found)))
    }

    /// Reads some messages of a segment, and exchanges it.
    fn batch(&mut self, segment: &TextSegment, chosen: &[u32], read_before: &BTreeSet<u32>) -> Result<()> {
        let share = orphans::share(self.environment, self.asking.observer)?;
        // From here on there is no rebuild, and numbers stay those of the same messages.
        let mailbox = Mailbox::open(self.environment)?;
        let state = open::state(mailbox.snapshot(), &self.environment.index_directory())?;
        if !state.text.contains(segment) {
            return Ok(());
        }
        let reading =
            Reading::new(self.environment, self.options, self.asking, (&mailbox, &state), read_before);
        let Batch { ended, segments } = reading.read_all(chosen, batch_time(self.options, segment))?;
        let mut replaced = NumberSet::new(state.next_message);
        let mut grown = Vec::new();
        for (number, ended) in ended {
            // What a signal stopped was not looked at.
            if ended != Ended::Unreadable || !self.asking.observer.is_cancelled() {
                self.seen.insert(number);
            }
            match ended {
                Ended::Read { has_grown } => {
                    replaced.insert(number);
                    grown.extend(has_grown.then_some(number));
                }
                Ended::Left => {}
                Ended::NoFile => self.read.without_file += 1,
                Ended::Unreadable => {
                    self.read.without_file += 1;
                    self.unreadable.insert(number);
                }
            }
        }
        if !replaced.is_empty() {
            grown.sort_unstable();
            self.exchange((segment, &state), &segments, (&replaced, &grown), share)?;
            self.read.messages += replaced.count();
            if !grown.is_empty() {
                (self.published)();
            }
        }
        Ok(())
    }

    /// Publishes new documents in the place of those that a segment had, or that the segment has which it was
    /// merged into.
    fn exchange(
        &self,
        (segment, before): (&TextSegment, &State),
        new: &[TextSegment],
        (replaced, grown): (&NumberSet, &[u32]),
        share: Lock,
    ) -> Result<()> {
        let _merger = self.merger()?;
        let snapshot = open::snapshot(self.environment)?;
        let now = open::state(&snapshot, &self.environment.index_directory())?;
        let mut old = now.text.iter().find(|other| other.id == segment.id);
        if old.is_none() {
            for other in now.text.iter().filter(|other| !before.text.contains(other)) {
                if self.unread(other)?.keys().any(|number| replaced.contains(*number)) {
                    old = Some(other);
                    break;
                }
            }
        }
        // If there is none, all these messages were swept.
        let Some(old) = old else { return Ok(()) };
        let known = known_messages(&snapshot, &now)?;
        let is_known = |number: &u32| known.as_ref().is_none_or(|known| known.contains(*number));
        let grown: Vec<u32> = grown.iter().copied().filter(is_known).collect();
        let place = (&self.environment.disk, &*self.environment.text_directory());
        let merged = text::replace(place, (old, new), replaced, known.as_ref())?;
        publish(self.environment, (merged, &grown), share, self.asking.observer)
    }

    /// Takes the lock of mergers, so that no segment disappears meanwhile. A merge may take a while; who is
    /// asked to stop does not wait for it.
    fn merger(&self) -> Result<Lock> {
        let Environment { disk, holder, .. } = self.environment;
        let path = open::text_lock(self.environment, TEXT_MERGER_LOCK)?;
        loop {
            match disk.lock(&path, holder, Wait::Refuse) {
                Err(disk::Error::Locked { .. }) if self.asking.observer.is_cancelled() => {
                    return Err(Error::Interrupted);
                }
                Err(disk::Error::Locked { .. }) => std::thread::sleep(LOOK),
                other => return Ok(other?),
            }
        }
    }

    /// Notes which segments were looked at, of those that there are now.
    fn note(&self) -> Result<()> {
        let mut writer = open::writer(self.environment, self.asking.observer)?;
        let snapshot = writer.snapshot()?;
        let state = open::state(&snapshot, &self.environment.index_directory())?;
        let mut looked = self.looked.clone();
        looked.segments.retain(|id| state.text.iter().any(|segment| segment.id == *id));
        if looked != Looked::of(&snapshot) {
            let mut transaction = Transaction::default();
            looked.add_to(&mut transaction);
            writer.commit(transaction)?;
        }
        Ok(())
    }
}

/// Returns for how long messages of a segment are read until it is exchanged.
fn batch_time(options: &UpdateOptions, segment: &TextSegment) -> Duration {
    options.batch_time.min(BATCH_TIME).saturating_mul(1 + segment.document_count / BATCH_DOCUMENTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_segment_is_not_written_anew_every_few_seconds() {
        let time = |document_count, batch_time| {
            let segment = TextSegment {
                id: "a".into(),
                document_count,
                digest: 1,
                place: crate::state::TextPlace::File,
            };
            super::batch_time(&UpdateOptions { batch_time, ..UpdateOptions::default() }, &segment)
        };
        assert_eq!(time(1000, Duration::from_secs(30)), BATCH_TIME);
        assert_eq!(time(1_000_000, Duration::from_secs(30)), BATCH_TIME * 16);
        assert_eq!(time(1_000_000, Duration::ZERO), Duration::ZERO);
    }
}
