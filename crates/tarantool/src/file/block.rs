//! Blocks: a head of 19 bytes, then rows, plain or compressed.
//!
//! Finds blocks in the bytes of a file ([`read_head`]), checks and decompresses them ([`Unpacker`]). Does not
//! know rows.
//!
//! A block is used whole or not at all: its checksum covers whole transactions. [`read_head`] reads the head
//! alone, so the blocks of a file are found without touching their content and unpacked on several threads.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::Damage;
use crate::file::header::FileKind;
use crate::msgpack::Reader;
use std::ops::Range;
use zstd::zstd_safe::{DCtx, get_error_name};

/// Bytes of a block's head.
pub const HEAD_BYTES: usize = 19;
/// The first bytes of a block that is not compressed.
pub const PLAIN: [u8; 4] = [0xd5, 0xba, 0x0b, 0xab];
/// The first bytes of a block that is compressed with zstd.
pub const COMPRESSED: [u8; 4] = [0xd5, 0xba, 0x0b, 0xba];
/// The last bytes of a file that was closed.
pub const END: [u8; 4] = [0xd5, 0x10, 0xad, 0xed];
/// Bytes of a block's payload, as stored and when decompressed.
pub const PAYLOAD_BYTES_MAX: usize = 1 << 31;
/// Bytes of a snapshot's block. Tarantool closes a block at 128 KiB, so a block longer than this contains a
/// row that is too long for a store.
pub const SNAPSHOT_PAYLOAD_BYTES_MAX: usize = 128 << 20;
/// The greatest ratio of decompressed to stored bytes. The format of zstd makes at most 128 KiB from 4 bytes.
const RATIO_MAX: usize = (128 << 10) / 4;
/// Decompressed size of a usual block: 128 KiB and one row.
const PAYLOAD_BYTES_USUAL: usize = 256 << 10;
/// Most memory for a decompressed block that is kept for the next one.
const PAYLOAD_BYTES_KEPT_MAX: usize = 16 << 20;

/// What is found at an offset of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A block.
    Block(BlockPlace),
    /// The mark of a closed file, with nothing after it.
    Eof,
    /// Nothing: the file ends without the mark.
    End,
}

/// The position of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockPlace {
    /// The offset of its head.
    pub offset: usize,
    /// The range of its payload. The next block begins at its end.
    pub payload: Range<usize>,
    /// Whether the payload is compressed.
    pub is_compressed: bool,
    /// The payload's checksum, as stored.
    pub checksum: u32,
}

/// Returns what is at `offset`. Reads only the head.
///
/// # Errors
/// Damage, if there is no head, or its payload is incomplete.
#[inline]
pub fn read_head(bytes: &[u8], offset: usize) -> Result<Step, Damage> {
    let rest = bytes.get(offset..).unwrap_or_default();
    let damage = |what| Damage::new(offset, what);
    let Some(magic) = rest.first_chunk::<4>() else {
        return if rest.is_empty() { Ok(Step::End) } else { Err(damage("the head of a block is cut off")) };
    };
    let is_compressed = match *magic {
        PLAIN => false,
        COMPRESSED => true,
        END if rest.len() == END.len() => return Ok(Step::Eof),
        END => return Err(damage("data follows the end mark")),
        _ => return Err(damage("neither a block nor the end mark begins here")),
    };
    let Some(head) = rest.first_chunk::<HEAD_BYTES>() else {
        return Err(damage("the head of a block is cut off"));
    };
    let wrong = |_| damage("the head of a block is broken");
    let mut reader = Reader::new(head.get(magic.len()..).unwrap_or_default());
    let length = reader.uint().map_err(wrong)?;
    reader.uint().map_err(wrong)?;
    let checksum = reader.uint().ok().and_then(|number| u32::try_from(number).ok());
    let checksum = checksum.ok_or_else(|| damage("the head of a block is broken"))?;
    if !reader.is_empty() {
        reader.skip().map_err(wrong)?;
    }
    let length = usize::try_from(length).ok().filter(|&length| length <= PAYLOAD_BYTES_MAX);
    let (Some(length), true) = (length, reader.is_empty()) else {
        return Err(damage("the head of a block is broken"));
    };
    let begin = offset.saturating_add(HEAD_BYTES);
    let end = begin.saturating_add(length);
    if end > bytes.len() {
        return Err(damage("a block is cut off"));
    }
    Ok(Step::Block(BlockPlace { offset, payload: begin..end, is_compressed, checksum }))
}

