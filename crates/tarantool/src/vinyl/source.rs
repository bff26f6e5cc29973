//! The rows of a slice, one after the other.
//!
//! Input: the pages of a run, and the keys that count. Output: rows with their keys, in order: by key, and
//! the newest first. Does not know other runs.
//!
//! One page is in memory at a time.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::key::{KeyBuffer, KeyReader};
use super::run::{Page, Pages, ROW_INDEX, RunFiles, key_of};
use crate::error::Damage;
use crate::file::block::Unpacker;
use crate::file::row::{RowKind, rows};
use crate::msgpack;
use std::cmp::Ordering;
use std::ops::Range;

/// A run that is read.
#[derive(Debug)]
pub(super) struct Run<'a> {
    pub(super) files: &'a RunFiles,
    pub(super) pages: Pages,
}

/// The keys that count, as bytes; without limit if there is none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits<'a> {
    pub(super) begin: &'a [u8],
    pub(super) end: Option<&'a [u8]>,
}

impl<'a> Limits<'a> {
    /// Returns the keys that are within both limits.
    pub(super) fn within(self, other: Limits<'a>) -> Limits<'a> {
        let end = match (self.end, other.end) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        Limits { begin: self.begin.max(other.begin), end }
    }

    /// Returns whether no key is within the limits.
    pub(super) fn is_empty(&self) -> bool {
        self.end.is_some_and(|end| self.begin >= end)
    }
}

/// The rows of a slice.
pub(super) struct Source<'a> {
    run: &'a Run<'a>,
    limits: Limits<'a>,
    /// The page after the one in memory.
    next_page: usize,
    page: Vec<u8>,
    at: usize,
    row_count: u64,
    is_done: bool,
    /// The row at the head.
    pub(super) row: SourceRow,
    /// Whether a row was read.
    has_row: bool,
    buffer: KeyBuffer,
    /// The memory of another key.
    spare: Vec<u8>,
}

/// A row of a source.
#[derive(Debug, Default)]
pub(super) struct SourceRow {
    /// Its key.
    pub(super) key: Vec<u8>,
    pub(super) lsn: i64,
    pub(super) is_delete: bool,
    tuple: Range<usize>,
    ops: Range<usize>,
}

/// A page that cannot be read.
#[derive(Debug)]
pub(super) struct DamagedPage<'a> {
    pub(super) run: &'a RunFiles,
    pub(super) page: Option<&'a Page>,
    pub(super) damage: Damage,
}

impl<'a> Source<'a> {
    /// Returns the rows of a run within limits. There is none at the head yet.
    pub(super) fn new(run: &'a Run<'a>, limits: Limits<'a>) -> Source<'a> {
        Source {
            run,
            limits,
            next_page: run.pages.first_with(limits.begin),
            page: Vec::new(),
            at: 0,
            row_count: 0,
            is_done: limits.is_empty(),
            row: SourceRow::default(),
            has_row: false,
            buffer: KeyBuffer::default(),
            spare: Vec::new(),
        }
    }

    /// Returns the files of the run.
    pub(super) fn files(&self) -> &'a RunFiles {
        self.run.files
    }

    /// Returns a number that is another one as soon as another page is read.
    pub(super) fn page_number(&self) -> usize {
        self.next_page
    }

    /// Returns how many stored bytes the page has.
    pub(super) fn page_bytes(&self) -> u64 {
        let page = self.run.pages.pages.get(self.next_page.saturating_sub(1));
        page.map_or(0, |page| page.place.payload.len() as u64)
    }

