//! Unpacks some blocks and writes their rows: the work of one thread.
//!
//! Input: places of blocks. Output: bytes, and after which block they end. Stops at a block that needs more
//! than that: a damaged one, one that changes the definitions of spaces, a very large one.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::filter::RowFilter;
use super::rows::{RowForm, RowInFile, RowWriter};
use crate::error::Damage;
use crate::file::block::{BlockPlace, Unpacker};
use crate::file::header::FileKind;
use crate::file::row::{Row, RowIter, rows};
use crate::space::Formats;
use std::sync::Arc;

/// Blocks larger than this are written piece by piece, so that their text needs no memory at once.
const BLOCK_BYTES_MAX: usize = 8 << 20;
/// Text after which a job takes no further block: few stored bytes may become very much text.
const TEXT_BYTES_MAX: usize = 32 << 20;
/// A piece of the text of such a block.
const PIECE_BYTES: usize = 1 << 20;

/// What to do with every row of a file.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) kind: FileKind,
    pub(super) form: RowForm,
    pub(super) filter: Arc<RowFilter>,
}

/// Blocks to write.
pub(super) struct Job {
    pub(super) places: Vec<BlockPlace>,
    pub(super) formats: Arc<Formats>,
    /// Memory for the output.
    pub(super) out: Vec<u8>,
}

/// What became of a job.
pub(super) struct Done {
    pub(super) places: Vec<BlockPlace>,
    pub(super) out: Vec<u8>,
    /// The blocks that were written: the first of `places`.
    pub(super) block_count: usize,
    pub(super) counts: Counts,
    /// Why the next block was not written.
    pub(super) stop: Option<Stop>,
    /// Rows that the form has no words for.
    pub(super) unwritable: Vec<Unwritable>,
}

/// Numbers of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) rows: u64,
    pub(super) shown: u64,
}

/// A row that cannot be written in its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unwritable {
    pub(super) lsn: i64,
    pub(super) what: &'static str,
}

/// Why a block is not written with the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Damaged(Damage),
    /// Its rows have to be written one after the other: they change definitions, or the block is very large.
    Alone,
    /// The blocks before it have much text already.
    Full,
}

/// The memory of a thread.
pub(super) struct Worker {
    task: Task,
    unpacker: Unpacker,
    writer: RowWriter,
}

impl Worker {
    pub(super) fn new(task: &Task) -> Worker {
        Worker {
            unpacker: Unpacker::for_file(task.kind),
            writer: RowWriter::new(task.form),
            task: task.clone(),
        }
    }

    /// Writes blocks until one stops it.
    pub(super) fn carry_out(&mut self, bytes: &[u8], job: Job) -> Done {
        let Job { places, formats, mut out } = job;
        out.clear();
        let mut done = Done {
            places: Vec::new(),
            out,
            block_count: 0,
            counts: Counts::default(),
            stop: None,
            unwritable: Vec::new(),
        };
        for place in &places {
            if done.out.len() > TEXT_BYTES_MAX {
                done.stop = Some(Stop::Full);
                break;
            }
            let (begin, before, told) = (done.out.len(), done.counts, done.unwritable.len());
            match self.block(bytes, place, &formats, &mut done) {
                Ok(()) => done.block_count = done.block_count.saturating_add(1),
                Err(stop) => {
                    // A block is written whole or not at all.
                    done.out.truncate(begin);
                    done.counts = before;
                    done.unwritable.truncate(told);
                    done.stop = Some(stop);
                    break;
                }
            }
        }
        done.places = places;
        done
    }

    fn block(
        &mut self,
        bytes: &[u8],
        place: &BlockPlace,
        formats: &Formats,
        done: &mut Done,
    ) -> Result<(), Stop> {
        let at_block = |damage: Damage| Stop::Damaged(Damage { offset: place.offset, ..damage });
        let payload = self.unpacker.unpack(bytes, place).map_err(at_block)?;
        if payload.len() > BLOCK_BYTES_MAX {
            return Err(Stop::Alone);
        }
        let is_log = self.task.kind == FileKind::Log;
        let wants_all = self.task.filter.wants_all();
        let mut rows = RowsOfBlock::new(payload);
        while let Some((row, head)) = rows.next_row().map_err(at_block)? {
            if is_log && Formats::is_changed_by(&row) {
                return Err(Stop::Alone);
            }
            done.counts.rows = done.counts.rows.saturating_add(1);
            if wants_all || self.task.filter.wants(&row, self.task.kind, formats) {
                let in_file = RowInFile { row, head, kind: self.task.kind, formats };
                done.counts.shown = done.counts.shown.saturating_add(1);
                put(&mut self.writer, in_file, &mut done.out, &mut done.unwritable);
            }
        }
        Ok(())
    }

    /// Writes one block row by row, and follows the definitions in it. Passes the text on piece by piece.
    ///
    /// # Errors
    /// Damage of the block, found before anything is written; or what `sink` returns.
    pub(super) fn alone<E>(
        &mut self,
        bytes: &[u8],
        place: &BlockPlace,
        formats: &mut Formats,
        sink: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<Result<(Counts, Vec<Unwritable>), Damage>, E> {
        let at_block = |damage: Damage| Damage { offset: place.offset, ..damage };
        let payload = match self.unpacker.unpack(bytes, place) {
            Ok(payload) => payload,
            Err(damage) => return Ok(Err(at_block(damage))),
        };
        if let Some(damage) = rows(payload).find_map(Result::err) {
            return Ok(Err(at_block(damage)));
        }
        let (mut out, mut counts, mut unwritable) = (Vec::new(), Counts::default(), Vec::new());
        let mut rows = RowsOfBlock::new(payload);
        while let Ok(Some((row, head))) = rows.next_row() {
            counts.rows = counts.rows.saturating_add(1);
            if self.task.filter.wants(&row, self.task.kind, formats) {
                let in_file = RowInFile { row, head, kind: self.task.kind, formats };
                counts.shown = counts.shown.saturating_add(1);
                put(&mut self.writer, in_file, &mut out, &mut unwritable);
            }
            if self.task.kind == FileKind::Log {
                formats.follow(&row);
            }
            if out.len() >= PIECE_BYTES {
                sink(&out)?;
                out.clear();
            }
        }
        sink(&out)?;
        Ok(Ok((counts, unwritable)))
    }
}

/// Writes a row, or notes that it cannot be written.
fn put(writer: &mut RowWriter, row: RowInFile, out: &mut Vec<u8>, unwritable: &mut Vec<Unwritable>) {
    let begin = out.len();
    let lsn = row.row.lsn;
    if let Err(damage) = writer.put(row, out) {
        out.truncate(begin);
        unwritable.push(Unwritable { lsn, what: damage.what });
    }
}

/// The rows of a block, each with the bytes of its header.
struct RowsOfBlock<'a> {
    payload: &'a [u8],
    rows: RowIter<'a>,
}

impl<'a> RowsOfBlock<'a> {
    fn new(payload: &'a [u8]) -> RowsOfBlock<'a> {
        RowsOfBlock { payload, rows: rows(payload) }
    }

    #[inline]
    fn next_row(&mut self) -> Result<Option<(Row<'a>, &'a [u8])>, Damage> {
        let begin = self.rows.offset();
        let Some(row) = self.rows.next() else { return Ok(None) };
        let row = row?;
        let end = self.rows.offset().saturating_sub(row.body.bytes.len());
        Ok(Some((row, self.payload.get(begin..end).unwrap_or_default())))
    }
}
