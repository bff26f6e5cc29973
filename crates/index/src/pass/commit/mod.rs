//! Carries out a plan in batches, each published as a whole under the writer's lock.
//!
//! Input: a plan made on an older commit. Output: commits. With the lock held, every row is checked against
//! the newest commit. Rows that another writer changed meanwhile are left alone for the next pass. New
//! numbers are assigned only there.

mod batch;
mod contents;
mod dates;
mod ingest;
mod link;
mod people;

use crate::environment::Environment;
use crate::error::Result;
use crate::open;
use crate::pass::options::UpdateOptions;
use crate::pass::orphans;
use crate::pass::plan::{Candidate, Plan, PlannedFolder};
use crate::pass::summary::{Problem, Summary};
use batch::Batch;
pub(in crate::pass) use batch::RootChange;
use contents::{CHUNK_FILE_COUNT, Chunk, path_of};
pub(in crate::pass) use dates::NamedDates;
use ingest::Outcome;
pub(in crate::pass) use ingest::{Ingest, Next};
use mail::{FileStat, Stamp};
use std::collections::{HashSet, VecDeque};
use std::path::Path;
use std::time::Instant;
use store::{Version, Writer};
use work::{Progress, Stage};

/// A pass that writes.
pub(in crate::pass) struct Session<'a> {
    environment: &'a Environment,
    roots: &'a RootChange,
    options: &'a UpdateOptions,
    observer: &'a dyn Progress,
    /// The commit that the plan or our own last batch is based on. Newer commits come from other processes.
    trusted: Version,
}

impl<'a> Session<'a> {
    /// Returns a session for a plan that was made on commit `version`.
    pub(in crate::pass) fn new(
        environment: &'a Environment,
        roots: &'a RootChange,
        version: Version,
        options: &'a UpdateOptions,
        observer: &'a dyn Progress,
    ) -> Session<'a> {
        Session { environment, roots, options, observer, trusted: version }
    }

    /// Carries out the plan. Moves come first and removals last, so that a file that was copied and then
    /// removed is never absent.
    ///
    /// # Errors
    /// A full disk, damage. Everything published before stays.
    pub(in crate::pass) fn run(&mut self, plan: Plan, summary: &mut Summary) -> Result<()> {
        let Plan { folders, moved, restated, read, gone, .. } = plan;
        if !read.is_empty() {
            self.observer.stage(Stage::Read);
            self.observer.expect(read.len() as u64, 0);
        }
        let mut queue: VecDeque<Candidate> = read.into();
        let mut first = Some((moved, restated));
        let mut unreadable = HashSet::new();
        loop {
            let writer = open::writer(self.environment, self.observer)?;
            orphans::remove(self.environment, &writer)?;
            let mut batch = Batch::begin(&writer, self.environment, self.roots, &folders, self.trusted)?;
            if let Some((moved, restated)) = first.take() {
                for entry in &moved {
                    summary.moved += u64::from(batch.change(&entry.old, &entry.new, None)?);
                }
                for (row, found, stat) in &restated {
                    summary.changed += u64::from(batch.change(row, found, Some(stat))?);
                }
                let whole;
                (whole, queue) = queue.into_iter().partition(|candidate| is_moved_only(&folders, candidate));
                summary.moved += move_unread(&mut batch, &folders, whole)?;
            }
            let ingest = self.ingest(&mut batch, &folders, &mut queue, (summary, &mut unreadable))?;
            let is_last = queue.is_empty() || self.observer.is_cancelled();
            if is_last {
                // An interrupted pass has not seen all new files, so a file that seems gone may only have
                // moved.
                for row in gone.iter().filter(|_| queue.is_empty()) {
                    summary.gone += u64::from(batch.remove(row)?);
                }
                finish_folders(&mut batch, &folders, &unreadable, queue.is_empty())?;
            }
            self.publish(writer, batch, ingest, summary)?;
            if is_last {
                return Ok(());
            }
        }
    }

    /// Reads files until the batch is full, no files are left, or the pass is cancelled.
    fn ingest(
        &mut self,
        batch: &mut Batch<'_>,
        folders: &[PlannedFolder],
        queue: &mut VecDeque<Candidate>,
        (summary, unreadable): (&mut Summary, &mut HashSet<usize>),
    ) -> Result<Ingest> {
        let environment = self.environment;
        let snapshot = batch.snapshot().clone();
        let mut ingest = Ingest::new(&snapshot, batch.next(), environment, self.options)?;
        let started = Instant::now();
        let mut next_chunk = |new_count: usize| {
            let room = self.options.batch_message_count.saturating_sub(new_count);
            let count = CHUNK_FILE_COUNT.min(queue.len()).min(room);
            let goes_on = started.elapsed() < self.options.batch_time && !self.observer.is_cancelled();
            (count > 0 && goes_on)
                .then(|| Chunk::new(queue.drain(..count).collect(), |index| directory_of(folders, index)))
        };
        let mut next = next_chunk(0);
        next.iter_mut().for_each(Chunk::read);
        while let Some(mut chunk) = next {
            let outcomes = ingest.parse(&snapshot, &mut chunk)?;
            next = next_chunk(ingest.new_message_count());
            // One core links messages to each other and to their files, while the others keep reading.
            let count = chunk.candidates.len() as u64;
            rayon::in_place_scope(|scope| -> Result<()> {
                if let Some(next) = &mut next {
                    scope.spawn(|_| next.read());
                }
                ingest.link()?;
                note_all(batch, folders, chunk.candidates.iter().zip(outcomes), (summary, unreadable))
            })?;
            self.observer.add(count, 0);
        }
        Ok(ingest)
    }

    fn publish(
        &mut self,
        mut writer: Writer,
        mut batch: Batch<'_>,
        ingest: Ingest,
        summary: &mut Summary,
    ) -> Result<()> {
        summary.new_messages += ingest.new_message_count() as u64;
        if ingest.new_message_count() > 0 {
            batch.read_with_headers(&self.options.headers);
        }
        let ingested = ingest.finish(batch.named_dates())?;
        if !ingested.text.is_empty() {
            self.environment.disk.sync_directory(&self.environment.text_directory())?;
        }
        let is_trusted = batch.is_trusted();
        let Some(transaction) = batch.finish(ingested)? else { return Ok(()) };
        let version = writer.commit(transaction)?;
        // The plan does not include what another process committed. After such a commit, our own ones are not
        // trusted either.
        if is_trusted {
            self.trusted = version;
        }
        Ok(())
    }
}

