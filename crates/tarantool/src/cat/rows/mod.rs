//! A row in each form: JSON, YAML, Lua, msgpack.
//!
//! Input: a row with its bytes, and the names of its time. Output: bytes. Does not know files.

mod json;
mod lua;
mod names;
mod yaml;

use crate::error::Damage;
use crate::file::header::FileKind;
use crate::file::row::Row;
use crate::space::Formats;
use crate::text::JsonStyle;
use json::JsonRows;

pub use names::{kind_name, kind_named};

/// The form of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowForm {
    /// A JSON object a line, with the names of fields.
    Json(JsonStyle),
    /// YAML, as `tarantoolctl cat` prints it.
    Yaml,
    /// Lua, as `tarantoolctl cat` prints it.
    Lua,
    /// The header of a row and its body as they are in the file: two maps of msgpack. A row without a body
    /// has an empty one.
    Msgpack,
}

/// A row with what is known about it.
#[derive(Clone, Copy)]
pub(super) struct RowInFile<'a> {
    pub(super) row: Row<'a>,
    /// The bytes of its header.
    pub(super) head: &'a [u8],
    /// The kind of the file.
    pub(super) kind: FileKind,
    pub(super) formats: &'a Formats,
}

/// Writes rows in one form. Keeps its memory.
pub(super) struct RowWriter {
    form: RowForm,
    json: JsonRows,
}

impl RowWriter {
    pub(super) fn new(form: RowForm) -> RowWriter {
        let style = if let RowForm::Json(style) = form { style } else { JsonStyle::Readable };
        RowWriter { form, json: JsonRows::new(style) }
    }

    /// Appends a row.
    ///
    /// # Errors
    /// A value in it is damaged, or nested too deeply for the form.
    pub(super) fn put(&mut self, row: RowInFile, out: &mut Vec<u8>) -> Result<(), Damage> {
        match self.form {
            RowForm::Json(_) => self.json.put(&row, out),
            RowForm::Yaml => yaml::put(&row, out),
            RowForm::Lua => lua::put(&row, out),
            RowForm::Msgpack => {
                out.extend_from_slice(row.head);
                out.extend_from_slice(if row.row.body.bytes.is_empty() {
                    &[0x80]
                } else {
                    row.row.body.bytes
                });
                Ok(())
            }
        }
    }
}
