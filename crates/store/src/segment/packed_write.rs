//! Writes packed numbers: their blocks, and the table of these (docs/FORMAT.md, "Packed numbers").
//!
//! Input: numbers, a piece at a time. Output: blocks in the file, and their table. Does not depend on what
//! the numbers mean.

use crate::error::Result;
use crate::file::sealed_write::SealedWriter;
use crate::format::PACKED_ROWS;
use crate::segment::packing::{PackedEntry, is_worthwhile};
use crate::sort::row_set::narrow;
use std::ops::Range;

/// Numbers that are packed at a time, whole blocks. The first of them decide whether all are packed.
const PIECE_ROWS: u32 = 1 << 16;

const _: () = assert!((PIECE_ROWS as usize).is_multiple_of(PACKED_ROWS));

/// Numbers in the order in which they are written.
pub(crate) struct Numbers<'a> {
    /// How many there are.
    pub(crate) count: u32,
    /// How many bytes each has if it is not packed.
    pub(crate) width_bytes: usize,
    /// Appends those of a range. It is called with the first range, and then with all ranges in order.
    pub(crate) gather: &'a mut dyn FnMut(Range<u32>, &mut Vec<u64>),
}

/// Writes numbers as blocks, and returns their table; `None` if packing saves too little.
pub(crate) fn write_packed(
    writer: &mut SealedWriter,
    numbers: &mut Numbers,
) -> Result<Option<Vec<PackedEntry>>> {
    let mut piece = Vec::new();
    (numbers.gather)(0..numbers.count.min(PIECE_ROWS), &mut piece);
    if !is_worthwhile(&piece, numbers.width_bytes) {
        return Ok(None);
    }
    let (mut table, mut line, mut words) = (Vec::new(), 0, Vec::new());
    for start in (0..numbers.count).step_by(PIECE_ROWS as usize) {
        piece.clear();
        (numbers.gather)(start..numbers.count.min(start.saturating_add(PIECE_ROWS)), &mut piece);
        words.clear();
        for block in piece.chunks(PACKED_ROWS) {
            let entry = PackedEntry::of(block, line);
            entry.pack(block, &mut words);
            line = narrow(entry.end());
            table.push(entry);
        }
        writer.write(bytemuck::cast_slice(&words))?;
    }
    Ok(Some(table))
}
