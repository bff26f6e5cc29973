//! Reads msgpack values one after the other.
//!
//! See the documentation of `msgpack`.

use super::skip::{self, CUT_OFF};
use crate::error::Damage;

/// The result of reading a value.
pub type Result<T> = std::result::Result<T, Damage>;

/// The kind of the next value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Nil.
    Nil,
    /// True or false.
    Boolean,
    /// A whole number from 0 to 2^64 - 1.
    Unsigned,
    /// A whole number written with a sign, from -2^63 to 2^63 - 1.
    Signed,
    /// A floating-point number of 32 bits.
    Float,
    /// A floating-point number of 64 bits.
    Double,
    /// Text, not verified to be UTF-8.
    String,
    /// Bytes.
    Binary,
    /// A length, then that many values.
    Array,
    /// A length, then that many pairs of values.
    Map,
    /// An extension: a type number and bytes.
    Extension,
    /// A byte with which no value begins.
    Never,
}

/// A number of any kind, exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A whole number from 0.
    Unsigned(u64),
    /// A whole number written with a sign.
    Signed(i64),
    /// A floating-point number of 32 bits.
    Float(f32),
    /// A floating-point number of 64 bits.
    Double(f64),
}

/// Reads values one after the other. An error leaves its position unchanged.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
    length: usize,
}

