//! Reads and parses the files of a pass on many threads, so that no step waits for another.
//!
//! Input: files in the order in which they are to be taken. Output: their contents in that order, and parsed
//! messages in the order of their numbers. Does not know which contents are new, nor what becomes of rows.
//!
//! Three kinds of threads share one state:
//! - *readers* read files ahead and hash them. There are more than cores, because they mostly wait for the
//!   disk, and a disk is fastest with several requests at a time;
//! - *workers* parse messages and write their text;
//! - the *coordinator*, the thread that runs the pass, takes contents in order, numbers them and links what
//!   was parsed. It takes a tenth of the time. With one thread, or for a few files, it also reads and parses.
//!
//! All workers write as much text, so that their segments, one for each, are finished at the same time.
//!
//! Memory: small files, [`AHEAD_BYTES`] that are read ahead, [`WAITING_BYTES`] that wait to be parsed, and a
//! group for each thread; large messages together at most as much as one may have.

use crate::error::Result;
use crate::pass::commit::contents::{Read, SMALL_BYTES, identity, path_of};
use crate::pass::commit::ingest::{Parsed, Parsing, Task};
use crate::pass::plan::{Candidate, PlannedFolder};
use crate::text::Documents;
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Files that one thread reads, or parses, at a time.
const GROUP_COUNT: usize = 16;
/// Groups that are read ahead of the one that is taken next.
const GROUPS_AHEAD: usize = 48;
/// Bytes that are read ahead. One group may be above it.
const AHEAD_BYTES: usize = 32 << 20;
/// Files that are read at the same time.
const READER_COUNT: usize = 8;
/// Bytes that wait to be parsed. One group may be above it.
const WAITING_BYTES: usize = 8 << 20;
/// Groups that wait to be parsed, for each thread.
const WAITING_PER_THREAD: usize = 8;

/// A file that was read: its place among the files, and its content. Of a large one only the beginning.
pub(super) type FileRead = (usize, mail::Result<Read>);

/// A task in the queue.
struct Queued {
    task: Task,
    bytes: usize,
    /// What a large message counts for, in bytes; 0 for a task of small ones.
    large_bytes: u64,
}

/// The files of a pass, being read and parsed.
pub(super) struct Pipeline<'a> {
    files: &'a [Candidate],
    folders: &'a [PlannedFolder],
    parsing: Parsing<'a>,
    thread_count: usize,
    state: Mutex<State>,
    /// A group was taken, so another may be read.
    has_room: Condvar,
    /// A task waits to be parsed.
    has_task: Condvar,
    /// A group was read, or a task parsed: the coordinator waits for both.
    has_result: Condvar,
}

#[derive(Default)]
struct State {
    /// The next group to be read, and the next to be taken.
    next_group: usize,
    taken_group: usize,
    read: BTreeMap<usize, Vec<mail::Result<Read>>>,
    read_bytes: usize,
    tasks: VecDeque<Queued>,
    /// Tasks that are being parsed.
    running: usize,
    /// Bytes of all tasks in the queue.
    waiting_bytes: usize,
    /// What large messages that are queued or being parsed count for, in bytes.
    large_bytes: u64,
    parsed: Vec<Parsed>,
    writers: Vec<Box<dyn Documents>>,
    /// The first error of a worker.
    failure: Option<crate::Error>,
    /// Whether a thread panicked: what it had taken is missing.
    has_panicked: bool,
    is_stopped: bool,
}

/// What the coordinator does next.
pub(super) enum Step {
    /// Link these messages. They come in any order.
    Link(Vec<Parsed>),
    /// Number these files.
    Number(Vec<FileRead>),
    /// Everything that was handed over is done.
    Idle,
}

