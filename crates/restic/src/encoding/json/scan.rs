//! Scans untrusted JSON value by value, without building a tree of values.
//!
//! Output: text, numbers and slices of the input, or a [`Fault`] with its offset.
//!
//! Accepts what Go's `encoding/json` accepts: unknown members, white space, bytes that are not UTF-8 (each
//! becomes U+FFFD) and halves of surrogate pairs. The depth of nested values is limited.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::borrow::Cow;

/// What is wrong with some JSON, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at byte {offset}: {what}")]
pub struct Fault {
    /// The place, in bytes.
    pub offset: usize,
    /// What was found or expected.
    pub what: String,
}

pub(crate) type Result<T> = std::result::Result<T, Fault>;

/// Most values within each other that are stepped over.
pub(crate) const DEPTH_MAX: usize = 64;

/// The rest of some JSON.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    rest: &'a [u8],
}

/// The raw text between quotes, with complete escapes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a> {
    raw: &'a [u8],
    has_escapes: bool,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Scanner<'a> {
        Scanner { bytes, rest: bytes }
    }

    /// Returns how many bytes were read.
    pub(crate) fn offset(&self) -> usize {
        self.bytes.len().saturating_sub(self.rest.len())
    }

    /// Returns what is still to be read.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Goes on by `count` bytes.
    #[inline]
    pub(crate) fn advance(&mut self, count: usize) {
        self.rest = self.rest.get(count..).unwrap_or_default();
    }

    /// Returns the fault for something unexpected at the present position.
    pub(crate) fn expected<T>(&self, what: &str) -> Result<T> {
        self.fault(match self.rest.first() {
            None => format!("expected {what}, found the end"),
            Some(byte) => format!("expected {what}, found '{}'", byte.escape_ascii()),
        })
    }

    pub(crate) fn fault<T>(&self, what: impl Into<String>) -> Result<T> {
        Err(Fault { offset: self.offset(), what: what.into() })
    }

    /// Returns the next byte that is not white space, without taking it.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        while let Some((b' ' | b'\n' | b'\t' | b'\r', behind)) = self.rest.split_first() {
            self.rest = behind;
        }
        self.rest.first().copied()
    }

    /// Takes a byte if it is next.
    #[inline]
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        if is_next {
            self.rest = self.rest.get(1..).unwrap_or_default();
        }
        is_next
    }

    /// Takes a byte, which has to be next.
    #[inline]
    pub(crate) fn expect(&mut self, byte: u8) -> Result<()> {
        if self.take(byte) { Ok(()) } else { self.expected(&format!("'{}'", char::from(byte))) }
    }

    /// Takes `null` if it is next.
    pub(crate) fn take_null(&mut self) -> Result<bool> {
        if self.peek() != Some(b'n') {
            return Ok(false);
        }
        self.word(b"null").map(|()| true)
    }

    fn word(&mut self, word: &[u8]) -> Result<()> {
        let Some(behind) = self.rest.strip_prefix(word) else { return self.expected("a value") };
        self.rest = behind;
        Ok(())
    }

    /// Takes the elements of an array, value by value.
    pub(crate) fn array(&mut self, mut value: impl FnMut(&mut Scanner<'a>) -> Result<()>) -> Result<()> {
        self.expect(b'[')?;
        if self.take(b']') {
            return Ok(());
        }
        loop {
            value(self)?;
            if self.take(b']') {
                return Ok(());
            }
            if !self.take(b',') {
                return self.expected("',' or ']'");
            }
        }
    }

    /// Takes an object, member by member: its name, then the value, which `value` has to take.
    pub(crate) fn object(
        &mut self,
        mut value: impl FnMut(&mut Scanner<'a>, &[u8]) -> Result<()>,
    ) -> Result<()> {
        self.expect(b'{')?;
        if self.take(b'}') {
            return Ok(());
        }
        loop {
            let name = self.name()?;
            value(self, &name)?;
            if self.take(b'}') {
                return Ok(());
            }
            if !self.take(b',') {
                return self.expected("',' or '}'");
            }
        }
    }

    /// Takes a member's name and the colon after it.
    pub(crate) fn name(&mut self) -> Result<Cow<'a, [u8]>> {
        let text = self.text()?;
        self.expect(b':')?;
        Ok(if text.has_escapes {
            Cow::Owned(text.decode().into_owned().into_bytes())
        } else {
            Cow::Borrowed(text.raw)
        })
    }

    /// Takes text.
    pub(crate) fn text(&mut self) -> Result<Text<'a>> {
        if !self.take(b'"') {
            return self.expected("text");
        }
        let begin = self.rest;
        let mut has_escapes = false;
        loop {
            let end = self.rest.iter().position(|&byte| matches!(byte, b'"' | b'\\' | 0..0x20));
            let Some((_, from)) = end.and_then(|end| self.rest.split_at_checked(end)) else {
                self.rest = &[];
                return self.fault("a text has no end");
            };
            self.rest = from;
            match from {
                [b'"', behind @ ..] => {
                    let length = begin.len().saturating_sub(from.len());
                    self.rest = behind;
                    return Ok(Text { raw: begin.get(..length).unwrap_or_default(), has_escapes });
                }
                [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', behind @ ..] => {
                    self.rest = behind;
                }
                [b'\\', b'u', a, b, c, d, behind @ ..]
                    if [a, b, c, d].iter().all(|byte| byte.is_ascii_hexdigit()) =>
                {
                    self.rest = behind;
                }
                [b'\\', ..] => return self.fault("no such escape"),
                _ => return self.fault("a control character within a text"),
            }
            has_escapes = true;
        }
    }

    /// Takes a whole number from 0 to `max`.
    pub(crate) fn number(&mut self, max: u64) -> Result<u64> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return self.expected("a whole number from 0");
        }
        let before = *self;
        let mut number = Some(0u64);
        while let Some((digit @ b'0'..=b'9', behind)) = self.rest.split_first() {
            number = number
                .and_then(|number| number.checked_mul(10)?.checked_add(u64::from(digit.wrapping_sub(b'0'))));
            self.rest = behind;
        }
        if matches!(before.rest, [b'0', b'0'..=b'9', ..]) {
            return before.fault("a number begins with a zero too many");
        }
        if matches!(self.rest.first(), Some(b'.' | b'e' | b'E')) {
            return before.fault("a number is not whole");
        }
        match number {
            Some(number) if number <= max => Ok(number),
            _ => before.fault(format!("a number is above {max}")),
        }
    }

    /// Takes a value and returns its raw bytes.
    pub(crate) fn raw(&mut self) -> Result<&'a [u8]> {
        self.peek();
        let begin = self.rest;
        self.skip()?;
        let length = begin.len().saturating_sub(self.rest.len());
        Ok(begin.get(..length).unwrap_or_default())
    }

    /// Takes a value of any kind.
    pub(crate) fn skip(&mut self) -> Result<()> {
        self.skip_at(DEPTH_MAX)
    }

    fn skip_at(&mut self, depth: usize) -> Result<()> {
        let Some(depth) = depth.checked_sub(1) else {
            return self.fault(format!("values are nested more than {DEPTH_MAX} deep"));
        };
        match self.peek() {
            Some(b'{') => self.object(|scanner, _| scanner.skip_at(depth)),
            Some(b'[') => self.array(|scanner| scanner.skip_at(depth)),
            Some(b'"') => self.text().map(|_| ()),
            Some(b't') => self.word(b"true"),
            Some(b'f') => self.word(b"false"),
            Some(b'n') => self.word(b"null"),
            _ => self.skip_number(),
        }
    }

    fn skip_number(&mut self) -> Result<()> {
        self.rest = self.rest.strip_prefix(b"-").unwrap_or(self.rest);
        // Nothing but a point or an exponent follows a zero at the beginning.
        match self.rest {
            [b'0', behind @ ..] => self.rest = behind,
            _ => self.digits()?,
        }
        if let [b'.', behind @ ..] = self.rest {
            self.rest = behind;
            self.digits()?;
        }
        if let [b'e' | b'E', behind @ ..] = self.rest {
            self.rest = behind.strip_prefix(b"+").or(behind.strip_prefix(b"-")).unwrap_or(behind);
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<()> {
        let count = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return self.expected("a value");
        }
        self.rest = self.rest.get(count..).unwrap_or_default();
        Ok(())
    }
}

