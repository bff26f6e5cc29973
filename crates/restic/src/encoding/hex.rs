//! Hexadecimal digits of ids, fast: index files hold millions of them.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Decodes 64 digits. Returns `None` if there is anything else among them. Accepts upper case, as restic
/// does.
///
/// Without tables and branches, so that the compiler works on 16 digits or more at once.
pub(crate) fn decode(digits: &[u8; 64]) -> Option<[u8; 32]> {
    let mut values = [0; 64];
    let mut is_wrong = false;
    for (value, digit) in values.iter_mut().zip(digits) {
        let number = digit.wrapping_sub(b'0');
        let letter = (digit | 0x20).wrapping_sub(b'a');
        *value = if number < 10 { number } else { letter.wrapping_add(10) };
        is_wrong |= (number >= 10) & (letter >= 6);
    }
    let mut bytes = [0; 32];
    for (byte, [high, low]) in bytes.iter_mut().zip(values.as_chunks().0) {
        *byte = high << 4 | low;
    }
    (!is_wrong).then_some(bytes)
}

/// Returns the 64 digits of 32 bytes, in lower case.
pub(crate) fn encode(bytes: &[u8; 32]) -> [u8; 64] {
    let mut digits = [0; 64];
    for (pair, byte) in digits.as_chunks_mut().0.iter_mut().zip(bytes) {
        *pair = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_place_comes_back() {
        for value in 0..=u8::MAX {
            let mut bytes = [0; 32];
            for (place, byte) in (0_u8..).zip(&mut bytes) {
                *byte = value.wrapping_add(place * 7);
            }
            let digits = encode(&bytes);
            let expected: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(std::str::from_utf8(&digits), Ok(expected.as_str()));
            assert_eq!(decode(&digits), Some(bytes));
            assert_eq!(decode(&digits.map(|digit| digit.to_ascii_uppercase())), Some(bytes));
        }
    }

    #[test]
    fn every_other_letter_at_every_place_is_noticed() {
        for place in 0..64 {
            for letter in 0..=u8::MAX {
                let mut digits = [b'5'; 64];
                digits[place] = letter;
                assert_eq!(decode(&digits).is_some(), letter.is_ascii_hexdigit(), "{letter} at {place}");
            }
        }
    }
}
