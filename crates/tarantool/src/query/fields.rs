//! Names of fields, as a user types them, and the values that they lead to.
//!
//! Input: text and the definition of a space. Output: a path, and then the value at it in any tuple.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::json_path::{self, PathStep, Understood};
use crate::msgpack::{Reader, Result};
use crate::space::Space;
use printable::sanitise::one_line;

/// A field of a tuple, or a value within it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPath {
    /// As it was typed.
    pub text: String,
    /// The number of the field, from 0.
    field: u32,
    /// The way within the field.
    steps: Vec<PathStep>,
}

impl FieldPath {
    /// Reads a path: the name of a field or its number from 1, then perhaps a way to a value within it, as in
    /// Tarantool: `price`, `3`, `address.town`, `notes[2]`, `[3].town`, `["odd name"]`.
    ///
    /// # Errors
    /// What is wrong with it: a sentence.
    pub fn parse(text: &str, space: &Space) -> std::result::Result<FieldPath, String> {
        let path = |field, steps| FieldPath { text: text.to_owned(), field, steps };
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            let number = text.parse::<u32>().ok().and_then(|number| number.checked_sub(1));
            let number = number.ok_or_else(|| format!("there is no field {text}: fields count from 1"))?;
            return Ok(path(number, Vec::new()));
        }
        // A name may look like a path.
        if let Some(field) = space.field(text.as_bytes()) {
            return Ok(path(field, Vec::new()));
        }
        let (mut steps, understood) = json_path::steps(text);
        if understood != Understood::Whole || steps.is_empty() {
            return Err(format!(
                "\"{text}\" is no field: a name, a number or a path such as a.b[2] is expected"
            ));
        }
        if steps.contains(&PathStep::Every) {
            return Err(format!("\"{text}\" leads to many values: [*] has no meaning here"));
        }
        let field = match steps.remove(0) {
            PathStep::Index(number) => number,
            PathStep::Key(name) => space.field(&name).ok_or_else(|| unknown(&name, space))?,
            PathStep::Every => return Err(format!("\"{text}\" leads to many values")),
        };
        Ok(path(field, steps))
    }

    /// Returns a reader at the value in a tuple; `None` if there is no such value.
    ///
    /// # Errors
    /// If the tuple is damaged.
    #[inline]
    pub fn value<'a>(&self, tuple: &'a [u8]) -> Result<Option<Reader<'a>>> {
        let mut reader = Reader::new(tuple);
        if self.field >= reader.array_len()? {
            return Ok(None);
        }
        if self.field > 0 {
            reader.skip_many(u64::from(self.field))?;
        }
        if self.steps.is_empty() { Ok(Some(reader)) } else { json_path::follow(reader, &self.steps) }
    }
}

/// Reads names of fields with commas between them.
///
/// # Errors
/// As [`FieldPath::parse`], on one line.
pub fn field_list(text: &str, space: &Space) -> std::result::Result<Vec<FieldPath>, String> {
    let paths = text.split(',').map(|name| FieldPath::parse(name.trim(), space));
    paths.collect::<std::result::Result<_, _>>().map_err(|what| one_line(&what).into_owned())
}

fn unknown(name: &[u8], space: &Space) -> String {
    let name = String::from_utf8_lossy(name);
    let names: Vec<_> = space.fields.iter().map(|field| String::from_utf8_lossy(&field.name)).collect();
    match names.is_empty() {
        true => format!(
            "there is no field {name}: the fields of space {} have no names; use [NUMBER], from 1",
            space.name
        ),
        false => {
            format!("there is no field {name} in space {}; there are: {}", space.name, names.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Field;

    fn space(names: &[&str]) -> Space {
        let field = |name: &&str| Field { name: name.as_bytes().to_vec(), ..Field::default() };
        Space {
            id: 512,
            name: "orders".to_owned(),
            fields: names.iter().map(field).collect(),
            ..Space::default()
        }
    }

    #[test]
    fn names_numbers_and_paths_lead_to_values() {
        let space = space(&["id", "a.b", "more", "odd name"]);
        // [7, 8, {"town": [1, "x"]}, nil]
        let tuple = b"\x94\x07\x08\x81\xa4town\x92\x01\xa1x\xc0";
        let first = |text: &str| {
            let path = FieldPath::parse(text, &space).unwrap();
            path.value(tuple).unwrap().map(|reader| reader.rest()[0])
        };
        for (text, byte) in [
            ("id", Some(7)),
            ("1", Some(7)),
            ("[1]", Some(7)),
            ("a.b", Some(8)),
            ("more.town[2]", Some(0xa1)),
            ("[3]['town'][1]", Some(1)),
            ("[\"odd name\"]", Some(0xc0)),
            ("5", None),
            ("id.x", None),
            ("more.town[3]", None),
        ] {
            assert_eq!(first(text), byte, "{text}");
        }
    }

    #[test]
    fn what_is_no_field_is_a_sentence() {
        let named = space(&["id", "price"]);
        for (text, sentence) in [
            ("prise", "there is no field prise in space orders; there are: id, price"),
            ("0", "there is no field 0: fields count from 1"),
            ("", "\"\" is no field: a name, a number or a path such as a.b[2] is expected"),
            ("id[", "\"id[\" is no field: a name, a number or a path such as a.b[2] is expected"),
            ("id[*]", "\"id[*]\" leads to many values: [*] has no meaning here"),
        ] {
            assert_eq!(FieldPath::parse(text, &named), Err(sentence.to_owned()));
        }
        let sentence = "there is no field id: the fields of space orders have no names; use [NUMBER], from 1";
        assert_eq!(field_list("1, id", &space(&[])), Err(sentence.to_owned()));
        let sentence = "there is no field a\u{fffd} b in space orders; there are: id, price";
        assert_eq!(field_list("[\"a\u{1b}\nb\"]", &named), Err(sentence.to_owned()));
        assert_eq!(field_list("1, price", &named).unwrap().len(), 2);
    }
}
