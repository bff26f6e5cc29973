//! Notes in the log of actions what an import does, so that it can be undone: the files of each batch, and at
//! its end the tags, and the flags of files that were there before.
//!
//! Input: messages that are written and have no names yet; tags that are about to be set. Output: messages
//! with their names, and parts of the log. Each part is bounded by a batch, however long the import is; for
//! the user all of them are one action. Does not know where messages come from.

#[cfg(test)]
mod crashes;
#[cfg(test)]
mod tests;

use crate::action::carry_out::{LeftAlone, carry_out};
use crate::action::hands::RealHands;
use crate::action::log::{AddedTags, Entry, ImportPart, Kind, Log, Place, Step};
use crate::error::{Error, Result};
use crate::host::Host;
use crate::view::View;
use index::{Hit, TagChange, TagEdit};
use mail::{BATCH_COUNT_MAX, Batch, Written};
use printable::hex;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use work::Progress;

/// Tags that messages do not have yet, with the SHA-256 of each of these messages.
pub(crate) type NewTags = BTreeMap<BTreeSet<String>, Vec<[u8; 32]>>;

/// What the log of actions knows of an import that goes on.
pub(crate) struct ImportNotes {
    /// The number of the first part, once there is one.
    first: Cell<u64>,
    sources: Vec<PathBuf>,
    folder: String,
    /// How many messages a part with tags or flags has at most.
    part_size: usize,
}

impl ImportNotes {
    /// Begins the notes of an import of these sources into this folder, as the user named them.
    pub(crate) fn new(sources: Vec<PathBuf>, folder: &str) -> ImportNotes {
        ImportNotes { first: Cell::new(0), sources, folder: folder.to_owned(), part_size: BATCH_COUNT_MAX }
    }

    /// Gives all messages of a batch their names, durably. What it is about to do is durable before that.
    ///
    /// # Errors
    /// The log or the folder cannot be written. Some messages may have their names then; the others are
    /// removed.
    pub(crate) fn name(&self, host: &Host, batch: &mut Batch<'_>, progress: &dyn Progress) -> Result<()> {
        let named = self.try_to_name(host, batch, progress);
        if named.is_ok() {
            batch.begin_next();
        } else {
            batch.discard();
        }
        named
    }

    fn try_to_name(&self, host: &Host, batch: &Batch<'_>, progress: &dyn Progress) -> Result<()> {
        let written = batch.make_durable().map_err(Error::Delivery)?;
        if written.is_empty() {
            return Ok(());
        }
        let steps = written.iter().map(step).collect::<mail::Result<_>>().map_err(Error::Delivery)?;
        let log = Log::take(&host.settings().environment, progress)?;
        host.recover(&log, progress)?;
        let mut entry = self.begin_files(&log, Kind::Import, steps)?;
        match carry_out(&log, &RealHands, &mut entry)?.into_iter().next() {
            None => Ok(()),
            Some(LeftAlone { path, why }) => {
                Err(Error::Delivery(mail::Error::io("name", &path, io::Error::other(why))))
            }
        }
    }

    /// Sets tags by `set`, and notes before that which of them are new.
    ///
    /// # Errors
    /// The log cannot be written; as `set`.
    pub(crate) fn tag(
        &self,
        host: &Host,
        new: NewTags,
        progress: &dyn Progress,
        set: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        if new.is_empty() {
            return set();
        }
        {
            let log = Log::take(&host.settings().environment, progress)?;
            host.recover(&log, progress)?;
            in_parts(new, self.part_size, &mut |tags| {
                self.begin(&log, Kind::Import, tags, Vec::new()).map(|_| ())
            })?;
        }
        // Tags that stand for flags are a part of their own. After an error some tags may be set, so the note
        // stays: to take away what is not there changes nothing.
        set()
    }

    /// Begins a part that changes files.
    ///
    /// # Errors
    /// The log cannot be written.
    pub(super) fn begin_files(&self, log: &Log<'_>, kind: Kind, steps: Vec<Step>) -> Result<Entry> {
        self.begin(log, kind, Vec::new(), steps)
    }

    /// Returns how many files a part has at most that changes flags.
    pub(super) fn part_size(&self) -> usize {
        self.part_size
    }

    fn begin(&self, log: &Log<'_>, kind: Kind, tags: Vec<AddedTags>, steps: Vec<Step>) -> Result<Entry> {
        let sources = self.sources.iter().cloned().map(Place).collect();
        let part = ImportPart { first: self.first.get(), sources, folder: self.folder.clone(), tags };
        let entry = log.begin_part(kind, part, steps)?;
        self.first.set(entry.import.as_ref().map_or(0, |part| part.first));
        Ok(entry)
    }
}

/// Gives tags to a writer in parts with at most this many messages each.
fn in_parts(
    new: NewTags,
    part_size: usize,
    write: &mut dyn FnMut(Vec<AddedTags>) -> Result<()>,
) -> Result<()> {
    let (mut part, mut count) = (Vec::new(), 0);
    for (tags, contents) in new {
        let mut rest = contents.as_slice();
        while !rest.is_empty() {
            let (some, others) = rest.split_at(rest.len().min(part_size - count));
            let contents = some.iter().map(|sha256| hex(sha256)).collect();
            part.push(AddedTags { tags: tags.clone(), contents });
            (count, rest) = (count + some.len(), others);
            if count == part_size {
                write(std::mem::take(&mut part))?;
                count = 0;
            }
        }
    }
    if part.is_empty() { Ok(()) } else { write(part) }
}

impl Host {
    /// Removes the tags that a part of an import set, in one commit. Doing it again changes nothing more.
    ///
    /// # Errors
    /// Damage, a full disk: then no tag is removed.
    pub(super) fn remove_added_tags(&self, view: &View, entry: &Entry) -> Result<()> {
        let mut edits: Vec<(Vec<Hit>, TagEdit)> = Vec::new();
        for AddedTags { tags, contents } in entry.import.iter().flat_map(|part| &part.tags) {
            let mut hits = Vec::new();
            for content in contents {
                match view.resolve(content) {
                    // It was swept.
                    Err(Error::Index(index::Error::NoSuchMessage { .. })) => {}
                    found => hits.extend(found?),
                }
            }
            let change = TagChange { remove: tags.clone(), ..TagChange::default() };
            edits.push((hits, TagEdit::Change(change)));
        }
        self.write_user(|environment| {
            index::edit_tags(environment, view.mailbox(), &edits, &environment.context.cancel)
        })?;
        Ok(())
    }
}

fn step(written: &Written) -> mail::Result<Step> {
    let stat = mail::stat_entry(&written.temporary)?;
    Ok(Step {
        from: Place(written.temporary.clone()),
        to: Place(written.to.clone()),
        inode: stat.inode,
        new_inode: None,
        size_bytes: stat.size_bytes,
        mtime_ns: stat.mtime_ns,
        sha256: Some(hex(&written.sha256)),
        is_done: false,
        left: None,
    })
}
