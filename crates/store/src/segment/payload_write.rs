//! Writes the compressed payload columns of a segment (docs/FORMAT.md, "Payloads").
//!
//! Input: one column of some sources, and the order of rows. Output: compressed rows or blocks. Knows nothing
//! of keys.
//!
//! One core gathers rows, in waves of about 4 MiB, while the other cores compress the wave before.

use crate::cursor::put_varint;
use crate::error::Result;
use crate::file::sealed_write::SealedWriter;
use crate::payload::codec::{Compressor, train};
use crate::payload::reader::PayloadReader;
use crate::schema::Codec;
use crate::segment::column_write::{ColumnOf, WAVE_BYTES};
use crate::segment::mapped::BlockEntry;
use crate::sort::row_set::narrow;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use zstd::zstd_safe::CDict;

/// Bytes that one thread compresses at a time where rows are compressed on their own.
const PIECE_BYTES: usize = 1 << 16;
/// Bytes that a row counts besides its content when blocks are filled, so that empty rows fill them too.
const ROW_OVERHEAD_BYTES: usize = 4;

/// Rows gathered one after another.
#[derive(Default)]
struct Wave {
    bytes: Vec<u8>,
    lengths: Vec<u32>,
}

/// Writes a column whose rows are compressed separately. Returns the stored length of each row.
pub(crate) fn write_rows(
    writer: &mut SealedWriter,
    column: &ColumnOf,
    codec: Codec,
    dictionary: &[u8],
) -> Result<Vec<u32>> {
    let prepared = prepare(codec, dictionary);
    let pool = Pool::new(codec, prepared.as_ref());
    let mut gathering = Gathering::new(column);
    let mut stored_lengths = Vec::with_capacity(column.rows.len() as usize);
    let (mut wave, mut next) = (Wave::default(), Wave::default());
    gathering.fill(&mut wave)?;
    while !wave.lengths.is_empty() {
        let pieces = cut(&wave, PIECE_BYTES);
        let (compressed, filled) = rayon::join(
            || compress_rows(&pool, &pieces),
            || {
                next.clear();
                gathering.fill(&mut next)
            },
        );
        filled?;
        for (bytes, lengths) in compressed {
            writer.write(&bytes)?;
            stored_lengths.extend_from_slice(&lengths);
        }
        std::mem::swap(&mut wave, &mut next);
    }
    Ok(stored_lengths)
}

/// Returns a dictionary for a codec's level, or `None` if there is none.
fn prepare(codec: Codec, dictionary: &[u8]) -> Option<CDict<'static>> {
    match codec {
        Codec::ZstdDictionary { level, .. } if !dictionary.is_empty() => {
            Some(CDict::create(dictionary, level))
        }
        _ => None,
    }
}

fn compress_rows(pool: &Pool, pieces: &[Piece]) -> Vec<(Vec<u8>, Vec<u32>)> {
    let compress = |piece: &Piece| {
        pool.with(|compressor| {
            let mut out = Vec::with_capacity(piece.bytes.len() / 2);
            let mut rest = piece.bytes;
            let mut stored_lengths = Vec::with_capacity(piece.lengths.len());
            for &length in piece.lengths {
                let (row, after) = rest.split_at(length as usize);
                let start = out.len();
                compressor.row(row, &mut out);
                stored_lengths.push(narrow((out.len() - start) as u64));
                rest = after;
            }
            (out, stored_lengths)
        })
    };
    pieces.par_iter().map(compress).collect()
}

/// Writes a column whose rows are compressed in blocks, and returns the table of blocks.
pub(crate) fn write_blocks(
    writer: &mut SealedWriter,
    column: &ColumnOf,
    codec: Codec,
    block_bytes: u32,
    dictionary: &[u8],
) -> Result<Vec<BlockEntry>> {
    let prepared = prepare(codec, dictionary);
    let pool = Pool::new(codec, prepared.as_ref());
    let mut gathering = Gathering::new(column);
    let mut table = Vec::new();
    let mut entry = BlockEntry { start: 0, first_row: 0, length: 0 };
    let (mut wave, mut next) = (Wave::default(), Wave::default());
    gathering.fill(&mut wave)?;
    while !wave.lengths.is_empty() {
        let mut pieces = cut(&wave, block_bytes as usize);
        // A block that is not full waits for the next wave's rows: where blocks end must not depend on where
        // waves end.
        let open = pieces.pop_if(|last| !gathering.is_done() && !last.is_full(block_bytes as usize));
        let (compressed, filled) = rayon::join(
            || compress_blocks(&pool, &pieces),
            || {
                next.clear();
                if let Some(open) = &open {
                    next.bytes.extend_from_slice(open.bytes);
                    next.lengths.extend_from_slice(open.lengths);
                }
                gathering.fill(&mut next)
            },
        );
        filled?;
        for (piece, (bytes, length)) in pieces.iter().zip(compressed) {
            writer.write(&bytes)?;
            table.push(BlockEntry { length, ..entry });
            entry.start += bytes.len() as u64;
            entry.first_row += narrow(piece.lengths.len() as u64);
        }
        std::mem::swap(&mut wave, &mut next);
    }
    table.push(entry);
    Ok(table)
}

