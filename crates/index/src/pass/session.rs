//! One pass: lists directories, decides what to do, reads files in batches, and has each batch published.
//!
//! Input: the last commit and its roots. Output: commits, each a whole; a summary; and how the pass ended.
//! Files are read, messages parsed and text written without the writer's lock. With it, a commit is only
//! published, if it rests on the newest one. Rows that another writer changed meanwhile are left alone for
//! the next pass. Must not know how often a pass begins again, nor where the roots come from.

use crate::environment::{Environment, present_for_dates};
use crate::error::{Error, Result};
use crate::open;
use crate::pass::commit::{
    Claim, Counts, End, FileRead, Findings, Holder, Manner, Numbers, Parsing, Pipeline, Planned, Publisher,
    Publishing, Read, RootChange, SetAside, Task, Unread, directory_of, folders_of, is_moved_only,
    large_bytes, numbers_ahead, path_of, read_large, stat_of,
};
use crate::pass::options::{Cleanup, UpdateOptions};
use crate::pass::orphans;
use crate::pass::plan::{Candidate, Gone, Plan, newest_first, plan};
use crate::pass::renamed;
use crate::pass::scan::{FileRows, Input, count_rows, find_folders, look_up, read_directories};
use crate::pass::summary::{Problem, Summary};
use crate::text;
use mail::FileStat;
use std::collections::{HashSet, VecDeque};
use std::path::Path;
use std::time::{Duration, Instant};
use store::{Snapshot, Writer};
use work::{Progress, Stage};

/// For how long the first batch of a pass is read. Each next one is read for twice as long.
const BATCH_TIME_FIRST: Duration = Duration::from_millis(600);

/// The last batch of a long pass is small: nothing is left to be read while it is published. The one before
/// it has this many files for each that is left.
const LAST_SHARE: usize = 4;

/// Fewer files are read in the order of their folders.
const ORDERED_COUNT_MIN: usize = 64;

/// How a pass ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// There was nothing to do.
    Unchanged,
    /// Everything is published, or as much as there was time for.
    Done,
    /// Others have written so much that the plan is of no use. What was published before stays.
    Outdated,
}

/// One pass, as far as it came.
pub(super) struct Attempt {
    pub(super) summary: Summary,
    pub(super) ended: Ended,
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
struct Session<'a> {
    environment: &'a Environment,
    roots: &'a RootChange,
    options: &'a UpdateOptions,
    observer: &'a dyn Progress,
    set_aside: SetAside,
}

/// Lists, decides and publishes. `roots_after` gets the indexes of the roots that stay as they were, and
/// returns which roots to remember.
///
/// # Errors
/// A full disk, damage; [`Error::Interrupted`] if the pass was cancelled before it had a plan. Everything
/// published before stays.
pub(super) fn run(
    input: &Input<'_>,
    (options, set_aside): (&UpdateOptions, SetAside),
    observer: &dyn Progress,
    roots_after: impl FnOnce(&[usize]) -> RootChange,
) -> Result<Attempt> {
    let environment = input.environment;
    let known = FileRows::new(input.snapshot)?;
    let mut scan = find_folders(input);
    read_directories(input, &known, &mut scan, observer)?;
    count_rows(input, &known, &mut scan)?;
    let gone = match options.cleanup {
        Cleanup::Pass => Gone::NotSeen,
        Cleanup::Keep => Gone::None,
        Cleanup::Legacy => Gone::LookedUp(look_up(&scan, &known, observer)?),
    };
    if observer.is_cancelled() {
        // The scan is incomplete: files that it did not see may still exist.
        return Err(Error::Interrupted);
    }
    let plan = plan(scan, input.roots, options.loss, gone);
    let mut summary = plan.summary.clone();
    let roots = &roots_after(&plan.kept_roots);
    if plan.is_empty() && roots.is_none() {
        return Ok(Attempt { summary, ended: Ended::Unchanged });
    }
    summary.problems.extend(renamed::note(&plan, input, observer)?);
    let session = Session { environment, roots, options, observer, set_aside };
    let ended = session.carry_out(plan, input.snapshot, &mut summary)?;
    Ok(Attempt { summary, ended })
}

impl Session<'_> {
    /// Carries out a plan that was made on `snapshot`. Moves come first and removals last, so that a file
    /// that was copied and then removed is never absent.
    ///
    /// # Errors
    /// A full disk, damage. Everything published before stays.
    fn carry_out(&self, plan: Plan, snapshot: &Snapshot, summary: &mut Summary) -> Result<Ended> {
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
        let sets_aside = self.set_aside.applies(read.len(), self.options.batch_message_count);
        if !read.is_empty() && (sets_aside || !self.roots.is_none()) {
            // Where the mail is, is remembered at once, whatever happens while it is read.
            let wanted_count = numbers_ahead(read.len(), 0, self.options.batch_message_count);
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
        let parsing = Parsing { now_seconds, headers: &options.headers, attached: None };
        let thread_count = environment.context.threads.count();
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
            let batch_message_count = self.session.options.batch_message_count;
            findings.wanted_count = numbers_ahead(left, self.numbers.new_count(), batch_message_count)
                .saturating_sub(self.numbers.free_count());
        }
        findings
    }

    /// Takes files until the batch is full, no files are left, or the pass is cancelled. Returns each file
    /// with the number of its message. A batch is full when its time is up, or few files are left, and the
    /// one before it is published; or when it has all messages that it may have.
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
        let may_leave_few = self.claim == Claim::Granted && pipeline.has_workers();
        loop {
            let left = self.planned.files.len() - reading.taken_count;
            let time = if may_leave_few { time_for(files.len(), left, time) } else { time };
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
            attached: None,
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

/// Returns for how long a batch with `count` files is read, if `left` others are left: `time`, or less if the
/// rest makes a small last batch.
fn time_for(count: usize, left: usize, time: Duration) -> Duration {
    if left > 0 && count / LAST_SHARE >= left { time.min(BATCH_TIME_FIRST) } else { time }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_batch_ends_when_few_files_are_left_but_not_for_none() {
        let (first, long) = (BATCH_TIME_FIRST, BATCH_TIME_FIRST * 16);
        for (count, left, time) in
            [(0, 0, long), (0, 1, long), (400, 101, long), (400, 100, first), (400, 1, first), (400, 0, long)]
        {
            assert_eq!(time_for(count, left, long), time, "{count} read, {left} left");
        }
        assert_eq!(time_for(400, 1, Duration::ZERO), Duration::ZERO, "nothing is read for longer");
    }
}
