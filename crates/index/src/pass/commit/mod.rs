//! Carries out a plan in batches, each published as a whole under the writer's lock.
//!
//! Input: a plan made on an older commit. Output: commits. With the lock held, every row is checked against
//! the newest commit. Rows that another writer changed meanwhile are left alone for the next pass. New
//! numbers are assigned only there.

mod archived;
mod batch;
mod contents;
mod dates;
mod ingest;
mod link;
mod people;
mod pipeline;

use crate::environment::{Environment, present_for_dates};
use crate::error::Result;
use crate::open;
use crate::pass::options::UpdateOptions;
use crate::pass::orphans;
use crate::pass::plan::{Candidate, Move, Plan, PlannedFolder, newest_first};
use crate::pass::scan::Found;
use crate::pass::summary::{Problem, Summary};
use crate::rows::FileRow;
use batch::Batch;
pub(in crate::pass) use batch::RootChange;
use contents::{Read, path_of};
pub(in crate::pass) use dates::NamedDates;
pub(in crate::pass) use ingest::{Ingest, Next};
use ingest::{Outcome, Parsing, Task};
use mail::{Compression, FileStat, Stamp};
use pipeline::{FileRead, Pipeline, Step};
use std::collections::{HashSet, VecDeque};
use std::path::Path;
use std::time::{Duration, Instant};
use store::{Version, Writer};
use work::{Progress, Stage};

/// For how long the first batch of a pass is read. Each next one is read for twice as long.
const BATCH_TIME_FIRST: Duration = Duration::from_millis(600);

/// Fewer files are read in the order of their folders.
const ORDERED_COUNT_MIN: usize = 64;

/// What is done without reading a file: rows that move, rows that get other times, drafts that only moved.
type Unread = (Vec<Move>, Vec<(FileRow, Found, FileStat)>, Vec<Candidate>);

/// The files of a plan.
struct Work<'a> {
    files: &'a [Candidate],
    folders: &'a [PlannedFolder],
    gone: &'a [FileRow],
}

/// How far the files are read, over all batches.
#[derive(Default)]
struct Reading {
    taken_count: usize,
    /// Files that were read and not taken yet.
    group: VecDeque<FileRead>,
    /// New messages that were not handed over yet.
    task: Task,
    /// Folders with files that could not be read.
    unreadable: HashSet<usize>,
}

