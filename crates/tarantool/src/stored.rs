//! Reads from a store the definitions of its spaces, and facts about the files that it was made from.
//!
//! Input: a snapshot of a store. Output: its spaces, and the header of a Tarantool snapshot with the same
//! rows. Everything comes from the tables of the spaces that define spaces and from attachments.

use crate::error::{Error, Result};
use crate::file::header::Header;
use crate::key::COLLATION_DATA;
use crate::recover::COLLATIONS;
use crate::space::Spaces;
use crate::space::table::SpaceTable;
use crate::tuples::Tuples;
use store::{Snapshot, Table};

/// The name of the attachment with the source of a store's rows: the header of a snapshot with the same rows,
/// as text.
pub const ORIGIN: &str = "tarantool";

/// The name of the attachment that lists what a load left out: UTF-8, one item per line. It is missing if
/// nothing was left out.
pub const LOST: &str = "tarantool lost";

/// Lines of [`LOST`]. Further ones are only counted.
const LOST_LINES_MAX: usize = 1000;

/// Bytes of a line of [`LOST`]. Longer lines are cut.
const LOST_LINE_BYTES_MAX: usize = 400;

/// Returns the attachment for what a load left out, one line each; `None` if nothing was left out.
pub fn lost_attachment(lines: &[String]) -> Option<(String, Vec<u8>)> {
    let mut text = String::new();
    for line in lines.iter().take(LOST_LINES_MAX) {
        let end = line.floor_char_boundary(LOST_LINE_BYTES_MAX);
        text.push_str(&line.get(..end).unwrap_or(line).replace('\n', " "));
        text.push('\n');
    }
    if let Some(more @ 1..) = lines.len().checked_sub(LOST_LINES_MAX) {
        text.push_str(&format!("{more} more\n"));
    }
    (!lines.is_empty()).then(|| (LOST.to_owned(), text.into_bytes()))
}

/// Returns what a store lacks compared with the files that it was made from, one line each.
pub fn stored_lost(snapshot: &Snapshot) -> Vec<String> {
    let text = snapshot.attachment(LOST).map(String::from_utf8_lossy).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Returns the header that a snapshot with a store's rows would have: instance and vector clock. `None` if
/// the store was not made from a snapshot.
///
/// # Errors
/// If the header is damaged.
pub fn stored_header(snapshot: &Snapshot) -> Result<Option<Header>> {
    let Some(text) = snapshot.attachment(ORIGIN) else { return Ok(None) };
    let header = Header::parse(text).map_err(|damage| Error::Unsupported {
        path: snapshot.directory().to_owned(),
        what: format!("what the store says of its origin is damaged: {}", damage.what),
    })?;
    Ok(Some(header.0))
}

/// Returns the spaces whose definitions are in a store.
///
/// # Errors
/// If the store has no spaces, a definition is invalid, or a file is damaged.
pub fn stored_spaces(snapshot: &Snapshot) -> Result<Spaces> {
    Tuples::of_store(snapshot)?.definitions()
}

/// Returns the table of a space, whose keys are what this program makes of the tuples.
///
/// # Errors
/// If there is none; if another version of the program made other keys; if a file is damaged.
pub fn stored_table(snapshot: &Snapshot, shape: &SpaceTable) -> Result<Table> {
    let table = snapshot.table(&shape.schema.name)?;
    let again = |what: String| Error::Unsupported {
        path: snapshot.directory().to_owned(),
        what: format!("{what}: load the files of Tarantool into a new store"),
    };
    let entries = shape.indexes.iter().filter_map(|index| index.entries.as_ref());
    let mut entries = entries.map(|entries| (snapshot.table(&entries.schema.name), &entries.schema));
    let is_same = table.schema() == &shape.schema
        && entries.all(|(found, schema)| found.is_ok_and(|found| found.schema() == schema));
    if !is_same {
        let what = "the store has other indexes than this version of the program makes";
        return Err(again(format!("{what} (space {})", shape.id)));
    }
    let found = snapshot.attachment(COLLATIONS).map(String::from_utf8_lossy).unwrap_or_default();
    if shape.has_collation() && found != COLLATION_DATA {
        let found = if found.is_empty() { "none".to_owned() } else { found.escape_debug().to_string() };
        let what = "the store's collations sort by other data than this version of the program";
        return Err(again(format!("{what} ({found}, not {COLLATION_DATA})")));
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_has_limits() {
        assert_eq!(lost_attachment(&[]), None);
        let lines = vec!["é\n".repeat(300); LOST_LINES_MAX + 7];
        let (_, bytes) = lost_attachment(&lines).expect("something is lost");
        let text = String::from_utf8(bytes).expect("cut at a character");
        assert_eq!(text.lines().count(), LOST_LINES_MAX + 1);
        assert!(text.ends_with("\n7 more\n") && (text.len() as u64) < store::limits::ATTACHMENT_BYTES_MAX);
    }
}
