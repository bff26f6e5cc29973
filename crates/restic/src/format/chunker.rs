//! Cuts content into chunks exactly where restic does, so that equal pieces of different files are one blob.
//!
//! Input: a repository's polynomial and a stream. Output: chunks.
//!
//! A hash rolls over the last 64 bytes: their bits, as a polynomial over GF(2), modulo the repository's own
//! polynomial. A chunk ends where the lowest 20 bits of the hash are zero, but not before [`MIN_BYTES`], and
//! at [`MAX_BYTES`] at the latest. The hash depends on those 64 bytes only, so several stretches can be
//! hashed at once; a single one waits for a table look-up at each byte.

use std::fmt::{Debug, Formatter};
use std::io::{self, Read};

/// The smallest size of a chunk, unless it is the last of its file. A smaller file is one chunk.
pub const MIN_BYTES: usize = 512 << 10;
/// The largest size of a chunk.
pub const MAX_BYTES: usize = 8 << 20;

/// Bytes that the hash depends on.
const WINDOW_BYTES: usize = 64;
/// A chunk ends where these bits are all zero.
const CUT_MASK: u64 = (1 << 20) - 1;
/// Stretches that are hashed at once.
const LANE_COUNT: usize = 4;
/// How long each of them is: the 64 bytes before it are hashed twice, and all of them once more where a chunk
/// ends.
const LANE_BYTES: usize = 4 << 10;
/// Bytes that are read at once.
const READ_BYTES: usize = MIN_BYTES;

/// Cuts content with one polynomial.
#[derive(Clone)]
pub struct Chunker {
    /// What a byte that leaves the window contributes to the hash.
    leaving: [u64; 256],
    /// What takes the highest 8 bits of a hash away, and adds their remainder.
    reducing: [u64; 256],
    /// Where those 8 bits begin before the hash is moved on by a byte.
    shift: u32,
}

/// Does not print the tables, which would reveal the polynomial.
impl Debug for Chunker {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Chunker")
    }
}

impl Chunker {
    /// Builds the tables for a polynomial; `None` unless its degree is 8 to 53.
    pub fn new(polynomial: u64) -> Option<Chunker> {
        let degree = polynomial.checked_ilog2().filter(|degree| (8..=53).contains(degree))?;
        let mut chunker = Chunker { leaving: [0; 256], reducing: [0; 256], shift: degree - 8 };
        for (byte, entry) in (0_u64..).zip(&mut chunker.reducing) {
            *entry = remainder(byte << degree, polynomial) | byte << degree;
        }
        for (byte, entry) in (0_u64..).zip(&mut chunker.leaving) {
            *entry = (1..WINDOW_BYTES)
                .fold(remainder(byte, polynomial), |hash, _| remainder(hash << 8, polynomial));
        }
        Some(chunker)
    }

    /// Cuts a stream. `buffer` is cleared, and grows to [`MAX_BYTES`] at most.
    pub fn chunks<'a, R: Read>(&'a self, stream: R, buffer: &'a mut Vec<u8>) -> Chunks<'a, R> {
        buffer.clear();
        Chunks { chunker: self, stream, buffer, given_bytes: 0, is_at_end: false }
    }

    /// Returns the length of the chunk at the beginning of `content`, or `None` if the chunk is longer. The
    /// first `known_bytes` are known to contain no cut.
    fn cut(&self, content: &[u8], known_bytes: usize) -> Option<usize> {
        let content = content.get(..MAX_BYTES).unwrap_or(content);
        let mut at = known_bytes.max(MIN_BYTES - 1);
        while let Some(block) = block(content, at)
            && !self.holds_cut(block)
        {
            at += LANE_COUNT * LANE_BYTES;
        }
        let begin = at - WINDOW_BYTES;
        let mut hash = self.hash(content.get(begin..at)?);
        let windows = content.get(begin..)?;
        for (place, (old, new)) in windows.iter().zip(windows.iter().skip(WINDOW_BYTES)).enumerate() {
            hash = self.roll(hash, *old, *new);
            if hash & CUT_MASK == 0 {
                return Some(at + place + 1);
            }
        }
        (content.len() == MAX_BYTES).then_some(MAX_BYTES)
    }