/// Returns whether a file to read is only moved: it has another place than its row says, but the row's size
/// and time of modification. Such a file is a draft that was moved or reflagged.
fn is_moved_only(folders: &[PlannedFolder], candidate: &Candidate) -> bool {
    let (Some(old), Some(folder)) = (&candidate.replaces, folders.get(candidate.found.folder)) else {
        return false;
    };
    let found = &candidate.found;
    let is_moved =
        (folder.row.number, found.subdirectory, &found.name) != (old.folder, old.subdirectory, &old.name);
    is_moved
        && stat_of(folders, candidate)
            .is_some_and(|stat| (stat.size_bytes, stat.mtime_ns) == (old.size_bytes, old.mtime_ns))
}

/// Moves rows without reading their files. Returns how many.
fn move_unread(
    batch: &mut Batch<'_>,
    folders: &[PlannedFolder],
    moved: impl IntoIterator<Item = Candidate>,
) -> Result<u64> {
    let mut count = 0;
    for candidate in moved {
        if let (Some(old), stat) = (&candidate.replaces, stat_of(folders, &candidate)) {
            count += u64::from(batch.change(old, &candidate.found, stat.as_ref())?);
        }
    }
    Ok(count)
}

fn stat_of(folders: &[PlannedFolder], candidate: &Candidate) -> Option<FileStat> {
    let found = &candidate.found;
    let place = folders.get(found.folder)?.path.join(found.subdirectory.name());
    mail::stat_file(&mail::join(&place, &found.name)).ok()
}

/// Returns the folders that are incomplete while a file is not read: its folder, and the folder of the row
/// that it replaces.
fn folders_of(candidate: &Candidate, folders: &[PlannedFolder]) -> impl Iterator<Item = usize> {
    let old = candidate
        .replaces
        .as_ref()
        .and_then(|old| folders.iter().position(|folder| !folder.is_new && folder.row.number == old.folder));
    std::iter::once(candidate.found.folder).chain(old)
}

/// Records the outcomes of files, in order.
fn note_all<'a>(
    batch: &mut Batch<'_>,
    folders: &[PlannedFolder],
    outcomes: impl Iterator<Item = (&'a Candidate, Outcome)>,
    (summary, unreadable): (&mut Summary, &mut HashSet<usize>),
) -> Result<()> {
    for (candidate, outcome) in outcomes {
        match outcome {
            Outcome::Message { number, stat } => note(batch, candidate, (number, &stat), summary)?,
            Outcome::Vanished => unreadable.extend(folders_of(candidate, folders)),
            Outcome::Unreadable(error) => {
                unreadable.extend(folders_of(candidate, folders));
                let path = path_of(directory_of(folders, candidate.found.folder), candidate);
                summary.problems.push(Problem::new(path, error.reason()));
            }
        }
    }
    Ok(())
}

fn directory_of(folders: &[PlannedFolder], index: usize) -> &Path {
    folders.get(index).map_or(Path::new(""), |folder| folder.path.as_path())
}

/// Records a file that was read.
fn note(
    batch: &mut Batch<'_>,
    candidate: &Candidate,
    read: (u32, &FileStat),
    summary: &mut Summary,
) -> Result<()> {
    let is_done = match &candidate.replaces {
        Some(old) => {
            let is_done = batch.replace(old, &candidate.found, read)?;
            summary.changed += u64::from(is_done);
            is_done
        }
        None => {
            let is_done = batch.add(&candidate.found, read)?;
            summary.added += u64::from(is_done);
            is_done
        }
    };
    if !is_done {
        // Another writer was faster, so the message may have no file.
        batch.left_over(read.0);
    }
    Ok(())
}

/// Stores the state of folders. A stamp means that everything in the directory is done.
fn finish_folders(
    batch: &mut Batch<'_>,
    folders: &[PlannedFolder],
    unreadable: &HashSet<usize>,
    is_complete: bool,
) -> Result<()> {
    for (index, folder) in folders.iter().enumerate() {
        let has_rest = unreadable.contains(&index);
        if !folder.is_changed && !has_rest {
            continue;
        }
        // If another writer was faster, its changes and our state may not match.
        let is_whole = is_complete && !has_rest && batch.is_trusted();
        let known = folder.row.directories.map(|directory| Some(directory.stamp).filter(|_| has_rest));
        let stamps = [0, 1].map(|place| folder.stamps[place].or(known[place]));
        let stamps = if is_whole { stamps } else { stamps.map(|stamp| stamp.map(Stamp::without_times)) };
        batch.finish_folder(index, stamps, is_complete && folder.is_gone)?;
    }
    Ok(())
}
