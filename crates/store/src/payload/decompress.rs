//! Decompresses payloads (docs/FORMAT.md, "Payloads").
//!
//! Input: stored rows and blocks. Output: their bytes. Does not depend on where either is stored. A length
//! found in stored bytes is checked against a limit before memory is allocated for it.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::cursor::Cursor;
use crate::limits::{BLOCK_BYTES_MAX, ROW_BYTES_MAX};
use crate::payload::codec::ZSTD_MAGIC;
use crate::schema::Codec;
use zstd::zstd_safe::{DCtx, DDict, get_error_name, get_frame_content_size};

/// The largest size of a decompressed block. A block ends with the row that fills it.
const BLOCK_RAW_BYTES_MAX: u64 = BLOCK_BYTES_MAX as u64 + ROW_BYTES_MAX + 16;

/// A block as it is stored.
pub(crate) struct StoredBlock<'a> {
    pub(crate) codec: Codec,
    pub(crate) dictionary: Option<&'a DDict<'static>>,
    pub(crate) first_row: u32,
    pub(crate) row_count: u32,
    /// Its decompressed length.
    pub(crate) length: u32,
    pub(crate) bytes: &'a [u8],
}

/// A decompressor for one thread.
#[derive(Default)]
pub(crate) struct Decompressor {
    zstd: Option<DCtx<'static>>,
    frame: Vec<u8>,
}

impl Decompressor {
    /// Decompresses one row into `out`, replacing its content. The error describes the damage.
    pub(crate) fn row(
        &mut self,
        codec: Codec,
        dictionary: Option<&DDict>,
        stored: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        out.clear();
        if stored.is_empty() {
            return Ok(());
        }
        match codec {
            Codec::None => out.extend_from_slice(stored),
            Codec::Lz4 { .. } => {
                let mut cursor = Cursor::new(stored);
                let length = cursor.varint("a row's length").map_err(|damage| damage.what)?;
                let rest = stored.get(cursor.offset()..).unwrap_or_default();
                return decompress_lz4(rest, check_length(u64::from(length), ROW_BYTES_MAX)?, out);
            }
            Codec::Zstd { .. } | Codec::ZstdDictionary { .. } => {
                let mut frame = std::mem::take(&mut self.frame);
                frame.clear();
                frame.extend_from_slice(&ZSTD_MAGIC);
                frame.extend_from_slice(stored);
                let done = frame_length(&frame)
                    .and_then(|length| self.decompress_zstd(&frame, length, dictionary, out));
                self.frame = frame;
                return done;
            }
        }
        Ok(())
    }

    /// Decompresses a block into `out`, replacing its content. The error describes the damage.
    pub(crate) fn block(&mut self, block: &StoredBlock, out: &mut Vec<u8>) -> Result<(), String> {
        let length = check_length(u64::from(block.length), BLOCK_RAW_BYTES_MAX)?;
        match block.codec {
            Codec::Lz4 { .. } => decompress_lz4(block.bytes, length, out),
            Codec::Zstd { .. } | Codec::ZstdDictionary { .. } => {
                self.decompress_zstd(block.bytes, length, block.dictionary, out)
            }
            Codec::None => Err("this codec has no blocks".into()),
        }
    }

    fn decompress_zstd(
        &mut self,
        frame: &[u8],
        length: usize,
        dictionary: Option<&DDict>,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        out.clear();
        out.reserve(length);
        let zstd = self.zstd.get_or_insert_with(DCtx::create);
        let done = match dictionary {
            Some(dictionary) => zstd.decompress_using_ddict(out, frame, dictionary),
            None => zstd.decompress(out, frame),
        };
        match done {
            Ok(found) if found == length => Ok(()),
            Ok(found) => Err(format!("{found} bytes were decompressed, not {length}")),
            Err(code) => Err(format!("bytes cannot be decompressed: {}", get_error_name(code))),
        }
    }
}

/// Returns the row length that the row's frame states.
fn frame_length(frame: &[u8]) -> Result<usize, String> {
    match get_frame_content_size(frame) {
        Ok(Some(length)) => check_length(length, ROW_BYTES_MAX),
        _ => Err("a compressed row does not say its length".into()),
    }
}

fn check_length(length: u64, limit: u64) -> Result<usize, String> {
    match usize::try_from(length) {
        Ok(checked) if length <= limit => Ok(checked),
        _ => Err(format!("{length} bytes when decompressed, the limit is {limit}")),
    }
}

fn decompress_lz4(stored: &[u8], length: usize, out: &mut Vec<u8>) -> Result<(), String> {
    out.clear();
    out.resize(length, 0);
    match lz4_flex::block::decompress_into(stored, out) {
        Ok(found) if found == length => Ok(()),
        Ok(found) => Err(format!("{found} bytes were decompressed, not {length}")),
        Err(error) => Err(format!("bytes cannot be decompressed: {error}")),
    }
}
