//! Any JSON, piece by piece: what [`scan`](super::scan) reads whatever is not written as expected with.
//!
//! Comes in: JSON. Goes out: keys, numbers, ids, or a [`Fault`] with its place. Must not know what an index file is.

use crate::hex;
use crate::id::Id;
use std::borrow::Cow;

/// How deep values may be nested that nobody asked for.
const DEPTH_MAX: usize = 64;

/// What is wrong, and where.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// In bytes from the beginning.
    pub(super) at: usize,
    pub(super) what: &'static str,
}

/// A place in JSON.
pub(super) struct Cursor<'json> {
    json: &'json [u8],
    at: usize,
}

impl<'json> Cursor<'json> {
    pub(super) fn new(json: &'json [u8]) -> Self {
        Cursor { json, at: 0 }
    }

    /// Returns what is still to be read.
    pub(super) fn rest(&self) -> &'json [u8] {
        self.json.get(self.at..).unwrap_or_default()
    }

    /// Goes on by `count` bytes.
    pub(super) fn advance(&mut self, count: usize) {
        self.at += count;
    }

    /// Returns a fault at this place.
    pub(super) fn fault<T>(&self, what: &'static str) -> Result<T, Fault> {
        Err(Fault { at: self.at, what })
    }

    /// Reads an object. `member` is called for each key, and reads its value.
    pub(super) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &[u8]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.expect(b'{', "an object is expected")?;
        if self.take(b'}') {
            return Ok(());
        }
        loop {
            self.skip_space();
            let key = self.string("a key is expected")?;
            self.expect(b':', "a colon is expected")?;
            self.skip_space();
            member(self, &key)?;
            if self.take(b'}') {
                return Ok(());
            }
            self.expect(b',', "a comma or the end of the object is expected")?;
        }
    }

    /// Reads an array. `element` is called at the beginning of each element, and reads it.
    pub(super) fn array(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.expect(b'[', "an array is expected")?;
        if self.take(b']') {
            return Ok(());
        }
        loop {
            self.skip_space();
            element(self)?;
            if self.take(b']') {
                return Ok(());
            }
            self.expect(b',', "a comma or the end of the array is expected")?;
        }
    }

    /// Goes over `null`, if it is there.
    pub(super) fn take_null(&mut self) -> bool {
        let is_there = self.rest().starts_with(b"null");
        if is_there {
            self.at += 4;
        }
        is_there
    }

    /// Reads an id.
    pub(super) fn id(&mut self) -> Result<Id, Fault> {
        let begin = self.at;
        let digits = self.string("an id is expected")?;
        let bytes = digits.as_ref().try_into().ok().and_then(hex::decode);
        let bytes = bytes.ok_or(Fault { at: begin, what: "an id has 64 hexadecimal digits" })?;
        Ok(Id(bytes))
    }

    /// Reads a number of bytes.
    pub(super) fn size(&mut self) -> Result<u32, Fault> {
        let begin = self.at;
        let wrong = Fault { at: begin, what: "a whole number below 4,294,967,296 is expected" };
        if !self.rest().first().is_some_and(u8::is_ascii_digit) {
            return Err(wrong);
        }
        self.skip_number()?;
        let text = self.json.get(begin..self.at).unwrap_or_default();
        text.iter()
            .try_fold(0_u32, |value, digit| {
                let digit = digit.is_ascii_digit().then(|| u32::from(digit - b'0'))?;
                value.checked_mul(10)?.checked_add(digit)
            })
            .ok_or(wrong)
    }

    /// Reads a string.
    pub(super) fn string(&mut self, expected: &'static str) -> Result<Cow<'json, [u8]>, Fault> {
        let begin = self.at;
        if self.rest().first() != Some(&b'"') {
            return self.fault(expected);
        }
        let escapes = self.skip_string()?;
        // Without the quotes.
        let text = self.json.get(begin + 1..self.at - 1).unwrap_or_default();
        Ok(match escapes {
            Escapes::None => Cow::Borrowed(text),
            Escapes::Some => Cow::Owned(unescaped(text)),
        })
    }

    /// Goes over a value of any kind.
    pub(super) fn skip_value(&mut self) -> Result<(), Fault> {
        self.skip_nested(DEPTH_MAX)
    }

    /// Goes over what is left, which may only be space.
    pub(super) fn end(&mut self) -> Result<(), Fault> {
        self.skip_space();
        if self.rest().is_empty() { Ok(()) } else { self.fault("more follows behind the end") }
    }

    fn skip_nested(&mut self, depth_left: usize) -> Result<(), Fault> {
        match self.rest().first() {
            Some(b'{' | b'[') if depth_left == 0 => self.fault("values are nested too deep"),
            Some(b'{') => self.object(|cursor, _| cursor.skip_nested(depth_left - 1)),
            Some(b'[') => self.array(|cursor| cursor.skip_nested(depth_left - 1)),
            Some(b'"') => self.skip_string().map(drop),
            Some(b'-' | b'0'..=b'9') => self.skip_number(),
            _ => {
                for word in [&b"null"[..], b"true", b"false"] {
                    if self.rest().starts_with(word) {
                        self.at += word.len();
                        return Ok(());
                    }
                }
                self.fault("a value is expected")
            }
        }
    }

    fn skip_number(&mut self) -> Result<(), Fault> {
        self.take_byte(b'-');
        // Nothing but a point or an exponent follows a zero at the beginning.
        if !self.take_byte(b'0') {
            self.skip_digits()?;
        }
        if self.take_byte(b'.') {
            self.skip_digits()?;
        }
        if self.take_byte(b'e') || self.take_byte(b'E') {
            let _ = self.take_byte(b'+') || self.take_byte(b'-');
            self.skip_digits()?;
        }
        Ok(())
    }

    /// Goes over one digit at least.
    fn skip_digits(&mut self) -> Result<(), Fault> {
        let count = self.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return self.fault("a digit is expected");
        }
        self.at += count;
        Ok(())
    }

    /// Goes over a string and its quotes, and says whether anything in it is escaped.
    fn skip_string(&mut self) -> Result<Escapes, Fault> {
        let mut escapes = Escapes::None;
        self.at += 1;
        loop {
            let plain = self.rest().iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20)).count();
            self.at += plain;
            match self.rest() {
                [b'"', ..] => {
                    self.at += 1;
                    return Ok(escapes);
                }
                [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => self.at += 2,
                [b'\\', b'u', digits @ ..] if code_unit(digits).is_some() => self.at += 6,
                [b'\\', ..] => return self.fault("no such escape"),
                [] => return self.fault("the end of the string is missing"),
                _ => return self.fault("a control character stands in a string"),
            }
            escapes = Escapes::Some;
        }
    }

    fn skip_space(&mut self) {
        let space =
            self.rest().iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count();
        self.at += space;
    }

    /// Goes over space and `byte`, which must be there.
    fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), Fault> {
        if self.take(byte) { Ok(()) } else { self.fault(what) }
    }

    /// Goes over space and `byte`, if it is there.
    fn take(&mut self, byte: u8) -> bool {
        self.skip_space();
        self.take_byte(byte)
    }

    fn take_byte(&mut self, byte: u8) -> bool {
        let is_there = self.rest().first() == Some(&byte);
        self.at += usize::from(is_there);
        is_there
    }
}

/// Whether a string has escapes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    None,
    Some,
}

/// Returns a string whose escapes are known to be well formed without those that stand for letters and digits. All others become
/// what no key and no id holds.
fn unescaped(mut text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    while let Some((byte, rest)) = text.split_first() {
        text = rest;
        if *byte != b'\\' {
            plain.push(*byte);
        } else if let Some(unit) = text.strip_prefix(b"u").and_then(code_unit) {
            plain.push(u8::try_from(unit).unwrap_or(OTHER));
            text = text.get(5..).unwrap_or_default();
        } else {
            plain.push(OTHER);
            text = text.get(1..).unwrap_or_default();
        }
    }
    plain
}

/// A byte that stands in no text.
const OTHER: u8 = 0xff;

fn code_unit(digits: &[u8]) -> Option<u16> {
    digits.first_chunk::<4>()?.iter().try_fold(0_u16, |unit, digit| {
        let value = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(value).ok()?)
    })
}
