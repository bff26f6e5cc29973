//! A row as a JSON object on one line. docs/OUTPUT.md describes it.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::in_file::RowInFile;
use super::names::{body_key, kind_name, vinyl_property, vinyl_record};
use crate::error::Damage;
use crate::file::header::FileKind;
use crate::file::row::RowKind;
use crate::msgpack::{Class, Reader};
use crate::space::SpaceFormat;
use crate::text::{JsonStyle, JsonWriter, put_double, put_named_tuple, put_whole};

/// Flags of a row, besides that of the last row of a transaction.
const FLAGS: [(u64, &[u8]); 2] = [(2, b",\"wait_sync\":true"), (4, b",\"wait_ack\":true")];
/// The flag that JSON has as `commit`.
const FLAG_COMMIT: u64 = 1;

/// Writes rows. Keeps its memory.
pub(super) struct JsonRows {
    style: JsonStyle,
    values: JsonWriter,
    /// The last time that was written, with its text: all rows of a snapshot have the same.
    time: (u64, Vec<u8>),
}

impl JsonRows {
    pub(super) fn new(style: JsonStyle) -> JsonRows {
        JsonRows { style, values: JsonWriter::new(style), time: (0, Vec::new()) }
    }

    /// Appends a row with a line feed.
    pub(super) fn put(&mut self, in_file: &RowInFile, out: &mut Vec<u8>) -> Result<(), Damage> {
        let row = &in_file.row;
        put_number(b"{\"lsn\":", row.lsn, out);
        if row.replica != 0 {
            put_number(b",\"replica\":", row.replica, out);
        }
        if row.group != 0 {
            put_number(b",\"group\":", row.group, out);
        }
        if row.timestamp != 0.0 {
            self.put_time(row.timestamp, out);
        }
        if row.tsn != row.lsn || !row.is_commit {
            put_number(b",\"tsn\":", row.tsn, out);
            if row.is_commit {
                out.extend_from_slice(b",\"commit\":true");
            }
        }
        self.put_flags(row.flags, out);
        match kind_name(row.kind) {
            Some(name) => {
                out.extend_from_slice(b",\"type\":\"");
                out.extend_from_slice(name.as_bytes());
                out.push(b'"');
            }
            None => put_number(b",\"type\":", row.kind.number(), out),
        }
        self.put_body(in_file, out)?;
        out.extend_from_slice(b"}\n");
        Ok(())
    }

    fn put_time(&mut self, time: f64, out: &mut Vec<u8>) {
        if self.time.0 != time.to_bits() || self.time.1.is_empty() {
            self.time = (time.to_bits(), b",\"time\":".to_vec());
            put_double(time, self.style, &mut self.time.1);
        }
        out.extend_from_slice(&self.time.1);
    }

    fn put_flags(&self, flags: u64, out: &mut Vec<u8>) {
        let mut left = flags & !FLAG_COMMIT;
        for (flag, text) in FLAGS {
            if left & flag != 0 {
                out.extend_from_slice(text);
                left &= !flag;
            }
        }
        if left != 0 {
            put_number(b",\"flags\":", left, out);
        }
    }

    fn put_body(&mut self, in_file: &RowInFile, out: &mut Vec<u8>) -> Result<(), Damage> {
        let (row, body) = (&in_file.row, &in_file.row.body);
        let is_known = matches!(
            row.kind,
            RowKind::Insert | RowKind::Replace | RowKind::Update | RowKind::Delete | RowKind::Upsert
        );
        if !is_known {
            return self.put_other_body(in_file, out);
        }
        let format = body.space.and_then(|space| in_file.formats.get(space));
        if let Some(space) = body.space {
            put_number(b",\"space_id\":", space, out);
        }
        if let Some(format) = format {
            out.extend_from_slice(b",\"space\":");
            out.extend_from_slice(&format.name_json);
        }
        if let Some(index) = body.index {
            put_number(b",\"index_id\":", index, out);
        }
        if let Some(base) = body.index_base {
            put_number(b",\"index_base\":", base, out);
        }
        if let Some(key) = body.key {
            out.extend_from_slice(b",\"key\":");
            self.values.put(&mut Reader::new(key), out)?;
        }
        match (row.kind, body.tuple) {
            (_, None) => {}
            (RowKind::Update, Some(operations)) => self.put_named(b",\"ops\":", operations, out)?,
            (_, Some(tuple)) if in_file.kind == FileKind::Vinyl => {
                out.extend_from_slice(b",\"tuple\":");
                self.put_vinyl_record(tuple, out)?;
            }
            (_, Some(tuple)) => {
                out.extend_from_slice(b",\"tuple\":");
                self.put_tuple(tuple, format, out)?;
            }
        }
        if let Some(operations) = body.ops {
            self.put_named(b",\"ops\":", operations, out)?;
        }
        let given = [body.space.is_some(), body.index.is_some(), body.index_base.is_some()];
        let values = [body.key.is_some(), body.tuple.is_some(), body.ops.is_some()];
        let count = given.iter().chain(&values).filter(|is_given| **is_given).count();
        self.put_rest(in_file, count, format, out)
    }

