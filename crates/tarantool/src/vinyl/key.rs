//! Primary keys as bytes that are compared byte by byte.
//!
//! Input: a tuple, or a key as msgpack. Output: bytes that sort as Tarantool sorts the keys. Does not know
//! where they come from.
//!
//! Each part is normalised (see `key`). All parts but the last end with two zeros, and a zero within one is
//! followed by 0xff, so that no part is the beginning of another. The first parts of a key sort before all
//! keys that begin with them.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::error::Damage;
use crate::key::normalise_part;
use crate::msgpack::{Reader, Result};
use crate::space::Space;
use crate::space::table::SpaceTable;
use store::Value;

/// How keys of a space are read.
#[derive(Clone, Debug)]
pub(super) struct KeyReader {
    /// The space with its primary key alone.
    table: SpaceTable,
    /// For each part of the key, the column with it.
    columns: Vec<usize>,
}

/// Buffers that are reused.
#[derive(Clone, Debug, Default)]
pub(super) struct KeyBuffer {
    part: Vec<u8>,
    parts: Vec<Vec<u8>>,
}

impl KeyReader {
    /// Returns the reader for a space, if its primary key can be represented.
    pub(super) fn new(space: &Space) -> Option<KeyReader> {
        let mut alone = space.clone();
        alone.indexes.retain(|index| index.iid == 0);
        let table = SpaceTable::new(&alone);
        table.primary()?;
        let columns = table.schema.primary.iter().map(|&column| usize::from(column)).collect();
        Some(KeyReader { table, columns })
    }

    /// Writes the key of a tuple into `out`.
    ///
    /// # Errors
    /// If it is not a tuple, or lacks a part of the key.
    #[inline]
    pub(super) fn of_tuple(&self, tuple: &[u8], buffer: &mut KeyBuffer, out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        if self.columns.len() == 1 {
            return self.table.shape.take_keys(&mut Reader::new(tuple), &mut buffer.part, |_, value| {
                put_last(value, out);
            });
        }
        buffer.parts.resize_with(self.columns.len(), Vec::new);
        let (columns, parts) = (&self.columns, &mut buffer.parts);
        let last = columns.len().saturating_sub(1);
        self.table.shape.take_keys(&mut Reader::new(tuple), &mut buffer.part, |column, value| {
            for (place, part) in columns
                .iter()
                .zip(parts.iter_mut())
                .enumerate()
                .filter_map(|(place, (&own, part))| (own == column).then_some((place, part)))
            {
                part.clear();
                if place == last { put_last(value, part) } else { put_inner(value, part) }
            }
        })?;
        parts.iter().for_each(|part| out.extend_from_slice(part));
        Ok(())
    }

    /// Writes a key, or its first parts, into `out`. Returns whether all parts are there.
    ///
    /// # Errors
    /// If it is malformed, or has more parts than the primary key.
    pub(super) fn of_key(&self, key: &[u8], buffer: &mut KeyBuffer, out: &mut Vec<u8>) -> Result<bool> {
        out.clear();
        let mut reader = Reader::new(key);
        let too_many = reader.damage("a key has more parts than the primary key");
        let count = reader.array_len()? as usize;
        let parts = self.table.primary().map(|index| index.parts.as_slice()).unwrap_or_default();
        let Some(parts_left) = parts.len().checked_sub(count) else { return Err(too_many) };
        for (place, part) in parts.iter().take(count).enumerate() {
            let is_last = place.saturating_add(1) == parts.len();
            let value = if part.kind.is_plain_unsigned() {
                Value::U64(reader.uint()?)
            } else {
                buffer.part.clear();
                normalise_part(&mut reader, &part.kind, &mut buffer.part)?;
                Value::Bytes(&buffer.part)
            };
            if is_last { put_last(value, out) } else { put_inner(value, out) }
        }
        Ok(parts_left == 0)
    }

    /// Writes a whole key into `out`.
    ///
    /// # Errors
    /// If it is malformed, or has another number of parts than the primary key.
    pub(super) fn of_whole_key(&self, key: &[u8], buffer: &mut KeyBuffer, out: &mut Vec<u8>) -> Result<()> {
        match self.of_key(key, buffer, out)? {
            true => Ok(()),
            false => Err(Damage::new(0, "a key has fewer parts than the primary key")),
        }
    }
}

/// Appends the last part of a key.
#[inline]
fn put_last(value: Value, out: &mut Vec<u8>) {
    match value {
        Value::U64(number) => out.extend_from_slice(&number.to_be_bytes()),
        Value::Bytes(bytes) => out.extend_from_slice(bytes),
        _ => unreachable!("tables of spaces have two kinds of columns"),
    }
}

/// Appends a part that others follow.
fn put_inner(value: Value, out: &mut Vec<u8>) {
    match value {
        Value::U64(number) => out.extend_from_slice(&number.to_be_bytes()),
        Value::Bytes(bytes) => {
            for (place, piece) in bytes.split(|&byte| byte == 0).enumerate() {
                if place > 0 {
                    out.extend_from_slice(&[0, 0xff]);
                }
                out.extend_from_slice(piece);
            }
            out.extend_from_slice(&[0, 0]);
        }
        _ => unreachable!("tables of spaces have two kinds of columns"),
    }
}
