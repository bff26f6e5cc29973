//! Message files kept compressed: recognised by their first bytes, and read as their content.
//!
//! Comes in: the bytes of a file, from outside. Goes out: the bytes of the message, up to a limit, so that a small file cannot fill
//! the memory. This file must not know where the bytes come from.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use flate2::bufread::GzDecoder;
use std::io::{self, Read};

const GZIP_MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// What programs that compress on several threads may begin with: a frame to be skipped, `0x50` to `0x5f` and these.
const ZSTD_SKIPPABLE_MAGIC: [u8; 3] = [0x2a, 0x4d, 0x18];
/// Frames that need more memory than 2^27 bytes (128 MiB) are refused; only `zstd --long=28` and up makes them.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    #[default]
    Plain,
    /// By gzip.
    Gzip,
    /// By zstd.
    Zstd,
}

/// How much of a content was unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unpacked {
    /// All of it.
    Whole,
    /// As much as the limit allows.
    Cut,
}

impl Compression {
    /// Tells from a file's first bytes how it is compressed. No mail begins with any of these.
    pub fn of(bytes: &[u8]) -> Compression {
        match bytes {
            [0x50..=0x5f, rest @ ..] if rest.starts_with(&ZSTD_SKIPPABLE_MAGIC) => Compression::Zstd,
            _ if bytes.starts_with(&ZSTD_MAGIC) => Compression::Zstd,
            _ if bytes.starts_with(&GZIP_MAGIC) => Compression::Gzip,
            _ => Compression::Plain,
        }
    }
}

/// Appends the content of `packed` to `content`, at most `limit_bytes` of it.
///
/// # Errors
/// Says what is wrong if the file is damaged or cut. What could be unpacked is then in `content`.
pub fn unpack(
    packed: &[u8],
    compression: Compression,
    limit_bytes: usize,
    content: &mut Vec<u8>,
) -> io::Result<Unpacked> {
    let room = Room { end: content.len().saturating_add(limit_bytes) };
    match compression {
        Compression::Plain => room.fill(packed, content),
        Compression::Gzip => unpack_gzip(packed, room, content),
        Compression::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(packed)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
            room.fill(decoder, content)
        }
    }
}

/// Unpacks one member after another, because gzip files are joined by joining their bytes. Zeros after the last one are padding.
fn unpack_gzip(mut packed: &[u8], room: Room, content: &mut Vec<u8>) -> io::Result<Unpacked> {
    loop {
        let mut decoder = GzDecoder::new(packed);
        if room.fill(&mut decoder, content)? == Unpacked::Cut {
            return Ok(Unpacked::Cut);
        }
        packed = decoder.into_inner();
        if packed.iter().all(|byte| *byte == 0) {
            return Ok(Unpacked::Whole);
        }
    }
}

/// How long a content may become.
#[derive(Clone, Copy)]
struct Room {
    end: usize,
}

impl Room {
    /// Appends what `reader` gives until the content is as long as it may be.
    fn fill(self, reader: impl Read, content: &mut Vec<u8>) -> io::Result<Unpacked> {
        // One byte more tells a content that just fits from one that is cut.
        let left = self.end.saturating_sub(content.len()).saturating_add(1);
        let result = reader.take(u64::try_from(left).unwrap_or(u64::MAX)).read_to_end(content);
        if content.len() > self.end {
            content.truncate(self.end);
            return Ok(Unpacked::Cut);
        }
        result.map(|_| Unpacked::Whole)
    }
}

#[cfg(test)]
mod tests;
