//! Splits the header block of a message or part into fields.
//!
//! Input: bytes that begin with a header block. Output: its fields and the body, both as slices of the input.
//! Line ends may be LF or CRLF, mixed. Nothing is decoded here, and no field has a meaning.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::bytes::{after, line, trim_cr, until};
use crate::limits::FIELD_COUNT_MAX;

/// One header field: its name without the colon, and everything after the colon, including folds.
#[derive(Clone, Copy)]
pub(crate) struct Field<'a> {
    pub(crate) name: &'a [u8],
    /// The value with the white space around it, without the last line end.
    pub(crate) raw: &'a [u8],
}

impl<'a> Field<'a> {
    /// Returns the raw value, including folds.
    pub(crate) fn value(&self) -> &'a [u8] {
        self.raw.trim_ascii()
    }
}

/// A header block and the body after it.
#[derive(Default)]
pub(crate) struct Block<'a> {
    /// The fields in order, `FIELD_COUNT_MAX` at most.
    pub(crate) fields: Vec<Field<'a>>,
    /// All bytes of the block, without the empty line.
    pub(crate) bytes: &'a [u8],
    /// The bytes after the empty line.
    pub(crate) body: &'a [u8],
    /// A line among the fields was not a field and was left out.
    pub(crate) has_junk: bool,
    /// There were more than `FIELD_COUNT_MAX` fields.
    pub(crate) is_cut: bool,
}

impl<'a> Block<'a> {
    /// Returns the value of the first field of that name, which must be in lower case.
    pub(crate) fn first(&self, name: &str) -> Option<&'a [u8]> {
        self.all(name).next()
    }

    /// Returns the values of all fields of that name.
    pub(crate) fn all(&self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.fields
            .iter()
            .filter(move |field| field.name.eq_ignore_ascii_case(name.as_bytes()))
            .map(Field::value)
    }
}

/// Skips anything that may precede the header block: a byte order mark, empty lines, the `From ` line of an
/// mbox.
pub(crate) fn skip_envelope(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    while let Some(b'\r' | b'\n') = rest.first() {
        let (first, next) = line(rest);
        if !first.is_empty() {
            break;
        }
        rest = next;
    }
    if field_name(line(rest).0).is_none() && !is_envelope(rest) {
        return bytes;
    }
    while is_envelope(rest) {
        rest = line(rest).1;
    }
    rest
}

fn is_envelope(bytes: &[u8]) -> bool {
    bytes.starts_with(b"From ") || bytes.starts_with(b">From ")
}

/// Splits a header block from its body.
///
/// The block ends at an empty line. A line that is not a field is left out if the next one is a field.
/// Otherwise the body starts with it, because the empty line is missing.
pub(crate) fn split(bytes: &[u8]) -> Block<'_> {
    let mut block = Block { fields: Vec::with_capacity(24), ..Block::default() };
    let mut rest = bytes;
    loop {
        let (first, next) = line(rest);
        if first.is_empty() {
            block.bytes = until(bytes, rest);
            block.body = next;
            return block;
        }
        let Some(name) = field_name(first) else {
            if field_name(line(next).0).is_none() {
                block.bytes = until(bytes, rest);
                block.body = rest;
                return block;
            }
            block.has_junk = true;
            rest = next;
            continue;
        };
        let end = skip_continuations(next);
        if block.fields.len() < FIELD_COUNT_MAX {
            let colon = memchr::memchr(b':', first).unwrap_or_default();
            let raw = after(until(rest, end), colon.saturating_add(1));
            let raw = trim_cr(raw.strip_suffix(b"\n").unwrap_or(raw));
            block.fields.push(Field { name, raw });
        } else {
            block.is_cut = true;
        }
        rest = end;
    }
}

