//! Reads and parses the files of a pass on many threads, so that no step waits for another.
//!
//! Input: files in the order in which they are to be taken. Output: their contents in that order; and, for
//! each batch, parsed messages and segments of text. Does not know which contents are new, nor what becomes
//! of rows.
//!
//! Three kinds of threads share one state:
//! - *readers* read files ahead and hash them. There are more than cores, because they mostly wait for the
//!   disk, and a disk is fastest with several requests at a time;
//! - *workers* parse messages and write their text;
//! - the *coordinator*, the thread that runs the pass, takes contents in order and numbers them, which is
//!   little work. With one thread, or for a few files, it also reads and parses.
//!
//! A batch ends without anybody waiting. Each worker goes on with messages of the next one as soon as no
//! more of the last one are left, after it has finished its own segment of text. A batch is whole when all
//! workers have.
//!
//! Memory: small files, [`AHEAD_BYTES`] that are read ahead, [`WAITING_BYTES`] that wait to be parsed, and a
//! group for each thread; large messages together at most as much as one may have; one open segment of text
//! for each worker.

use crate::error::Result;
use crate::pass::commit::contents::{Read, SMALL_BYTES, identity, path_of};
use crate::pass::commit::parse::{Parsed, Parsing, Task};
use crate::pass::commit::queue::{BatchNumber, BatchState, FileRead, Next, Queued, State, Writing};
use crate::pass::plan::{Candidate, PlannedFolder};
use crate::state::TextSegment;
use crate::text::Documents;
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

/// Makes a writer of text. Each worker uses one at a time.
pub(super) type MakeWriter<'a> = &'a (dyn Fn() -> Box<dyn Documents> + Sync);

/// The files of a pass, being read and parsed.
pub(in crate::pass) struct Pipeline<'a> {
    files: &'a [Candidate],
    folders: &'a [PlannedFolder],
    parsing: Parsing<'a>,
    make_writer: MakeWriter<'a>,
    thread_count: usize,
    state: Mutex<State>,
    /// A group was taken, so another may be read.
    has_room: Condvar,
    /// A task waits to be parsed, or a batch ends.
    has_task: Condvar,
    /// A group was read, or a task parsed: the coordinator waits for both.
    has_result: Condvar,
    /// A batch is whole, or never will be.
    has_batch: Condvar,
}