/// Returns the checksum of `bytes`: CRC-32C as the processor's instruction computes it, begun with 0 and not
/// inverted at the end.
pub fn checksum(bytes: &[u8]) -> u32 {
    // The library begins with all bits set and inverts at the end; both are undone.
    !crc32c::crc32c_append(u32::MAX, bytes)
}

/// Checks and decompresses blocks, one after the other. Each thread needs its own. It keeps its memory,
/// except that of a huge block.
pub struct Unpacker {
    zstd: Option<DCtx<'static>>,
    out: Vec<u8>,
    /// Bytes of the largest block that is unpacked.
    bytes_max: usize,
}

impl Default for Unpacker {
    /// Unpacks blocks of logs: the largest is the largest transaction.
    fn default() -> Unpacker {
        Unpacker::for_file(FileKind::Log)
    }
}

impl Unpacker {
    /// Returns an unpacker for this kind of file, with the limit of the largest block that such a file can
    /// have.
    pub fn for_file(kind: FileKind) -> Unpacker {
        let bytes_max = match kind {
            FileKind::Snapshot => SNAPSHOT_PAYLOAD_BYTES_MAX,
            _ => PAYLOAD_BYTES_MAX,
        };
        Unpacker { zstd: None, out: Vec::new(), bytes_max }
    }

    /// Returns the payload of a block: a part of `bytes`, or decompressed bytes that are valid until the next
    /// call.
    ///
    /// # Errors
    /// Damage, if the checksum is wrong, or the payload cannot be decompressed.
    pub fn unpack<'a>(&'a mut self, bytes: &'a [u8], place: &BlockPlace) -> Result<&'a [u8], Damage> {
        if self.out.capacity() > PAYLOAD_BYTES_KEPT_MAX {
            self.out = Vec::new();
        }
        let stored = stored(bytes, place)?;
        if !place.is_compressed && stored.len() <= self.bytes_max {
            return Ok(stored);
        }
        if !place.is_compressed {
            return Err(Damage::new(place.offset, self.too_large()));
        }
        match self.decompress(stored) {
            Ok(()) => Ok(&self.out),
            Err(what) => Err(Damage::new(place.payload.start, what)),
        }
    }

    /// Decompresses `stored` into the buffer. The frame does not state its size, so the buffer grows until
    /// the content fits. It starts at the size of Tarantool's blocks, so that usual blocks never make it
    /// grow. It grows only after zstd has filled it, and never beyond what zstd can make of `stored`.
    fn decompress(&mut self, stored: &[u8]) -> Result<(), &'static str> {
        let most = stored.len().saturating_mul(RATIO_MAX).min(self.bytes_max);
        let too_large = self.too_large();
        let zstd = self.zstd.get_or_insert_with(DCtx::create);
        let mut capacity = PAYLOAD_BYTES_USUAL.max(self.out.capacity());
        loop {
            self.out.clear();
            self.out.reserve_exact(capacity);
            match zstd.decompress(&mut self.out, stored) {
                Ok(_) if self.out.len() > self.bytes_max => return Err(too_large),
                Ok(_) => return Ok(()),
                Err(code) if get_error_name(code) == TOO_SMALL && capacity < most => {
                    capacity = capacity.saturating_mul(2).min(most);
                }
                Err(code) if get_error_name(code) == TOO_SMALL => return Err(too_large),
                Err(_) => return Err("a block cannot be decompressed"),
            }
        }
    }

    fn too_large(&self) -> &'static str {
        match self.bytes_max {
            SNAPSHOT_PAYLOAD_BYTES_MAX => "a block of a snapshot has over 128 MiB",
            _ => "a block has over 2 GiB when decompressed",
        }
    }
}

/// Checks a block without decompressing it.
pub(crate) fn check(bytes: &[u8], place: &BlockPlace) -> Result<(), Damage> {
    stored(bytes, place).map(|_| ())
}

/// Checks a payload and returns it as stored.
fn stored<'a>(bytes: &'a [u8], place: &BlockPlace) -> Result<&'a [u8], Damage> {
    let stored = bytes.get(place.payload.clone());
    let stored = stored.ok_or_else(|| Damage::new(place.offset, "a block is cut off"))?;
    if checksum(stored) != place.checksum {
        return Err(Damage::new(place.offset, "a block's checksum does not fit"));
    }
    Ok(stored)
}

