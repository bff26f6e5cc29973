//! Makes the tuples of a space from rows of named values.
//!
//! Input: a row: an object, an array, or texts for the columns of a table. Output: a tuple that fits the
//! space's format. Does not know files.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::field_type::FieldType;
use super::value::{Pairs, Result, put_json, put_text};
use crate::msgpack::{put_array_len, put_nil};
use crate::space::Space;
use serde_json::value::RawValue;

/// The most fields of a tuple.
const FIELDS_MAX: usize = 10_000;

/// Makes tuples of one space.
#[derive(Debug)]
pub struct TupleMaker {
    fields: Vec<Field>,
    /// The name of the space, for errors.
    space: String,
    /// Names that rows have instead of those of fields.
    renames: Vec<(String, String)>,
    /// Memory for the values of a row, by field: where each begins and ends in `bytes`.
    places: Vec<Option<(usize, usize)>>,
    bytes: Vec<u8>,
}

#[derive(Debug)]
struct Field {
    name: String,
    field_type: FieldType,
    /// Whether its value may be nil.
    is_nullable: bool,
    /// Whether a tuple may end before it.
    may_be_missing: bool,
}

impl TupleMaker {
    /// Returns what makes tuples for this space. `renames` has pairs of a name in rows, and the name of the
    /// field that it means.
    ///
    /// # Errors
    /// A field has a type that is not known.
    pub fn new(space: &Space, renames: &[(String, String)]) -> std::result::Result<TupleMaker, String> {
        let field = |field: &crate::space::Field| {
            let name = String::from_utf8_lossy(&field.name).into_owned();
            let field_type = FieldType::named(&field.type_name).ok_or_else(|| {
                let type_name = String::from_utf8_lossy(&field.type_name);
                format!("field {name} of space {} has the type {type_name}, which is not known", space.name)
            })?;
            // Anything includes nil.
            let is_nullable = field.is_nullable || field_type == FieldType::Any;
            Ok::<_, String>(Field { name, field_type, is_nullable, may_be_missing: field.is_nullable })
        };
        let fields = space.fields.iter().map(field).collect::<std::result::Result<_, _>>()?;
        Ok(TupleMaker {
            fields,
            space: space.name.clone(),
            renames: renames.to_vec(),
            places: Vec::new(),
            bytes: Vec::new(),
        })
    }

    /// Returns the number of the field, from 0, that a row or a column names: by its name, or by its number
    /// from 1 if it has no name.
    ///
    /// # Errors
    /// There is no such field.
    pub fn field(&self, name: &str) -> Result<usize> {
        let renamed = self.renames.iter().find(|(old, _)| old == name);
        let name = renamed.map_or(name, |(_, new)| new.as_str());
        if let Some(number) = self.fields.iter().position(|field| field.name == name) {
            return Ok(number);
        }
        let number = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let is_beyond = |number: &usize| (self.fields.len()..FIELDS_MAX).contains(number);
        number.filter(is_beyond).ok_or_else(|| {
            let names: Vec<&str> = self.fields.iter().map(|field| field.name.as_str()).collect();
            match names.is_empty() {
                true => format!("there is no field {name}: space {} has no names of fields", self.space),
                false => format!(
                    "there is no field {name} in space {}; there are: {}",
                    self.space,
                    names.join(", ")
                ),
            }
        })
    }

    /// Appends the tuple of a line of JSON: an object with the names of fields, or an array.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn put_json(&mut self, line: &str, out: &mut Vec<u8>) -> Result<()> {
        self.begin();
        let line = line.trim();
        if line.starts_with('[') {
            let values: Vec<&RawValue> = serde_json::from_str(line).map_err(|error| no_json(&error))?;
            for (number, value) in values.into_iter().enumerate() {
                self.set_json(number, value.get())?;
            }
        } else {
            let Pairs(pairs) = serde_json::from_str(line).map_err(|error| no_json(&error))?;
            for (name, value) in pairs {
                let number = self.field(&name)?;
                if self.places.get(number).is_some_and(Option::is_some) {
                    return Err(format!("field {name} is there twice"));
                }
                self.set_json(number, value.get())?;
            }
        }
        self.finish(out)
    }

    /// Appends the tuple of a row of a table. Each value is the number of its field, and its text; `None` is
    /// nil.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn put_texts<'t>(
        &mut self,
        values: impl Iterator<Item = (usize, Option<&'t str>)>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.begin();
        for (number, text) in values {
            match text {
                Some(text) => self.set(number, |field_type, out| put_text(text, field_type, out))?,
                None => self.set_nil(number)?,
            }
        }
        self.finish(out)
    }

    fn begin(&mut self) {
        self.places.clear();
        self.bytes.clear();
    }

    fn set_json(&mut self, number: usize, json: &str) -> Result<()> {
        if json == "null" {
            return self.set_nil(number);
        }
        self.set(number, |field_type, out| put_json(json, field_type, out))
    }

    fn set_nil(&mut self, number: usize) -> Result<()> {
        if let Some(field) = self.fields.get(number).filter(|field| !field.is_nullable) {
            return Err(format!("field {} has no value, and must not be nil", field.name));
        }
        self.set(number, |_, out| {
            put_nil(out);
            Ok(())
        })
    }

    fn set(&mut self, number: usize, put: impl FnOnce(FieldType, &mut Vec<u8>) -> Result<()>) -> Result<()> {
        if number >= FIELDS_MAX {
            return Err(format!("a row has more than {FIELDS_MAX} fields"));
        }
        let field_type = self.fields.get(number).map_or(FieldType::Any, |field| field.field_type);
        let start = self.bytes.len();
        put(field_type, &mut self.bytes).map_err(|what| match self.fields.get(number) {
            Some(field) => format!("field {}: {what}", field.name),
            None => format!("field {}: {what}", number.saturating_add(1)),
        })?;
        if self.places.len() <= number {
            self.places.resize(number.saturating_add(1), None);
        }
        if let Some(place) = self.places.get_mut(number) {
            *place = Some((start, self.bytes.len()));
        }
        Ok(())
    }

    /// Appends the tuple. Fields without a value are nil, and missing at the end.
    fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        for (number, field) in self.fields.iter().enumerate() {
            if !field.is_nullable && self.places.get(number).copied().flatten().is_none() {
                return Err(format!("field {} is missing", field.name));
            }
        }
        let needed = self.fields.iter().rposition(|field| !field.may_be_missing);
        let count = self.places.len().max(needed.map_or(0, |last| last.saturating_add(1)));
        self.places.resize(count, None);
        put_array_len(out, u32::try_from(self.places.len()).unwrap_or(u32::MAX));
        for place in &self.places {
            match place.and_then(|(start, end)| self.bytes.get(start..end)) {
                Some(value) => out.extend_from_slice(value),
                None => put_nil(out),
            }
        }
        Ok(())
    }
}

