//! Values compressed one by one.
//!
//! Input: values. Output: their compressed form, and back. Does not know which store keeps them.

use super::records::Record;
use super::store::{DICTIONARY_BYTES, LEVEL, LEVEL_MAX};
use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use zstd::bulk::{Compressor, Decompressor};

/// A dictionary is trained on values of this many times its size.
const TRAINED_ON_TIMES: usize = 100;
/// No value is larger.
const VALUE_BYTES_MAX: usize = 1 << 20;
/// 128 MiB: the largest window that zstd decodes by default.
const WINDOW_LOG: u32 = 27;
/// The name of the dictionary beside the store.
const DICTIONARY_NAME: &str = "dictionary";

/// How values are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Codec {
    None,
    Lz4,
    Zstd,
    /// With a dictionary trained on the values themselves.
    ZstdDictionary,
}

impl Codec {
    pub(crate) const ALL: [Codec; 4] = [Codec::None, Codec::Lz4, Codec::Zstd, Codec::ZstdDictionary];

    /// Returns the name on the command line.
    pub(crate) fn argument(self) -> &'static str {
        match self {
            Codec::None => "none",
            Codec::Lz4 => "lz4",
            Codec::Zstd => "zstd",
            Codec::ZstdDictionary => "zstd-dictionary",
        }
    }
}

/// Compresses values.
pub(super) enum Encoder {
    None,
    Lz4,
    Zstd(Compressor<'static>),
}

impl Encoder {
    /// Returns an encoder. Files that readers need besides the values are written to `place`. A dictionary is
    /// trained on some of the records.
    pub(super) fn new<R>(codec: Codec, place: &Path, records: impl Fn() -> Result<R>) -> Result<Encoder>
    where
        R: Iterator<Item = Result<Record>>,
    {
        match codec {
            Codec::None => Ok(Encoder::None),
            Codec::Lz4 => Ok(Encoder::Lz4),
            Codec::Zstd => Ok(Encoder::Zstd(Compressor::new(LEVEL)?)),
            Codec::ZstdDictionary => {
                let dictionary = train(&records)?;
                fs::write(place.join(DICTIONARY_NAME), &dictionary)?;
                Ok(Encoder::Zstd(Compressor::with_dictionary(LEVEL, &dictionary)?))
            }
        }
    }

    pub(super) fn encode(&mut self, value: &[u8]) -> Result<Vec<u8>> {
        ensure!(value.len() <= VALUE_BYTES_MAX, "a record has {} bytes", value.len());
        Ok(match self {
            Encoder::None => value.to_vec(),
            Encoder::Lz4 => lz4_flex::block::compress_prepend_size(value),
            Encoder::Zstd(compressor) => compressor.compress(value)?,
        })
    }
}

/// Compresses a file as one frame with a large window, which finds distant repetitions.
pub(super) fn pack(file: &Path, packed: &Path) -> Result<()> {
    let mut reader = File::open(file).with_context(|| format!("cannot read {}", file.display()))?;
    let out = File::create(packed).with_context(|| format!("cannot make {}", packed.display()))?;
    let mut encoder = zstd::Encoder::new(out, LEVEL_MAX)?;
    encoder.long_distance_matching(true)?;
    encoder.window_log(WINDOW_LOG)?;
    io::copy(&mut reader, &mut encoder)?;
    encoder.finish()?;
    Ok(())
}

/// Trains a dictionary on records from all parts of the file.
fn train<R>(records: &impl Fn() -> Result<R>) -> Result<Vec<u8>>
where
    R: Iterator<Item = Result<Record>>,
{
    let wanted = DICTIONARY_BYTES as usize * TRAINED_ON_TIMES;
    let mut bytes = 0;
    for record in records()? {
        bytes += record?.value.len();
    }
    let step = (bytes / wanted).max(1);
    let samples: Result<Vec<Vec<u8>>> =
        records()?.step_by(step).map(|record| record.map(|record| record.value)).collect();
    let trained = zstd::dict::from_samples(&samples?, DICTIONARY_BYTES as usize);
    // Too few records give no dictionary: an empty one is used.
    Ok(trained.unwrap_or_default())
}

/// Decompresses values.
pub(super) struct Decoder {
    how: How,
    value: Vec<u8>,
}

enum How {
    None,
    Lz4,
    Zstd(Decompressor<'static>),
}

impl Decoder {
    /// Returns a decoder that uses the encoder's files in `place`.
    pub(super) fn open(codec: Codec, place: &Path) -> Result<Decoder> {
        let how = match codec {
            Codec::None => How::None,
            Codec::Lz4 => How::Lz4,
            Codec::Zstd => How::Zstd(Decompressor::new()?),
            Codec::ZstdDictionary => {
                let path = place.join(DICTIONARY_NAME);
                let dictionary =
                    fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
                How::Zstd(Decompressor::with_dictionary(&dictionary)?)
            }
        };
        Ok(Decoder { how, value: Vec::new() })
    }

    pub(super) fn decode<'a>(&'a mut self, stored: &'a [u8]) -> Result<&'a [u8]> {
        match &mut self.how {
            How::None => Ok(stored),
            How::Lz4 => {
                let (length, rest) = lz4_flex::block::uncompressed_size(stored)?;
                ensure!(length <= VALUE_BYTES_MAX, "a record claims {length} bytes");
                self.value.resize(length, 0);
                lz4_flex::block::decompress_into(rest, &mut self.value)?;
                Ok(&self.value)
            }
            How::Zstd(decompressor) => {
                self.value.clear();
                let length = Decompressor::upper_bound(stored).unwrap_or(VALUE_BYTES_MAX);
                self.value.reserve(length.min(VALUE_BYTES_MAX));
                decompressor.decompress_to_buffer(stored, &mut self.value)?;
                Ok(&self.value)
            }
        }
    }
}
