//! Writes the uncompressed columns of a segment: fixed-width values, bytes, and the offsets of bytes.
//!
//! Input: one column of some sources, and the order of rows. Output: the column's sections. Each piece is
//! written while the next one is gathered. Does not depend on keys or codecs.

use crate::error::{Error, Result};
use crate::file::sealed_write::SealedWriter;
use crate::rows::column::ColumnSlice;
use crate::rows::source::{RowRef, Source};
use crate::segment::packed_write::Numbers;
use crate::sort::row_set::{
    Fixed, RowSet, Runs, fixed_slices, narrow, prefetch_bytes, prefetch_place, visit_fixed, with_fixed,
};
use rayon::prelude::*;
use std::ops::Range;

/// Bytes that are gathered while as many are written.
pub(crate) const WAVE_BYTES: usize = 4 << 20;
/// Rows that one thread gathers at a time.
const PIECE_ROWS: usize = 1 << 13;

/// One column of the rows to be written.
pub(crate) struct ColumnOf<'a> {
    pub(crate) rows: &'a RowSet<'a>,
    pub(crate) sources: &'a [&'a dyn Source],
    /// The column's number.
    pub(crate) number: usize,
}

impl<'a> ColumnOf<'a> {
    /// Returns the column's values in each source.
    fn slices(&self) -> Result<Vec<ColumnSlice<'a>>> {
        self.sources.iter().map(|source| source.column(self.number)).collect()
    }

    /// Returns the error of the source whose value at a position could not be read.
    fn damage(&self, position: u32) -> Error {
        let row = self.rows.at(position);
        match self.sources[row.source as usize].value(self.number, row.row) {
            Err(error) => error,
            Ok(_) => unreachable!("a value that could not be read is an error when it is read alone"),
        }
    }
}

/// Writes waves one after another; each is made while the one before is written.
pub(crate) fn write_waves<B: Default + Send + Sync>(
    writer: &mut SealedWriter,
    mut make: impl FnMut(&mut B) -> Result<bool> + Send,
    mut write: impl FnMut(&mut SealedWriter, &B) -> Result<()> + Send,
) -> Result<()> {
    let (mut ready, mut next) = (B::default(), B::default());
    let mut has_more = make(&mut ready)?;
    while has_more {
        let (written, made) = rayon::join(|| write(writer, &ready), || make(&mut next));
        written?;
        has_more = made?;
        std::mem::swap(&mut ready, &mut next);
    }
    Ok(())
}

/// Calls `use_numbers` with a column of numbers.
pub(crate) fn with_numbers(
    column: &ColumnOf,
    use_numbers: &mut dyn FnMut(&mut Numbers) -> Result<bool>,
) -> Result<bool> {
    let slices = column.slices()?;
    let Some(first) = slices.first() else { return Ok(false) };
    with_fixed!(first, T => {
        let fixed = fixed_slices::<T>(&slices);
        let mut gather = |positions: Range<u32>, out: &mut Vec<u64>| {
            visit_fixed(&fixed, &column.rows.runs(positions), |value| out.extend(value.number()));
        };
        let (count, width_bytes) = (column.rows.len(), size_of::<T>());
        use_numbers(&mut Numbers { count, width_bytes, gather: &mut gather })
    }, Ok(false))
}

/// Calls `use_numbers` with the start of each value and the end of the last one.
pub(crate) fn with_offsets(
    lengths: &[u32],
    use_numbers: &mut dyn FnMut(&mut Numbers) -> Result<bool>,
) -> Result<bool> {
    let total: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
    let mut next = 0;
    let mut gather = |places: Range<u32>, out: &mut Vec<u64>| {
        if places.start == 0 {
            next = 0;
        }
        for place in places {
            out.push(next);
            next += lengths.get(place as usize).copied().map_or(0, u64::from);
        }
    };
    let width_bytes = if u32::try_from(total).is_ok() { 4 } else { 8 };
    let count = narrow(lengths.len() as u64 + 1);
    use_numbers(&mut Numbers { count, width_bytes, gather: &mut gather })
}

