//! Writes spaces as files of other formats: JSON Lines, CSV, Parquet, Arrow, SQLite.
//!
//! Input: the tuples of all spaces, and which are wanted. Output: a file for each space, or one database.
//! `table` says what the columns of a space are, `cell` what a value is. A file gets its name when it is
//! complete. What a format has no place for is told.

mod cell;
mod columns;
mod csv;
mod jsonl;
mod kinds;
mod outcome;
mod sqlite;
mod table;
mod text_file;

use crate::session::Session;
use anyhow::{Result, bail};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use table::{Renames, Table};
use text_file::{TextFile, give_up, is_taken};

pub(crate) use outcome::{Outcome, Written};
use tarantool::space::{SPACE_SYSTEM_MAX, Space, Spaces};
use tarantool::text::JsonStyle;
use tarantool::{SpaceTuples, Tuples};

/// Which format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// An object, or an array, on each line.
    JsonLines(JsonStyle),
    /// RFC 4180.
    Csv,
    /// Parquet or Arrow.
    Columns(columnar::Format),
    /// One database of SQLite.
    Sqlite,
}

impl Format {
    fn extension(self) -> &'static str {
        match self {
            Format::JsonLines(_) => "jsonl",
            Format::Csv => "csv",
            Format::Columns(columnar::Format::Parquet) => "parquet",
            Format::Columns(columnar::Format::Arrow) => "arrow",
            Format::Sqlite => "sqlite",
        }
    }
}

/// What is written.
pub(crate) struct Request<'a> {
    /// The format.
    pub format: Format,
    /// The names or numbers of spaces; empty for all that are not Tarantool's own.
    pub spaces: &'a [String],
    /// New names of fields: `old=new`.
    pub renames: &'a [String],
    /// A directory that does not hold the files, or the file of a database that does not exist.
    pub to: &'a Path,
}

/// Writes spaces.
///
/// # Errors
/// A space or a field does not exist; a file exists; damage; the disk.
pub(crate) fn write(session: &Session, tuples: &Tuples, request: &Request) -> Result<Outcome> {
    let definitions = tuples.definitions()?;
    let chosen = choose(tuples, &definitions, request.spaces)?;
    let mut renames = Renames::parse(request.renames)?;
    let mut outcome = Outcome::default();
    let mut tables = Vec::new();
    for (space, rows) in chosen {
        tables.push((Table::new(&space, rows, &mut renames, &mut outcome.remarks)?, space, rows));
    }
    renames.check()?;
    if request.format == Format::Sqlite {
        sqlite::write(session, &tables, request.to, &mut outcome)?;
        return Ok(outcome);
    }
    session.disk.create_directory(request.to)?;
    let mut names = BTreeSet::new();
    let paths: Vec<PathBuf> = tables
        .iter()
        .map(|(_, space, _)| file_name(space, &mut names))
        .map(|name| request.to.join(format!("{name}.{}", request.format.extension())))
        .collect();
    // Before the first one is written.
    if let Some(taken) = paths.iter().find(|path| is_taken(path)) {
        bail!("{} exists already: name another place", taken.display());
    }
    for ((table, space, rows), path) in tables.iter().zip(paths) {
        let progress = session.progress("writing rows", rows.row_count());
        let written = match request.format {
            Format::JsonLines(style) => TextFile::create(session, &path)
                .and_then(|file| jsonl::write(file, table, rows, style, &progress)),
            Format::Columns(format) => columns::Target { session, format, table, space, rows }.write(
                &path,
                &progress,
                &mut outcome.remarks,
            ),
            _ => TextFile::create(session, &path).and_then(|file| csv::write(file, table, rows, &progress)),
        };
        progress.finish();
        if written.is_err() {
            give_up(session, &path);
        }
        written?;
        outcome.written.push(Written { name: space.name.clone(), row_count: rows.row_count(), path });
    }
    Ok(outcome)
}

/// Returns the wanted spaces, by number.
fn choose<'t>(
    tuples: &'t Tuples,
    definitions: &Spaces,
    wanted: &[String],
) -> Result<Vec<(Space, &'t SpaceTuples<'t>)>> {
    let mut found = BTreeSet::new();
    let mut chosen = Vec::new();
    for rows in tuples.spaces() {
        let space = definitions.get(rows.id);
        let space =
            space.map_err(|damage| anyhow::anyhow!("space {} is damaged: {}", rows.id, damage.what))?;
        let Some(space) = space else { continue };
        let is_wanted = |choice: &&String| **choice == space.name || choice.parse() == Ok(space.id);
        let matches: Vec<&String> = wanted.iter().filter(is_wanted).collect();
        found.extend(matches.iter().copied());
        if !matches.is_empty() || wanted.is_empty() && space.id > SPACE_SYSTEM_MAX {
            chosen.push((space, rows));
        }
    }
    if let Some(unknown) = wanted.iter().find(|choice| !found.contains(choice)) {
        bail!("there is no space {unknown} with rows in {}", tuples.directory().display());
    }
    Ok(chosen)
}

/// Returns a name for the file of a space: that of the space if it can be no path and stands for itself
/// everywhere, else its number, with underscores if another space has that name.
fn file_name(space: &Space, names: &mut BTreeSet<String>) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let is_name = !space.name.is_empty() && space.name.len() <= 100 && space.name.bytes().all(is_plain);
    let mut own = format!("space_{}", space.id);
    let mut name = if is_name && !space.name.starts_with('-') { space.name.clone() } else { own.clone() };
    // Some file systems do not tell large letters from small ones. Another space may be named like this one's
    // number.
    while !names.insert(name.to_ascii_lowercase()) {
        name.clone_from(&own);
        own.push('_');
    }
    name
}
