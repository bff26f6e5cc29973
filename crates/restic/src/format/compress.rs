//! Compresses and decompresses blobs and files with zstd.
//!
//! Does not know the meaning of the bytes, or whether compressing them is worthwhile.
//!
//! A frame holds the length of its content and has no checksum, because all content is verified by its
//! SHA-256. Any valid frame can be read (<https://restic.readthedocs.io/en/stable/100_references.html>,
//! "Repository Format", version 2).
#![deny(clippy::indexing_slicing)]

use zstd::zstd_safe::{
    CCtx, CParameter, DCtx, InBuffer, OutBuffer, compress_bound, find_frame_compressed_size, get_error_name,
    get_frame_content_size,
};

/// How blobs of files are compressed. In version 2, trees and all other files are always compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// The content of files is not compressed.
    Off,
    /// As restic's default.
    #[default]
    Auto,
    /// Smaller, and several times slower.
    Max,
}

/// zstd's own levels. Of 177 MB of messages 1 makes 110.6 MB at 57 us a message, saved and read back, and 3
/// makes 108.7 MB at 77 us; restic's default makes 121 MB.
const LEVEL_AUTO: i32 = 1;
const LEVEL_MAX: i32 = 11;
/// No block of a frame gives more, and each has a header of 3 bytes: so a short frame cannot ask for much
/// memory.
const BLOCK_BYTES_MAX: u64 = 128 << 10;
const BLOCK_HEADER_BYTES: u64 = 3;
/// Bytes that are decompressed at a time if the length is unknown.
const PIECE_BYTES: usize = 256 << 10;

/// Compresses and decompresses for one thread, with buffers that are allocated once.
#[derive(Default)]
pub struct Zstd {
    compression: Compression,
    compressor: Option<CCtx<'static>>,
    decompressor: Option<DCtx<'static>>,
    /// The piece decompressed last, of content that is only compared.
    piece: Vec<u8>,
}

impl Zstd {
    /// Returns one for a compression level. With [`Compression::Off`], content that must be compressed uses
    /// the default level.
    pub fn new(compression: Compression) -> Zstd {
        Zstd { compression, ..Zstd::default() }
    }

    /// Replaces the content of `out` with `plain` as one frame.
    pub fn compress(&mut self, plain: &[u8], out: &mut Vec<u8>) {
        let compression = self.compression;
        let zstd = self.compressor.get_or_insert_with(|| compressor(compression));
        out.clear();
        out.reserve(compress_bound(plain.len()));
        zstd.compress2(out, plain).expect("there is room for the longest frame");
    }

    /// Replaces the content of `out` with that of `frame`. An error says what is wrong, as the rest of a
    /// sentence.
    ///
    /// `claimed` is the length it must have, if known; it may have at most `limit` bytes.
    ///
    /// # Errors
    /// What is wrong with the frame.
    pub fn decompress(
        &mut self,
        frame: &[u8],
        claimed: Option<u64>,
        limit: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        out.clear();
        match claimed.or_else(|| own_length(frame)) {
            Some(length) => self.decompress_known(frame, check_length(length, frame, limit)?, out),
            None => self.decompress_unknown(frame, limit, out),
        }
    }

    /// Returns whether the content of `frame` equals `plain`, without copying it. An error is the rest of a
    /// sentence that says what is wrong.
    ///
    /// # Errors
    /// If the frame is damaged.
    pub fn holds(&mut self, frame: &[u8], plain: &[u8]) -> Result<bool, String> {
        let zstd = self.decompressor.get_or_insert_with(DCtx::create);
        zstd.init().map_err(sentence)?;
        self.piece.reserve(PIECE_BYTES);
        let (mut input, mut rest) = (InBuffer::around(frame), plain);
        loop {
            self.piece.clear();
            let hint = zstd
                .decompress_stream(&mut OutBuffer::around(&mut self.piece), &mut input)
                .map_err(sentence)?;
            match rest.strip_prefix(self.piece.as_slice()) {
                Some(behind) => rest = behind,
                None => return Ok(false),
            }
            if input.pos() == frame.len() && (hint == 0 || self.piece.len() < self.piece.capacity()) {
                return if hint == 0 {
                    Ok(rest.is_empty())
                } else {
                    Err("compressed bytes end too early".into())
                };
            }
        }
    }

    fn decompress_known(&mut self, frame: &[u8], length: usize, out: &mut Vec<u8>) -> Result<(), String> {
        out.try_reserve(length).map_err(|_| format!("there is no memory for its {length} bytes"))?;
        match self.decompressor.get_or_insert_with(DCtx::create).decompress(out, frame) {
            Ok(found) if found == length => Ok(()),
            Ok(found) => Err(format!("{found} bytes were decompressed, not {length}")),
            Err(code) => Err(sentence(code)),
        }
    }

