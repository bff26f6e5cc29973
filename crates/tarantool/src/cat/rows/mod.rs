//! A row in each form: JSON, YAML, Lua, msgpack.
//!
//! `in_file` is a row with what is known about it. `writer` chooses among the forms, which have a file each;
//! `names` has the words for kinds of rows and for keys.

mod in_file;
mod json;
mod lua;
mod names;
mod writer;
mod yaml;

pub(super) use in_file::RowInFile;
pub use names::{kind_name, kind_named};
pub use writer::RowForm;
pub(super) use writer::RowWriter;
