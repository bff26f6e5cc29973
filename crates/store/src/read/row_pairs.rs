//! Pairs equal rows of two lists of parts.
//!
//! Input: some rows of each part, in key order. Output: which of them have an equal row on the other side.
//! Does not depend on snapshots. A merge of the key columns finds rows with equal keys. Then all other
//! columns are compared.

use crate::error::Result;
use crate::payload::reader::PayloadReader;
use crate::read::part::{Part, PartRows, key_columns};
use crate::rows::column::ColumnSlice;
use crate::schema::{Codec, Kind, Schema};
use crate::sort::row_set::{Fixed, with_fixed};
use crate::value::{Value, hint, hint_of, normalise};
use rayon::prelude::*;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering as Memory};

/// Rows paired by one task.
const TASK_ROWS: usize = 1 << 14;
/// If at least one of this many rows is a candidate, the key column is read as a whole. Otherwise only the
/// chunks with candidates are read.
const WHOLE_COLUMN_SHARE: usize = 64;

/// Some rows of one part, in key order.
pub(crate) struct Candidates<'a> {
    pub(crate) number: u32,
    part: &'a Part,
    rows: Vec<u32>,
    /// The columns that were read as a whole.
    columns: Vec<OnceLock<ColumnSlice<'a>>>,
    /// Whether columns are read as a whole.
    reads_columns: bool,
    /// The hint of each row's primary key.
    hints: Vec<u64>,
    is_paired: Vec<AtomicBool>,
}

/// When two rows with equal primary keys are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Equality {
    /// If all their columns are.
    ByContent,
    /// Equal if the newer one is in a segment, or all their columns are equal.
    BySegment,
}

/// Rows of an older part, and the newer part in which equal ones are looked for.
struct Task<'t, 'a> {
    old: &'t Candidates<'a>,
    new: &'t Candidates<'a>,
    old_rows: Range<usize>,
}

/// What all comparisons share.
struct Comparison<'s> {
    schema: &'s Schema,
    equality: Equality,
    /// Whether rows with equal hints have equal keys.
    is_exact: bool,
}

impl<'a> Candidates<'a> {
    pub(crate) fn new(number: u32, part: &'a Part, rows: Vec<u32>) -> Candidates<'a> {
        let is_paired = rows.iter().map(|_| AtomicBool::new(false)).collect();
        let columns = part.schema().columns.iter().map(|_| OnceLock::new()).collect();
        let reads_columns = rows.len() >= part.row_count() as usize / WHOLE_COLUMN_SHARE;
        Candidates { number, part, rows, columns, reads_columns, hints: Vec::new(), is_paired }
    }

    /// Returns the rows without an equal one.
    pub(crate) fn unpaired(&self) -> impl Iterator<Item = u32> {
        let rows = self.rows.iter().zip(&self.is_paired);
        rows.filter(|(_, is_paired)| !is_paired.load(Memory::Relaxed)).map(|(row, _)| *row)
    }

    /// Returns a column as a whole; `None` if too few of its rows are candidates.
    #[inline]
    fn column(&self, column: usize) -> Result<Option<&ColumnSlice<'a>>> {
        if !self.reads_columns {
            return Ok(None);
        }
        let Some(slot) = self.columns.get(column) else { return Ok(None) };
        if let Some(values) = slot.get() {
            return Ok(Some(values));
        }
        let values = self.part.column(column)?;
        Ok(Some(slot.get_or_init(|| values)))
    }

    /// Returns a value of the row at a position.
    #[inline]
    fn value(&self, column: usize, position: usize) -> Result<Value<'a>> {
        let row = self.rows[position];
        match self.column(column)?.and_then(|values| values.value(row)) {
            Some(value) => Ok(value),
            None => self.part.value(column, row),
        }
    }

    fn read_hints(&mut self) -> Result<()> {
        let columns = key_columns(self.part.schema(), None);
        if let [column] = columns
            && let Some(values) = self.column(usize::from(*column))?
            && let Some(hints) = hints_of(values, &self.rows)
        {
            self.hints = hints;
            return Ok(());
        }
        let hint_at = |position: usize, normalised: &mut Vec<u8>| {
            if let [column] = columns {
                return Ok(hint_of(self.value(usize::from(*column), position)?));
            }
            normalised.clear();
            for (column, left) in columns.iter().zip((1..=columns.len()).rev()) {
                normalise(&[self.value(usize::from(*column), position)?], left, normalised);
                if normalised.len() >= size_of::<u64>() {
                    break;
                }
            }
            Ok(hint(normalised))
        };
        let positions = (0..self.rows.len()).into_par_iter().with_min_len(TASK_ROWS);
        self.hints = positions
            .map_init(Vec::new, |buffer, position| hint_at(position, buffer))
            .collect::<Result<_>>()?;
        Ok(())
    }
}

/// Returns the hints of keys that are one value of fixed width.
fn hints_of(column: &ColumnSlice, rows: &[u32]) -> Option<Vec<u64>> {
    with_fixed!(column, T => {
        let values = T::slice(column)?;
        rows.iter().map(|row| values.get(*row as usize).map(Fixed::hint)).collect()
    }, None)
}