/// Returns a message without the header fields of these names. Everything else stays as it is, byte for byte.
#[must_use]
pub fn without_fields(bytes: &[u8], names: &[&str]) -> Vec<u8> {
    let header = split(skip_envelope(bytes)).bytes;
    let begin = bytes.len().saturating_sub(skip_envelope(bytes).len());
    let (before, rest) = bytes.split_at_checked(begin).unwrap_or((bytes, &[]));
    let (mut fields, body) = rest.split_at_checked(header.len()).unwrap_or((rest, &[]));
    let mut kept = before.to_vec();
    while !fields.is_empty() {
        let (first, next) = line(fields);
        let next = if field_name(first).is_some() { skip_continuations(next) } else { next };
        let is_named = |name: &[u8]| names.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
        if !field_name(first).is_some_and(is_named) {
            kept.extend_from_slice(until(fields, next));
        }
        fields = next;
    }
    kept.extend_from_slice(body);
    kept
}

/// Skips the lines that begin with a space or a tab.
fn skip_continuations(mut rest: &[u8]) -> &[u8] {
    while let Some(b' ' | b'\t') = rest.first() {
        rest = line(rest).1;
    }
    rest
}

/// Returns the field name at the start of a line, without spaces before the colon.
fn field_name(line: &[u8]) -> Option<&[u8]> {
    let colon = memchr::memchr(b':', line)?;
    let name = line.get(..colon)?.trim_ascii_end();
    let is_name = !name.is_empty() && name.iter().all(|byte| (33..127).contains(byte));
    is_name.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_left_out_with_their_folds_and_nothing_else_is() {
        let without = |text: &str| String::from_utf8(without_fields(text.as_bytes(), &["bcc"])).unwrap();
        let body = "\nBcc: in the body\n";
        let all = format!("From: a\nBCC: b,\n c\nTo: d\r\nbcc : e\n\tf\nX-Bcc: g\n{body}");
        assert_eq!(without(&all), format!("From: a\nTo: d\r\nX-Bcc: g\n{body}"));
        for same in ["", "\n", "Subject: x", "From x\nTo: y\n\nBcc: z"] {
            assert_eq!(without(same), same);
        }
        assert_eq!(without("Bcc: x"), "");
        assert_eq!(without("no field\nBcc: x\n"), "no field\n", "one line of junk does not end the fields");
        assert_eq!(without("From x y\nBcc: x\nTo: y\n"), "From x y\nTo: y\n");
    }

    fn show(bytes: &[u8]) -> (Vec<(String, String)>, String) {
        let block = split(skip_envelope(bytes));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (block.fields.iter().map(|field| (text(field.name), text(field.value()))).collect(), text(block.body))
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn fields_end_at_the_empty_line() {
        for ends in ["\n", "\r\n", "\r\r\n"] {
            let text = "A: 1\nb : two\n\tthree\n\nC: 4\n".replace('\n', ends);
            let (fields, body) = show(text.as_bytes());
            assert_eq!(fields, pairs(&[("A", "1"), ("b", &format!("two{ends}\tthree"))]));
            assert_eq!(body, format!("C: 4{ends}"));
        }
    }

    #[test]
    fn a_line_that_is_no_field_is_left_out_or_begins_the_body() {
        assert_eq!(show(b"A: 1\njunk\nB: 2\n\nx"), (pairs(&[("A", "1"), ("B", "2")]), "x".to_owned()));
        assert_eq!(show(b"A: 1\njunk\nmore\n"), (pairs(&[("A", "1")]), "junk\nmore\n".to_owned()));
        assert_eq!(show(b"Hello\n"), (Vec::new(), "Hello\n".to_owned()));
        assert_eq!(show(b""), (Vec::new(), String::new()));
    }

    #[test]
    fn an_envelope_is_left_out() {
        for start in ["From me Mon Jan  1\n", ">From me\n", "\u{feff}", "\n\r\n\n", "\nFrom me\n"] {
            assert_eq!(show(format!("{start}A: 1\n\nx").as_bytes()), (pairs(&[("A", "1")]), "x".to_owned()));
        }
        assert_eq!(show(b"\nno header\n"), (Vec::new(), "no header\n".to_owned()));
    }

    #[test]
    fn fields_over_the_limit_are_not_looked_at() {
        let text = "A: 1\n".repeat(FIELD_COUNT_MAX + 1) + "\nbody";
        let block = split(text.as_bytes());
        assert_eq!((block.fields.len(), block.is_cut, block.body), (FIELD_COUNT_MAX, true, &b"body"[..]));
    }
}
