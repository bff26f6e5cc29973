//! Removes files of messages for good, and their messages from the index.
//!
//! Input: a query. Output first what would be removed, and what an archive holds of it; then, of exactly
//! these files, what was removed. A file is removed only if it is still the one that the index knows. This
//! cannot be undone.

#[cfg(test)]
mod tests;

use crate::action::act::{AFTER, is_there, why_not};
use crate::action::carry_out::{LeftAlone, carry_out};
use crate::action::hands::RealHands;
use crate::action::log::{Kind, Log, Place, Step};
use crate::error::Result;
use crate::host::Host;
use backup::MessageArchive;
use index::{FoundFile, Places, ReadableArchive};
use query::Query;
use restic::{Repository, Snapshot};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use work::Progress;

/// Files to be removed for good.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removal {
    /// The files, sorted by path.
    pub files: Vec<FoundFile>,
    /// How many messages they are. Contents count once.
    pub message_count: u64,
    /// How many of these the archive holds.
    pub held_count: u64,
    /// How many of these have no other file, and are not held by the archive.
    pub last_count: u64,
}

/// What a removal did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Messages of which files were removed. Contents count once.
    pub message_count: u64,
    /// Files that were removed.
    pub file_count: u64,
    /// Messages that the index no longer has.
    pub forgotten_count: u64,
    /// Files that were left alone.
    pub left: Vec<LeftAlone>,
}

impl Host {
    /// Returns the files of all messages that a query matches, as [`Host::plan_action`] does, and what would
    /// be left of the messages. First brings folders in step whose files are not as the index knows them.
    ///
    /// # Errors
    /// The query cannot be answered; the repository cannot be read: it may hold every message. As
    /// [`Host::update_places`].
    pub fn plan_removal(
        &self,
        query: &Query,
        archive: Option<&Repository>,
        progress: &dyn Progress,
    ) -> Result<Removal> {
        let (mut files, mut others) = self.files_of(query)?;
        if self.update_stale(files.iter(), progress)?.is_some() {
            (files, others) = self.files_of(query)?;
        }
        let messages: Vec<[u8; 32]> =
            files.iter().map(|file| file.sha256).collect::<BTreeSet<_>>().into_iter().collect();
        let held = self.in_snapshots(&messages, archive, progress)?;
        let is_last = |(message, held): &(&[u8; 32], &bool)| !**held && !others.contains(*message);
        Ok(Removal {
            message_count: messages.len() as u64,
            held_count: held.iter().filter(|held| **held).count() as u64,
            last_count: messages.iter().zip(&held).filter(is_last).count() as u64,
            files,
        })
    }

    /// Removes these files, and the messages from the index that have no file then. What it is about to do is
    /// durable before the first file is removed. The next view shows the result.
    ///
    /// # Errors
    /// The log of actions cannot be written: nothing was done then. As [`Host::update`]: the files are
    /// removed, and the next pass and [`Host::sweep`] make up for the index.
    pub fn remove_for_good(&self, removal: &Removal, progress: &dyn Progress) -> Result<Removed> {
        let log = Log::take(&self.settings().environment, progress)?;
        let undone = self.recover(&log, progress)?;
        let (there, changed): (Vec<&FoundFile>, Vec<&FoundFile>) =
            removal.files.iter().partition(|file| is_there(file));
        let left = changed.into_iter().map(why_not).chain(undone.into_iter().flat_map(|undone| undone.left));
        let mut removed = Removed { left: left.collect(), ..Removed::default() };
        if there.is_empty() {
            return Ok(removed);
        }
        let mut entry = log.begin(Kind::Remove, there.iter().map(|file| step(file)).collect())?;
        removed.left.extend(carry_out(&log, &RealHands, &mut entry)?);
        let mut places = Places::default();
        let mut messages: BTreeMap<[u8; 32], u64> = BTreeMap::new();
        for (file, _) in there.iter().zip(&entry.steps).filter(|(_, step)| step.is_done) {
            places.add_file(&file.path());
            *messages.entry(file.sha256).or_default() += 1;
        }
        removed.message_count = messages.len() as u64;
        removed.file_count = messages.values().sum();
        removed.left.extend(self.bring_places_in_step(&places, AFTER, progress)?);
        let messages: Vec<[u8; 32]> = messages.into_keys().collect();
        removed.forgotten_count = self.forget(&messages, progress)?;
        Ok(removed)
    }

    /// Returns, for each message, whether a file of a snapshot holds it. Packs may hold more, which the next
    /// prune removes. What cannot be read counts as not held.
    fn in_snapshots(
        &self,
        messages: &[[u8; 32]],
        archive: Option<&Repository>,
        progress: &dyn Progress,
    ) -> Result<Vec<bool>> {
        let mut held = vec![false; messages.len()];
        let Some(repository) = archive else { return Ok(held) };
        let listed = repository.snapshots()?;
        let snapshots: Vec<Snapshot> = listed.complete()?.into_iter().map(|(_, snapshot)| snapshot).collect();
        let archive = MessageArchive { environment: &self.settings().environment, repository };
        archive.messages(&snapshots, progress).each_key(&mut |key| {
            if let Ok(place) = messages.binary_search(&key)
                && let Some(held) = held.get_mut(place)
            {
                *held = true;
            }
            Ok(())
        })?;
        Ok(held)
    }

    /// Returns the files that a query means, and the messages of those files that it does not mean. A file
    /// that is not there, or is one of those under another name, is none.
    fn files_of(&self, query: &Query) -> Result<(Vec<FoundFile>, BTreeSet<[u8; 32]>)> {
        let view = self.newest_view()?;
        let all = view.mailbox().found_files(&view.matching(query)?)?;
        let mut files = all.clone();
        view.mailbox().retain_meant(query, &mut files)?;
        let meant: BTreeSet<PathBuf> = files.iter().map(FoundFile::path).collect();
        let inodes: BTreeSet<u64> = files.iter().map(|file| file.inode).collect();
        let is_other = |file: &&FoundFile| {
            !meant.contains(&file.path()) && !inodes.contains(&file.inode) && is_there(file)
        };
        let others = all.iter().filter(is_other);
        let others = others.map(|file| file.sha256).collect();
        Ok((files, others))
    }
}

fn step(file: &FoundFile) -> Step {
    Step {
        from: Place(file.path()),
        to: Place(file.path()),
        inode: file.inode,
        new_inode: None,
        size_bytes: file.size_bytes,
        mtime_ns: file.mtime_ns,
        sha256: None,
        is_done: false,
        left: None,
    }
}
