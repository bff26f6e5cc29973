//! Ids of blobs and files: SHA-256, as 32 bytes or 64 hexadecimal digits.

use sha2::{Digest, Sha256};
use std::fmt::{Debug, Display, Formatter};
use std::str::FromStr;

/// The SHA-256 of a blob's content, or of a file as it is stored.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub [u8; Id::BYTES]);

impl Id {
    /// Length of an id in bytes.
    pub const BYTES: usize = 32;
    /// Digits that are enough for people to tell files apart.
    const SHORT_DIGITS: usize = 8;

    /// Returns the name of `bytes`: their SHA-256.
    pub fn of(bytes: &[u8]) -> Id {
        Id(Sha256::digest(bytes).into())
    }

    /// Returns the first digits, as shown to people.
    pub fn short(&self) -> String {
        let mut digits = self.to_string();
        digits.truncate(Id::SHORT_DIGITS);
        digits
    }
}

impl Display for Id {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        for byte in self.0 {
            write!(formatter, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl Debug for Id {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        Display::fmt(self, formatter)
    }
}

/// A text that is not an [`Id`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an id has 64 hexadecimal digits, in lower case")]
pub struct NotAnId;

impl FromStr for Id {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Id, NotAnId> {
        let digits = text.as_bytes();
        if digits.len() != 2 * Id::BYTES {
            return Err(NotAnId);
        }
        let mut id = Id::default();
        for (byte, pair) in id.0.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Ok(id)
    }
}

fn digit(letter: u8) -> Result<u8, NotAnId> {
    match letter {
        b'0'..=b'9' => Ok(letter - b'0'),
        b'a'..=b'f' => Ok(letter - b'a' + 10),
        _ => Err(NotAnId),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_there_and_back() {
        let mut id = Id::default();
        for (place, byte) in (0_u8..).zip(&mut id.0) {
            *byte = place.wrapping_mul(37);
        }
        let text = id.to_string();
        assert!(text.starts_with("00254a6f94b9de03") && text.len() == 64, "{text}");
        assert_eq!((text.parse(), id.short()), (Ok(id), "00254a6f".to_owned()));
    }

    #[test]
    fn a_name_is_the_sha256_of_what_it_names() {
        assert_eq!(
            Id::of(b"abc").to_string(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn other_text_is_no_id() {
        for text in ["", "00", &"0".repeat(63), &"A".repeat(64), &"g".repeat(64), &"é".repeat(32)] {
            assert_eq!(text.parse::<Id>(), Err(NotAnId), "{text}");
        }
    }
}