    /// Returns whether a chunk might end anywhere in a block. The first 64 bytes of `block` are the window
    /// before it.
    fn holds_cut(&self, block: &[u8; BLOCK_BYTES]) -> bool {
        let mut is_cut = false;
        let lanes: [&[u8; WINDOW_BYTES + LANE_BYTES]; LANE_COUNT] = std::array::from_fn(|lane| {
            block[lane * LANE_BYTES..].first_chunk().expect("the last lane ends where the block ends")
        });
        let mut hashes = lanes.map(|lane| self.hash(&lane[..WINDOW_BYTES]));
        for place in 0..LANE_BYTES {
            for (hash, lane) in hashes.iter_mut().zip(lanes) {
                *hash = self.roll(*hash, lane[place], lane[place + WINDOW_BYTES]);
                is_cut |= *hash & CUT_MASK == 0;
            }
        }
        is_cut
    }

    fn hash(&self, window: &[u8]) -> u64 {
        window.iter().fold(0, |hash, byte| self.append(hash, *byte))
    }

    fn roll(&self, hash: u64, old: u8, new: u8) -> u64 {
        self.append(hash ^ self.leaving[usize::from(old)], new)
    }

    fn append(&self, hash: u64, byte: u8) -> u64 {
        // A hash has no bits above its polynomial's degree.
        let [high, ..] = (hash >> self.shift).to_le_bytes();
        (hash << 8 | u64::from(byte)) ^ self.reducing[usize::from(high)]
    }
}

const BLOCK_BYTES: usize = WINDOW_BYTES + LANE_COUNT * LANE_BYTES;

/// Returns the block at `at` with the window before it, or `None` if `content` ends within it.
fn block(content: &[u8], at: usize) -> Option<&[u8; BLOCK_BYTES]> {
    content.get(at - WINDOW_BYTES..)?.first_chunk()
}

/// Returns the remainder of one polynomial divided by another.
fn remainder(mut value: u64, polynomial: u64) -> u64 {
    while value.leading_zeros() <= polynomial.leading_zeros() {
        value ^= polynomial << (polynomial.leading_zeros() - value.leading_zeros());
    }
    value
}

/// The chunks of a stream.
#[derive(Debug)]
pub struct Chunks<'a, R> {
    chunker: &'a Chunker,
    stream: R,
    buffer: &'a mut Vec<u8>,
    /// Length of the last chunk that was returned, at the beginning of the buffer.
    given_bytes: usize,
    is_at_end: bool,
}