impl<'a> Pipeline<'a> {
    /// Returns a pipeline for these files. Nothing is read before [`Pipeline::run`].
    pub(super) fn new(
        (files, folders): (&'a [Candidate], &'a [PlannedFolder]),
        parsing: Parsing<'a>,
        thread_count: usize,
    ) -> Pipeline<'a> {
        let thread_count = thread_count.max(1);
        Pipeline {
            files,
            folders,
            parsing,
            thread_count,
            state: Mutex::default(),
            has_room: Condvar::new(),
            has_task: Condvar::new(),
            has_result: Condvar::new(),
        }
    }

    /// Runs the coordinator's work while other threads read and parse. A few files are not worth threads.
    pub(super) fn run<T>(&self, coordinate: impl FnOnce() -> T) -> T {
        let groups = self.group_count();
        std::thread::scope(|scope| {
            for _ in 0..READER_COUNT.min(groups.saturating_sub(1)) {
                scope.spawn(|| self.read_ahead());
            }
            for _ in 0..self.worker_count() {
                scope.spawn(|| self.work());
            }
            // However the coordinator ends, the others do, too.
            let _stop = Stop(self);
            coordinate()
        })
    }

    /// Returns the path of a file.
    pub(super) fn path(&self, file: usize) -> PathBuf {
        let Some(candidate) = self.files.get(file) else { return PathBuf::new() };
        let folder = self.folders.get(candidate.found.folder);
        path_of(folder.map_or(Path::new(""), |folder| folder.path.as_path()), candidate)
    }

    /// Lends the writers of a batch.
    pub(super) fn begin_batch(&self, writers: Vec<Box<dyn Documents>>) {
        self.locked().writers = writers;
    }

    /// Takes the writers back. Everything that was handed over is done.
    pub(super) fn end_batch(&self) -> Vec<Box<dyn Documents>> {
        std::mem::take(&mut self.locked().writers)
    }

    /// Hands over messages to be parsed.
    pub(super) fn parse(&self, task: Task) {
        self.hand_over(task, 0);
    }

    /// Hands over a large message to be parsed, which counts for `large_bytes`.
    pub(super) fn parse_large(&self, task: Task, large_bytes: u64) {
        self.hand_over(task, large_bytes);
    }

    fn hand_over(&self, task: Task, large_bytes: u64) {
        if !task.is_empty() {
            let bytes = task.iter().map(|(_, read)| read.content.bytes.len()).sum();
            let mut state = self.locked();
            state.large_bytes += large_bytes;
            state.waiting_bytes += bytes;
            state.tasks.push_back(Queued { task, bytes, large_bytes });
            self.has_task.notify_one();
        }
    }

    /// Waits until large messages have room for one more that counts for `bytes`, of `bytes_max` in all.
    pub(super) fn wait_for_room(&self, bytes: u64, bytes_max: u64) {
        let mut state = self.locked();
        while state.large_bytes > 0 && state.large_bytes + bytes > bytes_max && !state.has_panicked {
            state = self.help_or_wait(state);
        }
    }

    /// Returns what the coordinator does next. Until then, helps to read and to parse. With `takes`, further
    /// files may be taken.
    ///
    /// # Errors
    /// A worker failed: a full disk.
    ///
    /// # Panics
    /// If another thread panicked.
    pub(super) fn step(&self, takes: bool) -> Result<Step> {
        let mut state = self.locked();
        loop {
            if let Some(error) = state.failure.take() {
                return Err(error);
            }
            // What is missing must not be published, nor waited for.
            assert!(!state.has_panicked, "a thread that reads or parses files panicked");
            if !state.parsed.is_empty() {
                return Ok(Step::Link(std::mem::take(&mut state.parsed)));
            }
            let takes = takes && state.taken_group < self.group_count();
            let has_room = state.waiting_bytes < WAITING_BYTES
                && state.tasks.len() < WAITING_PER_THREAD * self.thread_count;
            if takes && has_room {
                let group = state.taken_group;
                if let Some(reads) = state.read.remove(&group) {
                    state.taken_group += 1;
                    state.read_bytes -= bytes_of(&reads);
                    self.has_room.notify_one();
                    return Ok(Step::Number((group * GROUP_COUNT..).zip(reads).collect()));
                }
                if state.next_group == group {
                    state = self.read_one(state);
                    continue;
                }
            }
            if !takes && state.tasks.is_empty() && state.running == 0 {
                return Ok(Step::Idle);
            }
            state = self.help_or_wait(state);
        }
    }

    /// Parses a task if nobody else does, or else waits for a result.
    fn help_or_wait<'s>(&'s self, mut state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        match if self.worker_count() == 0 { self.next_task(&mut state) } else { None } {
            Some(task) => self.parse_one(state, task),
            None => wait(&self.has_result, state),
        }
    }

    fn next_task(&self, state: &mut State) -> Option<Queued> {
        let queued = state.tasks.pop_front()?;
        state.waiting_bytes -= queued.bytes;
        Some(queued)
    }

    /// Reads groups of files until all are read, or the work is stopped.
    fn read_ahead(&self) {
        let mut state = self.locked();
        while !state.is_stopped && state.next_group < self.group_count() {
            let is_far = state.next_group >= state.taken_group + GROUPS_AHEAD;
            // The group that is taken next is always read.
            let is_full = state.read_bytes > AHEAD_BYTES && state.next_group > state.taken_group;
            state = if is_far || is_full { wait(&self.has_room, state) } else { self.read_one(state) };
        }
    }

    fn read_one<'s>(&'s self, mut state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        let group = state.next_group;
        state.next_group += 1;
        drop(state);
        let _panicking = OnPanic(self);
        let end = self.files.len().min((group + 1) * GROUP_COUNT);
        let reads: Vec<mail::Result<Read>> =
            (group * GROUP_COUNT..end).map(|file| read_beginning(&self.path(file))).collect();
        let mut state = self.locked();
        state.read_bytes += bytes_of(&reads);
        state.read.insert(group, reads);
        self.has_result.notify_one();
        state
    }

    /// Parses tasks until the work is stopped.
    fn work(&self) {
        let mut state = self.locked();
        while !state.is_stopped {
            state = match self.next_task(&mut state) {
                Some(task) => self.parse_one(state, task),
                None => wait(&self.has_task, state),
            };
        }
    }

    fn parse_one<'s>(
        &'s self,
        mut state: MutexGuard<'s, State>,
        Queued { task, large_bytes, .. }: Queued,
    ) -> MutexGuard<'s, State> {
        // There are as many writers as threads.
        let mut writer = state.writers.pop().expect("each thread has a writer");
        state.running += 1;
        drop(state);
        let running = Running { pipeline: self, large_bytes };
        let parsed: Result<Vec<Parsed>> =
            task.iter().map(|(number, read)| self.parsing.parse(*number, read, writer.as_mut())).collect();
        drop(task);
        let mut state = self.locked();
        state.writers.push(writer);
        match parsed {
            Ok(parsed) => state.parsed.extend(parsed),
            Err(error) => {
                state.failure.get_or_insert(error);
            }
        }
        drop(state);
        drop(running);
        self.locked()
    }

    /// Returns how many threads only parse. A few files are not worth any.
    fn worker_count(&self) -> usize {
        if self.thread_count == 1 || self.group_count() < 4 { 0 } else { self.thread_count }
    }

    fn group_count(&self) -> usize {
        self.files.len().div_ceil(GROUP_COUNT)
    }

    /// Nothing panics with the state locked but what found that another thread had.
    fn locked(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads a file, or the beginning of a large one.
fn read_beginning(path: &Path) -> mail::Result<Read> {
    let content = mail::read_message(path, SMALL_BYTES)?;
    let (sha256, size_bytes) = identity(&content.bytes);
    Ok(Read { content, sha256, size_bytes, message: None })
}

fn wait<'s>(until: &Condvar, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
    until.wait(state).unwrap_or_else(PoisonError::into_inner)
}