    /// Takes any number of frames that do not say their lengths.
    fn decompress_unknown(&mut self, frame: &[u8], limit: u64, out: &mut Vec<u8>) -> Result<(), String> {
        let zstd = self.decompressor.get_or_insert_with(DCtx::create);
        zstd.init().map_err(sentence)?;
        let mut input = InBuffer::around(frame);
        loop {
            out.reserve(PIECE_BYTES);
            let full = out.capacity();
            let begin = out.len();
            let mut place = OutBuffer::around_pos(out, begin);
            let hint = zstd.decompress_stream(&mut place, &mut input).map_err(sentence)?;
            let is_full = place.pos() == full;
            if out.len() as u64 > limit {
                return Err(format!("more than {limit} bytes were decompressed"));
            }
            // A frame may end where the memory does.
            if input.pos() == frame.len() && (hint == 0 || !is_full) {
                return if hint == 0 { Ok(()) } else { Err("compressed bytes end too early".into()) };
            }
        }
    }
}

fn compressor(compression: Compression) -> CCtx<'static> {
    let level = match compression {
        Compression::Off | Compression::Auto => LEVEL_AUTO,
        Compression::Max => LEVEL_MAX,
    };
    let mut zstd = CCtx::create();
    let wanted = [
        CParameter::CompressionLevel(level),
        CParameter::ContentSizeFlag(true),
        CParameter::ChecksumFlag(false),
    ];
    for parameter in wanted {
        zstd.set_parameter(parameter).expect("zstd knows its own parameters");
    }
    zstd
}

/// Returns the content's length, if this is a single frame that states it.
fn own_length(frame: &[u8]) -> Option<u64> {
    let is_alone = find_frame_compressed_size(frame) == Ok(frame.len());
    get_frame_content_size(frame).ok().flatten().filter(|_| is_alone)
}

fn check_length(length: u64, frame: &[u8], limit: u64) -> Result<usize, String> {
    let most = (frame.len() as u64 / BLOCK_HEADER_BYTES).saturating_mul(BLOCK_BYTES_MAX).min(limit);
    match usize::try_from(length) {
        Ok(checked) if length <= most => Ok(checked),
        _ => Err(format!(
            "{length} bytes cannot come out of {} compressed ones; the limit is {limit}",
            frame.len()
        )),
    }
}

fn sentence(code: usize) -> String {
    format!("bytes cannot be decompressed: {}", get_error_name(code))
}

