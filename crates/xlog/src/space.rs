//! Spaces and their indexes, as the system spaces `_space` and `_index` describe them.
//!
//! Comes in: tuples of those two, one after the other, as a snapshot or a log has them. Goes out: what a space looks like at that
//! time, and what of it cannot be represented. Must not know how rows are kept.
//!
//! Tuples of every version are read: `{field, type}` and `{field = .., type = ..}` as parts, options as a map or as a list of
//! numbers with the parts behind them, flags as a map or as text.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod parse;
mod system;

use crate::error::Damage;
use crate::key::PartKind;
use crate::path::PathStep;
use std::collections::BTreeMap;

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
}

/// The tuples that define a space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Definition {
    space: Option<Vec<u8>>,
    indexes: BTreeMap<u32, Vec<u8>>,
}

/// One space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// Its number.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// What keeps its rows.
    pub engine: Engine,
    /// Whether its rows are never replicated.
    pub is_local: bool,
    /// Whether its rows are gone after a restart.
    pub is_temporary: bool,
    /// Whether its transactions wait for replicas.
    pub is_synchronous: bool,
    /// What is known of its fields, from the first one on.
    pub fields: Vec<Field>,
    /// Its indexes, by number.
    pub indexes: Vec<SpaceIndex>,
}

/// What keeps the rows of a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Memory; snapshots hold its rows.
    Memtx,
    /// Files of its own; only logs hold some of its rows.
    Vinyl,
    /// Nothing that lasts: views and the like, by name.
    Other(String),
}

/// A field of a space's format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: Vec<u8>,
    /// The name of its type.
    pub type_name: Vec<u8>,
    /// Whether it may be nil or missing.
    pub is_nullable: bool,
}

/// One index of a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceIndex {
    /// Its number; 0 is the primary key.
    pub iid: u32,
    /// Its name.
    pub name: String,
    /// Whether it has no order.
    pub is_hash: bool,
    /// Whether no two rows have the same key.
    pub is_unique: bool,
    /// Its parts; none if it cannot be represented.
    pub parts: Vec<Part>,
    /// Why it cannot be represented, or what is different about it.
    pub trouble: Option<Trouble>,
}

/// What is wrong with an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It is left out, for this reason.
    LeftOut(String),
    /// It has more rows than it should: those without a value.
    HasNils,
}

/// One part of an index's key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Part {
    /// The number of the tuple's field, from 0.
    pub field: u32,
    /// Where in the field the value lies.
    pub path: Vec<PathStep>,
    /// The type of the value.
    pub kind: PartKind,
}

impl Default for Spaces {
    fn default() -> Spaces {
        Spaces::new()
    }
}

impl Spaces {
    /// Returns the system spaces that are needed to read any other, as all versions have them.
    pub fn new() -> Spaces {
        let mut spaces = Spaces { definitions: BTreeMap::new() };
        for (space, index) in system::definitions() {
            spaces.set_space(&space).expect("it is written here");
            spaces.set_index(&index).expect("it is written here");
        }
        spaces
    }

    /// Takes a tuple of `_space`, and returns the space's number.
    ///
    /// # Errors
    /// If there is no number in it.
    pub fn set_space(&mut self, tuple: &[u8]) -> Result<u32, Damage> {
        let id = parse::number(tuple, 0)?;
        self.definitions.entry(id).or_default().space = Some(tuple.to_vec());
        Ok(id)
    }

    /// Takes a tuple of `_index`, and returns the number of its space.
    ///
    /// # Errors
    /// If there are no numbers in it.
    pub fn set_index(&mut self, tuple: &[u8]) -> Result<u32, Damage> {
        let (id, iid) = (parse::number(tuple, 0)?, parse::number(tuple, 1)?);
        self.definitions.entry(id).or_default().indexes.insert(iid, tuple.to_vec());
        Ok(id)
    }

    /// Forgets a space. Its indexes are forgotten one by one, as logs do it.
    pub fn remove_space(&mut self, id: u32) {
        if let Some(definition) = self.definitions.get_mut(&id) {
            definition.space = None;
        }
    }

    /// Forgets an index.
    pub fn remove_index(&mut self, id: u32, iid: u32) {
        if let Some(definition) = self.definitions.get_mut(&id) {
            definition.indexes.remove(&iid);
        }
    }

    /// Returns the numbers of all spaces, in order.
    pub fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.definitions.iter().filter(|(_, definition)| definition.space.is_some()).map(|(&id, _)| id)
    }

    /// Returns what a space looks like, if there is one with this number.
    ///
    /// # Errors
    /// If the tuple of `_space` is not one. What is wrong with an index is said there.
    pub fn get(&self, id: u32) -> Result<Option<Space>, Damage> {
        let Some(definition) = self.definitions.get(&id) else { return Ok(None) };
        let Some(tuple) = &definition.space else { return Ok(None) };
        let mut space = parse::space(tuple)?;
        space.indexes =
            definition.indexes.iter().map(|(&iid, tuple)| parse::index(tuple, iid, &space.fields)).collect();
        Ok(Some(space))
    }

    /// Returns the space with this name, if there is one.
    ///
    /// # Errors
    /// As [`get`](Spaces::get).
    pub fn named(&self, name: &str) -> Result<Option<Space>, Damage> {
        for id in self.ids() {
            if let Some(space) = self.get(id)?.filter(|space| space.name == name) {
                return Ok(Some(space));
            }
        }
        Ok(None)
    }
}

impl Space {
    /// Returns the number of the field with this name, from 0.
    pub fn field(&self, name: &[u8]) -> Option<u32> {
        let place = self.fields.iter().position(|field| field.name == name)?;
        u32::try_from(place).ok()
    }

    /// Says what of the space cannot be represented, one line each.
    pub fn remarks(&self) -> Vec<String> {
        let space = format!("space {} ({})", self.name, self.id);
        let mut remarks = Vec::new();
        if self.engine == Engine::Vinyl {
            remarks.push(format!(
                "{space} is kept by vinyl in files of its own, which are not read: only rows of the logs are taken"
            ));
        }
        for index in &self.indexes {
            let what = match &index.trouble {
                None => continue,
                Some(Trouble::LeftOut(_)) if index.iid == 0 => "its rows are kept in the order they came in",
                Some(Trouble::LeftOut(_)) => "it is left out",
                Some(Trouble::HasNils) => "here it has rows without a value, too",
            };
            let why = match &index.trouble {
                Some(Trouble::LeftOut(why)) => why,
                _ => "leaves out rows without a value",
            };
            remarks.push(format!("{space}: index {} {why}: {what}", index.name));
        }
        remarks
    }

    /// Says whether snapshots and logs hold rows that last.
    pub fn has_rows(&self) -> bool {
        !matches!(self.engine, Engine::Other(_)) && !self.is_temporary
    }
}
