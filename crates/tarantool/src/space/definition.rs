//! The definitions of a space and its indexes at some time, and which parts of them cannot be represented.
//!
//! These are plain values: `parse` makes them, and `table` turns them into tables.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::json_path::PathStep;
use crate::key::PartKind;
use std::collections::BTreeSet;

/// One space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// Its number.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// What keeps its rows.
    pub engine: Engine,
    /// Whether its rows are never replicated.
    pub is_local: bool,
    /// Whether its rows are lost on a restart.
    pub is_temporary: bool,
    /// Whether its transactions wait for replicas.
    pub is_synchronous: bool,
    /// The known properties of its fields, starting with the first field.
    pub fields: Vec<Field>,
    /// Its indexes, by number.
    pub indexes: Vec<SpaceIndex>,
}

/// What keeps the rows of a space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Memory; snapshots hold its rows.
    #[default]
    Memtx,
    /// Files of its own; logs hold only the rows since the last dump.
    Vinyl,
    /// Nothing durable: views and similar engines, by name.
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
    /// The parts, counted from 0, without whose value a tuple has no entry.
    pub excluding: BTreeSet<usize>,
    /// Why it cannot be represented, to follow its name.
    pub left_out: Option<String>,
}

/// One part of an index's key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Part {
    /// The number of the tuple's field, from 0.
    pub field: u32,
    /// The path of the value within the field.
    pub path: Vec<PathStep>,
    /// The type of the value.
    pub kind: PartKind,
}

impl Space {
    /// Returns the number of the field with this name, from 0.
    pub fn field(&self, name: &[u8]) -> Option<u32> {
        let place = self.fields.iter().position(|field| field.name == name)?;
        u32::try_from(place).ok()
    }

    /// Returns whether vinyl has files for rows of the space.
    pub(crate) fn is_vinyl_with_key(&self) -> bool {
        self.engine == Engine::Vinyl && self.indexes.iter().any(|index| index.iid == 0)
    }

    /// Returns the remark about an index that cannot be represented.
    pub(super) fn left_out(&self, index: &SpaceIndex, why: &str) -> String {
        let what = match index.iid {
            0 => "its rows are kept in the order they came in",
            _ => "it answers no look-up",
        };
        format!("space {} ({}): index {} {why}: {what}", self.name, self.id, index.name)
    }

    /// Returns whether the space has durable rows.
    pub fn has_rows(&self) -> bool {
        !matches!(self.engine, Engine::Other(_)) && !self.is_temporary
    }
}