impl<'a> Text<'a> {
    /// Returns the raw text between the quotes, if nothing in it is escaped.
    pub(crate) fn plain(&self) -> Option<&'a [u8]> {
        (!self.has_escapes).then_some(self.raw)
    }

    /// Returns the decoded text.
    pub(crate) fn decode(&self) -> Cow<'a, str> {
        if !self.has_escapes
            && let Ok(text) = str::from_utf8(self.raw)
        {
            return Cow::Borrowed(text);
        }
        let mut text = String::with_capacity(self.raw.len());
        let mut rest = self.raw;
        while !rest.is_empty() {
            let end = rest.iter().position(|&byte| byte == b'\\').unwrap_or(rest.len());
            let (before, from) = rest.split_at_checked(end).unwrap_or((rest, &[]));
            push_lossy(before, &mut text);
            rest = unescape(from, &mut text);
        }
        Cow::Owned(text)
    }
}

/// Appends text. Each byte that is not UTF-8 becomes U+FFFD.
fn push_lossy(bytes: &[u8], text: &mut String) {
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
}

/// Appends the character of the escape at the beginning, and returns the rest.
fn unescape<'a>(from: &'a [u8], text: &mut String) -> &'a [u8] {
    let (character, behind) = match from {
        [b'\\', b'b', behind @ ..] => ('\x08', behind),
        [b'\\', b'f', behind @ ..] => ('\x0c', behind),
        [b'\\', b'n', behind @ ..] => ('\n', behind),
        [b'\\', b'r', behind @ ..] => ('\r', behind),
        [b'\\', b't', behind @ ..] => ('\t', behind),
        [b'\\', b'u', ..] => unescape_unit(from),
        [b'\\', byte, behind @ ..] => (char::from(*byte), behind),
        _ => return &[],
    };
    text.push(character);
    behind
}