impl<R: Read> Chunks<'_, R> {
    /// Returns the next chunk; `None` at the end. An empty stream has no chunks.
    ///
    /// # Errors
    /// An error of the stream.
    #[expect(clippy::should_implement_trait, reason = "an iterator could not lend its buffer")]
    pub fn next(&mut self) -> io::Result<Option<&[u8]>> {
        self.buffer.drain(..self.given_bytes);
        self.given_bytes = 0;
        let mut known_bytes = 0;
        self.given_bytes = loop {
            if let Some(cut) = self.chunker.cut(self.buffer, known_bytes) {
                break cut;
            }
            known_bytes = self.buffer.len();
            if self.is_at_end {
                break known_bytes;
            }
            self.fill()?;
        };
        Ok(self.buffer.get(..self.given_bytes).filter(|chunk| !chunk.is_empty()))
    }

    /// Reads more into the buffer, which is not full: it would hold a cut.
    fn fill(&mut self) -> io::Result<()> {
        let held = self.buffer.len();
        let wanted = READ_BYTES.min(MAX_BYTES - held);
        if self.buffer.capacity() < held + wanted {
            self.buffer.reserve_exact((held + wanted).max((2 * held).min(MAX_BYTES)) - held);
        }
        let got = self.stream.by_ref().take(wanted as u64).read_to_end(self.buffer)?;
        self.is_at_end = got < wanted;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Id;
    use testkit::Random;

    /// restic's own method: byte by byte, with a ring buffer of the last 64 bytes, and a 1 before each chunk.
    fn twin(polynomial: u64, content: &[u8]) -> Vec<usize> {
        let chunker = Chunker::new(polynomial).unwrap();
        let (mut lengths, mut begin) = (Vec::new(), 0);
        while begin < content.len() {
            let mut window = std::collections::VecDeque::from([0; WINDOW_BYTES]);
            window.pop_front();
            window.push_back(1);
            let mut hash = 1;
            let mut length = 0;
            let skipped = (MIN_BYTES - WINDOW_BYTES).min(content.len() - begin);
            length += skipped;
            for byte in &content[begin + skipped..] {
                hash ^= chunker.leaving[usize::from(window.pop_front().unwrap())];
                window.push_back(*byte);
                hash = remainder(hash << 8 | u64::from(*byte), polynomial);
                length += 1;
                if length >= MIN_BYTES && (hash & CUT_MASK == 0 || length == MAX_BYTES) {
                    break;
                }
            }
            lengths.push(length);
            begin += length;
        }
        lengths
    }

    fn made(kind: &str, seed: u64, length: usize) -> Vec<u8> {
        let mut content = vec![0; length];
        if kind != "zeros" {
            Random::new(seed).fill(&mut content);
        }
        match kind {
            "letters" => content.iter_mut().for_each(|byte| *byte = *byte & 3 | 0x40),
            "repeated" => {
                for at in 300_000..length {
                    content[at] = content[at - 300_000];
                }
            }
            _ => {}
        }
        content
    }

    /// Gives a few bytes at a time.
    struct Slowly<'a>(&'a [u8], Random);

    impl Read for Slowly<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = (1 + self.1.index(100_000)).min(buffer.len());
            if self.1.per_mille(10) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            self.0.read(&mut buffer[..count])
        }
    }

    #[test]
    fn chunks_are_those_of_restic() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/archive/chunks.txt");
        let told = std::fs::read_to_string(path).unwrap();
        let mut lines = told.lines().filter(|line| !line.starts_with('#')).peekable();
        let mut chunk_count = 0;
        while let Some(line) = lines.next() {
            let [_, polynomial, seed, kind, length] = line.split(' ').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let content = made(kind, seed.parse().unwrap(), length.parse().unwrap());
            let chunker = Chunker::new(u64::from_str_radix(polynomial, 16).unwrap()).unwrap();
            let mut buffer = vec![1; 100];
            let mut chunks = chunker.chunks(Slowly(&content, Random::new(1)), &mut buffer);
            while let Some(expected) = lines.next_if(|line| line.starts_with("chunk")) {
                let chunk = chunks.next().unwrap().expect(expected);
                assert_eq!(format!("chunk {} {}", chunk.len(), Id::of(chunk)), expected, "{line}");
                chunk_count += 1;
            }
            assert_eq!(chunks.next().unwrap(), None, "{line}");
            assert!(buffer.capacity() <= MAX_BYTES, "{line}: {}", buffer.capacity());
        }
        assert_eq!(chunk_count, 81);
    }

    #[test]
    fn blocks_of_lanes_find_what_a_ring_of_bytes_finds() {
        let mut random = Random::new(5);
        for _ in 0..6 {
            // A small degree cuts often: at beginnings, ends and seams of lanes.
            let polynomial = [0x3d_a335_8b4d_c173, 0x1002d, 0x11b, 0x8003][random.index(4)];
            let content = made("random", random.next_u64(), random.index(12 << 20));
            let chunker = Chunker::new(polynomial).unwrap();
            let mut buffer = Vec::new();
            let mut chunks = chunker.chunks(&content[..], &mut buffer);
            let mut lengths = Vec::new();
            while let Some(chunk) = chunks.next().unwrap() {
                let before: usize = lengths.iter().sum();
                assert!(content[before..].starts_with(chunk));
                lengths.push(chunk.len());
            }
            assert_eq!(lengths, twin(polynomial, &content));
        }
    }

    #[test]
    fn a_cut_is_found_at_each_seam() {
        let chunker = Chunker::new(0x3d_a335_8b4d_c173).unwrap();
        let content = made("random", 3, MIN_BYTES + 12 * LANE_BYTES);
        assert_eq!(chunker.cut(&content, 0), None);
        for seam in (0..11).map(|lane| MIN_BYTES + lane * LANE_BYTES) {
            for end in seam.max(MIN_BYTES + 1) - 1..seam + 2 {
                // The hash of zeros is zero.
                let mut content = content.clone();
                content[end - WINDOW_BYTES..end].fill(0);
                assert_eq!(chunker.cut(&content, 0), Some(end), "{seam}");
                assert_eq!(chunker.cut(&content[..end], end - 1), Some(end), "{seam}");
                assert_eq!(chunker.cut(&content[..end - 1], 0), None, "{seam}");
            }
        }
    }

    #[test]
    fn polynomials_of_other_degrees_are_refused() {
        for polynomial in [0, 1, 0xff, 1 << 54, u64::MAX] {
            assert!(Chunker::new(polynomial).is_none(), "{polynomial:x}");
        }
        for polynomial in [0x100, 1 << 53] {
            assert!(Chunker::new(polynomial).is_some(), "{polynomial:x}");
        }
    }

    #[test]
    fn an_error_of_the_stream_comes_out() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("no"))
            }
        }
        let chunker = Chunker::new(0x3d_a335_8b4d_c173).unwrap();
        let content = vec![7; 600_000];
        let mut buffer = Vec::new();
        let mut chunks = chunker.chunks(content.as_slice().chain(Broken), &mut buffer);
        assert_eq!(chunks.next().unwrap_err().to_string(), "no");
    }
}
