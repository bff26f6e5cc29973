//! Measures values without reading them.
//!
//! Input: bytes and a number of values. Output: how many bytes the values take.

use crate::error::Damage;

/// The error for a value whose bytes end too early.
pub(super) const CUT_OFF: &str = "a value is cut off";

/// The shape of a value by its first byte: how many bytes come before its nested values, and how many nested
/// values there are.
#[derive(Clone, Copy)]
struct Shape {
    bytes: u8,
    /// Nested values; [`LENGTH_FOLLOWS`] or [`NEVER`] if the first byte alone does not state it.
    values: u8,
}

/// The first byte is followed by a length.
const LENGTH_FOLLOWS: u8 = 0xfe;
/// No value begins with this byte.
const NEVER: u8 = 0xff;

/// The shape for each first byte: a look-up instead of a chain of comparisons.
static SHAPES: [Shape; 256] = shapes();

const fn shapes() -> [Shape; 256] {
    let mut shapes = [Shape { bytes: 1, values: 0 }; 256];
    let mut marker = 0_u8;
    loop {
        let low = marker & 0x1f;
        shapes[marker as usize] = match marker {
            0x80..=0x8f => Shape { bytes: 1, values: 2 * (low & 0x0f) },
            0x90..=0x9f => Shape { bytes: 1, values: low & 0x0f },
            0xa0..=0xbf => Shape { bytes: 1 + low, values: 0 },
            0xc1 => Shape { bytes: 1, values: NEVER },
            0xca => Shape { bytes: 5, values: 0 },
            0xcb => Shape { bytes: 9, values: 0 },
            0xcc..=0xcf => Shape { bytes: 1 + (1 << (marker - 0xcc)), values: 0 },
            0xd0..=0xd3 => Shape { bytes: 1 + (1 << (marker - 0xd0)), values: 0 },
            0xd4..=0xd8 => Shape { bytes: 2 + (1 << (marker - 0xd4)), values: 0 },
            0xc4..=0xc9 | 0xd9..=0xdf => Shape { bytes: 0, values: LENGTH_FOLLOWS },
            _ => Shape { bytes: 1, values: 0 },
        };
        if marker == u8::MAX {
            return shapes;
        }
        marker += 1;
    }
}

/// Returns how many bytes the first `count` values of `bytes` take.
#[inline]
#[deny(clippy::arithmetic_side_effects)]
pub(super) fn length(bytes: &[u8], count: u64) -> Result<usize, Damage> {
    let mut at = 0_usize;
    let mut open = count;
    while open > 0 {
        let Some(&marker) = bytes.get(at) else { return Err(Damage::new(bytes.len(), CUT_OFF)) };
        let shape = SHAPES[usize::from(marker)];
        if shape.values < LENGTH_FOLLOWS {
            // Neither can overflow: `at` is within `bytes`, and each open value needs a byte of them.
            at = at.wrapping_add(usize::from(shape.bytes));
            open = open.wrapping_sub(1).wrapping_add(u64::from(shape.values));
        } else {
            let (head, body, values) = long(bytes, at, marker)?;
            at = at.saturating_add(head).saturating_add(body);
            open = open.wrapping_sub(1).saturating_add(values);
        }
    }
    if at > bytes.len() { Err(Damage::new(bytes.len(), CUT_OFF)) } else { Ok(at) }
}

/// Returns the sizes of a value with an explicit length: bytes of the head, bytes after it, nested values.
#[deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
fn long(bytes: &[u8], at: usize, marker: u8) -> Result<(usize, usize, u64), Damage> {
    let (width, extra) = match marker {
        0xc4 | 0xd9 => (1, 0),
        0xc5 | 0xda | 0xdc | 0xde => (2, 0),
        0xc6 | 0xdb | 0xdd | 0xdf => (4, 0),
        0xc7 => (1, 1),
        0xc8 => (2, 1),
        0xc9 => (4, 1),
        _ => return Err(Damage::new(at, "a byte is here that no value begins with")),
    };
    let begin = at.saturating_add(1);
    let Some(written) = bytes.get(begin..begin.saturating_add(width)) else {
        return Err(Damage::new(bytes.len(), CUT_OFF));
    };
    let number = written.iter().fold(0_u32, |number, &byte| number << 8 | u32::from(byte));
    let head = width.saturating_add(1);
    Ok(match marker {
        0xdc | 0xdd => (head, 0, u64::from(number)),
        0xde | 0xdf => (head, 0, u64::from(number).saturating_mul(2)),
        _ => (head, (number as usize).saturating_add(extra), 0),
    })
}
