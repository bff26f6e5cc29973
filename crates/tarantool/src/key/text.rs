//! Parses key parts that a user types.
//!
//! Input: one word for each part of a key. Output: the values that the store looks up. Does not know which
//! index is meant.
//!
//! Text may be quoted as in JSON; unquoted text is used unchanged. Bytes are hexadecimal. `null` is nil if
//! the part may be nil. A scalar is recognised by its form: `true`, `12`, `1.5`, and otherwise, or in quotes,
//! text.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::collation::Collation;
use super::normalise::{
    CLASS_BOOLEAN, CLASS_NUMBER, CLASS_STRING, NIL, PartKind, PartType, VALUE, descend, put_integer, put_text,
};
use super::number::{put_decimal, put_number};
use crate::decimal::Decimal;
use crate::msgpack::Number;
use store::OwnedValue;

/// Returns the value of `text` as a store's column of this kind holds it.
///
/// # Errors
/// What was expected instead of `text`.
pub fn value_of_text(text: &str, kind: &PartKind) -> Result<OwnedValue, String> {
    if kind.is_plain_unsigned() {
        return unsigned(text).map(OwnedValue::U64);
    }
    let mut out = Vec::new();
    normalise_text(text, kind, &mut out)?;
    Ok(OwnedValue::Bytes(out))
}

/// Returns all values that are shown as `text`: `0.1` is both a double and a decimal, which differ, and an
/// index with numbers of all kinds may hold either. The smallest comes first.
///
/// # Errors
/// What was expected instead of `text`.
pub fn values_of_text(text: &str, kind: &PartKind) -> Result<Vec<OwnedValue>, String> {
    let value = value_of_text(text, kind)?;
    let (PartType::Number | PartType::Scalar, Ok(decimal)) = (kind.part_type, decimal(text)) else {
        return Ok(vec![value]);
    };
    let mut bytes = Vec::new();
    if kind.is_nullable {
        bytes.push(VALUE);
    }
    if kind.part_type == PartType::Scalar {
        bytes.push(CLASS_NUMBER);
    }
    put_decimal(&decimal, &mut bytes);
    if kind.is_descending {
        descend(&mut bytes, 0);
    }
    let mut values = match value {
        OwnedValue::Bytes(other) if other != bytes => vec![other, bytes],
        _ => vec![bytes],
    };
    values.sort();
    Ok(values.into_iter().map(OwnedValue::Bytes).collect())
}

/// Appends the normalised bytes of the value that `text` stands for.
///
/// # Errors
/// What was expected instead of `text`.
pub fn normalise_text(text: &str, kind: &PartKind, out: &mut Vec<u8>) -> Result<(), String> {
    let start = out.len();
    if kind.is_nullable && text == "null" {
        out.push(NIL);
    } else {
        if kind.is_nullable {
            out.push(VALUE);
        }
        put_value(text, kind, out)?;
    }
    if kind.is_descending {
        descend(out, start);
    }
    Ok(())
}

fn put_value(text: &str, kind: &PartKind, out: &mut Vec<u8>) -> Result<(), String> {
    let collation = kind.collation.as_ref();
    match kind.part_type {
        PartType::Unsigned => out.extend_from_slice(&unsigned(text)?.to_be_bytes()),
        PartType::Integer => put_integer(integer(text)?, out),
        PartType::Number | PartType::Double => put_text_number(text, out)?,
        PartType::Decimal => put_decimal(&decimal(text)?, out),
        PartType::String => put_text(unquoted(text)?.as_bytes(), collation, out),
        PartType::Varbinary => out.extend_from_slice(&hexadecimal(text)?),
        PartType::Boolean => out.push(u8::from(boolean(text)?)),
        PartType::Uuid => out.extend_from_slice(&uuid(text)?),
        PartType::Datetime => put_seconds(text, out)?,
        PartType::Scalar => put_scalar(text, collation, out)?,
    }
    Ok(())
}

fn expected(what: &str, text: &str) -> String {
    format!("{what} is expected, not {text}")
}

fn unsigned(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| expected("a whole number from 0 to 2^64 - 1", text))
}

fn integer(text: &str) -> Result<i128, String> {
    let range = i128::from(i64::MIN)..=i128::from(u64::MAX);
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| expected("a whole number from -2^63 to 2^64 - 1", text))
}

fn decimal(text: &str) -> Result<Decimal, String> {
    Decimal::of_text(text).filter(Decimal::fits).ok_or_else(|| expected("a decimal number", text))
}

