//! The names of spaces and fields at some time, for printing tuples with names.
//!
//! Input: definitions of spaces, and rows that change them. Output: the name of a space, and those of its
//! fields, ready for JSON. Does not know how rows are printed.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::definition::{Part, Space};
use super::spaces::{SPACE_COLLATION, SPACE_INDEX, SPACE_SPACE, Spaces};
use crate::error::Damage;
use crate::file::row::{Row, RowKind};
use crate::msgpack::Reader;
use crate::text::put_json_text;
use crate::update::{Context, update, upsert};
use std::collections::{BTreeMap, BTreeSet};

/// The names of all spaces that are known at some time.
#[derive(Clone, Debug)]
pub struct Formats {
    spaces: Spaces,
    known: BTreeMap<u32, SpaceFormat>,
}

/// The names of a space and of its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceFormat {
    /// The name of the space.
    pub name: String,
    /// The name as JSON.
    pub name_json: Vec<u8>,
    /// The names of the first fields, as keys of a JSON object with their colons. Empty if the fields cannot
    /// be told apart by name: then a tuple is printed as an array.
    pub field_keys: Vec<Vec<u8>>,
    /// The parts of the primary key, if it can be represented.
    pub primary: Vec<Part>,
    /// The names of the indexes, by number.
    pub indexes: Vec<String>,
}

impl SpaceFormat {
    /// Returns the names that a definition gives.
    pub fn of(space: Space) -> SpaceFormat {
        let names = space.fields.iter().map(|field| field.name.as_slice()).collect::<Vec<_>>();
        let primary = space.indexes.iter().find(|index| index.iid == 0);
        SpaceFormat {
            name_json: json(&space.name),
            field_keys: field_keys(&names),
            primary: primary.map(|index| index.parts.clone()).unwrap_or_default(),
            indexes: space.indexes.iter().map(|index| index.name.clone()).collect(),
            name: space.name,
        }
    }
}

impl Default for Formats {
    fn default() -> Formats {
        Formats::new(Spaces::new())
    }
}

impl Formats {
    /// Returns the names that these definitions give. A definition that cannot be read gives none.
    pub fn new(spaces: Spaces) -> Formats {
        let mut formats = Formats { spaces, known: BTreeMap::new() };
        let ids: Vec<u32> = formats.spaces.ids().collect();
        ids.into_iter().for_each(|id| formats.refresh(id));
        formats
    }

    /// Returns the names of a space.
    pub fn get(&self, space: u32) -> Option<&SpaceFormat> {
        self.known.get(&space)
    }

    /// Returns whether any space has this name.
    pub fn has_name(&self, name: &str) -> bool {
        self.known.values().any(|format| format.name == name)
    }

    /// Returns whether a row changes the definition of a space.
    pub fn is_changed_by(row: &Row) -> bool {
        matches!(row.body.space, Some(SPACE_SPACE | SPACE_INDEX | SPACE_COLLATION))
    }

    /// Takes the definition of a space from a row. What cannot be followed makes the names of the space
    /// unknown, so that none is wrong.
    pub fn follow(&mut self, row: &Row) {
        let Some(id) = self.change(row).ok().flatten() else { return };
        self.refresh(id);
    }

    /// Changes the definitions, and returns whose they are.
    fn change(&mut self, row: &Row) -> Result<Option<u32>, Damage> {
        let body = &row.body;
        let is_space = match body.space {
            Some(SPACE_SPACE) => true,
            Some(SPACE_INDEX) => false,
            Some(SPACE_COLLATION) => return self.change_collation(row).map(|()| None),
            _ => return Ok(None),
        };
        let mut ids =
            Reader::new(body.tuple.filter(|_| row.kind != RowKind::Update).or(body.key).unwrap_or(&[]));
        ids.array_len()?;
        let id = narrow(&mut ids)?;
        let iid = if is_space { 0 } else { narrow(&mut ids)? };
        let old = if is_space { self.spaces.space_tuple(id) } else { self.spaces.index_tuple(id, iid) };
        let context = Context { index_base: body.index_base.unwrap_or(0), fields: &[], double_fields: &[] };
        let new = match (row.kind, body.tuple, old) {
            (RowKind::Insert | RowKind::Replace, tuple, _) => tuple.map(<[u8]>::to_vec),
            (RowKind::Update, Some(operations), Some(old)) => update(old, operations, &context).ok(),
            (RowKind::Upsert, Some(tuple), None) => Some(tuple.to_vec()),
            (RowKind::Upsert, _, Some(old)) => {
                body.ops.and_then(|operations| upsert(old, operations, &context).ok())
            }
            _ => None,
        };
        match (new, is_space) {
            (Some(tuple), true) => self.spaces.set_space(&tuple)?,
            (Some(tuple), false) => self.spaces.set_index(&tuple)?,
            (None, true) => {
                self.spaces.remove_space(id);
                id
            }
            (None, false) => {
                self.spaces.remove_index(id, iid);
                id
            }
        };
        Ok(Some(id))
    }

