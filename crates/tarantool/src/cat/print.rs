//! Prints the rows of a file, on several threads and in order.
//!
//! Input: a file, or a part of one that grows. Output: bytes for a sink, and notices about what could not be
//! read. One thread deals out runs of blocks in turn and takes their text back in the same turn; so the text
//! is in order, and nothing waits for the slowest.
//!
//! A block that is damaged or changes definitions ends the run: everything dealt out after it is dropped, and
//! dealt out again from the right place, at first in small runs.

use super::filter::{RowFilter, SpaceChoice};
use super::rows::RowForm;
use super::source::RowsFile;
use super::walk::{Hole, Next, Walk};
use super::worker::{Done, Job, Stop, Task, Worker};
use crate::file::block::BlockPlace;
use crate::file::header::FileKind;
use crate::space::Formats;
use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Stored bytes of a run of blocks, and how many blocks it may have.
const RUN_BYTES: usize = 256 << 10;
const RUN_BLOCKS_MAX: usize = 1024;
/// Runs that each thread may have before their text is taken.
const RUNS_AHEAD: usize = 2;
/// Memory for text that is kept for the next run.
const OUT_BYTES_KEPT_MAX: usize = 8 << 20;
/// What ends the rows of a file in YAML.
const YAML_END: &[u8] = b"...\n\n";

/// Something that is not printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// Bytes of the file that cannot be read.
    Damage {
        /// Which.
        bytes: Range<u64>,
        /// What is wrong at their beginning.
        what: &'static str,
        /// Whether they are the end of a file that was not closed: a torn write, or one that is not done.
        is_torn: bool,
    },
    /// The file is a snapshot, which gets its name when it is complete, and lacks its end mark.
    CutOff {
        /// Its length.
        length_bytes: u64,
    },
    /// A row that cannot be written in this form.
    Row {
        /// Its number.
        lsn: i64,
        /// Why.
        what: &'static str,
    },
}

impl Notice {
    /// What is said of a snapshot without its end mark.
    pub const CUT_OFF: &'static str = "the end mark is missing: the file is cut off";
}

/// Numbers of what was read and printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Rows that were read.
    pub row_count: u64,
    /// Rows that were printed.
    pub shown_count: u64,
    /// Notices.
    pub notice_count: u64,
}

/// How the end of the bytes is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    /// It is the end of the file.
    Ends,
    /// More may come: half a block is not damage yet.
    Grows,
}

/// How far a part of a file was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reached {
    pub(super) offset: usize,
    pub(super) is_closed: bool,
}

/// A function that takes text; it may fail.
pub(super) type Sink<'a, E> = dyn FnMut(&[u8]) -> Result<(), E> + 'a;

/// Prints files one after the other.
#[derive(Debug)]
pub struct Printer {
    form: RowForm,
    filter: Arc<RowFilter>,
    thread_count: usize,
    formats: Arc<Formats>,
    /// Names of spaces that are wanted and were not defined so far.
    unknown: BTreeSet<String>,
    totals: Totals,
}

impl Printer {
    /// Returns a printer of rows in this form, on so many threads.
    pub fn new(form: RowForm, filter: RowFilter, thread_count: usize) -> Printer {
        let names = filter.spaces.iter().filter_map(|choice| match choice {
            SpaceChoice::Name(name) => Some(name.clone()),
            SpaceChoice::Id(_) => None,
        });
        Printer {
            form,
            unknown: names.collect(),
            filter: Arc::new(filter),
            thread_count: thread_count.max(1),
            formats: Arc::default(),
            totals: Totals::default(),
        }
    }

    /// Sets the definitions of spaces at the beginning of the next file.
    pub fn define(&mut self, formats: Formats) {
        self.formats = Arc::new(formats);
        self.note_names();
    }

    /// Returns how much was printed so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Returns the names of wanted spaces that no definition had so far.
    pub fn unknown_names(&self) -> impl Iterator<Item = &str> {
        self.unknown.iter().map(String::as_str)
    }

    fn note_names(&mut self) {
        let formats = &self.formats;
        self.unknown.retain(|name| !formats.has_name(name));
    }

    /// Prints a whole file.
    ///
    /// # Errors
    /// What `sink` returns.
    pub fn print<E>(
        &mut self,
        file: &RowsFile,
        sink: &mut dyn FnMut(&[u8]) -> Result<(), E>,
        notice: &mut dyn FnMut(Notice),
    ) -> Result<(), E> {
        let before = self.totals.shown_count;
        let part = FilePart { bytes: &file.bytes, begin: file.begin, kind: file.kind(), base: 0 };
        self.print_part(part, Tail::Ends, sink, notice)?;
        self.end_file(before, sink)
    }

    /// Writes what ends the rows of a file. `before` is how many were printed before it.
    pub(super) fn end_file<E>(&self, before: u64, sink: &mut Sink<E>) -> Result<(), E> {
        let has_end = self.form == RowForm::Yaml && self.totals.shown_count > before;
        if has_end { sink(YAML_END) } else { Ok(()) }
    }

