//! Upserts of a run: applied to the tuple before them, or to nothing.
//!
//! Input: a tuple, and the upserts after it, the oldest first. Output: the tuple that they make. Does not
//! know where they come from.
//!
//! Upserts that were written at different times may be in one row. Since Tarantool 2.6.1 the operations of
//! each are a list of their own; the first list does not count if there was no tuple, and a list that does
//! not fit counts as a whole or not at all. Up to 2.6.0 all operations are one list, and the tuple is the one
//! that they make of nothing.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::format::fits;
use super::key::{KeyBuffer, KeyReader};
use crate::msgpack::{Class, Reader};
use crate::space::Space;
use crate::update::{Context, upsert};

/// An upsert of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Upsert {
    pub(super) tuple: Vec<u8>,
    pub(super) ops: Vec<u8>,
}

/// What upserts must know of their space.
pub(super) struct Upserts<'a> {
    pub(super) space: &'a Space,
    pub(super) keys: &'a KeyReader,
    pub(super) context: Context<'a>,
}

impl Upserts<'_> {
    /// Applies upserts, the oldest first, to a tuple with this key, if there is one.
    ///
    /// # Errors
    /// If the operations are malformed.
    pub(super) fn apply<'u>(
        &self,
        before: Option<Vec<u8>>,
        upserts: impl Iterator<Item = &'u Upsert>,
        key: &[u8],
    ) -> Result<Option<Vec<u8>>, String> {
        let mut tuple = before;
        for upsert in upserts {
            tuple = Some(self.one(tuple, upsert, key)?);
        }
        Ok(tuple)
    }

    fn one(&self, before: Option<Vec<u8>>, row: &Upsert, key: &[u8]) -> Result<Vec<u8>, String> {
        let groups = groups(&row.ops).map_err(|damage| damage.what)?;
        let Some(groups) = groups else {
            let Some(before) = before else { return Ok(row.tuple.clone()) };
            let new = upsert(&before, &row.ops, &self.context)?;
            return Ok(if self.has_key(&new, key) { new } else { before });
        };
        let skipped = usize::from(before.is_none());
        let mut tuple = before.unwrap_or_else(|| row.tuple.clone());
        for group in groups.into_iter().skip(skipped) {
            // Tarantool acknowledged them long ago, and skips them, too.
            let Ok(new) = upsert(&tuple, group, &self.context) else { continue };
            if fits(self.space, &new) && self.has_key(&new, key) {
                tuple = new;
            }
        }
        Ok(tuple)
    }

    fn has_key(&self, tuple: &[u8], key: &[u8]) -> bool {
        let mut own = Vec::new();
        self.keys.of_tuple(tuple, &mut KeyBuffer::default(), &mut own).is_ok() && own == key
    }
}

/// Returns the operations of each upsert; `None` if they are one list.
fn groups(ops: &[u8]) -> crate::msgpack::Result<Option<Vec<&[u8]>>> {
    let mut reader = Reader::new(ops);
    let count = reader.array_len()?;
    let mut first = reader;
    // An operation begins with its name, a list of operations with an operation.
    let is_list = count > 0 && first.peek()? == Class::Array && {
        let count = first.array_len()?;
        count == 0 || first.peek()? == Class::Array
    };
    if !is_list {
        return Ok(None);
    }
    (0..count).map(|_| reader.skip()).collect::<crate::msgpack::Result<Vec<_>>>().map(Some)
}