impl std::fmt::Debug for Zstd {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Zstd({:?})", self.compression)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(length: usize) -> Vec<u8> {
        (0..length).map(|place| b"pneumatic post "[place % 15] ^ (place / 1000).to_le_bytes()[0]).collect()
    }

    fn compressed(plain: &[u8]) -> Vec<u8> {
        let mut out = b"gone".to_vec();
        Zstd::new(Compression::Auto).compress(plain, &mut out);
        out
    }

    #[test]
    fn there_and_back_with_one_context() {
        for compression in [Compression::Off, Compression::Auto, Compression::Max] {
            let mut zstd = Zstd::new(compression);
            let (mut frame, mut again) = (Vec::new(), Vec::new());
            for length in [0, 1, 255, 256, 70_000, 3, 2_000_000, 5000] {
                let plain = text(length);
                zstd.compress(&plain, &mut frame);
                for claimed in [Some(length as u64), None] {
                    zstd.decompress(&frame, claimed, 2_000_000, &mut again).unwrap();
                    assert!(again == plain, "{length}");
                }
            }
        }
    }

    #[test]
    fn content_is_compared_to_its_last_byte() {
        let mut zstd = Zstd::new(Compression::Auto);
        for length in [0, 1, 70_000, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES] {
            let plain = text(length);
            let frame = compressed(&plain);
            assert_eq!(zstd.holds(&frame, &plain), Ok(true), "{length}");
            assert_eq!(zstd.holds(&frame, &[&plain[..], b"x"].concat()), Ok(false), "{length}");
            if let Some((last, rest)) = plain.split_last() {
                assert_eq!(zstd.holds(&frame, rest), Ok(false), "{length}");
                assert_eq!(zstd.holds(&frame, &[rest, &[last ^ 1]].concat()), Ok(false), "{length}");
                zstd.holds(&frame[..frame.len() - 1], &plain).unwrap_err();
            }
        }
    }

    /// The header is that of RFC 8878, 3.1.1.1: the length is said, there is neither a checksum nor a
    /// dictionary.
    #[test]
    fn a_frame_says_its_length_and_has_no_checksum() {
        for length in [0, 5, 300, 100_000, 3_000_000] {
            let frame = compressed(&text(length));
            assert_eq!(frame[..4], [0x28, 0xb5, 0x2f, 0xfd]);
            assert_eq!(frame[4] & 0b0000_0111, 0, "checksum or dictionary");
            assert_eq!(get_frame_content_size(&frame).unwrap(), Some(length as u64));
        }
    }

    #[test]
    fn harder_is_another_level_of_zstd() {
        let plain: Vec<u8> =
            (0..50_000_u64).flat_map(|number| (number * number % 9973).to_string().into_bytes()).collect();
        let [off, auto, max] = [Compression::Off, Compression::Auto, Compression::Max].map(|compression| {
            let mut frame = Vec::new();
            Zstd::new(compression).compress(&plain, &mut frame);
            frame
        });
        let [one, eleven] = [1, 11].map(|level| zstd::bulk::compress(&plain, level).unwrap());
        assert!(off == one && auto == one && max == eleven && one != eleven);
    }

    #[test]
    fn frames_of_unknown_length_are_read_up_to_the_limit() {
        let plain = text(1_000_000);
        let mut frame = Vec::new();
        zstd::stream::copy_encode(plain.as_slice(), &mut frame, 1).unwrap();
        assert_eq!(get_frame_content_size(&frame).unwrap(), None);
        let mut zstd = Zstd::default();
        let mut again = Vec::new();
        zstd.decompress(&frame, None, 1_000_000, &mut again).unwrap();
        assert!(again == plain);
        let refused = zstd.decompress(&frame, None, 999_999, &mut again).unwrap_err();
        assert_eq!(refused, "more than 999999 bytes were decompressed");
        for length in [0, 5, frame.len() - 1] {
            let cut = zstd.decompress(&frame[..length], None, 1_000_000, &mut again);
            assert_eq!(cut.unwrap_err(), "compressed bytes end too early", "{length}");
        }
        zstd.decompress(&frame, Some(1_000_000), 1_000_000, &mut again).unwrap();
        assert!(again == plain);
    }

    #[test]
    fn two_frames_are_one_content() {
        let (first, second) = (text(5000), text(70_000));
        let frames = [compressed(&first), compressed(&second)].concat();
        let plain = [first, second].concat();
        let mut again = Vec::new();
        for claimed in [None, Some(75_000)] {
            Zstd::default().decompress(&frames, claimed, 100_000, &mut again).unwrap();
            assert!(again == plain);
        }
    }

    #[test]
    fn a_claim_that_is_wrong_or_too_large_is_refused_before_memory_is_taken() {
        let frame = compressed(&text(5000));
        let refused = |claimed, limit| {
            let mut out = Vec::new();
            let what = Zstd::default().decompress(&frame, claimed, limit, &mut out).unwrap_err();
            assert!(out.capacity() < 100_000);
            what
        };
        assert_eq!(refused(Some(5001), 9999), "5000 bytes were decompressed, not 5001");
        assert_eq!(
            refused(Some(4999), 9999),
            "bytes cannot be decompressed: Destination buffer is too small"
        );
        let length = frame.len();
        let too_much = |claim: u64, limit| {
            format!("{claim} bytes cannot come out of {length} compressed ones; the limit is {limit}")
        };
        assert_eq!(refused(Some(5000), 4999), too_much(5000, 4999));
        assert_eq!(refused(None, 4999), too_much(5000, 4999));
        let most = length as u64 / 3 * (128 << 10);
        assert_eq!(refused(Some(most + 1), u64::MAX), too_much(most + 1, u64::MAX));
    }

    #[test]
    fn any_bytes_are_content_or_a_sentence() {
        let frame = compressed(&text(3000));
        let mut zstd = Zstd::default();
        let mut out = Vec::new();
        for place in 0..frame.len() {
            for bit in 0..8 {
                let mut flipped = frame.clone();
                flipped[place] ^= 1 << bit;
                for claimed in [None, Some(3000)] {
                    let done = zstd.decompress(&flipped, claimed, 1 << 20, &mut out);
                    assert!(done.is_ok() || done.is_err_and(|what| !what.is_empty()));
                }
            }
        }
        assert!(
            zstd.decompress(b"no frame", None, 100, &mut out)
                .unwrap_err()
                .contains("Unknown frame descriptor")
        );
    }
}
