//! Places in a text, as clients count them: in code units of UTF-16.
//!
//! Input: a text and a place, in bytes or in code units. Output: the other one. Does not know what is there.

use std::ops::Range;

/// Returns the beginning and the end of a range of bytes.
pub(super) fn in_utf16(text: &str, range: &Range<usize>) -> [usize; 2] {
    let units = |bytes: usize| {
        let before = text.get(..text.floor_char_boundary(bytes)).unwrap_or_default();
        before.chars().map(char::len_utf16).sum()
    };
    [units(range.start), units(range.end)]
}

/// Returns the byte at so many code units. A place within a character is that of the character. `None`, if
/// the text is shorter.
pub(super) fn in_bytes(text: &str, units: u64) -> Option<usize> {
    let mut left = units;
    for (place, character) in text.char_indices() {
        let units = character.len_utf16() as u64;
        if left < units {
            return Some(place);
        }
        left -= units;
    }
    (left == 0).then_some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_have_one_or_two_units() {
        let text = "aé😀b";
        for (bytes, units) in [(0, 0), (1, 1), (3, 2), (7, 4), (8, 5)] {
            assert_eq!(in_utf16(text, &(bytes..bytes)), [units, units]);
            assert_eq!(in_bytes(text, units as u64), Some(bytes));
        }
        assert_eq!(in_bytes(text, 3), Some(3));
        assert_eq!((in_bytes(text, 6), in_bytes(text, u64::MAX)), (None, None));
        assert_eq!(in_utf16(text, &(2..99)), [1, 5]);
    }
}
