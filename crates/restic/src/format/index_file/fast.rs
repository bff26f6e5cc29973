//! The fast path for a blob in an index file: exactly the bytes that restic and rustic write.
//!
//! Input: JSON that begins with a blob. Output: the blob and the bytes it took, or `None` for any other
//! layout; [`scan`](super::scan) then reads it and decides whether it is valid.

use crate::encoding::hex;
use crate::encoding::id::Id;
use crate::format::blob::{BlobKind, PackedBlob};

/// Reads a blob at the beginning of `json`. Returns it with its length in the file.
pub(super) fn blob(json: &[u8]) -> Option<(PackedBlob, usize)> {
    let rest = json.strip_prefix(b"{\"id\":\"")?;
    let (digits, rest) = rest.split_first_chunk()?;
    let rest = rest.strip_prefix(b"\",\"type\":\"")?;
    let (kind, rest) = rest.split_first_chunk::<4>()?;
    let kind = match kind {
        b"data" => BlobKind::Data,
        b"tree" => BlobKind::Tree,
        _ => return None,
    };
    let (offset, rest) = number(rest.strip_prefix(b"\",\"offset\":")?)?;
    let (length, rest) = number(rest.strip_prefix(b",\"length\":")?)?;
    let (uncompressed_length, rest) = match rest.strip_prefix(b",\"uncompressed_length\":") {
        Some(rest) => number(rest)?,
        None => (0, rest),
    };
    let rest = rest.strip_prefix(b"}")?;
    let id = Id(hex::decode(digits)?);
    Some((PackedBlob { kind, id, offset, length, uncompressed_length }, json.len() - rest.len()))
}

const ZEROS: u64 = u64::from_ne_bytes([b'0'; 8]);

/// Reads a number of at most 8 digits, all of them at once: the ends of numbers are nothing that a processor
/// could foresee.
fn number(json: &[u8]) -> Option<(u32, &[u8])> {
    let digits = u64::from_le_bytes(*json.first_chunk()?) ^ ZEROS;
    // The highest bit of each byte is set if the byte is 10 or more. A carry only affects later bytes, and
    // only comes from a byte that is itself no digit.
    let others =
        (digits.wrapping_add(u64::from_ne_bytes([0x76; 8])) | digits) & u64::from_ne_bytes([0x80; 8]);
    let count = others.trailing_zeros() / 8;
    if count == 0 || (count > 1 && digits & 0xff == 0) {
        return None;
    }
    // Zeros before it make it 8 digits; then pairs, fours and all of them are added up.
    let digits = digits << (64 - 8 * count);
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let low = (pairs & 0xff_0000_00ff).wrapping_mul(100 + (1_000_000 << 32));
    let high = (pairs >> 16 & 0xff_0000_00ff).wrapping_mul(1 + (10_000 << 32));
    let value = u32::try_from(low.wrapping_add(high) >> 32).ok()?;
    // A ninth digit, a fraction or an exponent may follow; the text expected next does not match then.
    Some((value, json.get(count as usize..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_up_to_8_digits() {
        let mut step = 1;
        let mut value = 0_u32;
        while value < 100_000_000 {
            let text = format!("{value},\"length\"");
            assert_eq!(number(text.as_bytes()), Some((value, &b",\"length\""[..])), "{text}");
            value += step;
            step = step * 5 / 4 + 1;
        }
        assert_eq!(number(b"99999999}]}]}\n"), Some((99_999_999, &b"}]}]}\n"[..])));
    }

    /// Reads a number that ends where numbers end.
    fn whole(json: &[u8]) -> Option<u32> {
        let (value, rest) = number(json)?;
        matches!(rest.first(), Some(b',' | b'}')).then_some(value)
    }

    #[test]
    fn other_numbers_are_left_to_others() {
        for text in [
            "",
            ",",
            "-1,2345678",
            "01,2345678",
            "100000000,12345678",
            "1 ,2345678",
            "1.0,2345678",
            "1e1}2345678",
            "12345678",
            "1234567",
        ] {
            assert_eq!(whole(text.as_bytes()), None, "{text}");
        }
        for letter in (0..=u8::MAX).filter(|letter| !letter.is_ascii_digit()) {
            for place in 0..8 {
                let mut text = *b"12345678,";
                text[place] = letter;
                let ends = matches!(letter, b',' | b'}') && place > 0;
                assert_eq!(whole(&text).is_some(), ends, "{letter} at {place}");
            }
        }
    }
}