fn put_text_number(text: &str, out: &mut Vec<u8>) -> Result<(), String> {
    if let Ok(number) = text.parse::<u64>() {
        put_number(Number::Unsigned(number), out);
    } else if let Ok(number) = text.parse::<i64>() {
        put_number(Number::Signed(number), out);
    } else {
        let number = text.parse().map_err(|_| expected("a number", text))?;
        put_number(Number::Double(number), out);
    }
    Ok(())
}

fn put_seconds(text: &str, out: &mut Vec<u8>) -> Result<(), String> {
    let seconds: i64 = text.parse().map_err(|_| expected("whole seconds since 1970", text))?;
    out.extend_from_slice(&store::order_i64(seconds).to_be_bytes());
    out.extend_from_slice(&store::order_i64(0).to_be_bytes());
    Ok(())
}

fn boolean(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| expected("true or false", text))
}

fn put_scalar(text: &str, collation: Option<&Collation>, out: &mut Vec<u8>) -> Result<(), String> {
    let start = out.len();
    if let Ok(value) = boolean(text) {
        out.extend_from_slice(&[CLASS_BOOLEAN, u8::from(value)]);
        return Ok(());
    }
    out.push(CLASS_NUMBER);
    if put_text_number(text, out).is_err() {
        out.truncate(start);
        out.push(CLASS_STRING);
        put_text(unquoted(text)?.as_bytes(), collation, out);
    }
    Ok(())
}

fn hexadecimal(text: &str) -> Result<Vec<u8>, String> {
    let wrong = || expected("an even number of hexadecimal digits", text);
    let digit = |letter: char| letter.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let digits: Option<Vec<u8>> = text.chars().map(digit).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2)).ok_or_else(wrong)?;
    let byte = |pair: &[u8]| match pair {
        [high, low] => (high << 4) | low,
        _ => 0,
    };
    Ok(digits.chunks(2).map(byte).collect())
}

fn uuid(text: &str) -> Result<Vec<u8>, String> {
    let places: Vec<usize> = text.match_indices('-').map(|(place, _)| place).collect();
    let bytes = hexadecimal(&text.replace('-', "")).ok();
    bytes
        .filter(|bytes| bytes.len() == 16 && places == [8, 13, 18, 23])
        .ok_or_else(|| expected("a UUID", text))
}

