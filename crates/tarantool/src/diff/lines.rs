//! Differences as JSON, an object on each line. docs/OUTPUT.md describes it.
//!
//! Two values are the same if they are written the same in JSON's exact style: a number may be stored in more
//! bytes than it needs. Where the readable style would show two values alike, both are written in the exact
//! one.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::merge::Difference;
use crate::error::Damage;
use crate::json_path;
use crate::msgpack::Reader;
use crate::space::{Part, Space, SpaceFormat};
use crate::text::{JsonStyle, JsonWriter, put_field_key, put_json_text, put_named_tuple, put_whole};

/// How many tuples differ, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) added: u64,
    pub(super) removed: u64,
    pub(super) changed: u64,
    pub(super) same: u64,
}

/// What the lines about a space have in common.
#[derive(Clone, Debug)]
pub(super) struct SpaceLines {
    /// The beginning of each line.
    head: Vec<u8>,
    /// The names of fields as keys of an object.
    keys: Vec<Vec<u8>>,
    /// The parts of the key.
    primary: Vec<Part>,
}

/// Writes values. Keeps its memory.
#[derive(Debug)]
pub(super) struct ValueWriter {
    readable: JsonWriter,
    exact: JsonWriter,
    old: Vec<u8>,
    new: Vec<u8>,
}

impl ValueWriter {
    pub(super) fn new() -> ValueWriter {
        ValueWriter {
            readable: JsonWriter::new(JsonStyle::Readable),
            exact: JsonWriter::new(JsonStyle::Exact),
            old: Vec::new(),
            new: Vec::new(),
        }
    }
}

impl Counts {
    pub(super) fn is_same(&self) -> bool {
        (self.added, self.removed, self.changed) == (0, 0, 0)
    }

    pub(super) fn add(&mut self, other: &Counts) {
        self.added = self.added.saturating_add(other.added);
        self.removed = self.removed.saturating_add(other.removed);
        self.changed = self.changed.saturating_add(other.changed);
        self.same = self.same.saturating_add(other.same);
    }
}

impl SpaceLines {
    /// Returns it for a space. Without a key, lines about tuples have none.
    pub(super) fn new(space: &Space, has_key: bool) -> SpaceLines {
        let format = SpaceFormat::of(space.clone());
        let mut head = b"{\"space\":".to_vec();
        head.extend_from_slice(&format.name_json);
        put_number(",\"space_id\":", u64::from(space.id), &mut head);
        let primary = if has_key { format.primary } else { Vec::new() };
        SpaceLines { head, keys: format.field_keys, primary }
    }

    /// Appends a line with the counts of the space.
    pub(super) fn put_counts(&self, counts: &Counts, is_redefined: bool, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.head);
        for (name, count) in [
            (",\"added\":", counts.added),
            (",\"removed\":", counts.removed),
            (",\"changed\":", counts.changed),
            (",\"same\":", counts.same),
        ] {
            put_number(name, count, out);
        }
        out.extend_from_slice(if is_redefined { b",\"redefined\":true}\n" } else { b"}\n" });
    }

    /// Appends a line about a tuple. Returns whether it differs at all.
    pub(super) fn put_difference(
        &self,
        difference: Difference,
        values: &mut ValueWriter,
        out: &mut Vec<u8>,
    ) -> Result<bool, Damage> {
        let (change, tuple) = match difference {
            Difference::Added(tuple) => ("added", tuple),
            Difference::Removed(tuple) => ("removed", tuple),
            Difference::Changed(_, tuple) => ("changed", tuple),
        };
        let begin = out.len();
        self.put_begin(change, out);
        if !self.primary.is_empty() {
            self.put_key(tuple, values, out)?;
        }
        if let Difference::Changed(old, new) = difference {
            out.extend_from_slice(b",\"fields\":");
            if !put_fields(old, new, &self.keys, values, out)? {
                out.truncate(begin);
                return Ok(false);
            }
        } else {
            out.extend_from_slice(b",\"tuple\":");
            put_named_tuple(&mut values.readable, &mut Reader::new(tuple), &self.keys, out)?;
        }
        out.extend_from_slice(b"}\n");
        Ok(true)
    }

    fn put_begin(&self, change: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.head);
        out.extend_from_slice(b",\"change\":\"");
        out.extend_from_slice(change.as_bytes());
        out.push(b'"');
    }

    fn put_key(&self, tuple: &[u8], values: &mut ValueWriter, out: &mut Vec<u8>) -> Result<(), Damage> {
        let mut before: &[u8] = b",\"key\":[";
        for part in &self.primary {
            out.extend_from_slice(before);
            before = b",";
            let mut reader = Reader::new(tuple);
            let is_there = part.field < reader.array_len()?;
            if is_there {
                reader.skip_many(u64::from(part.field))?;
            }
            let value = if is_there { json_path::follow(reader, &part.path)? } else { None };
            match value {
                Some(mut value) => values.readable.put(&mut value, out)?,
                None => out.extend_from_slice(b"null"),
            }
        }
        out.push(b']');
        Ok(())
    }

    /// Appends a line about the definition of the space or of one of its indexes. Returns whether it differs.
    pub(super) fn put_definition(
        &self,
        definition: &Definition,
        values: &mut ValueWriter,
        out: &mut Vec<u8>,
    ) -> Result<bool, Damage> {
        let Definition { what, names, index, old, new } = definition;
        let keys: Vec<Vec<u8>> = names.iter().map(|name| format!("\"{name}\":").into_bytes()).collect();
        let begin = out.len();
        let change = match (old, new) {
            (None, Some(_)) => "added",
            (Some(_), None) => "removed",
            _ => "changed",
        };
        self.put_begin(&format!("{what} {change}"), out);
        if let Some((number, name)) = index {
            out.extend_from_slice(b",\"index\":");
            put_json_text(name, out);
            put_number(",\"index_id\":", u64::from(*number), out);
        }
        let is_different = match (old, new) {
            (Some(old), Some(new)) => {
                out.extend_from_slice(b",\"fields\":");
                put_fields(old, new, &keys, values, out)?
            }
            (Some(tuple), None) | (None, Some(tuple)) => {
                out.extend_from_slice(b",\"definition\":");
                put_named_tuple(&mut values.readable, &mut Reader::new(tuple), &keys, out)?;
                true
            }
            (None, None) => false,
        };
        out.extend_from_slice(b"}\n");
        if !is_different {
            out.truncate(begin);
        }
        Ok(is_different)
    }
}