    /// Returns how many bytes of memory the page takes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.page.capacity()
    }

    /// Returns the tuple of the row at the head.
    pub(super) fn tuple(&self) -> &[u8] {
        self.page.get(self.row.tuple.clone()).unwrap_or_default()
    }

    /// Returns the operations of the row at the head; `None` if it is no upsert.
    pub(super) fn ops(&self) -> Option<&[u8]> {
        self.page.get(self.row.ops.clone()).filter(|ops| !ops.is_empty())
    }

    /// Goes to the next row. Returns whether there is one.
    ///
    /// # Errors
    /// A page that cannot be read. The next call goes on after it.
    pub(super) fn advance(
        &mut self,
        keys: &KeyReader,
        unpacker: &mut Unpacker,
    ) -> Result<bool, DamagedPage<'a>> {
        loop {
            if self.is_done {
                return Ok(false);
            }
            if self.at >= self.page.len() && !self.open_page(unpacker)? {
                self.is_done = true;
                continue;
            }
            match self.read_row(keys) {
                Ok(true) if self.row.key.as_slice() < self.limits.begin => {}
                Ok(true) if self.limits.end.is_some_and(|end| self.row.key.as_slice() >= end) => {
                    self.is_done = true;
                }
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(damage) => return Err(self.damaged(damage)),
            }
        }
    }

    /// Unpacks the next page. Returns whether there is one.
    fn open_page(&mut self, unpacker: &mut Unpacker) -> Result<bool, DamagedPage<'a>> {
        let Some(page) = self.run.pages.pages.get(self.next_page) else { return Ok(false) };
        let is_beyond = |end| self.run.pages.first_key(page) >= end;
        if self.limits.end.is_some_and(is_beyond) {
            return Ok(false);
        }
        self.next_page = self.next_page.saturating_add(1);
        (self.at, self.row_count) = (0, 0);
        self.page.clear();
        match unpacker.unpack(self.run.files.rows(), &page.place) {
            Ok(payload) => self.page.extend_from_slice(payload),
            Err(damage) => return Err(self.damaged(damage)),
        }
        Ok(true)
    }

    /// Reads the next row of the page. Returns whether there was one.
    fn read_row(&mut self, keys: &KeyReader) -> msgpack::Result<bool> {
        let rest = self.page.get(self.at..).unwrap_or_default();
        let mut iter = rows(rest);
        let row = iter.next().unwrap_or(Err(Damage::new(0, "a page of a run has no rows")))?;
        let end = self.at.saturating_add(iter.offset());
        let page = self.run.pages.pages.get(self.next_page.saturating_sub(1));
        if row.kind == ROW_INDEX {
            let count = page.and_then(|page| page.row_count);
            if end != self.page.len() || count.is_some_and(|count| count != self.row_count) {
                return Err(Damage::new(0, "a page of a run has another number of rows than its index says"));
            }
            self.at = end;
            return Ok(false);
        }
        if end >= self.page.len() {
            return Err(Damage::new(0, "a page of a run does not end with the index of its rows"));
        }
        key_of(&row, keys, &mut self.buffer, &mut self.spare)?;
        if self.row_count == 0 && page.is_some_and(|page| self.run.pages.first_key(page) != self.spare) {
            return Err(Damage::new(0, "a page of a run begins with another key than its index says"));
        }
        let is_in_order = match self.row.key.cmp(&self.spare) {
            Ordering::Less => true,
            Ordering::Equal => self.row.lsn >= row.lsn,
            Ordering::Greater => false,
        };
        // Before the first row there is an empty key, which is less than any other, or equal.
        if !is_in_order && self.has_row {
            return Err(Damage::new(0, "the rows of a run are not in order"));
        }
        let base = self.page.as_ptr().addr();
        let place = |part: Option<&[u8]>| {
            let begin = part.map_or(0, |part| part.as_ptr().addr().saturating_sub(base));
            begin..begin.saturating_add(part.map_or(0, <[u8]>::len))
        };
        let is_upsert = row.kind == RowKind::Upsert;
        if is_upsert && row.body.ops.is_none() {
            return Err(Damage::new(0, "an upsert in a run has no operations"));
        }
        (self.row.tuple, self.row.ops) = (place(row.body.tuple), place(row.body.ops.filter(|_| is_upsert)));
        (self.row.lsn, self.row.is_delete) = (row.lsn, row.kind == RowKind::Delete);
        std::mem::swap(&mut self.row.key, &mut self.spare);
        (self.at, self.has_row) = (end, true);
        self.row_count = self.row_count.saturating_add(1);
        Ok(true)
    }

    /// Returns the page in memory as damaged, and leaves out the rest of it.
    fn damaged(&mut self, damage: Damage) -> DamagedPage<'a> {
        self.page.clear();
        self.at = 0;
        let page = self.next_page.saturating_sub(1);
        DamagedPage { run: self.run.files, page: self.run.pages.pages.get(page), damage }
    }
}
