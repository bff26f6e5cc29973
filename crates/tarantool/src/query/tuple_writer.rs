//! Writes tuples as JSON: whole or some fields, as arrays or as objects with names.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::fields::FieldPath;
use crate::error::Damage;
use crate::msgpack::Reader;
use crate::space::{Space, SpaceFormat};
use crate::text::{JsonStyle, JsonWriter, put_json_text, put_named_tuple};

/// How a tuple is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TupleForm {
    /// An array of its fields.
    Array,
    /// An object with the names of its fields; an array if they have none.
    Object,
}

/// Writes the tuples of a space. Keeps its memory.
#[derive(Debug)]
pub struct TupleWriter {
    values: JsonWriter,
    form: TupleForm,
    /// The names of the fields as keys of an object.
    keys: Vec<Vec<u8>>,
    /// The fields to write, each with its key; `None` for all.
    chosen: Option<Vec<(Vec<u8>, FieldPath)>>,
}

impl TupleWriter {
    /// Returns a writer for the tuples of a space. Without `fields` it writes whole tuples.
    pub fn new(space: &Space, form: TupleForm, fields: Option<Vec<FieldPath>>) -> TupleWriter {
        let with_key = |path: FieldPath| {
            let mut key = Vec::new();
            put_json_text(&path.text, &mut key);
            key.push(b':');
            (key, path)
        };
        let chosen = fields.map(|fields| fields.into_iter().map(with_key).collect());
        let keys = match form {
            TupleForm::Array => Vec::new(),
            TupleForm::Object => SpaceFormat::of(space.clone()).field_keys,
        };
        TupleWriter { values: JsonWriter::new(JsonStyle::Readable), form, keys, chosen }
    }

    /// Appends a tuple. A chosen field that it lacks is `null`.
    ///
    /// # Errors
    /// It is not msgpack. Something may have been appended.
    pub fn put(&mut self, tuple: &[u8], out: &mut Vec<u8>) -> Result<(), Damage> {
        let Some(chosen) = &self.chosen else {
            return put_named_tuple(&mut self.values, &mut Reader::new(tuple), &self.keys, out);
        };
        let is_object = self.form == TupleForm::Object;
        let mut before = if is_object { b'{' } else { b'[' };
        for (key, path) in chosen {
            out.push(before);
            before = b',';
            if is_object {
                out.extend_from_slice(key);
            }
            match path.value(tuple)? {
                Some(mut reader) => self.values.put(&mut reader, out)?,
                None => out.extend_from_slice(b"null"),
            }
        }
        out.push(if is_object { b'}' } else { b']' });
        Ok(())
    }
}
