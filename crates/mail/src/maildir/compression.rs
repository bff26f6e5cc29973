//! Recognises compressed message files by their first bytes, and decompresses them.
//!
//! Input: the bytes of a file, untrusted. Output: the bytes of the message, as a stream or up to a limit, so
//! that a small file cannot fill the memory. Does not know where the bytes come from.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::GzDecoder;
use liblzma::bufread::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};
use std::io::{self, BufRead, Read};

const GZIP_MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// A skippable frame, which programs that compress on several threads may write first: `0x50` to `0x5f`, then
/// these bytes.
const ZSTD_SKIPPABLE_MAGIC: [u8; 3] = [0x2a, 0x4d, 0x18];
/// Frames that need more memory than 2^27 bytes (128 MiB) are refused. Only `zstd --long=28` and above writes
/// them.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;
const XZ_MAGIC: [u8; 6] = [0xfd, b'7', b'z', b'X', b'Z', 0];
const LZIP_MAGIC: [u8; 5] = *b"LZIP\x01";
/// Memory for decompressing xz or lzip, in bytes. Files of `xz -9` need 65 MiB; only larger dictionaries, set
/// by hand, need more than this.
const LZMA_MEMORY_BYTES_MAX: u64 = 128 << 20;
/// The bytes after `BZh` and the block size, a digit: the first block, or the end of a file without blocks.
const BZIP2_BLOCKS: [[u8; 6]; 2] =
    [[0x31, 0x41, 0x59, 0x26, 0x53, 0x59], [0x17, 0x72, 0x45, 0x38, 0x50, 0x90]];
/// First bytes of unsupported formats, and the programs that write them.
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
    /// By a program of this name, in an unsupported format.
    Unreadable(&'static str),
}

/// How much of the content was decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unpacked {
    /// All of it.
    Whole,
    /// As much as the limit allows; there is more.
    Cut,
}

impl Compression {
    /// How many of a file's first bytes are needed to recognise its compression.
    pub const MAGIC_BYTES_MAX: usize = 10;

    /// Recognises the compression from a file's first bytes. No mail begins with any of these.
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

/// Appends the decompressed content of `packed` to `content`, at most `limit_bytes` of it.
///
/// # Errors
/// The reason, if the file is damaged or cut, or its format is not supported. `content` then has the bytes up
/// to the damage.
pub fn unpack(
    packed: &[u8],
    compression: Compression,
    limit_bytes: usize,
    content: &mut Vec<u8>,
) -> io::Result<Unpacked> {
    let end = content.len().saturating_add(limit_bytes);
    // One byte more distinguishes content that just fits from content that is cut.
    let left = u64::try_from(limit_bytes.saturating_add(1)).unwrap_or(u64::MAX);
    let mut packed = packed;
    let packed: &mut dyn BufRead = &mut packed;
    let result = unpacked(packed, compression)?.take(left).read_to_end(content);
    if content.len() > end {
        content.truncate(end);
        return Ok(Unpacked::Cut);
    }
    result.map(|_| Unpacked::Whole).map_err(explained)
}

/// Returns the decompressed content of `packed` as a stream.
///
/// # Errors
/// The format is not supported, or there is not enough memory. Damage is an error of the later read.
pub fn unpacked<'p>(packed: impl BufRead + 'p, compression: Compression) -> io::Result<Box<dyn Read + 'p>> {
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

/// Replaces liblzma's error about memory by a sentence.
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

/// Reads one gzip member after another, because gzip files may be concatenated. Zeros after the last member
/// are padding.
struct GzipMembers<R> {
    /// The member that is being read; none after the last.
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

/// Starts the next member of a gzip file; none at its end.
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
mod tests {
    use super::*;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;
    use std::io::Write;