    /// Changes a collation. Tarantool changes none that an index uses: the row of an index comes after it.
    fn change_collation(&mut self, row: &Row) -> Result<(), Damage> {
        match (row.kind, row.body.tuple, row.body.key) {
            (RowKind::Insert | RowKind::Replace, Some(tuple), _) => self.spaces.set_collation(tuple),
            (RowKind::Delete, _, Some(key)) => {
                let mut key = Reader::new(key);
                key.array_len()?;
                self.spaces.remove_collation(narrow(&mut key)?);
            }
            _ => {}
        }
        Ok(())
    }

    fn refresh(&mut self, id: u32) {
        match self.spaces.get(id).ok().flatten() {
            Some(space) => {
                self.known.insert(id, SpaceFormat::of(space));
            }
            None => {
                self.known.remove(&id);
            }
        }
    }
}

fn narrow(reader: &mut Reader) -> Result<u32, Damage> {
    let damage = reader.damage("a number is over 32 bits");
    u32::try_from(reader.uint()?).map_err(|_| damage)
}

fn json(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    put_json_text(text, &mut out);
    out
}

/// Returns the names as keys of an object, or none if they are not all different. Fields without a name have
/// their numbers as keys, so a name must not look like such a number.
fn field_keys(names: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut seen = BTreeSet::new();
    let is_usable = |name: &[u8]| {
        let is_number = name.iter().all(u8::is_ascii_digit);
        !is_number && std::str::from_utf8(name).is_ok()
    };
    if !names.iter().all(|name| is_usable(name) && seen.insert(*name)) {
        return Vec::new();
    }
    let key = |name: &&[u8]| {
        let mut key = json(&String::from_utf8_lossy(name));
        key.push(b':');
        key
    };
    names.iter().map(key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::row::Body;
    use crate::msgpack::{put_array_len, put_map_len, put_str, put_uint};

    fn space(id: u64, name: &str, fields: &[&str]) -> Vec<u8> {
        let mut out = Vec::new();
        put_array_len(&mut out, 7);
        put_uint(&mut out, id);
        put_uint(&mut out, 1);
        put_str(&mut out, name.as_bytes());
        put_str(&mut out, b"memtx");
        put_uint(&mut out, 0);
        put_map_len(&mut out, 0);
        put_format(&mut out, fields);
        out
    }

    fn put_format(out: &mut Vec<u8>, fields: &[&str]) {
        put_array_len(out, u32::try_from(fields.len()).unwrap());
        for field in fields {
            put_map_len(out, 1);
            put_str(out, b"name");
            put_str(out, field.as_bytes());
        }
    }

    fn row<'a>(kind: RowKind, key: Option<&'a [u8]>, tuple: Option<&'a [u8]>) -> Row<'a> {
        let body = Body { space: Some(SPACE_SPACE), key, tuple, ..Body::default() };
        Row { kind, replica: 1, lsn: 1, timestamp: 0.0, group: 0, tsn: 1, is_commit: true, flags: 0, body }
    }

    fn keys(formats: &Formats) -> Option<String> {
        formats.get(600).map(|format| String::from_utf8(format.field_keys.concat()).unwrap() + &format.name)
    }

    #[test]
    fn names_follow_the_rows_that_change_them() {
        let mut formats = Formats::default();
        assert_eq!(keys(&formats), None);
        formats.follow(&row(RowKind::Insert, None, Some(&space(600, "old", &["id"]))));
        assert_eq!(keys(&formats).unwrap(), "\"id\":old");
        let mut operations = Vec::new();
        put_array_len(&mut operations, 1);
        put_array_len(&mut operations, 3);
        put_str(&mut operations, b"=");
        put_uint(&mut operations, 6);
        put_format(&mut operations, &["id", "na\"me"]);
        let mut key = Vec::new();
        put_array_len(&mut key, 1);
        put_uint(&mut key, 600);
        formats.follow(&row(RowKind::Update, Some(&key), Some(&operations)));
        assert_eq!(keys(&formats).unwrap(), "\"id\":\"na\\\"me\":old");
        formats.follow(&row(RowKind::Update, Some(&key), Some(&[0x91, 0x05])));
        assert_eq!(keys(&formats), None, "what cannot be followed leaves no name");
        formats.follow(&row(RowKind::Replace, None, Some(&space(600, "new", &[]))));
        assert_eq!(keys(&formats).unwrap(), "new");
        formats.follow(&row(RowKind::Delete, Some(&key), None));
        assert_eq!(keys(&formats), None);
    }

    #[test]
    fn names_that_are_not_apart_are_not_used() {
        for fields in [&["a", "a"][..], &["", "b"], &["a", "4"]] {
            let mut formats = Formats::default();
            formats.follow(&row(RowKind::Insert, None, Some(&space(600, "s", fields))));
            assert_eq!(keys(&formats).unwrap(), "s", "{fields:?}");
        }
    }
}
