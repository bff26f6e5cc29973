//! Carries out a plan in batches, each published as a whole.
//!
//! Input: a plan made on an older commit. Output: commits. Files are read, messages parsed and text written
//! without the writer's lock. With it, a commit is only published, if it rests on the newest one. Rows that
//! another writer changed meanwhile are left alone for the next pass.

mod archived;
mod background;
mod batch;
mod contents;
mod dates;
mod findings;
mod link;
mod number;
mod parse;
mod people;
mod pipeline;
mod planned;
mod publish;
mod queue;

use crate::environment::{Environment, present_for_dates};
use crate::error::{Error, Result};
use crate::open;
use crate::pass::options::UpdateOptions;
use crate::pass::orphans;
use crate::pass::plan::{Candidate, Plan, PlannedFolder, newest_first};
use crate::pass::summary::{Problem, Summary};
use crate::text;
pub(in crate::pass) use archived::Archived;
use background::{Holder, Publishing};
use contents::{Manner, Read, path_of, read_large};
pub(in crate::pass) use findings::{Claim, Findings};
use findings::{Counts, End, Unread};
use mail::{Compression, FileStat};
pub(in crate::pass) use number::Numbers;
use parse::{Parsing, Task};
use pipeline::Pipeline;
pub(in crate::pass) use planned::{Planned, RootChange};
use planned::{directory_of, folders_of, stat_of};
pub(in crate::pass) use publish::{Published, Publisher};
use queue::FileRead;
use std::collections::{HashSet, VecDeque};
use std::path::Path;
use std::time::{Duration, Instant};
use store::{Snapshot, Writer};
use work::{Progress, Stage};

/// For how long the first batch of a pass is read. Each next one is read for twice as long.
const BATCH_TIME_FIRST: Duration = Duration::from_millis(600);

/// Fewer files are read in the order of their folders.
const ORDERED_COUNT_MIN: usize = 64;

/// A pass with at most as many files to read expects that nobody else adds messages meanwhile. If somebody
/// does, it begins again. A larger one first sets numbers aside, which takes a commit of its own.
const UNCLAIMED_COUNT_MAX: usize = 1_000;

/// The fewest numbers that a pass sets aside, unless it has fewer files: more than the first two batches
/// need, so that none of them ends early. Those that it does not use are lost.
const SET_ASIDE_COUNT_MIN: usize = 32_768;

/// Whether a pass sets numbers aside for its new messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pass) enum SetAside {
    /// If it has many files to read.
    IfMany,
    /// In any case.
    Always,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pass) enum Ended {
    /// There was nothing to do.
    Unchanged,
    /// Everything is published, or as much as there was time for.
    Done,
    /// Others have written so much that the plan is of no use. What was published before stays.
    Outdated,
}

/// How far the files are read, over all batches.
#[derive(Default)]
struct Reading {
    taken_count: usize,
    /// Files that were read and not taken yet.
    group: VecDeque<FileRead>,
    /// New messages that were not handed over yet.
    task: Task,
    /// What the next commit holds besides files that are read.
    unread: Unread,
    /// What the commits so far hold.
    counts: Counts,
    /// Folders with files that could not be read.
    unreadable: HashSet<usize>,
    problems: Vec<Problem>,
}

/// A pass that writes.
pub(in crate::pass) struct Session<'a> {
    pub(in crate::pass) environment: &'a Environment,
    pub(in crate::pass) roots: &'a RootChange,
    pub(in crate::pass) options: &'a UpdateOptions,
    pub(in crate::pass) observer: &'a dyn Progress,
    pub(in crate::pass) set_aside: SetAside,
}

impl<'a> Session<'a> {
    /// Carries out a plan that was made on `snapshot`. Moves come first and removals last, so that a file
    /// that was copied and then removed is never absent.
    ///
    /// # Errors
    /// A full disk, damage. Everything published before stays.
    pub(in crate::pass) fn run(
        &self,
        plan: Plan,
        snapshot: &Snapshot,
        summary: &mut Summary,
    ) -> Result<Ended> {
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
        let planned = Planned { roots: self.roots, files: &read, folders: &folders, gone: &gone };
        let mut publisher = Publisher::new(self.environment, self.options, planned, snapshot);
        let mut unread = Unread { moved, restated, whole };
        let state = open::state(snapshot, &self.environment.index_directory())?;
        let first = state.next_message;
        let end = u32::try_from(read.len()).ok().and_then(|count| first.checked_add(count));
        let end = end.ok_or(Error::Limit { what: "the number of messages", limit: u64::from(u32::MAX) })?;
        let mut start = (Claim::From(first), snapshot.clone(), first..end);
        let unclaimed_max = UNCLAIMED_COUNT_MAX.min(self.options.batch_message_count);
        let is_large = read.len() > unclaimed_max || self.set_aside == SetAside::Always;
        if !read.is_empty() && (is_large || !self.roots.is_none()) {
            // Where the mail is, is remembered at once, whatever happens while it is read.
            let wanted_count = self.numbers_ahead(read.len(), 0);
            let findings = Findings {
                unread: std::mem::take(&mut unread),
                wanted_count,
                cleans_up: true,
                ..Findings::none(Claim::Granted)
            };
            let Some(published) = publisher.publish(&findings, self.observer)? else {
                return Ok(Ended::Outdated);
            };
            published.counts.add_to(summary);
            if let Some(writer) = published.writer {
                orphans::remove(self.environment, writer)?;
            }
            start = (Claim::Granted, published.snapshot, published.granted);
        }
        // Nobody removes segments of text that no commit names yet.
        let share =
            if read.is_empty() { None } else { Some(orphans::share(self.environment, self.observer)?) };
        let (claim, snapshot, free) = start;
        let reader = Reader { session: self, planned, claim, numbers: Numbers::new(snapshot, free) };
        let (ended, writer) = reader.run(publisher, unread, summary)?;
        drop(share);
        match writer {
            Some(writer) => orphans::remove(self.environment, writer)?,
            // What was written turned out to be of no use.
            None if !read.is_empty() => orphans::remove_after_failure(self.environment),
            None => {}
        }
        Ok(ended)
    }