    fn gzip(content: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(content: &[u8]) -> Vec<u8> {
        let mut encoder = ::zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
        encoder.include_checksum(true).unwrap();
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn bzip2(content: &[u8]) -> Vec<u8> {
        let mut encoder = ::bzip2::write::BzEncoder::new(Vec::new(), ::bzip2::Compression::new(1));
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn xz(content: &[u8]) -> Vec<u8> {
        liblzma::encode_all(content, 0).unwrap()
    }

    type Pack = fn(&[u8]) -> Vec<u8>;

    /// All that can be written here.
    fn packers() -> [Pack; 4] {
        [gzip, zstd, xz, bzip2]
    }

    /// A message as lzip compresses it.
    const LZIPPED: [u8; 62] = [
        0x4c, 0x5a, 0x49, 0x50, 0x01, 0x10, 0x00, 0x29, 0x9d, 0x48, 0x46, 0xca, 0x80, 0xef, 0x58, 0x68, 0x59,
        0x9e, 0xb1, 0xdb, 0xc1, 0x47, 0x6b, 0x3a, 0xd6, 0x81, 0x5b, 0x33, 0x47, 0xfe, 0xd6, 0x5e, 0x09, 0x0e,
        0x0e, 0x7d, 0x5f, 0xff, 0xdc, 0x99, 0x00, 0x00, 0x45, 0x7a, 0x08, 0x2c, 0x19, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x3e, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    ];

    /// Unpacks compressed bytes. Returns the content, and how much was unpacked.
    fn unpacked(packed: &[u8], limit_bytes: usize) -> io::Result<(Vec<u8>, Unpacked)> {
        let compression = Compression::of(packed);
        assert_ne!(compression, Compression::Plain);
        let mut content = Vec::new();
        let unpacked = unpack(packed, compression, limit_bytes, &mut content)?;
        Ok((content, unpacked))
    }

    #[test]
    fn compression_is_told_from_the_first_bytes() {
        assert_eq!(Compression::of(&gzip(b"a")), Compression::Gzip);
        assert_eq!(Compression::of(&zstd(b"a")), Compression::Zstd);
        assert_eq!(Compression::of(b"\x5a\x2a\x4d\x18\0\0\0\0"), Compression::Zstd);
        for content in [&b""[..], b"a"] {
            assert_eq!(Compression::of(&xz(content)), Compression::Xz);
            assert_eq!(Compression::of(&bzip2(content)), Compression::Bzip2);
            assert_eq!(
                Compression::of(bzip2(content).get(..Compression::MAGIC_BYTES_MAX).unwrap()),
                Compression::Bzip2
            );
        }
        for (bytes, program) in [
            (&b"\x04\x22\x4d\x18\x64"[..], "lz4"),
            (b"\x1f\x9d\x90", "compress"),
            (b"\x5d\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff", "lzma"),
            (b"\x89LZO\0\r\n\x1a\n", "lzop"),
        ] {
            let compression = Compression::of(bytes);
            assert_eq!(compression, Compression::Unreadable(program));
            let error = unpack(bytes, compression, 100, &mut Vec::new()).unwrap_err();
            assert_eq!(error.to_string(), format!("files made by {program} cannot be read"));
        }
        for plain in [
            &b""[..],
            b"\x1f",
            b"\x1f\x8b",
            b"\x1f\x8b\x07",
            b"\x28\xb5\x2f",
            b"Received: from",
            b"P*M",
            b"BZh9 mail",
            b"LZIP mail",
            b"]\0",
        ] {
            assert_eq!(Compression::of(plain), Compression::Plain);
        }
    }

    #[test]
    fn joined_files_are_read_as_one() {
        let whole = (b"onetwo".to_vec(), Unpacked::Whole);
        assert_eq!(unpacked(&[gzip(b"one"), gzip(b""), gzip(b"two")].concat(), 6).unwrap(), whole);
        assert_eq!(unpacked(&[gzip(b"one"), gzip(b"two"), vec![0; 512]].concat(), 6).unwrap(), whole);
        let skipped = b"\x50\x2a\x4d\x18\x03\0\0\0abc".to_vec();
        assert_eq!(unpacked(&[skipped, zstd(b"one"), zstd(b"two")].concat(), 6).unwrap(), whole);
        assert_eq!(
            unpacked(&[gzip(b"one"), gzip(b"two")].concat(), 5).unwrap(),
            (b"onetw".to_vec(), Unpacked::Cut)
        );
        assert!(unpacked(&[gzip(b"one"), vec![0; 9], gzip(b"two")].concat(), 9).is_err());
        assert_eq!(unpacked(&[xz(b"one"), xz(b""), xz(b"two"), vec![0; 8]].concat(), 6).unwrap(), whole);
        assert_eq!(unpacked(&[bzip2(b"one"), bzip2(b""), bzip2(b"two")].concat(), 6).unwrap(), whole);
        assert!(unpacked(&[xz(b"one"), b"garbage".to_vec()].concat(), 9).is_err());
        assert!(unpacked(&[bzip2(b"one"), b"garbage".to_vec()].concat(), 9).is_err());
        assert!(unpacked(&[gzip(b"one"), b"garbage".to_vec()].concat(), 9).is_err());
        assert!(unpacked(&[zstd(b"one"), b"garbage".to_vec()].concat(), 9).is_err());
    }

    #[test]
    fn a_bomb_is_cut_at_the_limit() {
        let zeros = vec![0; 64 << 20];
        for packed in packers().map(|pack| pack(&zeros)) {
            let (content, unpacked) = unpacked(&packed, 1_000_000).unwrap();
            assert_eq!((content.len(), unpacked), (1_000_000, Unpacked::Cut));
            assert!(content.capacity() < 8 << 20, "{} bytes taken", content.capacity());
        }
    }

    #[test]
    fn a_file_that_takes_too_much_memory_says_so() {
        let mut large = xz(b"a message");
        // The properties of LZMA2 are the size of its dictionary: 2^(n/2 + 12) for an even n. A checksum of
        // the header follows.
        large[16] = 36;
        let checksum = crc32(&large[12..20]);
        large[20..24].copy_from_slice(&checksum.to_le_bytes());
        let error = unpacked(&large, 1000).unwrap_err();
        assert_eq!(error.to_string(), "unpacking it takes over 128 MiB of memory");
    }

    fn crc32(bytes: &[u8]) -> u32 {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        crc.sum()
    }

    #[test]
    fn a_file_of_lzip_is_read() {
        assert_eq!(
            unpacked(&LZIPPED, 100).unwrap(),
            (b"Subject: packed\n\nby lzip\n".to_vec(), Unpacked::Whole)
        );
    }

    #[test]
    fn the_limit_counts_what_is_appended() {
        let mut content = b"before ".to_vec();
        assert_eq!(unpack(&gzip(b"after"), Compression::Gzip, 5, &mut content).unwrap(), Unpacked::Whole);
        assert_eq!(unpack(b"plain", Compression::Plain, 4, &mut content).unwrap(), Unpacked::Cut);
        assert_eq!(content, b"before afterplai");
    }

    #[test]
    fn a_cut_or_flipped_byte_never_passes_for_the_content() {
        let content = b"Subject: a message\n\nof a few words, a few words, a few words\n";
        for packed in packers().map(|pack| pack(content)) {
            for length in 10..packed.len() {
                assert!(unpacked(&packed[..length], 1000).is_err(), "cut at {length}");
            }
            for index in 10..packed.len() {
                let mut damaged = packed.clone();
                damaged[index] ^= 0x10;
                // The time and the program's name in a gzip header are not checked; everything else is.
                match unpacked(&damaged, 1000) {
                    Ok((unpacked, _)) => assert_eq!(unpacked, content, "flipped at {index}"),
                    Err(error) => assert!(!error.to_string().is_empty()),
                }
            }
        }
    }

    proptest! {
        #[test]
        fn contents_come_back(
            content in proptest::collection::vec(any::<u8>(), 0..3000),
            limit_bytes in 0_usize..3000,
        ) {
            for packed in packers().map(|pack| pack(&content)) {
                let (found, how) = unpacked(&packed, limit_bytes).unwrap();
                prop_assert_eq!(&found[..], &content[..content.len().min(limit_bytes)]);
                prop_assert_eq!(how == Unpacked::Cut, content.len() > limit_bytes);
            }
        }

        #[test]
        fn any_bytes_are_content_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            for (magic, compression) in [
                (&GZIP_MAGIC[..], Compression::Gzip),
                (&ZSTD_MAGIC[..], Compression::Zstd),
                (&XZ_MAGIC[..], Compression::Xz),
                (&LZIP_MAGIC[..], Compression::Lzip),
                (b"BZh11AY&SY", Compression::Bzip2),
            ] {
                let mut content = Vec::new();
                let _ = unpack(&[magic, &bytes].concat(), compression, 10_000, &mut content);
                prop_assert!(content.len() <= 10_000);
            }
        }
    }
}
