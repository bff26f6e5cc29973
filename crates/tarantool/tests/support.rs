//! Shared by several tests: blocks and rows made without the writer that is tested.

use tarantool::msgpack::{put_array_len, put_str, put_uint};
use tarantool::{COMPRESSED, checksum};

/// Random-looking numbers that are the same each time.
pub(crate) struct Sequence(pub(crate) u64);

impl Sequence {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
}

/// Returns a block with `payload`. All numbers in its head have 32 bits.
pub(crate) fn raw_block(magic: [u8; 4], payload: &[u8]) -> Vec<u8> {
    let stored =
        if magic == COMPRESSED { zstd::bulk::compress(payload, 1).unwrap() } else { payload.to_vec() };
    let number = |number: u32| [&[0xce][..], &number.to_be_bytes()].concat();
    let length = number(u32::try_from(stored.len()).unwrap());
    [&magic[..], &length, &number(0), &number(checksum(&stored)), &stored].concat()
}

/// Returns a tuple of a number and a text.
pub(crate) fn tuple(number: u64, text: &str) -> Vec<u8> {
    let mut tuple = Vec::new();
    put_array_len(&mut tuple, 2);
    put_uint(&mut tuple, number);
    put_str(&mut tuple, text.as_bytes());
    tuple
}

/// Reports how many bytes are done, or how many items if bytes are not counted.
pub(crate) struct Watch<F>(pub(crate) F);

impl<F: Fn(u64) + Send + Sync> work::Progress for Watch<F> {
    fn add(&self, items: u64, bytes: u64) {
        (self.0)(if bytes > 0 { bytes } else { items });
    }
}
