//! A database of SQLite: a table for each space, with its primary key and its indexes.
//!
//! The only module that knows SQLite. The database is written beside its name, in one transaction, and gets
//! the name when it is complete and durable.
//!
//! Columns have no type except INTEGER, TEXT and REAL where all values of the column are of that type:
//! SQLite would change other values to fit.

use super::cell::Cell;
use super::kinds::{Kinds, each_row, kinds_of};
use super::outcome::{Outcome, Written};
use super::table::Table;
use super::text_file::{begun, give_up, is_taken, publish};
use crate::session::Session;
use anyhow::{Context, Result, anyhow};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, OpenFlags, ToSql, params_from_iter};
use std::collections::BTreeSet;
use std::path::Path;
use tarantool::SpaceTuples;
use tarantool::space::{Space, SpaceIndex};
use terminal::amount::count;

/// Writes spaces into a new database.
///
/// # Errors
/// The file exists; damage; SQLite.
pub(super) fn write(
    session: &Session,
    tables: &[(Table, Space, &SpaceTuples)],
    path: &Path,
    outcome: &mut Outcome,
) -> Result<()> {
    let written = write_tables(session, tables, path, outcome);
    if written.is_err() && !is_taken(path) {
        give_up(session, path);
    }
    written
}

fn write_tables(
    session: &Session,
    tables: &[(Table, Space, &SpaceTuples)],
    path: &Path,
    outcome: &mut Outcome,
) -> Result<()> {
    let begun = begun(session, path)?;
    // The disk makes the file, with a mode that only its owner may read.
    drop(session.disk.create(&begun)?);
    // SQLite takes a name that begins with `file:` for an address. A whole path begins otherwise.
    let place = std::path::absolute(&begun)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(place, flags)
        .with_context(|| format!("cannot open {}", begun.display()))?;
    // A file that is not complete has no name, so it needs no journal.
    database.pragma_update(None, "journal_mode", "OFF")?;
    database.pragma_update(None, "synchronous", "OFF")?;
    database.execute_batch("BEGIN")?;
    let mut names = BTreeSet::new();
    for (table, space, rows) in tables {
        let target = Target { session, database: &database, table, space, rows };
        target.write(&mut names, &mut outcome.remarks).map_err(|error| match error.downcast_ref() {
            Some(rusqlite::Error::SqliteFailure(..)) => {
                anyhow!("space {} is not written: {error}", space.name)
            }
            _ => error,
        })?;
        let name = space.name.clone();
        outcome.written.push(Written { name, row_count: rows.row_count(), path: path.to_owned() });
    }
    database.execute_batch("COMMIT")?;
    database.close().map_err(|(_, error)| error)?;
    session.disk.sync_file(&begun)?;
    publish(session, &begun, path)
}

/// One table to write.
struct Target<'a> {
    session: &'a Session,
    database: &'a Connection,
    table: &'a Table,
    space: &'a Space,
    rows: &'a SpaceTuples<'a>,
}

/// Returns the type of a column, with a blank before it.
fn type_name(kinds: Kinds) -> &'static str {
    let is_text = kinds.text || becomes_text(kinds);
    match (kinds.whole || kinds.boolean, kinds.double, is_text, kinds.bytes) {
        (true, false, false, false) => " INTEGER",
        (false, true, false, false) => " REAL",
        (false, false, true, false) => " TEXT",
        _ => "",
    }
}

/// Returns whether different values of a column can become equal ones.
fn is_ambiguous(kinds: Kinds) -> bool {
    kinds.boolean && (kinds.whole || kinds.double) || becomes_text(kinds) && kinds.text
}

/// Returns whether a column has values that only text can hold.
fn becomes_text(kinds: Kinds) -> bool {
    kinds.words || kinds.large_count > 0 || kinds.nan_count > 0
}

