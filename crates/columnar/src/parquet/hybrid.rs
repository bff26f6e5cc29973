//! Small numbers in few bits: Parquet's hybrid of runs and bit packing.
//!
//! Input: numbers, and how many bits each needs. Output: bytes. A run of equal numbers is its length and the
//! number; others are packed in groups of eight.
//! <https://parquet.apache.org/docs/file-format/data-pages/encodings/>

use super::thrift::put_varint;

/// Numbers in a group, and the shortest run.
const GROUP: usize = 8;

/// Returns how many bits numbers up to `highest` need.
pub(super) fn bits(highest: u32) -> u8 {
    let bits = u32::BITS - highest.leading_zeros();
    u8::try_from(bits).unwrap_or(u8::MAX)
}

/// Appends numbers of so many bits.
pub(super) fn put(values: &[u32], bits: u8, out: &mut Vec<u8>) {
    let mut rest = values;
    while let Some(first) = rest.first() {
        let run = rest.iter().take_while(|value| *value == first).count();
        if run >= GROUP {
            put_varint((run as u64) << 1, out);
            let bytes = first.to_le_bytes();
            out.extend_from_slice(&bytes[..usize::from(bits.div_ceil(8))]);
            rest = &rest[run..];
            continue;
        }
        let (packed, after) = rest.split_at(packed_count(rest));
        put_varint((packed.len().div_ceil(GROUP) as u64) << 1 | 1, out);
        packed.chunks(GROUP).for_each(|group| put_group(group, bits, out));
        rest = after;
    }
}

/// Returns how many numbers come before the next run that begins at the beginning of a group.
fn packed_count(values: &[u32]) -> usize {
    let is_run = |group: &[u32]| group.len() == GROUP && group.iter().all(|value| *value == group[0]);
    let groups = values.chunks(GROUP).take_while(|group| !is_run(group)).count();
    values.len().min(groups * GROUP)
}

/// Appends a group, filled up with zeros, the lowest bit first.
fn put_group(group: &[u32], bits: u8, out: &mut Vec<u8>) {
    let (mut waiting, mut count) = (0_u64, 0);
    for place in 0..GROUP {
        waiting |= u64::from(group.get(place).copied().unwrap_or(0)) << count;
        count += u32::from(bits);
        while count >= 8 {
            out.push(waiting.to_le_bytes()[0]);
            waiting >>= 8;
            count -= 8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads numbers, slowly.
    fn read(mut bytes: &[u8], bits: u8, count: usize) -> Vec<u32> {
        let mut values = Vec::new();
        while values.len() < count {
            let (mut head, mut shift) = (0_usize, 0);
            loop {
                let byte = bytes[0];
                bytes = &bytes[1..];
                head |= usize::from(byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    break;
                }
            }
            if head & 1 == 0 {
                let width = usize::from(bits.div_ceil(8));
                let value = bytes[..width].iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
                bytes = &bytes[width..];
                values.extend(std::iter::repeat_n(value, head >> 1));
            } else {
                let length = (head >> 1) * usize::from(bits);
                for number in 0..(head >> 1) * GROUP {
                    let bit = |at: usize| u32::from(bytes[at / 8] >> (at % 8) & 1);
                    let from = number * usize::from(bits);
                    values.push((0..usize::from(bits)).map(|place| bit(from + place) << place).sum());
                }
                bytes = &bytes[length..];
            }
        }
        assert!(bytes.is_empty() && values[count..].iter().all(|value| *value == 0));
        values.truncate(count);
        values
    }

    #[test]
    fn numbers_come_back() {
        let mut state = 1_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for bits in 1..=17_u8 {
            for _ in 0..40 {
                let mut values = Vec::new();
                for _ in 0..random(12) {
                    let value = u32::try_from(random(1 << bits)).unwrap();
                    let run = usize::try_from(random(30)).unwrap();
                    values.extend(std::iter::repeat_n(value, if run > 20 { 1 } else { run }));
                }
                let mut out = Vec::new();
                put(&values, bits, &mut out);
                assert_eq!(read(&out, bits, values.len()), values, "{bits} bits");
            }
        }
    }

    #[test]
    fn a_long_run_takes_few_bytes() {
        let mut out = Vec::new();
        put(&[1; 30_000], 1, &mut out);
        assert_eq!(out, [0xe0, 0xd4, 3, 1]);
    }

    #[test]
    fn numbers_need_the_bits_of_the_highest() {
        assert_eq!([0, 1, 2, 3, 4, 255, 256, u32::MAX].map(bits), [0, 1, 2, 2, 3, 8, 9, 32]);
    }
}
