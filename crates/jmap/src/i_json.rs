//! I-JSON (RFC 7493), the JSON that JMAP exchanges (RFC 8620, section 1.5).
//!
//! Input: bytes from a client, or a value for one. Output: a value within limits, or bytes. Does not know
//! what the values mean.

use crate::limits::JSON_DEPTH_MAX;
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::Serialize as _;
use serde_json::map::Entry;
use serde_json::ser::Formatter;
use serde_json::{Deserializer, Map, Serializer, Value};
use std::{fmt, io};

/// Why bytes are no value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// They are not I-JSON, or nested too deep.
    NotJson(String),
    /// There are more values than allowed.
    TooManyValues,
}

/// Reads one value that takes all `bytes`. Refused are invalid UTF-8, lone surrogates and noncharacters (RFC
/// 7493, section 2.1), numbers that no double can hold (2.2), names that occur twice in an object (2.3), and
/// arrays and objects nested deeper than `depth_max`.
///
/// # Errors
/// What is wrong, and where.
pub(crate) fn read(bytes: &[u8], depth_max: usize, value_count_max: usize) -> Result<Value, Fault> {
    let mut values_left = value_count_max;
    let node = Node { values_left: &mut values_left, depth_left: depth_max.min(JSON_DEPTH_MAX) };
    let mut deserializer = Deserializer::from_slice(bytes);
    let value = node.deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    value.map_err(|error| match error.to_string() {
        text if text.starts_with(TOO_MANY_VALUES) => Fault::TooManyValues,
        text => Fault::NotJson(text),
    })
}

/// Returns `value` as I-JSON. A noncharacter in a text becomes U+FFFD, because none may be sent.
pub fn bytes(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut bytes, IJson);
    value
        .serialize(&mut serializer)
        .expect("a value has only names that are texts, and a Vec takes all bytes");
    bytes
}

/// How the message of an error begins that says nothing about the JSON. No other message begins so: a name of
/// the client comes later in its message.
const TOO_MANY_VALUES: &str = "there are too many values";

/// One value, read together with those in it.
struct Node<'a> {
    values_left: &'a mut usize,
    depth_left: usize,
}

impl Node<'_> {
    /// Returns the depth that is left for the values in an array or an object.
    fn deeper<E: serde::de::Error>(&self) -> Result<usize, E> {
        self.depth_left.checked_sub(1).ok_or_else(|| E::custom("arrays and objects are nested too deep"))
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let left = self.values_left.checked_sub(1).ok_or_else(|| D::Error::custom(TOO_MANY_VALUES))?;
        *self.values_left = left;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Value, E> {
        checked(value).map(Value::from)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let depth_left = self.deeper()?;
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(Node { values_left: self.values_left, depth_left })? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let depth_left = self.deeper()?;
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            checked(&name)?;
            match object.entry(name) {
                Entry::Occupied(there) => {
                    return Err(A::Error::custom(format!(
                        "an object has two members named {:?}",
                        there.key()
                    )));
                }
                Entry::Vacant(place) => {
                    let node = Node { values_left: self.values_left, depth_left };
                    place.insert(members.next_value_seed(node)?);
                }
            }
        }
        Ok(Value::Object(object))
    }
}

/// Returns `text` if no character in it is a noncharacter.
fn checked<E: serde::de::Error>(text: &str) -> Result<&str, E> {
    match text.chars().find(|&letter| is_noncharacter(letter)) {
        Some(letter) => Err(E::custom(format!("a text has the noncharacter U+{:04X}", u32::from(letter)))),
        None => Ok(text),
    }
}

/// Returns whether Unicode keeps `letter` for internal use: U+FDD0 to U+FDEF, and the last two of each plane.
fn is_noncharacter(letter: char) -> bool {
    let number = u32::from(letter);
    (0xfdd0..=0xfdef).contains(&number) || number & 0xfffe == 0xfffe
}

/// Writes compact JSON without noncharacters.
struct IJson;

impl Formatter for IJson {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, out: &mut W, text: &str) -> io::Result<()> {
        // The bytes of a noncharacter begin with 0xef or more; most texts have none of those.
        if text.bytes().any(|byte| byte >= 0xef) && text.contains(is_noncharacter) {
            return out.write_all(text.replace(is_noncharacter, "\u{fffd}").as_bytes());
        }
        out.write_all(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn value(bytes: impl AsRef<[u8]>) -> Result<Value, Fault> {
        read(bytes.as_ref(), 4, 20)
    }

    fn fault(bytes: impl AsRef<[u8]>) -> String {
        match value(bytes) {
            Err(Fault::NotJson(text)) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn all_kinds_of_values_are_read() {
        let text = r#" {"a":[null,true,-1,18446744073709551615,1.5e2,"\ud83d\ude00é"],"":{}} "#;
        let expected = json!({"a": [null, true, -1, u64::MAX, 150.0, "\u{1f600}é"], "": {}});
        assert_eq!(value(text), Ok(expected));
    }

    #[test]
    fn a_name_that_occurs_twice_is_refused_at_any_depth() {
        assert!(fault(r#"{"a":1,"b":2,"a":1}"#).contains(r#"two members named "a""#));
        assert!(fault(r#"[{"x":{"a":1,"\u0061":2}}]"#).contains("two members"));
        assert!(value(r#"[{"a":1},{"a":2}]"#).is_ok());
    }

    #[test]
    fn text_that_is_no_unicode_text_is_refused() {
        assert!(!fault(b"\"\xff\"").is_empty());
        assert!(!fault(b"{\"\xc3\":1}").is_empty());
        for text in [r#""\ud800""#, r#""\ud800x""#, r#""\udc00""#, r#""\ud800\ud800""#] {
            assert!(!fault(text).is_empty(), "{text}");
        }
        assert!(fault("\"\u{fffe}\"").contains("U+FFFE"));
        assert!(fault("\"\u{fdd0}\"").contains("U+FDD0"));
        assert!(fault("{\"\u{10ffff}\":1}").contains("U+10FFFF"));
        assert!(value("\"\u{fffd}\u{fdcf}\u{fdf0}\"").is_ok());
    }

    #[test]
    fn bytes_after_the_value_numbers_out_of_range_and_unfinished_values_are_refused() {
        for text in
            ["", " ", "1 2", "{}]", "[1", "{\"a\"", "{\"a\":}", "1e400", "01", "\u{feff}1", "nul", "'a'"]
        {
            assert!(!fault(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn depth_is_limited() {
        assert!(value("[[[[1]]]]").is_ok());
        assert!(fault("[[[[[1]]]]]").contains("nested too deep"));
        assert!(fault(r#"{"a":{"a":{"a":{"a":{"a":1}}}}}"#).contains("nested too deep"));
        let deep = "[".repeat(1_000_000);
        assert!(matches!(read(deep.as_bytes(), usize::MAX, usize::MAX), Err(Fault::NotJson(_))));
    }

    #[test]
    fn the_number_of_values_is_limited() {
        let of = |count: usize| format!("[{}]", vec!["0"; count].join(","));
        assert!(value(of(19)).is_ok());
        assert_eq!(value(of(20)), Err(Fault::TooManyValues));
        assert!(
            fault(r#"{"there are too many values":1,"there are too many values":2}"#).contains("two members")
        );
    }

    #[test]
    fn a_text_is_written_without_noncharacters() {
        let written = bytes(&json!({"a\u{fdd0}": "é\u{1f600}\u{ffff}\n\u{1}"}));
        assert_eq!(String::from_utf8(written).unwrap(), "{\"a\u{fffd}\":\"é\u{1f600}\u{fffd}\\n\\u0001\"}");
    }
}