impl Reading {
    fn is_done(&self, work: &Work<'_>) -> bool {
        self.taken_count == work.files.len()
    }
}

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
        let (whole, mut read): (Vec<Candidate>, Vec<Candidate>) =
            read.into_iter().partition(|candidate| is_moved_only(&folders, candidate));
        if read.len() > ORDERED_COUNT_MIN {
            let seconds =
                |file: &Candidate| Some(stat_of(&folders, file)?.mtime_ns.div_euclid(1_000_000_000));
            newest_first(&mut read, seconds);
        }
        let now_seconds = present_for_dates(self.environment.now_seconds());
        let parsing = Parsing { now_seconds, headers: &self.options.headers };
        let thread_count = self.environment.context.thread_count;
        let pipeline = Pipeline::new((&read, &folders), parsing, thread_count);
        let work = Work { files: &read, folders: &folders, gone: &gone };
        pipeline.run(|| self.run_batches(&work, &pipeline, (moved, restated, whole), summary))
    }

    /// Publishes batch after batch until every file is read.
    fn run_batches(
        &mut self,
        work: &Work<'_>,
        pipeline: &Pipeline<'_>,
        unread: Unread,
        summary: &mut Summary,
    ) -> Result<()> {
        let mut first = Some(unread);
        let mut reading = Reading::default();
        let mut batch_time = BATCH_TIME_FIRST.min(self.options.batch_time);
        loop {
            let writer = open::writer(self.environment, self.observer)?;
            orphans::remove(self.environment, &writer)?;
            let mut batch = Batch::begin(&writer, self.environment, self.roots, work.folders, self.trusted)?;
            if let Some((moved, restated, whole)) = first.take() {
                for entry in &moved {
                    summary.moved += u64::from(batch.change(&entry.old, &entry.new, None)?);
                }
                for (row, found, stat) in &restated {
                    summary.changed += u64::from(batch.change(row, found, Some(stat))?);
                }
                summary.moved += move_unread(&mut batch, work.folders, whole)?;
            }
            // Where the mail is, is remembered at once, whatever happens while it is read.
            let is_quick = batch.changes_roots() && !reading.is_done(work);
            let time = if is_quick { Duration::ZERO } else { batch_time };
            let ingest = self.ingest((&mut batch, time), (work, pipeline), &mut reading, summary)?;
            let is_last = reading.is_done(work) || self.observer.is_cancelled();
            if is_last {
                // An interrupted pass has not seen all new files, so a file that seems gone may only have
                // moved.
                for row in work.gone.iter().filter(|_| reading.is_done(work)) {
                    summary.gone += u64::from(batch.remove(row)?);
                }
                finish_folders(&mut batch, work.folders, &reading.unreadable, reading.is_done(work))?;
            }
            self.publish(writer, batch, ingest, summary)?;
            if is_last {
                return Ok(());
            }
            if !is_quick {
                // The newest mail can be searched soon, and yet there are few batches.
                batch_time = batch_time.saturating_mul(2).min(self.options.batch_time);
            }
        }
    }

    /// Takes files until the batch is full, no files are left, or the pass is cancelled.
    fn ingest(
        &mut self,
        (batch, time): (&mut Batch<'_>, Duration),
        (work, pipeline): (&Work<'_>, &Pipeline<'_>),
        reading: &mut Reading,
        summary: &mut Summary,
    ) -> Result<Ingest> {
        let snapshot = batch.snapshot().clone();
        let mut ingest = Ingest::new(&snapshot, batch.next(), self.environment, self.options)?;
        pipeline.begin_batch(ingest.lend_writers());
        let started = Instant::now();
        loop {
            let is_open = started.elapsed() < time
                && ingest.new_message_count() < self.options.batch_message_count
                && !self.observer.is_cancelled();
            if is_open && let Some((file, content)) = reading.group.pop_front() {
                let outcome = match content {
                    Ok(read) if read.content.truncated => {
                        let bytes_max = self.options.message_bytes_max as u64;
                        let bytes = large_bytes(&read, bytes_max);
                        drop(read);
                        pipeline.wait_for_room(bytes, bytes_max);
                        let (content, mut task) =
                            (ingest.read_large(&snapshot, &pipeline.path(file)), Task::new());
                        let outcome = ingest.take_file(&snapshot, content, &mut task)?;
                        pipeline.parse_large(task, bytes);
                        outcome
                    }
                    content => ingest.take_file(&snapshot, content, &mut reading.task)?,
                };
                if let Some(candidate) = work.files.get(file) {
                    note_outcome(
                        batch,
                        work.folders,
                        (candidate, outcome),
                        (summary, &mut reading.unreadable),
                    )?;
                }
                reading.taken_count += 1;
                self.observer.add(1, 0);
                continue;
            }
            // The group is numbered, or the batch is full.
            pipeline.parse(std::mem::take(&mut reading.task));
            match pipeline.step(is_open)? {
                Step::Link(parsed) => ingest.accept(parsed)?,
                Step::Number(group) => reading.group = group.into(),
                Step::Idle => break,
            }
        }
        ingest.take_writers(pipeline.end_batch());
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

/// Returns what a large message counts for while it is in memory, in bytes. What a compressed one unpacks to
/// is not known.
fn large_bytes(beginning: &Read, bytes_max: u64) -> u64 {
    match beginning.content.compression {
        Compression::Plain => beginning.content.stat.size_bytes.min(bytes_max),
        _ => bytes_max,
    }
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

/// Records the outcome of a file.
fn note_outcome(
    batch: &mut Batch<'_>,
    folders: &[PlannedFolder],
    (candidate, outcome): (&Candidate, Outcome),
    (summary, unreadable): (&mut Summary, &mut HashSet<usize>),
) -> Result<()> {
    match outcome {
        Outcome::Message { number, stat } => note(batch, candidate, (number, &stat), summary)?,
        Outcome::Vanished => unreadable.extend(folders_of(candidate, folders)),
        Outcome::Unreadable(error) => {
            unreadable.extend(folders_of(candidate, folders));
            let path = path_of(directory_of(folders, candidate.found.folder), candidate);
            summary.problems.push(Problem::new(path, error.reason()));
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
