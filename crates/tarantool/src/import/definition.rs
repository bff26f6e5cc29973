//! The definition of a new space: what a user types, and the rows of Tarantool's own spaces that define it.
//!
//! Input: a list such as `id unsigned, name string, note string?`. Output: a tuple of `_space` and one of
//! `_index`. Does not know the rows of the space.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::field_type::FieldType;
use crate::msgpack::{put_array_len, put_boolean, put_map_len, put_str, put_uint};

/// The longest name that Tarantool takes, in bytes.
const NAME_BYTES_MAX: usize = 65_000;
/// The user who owns a new space: admin.
const OWNER: u64 = 1;

/// A space to create, with a primary key that is a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSpace {
    fields: Vec<NewField>,
    /// The numbers of the fields of the primary key.
    key: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct NewField {
    name: String,
    type_name: &'static str,
    is_nullable: bool,
}

impl NewSpace {
    /// Reads names of fields with their types, with commas between them. A `?` after the type lets the field
    /// be nil. The primary key is the fields that `key` names, with commas between them; without it the
    /// first field.
    ///
    /// # Errors
    /// What is wrong: a sentence.
    pub fn parse(fields: &str, key: Option<&str>) -> Result<NewSpace, String> {
        let fields: Vec<NewField> = fields.split(',').map(field).collect::<Result<_, _>>()?;
        for (number, field) in fields.iter().enumerate() {
            if fields.iter().take(number).any(|other| other.name == field.name) {
                return Err(format!("two fields have the name {}", field.name));
            }
        }
        let number = |name: &str| {
            let number = fields.iter().position(|field| field.name == name.trim());
            number.ok_or_else(|| format!("there is no field {} for the primary key", name.trim()))
        };
        let key = match key {
            Some(key) => key.split(',').map(number).collect::<Result<_, _>>()?,
            None => vec![0],
        };
        let key: Vec<usize> = key;
        if let Some((_, twice)) = key
            .iter()
            .enumerate()
            .find(|(place, number)| key.iter().take(*place).any(|before| before == *number))
        {
            let name = fields.get(*twice).map_or("", |field| &field.name);
            return Err(format!("field {name} is in the primary key twice"));
        }
        let space = NewSpace { fields, key };
        for field in space.key_fields() {
            let of_key = FieldType::named(field.type_name.as_bytes());
            let has_order = !matches!(
                of_key,
                None | Some(FieldType::Any | FieldType::Array | FieldType::Map | FieldType::Interval)
            );
            let NewField { name, type_name, .. } = field;
            if field.is_nullable {
                return Err(format!("field {name} cannot be in the primary key: it may be nil"));
            }
            if !has_order {
                return Err(format!(
                    "field {name} cannot be in the primary key: its type {type_name} has no order"
                ));
            }
        }
        Ok(space)
    }

    fn key_fields(&self) -> impl Iterator<Item = &NewField> {
        self.key.iter().filter_map(|number| self.fields.get(*number))
    }

    /// Appends the tuple of `_space`.
    pub(super) fn put_space(&self, id: u32, name: &str, out: &mut Vec<u8>) {
        put_array_len(out, 7);
        put_uint(out, u64::from(id));
        put_uint(out, OWNER);
        put_str(out, name.as_bytes());
        put_str(out, b"memtx");
        put_uint(out, 0);
        put_map_len(out, 0);
        put_array_len(out, u32::try_from(self.fields.len()).unwrap_or(u32::MAX));
        for field in &self.fields {
            put_map_len(out, if field.is_nullable { 3 } else { 2 });
            put_str(out, b"name");
            put_str(out, field.name.as_bytes());
            put_str(out, b"type");
            put_str(out, field.type_name.as_bytes());
            if field.is_nullable {
                put_str(out, b"is_nullable");
                put_boolean(out, true);
            }
        }
    }