/// Removes JSON quotes. Text without quotes stays unchanged.
fn unquoted(text: &str) -> Result<String, String> {
    let quoted = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let Some(quoted) = quoted else { return Ok(text.to_owned()) };
    let mut out = String::new();
    let mut letters = quoted.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        let escaped = match letters.next() {
            Some('n') => Some('\n'),
            Some('r') => Some('\r'),
            Some('t') => Some('\t'),
            Some(letter @ ('"' | '\\' | '/')) => Some(letter),
            Some('u') => {
                let digits: String = letters.by_ref().take(4).collect();
                u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32)
            }
            _ => None,
        };
        out.push(escaped.ok_or_else(|| expected("text quoted as in JSON", text))?);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::normalise_part;
    use crate::msgpack::{self, Reader};

    fn kind(part_type: PartType, is_nullable: bool) -> PartKind {
        PartKind { is_nullable, ..PartKind::plain(part_type) }
    }

    #[test]
    fn a_number_with_a_point_may_be_a_decimal() {
        let double = |number: f64| {
            let mut out = Vec::new();
            msgpack::put_double(&mut out, number);
            out
        };
        // {decimal 0.1}: one digit after the point, digit 1, plus.
        let mut decimal = Vec::new();
        msgpack::put_ext(&mut decimal, 1, &[1, 0x1c]);
        for (part_type, is_nullable) in
            [(PartType::Number, false), (PartType::Number, true), (PartType::Scalar, false)]
        {
            let kind = kind(part_type, is_nullable);
            let typed = values_of_text("0.1", &kind).unwrap();
            for bytes in [double(0.1), decimal.clone()] {
                let mut read = Vec::new();
                normalise_part(&mut Reader::new(&bytes), &kind, &mut read).unwrap();
                assert!(typed.contains(&OwnedValue::Bytes(read)), "{kind:?}: {typed:?}");
            }
            assert_eq!(typed.len(), 2);
            assert_eq!(values_of_text("0.5", &kind).unwrap().len(), 1, "both are the same number");
        }
        assert_eq!(values_of_text("7", &kind(PartType::Unsigned, false)), Ok(vec![OwnedValue::U64(7)]));
        assert!(values_of_text("seven", &kind(PartType::Number, false)).is_err());
        assert_eq!(values_of_text("seven", &kind(PartType::Scalar, false)).unwrap().len(), 1);
    }

    #[test]
    fn what_is_typed_is_what_a_tuple_holds() {
        let uuid = [0x11, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0xff];
        let packed = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            write(&mut out);
            out
        };
        let cases = [
            (PartType::Unsigned, "18446744073709551615", packed(&|out| msgpack::put_uint(out, u64::MAX))),
            (PartType::Integer, "-9223372036854775808", packed(&|out| msgpack::put_int(out, i64::MIN))),
            (PartType::Integer, "18446744073709551615", packed(&|out| msgpack::put_uint(out, u64::MAX))),
            (PartType::Number, "9007199254740993", packed(&|out| msgpack::put_uint(out, (1 << 53) + 1))),
            (PartType::Number, "-1.5", packed(&|out| msgpack::put_double(out, -1.5))),
            (PartType::Decimal, "1.23", packed(&|out| msgpack::put_ext(out, 1, &[2, 0x12, 0x3c]))),
            (
                PartType::String,
                "null and \"void\"",
                packed(&|out| msgpack::put_str(out, b"null and \"void\"")),
            ),
            (PartType::String, r#""a\n\u0041\"""#, packed(&|out| msgpack::put_str(out, b"a\nA\""))),
            (PartType::Varbinary, "00fF", packed(&|out| msgpack::put_bin(out, &[0, 255]))),
            (PartType::Boolean, "true", packed(&|out| msgpack::put_boolean(out, true))),
            (
                PartType::Uuid,
                "11020304-0506-0708-090a-0b0c0d0e0fff",
                packed(&|out| msgpack::put_ext(out, 2, &uuid)),
            ),
            (PartType::Datetime, "-7", packed(&|out| msgpack::put_ext(out, 4, &(-7_i64).to_le_bytes()))),
            (PartType::Scalar, "false", packed(&|out| msgpack::put_boolean(out, false))),
            (PartType::Scalar, "12", packed(&|out| msgpack::put_uint(out, 12))),
            (PartType::Scalar, "\"12\"", packed(&|out| msgpack::put_str(out, b"12"))),
            (PartType::Scalar, "twelve", packed(&|out| msgpack::put_str(out, b"twelve"))),
        ];
        for (part_type, text, bytes) in &cases {
            for is_nullable in [false, true] {
                let (mut typed, mut read) = (Vec::new(), Vec::new());
                normalise_text(text, &kind(*part_type, is_nullable), &mut typed).unwrap();
                normalise_part(&mut Reader::new(bytes), &kind(*part_type, is_nullable), &mut read).unwrap();
                assert_eq!(typed, read, "{text}");
            }
        }
        assert_eq!(value_of_text("7", &kind(PartType::Unsigned, false)), Ok(OwnedValue::U64(7)));
        assert_eq!(value_of_text("null", &kind(PartType::Unsigned, true)), Ok(OwnedValue::Bytes(vec![0])));
        assert_eq!(
            value_of_text("null", &kind(PartType::String, false)),
            Ok(OwnedValue::Bytes(b"null".to_vec()))
        );
    }

    #[test]
    fn what_does_not_fit_the_type_is_a_sentence() {
        let cases = [
            (PartType::Unsigned, "-1", "a whole number from 0 to 2^64 - 1 is expected, not -1"),
            (
                PartType::Integer,
                "18446744073709551616",
                "a whole number from -2^63 to 2^64 - 1 is expected, not 18446744073709551616",
            ),
            (PartType::Number, "one", "a number is expected, not one"),
            (PartType::Varbinary, "abc", "an even number of hexadecimal digits is expected, not abc"),
            (
                PartType::Uuid,
                "110203040506-0708-090a-0b0c-0d0e0fff",
                "a UUID is expected, not 110203040506-0708-090a-0b0c-0d0e0fff",
            ),
            (PartType::Boolean, "yes", "true or false is expected, not yes"),
            (PartType::String, r#""\x""#, r#"text quoted as in JSON is expected, not "\x""#),
        ];
        for (part_type, text, sentence) in cases {
            assert_eq!(value_of_text(text, &kind(part_type, false)), Err(sentence.to_owned()));
        }
    }
}