/// The name of zstd's error for a buffer that is too small.
const TOO_SMALL: &str = "Destination buffer is too small";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_a_huge_block_is_not_kept() {
        let mut unpacker = Unpacker::default();
        let mut unpack = |length: usize, is_compressed: bool| {
            let payload = vec![7; length];
            let stored = match is_compressed {
                true => zstd::bulk::compress(&payload, 1).expect("there is memory"),
                false => payload.clone(),
            };
            let checksum = checksum(&stored);
            let place = BlockPlace { offset: 0, payload: 0..stored.len(), is_compressed, checksum };
            assert!(unpacker.unpack(&stored, &place).is_ok_and(|unpacked| unpacked == payload));
            unpacker.out.capacity()
        };
        assert!(unpack(PAYLOAD_BYTES_KEPT_MAX + 1, true) > PAYLOAD_BYTES_KEPT_MAX);
        assert_eq!(unpack(100, true), PAYLOAD_BYTES_USUAL);
        assert!(unpack(PAYLOAD_BYTES_KEPT_MAX, true) == PAYLOAD_BYTES_KEPT_MAX);
        assert_eq!(unpack(100, true), PAYLOAD_BYTES_KEPT_MAX);
        assert!(unpack(PAYLOAD_BYTES_KEPT_MAX + 1, true) > PAYLOAD_BYTES_KEPT_MAX);
        assert_eq!(unpack(100, false), 0);
    }
    /// Few stored bytes give few decompressed ones, however often zstd asks for a larger buffer.
    #[test]
    fn memory_is_taken_for_what_is_there() {
        let unpack = |kind: FileKind, stored: &[u8]| {
            let place = BlockPlace {
                offset: 7,
                payload: 0..stored.len(),
                is_compressed: true,
                checksum: checksum(stored),
            };
            let mut unpacker = Unpacker::for_file(kind);
            let found = unpacker.unpack(stored, &place).map(<[u8]>::len).map_err(|damage| damage.what);
            (found, unpacker.out.capacity())
        };
        let squeezed = |length: usize| zstd::bulk::compress(&vec![0; length], 1).expect("there is memory");
        // The largest content that zstd can make of so few bytes is accepted, and the frame is read to its
        // end.
        let stored = squeezed(100 << 20);
        assert!(stored.len() * RATIO_MAX >= 100 << 20, "{} bytes", stored.len());
        let (found, capacity) = unpack(FileKind::Log, &stored);
        assert!(found == Ok(100 << 20) && capacity <= 128 << 20, "{found:?}, {capacity}");
        // A truncated frame decompresses as far as it goes.
        let (found, capacity) = unpack(FileKind::Log, &stored[..stored.len() / 2]);
        assert!(
            found == Err("a block cannot be decompressed") && capacity <= 64 << 20,
            "{found:?}, {capacity}"
        );
        // The longest block of a snapshot has the longest row that a store takes, and some more rows.
        let stored = squeezed(SNAPSHOT_PAYLOAD_BYTES_MAX);
        assert_eq!(unpack(FileKind::Snapshot, &stored).0, Ok(SNAPSHOT_PAYLOAD_BYTES_MAX));
        let stored = squeezed(SNAPSHOT_PAYLOAD_BYTES_MAX + 1);
        let (found, capacity) = unpack(FileKind::Snapshot, &stored);
        assert_eq!(found, Err("a block of a snapshot has over 128 MiB"));
        assert!(capacity <= SNAPSHOT_PAYLOAD_BYTES_MAX, "{capacity}");
        assert_eq!(unpack(FileKind::Log, &stored).0, Ok(SNAPSHOT_PAYLOAD_BYTES_MAX + 1));
    }

    #[test]
    fn a_plain_block_of_a_snapshot_has_the_same_limit() {
        let bytes = vec![0; SNAPSHOT_PAYLOAD_BYTES_MAX + 1];
        let place = |length: usize| BlockPlace {
            offset: 7,
            payload: 0..length,
            is_compressed: false,
            checksum: checksum(&bytes[..length]),
        };
        let mut unpacker = Unpacker::for_file(FileKind::Snapshot);
        assert!(unpacker.unpack(&bytes, &place(SNAPSHOT_PAYLOAD_BYTES_MAX)).is_ok());
        let damage = Damage::new(7, "a block of a snapshot has over 128 MiB");
        assert_eq!(unpacker.unpack(&bytes, &place(SNAPSHOT_PAYLOAD_BYTES_MAX + 1)), Err(damage));
    }
}