    /// Prints a part of a file. Returns how far it was read.
    pub(super) fn print_part<E>(
        &mut self,
        part: FilePart,
        tail: Tail,
        sink: &mut Sink<E>,
        notice: &mut dyn FnMut(Notice),
    ) -> Result<Reached, E> {
        let task = Task { kind: part.kind, form: self.form, filter: Arc::clone(&self.filter) };
        let count = self.thread_count;
        thread::scope(|scope| {
            let mut pool = Pool::new(part.bytes, &task);
            if count > 1 {
                for _ in 0..count {
                    let (send, jobs) = sync_channel::<Job>(RUNS_AHEAD);
                    let (give_back, receive) = sync_channel::<Done>(RUNS_AHEAD);
                    let mut worker = Worker::new(&task);
                    let bytes = part.bytes;
                    scope.spawn(move || {
                        while let Ok(job) = jobs.recv() {
                            if give_back.send(worker.carry_out(bytes, job)).is_err() {
                                return;
                            }
                        }
                    });
                    pool.threads.push((send, receive));
                }
            }
            let run = Run {
                printer: self,
                pool,
                walk: Walk::new(part.bytes, part.begin),
                part,
                tail,
                run_blocks: RUN_BLOCKS_MAX,
            };
            run.go(sink, notice)
        })
    }
}

/// A part of a file.
#[derive(Clone, Copy)]
pub(super) struct FilePart<'a> {
    pub(super) bytes: &'a [u8],
    /// The offset of the first block in `bytes`.
    pub(super) begin: usize,
    pub(super) kind: FileKind,
    /// The offset of `bytes` in the file.
    pub(super) base: u64,
}

/// The printing of one part.
struct Run<'a, 'b> {
    printer: &'b mut Printer,
    pool: Pool<'a>,
    walk: Walk<'a>,
    part: FilePart<'a>,
    tail: Tail,
    /// How many blocks the next run may have.
    run_blocks: usize,
}

impl Run<'_, '_> {
    fn go<E>(mut self, sink: &mut Sink<E>, notice: &mut dyn FnMut(Notice)) -> Result<Reached, E> {
        let mut pending = None;
        let mut is_torn = false;
        loop {
            while pending.is_none() && self.pool.waiting < self.ahead_max() {
                pending = self.deal();
            }
            if let Some(done) = self.pool.take() {
                if self.accept(done, sink, notice)? {
                    pending = None;
                }
                continue;
            }
            match pending.take() {
                Some(Next::Hole(hole)) if hole.is_tail && self.tail == Tail::Grows => {
                    return Ok(Reached { offset: hole.bytes.start, is_closed: false });
                }
                Some(Next::Hole(hole)) => {
                    is_torn |= hole.is_tail;
                    self.tell(&hole, notice);
                }
                Some(Next::End { is_closed }) => {
                    if !is_closed && !is_torn && self.tail == Tail::Ends {
                        self.tell_cut_off(notice);
                    }
                    return Ok(Reached { offset: self.walk.at(), is_closed });
                }
                Some(Next::Block(_)) | None => {}
            }
        }
    }

    /// After damage, one small run at a time: what follows it may be damaged, too.
    fn ahead_max(&self) -> usize {
        if self.run_blocks < RUN_BLOCKS_MAX { 1 } else { self.pool.ahead_max() }
    }

    /// Deals out the next run of blocks. Returns what ended it, unless that is its size.
    fn deal(&mut self) -> Option<Next> {
        let mut places = Vec::new();
        let mut bytes = 0;
        let end = loop {
            if bytes >= RUN_BYTES || places.len() >= self.run_blocks {
                break None;
            }
            match self.walk.next() {
                Next::Block(place) => {
                    bytes += place.payload.len();
                    places.push(place);
                }
                other => break Some(other),
            }
        };
        if !places.is_empty() {
            self.pool.give(places, &self.printer.formats);
        }
        end
    }

    /// Passes on the text of a run. Returns whether everything dealt out after it has to be dealt out again.
    fn accept<E>(
        &mut self,
        done: Done,
        sink: &mut Sink<E>,
        notice: &mut dyn FnMut(Notice),
    ) -> Result<bool, E> {
        sink(&done.out)?;
        self.count(done.counts.rows, done.counts.shown);
        for row in &done.unwritable {
            self.tell_row(row.lsn, row.what, notice);
        }
        let Some((stop, place)) = done.stop.zip(done.places.get(done.block_count).cloned()) else {
            self.run_blocks = (self.run_blocks * 2).min(RUN_BLOCKS_MAX);
            self.pool.recycle(done.out);
            return Ok(false);
        };
        self.pool.drop_all();
        self.run_blocks = 1;
        match stop {
            Stop::Damaged(damage) => {
                let hole = self.walk.damaged(&place, damage);
                self.leave(hole, notice);
            }
            Stop::Full => self.walk.return_to(&place),
            Stop::Alone => self.print_alone(&place, sink, notice)?,
        }
        Ok(true)
    }