    /// Appends the tuple of `_index`.
    pub(super) fn put_index(&self, id: u32, out: &mut Vec<u8>) {
        put_array_len(out, 6);
        put_uint(out, u64::from(id));
        put_uint(out, 0);
        put_str(out, b"primary");
        put_str(out, b"tree");
        put_map_len(out, 1);
        put_str(out, b"unique");
        put_boolean(out, true);
        put_array_len(out, u32::try_from(self.key.len()).unwrap_or(u32::MAX));
        for (number, field) in self.key.iter().zip(self.key_fields()) {
            put_array_len(out, 2);
            put_uint(out, *number as u64);
            put_str(out, field.type_name.as_bytes());
        }
    }
}

fn field(text: &str) -> Result<NewField, String> {
    let form =
        || format!("\"{}\" is not a field: a name and a type are expected, such as id unsigned", text.trim());
    let (name, type_name) = text.trim().split_once(char::is_whitespace).ok_or_else(form)?;
    let type_name = type_name.trim();
    let (type_name, is_nullable) = match type_name.strip_suffix('?') {
        Some(type_name) => (type_name.trim(), true),
        None => (type_name, false),
    };
    let known = FieldType::named(type_name.as_bytes()).filter(|_| !type_name.is_empty());
    let known = known.ok_or_else(|| format!("field {name}: there is no type {type_name}"))?;
    check_name(name)?;
    Ok(NewField { name: name.to_owned(), type_name: known.name(), is_nullable })
}

/// Refuses names that Tarantool refuses.
///
/// # Errors
/// Why.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    let is_refused = |letter: char| {
        letter.is_control()
            || matches!(u32::from(letter), 0x2028 | 0x2029 | 0xfdd0..=0xfdef)
            || u32::from(letter) & 0xfffe == 0xfffe
    };
    let is_name = !name.is_empty() && name.len() <= NAME_BYTES_MAX && !name.contains(is_refused);
    if is_name { Ok(()) } else { Err(format!("Tarantool takes no such name: {name:?}")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Spaces;

    #[test]
    fn what_is_typed_defines_a_space() {
        let new = NewSpace::parse("id uint, name STRING , note any?", Some("name,id")).unwrap();
        let (mut space, mut index) = (Vec::new(), Vec::new());
        new.put_space(600, "letters", &mut space);
        new.put_index(600, &mut index);
        let mut spaces = Spaces::new();
        spaces.set_space(&space).unwrap();
        spaces.set_index(&index).unwrap();
        let made = spaces.get(600).unwrap().unwrap();
        let fields: Vec<(&[u8], &[u8], bool)> = made
            .fields
            .iter()
            .map(|field| (field.name.as_slice(), field.type_name.as_slice(), field.is_nullable))
            .collect();
        assert_eq!(
            fields,
            [(&b"id"[..], &b"unsigned"[..], false), (b"name", b"string", false), (b"note", b"any", true)]
        );
        let parts: Vec<u32> = made.indexes[0].parts.iter().map(|part| part.field).collect();
        assert_eq!((made.name.as_str(), parts, made.indexes[0].is_unique), ("letters", vec![1, 0], true));
    }

    #[test]
    fn what_defines_no_space_is_a_sentence() {
        for (fields, key, sentence) in [
            ("", None, "\"\" is not a field"),
            ("id", None, "\"id\" is not a field"),
            ("id whole", None, "field id: there is no type whole"),
            ("id unsigned, id string", None, "two fields have the name id"),
            ("id unsigned?", None, "field id cannot be in the primary key"),
            ("id map", None, "field id cannot be in the primary key"),
            ("id unsigned", Some("name"), "there is no field name for the primary key"),
            ("id unsigned", Some("id,id"), "field id is in the primary key twice"),
        ] {
            let error = NewSpace::parse(fields, key).unwrap_err();
            assert!(error.starts_with(sentence), "{error}");
        }
        for name in ["", "a\u{2028}", "\u{1}", "\u{ffff}"] {
            assert!(check_name(name).is_err(), "{name:?}");
        }
    }
}