/// Returns for each block its compressed bytes and its length before.
fn compress_blocks(pool: &Pool, pieces: &[Piece]) -> Vec<(Vec<u8>, u32)> {
    let compress = |piece: &Piece| {
        pool.with(|compressor| {
            let mut raw = Vec::with_capacity(piece.bytes.len() + 2 * piece.lengths.len());
            for &length in piece.lengths {
                put_varint(&mut raw, length);
            }
            raw.extend_from_slice(piece.bytes);
            let mut out = Vec::new();
            compressor.block(&raw, &mut out);
            (out, narrow(raw.len() as u64))
        })
    };
    pieces.par_iter().map(compress).collect()
}

/// Rows of a wave that are compressed by one thread.
struct Piece<'a> {
    bytes: &'a [u8],
    lengths: &'a [u32],
}

impl Piece<'_> {
    fn is_full(&self, piece_bytes: usize) -> bool {
        self.bytes.len() + self.lengths.len() * ROW_OVERHEAD_BYTES >= piece_bytes
    }
}

/// Cuts a wave into pieces, each ended by the row that fills it.
fn cut(wave: &Wave, piece_bytes: usize) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rows = 0..0_usize;
    let mut bytes: Range<usize> = 0..0;
    for &length in &wave.lengths {
        rows.end += 1;
        bytes.end += length as usize;
        let piece = Piece { bytes: &wave.bytes[bytes.clone()], lengths: &wave.lengths[rows.clone()] };
        if piece.is_full(piece_bytes) || rows.end == wave.lengths.len() {
            pieces.push(piece);
            rows.start = rows.end;
            bytes.start = bytes.end;
        }
    }
    pieces
}

/// Reads rows in order, wave after wave.
struct Gathering<'a> {
    column: &'a ColumnOf<'a>,
    position: u32,
    reader: PayloadReader,
}

impl<'a> Gathering<'a> {
    fn new(column: &'a ColumnOf<'a>) -> Gathering<'a> {
        // Each source of a merge is read front to back: one block of each is worth keeping.
        let cache_bytes = WAVE_BYTES.max(column.sources.len().saturating_mul(1 << 17)).min(1 << 28);
        Gathering { column, position: 0, reader: PayloadReader::with_cache(cache_bytes) }
    }

    fn is_done(&self) -> bool {
        self.position == self.column.rows.len()
    }

    /// Appends rows to a wave until it is full or all rows are read.
    fn fill(&mut self, wave: &mut Wave) -> Result<()> {
        while !self.is_done() && wave.bytes.len() + wave.lengths.len() * ROW_OVERHEAD_BYTES < WAVE_BYTES {
            let row = read_row(self.column, self.position, &mut self.reader)?;
            wave.bytes.extend_from_slice(row);
            wave.lengths.push(narrow(row.len() as u64));
            self.position += 1;
        }
        Ok(())
    }
}

impl Wave {
    fn clear(&mut self) {
        self.bytes.clear();
        self.lengths.clear();
    }
}

fn read_row<'a>(column: &'a ColumnOf, position: u32, reader: &'a mut PayloadReader) -> Result<&'a [u8]> {
    let row = column.rows.at(position);
    column.sources[row.source as usize].payload(column.number, row.row, reader)
}

/// A dictionary is at most this part of what it is trained on.
const SAMPLES_PER_DICTIONARY: usize = 16;

/// Makes a dictionary from rows spread over the whole column; an empty one if that fails, and rows are then
/// compressed without.
pub(crate) fn make_dictionary(
    column: &ColumnOf,
    sample_bytes: usize,
    dictionary_bytes: u32,
) -> Result<Vec<u8>> {
    let row_count = column.rows.len();
    let mut reader = PayloadReader::new();
    let (mut samples, mut lengths) = (Vec::new(), Vec::new());
    // Runs of neighbours cost one block each where rows come from blocks.
    let run_rows = 16;
    let run_count = row_count.div_ceil(run_rows);
    let wanted_runs = run_count.clamp(1, 1024);
    for run in 0..wanted_runs {
        let mut position = narrow(u64::from(run) * u64::from(run_count) / u64::from(wanted_runs)) * run_rows;
        let end = row_count.min(position.saturating_add(run_rows));
        // Each run has its share, so that large rows at the beginning do not keep later ones out.
        let share_end = sample_bytes * (run as usize + 1) / wanted_runs as usize;
        while position < end && samples.len() < share_end {
            let row = read_row(column, position, &mut reader)?;
            if !row.is_empty() {
                samples.extend_from_slice(row);
                lengths.push(row.len());
            }
            position += 1;
        }
    }
    // A dictionary is stored, too: of few rows a large one takes more than it saves.
    let worthwhile = u32::try_from(samples.len() / SAMPLES_PER_DICTIONARY).unwrap_or(u32::MAX);
    Ok(train(&samples, &lengths, dictionary_bytes.min(worthwhile)))
}

/// Compressors that are not in use: making one takes longer than using it.
struct Pool<'d> {
    codec: Codec,
    dictionary: Option<&'d CDict<'static>>,
    idle: Mutex<Vec<Compressor<'d>>>,
}

impl<'d> Pool<'d> {
    fn new(codec: Codec, dictionary: Option<&'d CDict<'static>>) -> Pool<'d> {
        Pool { codec, dictionary, idle: Mutex::new(Vec::new()) }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Compressor<'d>) -> T) -> T {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut compressor = idle.unwrap_or_else(|| Compressor::new(self.codec, self.dictionary));
        let result = work(&mut compressor);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(compressor);
        result
    }
}
