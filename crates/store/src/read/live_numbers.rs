//! The keys of a part's live rows, for tables whose primary key is a number: ranges of consecutive numbers,
//! and the rows of many numbers.
//!
//! Input: a part; numbers. Output: ranges; rows. Rows of a segment lie in the order of their keys, and no key
//! occurs twice. So if the first and the last key of some rows are as far apart as the rows, all numbers
//! between them are there, and nothing else needs to be read. The cost depends on the number of gaps, not on
//! that of rows.

use crate::error::{Error, Result};
use crate::read::part::{Part, PartRows};
use crate::schema::Kind;
use std::ops::Range;

/// So few rows are read one by one.
const SCAN_ROWS: u32 = 1024;

impl Part {
    /// Passes the primary keys of all live rows to `visit`, as ranges of numbers. Ranges do not overlap,
    /// except in a damaged file. In a segment they are in ascending order.
    ///
    /// # Errors
    /// If the primary key is not one column of the kind `U32`, or the file is damaged.
    pub fn live_numbers(&self, mut visit: impl FnMut(Range<u32>)) -> Result<()> {
        let column = self.number_column()?;
        if matches!(self.rows, PartRows::Memory(_)) {
            let numbers = self.u32s(column, 0..self.row_count())?;
            self.live_values(numbers.iter()).for_each(|(_, &number)| visit(number..number.saturating_add(1)));
            return Ok(());
        }
        let mut first = 0;
        for dead in self.dead.rows() {
            self.runs(column, first..dead, &mut visit)?;
            first = dead.saturating_add(1);
        }
        self.runs(column, first..self.row_count(), &mut visit)
    }

    /// Passes the keys of a segment's rows to `visit`, dead or not.
    fn runs(&self, column: usize, rows: Range<u32>, visit: &mut impl FnMut(Range<u32>)) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let (first, last) = (self.u32_at(column, rows.start)?, self.u32_at(column, rows.end - 1)?);
        let steps = rows.end - rows.start - 1;
        if last.checked_sub(first) == Some(steps) {
            visit(first..last.saturating_add(1));
        } else if steps < SCAN_ROWS {
            self.u32s(column, rows)?.iter().for_each(|&number| visit(number..number.saturating_add(1)));
        } else {
            let middle = rows.start + steps / 2;
            self.runs(column, rows.start..middle, visit)?;
            self.runs(column, middle..rows.end, visit)?;
        }
        Ok(())
    }

    /// Passes those of some numbers to `visit` that are primary keys of live rows, each with its row.
    /// `wanted` is sorted, and has no number twice. In a segment numbers come in ascending order.
    ///
    /// # Errors
    /// If the primary key is not one column of the kind `U32`, or the file is damaged.
    pub fn find_numbers(&self, wanted: &[u32], mut visit: impl FnMut(u32, u32)) -> Result<()> {
        let column = self.number_column()?;
        if matches!(self.rows, PartRows::Memory(_)) {
            let numbers = self.u32s(column, 0..self.row_count())?;
            let live = self.live_values(numbers.iter());
            let found = live.filter(|(_, number)| wanted.binary_search(number).is_ok());
            found.for_each(|(row, number)| visit(*number, row));
            return Ok(());
        }
        let mut visit_live = |number, row| {
            if !self.is_dead(row) {
                visit(number, row);
            }
        };
        self.find_among(column, 0..self.row_count(), wanted, &mut visit_live)
    }

    /// Passes those of the numbers that are keys of these rows of a segment to `visit`, dead or not.
    fn find_among(
        &self,
        column: usize,
        rows: Range<u32>,
        wanted: &[u32],
        visit: &mut impl FnMut(u32, u32),
    ) -> Result<()> {
        if rows.is_empty() || wanted.is_empty() {
            return Ok(());
        }
        let (first, last) = (self.u32_at(column, rows.start)?, self.u32_at(column, rows.end - 1)?);
        let below = wanted.partition_point(|number| *number < first);
        let up_to_last = wanted.partition_point(|number| *number <= last);
        let wanted = wanted.get(below..up_to_last).unwrap_or_default();
        let steps = rows.end - rows.start - 1;
        if last.checked_sub(first) == Some(steps) {
            wanted.iter().for_each(|&number| visit(number, rows.start + (number - first)));
        } else if steps < SCAN_ROWS {
            let numbers = self.u32s(column, rows.clone())?;
            let found = rows.zip(numbers.iter()).filter(|(_, number)| wanted.binary_search(number).is_ok());
            found.for_each(|(row, &number)| visit(number, row));
        } else {
            let middle = rows.start + steps / 2;
            self.find_among(column, rows.start..middle, wanted, visit)?;
            self.find_among(column, middle..rows.end, wanted, visit)?;
        }
        Ok(())
    }

    /// Returns the column of the primary key.
    fn number_column(&self) -> Result<usize> {
        let schema = self.schema();
        match schema.primary[..] {
            [column] if schema.columns[usize::from(column)].kind == Kind::U32 => Ok(usize::from(column)),
            _ => Err(Error::schema(&schema.name, "the primary key is not one number")),
        }
    }
}
