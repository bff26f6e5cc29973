//! Iterates over the rows of all parts of a table in key order, from both ends.
//!
//! Input: parts and a range of keys. Output: ids of live rows. Does not depend on how parts store their rows.
//!
//! Each part gives a run of positions in its own order. Two heaps, built when they are first needed, hold
//! the parts by their first and by their last row. A table with one part needs no heap.

use crate::error::Result;
use crate::read::heap::Heap;
use crate::read::part::{Part, RowId, key_columns};
use crate::schema::Schema;
use crate::value::Value;
use std::cmp::Ordering;
use std::ops::{Bound, Range};

/// Rows in key order. Errors (a damaged file) are returned as items. After an error the iterator ends.
pub struct RowIter<'a> {
    schema: &'a Schema,
    parts: &'a [Part],
    index: Option<usize>,
    runs: Vec<Run>,
    front: Option<Heap<Head<'a>>>,
    back: Option<Heap<Head<'a>>>,
}

/// The rest of one part.
struct Run {
    part: u32,
    positions: Range<u32>,
}

/// The next row of a run.
#[derive(Clone, Copy)]
struct Head<'a> {
    run: usize,
    row: u32,
    /// The first value of its key, which usually decides the comparison.
    first: Value<'a>,
}

/// The end of the range from which a row is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Front,
    Back,
}

impl<'a> RowIter<'a> {
    pub(crate) fn new(
        schema: &'a Schema,
        parts: &'a [Part],
        index: Option<usize>,
        (from, to): (Bound<&[Value]>, Bound<&[Value]>),
    ) -> Result<RowIter<'a>> {
        let mut runs = Vec::new();
        for (part, number) in parts.iter().zip(0..) {
            let positions = part.positions(index, from, to)?;
            if !positions.is_empty() {
                runs.push(Run { part: number, positions });
            }
        }
        Ok(RowIter { schema, parts, index, runs, front: None, back: None })
    }

    /// Returns how many rows are left. Takes no time for each of them unless some are dead.
    ///
    /// # Errors
    /// If a file is damaged.
    pub fn remaining(mut self) -> Result<u64> {
        let has_begun = self.front.is_some() || self.back.is_some();
        let has_dead = |run: &Run| self.parts[run.part as usize].has_dead();
        if !has_begun && !self.runs.iter().any(has_dead) {
            return Ok(self.runs.iter().map(|run| run.positions.len() as u64).sum());
        }
        self.try_fold(0, |count, row| row.map(|_| count + 1))
    }

    fn take(&mut self, end: End) -> Result<Option<RowId>> {
        if let [run] = self.runs.as_mut_slice() {
            let part = &self.parts[run.part as usize];
            let row = next_live(part, self.index, &mut run.positions, end)?;
            if row.is_some() {
                shrink(&mut run.positions, end);
            }
            return Ok(row.map(|row| RowId { part: run.part, row }));
        }
        let mut heap = match end {
            End::Front => self.front.take(),
            End::Back => self.back.take(),
        };
        if heap.is_none() {
            heap = Some(self.make_heap(end)?);
        }
        let mut heap = heap.expect("it was just made");
        let row = self.take_first(&mut heap, end)?;
        match end {
            End::Front => self.front = Some(heap),
            End::Back => self.back = Some(heap),
        }
        Ok(row)
    }

    fn make_heap(&mut self, end: End) -> Result<Heap<Head<'a>>> {
        let mut heap = Heap::new();
        for run in 0..self.runs.len() {
            if let Some(head) = self.head(run, end)? {
                heap.push(head, |left, right| self.is_before(left, right, end))?;
            }
        }
        Ok(heap)
    }

    /// Takes the first row off the heap, and puts the next one of its run there.
    fn take_first(&mut self, heap: &mut Heap<Head<'a>>, end: End) -> Result<Option<RowId>> {
        while let Some(&head) = heap.first() {
            // The other end may have taken the rest of this run.
            let is_left = !self.runs[head.run].positions.is_empty();
            if is_left {
                shrink(&mut self.runs[head.run].positions, end);
            }
            let next = self.head(head.run, end)?;
            heap.replace_first(next, |left, right| self.is_before(left, right, end))?;
            if is_left {
                return Ok(Some(RowId { part: self.runs[head.run].part, row: head.row }));
            }
        }
        Ok(None)
    }

    /// Returns the next live row of a run. It stays in the run.
    fn head(&mut self, run: usize, end: End) -> Result<Option<Head<'a>>> {
        let Run { part, positions } = &mut self.runs[run];
        let part = &self.parts[*part as usize];
        let Some(row) = next_live(part, self.index, positions, end)? else { return Ok(None) };
        let first = part.value(usize::from(key_columns(self.schema, self.index)[0]), row)?;
        Ok(Some(Head { run, row, first }))
    }

    fn is_before(&self, left: &Head, right: &Head, end: End) -> Result<bool> {
        let order = match left.first.cmp(&right.first) {
            Ordering::Equal => self.compare_rest(left, right)?,
            unequal => unequal,
        };
        Ok(match end {
            End::Front => order.is_lt(),
            End::Back => order.is_gt(),
        })
    }

    /// Compares by the other columns of the key, then by the primary key. No two live rows are equal.
    fn compare_rest(&self, left: &Head, right: &Head) -> Result<Ordering> {
        let schema = self.schema;
        let ties: &[u16] = if self.index.is_some() { &schema.primary } else { &[] };
        let part = |head: &Head| &self.parts[self.runs[head.run].part as usize];
        for &column in key_columns(schema, self.index).iter().skip(1).chain(ties) {
            let column = usize::from(column);
            match part(left).value(column, left.row)?.cmp(&part(right).value(column, right.row)?) {
                Ordering::Equal => {}
                unequal => return Ok(unequal),
            }
        }
        Ok(Ordering::Equal)
    }

    fn step(&mut self, end: End) -> Option<Result<RowId>> {
        let row = self.take(end);
        if row.is_err() {
            self.runs.clear();
            self.front = Some(Heap::new());
            self.back = Some(Heap::new());
        }
        row.transpose()
    }
}

impl Iterator for RowIter<'_> {
    type Item = Result<RowId>;

    fn next(&mut self) -> Option<Result<RowId>> {
        self.step(End::Front)
    }
}

impl DoubleEndedIterator for RowIter<'_> {
    fn next_back(&mut self) -> Option<Result<RowId>> {
        self.step(End::Back)
    }
}

impl std::fmt::Debug for RowIter<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let positions: Vec<_> = self.runs.iter().map(|run| (run.part, run.positions.clone())).collect();
        formatter.debug_struct("RowIter").field("left", &positions).finish()
    }
}

/// Drops dead rows from one end of a run, and returns the live row that is then there.
fn next_live(part: &Part, index: Option<usize>, positions: &mut Range<u32>, end: End) -> Result<Option<u32>> {
    while positions.start < positions.end {
        let position = match end {
            End::Front => positions.start,
            End::Back => positions.end - 1,
        };
        let row = part.row_at(index, position)?;
        if !part.is_dead(row) {
            return Ok(Some(row));
        }
        shrink(positions, end);
    }
    Ok(None)
}

fn shrink(positions: &mut Range<u32>, end: End) {
    match end {
        End::Front => positions.start += 1,
        End::Back => positions.end -= 1,
    }
}
