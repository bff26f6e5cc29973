//! Compresses payloads and takes them apart again (docs/FORMAT.md, "Payloads").
//!
//! Comes in: a row or a block of rows, raw or compressed. Goes out: the other form. Must not know where either is kept. A length
//! found among compressed bytes is checked against a limit before memory is taken for it.

use crate::cursor::{Cursor, put_varint};
use crate::limits::{BLOCK_BYTES_MAX, ROW_BYTES_MAX};
use crate::schema::Codec;
use zstd::zstd_safe::{CCtx, CDict, CParameter, DCtx, DDict, compress_bound, get_frame_content_size};

/// What a zstd frame begins with. Rows are stored without it: 4 bytes of about 50.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Bytes of a block when decompressed: it is closed by the row that fills it.
pub(crate) const BLOCK_RAW_BYTES_MAX: u64 = BLOCK_BYTES_MAX as u64 + ROW_BYTES_MAX + 16;
/// Bytes of rows that a dictionary is trained on, for each byte of dictionary. zstd's authors advise 100; training time grows with
/// it, and gains are small from a tenth of that on.
const SAMPLE_BYTES_PER_DICTIONARY_BYTE: usize = 16;

impl Codec {
    /// Returns how many bytes are compressed together, or none if each row is on its own.
    pub(crate) fn block_bytes(self) -> Option<u32> {
        match self {
            Codec::Lz4 { block_bytes } | Codec::Zstd { block_bytes, .. } if block_bytes > 0 => {
                Some(block_bytes)
            }
            _ => None,
        }
    }

    /// Returns how many bytes of rows are wanted to train a dictionary; 0 if there is none.
    pub(crate) fn sample_bytes(self) -> usize {
        match self {
            Codec::ZstdDictionary { dictionary_bytes, .. } => {
                dictionary_bytes as usize * SAMPLE_BYTES_PER_DICTIONARY_BYTE
            }
            _ => 0,
        }
    }
}

/// Returns a dictionary made from rows that lie one after another in `samples`, or nothing if they are too few or too alike.
pub(crate) fn train(samples: &[u8], lengths: &[usize], dictionary_bytes: u32) -> Vec<u8> {
    zstd::dict::from_continuous(samples, lengths, dictionary_bytes as usize).unwrap_or_default()
}

/// Compresses for one thread.
pub(crate) struct Compressor<'d> {
    codec: Codec,
    zstd: Option<CCtx<'d>>,
    buffer: Vec<u8>,
}

impl<'d> Compressor<'d> {
    /// Returns a compressor; `dictionary` is for [`Codec::ZstdDictionary`].
    pub(crate) fn new(codec: Codec, dictionary: Option<&'d CDict<'static>>) -> Compressor<'d> {
        let zstd = match codec {
            Codec::None | Codec::Lz4 { .. } => None,
            Codec::Zstd { level, .. } | Codec::ZstdDictionary { level, .. } => {
                Some(context(level, dictionary))
            }
        };
        Compressor { codec, zstd, buffer: Vec::new() }
    }

    /// Appends one row, compressed, to `out`. An empty row takes no bytes.
    pub(crate) fn row(&mut self, raw: &[u8], out: &mut Vec<u8>) {
        if raw.is_empty() {
            return;
        }
        match self.codec {
            Codec::None => out.extend_from_slice(raw),
            Codec::Lz4 { .. } => {
                put_varint(out, u32::try_from(raw.len()).expect("rows are under 4 GiB"));
                self.block(raw, out);
            }
            Codec::Zstd { .. } | Codec::ZstdDictionary { .. } => {
                let start = out.len();
                self.block(raw, out);
                debug_assert_eq!(out[start..start + 4], ZSTD_MAGIC);
                out.drain(start..start + 4);
            }
        }
    }

    /// Appends bytes, compressed together, to `out`.
    pub(crate) fn block(&mut self, raw: &[u8], out: &mut Vec<u8>) {
        match &mut self.zstd {
            None => {
                let start = out.len();
                out.resize(start + lz4_flex::block::get_maximum_output_size(raw.len()), 0);
                let length = lz4_flex::block::compress_into(raw, &mut out[start..]);
                out.truncate(start + length.expect("there is room for the largest output"));
            }
            Some(zstd) => {
                self.buffer.clear();
                self.buffer.reserve(compress_bound(raw.len()));
                zstd.compress2(&mut self.buffer, raw).expect("there is room for the largest output");
                out.extend_from_slice(&self.buffer);
            }
        }
    }
}

fn context<'d>(level: i32, dictionary: Option<&'d CDict<'static>>) -> CCtx<'d> {
    let mut context = CCtx::create();
    // The number of a dictionary would be stored with each row; a segment has one dictionary.
    for parameter in [CParameter::CompressionLevel(level), CParameter::DictIdFlag(false)] {
        context.set_parameter(parameter).expect("the schema was validated");
    }
    if let Some(dictionary) = dictionary {
        context.ref_cdict(dictionary).expect("no frame is unfinished");
    }
    context
}

/// Decompresses for one thread.
#[derive(Default)]
pub(crate) struct Decompressor {
    zstd: Option<DCtx<'static>>,
    frame: Vec<u8>,
}