/// Writes a column of fixed-width values.
pub(crate) fn write_fixed(writer: &mut SealedWriter, column: &ColumnOf) -> Result<()> {
    let slices = column.slices()?;
    let Some(first) = slices.first() else { return Ok(()) };
    with_fixed!(first, T => write_values::<T>(writer, column.rows, &fixed_slices(&slices)), Ok(()))
}

fn write_values<T: Fixed>(writer: &mut SealedWriter, rows: &RowSet, slices: &[&[T]]) -> Result<()> {
    if let Runs::Whole(runs) = rows.runs(0..rows.len()) {
        return runs.into_iter().try_for_each(|(source, rows)| {
            let values = &slices[source][rows];
            writer.write(bytemuck::cast_slice(values))
        });
    }
    let wave_rows = WAVE_BYTES / size_of::<T>();
    let mut waves = (0..rows.len()).step_by(wave_rows);
    let make = |values: &mut Vec<T>| {
        let Some(start) = waves.next() else { return Ok(false) };
        values.resize(wave_rows.min((rows.len() - start) as usize), T::zeroed());
        let pieces = values.par_chunks_mut(PIECE_ROWS).enumerate();
        pieces.for_each(|(number, piece)| {
            let first = start + narrow((number * PIECE_ROWS) as u64);
            let positions = first..first + narrow(piece.len() as u64);
            let mut places = piece.iter_mut();
            visit_fixed(slices, &rows.runs(positions), |value| {
                if let Some(place) = places.next() {
                    *place = *value;
                }
            });
        });
        Ok(true)
    };
    write_waves(writer, make, |writer, values| writer.write(bytemuck::cast_slice(values)))
}

/// Writes the values of a column of bytes one after another, and returns their lengths.
pub(crate) fn write_blob(writer: &mut SealedWriter, column: &ColumnOf) -> Result<Vec<u32>> {
    let slices = column.slices()?;
    let lengths = measure(column, &slices)?;
    if let Runs::Whole(runs) = column.rows.runs(0..column.rows.len()) {
        for (source, rows) in runs {
            writer.write(whole_run(&slices[source], &rows))?;
        }
        return Ok(lengths);
    }
    let mut position = 0;
    let make = |bytes: &mut Vec<u8>| {
        let wave = wave_from(&lengths, position);
        position = wave.end;
        gather(column.rows, &slices, &lengths, wave.clone(), bytes);
        Ok(!wave.is_empty())
    };
    write_waves(writer, make, |writer, bytes| writer.write(bytes))?;
    Ok(lengths)
}

/// Returns the length of each value, and makes sure that each can be read.
fn measure(column: &ColumnOf, slices: &[ColumnSlice]) -> Result<Vec<u32>> {
    let mut lengths = vec![0; column.rows.len() as usize];
    let pieces = lengths.par_chunks_mut(PIECE_ROWS).enumerate();
    pieces.try_for_each(|(number, piece)| {
        let first = narrow((number * PIECE_ROWS) as u64);
        let end = first + narrow(piece.len() as u64);
        let mut places = (first..).zip(piece);
        let mut measure_row = |row: RowRef| {
            let Some((position, length)) = places.next() else { return Ok(()) };
            let found = bytes_at(slices, row).and_then(|value| u32::try_from(value.len()).ok());
            *length = found.ok_or_else(|| column.damage(position))?;
            Result::Ok(())
        };
        match column.rows.runs(first..end) {
            Runs::Whole(runs) => runs.into_iter().try_for_each(|(source, mut rows)| {
                let source = narrow(source as u64);
                rows.try_for_each(|row| measure_row(RowRef { source, row: narrow(row as u64) }))
            }),
            Runs::Chosen(rows) => rows.iter().enumerate().try_for_each(|(index, row)| {
                prefetch_place(slices, rows, index);
                measure_row(*row)
            }),
        }
    })?;
    Ok(lengths)
}

fn bytes_at<'a>(slices: &[ColumnSlice<'a>], row: RowRef) -> Option<&'a [u8]> {
    match &slices[row.source as usize] {
        ColumnSlice::Bytes(values) => values.get(row.row),
        _ => None,
    }
}