    fn print_alone<E>(
        &mut self,
        place: &BlockPlace,
        sink: &mut Sink<E>,
        notice: &mut dyn FnMut(Notice),
    ) -> Result<(), E> {
        let formats = Arc::make_mut(&mut self.printer.formats);
        let mut worker = Worker::new(&self.pool.task);
        match worker.alone(self.part.bytes, place, formats, sink)? {
            Ok((counts, unwritable)) => {
                self.count(counts.rows, counts.shown);
                for row in unwritable {
                    self.tell_row(row.lsn, row.what, notice);
                }
                self.walk.go_on_after(place);
            }
            Err(damage) => {
                let hole = self.walk.damaged(place, damage);
                self.leave(hole, notice);
            }
        }
        self.printer.note_names();
        Ok(())
    }

    /// Tells of the hole that a damaged block leaves, unless the block may not be written completely yet.
    fn leave(&mut self, hole: Hole, notice: &mut dyn FnMut(Notice)) {
        if hole.is_tail && self.tail == Tail::Grows {
            self.walk.wait_at(hole.bytes.start);
        } else {
            self.tell(&hole, notice);
        }
    }

    fn count(&mut self, rows: u64, shown: u64) {
        self.printer.totals.row_count += rows;
        self.printer.totals.shown_count += shown;
    }

    fn tell(&mut self, hole: &Hole, notice: &mut dyn FnMut(Notice)) {
        let at = |offset: usize| self.part.base + offset as u64;
        self.printer.totals.notice_count += 1;
        let bytes = at(hole.bytes.start)..at(hole.bytes.end);
        notice(Notice::Damage { bytes, what: hole.what, is_torn: hole.is_tail });
    }

    /// Tells that a snapshot ends without its mark. A log may be going on.
    fn tell_cut_off(&mut self, notice: &mut dyn FnMut(Notice)) {
        if self.part.kind == FileKind::Snapshot {
            self.printer.totals.notice_count += 1;
            notice(Notice::CutOff { length_bytes: self.part.base + self.part.bytes.len() as u64 });
        }
    }

    fn tell_row(&mut self, lsn: i64, what: &'static str, notice: &mut dyn FnMut(Notice)) {
        self.printer.totals.notice_count += 1;
        notice(Notice::Row { lsn, what });
    }
}

/// The threads, or none: then each run is done when it is dealt out.
struct Pool<'a> {
    bytes: &'a [u8],
    task: Task,
    threads: Vec<(SyncSender<Job>, Receiver<Done>)>,
    own: Option<Worker>,
    ready: VecDeque<Done>,
    /// Runs that were dealt out and not taken back.
    waiting: usize,
    next_give: usize,
    next_take: usize,
    spare: Vec<Vec<u8>>,
}

impl<'a> Pool<'a> {
    fn new(bytes: &'a [u8], task: &Task) -> Pool<'a> {
        Pool {
            bytes,
            task: task.clone(),
            threads: Vec::new(),
            own: None,
            ready: VecDeque::new(),
            waiting: 0,
            next_give: 0,
            next_take: 0,
            spare: Vec::new(),
        }
    }

    fn ahead_max(&self) -> usize {
        (self.threads.len() * RUNS_AHEAD).max(1)
    }

    fn give(&mut self, places: Vec<BlockPlace>, formats: &Arc<Formats>) {
        let job = Job { places, formats: Arc::clone(formats), out: self.spare.pop().unwrap_or_default() };
        self.waiting += 1;
        if self.threads.is_empty() {
            let task = &self.task;
            let worker = self.own.get_or_insert_with(|| Worker::new(task));
            self.ready.push_back(worker.carry_out(self.bytes, job));
            return;
        }
        let place = self.next_give % self.threads.len();
        self.next_give += 1;
        let sent = self.threads.get(place).map(|(send, _)| send.send(job));
        assert!(matches!(sent, Some(Ok(()))), "a thread ends only after its channel");
    }

    /// Takes back the run that was dealt out first.
    fn take(&mut self) -> Option<Done> {
        if self.waiting == 0 {
            return None;
        }
        self.waiting -= 1;
        if self.threads.is_empty() {
            return self.ready.pop_front();
        }
        let place = self.next_take % self.threads.len();
        self.next_take += 1;
        let done = self.threads.get(place).and_then(|(_, receive)| receive.recv().ok());
        Some(done.expect("a thread gives back every run"))
    }

    fn drop_all(&mut self) {
        while let Some(done) = self.take() {
            self.recycle(done.out);
        }
    }

    fn recycle(&mut self, out: Vec<u8>) {
        if out.capacity() <= OUT_BYTES_KEPT_MAX {
            self.spare.push(out);
        }
    }
}
