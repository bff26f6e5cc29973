//! Message files kept compressed: recognised by their first bytes, and read as their content.
//!
//! Comes in: the bytes of a file, from outside. Goes out: the bytes of the message, as a stream or up to a
//! limit, so that a small file cannot fill the memory. This file must not know where the bytes come from.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::GzDecoder;
use liblzma::bufread::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};
use std::io::{self, BufRead, Read};

const GZIP_MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// What programs that compress on several threads may begin with: a frame to be skipped, `0x50` to `0x5f` and these.
const ZSTD_SKIPPABLE_MAGIC: [u8; 3] = [0x2a, 0x4d, 0x18];
/// Frames that need more memory than 2^27 bytes (128 MiB) are refused; only `zstd --long=28` and up makes them.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;
const XZ_MAGIC: [u8; 6] = [0xfd, b'7', b'z', b'X', b'Z', 0];
const LZIP_MAGIC: [u8; 5] = *b"LZIP\x01";
/// Memory for a file of xz or lzip, in bytes. `xz -9` makes files that need 65 MiB; only larger dictionaries,
/// set by hand, need more than this.
const LZMA_MEMORY_BYTES_MAX: u64 = 128 << 20;
/// What follows `BZh` and the size of blocks, a digit: the first block, or the end of a file without any.
const BZIP2_BLOCKS: [[u8; 6]; 2] =
    [[0x31, 0x41, 0x59, 0x26, 0x53, 0x59], [0x17, 0x72, 0x45, 0x38, 0x50, 0x90]];
/// First bytes of files that cannot be read, and what makes them.
const UNREADABLE: [(&[u8], &str); 6] = [
    (&[0x04, 0x22, 0x4d, 0x18], "lz4"),
    (&[0x02, 0x21, 0x4c, 0x18], "lz4"),
    (&[0x1f, 0x9d], "compress"),
    (&[0x1f, 0xa0], "compress"),
    (&[0x5d, 0, 0], "lzma"),
    (&[0x89, b'L', b'Z', b'O', 0, 0x0d, 0x0a], "lzop"),
];

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
    /// By xz.
    Xz,
    /// By lzip.
    Lzip,
    /// By bzip2.
    Bzip2,
    /// By a program of this name, and cannot be read.
    Unreadable(&'static str),
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
    /// How many of a file's first bytes tell how it is compressed.
    pub const MAGIC_BYTES_MAX: usize = 10;

    /// Tells from a file's first bytes how it is compressed. No mail begins with any of these.
    pub fn of(bytes: &[u8]) -> Compression {
        match bytes {
            [0x50..=0x5f, rest @ ..] if rest.starts_with(&ZSTD_SKIPPABLE_MAGIC) => Compression::Zstd,
            _ if bytes.starts_with(&ZSTD_MAGIC) => Compression::Zstd,
            _ if bytes.starts_with(&GZIP_MAGIC) => Compression::Gzip,
            _ if bytes.starts_with(&XZ_MAGIC) => Compression::Xz,
            _ if bytes.starts_with(&LZIP_MAGIC) => Compression::Lzip,
            [b'B', b'Z', b'h', b'1'..=b'9', rest @ ..]
                if BZIP2_BLOCKS.iter().any(|it| rest.starts_with(it)) =>
            {
                Compression::Bzip2
            }
            _ => UNREADABLE
                .iter()
                .find(|(magic, _)| bytes.starts_with(magic))
                .map_or(Compression::Plain, |(_, program)| Compression::Unreadable(program)),
        }
    }
}

/// Appends the content of `packed` to `content`, at most `limit_bytes` of it.
///
/// # Errors
/// Says what is wrong if the file is damaged or cut, or if its compression cannot be read. What
/// could be unpacked is then in `content`.
pub fn unpack(
    packed: &[u8],
    compression: Compression,
    limit_bytes: usize,
    content: &mut Vec<u8>,
) -> io::Result<Unpacked> {
    let end = content.len().saturating_add(limit_bytes);
    // One byte more tells a content that just fits from one that is cut.
    let left = u64::try_from(limit_bytes.saturating_add(1)).unwrap_or(u64::MAX);
    let result = unpacked(packed, compression)?.take(left).read_to_end(content);
    if content.len() > end {
        content.truncate(end);
        return Ok(Unpacked::Cut);
    }
    result.map(|_| Unpacked::Whole).map_err(explained)
}

/// Returns the content of `packed` as a stream.
///
/// # Errors
/// The compression cannot be read; there is no memory. What is damaged is an error when it is read.
pub(crate) fn unpacked<'p>(
    packed: impl BufRead + 'p,
    compression: Compression,
) -> io::Result<Box<dyn Read + 'p>> {
    Ok(match compression {
        Compression::Plain => Box::new(packed),
        Compression::Gzip => Box::new(GzipMembers { member: Some(GzDecoder::new(packed)) }),
        Compression::Zstd => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(packed)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
            Box::new(decoder)
        }
        Compression::Xz => {
            let stream = Stream::new_stream_decoder(LZMA_MEMORY_BYTES_MAX, CONCATENATED)?;
            Box::new(XzDecoder::new_stream(packed, stream))
        }
        Compression::Lzip => {
            let stream = Stream::new_lzip_decoder(LZMA_MEMORY_BYTES_MAX, CONCATENATED)?;
            Box::new(XzDecoder::new_stream(packed, stream))
        }
        Compression::Bzip2 => Box::new(MultiBzDecoder::new(packed)),
        Compression::Unreadable(program) => {
            let what = format!("files made by {program} cannot be read");
            return Err(io::Error::new(io::ErrorKind::Unsupported, what));
        }
    })
}

/// Puts into words what liblzma says of memory.
pub(crate) fn explained(error: io::Error) -> io::Error {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<liblzma::stream::Error>());
    match inner {
        Some(liblzma::stream::Error::MemLimit) => {
            let memory = LZMA_MEMORY_BYTES_MAX >> 20;
            io::Error::new(
                io::ErrorKind::OutOfMemory,
                format!("unpacking it takes over {memory} MiB of memory"),
            )
        }
        _ => error,
    }
}

/// One member after another, because gzip files are joined by joining their bytes. Zeros after the last one
/// are padding.
struct GzipMembers<R> {
    /// The one that is being read; none after the last.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let count = member.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            self.member = self.member.take().map_or(Ok(None), |member| next_member(member.into_inner()))?;
        }
        Ok(0)
    }
}

/// Begins the next member of a gzip file; none at its end.
fn next_member<R: BufRead>(mut packed: R) -> io::Result<Option<GzDecoder<R>>> {
    let mut is_padded = false;
    loop {
        let bytes = packed.fill_buf()?;
        let zero_count = bytes.iter().take_while(|byte| **byte == 0).count();
        if bytes.is_empty() {
            return Ok(None);
        } else if zero_count == 0 && !is_padded {
            return Ok(Some(GzDecoder::new(packed)));
        } else if zero_count < bytes.len() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "something follows its padding"));
        }
        is_padded = true;
        packed.consume(zero_count);
    }
}

#[cfg(test)]
mod tests;