fn bytes_of(reads: &[mail::Result<Read>]) -> usize {
    reads.iter().flatten().map(|read| read.content.bytes.len()).sum()
}

/// Ends all threads.
struct Stop<'p, 'a>(&'p Pipeline<'a>);

impl Drop for Stop<'_, '_> {
    fn drop(&mut self) {
        self.0.locked().is_stopped = true;
        self.0.has_room.notify_all();
        self.0.has_task.notify_all();
    }
}

/// Tells the coordinator if a thread panics.
struct OnPanic<'p, 'a>(&'p Pipeline<'a>);

impl Drop for OnPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.locked().has_panicked = true;
            self.0.has_result.notify_one();
        }
    }
}

/// A task that is being parsed.
struct Running<'p, 'a> {
    pipeline: &'p Pipeline<'a>,
    large_bytes: u64,
}

impl Drop for Running<'_, '_> {
    fn drop(&mut self) {
        let mut state = self.pipeline.locked();
        state.running -= 1;
        state.has_panicked |= std::thread::panicking();
        state.large_bytes -= self.large_bytes;
        self.pipeline.has_result.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pass::scan::Found;
    use crate::rows::{FolderRow, Subdirectory};
    use crate::state::TextSegment;
    use crate::text::Document;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Takes documents, and may break.
    struct Writer(fn() -> Result<()>);

    impl Documents for Writer {
        fn add(&mut self, _document: &Document<'_>) -> Result<()> {
            (self.0)()
        }

        fn finish(self: Box<Self>) -> Result<Vec<TextSegment>> {
            Ok(Vec::new())
        }
    }

    /// Reads and parses a folder of files with these threads and writers. Returns the subjects in the order
    /// in which files are taken, and the numbers of parsed messages. Sets `is_done` when all seems done.
    fn run(
        file_count: usize,
        thread_count: usize,
        write: fn() -> Result<()>,
        is_done: &AtomicBool,
    ) -> Result<(Vec<String>, Vec<u32>)> {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(place.path().join("cur")).unwrap();
        let file = |number: usize| {
            let name = format!("{number}.x:2,S");
            let text = format!("Subject: s{number}\n\n{}\n", "word ".repeat(number));
            std::fs::write(place.path().join("cur").join(&name), text).unwrap();
            let found =
                Found { folder: 0, subdirectory: Subdirectory::Cur, name: name.into_bytes(), inode: 1 };
            Candidate { found, replaces: None }
        };
        let files: Vec<Candidate> = (0..file_count).map(file).collect();
        let folders = [PlannedFolder {
            path: place.path().to_owned(),
            row: FolderRow::default(),
            is_new: true,
            is_gone: false,
            read: [None; 2],
            stamps: [None; 2],
            device_now: [0; 2],
            is_changed: true,
        }];
        let parsing = Parsing { now_seconds: 1_700_000_000, headers: &[] };
        let pipeline = Pipeline::new((&files, &folders), parsing, thread_count);
        pipeline.run(|| {
            pipeline.begin_batch((0..thread_count).map(|_| Box::new(Writer(write)) as _).collect());
            let (mut taken, mut parsed, mut next) = (Vec::new(), Vec::new(), 0);
            loop {
                match pipeline.step(true)? {
                    Step::Number(group) => {
                        let mut task = Task::new();
                        for (_, read) in group {
                            let read = read.unwrap();
                            let text = String::from_utf8_lossy(&read.content.bytes).into_owned();
                            taken.push(text.lines().next().unwrap().to_owned());
                            task.push((next, read));
                            next += 1;
                        }
                        pipeline.parse(task);
                    }
                    Step::Link(messages) => parsed.extend(messages.iter().map(|message| message.number)),
                    Step::Idle => break,
                }
            }
            is_done.store(true, Ordering::Relaxed);
            assert_eq!(pipeline.end_batch().len(), thread_count, "every writer is back");
            parsed.sort_unstable();
            Ok((taken, parsed))
        })
    }

    #[test]
    fn files_are_taken_in_order_and_parsed_once_by_any_number_of_threads() {
        for (file_count, thread_count) in [(0, 2), (1, 2), (16, 1), (17, 1), (300, 1), (300, 2), (1000, 5)] {
            let (taken, parsed) = run(file_count, thread_count, || Ok(()), &AtomicBool::default()).unwrap();
            let expected: Vec<String> = (0..file_count).map(|number| format!("Subject: s{number}")).collect();
            assert_eq!(taken, expected, "{file_count} files, {thread_count} threads");
            assert!(parsed.into_iter().map(|number| number as usize).eq(0..file_count));
        }
    }

    #[test]
    fn the_error_of_a_writer_ends_the_pass() {
        let full = || Err(crate::Error::Interrupted);
        for thread_count in [1, 3] {
            let ended = run(300, thread_count, full, &AtomicBool::default());
            assert!(matches!(ended, Err(crate::Error::Interrupted)));
        }
    }

    #[test]
    fn a_pass_with_a_panic_is_never_done() {
        for thread_count in [1, 3] {
            let is_done = AtomicBool::new(false);
            let run = || run(300, thread_count, || panic!("a writer breaks"), &is_done);
            assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
            assert!(!is_done.load(Ordering::Relaxed));
        }
    }
}
