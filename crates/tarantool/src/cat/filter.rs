//! Chooses rows: by space, place in the log, replica, kind and key.
//!
//! Input: a row, and the names that are known at its time. Output: whether it is wanted.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::file::header::FileKind;
use crate::file::row::{Row, RowKind};
use crate::json_path;
use crate::key::{PartKind, PartType, normalise_part, values_of_text};
use crate::msgpack::Reader;
use crate::position::Position;
use crate::space::{Formats, Part, SPACE_SYSTEM_MAX};
use store::OwnedValue;

/// A space that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpaceChoice {
    /// By its number.
    Id(u32),
    /// By its name.
    Name(String),
}

impl SpaceChoice {
    /// Reads a name or a number.
    pub fn parse(text: &str) -> SpaceChoice {
        text.parse().map_or_else(|_| SpaceChoice::Name(text.to_owned()), SpaceChoice::Id)
    }
}

/// What is wanted. An empty list wants everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowFilter {
    /// Spaces.
    pub spaces: Vec<SpaceChoice>,
    /// Whether rows of Tarantool's own spaces are wanted that no choice names.
    pub shows_system: bool,
    /// The first position.
    pub from: Option<Position>,
    /// The position after the last. A VClock includes its rows.
    pub to: Option<Position>,
    /// Replicas that wrote the rows.
    pub replicas: Vec<u32>,
    /// Kinds.
    pub kinds: Vec<RowKind>,
    /// The first parts of the primary key, as a user types them.
    pub key: Vec<String>,
}

impl RowFilter {
    /// Returns whether every row is wanted.
    pub(super) fn wants_all(&self) -> bool {
        *self == RowFilter { shows_system: true, ..RowFilter::default() }
    }

    /// Returns whether a row is wanted.
    pub(super) fn wants(&self, row: &Row, kind: FileKind, formats: &Formats) -> bool {
        self.wants_space(row.body.space, formats)
            && self.from.as_ref().is_none_or(|from| !is_before(row, from, kind).unwrap_or(false))
            && self.to.as_ref().is_none_or(|to| is_before(row, to, kind).unwrap_or(true))
            && (self.replicas.is_empty() || self.replicas.contains(&row.replica))
            && (self.kinds.is_empty() || self.kinds.contains(&row.kind))
            && (self.key.is_empty() || self.wants_key(row, formats))
    }

    fn wants_space(&self, space: Option<u32>, formats: &Formats) -> bool {
        let is_chosen = |id: u32, choice: &SpaceChoice| match choice {
            SpaceChoice::Id(chosen) => *chosen == id,
            SpaceChoice::Name(name) => formats.get(id).is_some_and(|format| format.name == *name),
        };
        match space {
            None => self.spaces.is_empty(),
            Some(id) if self.spaces.is_empty() => self.shows_system || id > SPACE_SYSTEM_MAX,
            Some(id) => self.spaces.iter().any(|choice| is_chosen(id, choice)),
        }
    }

    /// Compares the first parts of the row's key. A space whose key is not known has its first fields as key.
    fn wants_key(&self, row: &Row, formats: &Formats) -> bool {
        let body = &row.body;
        let by_place = |number: usize| Part {
            field: u32::try_from(number).unwrap_or(u32::MAX),
            path: Vec::new(),
            kind: PartKind { is_nullable: true, ..PartKind::plain(PartType::Scalar) },
        };
        let known = body.space.and_then(|id| formats.get(id)).map(|format| format.primary.as_slice());
        let parts: Vec<Part> = match known.filter(|parts| !parts.is_empty()) {
            Some(parts) => parts.to_vec(),
            None => (0..self.key.len()).map(by_place).collect(),
        };
        let is_of_tuple = !matches!(row.kind, RowKind::Update | RowKind::Delete);
        let values = if is_of_tuple { body.tuple } else { body.key };
        // A row that names its tuple by another index does not tell the primary key.
        let is_primary = is_of_tuple || body.index.is_none_or(|index| index == 0);
        let Some(values) = values.filter(|_| is_primary && self.key.len() <= parts.len()) else {
            return false;
        };
        let mut wanted = self.key.iter().zip(&parts).enumerate();
        wanted.all(|(number, (text, part))| {
            let place =
                if is_of_tuple { part.clone() } else { Part { kind: part.kind.clone(), ..by_place(number) } };
            is_part(values, &place, text).unwrap_or(false)
        })
    }
}

/// Returns whether a row comes before a position. VClocks say nothing about rows of a snapshot.
fn is_before(row: &Row, position: &Position, kind: FileKind) -> Option<bool> {
    let says_nothing = matches!(position, Position::Clock(_)) && kind != FileKind::Log;
    (!says_nothing).then(|| !position.is_reached_by(row))
}

