//! What the values of each column of a space are.
//!
//! Input: the tuples of a space. Output: which kinds of values each column has. Does not know formats.

use super::cell::{Cell, nested};
use super::table::Table;
use anyhow::Result;
use tarantool::SpaceTuples;
use tarantool::msgpack::Reader;

/// Whole numbers up to this size are numbers with a point, too, without any loss.
const EXACT_MAX: i128 = 1 << 53;

/// What the values of a column are.
#[derive(Clone, Copy, Default)]
pub(super) struct Kinds {
    pub(super) boolean: bool,
    pub(super) whole: bool,
    pub(super) double: bool,
    pub(super) text: bool,
    /// Values that become text: decimals and the like, arrays, maps.
    pub(super) words: bool,
    pub(super) bytes: bool,
    /// Whole numbers over 63 bits, which are not counted as `whole`.
    pub(super) large_count: u64,
    /// Numbers with a point that are NaN.
    pub(super) nan_count: u64,
    /// Whole numbers that are no numbers with a point without loss.
    pub(super) inexact_count: u64,
}

impl Kinds {
    /// Takes a value into account.
    fn add(&mut self, cell: &Cell) {
        match cell {
            Cell::Nothing => {}
            Cell::Boolean(_) => self.boolean = true,
            Cell::Whole(number) => {
                let is_large = i64::try_from(*number).is_err();
                self.whole |= !is_large;
                self.large_count += u64::from(is_large);
                self.inexact_count += u64::from(number.abs() > EXACT_MAX);
            }
            Cell::Double(number) => {
                self.double = true;
                self.nan_count += u64::from(number.is_nan());
            }
            Cell::Text(_) => self.text = true,
            Cell::Words(_) | Cell::Json(_) => self.words = true,
            Cell::Bytes(_) => self.bytes = true,
        }
    }
}

/// Passes the cells of each tuple to `take`.
///
/// # Errors
/// Damage, or an error of `take`.
pub(super) fn each_row(rows: &SpaceTuples, mut take: impl FnMut(&[Cell]) -> Result<()>) -> Result<()> {
    let mut json = nested();
    let mut failed = None;
    rows.each(|tuple| {
        if failed.is_some() {
            return Ok(());
        }
        let mut reader = Reader::new(tuple);
        let count = reader.array_len().unwrap_or(0);
        let cells: Result<Vec<Cell>> = (0..count).map(|_| Cell::read(&mut reader, &mut json)).collect();
        failed = cells.and_then(|cells| take(&cells)).err();
        Ok(())
    })?;
    failed.map_or(Ok(()), Err)
}

/// Looks at all values of each column.
///
/// # Errors
/// Damage.
pub(super) fn kinds_of(table: &Table, rows: &SpaceTuples) -> Result<Vec<Kinds>> {
    let mut kinds = vec![Kinds::default(); table.columns.len()];
    each_row(rows, |cells| {
        kinds.iter_mut().zip(cells).for_each(|(kinds, cell)| kinds.add(cell));
        Ok(())
    })?;
    Ok(kinds)
}