#[deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
impl<'a> Reader<'a> {
    /// Returns a reader at the beginning of `bytes`.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes, length: bytes.len() }
    }

    /// Returns how many bytes were read.
    #[inline]
    pub fn offset(&self) -> usize {
        self.length.saturating_sub(self.rest.len())
    }

    /// Returns the bytes that were not read yet.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Returns whether everything was read.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns damage at the current position.
    #[cold]
    pub fn damage(&self, what: &'static str) -> Damage {
        Damage::new(self.offset(), what)
    }

    /// Returns the kind of the next value.
    ///
    /// # Errors
    /// At the end of the bytes.
    #[inline]
    pub fn peek(&self) -> Result<Class> {
        match self.rest.first() {
            Some(&marker) => Ok(class(marker)),
            None => Err(self.damage(CUT_OFF)),
        }
    }

    /// Reads the length of an array, whose values follow.
    ///
    /// # Errors
    /// If the next value is of another kind, or missing.
    #[inline]
    pub fn array_len(&mut self) -> Result<u32> {
        match self.rest.first() {
            Some(&marker @ 0x90..=0x9f) => self.single(u32::from(marker & 0x0f)),
            Some(0xdc) => self.fixed().map(|bytes| u32::from(u16::from_be_bytes(bytes))),
            Some(0xdd) => self.fixed().map(u32::from_be_bytes),
            _ => Err(self.damage("an array is expected")),
        }
    }

    /// Reads the length of a map, whose keys and values follow.
    ///
    /// # Errors
    /// If the next value is of another kind, or missing.
    #[inline]
    pub fn map_len(&mut self) -> Result<u32> {
        match self.rest.first() {
            Some(&marker @ 0x80..=0x8f) => self.single(u32::from(marker & 0x0f)),
            Some(0xde) => self.fixed().map(|bytes| u32::from(u16::from_be_bytes(bytes))),
            Some(0xdf) => self.fixed().map(u32::from_be_bytes),
            _ => Err(self.damage("a map is expected")),
        }
    }

    /// Reads a whole number that is written without a sign.
    ///
    /// # Errors
    /// If the next value is of another kind, or missing.
    #[inline]
    pub fn uint(&mut self) -> Result<u64> {
        match self.rest.first() {
            Some(&marker @ 0x00..=0x7f) => self.single(u64::from(marker)),
            Some(0xcc) => self.fixed().map(|bytes| u64::from(u8::from_be_bytes(bytes))),
            Some(0xcd) => self.fixed().map(|bytes| u64::from(u16::from_be_bytes(bytes))),
            Some(0xce) => self.fixed().map(|bytes| u64::from(u32::from_be_bytes(bytes))),
            Some(0xcf) => self.fixed().map(u64::from_be_bytes),
            _ => Err(self.damage("a number without a sign is expected")),
        }
    }

    /// Reads a whole number, with or without a sign. 128 bits hold both kinds.
    ///
    /// # Errors
    /// If the next value is of another kind, or missing.
    #[inline]
    pub fn int(&mut self) -> Result<i128> {
        match self.number_of_whole()? {
            Number::Unsigned(number) => Ok(i128::from(number)),
            Number::Signed(number) => Ok(i128::from(number)),
            Number::Float(_) | Number::Double(_) => Err(self.damage("a whole number is expected")),
        }
    }

    /// Reads a number of any kind.
    ///
    /// # Errors
    /// If the next value is of another kind, or missing.
    #[inline]
    pub fn number(&mut self) -> Result<Number> {
        match self.rest.first() {
            Some(0xca) => self.fixed().map(|bytes| Number::Float(f32::from_be_bytes(bytes))),
            Some(0xcb) => self.fixed().map(|bytes| Number::Double(f64::from_be_bytes(bytes))),
            _ => self.number_of_whole(),
        }
    }

    #[inline]
    fn number_of_whole(&mut self) -> Result<Number> {
        let signed = |number: i64| Number::Signed(number);
        match self.rest.first() {
            Some(&marker @ 0xe0..=0xff) => self.single(signed(i64::from(i8::from_be_bytes([marker])))),
            Some(0xd0) => self.fixed().map(|bytes| signed(i64::from(i8::from_be_bytes(bytes)))),
            Some(0xd1) => self.fixed().map(|bytes| signed(i64::from(i16::from_be_bytes(bytes)))),
            Some(0xd2) => self.fixed().map(|bytes| signed(i64::from(i32::from_be_bytes(bytes)))),
            Some(0xd3) => self.fixed().map(|bytes| signed(i64::from_be_bytes(bytes))),
            Some(0x00..=0x7f | 0xcc..=0xcf) => self.uint().map(Number::Unsigned),
            _ => Err(self.damage("a number is expected")),
        }
    }

    /// Reads text as bytes, which are not verified to be UTF-8.
    ///
    /// # Errors
    /// If the next value is of another kind, or missing.
    #[inline]
    pub fn str(&mut self) -> Result<&'a [u8]> {
        let mut ahead = *self;
        let length = match self.rest.first() {
            Some(&marker @ 0xa0..=0xbf) => ahead.single(u32::from(marker & 0x1f))?,
            Some(0xd9) => u32::from(u8::from_be_bytes(ahead.fixed()?)),
            Some(0xda) => u32::from(u16::from_be_bytes(ahead.fixed()?)),
            Some(0xdb) => u32::from_be_bytes(ahead.fixed()?),
            _ => return Err(self.damage("text is expected")),
        };
        self.jump(ahead, length)
    }

    /// Reads bytes.
    ///
    /// # Errors
    /// If the next value is of another kind, or missing.
    #[inline]
    pub fn bin(&mut self) -> Result<&'a [u8]> {
        let mut ahead = *self;
        let length = match self.rest.first() {
            Some(0xc4) => u32::from(u8::from_be_bytes(ahead.fixed()?)),
            Some(0xc5) => u32::from(u16::from_be_bytes(ahead.fixed()?)),
            Some(0xc6) => u32::from_be_bytes(ahead.fixed()?),
            _ => return Err(self.damage("bytes are expected")),
        };
        self.jump(ahead, length)
    }

    /// Reads an extension: the number of its type, and its bytes.
    ///
    /// # Errors
    /// If the next value is of another kind, or missing.
    #[inline]
    pub fn ext(&mut self) -> Result<(i8, &'a [u8])> {
        let mut ahead = *self;
        let length = match self.rest.first() {
            Some(0xc7) => u32::from(u8::from_be_bytes(ahead.fixed()?)),
            Some(0xc8) => u32::from(u16::from_be_bytes(ahead.fixed()?)),
            Some(0xc9) => u32::from_be_bytes(ahead.fixed()?),
            Some(&marker @ 0xd4..=0xd8) => {
                let power = u32::from(marker).saturating_sub(0xd4);
                ahead.single(1_u32.checked_shl(power).unwrap_or(0))?
            }
            _ => return Err(self.damage("an extension is expected")),
        };
        let Some((&number, rest)) = ahead.rest.split_first() else { return Err(self.damage(CUT_OFF)) };
        ahead.rest = rest;
        let bytes = self.jump(ahead, length)?;
        Ok((i8::from_be_bytes([number]), bytes))
    }

    /// Reads true or false.
    ///
    /// # Errors
    /// If the next value is of another kind, or missing.
    #[inline]
    pub fn boolean(&mut self) -> Result<bool> {
        match self.rest.first() {
            Some(0xc2) => self.single(false),
            Some(0xc3) => self.single(true),
            _ => Err(self.damage("true or false is expected")),
        }
    }

    /// Reads nil.
    ///
    /// # Errors
    /// If the next value is of another kind, or missing.
    #[inline]
    pub fn nil(&mut self) -> Result<()> {
        match self.rest.first() {
            Some(0xc0) => self.single(()),
            _ => Err(self.damage("nil is expected")),
        }
    }

    /// Skips the next value with everything nested in it, and returns its bytes.
    ///
    /// # Errors
    /// If the value is cut off, or contains a byte with which no value begins.
    #[inline]
    pub fn skip(&mut self) -> Result<&'a [u8]> {
        self.skip_many(1)
    }

    /// Skips `count` values and returns their bytes.
    ///
    /// # Errors
    /// Same as [`skip`](Reader::skip).
    #[inline]
    pub fn skip_many(&mut self, count: u64) -> Result<&'a [u8]> {
        match skip::length(self.rest, count).map(|length| self.rest.split_at_checked(length)) {
            Ok(Some((values, rest))) => {
                self.rest = rest;
                Ok(values)
            }
            Ok(None) => Err(self.damage(CUT_OFF)),
            Err(damage) => Err(damage.behind(self.offset())),
        }
    }

    /// Reads a value of a single byte.
    #[inline]
    fn single<T>(&mut self, value: T) -> Result<T> {
        self.rest = self.rest.get(1..).unwrap_or_default();
        Ok(value)
    }

    /// Reads the first byte and the `N` bytes after it.
    #[inline]
    fn fixed<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.rest.get(1..).and_then(<[u8]>::split_first_chunk::<N>);
        let Some((bytes, rest)) = bytes else { return Err(self.damage(CUT_OFF)) };
        self.rest = rest;
        Ok(*bytes)
    }

    /// Reads `length` bytes at `ahead`.
    #[inline]
    fn jump(&mut self, ahead: Reader<'a>, length: u32) -> Result<&'a [u8]> {
        let Some((bytes, rest)) = ahead.rest.split_at_checked(length as usize) else {
            return Err(self.damage(CUT_OFF));
        };
        self.rest = rest;
        Ok(bytes)
    }
}

/// Returns the kind of a value from its first byte.
#[inline]
fn class(marker: u8) -> Class {
    match marker {
        0x00..=0x7f | 0xcc..=0xcf => Class::Unsigned,
        0x80..=0x8f | 0xde..=0xdf => Class::Map,
        0x90..=0x9f | 0xdc..=0xdd => Class::Array,
        0xa0..=0xbf | 0xd9..=0xdb => Class::String,
        0xc0 => Class::Nil,
        0xc1 => Class::Never,
        0xc2..=0xc3 => Class::Boolean,
        0xc4..=0xc6 => Class::Binary,
        0xc7..=0xc9 | 0xd4..=0xd8 => Class::Extension,
        0xca => Class::Float,
        0xcb => Class::Double,
        0xd0..=0xd3 | 0xe0..=0xff => Class::Signed,
    }
}