    fn put_named(&mut self, name: &[u8], value: &[u8], out: &mut Vec<u8>) -> Result<(), Damage> {
        out.extend_from_slice(name);
        self.values.put(&mut Reader::new(value), out)
    }

    /// Appends a tuple: an object if its fields have names, else an array.
    fn put_tuple(
        &mut self,
        tuple: &[u8],
        format: Option<&SpaceFormat>,
        out: &mut Vec<u8>,
    ) -> Result<(), Damage> {
        let keys = format.map(|format| format.field_keys.as_slice()).unwrap_or_default();
        put_named_tuple(&mut self.values, &mut Reader::new(tuple), keys, out)
    }

    /// Appends a record of vinyl's log: `[kind, {property: value}]`.
    fn put_vinyl_record(&mut self, tuple: &[u8], out: &mut Vec<u8>) -> Result<(), Damage> {
        let mut reader = Reader::new(tuple);
        let is_record = |mut reader: Reader| -> Result<bool, Damage> {
            Ok(reader.peek()? == Class::Array
                && reader.array_len()? == 2
                && reader.peek()? == Class::Unsigned
                && vinyl_record(reader.uint()?).is_some()
                && reader.peek()? == Class::Map)
        };
        if !is_record(reader)? {
            return self.values.put(&mut reader, out);
        }
        reader.array_len()?;
        out.extend_from_slice(b"{\"record\":\"");
        out.extend_from_slice(vinyl_record(reader.uint()?).unwrap_or_default().as_bytes());
        out.push(b'"');
        self.put_pairs(&mut reader, true, vinyl_property, out)?;
        out.push(b'}');
        Ok(())
    }

    /// Appends the body of a row without a tuple.
    fn put_other_body(&mut self, in_file: &RowInFile, out: &mut Vec<u8>) -> Result<(), Damage> {
        let row = &in_file.row;
        if row.body.bytes.is_empty() {
            return Ok(());
        }
        out.extend_from_slice(b",\"body\":{");
        self.put_pairs(&mut Reader::new(row.body.bytes), false, |key| body_key(row.kind, key), out)?;
        out.push(b'}');
        Ok(())
    }

    /// Appends the pairs of a map with names for its keys; those without a name have their numbers.
    fn put_pairs(
        &mut self,
        reader: &mut Reader,
        mut is_behind: bool,
        name: impl Fn(u64) -> Option<&'static str>,
        out: &mut Vec<u8>,
    ) -> Result<(), Damage> {
        for _ in 0..reader.map_len()? {
            if std::mem::replace(&mut is_behind, true) {
                out.push(b',');
            }
            let key = if reader.peek()? == Class::Unsigned { Some(reader.uint()?) } else { None };
            match (key, key.and_then(&name)) {
                (_, Some(name)) => {
                    out.push(b'"');
                    out.extend_from_slice(name.as_bytes());
                    out.extend_from_slice(b"\":");
                }
                (Some(key), None) => {
                    put_number(b"\"", key, out);
                    out.extend_from_slice(b"\":");
                }
                (None, None) => {
                    reader.skip()?;
                    out.extend_from_slice(b"\"\":");
                }
            }
            self.values.put(reader, out)?;
        }
        Ok(())
    }

    /// Appends what else the body has. `count` pairs were written.
    fn put_rest(
        &mut self,
        in_file: &RowInFile,
        count: usize,
        format: Option<&SpaceFormat>,
        out: &mut Vec<u8>,
    ) -> Result<(), Damage> {
        let mut reader = Reader::new(in_file.row.body.bytes);
        if in_file.row.body.bytes.is_empty() || reader.map_len()? as usize == count {
            return Ok(());
        }
        let mut reader = Reader::new(in_file.row.body.bytes);
        for _ in 0..reader.map_len()? {
            let key = if reader.peek()? == Class::Unsigned { Some(reader.uint()?) } else { None };
            match key {
                Some(0x10 | 0x11 | 0x15 | 0x20 | 0x21 | 0x28) => {
                    reader.skip()?;
                }
                Some(key) => {
                    match body_key(in_file.row.kind, key) {
                        Some(name) => out.extend_from_slice(format!(",\"{name}\":").as_bytes()),
                        None => out.extend_from_slice(format!(",\"key {key}\":").as_bytes()),
                    }
                    if matches!(key, 0x2c | 0x2d) {
                        self.put_tuple(reader.skip()?, format, out)?;
                    } else {
                        self.values.put(&mut reader, out)?;
                    }
                }
                None => {
                    reader.skip_many(2)?;
                }
            }
        }
        Ok(())
    }
}

fn put_number(before: &[u8], number: impl serde::Serialize, out: &mut Vec<u8>) {
    out.extend_from_slice(before);
    put_whole(&number, out);
}