/// Returns the bytes of neighbouring rows, which are contiguous. Each row was read successfully before.
fn whole_run<'a>(slice: &ColumnSlice<'a>, rows: &Range<usize>) -> &'a [u8] {
    let ColumnSlice::Bytes(values) = slice else { return &[] };
    let place = |row: usize| values.offsets.place(narrow(row as u64)).unwrap_or_default();
    let (start, end) = (place(rows.start).0, place(rows.end - 1).1);
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    range.and_then(|(start, end)| values.blob.get(start..end)).expect("each row was read before")
}

/// Returns the positions from `start` whose values fill a wave.
fn wave_from(lengths: &[u32], start: usize) -> Range<usize> {
    let mut bytes = 0;
    let mut end = start;
    while end < lengths.len() && bytes < WAVE_BYTES {
        bytes += lengths[end] as usize;
        end += 1;
    }
    start..end
}

/// Puts the values at some positions one after another into `bytes`.
fn gather(
    rows: &RowSet,
    slices: &[ColumnSlice],
    lengths: &[u32],
    positions: Range<usize>,
    bytes: &mut Vec<u8>,
) {
    let total = |lengths: &[u32]| lengths.iter().map(|&length| length as usize).sum::<usize>();
    bytes.resize(total(&lengths[positions.clone()]), 0);
    let mut pieces = Vec::new();
    let mut rest = bytes.as_mut_slice();
    for first in positions.clone().step_by(PIECE_ROWS) {
        let piece = first..positions.end.min(first + PIECE_ROWS);
        let (head, after) = rest.split_at_mut(total(&lengths[piece.clone()]));
        pieces.push((piece, head));
        rest = after;
    }
    pieces.into_par_iter().for_each(|(positions, mut out)| {
        let Runs::Chosen(rows) = rows.runs(narrow(positions.start as u64)..narrow(positions.end as u64))
        else {
            unreachable!("rows as they are were written by runs");
        };
        for (index, row) in rows.iter().enumerate() {
            prefetch_bytes(slices, rows, index);
            let value = bytes_at(slices, *row).expect("each row was read before");
            let (head, after) = out.split_at_mut(value.len());
            head.copy_from_slice(value);
            out = after;
        }
    });
}

/// Writes the start of each value and the end of the last one. Returns whether 8 bytes each were needed.
pub(crate) fn write_offsets(writer: &mut SealedWriter, lengths: &[u32]) -> Result<bool> {
    let total: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
    match u32::try_from(total) {
        Ok(_) => write_ends(writer, lengths, |end| narrow(end).to_le_bytes())?,
        Err(_) => write_ends(writer, lengths, u64::to_le_bytes)?,
    }
    Ok(u32::try_from(total).is_err())
}

fn write_ends<const WIDTH: usize>(
    writer: &mut SealedWriter,
    lengths: &[u32],
    encode: impl Fn(u64) -> [u8; WIDTH],
) -> Result<()> {
    let mut end = 0;
    let mut block = encode(0).to_vec();
    for piece in lengths.chunks(PIECE_ROWS) {
        for &length in piece {
            end += u64::from(length);
            block.extend_from_slice(&encode(end));
        }
        writer.write(&block)?;
        block.clear();
    }
    writer.write(&block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::sealed::Sealed;
    use std::path::Path;

    #[test]
    fn offsets_are_large_from_4_gib_on() {
        for (lengths, expected) in [(&[u32::MAX - 5, 5][..], false), (&[u32::MAX, 1, 2], true)] {
            let disk = testkit::SimDisk::new(1);
            let path = Path::new("/offsets");
            let mut writer = SealedWriter::create(&disk, path, 9).unwrap();
            assert_eq!(write_offsets(&mut writer, lengths).unwrap(), expected);
            writer.finish().unwrap();
            let sealed = Sealed::open(&disk, path, 9).unwrap();
            let bytes = sealed.range(0..sealed.content_length()).unwrap();
            let ends = lengths.iter().scan(0_u64, |end, &length| {
                *end += u64::from(length);
                Some(*end)
            });
            let expected_ends: Vec<u64> = std::iter::once(0).chain(ends).collect();
            let found: Vec<u64> = match expected {
                true => bytemuck::cast_slice(bytes).to_vec(),
                false => bytemuck::cast_slice::<u8, u32>(bytes).iter().map(|&end| u64::from(end)).collect(),
            };
            assert_eq!(found, expected_ends);
        }
    }
}
