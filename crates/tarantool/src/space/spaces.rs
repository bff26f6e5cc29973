//! All spaces at some time: the tuples of `_space` and `_index` that define them.
//!
//! Keeps the tuples, and parses them when a space is asked for. Does not depend on rows.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::collations::Collations;
use super::definition::Space;
use super::values::number;
use super::{parse, system};
use crate::error::Damage;
use std::collections::BTreeMap;

/// The number of the space that describes collations.
pub const SPACE_COLLATION: u32 = 276;
/// The number of the space that describes spaces.
pub const SPACE_SPACE: u32 = 280;
/// The number of the space that describes indexes.
pub const SPACE_INDEX: u32 = 288;
/// The number of the space that counts how often a space was truncated.
pub const SPACE_TRUNCATE: u32 = 330;
/// The largest number of a system space.
pub const SPACE_SYSTEM_MAX: u32 = 511;

/// All spaces that are defined at some time.
#[derive(Clone, Debug)]
pub struct Spaces {
    definitions: BTreeMap<u32, Definition>,
    collations: Collations,
}

/// The tuples that define a space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Definition {
    space: Option<Vec<u8>>,
    indexes: BTreeMap<u32, Vec<u8>>,
}

impl Default for Spaces {
    fn default() -> Spaces {
        Spaces::new()
    }
}

impl Spaces {
    /// Returns the system spaces that are needed to read any other, as all versions have them.
    pub fn new() -> Spaces {
        let mut spaces = Spaces { definitions: BTreeMap::new(), collations: Collations::new() };
        for (space, index) in system::definitions() {
            spaces.set_space(&space).expect("it is written here");
            spaces.set_index(&index).expect("it is written here");
        }
        spaces
    }

    /// Adds a tuple of `_space`, and returns the space's number.
    ///
    /// # Errors
    /// If the tuple has no number.
    pub fn set_space(&mut self, tuple: &[u8]) -> Result<u32, Damage> {
        let id = number(tuple, 0)?;
        self.definitions.entry(id).or_default().space = Some(tuple.to_vec());
        Ok(id)
    }

    /// Adds a tuple of `_index`, and returns the number of its space.
    ///
    /// # Errors
    /// If the tuple lacks the numbers.
    pub fn set_index(&mut self, tuple: &[u8]) -> Result<u32, Damage> {
        let (id, iid) = (number(tuple, 0)?, number(tuple, 1)?);
        self.definitions.entry(id).or_default().indexes.insert(iid, tuple.to_vec());
        Ok(id)
    }

    /// Adds a tuple of `_collation`. Indexes that use the collation change with it. A tuple that defines none
    /// makes them say so.
    pub fn set_collation(&mut self, tuple: &[u8]) {
        self.collations.set(tuple);
    }

    /// Removes the collation with this number.
    pub fn remove_collation(&mut self, number: u32) {
        self.collations.remove(number);
    }

    /// Removes a space, but not its indexes: logs delete those one by one.
    pub fn remove_space(&mut self, id: u32) {
        if let Some(definition) = self.definitions.get_mut(&id) {
            definition.space = None;
        }
    }

    /// Removes an index.
    pub fn remove_index(&mut self, id: u32, iid: u32) {
        if let Some(definition) = self.definitions.get_mut(&id) {
            definition.indexes.remove(&iid);
        }
    }

    /// Returns the numbers of all spaces, in order.
    pub fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.definitions.iter().filter(|(_, definition)| definition.space.is_some()).map(|(&id, _)| id)
    }

    /// Returns the definition of a space, if there is one with this number.
    ///
    /// # Errors
    /// If the tuple of `_space` is invalid. An invalid index is reported in the definition.
    pub fn get(&self, id: u32) -> Result<Option<Space>, Damage> {
        let Some(definition) = self.definitions.get(&id) else { return Ok(None) };
        let Some(tuple) = &definition.space else { return Ok(None) };
        let mut space = parse::space(tuple)?;
        let context = parse::IndexContext { fields: &space.fields, collations: &self.collations };
        space.indexes =
            definition.indexes.iter().map(|(&iid, tuple)| parse::index(tuple, iid, context)).collect();
        Ok(Some(space))
    }

    /// Returns the tuple that defines a space.
    pub(crate) fn space_tuple(&self, id: u32) -> Option<&[u8]> {
        self.definitions.get(&id)?.space.as_deref()
    }

    /// Returns the tuple that defines an index.
    pub(crate) fn index_tuple(&self, id: u32, iid: u32) -> Option<&[u8]> {
        self.definitions.get(&id)?.indexes.get(&iid).map(Vec::as_slice)
    }

    /// Returns the numbers of a space's indexes, in order.
    pub(crate) fn index_ids(&self, id: u32) -> impl Iterator<Item = u32> + '_ {
        self.definitions.get(&id).into_iter().flat_map(|definition| definition.indexes.keys().copied())
    }

    /// Returns the space with this name, if there is one.
    ///
    /// # Errors
    /// Same as [`get`](Spaces::get).
    pub fn named(&self, name: &str) -> Result<Option<Space>, Damage> {
        for id in self.ids() {
            if let Some(space) = self.get(id)?.filter(|space| space.name == name) {
                return Ok(Some(space));
            }
        }
        Ok(None)
    }
}