/// Returns whether a part of a key has the value that `text` stands for.
fn is_part(values: &[u8], part: &Part, text: &str) -> Option<bool> {
    let mut reader = Reader::new(values);
    if reader.array_len().ok()? <= part.field {
        return None;
    }
    reader.skip_many(u64::from(part.field)).ok()?;
    let mut value = json_path::follow(reader, &part.path).ok()??;
    let wanted = values_of_text(text, &part.kind).ok()?;
    if part.kind.is_plain_unsigned() {
        let number = value.uint().ok()?;
        return Some(wanted.contains(&OwnedValue::U64(number)));
    }
    let mut bytes = Vec::new();
    normalise_part(&mut value, &part.kind, &mut bytes).ok()?;
    Some(wanted.contains(&OwnedValue::Bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::row::Body;
    use crate::msgpack::{put_array_len, put_str, put_uint};

    fn row(lsn: i64, replica: u32, timestamp: f64) -> Row<'static> {
        let body = Body { space: Some(512), ..Body::default() };
        let kind = RowKind::Insert;
        Row { kind, replica, lsn, timestamp, group: 0, tsn: lsn, is_commit: true, flags: 0, body }
    }

    fn wants(filter: &RowFilter, row: &Row, kind: FileKind) -> bool {
        filter.wants(row, kind, &Formats::default())
    }

    #[test]
    fn from_is_included_and_to_is_not_except_for_the_rows_of_a_clock() {
        let range = |from: &str, to: &str| RowFilter {
            from: Position::parse(from),
            to: Position::parse(to),
            ..RowFilter::default()
        };
        let lsns = |filter: &RowFilter, kind| -> Vec<i64> {
            (1..8).filter(|&lsn| wants(filter, &row(lsn, 1, lsn as f64), kind)).collect()
        };
        assert_eq!(lsns(&range("3", "5"), FileKind::Log), [3, 4]);
        assert_eq!(lsns(&range("@3", "@5"), FileKind::Log), [3, 4]);
        assert_eq!(lsns(&range("{1: 3}", "{1: 5}"), FileKind::Log), [4, 5]);
        assert_eq!(lsns(&range("{1: 3}", "{1: 5}"), FileKind::Snapshot), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(lsns(&range("3", "x"), FileKind::Snapshot), [3, 4, 5, 6, 7]);
    }

    #[test]
    fn spaces_replicas_and_kinds_are_chosen() {
        let system = Row { body: Body { space: Some(280), ..Body::default() }, ..row(1, 1, 0.0) };
        let none = Row { body: Body::default(), ..row(1, 1, 0.0) };
        let mut filter = RowFilter::default();
        let wanted = |filter: &RowFilter| {
            [&row(1, 1, 0.0), &system, &none].map(|row| wants(filter, row, FileKind::Log))
        };
        assert_eq!(wanted(&filter), [true, false, true]);
        filter.shows_system = true;
        assert_eq!(wanted(&filter), [true, true, true]);
        assert!(filter.wants_all());
        for (choice, expected) in [("512", [true, false, false]), ("_space", [false, true, false])] {
            let filter = RowFilter { spaces: vec![SpaceChoice::parse(choice)], ..RowFilter::default() };
            assert_eq!(wanted(&filter), expected, "{choice}");
        }
        let filter = RowFilter { replicas: vec![2], ..RowFilter::default() };
        assert_eq!(wanted(&filter), [false; 3]);
        let filter = RowFilter { kinds: vec![RowKind::Delete], ..RowFilter::default() };
        assert_eq!(wanted(&filter), [false; 3]);
    }

    #[test]
    fn keys_are_compared_with_the_first_fields() {
        let mut tuple = Vec::new();
        put_array_len(&mut tuple, 3);
        put_uint(&mut tuple, 7);
        put_str(&mut tuple, b"a");
        put_uint(&mut tuple, 1);
        let body = Body { space: Some(512), tuple: Some(&tuple), ..Body::default() };
        let insert = Row { body, ..row(1, 1, 0.0) };
        let deleted = Body { space: Some(512), key: Some(&tuple), ..Body::default() };
        let delete = Row { kind: RowKind::Delete, body: deleted, ..insert };
        let by_other = Row { body: Body { index: Some(1), ..deleted }, ..delete };
        for (key, expected) in
            [(&["7"][..], true), (&["7", "a"], true), (&["8"], false), (&["7", "b"], false)]
        {
            let key = key.iter().map(|part| (*part).to_owned()).collect();
            let filter = RowFilter { key, ..RowFilter::default() };
            assert_eq!(wants(&filter, &insert, FileKind::Log), expected);
            assert_eq!(wants(&filter, &delete, FileKind::Log), expected);
            assert!(!wants(&filter, &by_other, FileKind::Log));
        }
    }
}