/// Marks the rows that have an equal one on the other side.
///
/// # Errors
/// If a file is damaged.
pub(crate) fn pair<'a>(
    schema: &Schema,
    older: &mut [Candidates<'a>],
    newer: &mut [Candidates<'a>],
    equality: Equality,
) -> Result<()> {
    if older.is_empty() || newer.is_empty() {
        return Ok(());
    }
    older.par_iter_mut().chain(newer.par_iter_mut()).try_for_each(Candidates::read_hints)?;
    let widths = schema.primary.iter().map(|column| schema.columns[usize::from(*column)].kind.width());
    let key_bytes = widths.sum::<Option<usize>>();
    let comparison = Comparison { schema, equality, is_exact: key_bytes.is_some_and(|bytes| bytes <= 8) };
    let tasks: Vec<Task> =
        older.iter().flat_map(|old| newer.iter().flat_map(|new| tasks(old, new))).collect();
    tasks.par_iter().try_for_each_init(Default::default, |readers, task| comparison.pair(task, readers))
}

fn tasks<'t, 'a>(old: &'t Candidates<'a>, new: &'t Candidates<'a>) -> impl Iterator<Item = Task<'t, 'a>> {
    let starts = (0..old.rows.len()).step_by(TASK_ROWS);
    starts.map(move |start| Task { old, new, old_rows: start..(start + TASK_ROWS).min(old.rows.len()) })
}

impl Comparison<'_> {
    /// Marks the rows that are on both sides.
    fn pair(&self, task: &Task, readers: &mut [PayloadReader; 2]) -> Result<()> {
        let Task { old, new, old_rows } = task;
        let old_hints = &old.hints[old_rows.clone()];
        let (Some(first), Some(last)) = (old_hints.first(), old_hints.last()) else { return Ok(()) };
        let mut new_at = new.hints.partition_point(|hint| hint < first);
        let new_end = new_at + new.hints[new_at..].partition_point(|hint| hint <= last);
        let mut old_at = old_rows.start;
        while old_at < old_rows.end && new_at < new_end {
            match self.compare_keys(old, old_at, new, new_at)? {
                Ordering::Less => old_at = skip(&old.hints[..old_rows.end], old_at + 1, new.hints[new_at]),
                Ordering::Greater => new_at = skip(&new.hints[..new_end], new_at + 1, old.hints[old_at]),
                Ordering::Equal => {
                    if self.is_equal((old, old_at), (new, new_at), readers)? {
                        old.is_paired[old_at].store(true, Memory::Relaxed);
                        new.is_paired[new_at].store(true, Memory::Relaxed);
                    }
                    old_at += 1;
                    new_at += 1;
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn compare_keys(
        &self,
        old: &Candidates,
        old_at: usize,
        new: &Candidates,
        new_at: usize,
    ) -> Result<Ordering> {
        let order = old.hints[old_at].cmp(&new.hints[new_at]);
        if order.is_ne() || self.is_exact {
            return Ok(order);
        }
        for &column in &self.schema.primary {
            let column = usize::from(column);
            let order = old.value(column, old_at)?.cmp(&new.value(column, new_at)?);
            if order.is_ne() {
                return Ok(order);
            }
        }
        Ok(Ordering::Equal)
    }

    /// Returns whether two rows with equal keys are equal.
    #[inline]
    fn is_equal(
        &self,
        (old, old_at): (&Candidates, usize),
        (new, new_at): (&Candidates, usize),
        readers: &mut [PayloadReader; 2],
    ) -> Result<bool> {
        if self.equality == Equality::BySegment && matches!(new.part.rows, PartRows::Segment(_)) {
            return Ok(true);
        }
        let is_compressed = |kind| matches!(kind, Kind::Payload(codec) if codec != Codec::None);
        let columns = || self.schema.columns.iter().enumerate();
        // Compare columns that need no decompression first.
        for (column, _) in columns().filter(|(_, column)| !is_compressed(column.kind)) {
            if old.value(column, old_at)? != new.value(column, new_at)? {
                return Ok(false);
            }
        }
        let [old_reader, new_reader] = readers;
        let (old_row, new_row) = (old.rows[old_at], new.rows[new_at]);
        for (column, _) in columns().filter(|(_, column)| is_compressed(column.kind)) {
            let old_payload = old.part.payload(column, old_row, old_reader)?;
            if old_payload != new.part.payload(column, new_row, new_reader)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Returns the first place from `start` on whose hint is at least `least`. Fast if that place is near.
fn skip(hints: &[u64], start: usize, least: u64) -> usize {
    let mut step = 1;
    let mut from = start;
    while hints.get(from + step - 1).is_some_and(|hint| *hint < least) {
        from += step;
        step *= 2;
    }
    let to = (from + step - 1).min(hints.len());
    from + hints[from..to].partition_point(|hint| *hint < least)
}
