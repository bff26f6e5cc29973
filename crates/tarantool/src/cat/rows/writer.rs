//! Writes rows in one of the forms.
//!
//! Input: a row with its bytes, and the names of its time. Output: bytes. Does not know files.

use super::in_file::RowInFile;
use super::json::JsonRows;
use super::{lua, yaml};
use crate::error::Damage;
use crate::text::JsonStyle;

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

/// Writes rows in one form. Keeps its memory.
pub(in crate::cat) struct RowWriter {
    form: RowForm,
    json: JsonRows,
}

impl RowWriter {
    pub(in crate::cat) fn new(form: RowForm) -> RowWriter {
        let style = if let RowForm::Json(style) = form { style } else { JsonStyle::Readable };
        RowWriter { form, json: JsonRows::new(style) }
    }

    /// Appends a row.
    ///
    /// # Errors
    /// A value in it is damaged, or nested too deeply for the form.
    pub(in crate::cat) fn put(&mut self, row: RowInFile, out: &mut Vec<u8>) -> Result<(), Damage> {
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