impl<'a> Pipeline<'a> {
    /// Returns a pipeline for these files. Nothing is read before [`Pipeline::run`].
    pub(in crate::pass) fn new(
        (files, folders): (&'a [Candidate], &'a [PlannedFolder]),
        parsing: Parsing<'a>,
        make_writer: MakeWriter<'a>,
        thread_count: usize,
    ) -> Pipeline<'a> {
        let thread_count = thread_count.max(1);
        Pipeline {
            files,
            folders,
            parsing,
            make_writer,
            thread_count,
            state: Mutex::default(),
            has_room: Condvar::new(),
            has_task: Condvar::new(),
            has_result: Condvar::new(),
            has_batch: Condvar::new(),
        }
    }

    /// Runs the coordinator's work while other threads read and parse. A few files are not worth threads.
    pub(in crate::pass) fn run<T>(&self, coordinate: impl FnOnce() -> T) -> T {
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

    /// Returns whether threads of the pipeline parse. If not, the coordinator does all.
    pub(in crate::pass) fn has_workers(&self) -> bool {
        self.worker_count() > 0
    }

    /// Returns the path of a file.
    pub(in crate::pass) fn path(&self, file: usize) -> PathBuf {
        let Some(candidate) = self.files.get(file) else { return PathBuf::new() };
        let folder = self.folders.get(candidate.found.folder);
        path_of(folder.map_or(Path::new(""), |folder| folder.path.as_path()), candidate)
    }

    /// Hands over messages to be parsed.
    pub(in crate::pass) fn parse(&self, task: Task) {
        self.hand_over(task, 0);
    }

    /// Hands over a large message to be parsed, which counts for `large_bytes`.
    pub(in crate::pass) fn parse_large(&self, task: Task, large_bytes: u64) {
        self.hand_over(task, large_bytes);
    }

    fn hand_over(&self, task: Task, large_bytes: u64) {
        if !task.is_empty() {
            let bytes = task.iter().map(|(_, read)| read.content.bytes.len()).sum();
            let mut state = self.locked();
            let batch = state.batch;
            state.batch(batch).open_count += 1;
            state.large_bytes += large_bytes;
            state.waiting_bytes += bytes;
            state.tasks.push_back(Queued { batch, task, bytes, large_bytes });
            self.has_task.notify_one();
        }
    }

    /// Ends a batch. What is handed over from now on belongs to the next one.
    pub(in crate::pass) fn end_batch(&self) -> BatchNumber {
        let mut state = self.locked();
        let batch = state.batch;
        state.batch += 1;
        // Workers that have nothing to do finish what they have written.
        self.has_task.notify_all();
        batch
    }

    /// Waits until a batch that has ended is whole, and returns its messages, in the order of their numbers,
    /// and its text. Returns `None` if it never will be: then [`Pipeline::check`] says why.
    pub(super) fn take_batch(&self, batch: BatchNumber) -> Option<(Vec<Parsed>, Vec<TextSegment>)> {
        let mut state = self.locked();
        while !state.has_failed && !state.has_panicked {
            if state.batches.get(&batch).is_none_or(|batch| batch.open_count == 0) {
                let BatchState { mut parsed, text, .. } = state.batches.remove(&batch).unwrap_or_default();
                drop(state);
                parsed.sort_unstable_by_key(|message| message.number);
                return Some((parsed, text));
            }
            state = self.help_or_wait(state, &self.has_batch);
        }
        None
    }

    /// Ends the taking of files: what was taken so far cannot be published.
    pub(super) fn give_up(&self) {
        self.locked().has_given_up = true;
        self.has_result.notify_one();
    }

    /// Fails if something is missing that was handed over.
    ///
    /// # Errors
    /// A worker failed: a full disk.
    ///
    /// # Panics
    /// If another thread panicked.
    pub(super) fn check(&self) -> Result<()> {
        self.check_state(&mut self.locked())
    }

    fn check_state(&self, state: &mut State) -> Result<()> {
        if let Some(error) = state.failure.take() {
            return Err(error);
        }
        // What is missing must not be published, nor waited for.
        assert!(!state.has_panicked, "a thread that reads or parses files panicked");
        Ok(())
    }

    /// Waits until large messages have room for one more that counts for `bytes`, of `bytes_max` in all.
    pub(in crate::pass) fn wait_for_room(&self, bytes: u64, bytes_max: u64) {
        let mut state = self.locked();
        while state.large_bytes > 0
            && state.large_bytes + bytes > bytes_max
            && !state.has_panicked
            && !state.has_failed
        {
            state = self.help_or_wait(state, &self.has_result);
        }
    }

    /// Returns the next files, which the coordinator numbers; none if all are taken or it was given up. Until
    /// they are read, helps to read and to parse.
    ///
    /// # Errors
    /// As [`Pipeline::check`].
    ///
    /// # Panics
    /// As there.
    pub(in crate::pass) fn next_files(&self) -> Result<Option<Vec<FileRead>>> {
        let mut state = self.locked();
        loop {
            self.check_state(&mut state)?;
            let group = state.taken_group;
            if group == self.group_count() || state.has_given_up {
                return Ok(None);
            }
            let has_room = state.waiting_bytes < WAITING_BYTES
                && state.tasks.len() < WAITING_PER_THREAD * self.thread_count;
            if has_room {
                if let Some(reads) = state.read.remove(&group) {
                    state.taken_group += 1;
                    state.read_bytes -= bytes_of(&reads);
                    self.has_room.notify_one();
                    return Ok(Some((group * GROUP_COUNT..).zip(reads).collect()));
                }
                if state.next_group == group {
                    state = self.read_one(state);
                    continue;
                }
            }
            state = self.help_or_wait(state, &self.has_result);
        }
    }

    /// Works where there are no workers; waits until something has happened if there are, or if there is
    /// nothing to do.
    fn help_or_wait<'s>(
        &'s self,
        mut state: MutexGuard<'s, State>,
        until: &Condvar,
    ) -> MutexGuard<'s, State> {
        if self.has_workers() {
            return wait(until, state);
        }
        let own = state.own.take();
        let (mut state, own) = self.work_or_wait(state, own, until);
        state.own = own;
        state
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
        let mut writing = None;
        let mut state = self.locked();
        while !state.is_stopped {
            (state, writing) = self.work_or_wait(state, writing, &self.has_task);
        }
    }

    /// Does what a thread with this writer has to do, or waits if there is nothing. Returns its writer.
    fn work_or_wait<'s>(
        &'s self,
        state: MutexGuard<'s, State>,
        writing: Option<Writing>,
        until: &Condvar,
    ) -> (MutexGuard<'s, State>, Option<Writing>) {
        let next = state.next(writing.as_ref().map(|writing| writing.batch));
        match (next, writing) {
            (Next::Finish, Some(writing)) => (self.finish_one(state, writing), None),
            (Next::Parse, writing) => self.parse_one(state, writing),
            (Next::Finish | Next::Wait, writing) => (wait(until, state), writing),
        }
    }

    /// Parses the first task in the queue. Returns the writer of its batch.
    fn parse_one<'s>(
        &'s self,
        mut state: MutexGuard<'s, State>,
        writing: Option<Writing>,
    ) -> (MutexGuard<'s, State>, Option<Writing>) {
        let Some(queued) = state.tasks.pop_front() else { return (state, writing) };
        let Queued { batch, task, bytes, large_bytes } = queued;
        state.waiting_bytes -= bytes;
        state.batch(batch).open_count += usize::from(writing.is_none());
        drop(state);
        let _panicking = OnPanic(self);
        let mut writing = writing.unwrap_or_else(|| Writing { batch, documents: (self.make_writer)() });
        let documents = writing.documents.as_mut();
        let parsed: Result<Vec<Parsed>> =
            task.iter().map(|(number, read)| self.parsing.parse(*number, read, documents)).collect();
        drop(task);
        let mut state = self.locked();
        state.large_bytes -= large_bytes;
        match parsed {
            Ok(parsed) => state.batch(batch).parsed.extend(parsed),
            Err(error) => state.fail(error),
        }
        self.end_work(&mut state, batch);
        (state, Some(writing))
    }

    /// Finishes the segment of a batch.
    fn finish_one<'s>(
        &'s self,
        state: MutexGuard<'s, State>,
        Writing { batch, documents }: Writing,
    ) -> MutexGuard<'s, State> {
        drop(state);
        let _panicking = OnPanic(self);
        let finished = documents.finish();
        let mut state = self.locked();
        match finished {
            Ok(text) => state.batch(batch).text.extend(text),
            Err(error) => state.fail(error),
        }
        self.end_work(&mut state, batch);
        state
    }

    fn end_work(&self, state: &mut State, batch: BatchNumber) {
        let entry = state.batch(batch);
        entry.open_count -= 1;
        if entry.open_count == 0 || state.has_failed {
            self.has_batch.notify_all();
        }
        self.has_result.notify_one();
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
    Ok(Read { content, sha256, size_bytes, message: None, attached: None })
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

/// Tells those who wait if a thread panics.
struct OnPanic<'p, 'a>(&'p Pipeline<'a>);

impl Drop for OnPanic<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.locked().has_panicked = true;
            self.0.has_result.notify_all();
            self.0.has_batch.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pass::scan::Found;
    use crate::rows::{FolderRow, Subdirectory};
    use crate::state::{TextPlace, TextSegment};
    use crate::text::Document;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Counts documents, and may break.
    struct Writer {
        write: fn() -> Result<()>,
        count: u32,
    }

    impl Documents for Writer {
        fn add(&mut self, _document: &Document<'_>) -> Result<()> {
            self.count += 1;
            (self.write)()
        }

        fn finish(self: Box<Self>) -> Result<Vec<TextSegment>> {
            Ok(vec![TextSegment {
                id: String::new(),
                document_count: self.count,
                digest: 0,
                place: TextPlace::File,
            }])
        }
    }

    /// Reads and parses a folder of files with as many threads, in batches of about as many messages.
    /// Returns the subjects in the order in which files are taken. Sets `is_done` when all seems done.
    fn run(
        file_count: usize,
        (thread_count, batch_count): (usize, u32),
        write: fn() -> Result<()>,
        is_done: &AtomicBool,
    ) -> Result<Vec<String>> {
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
        let parsing = Parsing { now_seconds: 1_700_000_000, headers: &[], attached: None };
        let make = || Box::new(Writer { write, count: 0 }) as Box<dyn Documents>;
        let pipeline = Pipeline::new((&files, &folders), parsing, &make, thread_count);
        pipeline.run(|| {
            let (mut subjects, mut next, mut batches) = (Vec::new(), 0, Vec::new());
            let mut is_left = true;
            while is_left {
                let first = next;
                while is_left && (next - first < batch_count) {
                    let Some(group) = pipeline.next_files()? else {
                        is_left = false;
                        break;
                    };
                    let mut task = Task::new();
                    for (_, read) in group {
                        let read = read.unwrap();
                        let text = String::from_utf8_lossy(&read.content.bytes).into_owned();
                        subjects.push(text.lines().next().unwrap().to_owned());
                        task.push((next, read));
                        next += 1;
                    }
                    pipeline.parse(task);
                }
                batches.push((pipeline.end_batch(), first..next));
                // One batch is taken while the next one is parsed, where that can be.
                let waiting = usize::from(is_left && pipeline.has_workers());
                for (batch, numbers) in batches.drain(..batches.len() - waiting) {
                    let Some((parsed, text)) = pipeline.take_batch(batch) else {
                        pipeline.check()?;
                        panic!("a batch that is not whole has a reason");
                    };
                    assert!(parsed.iter().map(|message| message.number).eq(numbers.clone()));
                    let written: u32 = text.iter().map(|segment| segment.document_count).sum();
                    assert_eq!(written as usize, numbers.len(), "the text is that of the batch");
                    assert!(text.len() <= thread_count, "each thread has one segment of a batch");
                }
            }
            is_done.store(true, Ordering::Relaxed);
            Ok(subjects)
        })
    }

    #[test]
    fn files_are_taken_in_order_and_parsed_once_by_any_number_of_threads() {
        let counts = [(0, 2), (1, 2), (16, 1), (17, 1), (300, 1), (300, 2), (1000, 5)];
        for ((file_count, thread_count), batch_count) in
            counts.iter().flat_map(|counts| [1, 100, 10_000].map(|batch_count| (*counts, batch_count)))
        {
            let threads = (thread_count, batch_count);
            let taken = run(file_count, threads, || Ok(()), &AtomicBool::default()).unwrap();
            let expected: Vec<String> = (0..file_count).map(|number| format!("Subject: s{number}")).collect();
            assert_eq!(taken, expected, "{file_count} files, {threads:?} threads and messages in a batch");
        }
    }

    #[test]
    fn the_error_of_a_writer_ends_the_pass() {
        let full = || Err(crate::Error::Interrupted);
        for threads in [(1, 100), (3, 100), (3, 10_000)] {
            let ended = run(300, threads, full, &AtomicBool::default());
            assert!(matches!(ended, Err(crate::Error::Interrupted)));
        }
    }

    #[test]
    fn a_pass_with_a_panic_is_never_done() {
        for threads in [(1, 100), (3, 100), (3, 10_000)] {
            let is_done = AtomicBool::new(false);
            let run = || run(300, threads, || panic!("a writer breaks"), &is_done);
            assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
            assert!(!is_done.load(Ordering::Relaxed));
        }
    }
}