/// Reads one or two units of UTF-16; a half of two alone is U+FFFD.
fn unescape_unit(from: &[u8]) -> (char, &[u8]) {
    let Some((first, behind)) = unit(from) else { return (char::REPLACEMENT_CHARACTER, &[]) };
    if let Some(character) = char::from_u32(first) {
        return (character, behind);
    }
    if let Some((second @ 0xdc00..0xe000, last)) = unit(behind)
        && first < 0xdc00
    {
        let number = ((first & 0x3ff) << 10 | (second & 0x3ff)).saturating_add(0x1_0000);
        return (char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER), last);
    }
    (char::REPLACEMENT_CHARACTER, behind)
}

fn unit(from: &[u8]) -> Option<(u32, &[u8])> {
    let [b'\\', b'u', a, b, c, d, behind @ ..] = from else { return None };
    let digits = [a, b, c, d];
    let number = digits
        .iter()
        .try_fold(0, |number: u32, digit| Some(number << 4 | char::from(**digit).to_digit(16)?))?;
    Some((number, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(json: &[u8]) -> Result<String> {
        let mut scanner = Scanner::new(json);
        let text = scanner.text()?;
        assert_eq!(scanner.peek(), None, "all is taken");
        Ok(text.decode().into_owned())
    }

    #[test]
    fn text_with_escapes() {
        let cases: [(&[u8], &str); 8] = [
            (br#""""#, ""),
            (br#"  "plain /""#, "plain /"),
            (br#""\"\\\/\b\f\n\r\t""#, "\"\\/\x08\x0c\n\r\t"),
            (br#""\u003c\u00E9\u2028""#, "<\u{e9}\u{2028}"),
            (br#""\ud83d\ude00\udbff\udfff""#, "\u{1f600}\u{10ffff}"),
            (br#""\ud83d \ude00\ud83d\u0041""#, "\u{fffd} \u{fffd}\u{fffd}A"),
            (b"\"\xff\xe2\x82\"", "\u{fffd}\u{fffd}\u{fffd}"),
            (b"\"\xff\\n\"", "\u{fffd}\n"),
        ];
        for (json, text) in cases {
            assert_eq!(decoded(json).as_deref(), Ok(text), "{}", json.escape_ascii());
        }
    }

    #[test]
    fn text_that_is_broken() {
        let fault = |json: &[u8]| decoded(json).unwrap_err().to_string();
        assert_eq!(fault(b"x"), "at byte 0: expected text, found 'x'");
        assert_eq!(fault(b"\"ab"), "at byte 3: a text has no end");
        assert_eq!(fault(b"\"a\nb\""), "at byte 2: a control character within a text");
        for json in [&br#""\x""#[..], br#""\u12g4""#, br#""\u123"#, br#""\"#] {
            assert!(fault(json).ends_with("no such escape"), "{}", fault(json));
        }
    }

    #[test]
    fn whole_numbers() {
        let number = |json: &str| Scanner::new(json.as_bytes()).number(300).map_err(|fault| fault.what);
        assert_eq!((number(" 0"), number("300,")), (Ok(0), Ok(300)));
        let above = Err("a number is above 300".to_owned());
        assert_eq!((number("301"), number("99999999999999999999999")), (above.clone(), above));
        for json in ["1.0", "1e2", "-1", "", "x", "00", "01"] {
            assert!(number(json).is_err(), "{json}");
        }
        let max = u64::MAX;
        assert_eq!(Scanner::new(b"18446744073709551615").number(max), Ok(max));
        assert!(Scanner::new(b"18446744073709551616").number(max).is_err());
    }

    #[test]
    fn any_value_is_stepped_over_as_another_parser_does() {
        let values = [
            "null",
            "true",
            "false",
            "0",
            "-1.5e-7",
            "1E+3",
            "\"a\\\"b\"",
            "[]",
            "[ 1 , [ ] , {} ]",
            "{}",
            "{ \"a\" : [ { \"b\" : null } ] , \"c\":\"\" }",
            "-0",
            "00",
            "01",
            "-01",
            "0.0e-00",
            "nul",
            "tru",
            "-",
            "1.",
            "1e",
            ".5",
            "[1",
            "[1,]",
            "[,]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{1:1}",
            "\"",
            "]",
            "",
        ];
        for value in values {
            let is_sound = serde_json::from_str::<serde_json::Value>(value).is_ok();
            let mut scanner = Scanner::new(value.as_bytes());
            let is_whole = scanner.raw().is_ok_and(|raw| raw == value.as_bytes());
            assert_eq!(is_whole, is_sound, "{value}");
        }
    }

    #[test]
    fn depth_has_a_limit() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(Scanner::new(nested(DEPTH_MAX).as_bytes()).skip(), Ok(()));
        let fault = Scanner::new(nested(DEPTH_MAX + 1).as_bytes()).skip().unwrap_err();
        assert_eq!(fault.to_string(), "at byte 64: values are nested more than 64 deep");
        assert!(Scanner::new("[{\"a\":".repeat(1_000_000).as_bytes()).skip().is_err());
    }
}