fn no_json(error: &serde_json::Error) -> String {
    format!("this is not an object or array of JSON: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::msgpack::Reader;
    use crate::text::{JsonStyle, JsonWriter};

    fn maker() -> TupleMaker {
        let field = |name: &str, type_name: &str, is_nullable| crate::space::Field {
            name: name.into(),
            type_name: type_name.into(),
            is_nullable,
        };
        let fields =
            vec![field("id", "unsigned", false), field("name", "string", true), field("more", "any", true)];
        let space = Space { name: "orders".to_owned(), fields, ..Space::default() };
        TupleMaker::new(&space, &[("number".to_owned(), "id".to_owned())]).unwrap()
    }

    fn shown(made: Result<()>, tuple: &[u8]) -> Result<String> {
        made?;
        let mut out = Vec::new();
        JsonWriter::new(JsonStyle::Exact).put(&mut Reader::new(tuple), &mut out).unwrap();
        Ok(String::from_utf8(out).unwrap())
    }

    fn of_json(line: &str) -> Result<String> {
        let mut out = Vec::new();
        let made = maker().put_json(line, &mut out);
        shown(made, &out)
    }

    #[test]
    fn objects_and_arrays_become_tuples() {
        for (line, tuple) in [
            (r#"{"id":1,"name":"a","more":[2]}"#, r#"[1,"a",[2]]"#),
            (r#" {"more":{"x":1},"id":1} "#, r#"[1,null,{"x":1}]"#),
            (r#"{"id":1}"#, "[1]"),
            (r#"{"number":1}"#, "[1]"),
            (r#"{"id":1,"name":null}"#, "[1,null]"),
            (r#"{"id":1,"5":true}"#, "[1,null,null,null,true]"),
            (r#"[1,"a",null,4]"#, r#"[1,"a",null,4]"#),
        ] {
            assert_eq!(of_json(line), Ok(tuple.to_owned()), "{line}");
        }
    }

    #[test]
    fn rows_that_do_not_fit_are_refused() {
        for (line, sentence) in [
            (r#"{"name":"a"}"#, "field id is missing"),
            (r#"{"id":null}"#, "field id has no value, and must not be nil"),
            (r#"{"id":"1"}"#, "field id: a whole number from 0 to 2^64 - 1 is expected, not \"1\""),
            (r#"{"id":1,"nam":"a"}"#, "there is no field nam in space orders; there are: id, name, more"),
            (r#"{"id":1,"2":"a"}"#, "there is no field 2 in space orders; there are: id, name, more"),
            (r#"{"id":1,"id":2}"#, "field id is there twice"),
            (
                r#"{"id":1,"99999999999":2}"#,
                "there is no field 99999999999 in space orders; there are: id, name, more",
            ),
        ] {
            let found = of_json(line);
            assert!(found.as_ref().is_err_and(|what| what.starts_with(sentence)), "{line}: {found:?}");
        }
        assert!(of_json("{").unwrap_err().starts_with("this is not an object or array of JSON: EOF"));
        assert!(of_json("7").unwrap_err().starts_with("this is not an object or array of JSON"));
    }

    #[test]
    fn a_tuple_has_all_fields_that_must_be_there() {
        let field = |name: &str| crate::space::Field { name: name.into(), ..crate::space::Field::default() };
        let space = Space { fields: vec![field("a"), field("b")], ..Space::default() };
        let mut out = Vec::new();
        TupleMaker::new(&space, &[]).unwrap().put_json("{\"a\":1}", &mut out).unwrap();
        assert_eq!(shown(Ok(()), &out), Ok("[1,null]".to_owned()));
    }

    #[test]
    fn columns_of_text_become_tuples() {
        let put = |values: &[(usize, Option<&str>)]| {
            let mut out = Vec::new();
            let made = maker().put_texts(values.iter().copied(), &mut out);
            shown(made, &out)
        };
        assert_eq!(put(&[(1, Some("")), (0, Some("7")), (2, None)]), Ok(r#"[7,"",null]"#.to_owned()));
        assert_eq!(put(&[(0, None)]), Err("field id has no value, and must not be nil".to_owned()));
    }
}