impl Target<'_> {
    fn write(&self, names: &mut BTreeSet<String>, remarks: &mut Vec<String>) -> Result<()> {
        let kinds = kinds_of(self.table, self.rows)?;
        for (name, kinds) in self.table.columns.iter().zip(&kinds) {
            let what = |what: String| {
                let space = &self.space.name;
                format!("space {space}, field {name}: {what}, which SQLite does not have: kept as text")
            };
            if kinds.large_count > 0 {
                remarks.push(what(format!("{} over 63 bits", count(kinds.large_count, "whole number"))));
            }
            if kinds.nan_count > 0 {
                remarks.push(what(count(kinds.nan_count, "NaN")));
            }
        }
        let table = self.name(&self.space.name, names);
        self.create(&table, &kinds)?;
        self.insert(&table)?;
        for index in &self.space.indexes {
            remarks.extend(self.index(&table, index, &kinds, names)?);
        }
        Ok(())
    }

    /// Returns a free name, close to the wanted one. Tables and indexes share their names, whose case does
    /// not count; those that begin with `sqlite_` are SQLite's own.
    fn name(&self, wanted: &str, names: &mut BTreeSet<String>) -> String {
        let own = format!("space_{}", self.space.id);
        let is_usable = !wanted.is_empty() && !wanted.contains('\0');
        let is_own = wanted.to_lowercase().starts_with("sqlite_");
        let mut name = if is_usable && !is_own { wanted.to_owned() } else { own };
        while !names.insert(name.to_lowercase()) {
            name = format!("{name}_{}", self.space.id);
        }
        name
    }

    fn create(&self, table: &str, kinds: &[Kinds]) -> Result<()> {
        let columns: Vec<String> = self
            .table
            .columns
            .iter()
            .zip(kinds)
            .map(|(name, kinds)| format!("{}{}", quoted(name), type_name(*kinds)))
            .collect();
        let primary = self.space.indexes.iter().find(|index| index.iid == 0);
        let key =
            primary.filter(|index| self.is_clear(index, kinds)).and_then(|index| self.columns_of(index));
        let key = key.map_or(String::new(), |key| format!(", PRIMARY KEY ({key})"));
        // A space without tuples and without a format has no column, which SQLite does not allow.
        let columns = if columns.is_empty() { quoted("1") } else { columns.join(", ") };
        self.database.execute(&format!("CREATE TABLE {} ({columns}{key})", quoted(table)), [])?;
        Ok(())
    }

    fn insert(&self, table: &str) -> Result<()> {
        let places = vec!["?"; self.table.columns.len().max(1)].join(", ");
        let mut statement =
            self.database.prepare(&format!("INSERT INTO {} VALUES ({places})", quoted(table)))?;
        let progress = self.session.progress("writing rows", self.rows.row_count());
        let count = self.table.columns.len();
        each_row(self.rows, |cells| {
            let missing = count.saturating_sub(cells.len());
            let missing = std::iter::repeat_n(&Cell::Nothing, missing);
            statement.execute(params_from_iter(cells.iter().chain(missing).map(Bound)))?;
            work::Progress::add(&progress, 1, 0);
            Ok(work::Progress::check(&progress).map_err(tarantool::Error::from)?)
        })?;
        progress.finish();
        Ok(())
    }

    /// Returns the columns of an index, if each of its parts is one.
    fn columns_of(&self, index: &SpaceIndex) -> Option<String> {
        let columns: Option<Vec<String>> = index
            .parts
            .iter()
            .map(|part| {
                let name = self.table.columns.get(part.field as usize)?;
                let has_own_order = part.path.is_empty() && part.kind.collation.is_none();
                has_own_order.then(|| {
                    let direction = if part.kind.is_descending { " DESC" } else { "" };
                    format!("{}{direction}", quoted(name))
                })
            })
            .collect();
        columns.filter(|columns| !columns.is_empty()).map(|columns| columns.join(", "))
    }

    /// Returns whether different keys of an index are different in SQLite, too.
    fn is_clear(&self, index: &SpaceIndex, kinds: &[Kinds]) -> bool {
        let of_part = |field: u32| kinds.get(field as usize).copied().unwrap_or_default();
        !index.parts.iter().any(|part| is_ambiguous(of_part(part.field)))
    }

    /// Makes an index. Returns what of it has no place.
    fn index(
        &self,
        table: &str,
        index: &SpaceIndex,
        kinds: &[Kinds],
        names: &mut BTreeSet<String>,
    ) -> Result<Option<String>> {
        let Some(columns) = self.columns_of(index) else {
            let space = &self.space.name;
            return Ok(Some(format!("space {space}: index {} has no place in SQLite: left out", index.name)));
        };
        let is_clear = self.is_clear(index, kinds);
        if index.iid == 0 && is_clear {
            return Ok(None);
        }
        let name = self.name(&format!("{table}_{}", index.name), names);
        let (name, table) = (quoted(&name), quoted(table));
        let unique = if index.is_unique && is_clear { "UNIQUE " } else { "" };
        self.database.execute(&format!("CREATE {unique}INDEX {name} ON {table} ({columns})"), [])?;
        Ok((!is_clear && index.is_unique).then(|| {
            format!(
                "space {}: index {} has keys of several types that SQLite does not tell apart: it is not \
                 unique",
                self.space.name, index.name
            )
        }))
    }
}

/// Returns a name in quotes, as SQL has it.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A cell as a parameter.
struct Bound<'a>(&'a Cell<'a>);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            Cell::Nothing => ToSqlOutput::Owned(Value::Null),
            Cell::Boolean(value) => ToSqlOutput::Owned(Value::Integer(i64::from(*value))),
            Cell::Whole(number) => match i64::try_from(*number) {
                Ok(number) => ToSqlOutput::Owned(Value::Integer(number)),
                Err(_) => ToSqlOutput::Owned(Value::Text(number.to_string())),
            },
            // SQLite takes it for nil.
            Cell::Double(number) if number.is_nan() => ToSqlOutput::Owned(Value::Text("NaN".to_owned())),
            Cell::Double(number) => ToSqlOutput::Owned(Value::Real(*number)),
            Cell::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Cell::Words(text) | Cell::Json(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Cell::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
        })
    }
}