impl Decompressor {
    /// Puts one row, decompressed, into `out`; what was there before is gone. An error says what is wrong.
    #[deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
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

    /// Puts a block of `length` bytes, decompressed, into `out`; what was there before is gone. An error says what is wrong.
    pub(crate) fn block(
        &mut self,
        codec: Codec,
        stored: &[u8],
        length: u32,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let length = check_length(u64::from(length), BLOCK_RAW_BYTES_MAX)?;
        match codec {
            Codec::Lz4 { .. } => decompress_lz4(stored, length, out),
            Codec::Zstd { .. } => self.decompress_zstd(stored, length, None, out),
            Codec::None | Codec::ZstdDictionary { .. } => Err("this codec has no blocks".into()),
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
            Err(code) => {
                Err(format!("bytes cannot be decompressed: {}", zstd::zstd_safe::get_error_name(code)))
            }
        }
    }
}

/// Returns how long a row's frame says the row is.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ROW_CODECS: [Codec; 4] = [
        Codec::None,
        Codec::Lz4 { block_bytes: 0 },
        Codec::Zstd { level: 3, block_bytes: 0 },
        Codec::Zstd { level: -7, block_bytes: 0 },
    ];

    fn there_and_back(codec: Codec, dictionary: &[u8], raw: &[u8]) {
        let compressing = (!dictionary.is_empty()).then(|| CDict::create(dictionary, 3));
        let reading = (!dictionary.is_empty()).then(|| DDict::create(dictionary));
        let mut stored = b"before".to_vec();
        Compressor::new(codec, compressing.as_ref()).row(raw, &mut stored);
        let mut out = b"gone".to_vec();
        Decompressor::default().row(codec, reading.as_ref(), &stored[6..], &mut out).unwrap();
        assert_eq!(out, raw);
        assert!(stored.starts_with(b"before"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn rows_come_back(raw in prop::collection::vec(0_u8..4, 0..2000)) {
            for codec in ROW_CODECS {
                there_and_back(codec, &[], &raw);
            }
        }

        #[test]
        fn blocks_come_back_and_damage_is_an_error_or_the_same(
            raw in prop::collection::vec(0_u8..4, 0..2000), place in any::<prop::sample::Index>(), value: u8,
        ) {
            for codec in [Codec::Lz4 { block_bytes: 1 }, Codec::Zstd { level: 1, block_bytes: 1 }] {
                let mut stored = Vec::new();
                Compressor::new(codec, None).block(&raw, &mut stored);
                let length = u32::try_from(raw.len()).unwrap();
                let mut out = Vec::new();
                let mut decompressor = Decompressor::default();
                decompressor.block(codec, &stored, length, &mut out).unwrap();
                prop_assert_eq!(&out, &raw);
                prop_assert!(decompressor.block(codec, &stored, length + 1, &mut out).is_err());
                let place = place.index(stored.len());
                stored[place] = value;
                let _ = decompressor.block(codec, &stored, length, &mut out);
                let _ = decompressor.row(codec, None, &stored, &mut out);
            }
        }
    }

    #[test]
    fn a_dictionary_makes_rows_smaller() {
        let rows: Vec<Vec<u8>> = (0..2000_u32)
            .map(|n| {
                format!("From: Person {} <p{}@example.org> Subject: about {}", n % 97, n % 89, n * 7)
                    .into_bytes()
            })
            .collect();
        let lengths: Vec<usize> = rows.iter().map(Vec::len).collect();
        let dictionary = train(&rows.concat(), &lengths, 4096);
        assert!(!dictionary.is_empty() && dictionary.len() <= 4096);
        let codec = Codec::ZstdDictionary { level: 3, dictionary_bytes: 4096 };
        let (mut with, mut without) = (Vec::new(), Vec::new());
        let prepared = CDict::create(&dictionary, 3);
        for row in &rows {
            there_and_back(codec, &dictionary, row);
            Compressor::new(codec, Some(&prepared)).row(row, &mut with);
            Compressor::new(codec, None).row(row, &mut without);
        }
        assert!(with.len() * 2 < without.len(), "{} and {}", with.len(), without.len());
    }

    #[test]
    fn too_few_rows_give_no_dictionary() {
        assert!(train(b"abc", &[3], 4096).is_empty());
        assert!(train(b"", &[], 4096).is_empty());
    }

    #[test]
    fn a_length_over_the_limit_takes_no_memory() {
        let mut out = Vec::new();
        let mut decompressor = Decompressor::default();
        let mut stored = Vec::new();
        put_varint(&mut stored, u32::MAX);
        let refused = decompressor.row(Codec::Lz4 { block_bytes: 0 }, None, &stored, &mut out).unwrap_err();
        assert!(refused.contains("the limit is"), "{refused}");
        // A frame header with a content size of 8 bytes.
        let frame = [0xe0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 0, 0];
        let codec = Codec::Zstd { level: 3, block_bytes: 0 };
        let refused = decompressor.row(codec, None, &frame, &mut out).unwrap_err();
        assert!(refused.contains("the limit is"), "{refused}");
        let block = Codec::Zstd { level: 3, block_bytes: 1 };
        assert!(decompressor.block(block, &frame, u32::MAX, &mut out).unwrap_err().contains("the limit is"));
        assert_eq!(out.capacity(), 0);
    }
}
