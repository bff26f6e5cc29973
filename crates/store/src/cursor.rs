//! Reads untrusted bytes piece by piece, and checks every step.
//!
//! Input: bytes that may be cut or damaged. Output: integers and slices, or a [`Damage`] with its offset.
//! Does not depend on what is read.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::Damage;

/// A place in bytes that only moves forward.
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Cursor<'a> {
        Cursor { bytes, offset: 0 }
    }

    /// Returns the offset of the next unread byte.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    /// Returns how many bytes are left.
    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len().saturating_sub(self.offset)
    }

    /// Returns damage at this place.
    pub(crate) fn damage(&self, what: impl Into<String>) -> Damage {
        Damage::new(self.offset, what)
    }

    /// Returns the next `length` bytes. `what` names them in the error if bytes are missing.
    pub(crate) fn take(&mut self, length: usize, what: &str) -> Result<&'a [u8], Damage> {
        let end = self.offset.checked_add(length);
        let Some(piece) = end.and_then(|end| self.bytes.get(self.offset..end)) else {
            return Err(
                self.damage(format!("{what} is cut: {length} bytes wanted, {} left", self.remaining()))
            );
        };
        self.offset = self.offset.saturating_add(length);
        Ok(piece)
    }

    /// Returns the next `N` bytes.
    pub(crate) fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Damage> {
        let piece = self.take(N, what)?;
        piece.try_into().map_err(|_| self.damage(what))
    }

    pub(crate) fn u8(&mut self, what: &str) -> Result<u8, Damage> {
        Ok(u8::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u16(&mut self, what: &str) -> Result<u16, Damage> {
        Ok(u16::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u32(&mut self, what: &str) -> Result<u32, Damage> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u64(&mut self, what: &str) -> Result<u64, Damage> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn i32(&mut self, what: &str) -> Result<i32, Damage> {
        Ok(i32::from_le_bytes(self.array(what)?))
    }

    /// Returns the next LEB128 number of at most 32 bits. Accepts only the shortest form, so that each
    /// number has one encoding.
    pub(crate) fn varint(&mut self, what: &str) -> Result<u32, Damage> {
        let mut value = 0_u64;
        for position in 0_u32..5 {
            let byte = self.u8(what)?;
            value |= u64::from(byte & 0x7f) << position.saturating_mul(7);
            if byte & 0x80 == 0 {
                if byte == 0 && position > 0 {
                    return Err(self.damage(format!("{what} is not in its shortest form")));
                }
                return u32::try_from(value).map_err(|_| self.damage(format!("{what} is over 32 bits")));
            }
        }
        Err(self.damage(format!("{what} is over 32 bits")))
    }

    /// Refuses unread bytes after the end.
    pub(crate) fn finish(self, what: &str) -> Result<(), Damage> {
        match self.remaining() {
            0 => Ok(()),
            extra => Err(self.damage(format!("{extra} bytes follow the end of {what}"))),
        }
    }
}

/// Appends `value` as LEB128.
pub(crate) fn put_varint(out: &mut Vec<u8>, value: u32) {
    let mut rest = value;
    while rest >= 0x80 {
        out.push(low_byte(rest) | 0x80);
        rest >>= 7;
    }
    out.push(low_byte(rest));
}

fn low_byte(value: u32) -> u8 {
    let [low, ..] = value.to_le_bytes();
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_come_back_and_have_one_form() {
        for value in [0, 1, 127, 128, 300, 16_383, 16_384, u32::MAX - 1, u32::MAX] {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, value);
            let mut cursor = Cursor::new(&bytes);
            assert_eq!(cursor.varint("number"), Ok(value));
            assert!(cursor.finish("it").is_ok());
        }
        for bad in [&[0x80, 0x00][..], &[0xff, 0xff, 0xff, 0xff, 0x1f], &[0x80; 6], &[0x80]] {
            assert!(Cursor::new(bad).varint("number").is_err(), "{bad:?}");
        }
    }

    #[test]
    fn what_is_cut_is_said_with_its_place() {
        let mut cursor = Cursor::new(&[1, 2, 3]);
        assert_eq!(cursor.u16("head"), Ok(0x0201));
        let damage = cursor.u32("tail").unwrap_err();
        assert_eq!(damage, Damage { offset: 2, what: "tail is cut: 4 bytes wanted, 1 left".into() });
        assert!(cursor.finish("record").is_err());
    }
}