    /// Returns how many numbers to have ready for the batch that is read and the next one, given how many new
    /// messages the last batch had and how many files are left. A batch is read for twice as long as the
    /// last.
    fn numbers_ahead(&self, left: usize, new_count: usize) -> usize {
        let most = self.options.batch_message_count.saturating_mul(2);
        new_count.saturating_mul(6).max(SET_ASIDE_COUNT_MIN).min(most).min(left)
    }
}

/// Reads the files of a plan, and has batches of them published.
struct Reader<'s, 'a> {
    session: &'s Session<'a>,
    planned: Planned<'s>,
    claim: Claim,
    numbers: Numbers,
}

impl<'s> Reader<'s, '_> {
    /// Publishes batch after batch until every file is read. Returns the writer of the last one.
    fn run(
        mut self,
        publisher: Publisher<'s>,
        unread: Unread,
        summary: &mut Summary,
    ) -> Result<(Ended, Option<Writer>)> {
        let Session { environment, options, .. } = self.session;
        let now_seconds = present_for_dates(environment.now_seconds());
        let parsing = Parsing { now_seconds, headers: &options.headers };
        let thread_count = environment.context.thread_count;
        let directory = environment.text_directory();
        let make_writer = || text::writer(&environment.disk, &directory, thread_count);
        let planned = (self.planned.files, self.planned.folders);
        let pipeline = Pipeline::new(planned, parsing, &make_writer, thread_count);
        let mut reading = Reading { unread, ..Reading::default() };
        let holder = Holder::default();
        let ended = pipeline.run(|| {
            std::thread::scope(|scope| {
                let publishing = Publishing {
                    scope,
                    observer: self.session.observer,
                    holder: &holder,
                    thread_count,
                    pipeline: &pipeline,
                    idle: Some(publisher),
                    busy: None,
                };
                self.run_batches(publishing, &mut reading)
            })
        });
        reading.counts.add_to(summary);
        summary.problems.extend(reading.problems);
        ended
    }

    fn run_batches<'scope>(
        &mut self,
        mut publishing: Publishing<'scope, '_, 's>,
        reading: &mut Reading,
    ) -> Result<(Ended, Option<Writer>)>
    where
        's: 'scope,
    {
        let (options, pipeline) = (self.session.options, publishing.pipeline);
        let mut batch_time = match self.claim {
            Claim::Granted => BATCH_TIME_FIRST.min(options.batch_time),
            // What nobody has set aside is used by one commit.
            Claim::From(_) => Duration::MAX,
        };
        loop {
            if self.numbers.free_count() == 0 && publishing.busy.is_some() {
                let Some(_) = self.take(&mut publishing, reading)? else {
                    return Ok((Ended::Outdated, None));
                };
            }
            let files = match self.read_batch(pipeline, reading, batch_time, &|| publishing.is_idle()) {
                Ok(files) => files,
                Err(error) => {
                    // Whoever waits for another process says so.
                    let _ = publishing.wait();
                    return Err(error);
                }
            };
            let batch = pipeline.end_batch();
            // Memory holds one batch that is being published, besides the one that is read.
            if publishing.busy.is_some() {
                let Some(_) = self.take(&mut publishing, reading)? else {
                    return Ok((Ended::Outdated, None));
                };
            }
            let findings = self.findings(files, reading);
            let is_last = findings.is_last();
            self.numbers.end_batch();
            publishing.begin(batch, findings);
            if is_last || !pipeline.has_workers() {
                let Some(writer) = self.take(&mut publishing, reading)? else {
                    return Ok((Ended::Outdated, None));
                };
                if is_last {
                    return Ok((Ended::Done, writer));
                }
            }
            // The newest mail can be searched soon, and yet there are few batches.
            batch_time = batch_time.saturating_mul(2).min(options.batch_time);
        }
    }

    /// Waits until a batch is published, and takes over its numbers. Returns its writer, if that is kept, or
    /// `None` if the pass must begin again.
    fn take<'scope>(
        &mut self,
        publishing: &mut Publishing<'scope, '_, 's>,
        reading: &mut Reading,
    ) -> Result<Option<Option<Writer>>>
    where
        's: 'scope,
    {
        let Some(published) = publishing.wait()? else { return Ok(None) };
        reading.counts.add(published.counts);
        self.numbers.published(published.snapshot, published.granted);
        Ok(Some(published.writer))
    }

    /// Returns what a batch with these files has found out, except for its messages.
    fn findings(&self, files: Vec<(usize, u32, FileStat)>, reading: &mut Reading) -> Findings {
        let unread = std::mem::take(&mut reading.unread);
        let mut findings = Findings { unread, files, ..Findings::none(self.claim) };
        let left = self.planned.files.len() - reading.taken_count;
        if left == 0 || self.session.observer.is_cancelled() {
            findings.cleans_up = true;
            let unreadable = std::mem::take(&mut reading.unreadable);
            findings.end = Some(End { is_complete: left == 0, unreadable });
        } else if self.claim == Claim::Granted {
            findings.wanted_count = self
                .session
                .numbers_ahead(left, self.numbers.new_count())
                .saturating_sub(self.numbers.free_count());
        }
        findings
    }

    /// Takes files until the batch is full, no files are left, or the pass is cancelled. Returns each file
    /// with the number of its message. A batch is full when its time is up and the one before it is
    /// published, or when it has all messages that it may have.
    fn read_batch(
        &mut self,
        pipeline: &Pipeline<'_>,
        reading: &mut Reading,
        time: Duration,
        is_published: &dyn Fn() -> bool,
    ) -> Result<Vec<(usize, u32, FileStat)>> {
        let Session { options, observer, .. } = self.session;
        let mut files = Vec::new();
        let started = Instant::now();
        loop {
            let is_full = self.numbers.new_count() >= options.batch_message_count
                || self.numbers.free_count() == 0
                || (started.elapsed() >= time && is_published());
            let is_open = !is_full && !observer.is_cancelled();
            if is_open && let Some((file, content)) = reading.group.pop_front() {
                match self.number(pipeline, reading, file, content)? {
                    Ok((number, stat)) => files.push((file, number, stat)),
                    Err(error) => self.note_unread(reading, file, &error),
                }
                reading.taken_count += 1;
                observer.add(1, 0);
                continue;
            }
            // The group is numbered, or the batch is full.
            pipeline.parse(std::mem::take(&mut reading.task));
            if !is_open {
                return Ok(files);
            }
            match pipeline.next_files()? {
                Some(group) => reading.group = group.into(),
                None => return Ok(files),
            }
        }
    }

    /// Numbers a file that was read, and has its message parsed if it is new. Reads the rest of a large
    /// file.
    fn number(
        &mut self,
        pipeline: &Pipeline<'_>,
        reading: &mut Reading,
        file: usize,
        content: mail::Result<Read>,
    ) -> Result<mail::Result<(u32, FileStat)>> {
        let bytes_max = self.session.options.message_bytes_max as u64;
        let (content, large_bytes) = match content {
            Ok(read) if read.content.truncated => {
                let bytes = large_bytes(&read, bytes_max);
                drop(read);
                pipeline.wait_for_room(bytes, bytes_max);
                (self.read_large(&pipeline.path(file)), Some(bytes))
            }
            content => (content, None),
        };
        let read = match content {
            Ok(read) => read,
            Err(error) => return Ok(Err(error)),
        };
        let stat = read.content.stat;
        let (number, is_new) = self.numbers.number(read.sha256)?;
        if is_new {
            match large_bytes {
                Some(bytes) => pipeline.parse_large(vec![(number, read)], bytes),
                None => reading.task.push((number, read)),
            }
        }
        Ok(Ok((number, stat)))
    }

    /// Reads a file that is larger than what is read ahead.
    fn read_large(&self, path: &Path) -> mail::Result<Read> {
        let Session { environment, options, .. } = self.session;
        let is_known = |sha256: &[u8; 32]| self.numbers.known(sha256).is_ok_and(|known| known.is_some());
        let manner = Manner {
            limit_bytes: options.message_bytes_max,
            now_seconds: present_for_dates(environment.now_seconds()),
            headers: &options.headers,
            is_known: &is_known,
        };
        read_large(path, &manner)
    }

    /// Notes a file that could not be read. If it disappeared, the next pass finds out where it went.
    fn note_unread(&self, reading: &mut Reading, file: usize, error: &mail::Error) {
        let Some(candidate) = self.planned.files.get(file) else { return };
        reading.unreadable.extend(folders_of(candidate, self.planned.folders));
        if !error.is_not_found() {
            let path = path_of(directory_of(self.planned.folders, candidate.found.folder), candidate);
            reading.problems.push(Problem::new(path, error.reason()));
        }
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

/// Returns what a large message counts for while it is in memory, in bytes. What a compressed one unpacks to
/// is not known.
fn large_bytes(beginning: &Read, bytes_max: u64) -> u64 {
    match beginning.content.compression {
        Compression::Plain => beginning.content.stat.size_bytes.min(bytes_max),
        _ => bytes_max,
    }
}
