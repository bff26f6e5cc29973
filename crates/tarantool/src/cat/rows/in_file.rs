//! A row with what is known about it where it is printed.

use crate::file::header::FileKind;
use crate::file::row::Row;
use crate::space::Formats;

/// A row with what is known about it.
#[derive(Clone, Copy)]
pub(in crate::cat) struct RowInFile<'a> {
    pub(in crate::cat) row: Row<'a>,
    /// The bytes of its header.
    pub(in crate::cat) head: &'a [u8],
    /// The kind of the file.
    pub(in crate::cat) kind: FileKind,
    pub(in crate::cat) formats: &'a Formats,
}
