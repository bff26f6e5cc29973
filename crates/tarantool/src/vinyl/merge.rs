//! Merges the rows of several slices into tuples.
//!
//! Input: the slices of some keys. Output: the newest tuple of each key, in the order of keys. Does not know
//! ranges, nor what becomes of the tuples.
//!
//! The slices are in a heap: by key, and of one key the newest row first. The first replace, insert or delete
//! decides, and upserts before it are applied to it. Older rows of the key do not count.

use super::key::KeyReader;
use super::run::RunFiles;
use super::source::{DamagedPage, Source, SourceRow};
use super::upsert::{Upsert, Upserts};
use crate::error::{Damage, Error, Result};
use crate::file::block::Unpacker;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// Bytes of the upserts of one key that wait for the row that they are applied to.
const UPSERT_BYTES_MAX: usize = 256 << 20;
/// Bytes of all pages that are in memory at the same time.
const PAGE_BYTES_MAX: usize = 1 << 30;

/// What takes the merged tuples and what is damaged.
pub(super) trait Sink {
    /// Takes a tuple.
    ///
    /// # Errors
    /// If it is not one of the space.
    fn tuple(&mut self, tuple: &[u8]) -> std::result::Result<(), Damage>;

    /// Takes a page that cannot be read, or whose row at the head is of no use.
    ///
    /// # Errors
    /// If nothing may be left out.
    fn damaged(&mut self, damaged: DamagedPage) -> Result<()>;

    /// Called now and then, with the bytes that were read since.
    ///
    /// # Errors
    /// If the work is to be stopped.
    fn progress(&mut self, bytes: u64) -> Result<()>;
}

/// A slice in the heap.
struct Head<'a>(Source<'a>);

impl Head<'_> {
    fn order(&self) -> (&[u8], Reverse<i64>) {
        let SourceRow { key, lsn, .. } = &self.0.row;
        (key, Reverse(*lsn))
    }
}

impl PartialEq for Head<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl Eq for Head<'_> {}

impl PartialOrd for Head<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Head<'_> {
    /// The heap has the greatest first, and the least key comes first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.order().cmp(&self.order())
    }
}

/// What is known of the key that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Upserts may wait; the row that they are applied to was not found yet.
    Open,
    /// The tuple is known.
    Closed,
}

/// Merges slices. Passes all tuples to `sink`.
///
/// # Errors
/// Damage, unless the sink takes it; what the sink says.
pub(super) fn merge<'a>(
    sources: Vec<Source<'a>>,
    keys: &KeyReader,
    upserts: &'a Upserts<'a>,
    sink: &mut dyn Sink,
) -> Result<()> {
    let mut unpacker = Unpacker::for_file(crate::file::header::FileKind::Snapshot);
    let mut heap = BinaryHeap::with_capacity(sources.len());
    let mut memory_bytes: usize = 0;
    for mut source in sources {
        if advance(&mut source, keys, &mut unpacker, sink)? {
            memory_bytes = memory_bytes.saturating_add(source.memory_bytes());
            if memory_bytes > PAGE_BYTES_MAX {
                return Err(too_much(TOO_MANY_PAGES, Some(source.files())));
            }
            heap.push(Head(source));
        }
    }
    let mut merger = Merger {
        upserts,
        key: Vec::new(),
        state: State::Closed,
        waiting: Vec::new(),
        waiting_bytes: 0,
        run: None,
    };
    while let Some(mut top) = heap.peek_mut() {
        let source = &mut top.0;
        let page = source.page_number();
        memory_bytes = memory_bytes.saturating_sub(source.memory_bytes());
        merger.row(source, sink)?;
        let has_more = advance(source, keys, &mut unpacker, sink)?;
        let is_new_page = source.page_number() != page;
        if is_new_page {
            sink.progress(source.page_bytes())?;
        }
        if !has_more {
            PeekMut::pop(top);
            continue;
        }
        memory_bytes = memory_bytes.saturating_add(source.memory_bytes());
        if memory_bytes > PAGE_BYTES_MAX {
            return Err(too_much(TOO_MANY_PAGES, merger.run));
        }
    }
    merger.close(None, sink)
}

/// Goes to the next row of a slice. Damaged pages are passed to the sink. Returns whether there is a row.
fn advance(
    source: &mut Source,
    keys: &KeyReader,
    unpacker: &mut Unpacker,
    sink: &mut dyn Sink,
) -> Result<bool> {
    loop {
        match source.advance(keys, unpacker) {
            Ok(has_row) => return Ok(has_row),
            Err(damaged) => sink.damaged(damaged)?,
        }
    }
}

struct Merger<'a> {
    upserts: &'a Upserts<'a>,
    key: Vec<u8>,
    state: State,
    /// Upserts of the key, the newest first.
    waiting: Vec<Upsert>,
    waiting_bytes: usize,
    /// The run of the last row that was used.
    run: Option<&'a RunFiles>,
}

impl<'a> Merger<'a> {
    /// Takes the row at the head of a slice.
    fn row(&mut self, source: &Source<'a>, sink: &mut dyn Sink) -> Result<()> {
        if self.run.is_none() || self.key != source.row.key {
            self.close(None, sink)?;
            self.key.clone_from(&source.row.key);
            self.state = State::Open;
        }
        if self.state == State::Closed {
            return Ok(());
        }
        self.run = Some(source.files());
        if let Some(ops) = source.ops() {
            self.waiting_bytes =
                self.waiting_bytes.saturating_add(ops.len()).saturating_add(source.tuple().len());
            if self.waiting_bytes > UPSERT_BYTES_MAX {
                return Err(too_much("a key has over 256 MiB of upserts", self.run));
            }
            self.waiting.push(Upsert { tuple: source.tuple().to_vec(), ops: ops.to_vec() });
            return Ok(());
        }
        if source.row.is_delete {
            return self.close(None, sink);
        }
        if self.waiting.is_empty() {
            self.state = State::Closed;
            return self.put(source.tuple(), sink);
        }
        self.close(Some(source.tuple().to_vec()), sink)
    }

    /// Applies the upserts that wait, and ends the key.
    fn close(&mut self, before: Option<Vec<u8>>, sink: &mut dyn Sink) -> Result<()> {
        self.state = State::Closed;
        if self.waiting.is_empty() {
            return Ok(());
        }
        let waiting = std::mem::take(&mut self.waiting);
        self.waiting_bytes = 0;
        match self.upserts.apply(before, waiting.iter().rev(), &self.key) {
            Ok(Some(tuple)) => self.put(&tuple, sink),
            Ok(None) => Ok(()),
            Err(_) => self.damaged(Damage::new(0, "the operations of an upsert cannot be read"), sink),
        }
    }

    fn put(&self, tuple: &[u8], sink: &mut dyn Sink) -> Result<()> {
        match sink.tuple(tuple) {
            Ok(()) => Ok(()),
            Err(damage) => self.damaged(damage, sink),
        }
    }

    /// Reports a row that is of no use.
    fn damaged(&self, damage: Damage, sink: &mut dyn Sink) -> Result<()> {
        let Some(run) = self.run else { return Ok(()) };
        sink.damaged(DamagedPage { run, page: None, damage })
    }
}

const TOO_MANY_PAGES: &str = "over 1 GiB of pages would be in memory at the same time";

fn too_much(what: &str, run: Option<&RunFiles>) -> Error {
    let path = run.map_or_else(Default::default, |run| run.path.clone());
    Error::Unsupported { path, what: what.to_owned() }
}
