//! Parquet and Arrow: a file for each space, column by column, whose types are those of the values.

use super::cell::Cell;
use super::kinds::{Kinds, each_row, kinds_of};
use super::table::Table;
use super::text_file::TextFile;
use crate::session::Session;
use anyhow::Result;
use columnar::{Column, Field, Kind, TableWriter};
use std::path::Path;
use tarantool::SpaceTuples;
use tarantool::space::Space;
use work::Progress;

/// A group of rows ends when its values take so many bytes, or when it has so many rows.
const GROUP_BYTES: usize = 32 << 20;
const GROUP_ROWS: usize = 200_000;

/// What is written.
pub(super) struct Target<'a> {
    /// Where.
    pub(super) session: &'a Session,
    /// Which format.
    pub(super) format: columnar::Format,
    /// The columns.
    pub(super) table: &'a Table,
    /// The space.
    pub(super) space: &'a Space,
    /// The tuples.
    pub(super) rows: &'a SpaceTuples<'a>,
}

impl Target<'_> {
    /// Writes a space. Adds what had no place in the types of its columns.
    ///
    /// # Errors
    /// The file exists; damage; the disk.
    pub(super) fn write(
        &self,
        path: &Path,
        progress: &dyn Progress,
        remarks: &mut Vec<String>,
    ) -> Result<()> {
        let kinds = self.column_kinds(remarks)?;
        let mut file = TextFile::create(self.session, path)?;
        let fields: Vec<Field> =
            self.table.columns.iter().zip(&kinds).map(|(name, kind)| Field { name, kind: *kind }).collect();
        let mut writer = TableWriter::begin(self.format, &fields, &mut file.buffer);
        let encoder = writer.encoder();
        let mut columns: Vec<Column> = kinds.iter().map(|kind| Column::new(*kind)).collect();
        each_row(self.rows, |cells| {
            for (number, column) in columns.iter_mut().enumerate() {
                put(column, kinds[number], cells.get(number).unwrap_or(&Cell::Nothing));
            }
            progress.add(1, 0);
            progress.check().map_err(tarantool::Error::from)?;
            let size_bytes: usize = columns.iter().map(Column::size_bytes).sum();
            let row_count = columns.first().map_or(0, Column::row_count);
            if row_count >= GROUP_ROWS || size_bytes >= GROUP_BYTES {
                writer.group(encoder.encode(&mut columns), &mut file.buffer);
                file.end_row()?;
            }
            Ok(())
        })?;
        if columns.first().is_some_and(|column| column.row_count() > 0) {
            writer.group(encoder.encode(&mut columns), &mut file.buffer);
        }
        writer.finish(&mut file.buffer);
        file.finish()
    }

    /// Returns the kind of each column: that of all its values; of the format, if it has none; else text.
    fn column_kinds(&self, remarks: &mut Vec<String>) -> Result<Vec<Kind>> {
        let kinds = kinds_of(self.table, self.rows)?;
        let mut chosen = Vec::new();
        for (number, kinds) in kinds.iter().enumerate() {
            let type_name = self.space.fields.get(number).map(|field| field.type_name.as_slice());
            let kind = kind_of(*kinds, type_name.unwrap_or_default());
            let is_plain = !(kinds.boolean || kinds.whole || kinds.double || kinds.bytes);
            if kind == Kind::OptionalText && (!is_plain || kinds.large_count > 0) {
                remarks.push(format!(
                    "space {}, field {}: its values have no type in common: they are text",
                    self.space.name, self.table.columns[number]
                ));
            }
            chosen.push(kind);
        }
        Ok(chosen)
    }
}

fn kind_of(kinds: Kinds, type_name: &[u8]) -> Kind {
    let is_text = kinds.text || kinds.words || kinds.large_count > 0;
    match (is_text, kinds.bytes, kinds.boolean, (kinds.whole, kinds.double)) {
        (false, false, false, (true, false)) => Kind::OptionalNumber,
        (false, false, false, (false, true)) => Kind::OptionalDouble,
        (false, false, false, (true, true)) if kinds.inexact_count == 0 => Kind::OptionalDouble,
        (false, false, true, (false, false)) => Kind::OptionalBoolean,
        (false, true, false, (false, false)) => Kind::OptionalBytes,
        (false, false, false, (false, false)) => match type_name {
            b"unsigned" | b"integer" => Kind::OptionalNumber,
            b"double" | b"number" => Kind::OptionalDouble,
            b"boolean" => Kind::OptionalBoolean,
            b"varbinary" => Kind::OptionalBytes,
            _ => Kind::OptionalText,
        },
        _ => Kind::OptionalText,
    }
}

fn put(column: &mut Column, kind: Kind, cell: &Cell) {
    match kind {
        Kind::OptionalNumber => column.push_optional_number(match cell {
            Cell::Whole(number) => i64::try_from(*number).ok(),
            _ => None,
        }),
        Kind::OptionalDouble => column.push_optional_double(match cell {
            Cell::Whole(number) => Some(*number as f64),
            Cell::Double(number) => Some(*number),
            _ => None,
        }),
        Kind::OptionalBoolean => column.push_optional_boolean(match cell {
            Cell::Boolean(value) => Some(*value),
            _ => None,
        }),
        Kind::OptionalBytes => column.push_optional_bytes(match cell {
            Cell::Bytes(bytes) => Some(bytes),
            _ => None,
        }),
        _ => column.push_optional_text(cell.text().as_deref()),
    }
}