/// A tuple of `_space` or `_index` on both sides.
#[derive(Clone, Debug)]
pub(super) struct Definition<'a> {
    /// `space` or `index`.
    pub(super) what: &'static str,
    /// The names of its fields.
    pub(super) names: &'static [&'static str],
    /// The number and the name of an index.
    pub(super) index: Option<(u32, String)>,
    pub(super) old: Option<&'a [u8]>,
    pub(super) new: Option<&'a [u8]>,
}

/// Appends an object with the fields that differ. Returns whether there are any.
fn put_fields(
    old: &[u8],
    new: &[u8],
    keys: &[Vec<u8>],
    values: &mut ValueWriter,
    out: &mut Vec<u8>,
) -> Result<bool, Damage> {
    let (mut old, mut new) = (Reader::new(old), Reader::new(new));
    let (old_count, new_count) = (old.array_len()?, new.array_len()?);
    let mut before = b'{';
    for number in 0..old_count.max(new_count) {
        let one = if number < old_count { Some(old.skip()?) } else { None };
        let two = if number < new_count { Some(new.skip()?) } else { None };
        if one == two || !values.tell_apart(one, two)? {
            continue;
        }
        out.push(before);
        before = b',';
        put_field_key(keys, number, out);
        let mut inner = b'{';
        for (name, is_there, text) in
            [("old", one.is_some(), &values.old), ("new", two.is_some(), &values.new)]
        {
            if is_there {
                out.push(inner);
                inner = b',';
                out.extend_from_slice(format!("\"{name}\":").as_bytes());
                out.extend_from_slice(text);
            }
        }
        out.push(b'}');
    }
    if before == b'{' {
        out.push(b'{');
    }
    out.push(b'}');
    Ok(before == b',')
}

impl ValueWriter {
    /// Writes two values so that they look different. Returns whether they are.
    fn tell_apart(&mut self, one: Option<&[u8]>, two: Option<&[u8]>) -> Result<bool, Damage> {
        self.write(one, two, JsonStyle::Readable)?;
        if self.old != self.new {
            // Only the exact form tells whether the values differ, if it differs from this one at all.
            return Ok(true);
        }
        self.write(one, two, JsonStyle::Exact)?;
        Ok(self.old != self.new)
    }

    fn write(&mut self, one: Option<&[u8]>, two: Option<&[u8]>, style: JsonStyle) -> Result<(), Damage> {
        let writer = if style == JsonStyle::Exact { &mut self.exact } else { &mut self.readable };
        for (value, out) in [(one, &mut self.old), (two, &mut self.new)] {
            out.clear();
            if let Some(value) = value {
                writer.put(&mut Reader::new(value), out)?;
            }
        }
        Ok(())
    }
}

fn put_number(name: &str, number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(name.as_bytes());
    put_whole(&number, out);
}
