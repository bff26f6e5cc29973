//! Compresses payloads (docs/FORMAT.md, "Payloads"). `decompress.rs` decompresses them.
//!
//! Input: rows, and blocks of rows. Output: their compressed form. Does not depend on where either is stored.

use crate::cursor::put_varint;
use crate::schema::Codec;
use zstd::zstd_safe::{CCtx, CDict, CParameter, compress_bound};

/// The first bytes of a zstd frame. Rows are stored without them, which saves 4 bytes of about 50.
pub(crate) const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Bytes of rows that a dictionary is trained on, per byte of dictionary. zstd's authors advise 100.
/// Training time grows with it, and more than a tenth of that gains little.
const SAMPLE_BYTES_PER_DICTIONARY_BYTE: usize = 16;

impl Codec {
    /// Returns how many bytes are compressed together, or `None` if each row is compressed on its own.
    pub(crate) fn block_bytes(self) -> Option<u32> {
        match self {
            Codec::Lz4 { block_bytes }
            | Codec::Zstd { block_bytes, .. }
            | Codec::ZstdDictionary { block_bytes, .. }
                if block_bytes > 0 =>
            {
                Some(block_bytes)
            }
            _ => None,
        }
    }

    /// Returns how many bytes of rows to train a dictionary on; 0 if there is no dictionary.
    pub(crate) fn sample_bytes(self) -> usize {
        match self {
            Codec::ZstdDictionary { dictionary_bytes, .. } => {
                dictionary_bytes as usize * SAMPLE_BYTES_PER_DICTIONARY_BYTE
            }
            _ => 0,
        }
    }
}

/// Returns a dictionary trained on the concatenated rows in `samples`. It is empty if the rows are too few or
/// too similar.
pub(crate) fn train(samples: &[u8], lengths: &[usize], dictionary_bytes: u32) -> Vec<u8> {
    zstd::dict::from_continuous(samples, lengths, dictionary_bytes as usize).unwrap_or_default()
}

/// Returns whether rows can be compressed with a dictionary from another segment. Bytes that begin like a
/// dictionary but are not one would fail both to compress and to decompress.
pub(crate) fn is_dictionary(bytes: &[u8], level: i32) -> bool {
    !bytes.is_empty() && CDict::try_create(bytes, level).is_some()
}

/// A compressor for one thread.
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
    // Otherwise each row would hold the number of its dictionary. A segment has only one.
    for parameter in [CParameter::CompressionLevel(level), CParameter::DictIdFlag(false)] {
        context.set_parameter(parameter).expect("the schema was validated");
    }
    if let Some(dictionary) = dictionary {
        context.ref_cdict(dictionary).expect("no frame is unfinished");
    }
    context
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::decompress::{Decompressor, StoredBlock};
    use proptest::prelude::*;
    use zstd::zstd_safe::DDict;

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

    #[test]
    fn what_only_begins_like_a_dictionary_is_none() {
        let mut dictionary = dictionary_of_sentences();
        assert!(is_dictionary(&dictionary, 3) && !is_dictionary(&[], 3));
        dictionary[8..64].fill(0xff);
        assert!(!is_dictionary(&dictionary, 3));
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
            let dictionary = dictionary_of_sentences();
            let (writing, reading) = (CDict::create(&dictionary, 1), DDict::create(&dictionary));
            let with_dictionary = Codec::ZstdDictionary { level: 1, dictionary_bytes: 1024, block_bytes: 1 };
            for (codec, writing, reading) in [
                (Codec::Lz4 { block_bytes: 1 }, None, None),
                (Codec::Zstd { level: 1, block_bytes: 1 }, None, None),
                (with_dictionary, None, None),
                (with_dictionary, Some(&writing), Some(&reading)),
            ] {
                let mut bytes = Vec::new();
                Compressor::new(codec, writing).block(&raw, &mut bytes);
                let length = u32::try_from(raw.len()).unwrap();
                let mut out = Vec::new();
                let mut decompressor = Decompressor::default();
                let block = |bytes, length| {
                    StoredBlock { codec, dictionary: reading, first_row: 0, row_count: 0, length, bytes }
                };
                decompressor.block(&block(&bytes, length), &mut out).unwrap();
                prop_assert_eq!(&out, &raw);
                prop_assert!(decompressor.block(&block(&bytes, length + 1), &mut out).is_err());
                let mut damaged = bytes.clone();
                damaged[place.index(bytes.len())] = value;
                let _ = decompressor.block(&block(&damaged, length), &mut out);
                let _ = decompressor.row(codec, reading, &damaged, &mut out);
            }
        }
    }

    fn dictionary_of_sentences() -> Vec<u8> {
        let rows: Vec<String> =
            (0..2000).map(|row| format!("row {} of rows {}", row * 7919 % 1000, row % 13)).collect();
        let lengths: Vec<usize> = rows.iter().map(String::len).collect();
        train(rows.concat().as_bytes(), &lengths, 1024)
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
        let codec = Codec::ZstdDictionary { level: 3, dictionary_bytes: 4096, block_bytes: 0 };
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
        // A frame header with a content size field of 8 bytes.
        let frame = [0xe0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 0, 0];
        let codec = Codec::Zstd { level: 3, block_bytes: 0 };
        let refused = decompressor.row(codec, None, &frame, &mut out).unwrap_err();
        assert!(refused.contains("the limit is"), "{refused}");
        let block = StoredBlock {
            codec: Codec::Zstd { level: 3, block_bytes: 1 },
            dictionary: None,
            first_row: 0,
            row_count: 1,
            length: u32::MAX,
            bytes: &frame,
        };
        assert!(decompressor.block(&block, &mut out).unwrap_err().contains("the limit is"));
        assert_eq!(out.capacity(), 0);
    }
}
