//! The collations that are defined at some time, as the space `_collation` has them.
//!
//! Input: tuples of that space. Output: the collation with a number or a name. One is prepared when an index
//! first needs it: Tarantool defines nearly 300, and hardly any is used.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::values::{each_option, number, text};
use crate::key::{Collation, CollationDefinition};
use crate::msgpack::{Class, Reader, Result};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The number that stands for no collation.
const NUMBER_NONE: u32 = u32::MAX;
/// The collations that all versions have: number, name, and the strength of those that do not compare bytes.
const ALWAYS: [(u32, &str, Option<&str>); 4] = [
    (0, "none", None),
    (1, "unicode", Some("tertiary")),
    (2, "unicode_ci", Some("primary")),
    (3, "binary", None),
];

/// All collations that are defined at some time.
#[derive(Clone, Debug)]
pub(super) struct Collations {
    rows: BTreeMap<u32, Named>,
}

#[derive(Clone, Debug)]
struct Named {
    name: String,
    order: Order,
}

/// How a collation compares.
#[derive(Clone, Debug)]
enum Order {
    /// By bytes.
    Bytes,
    /// As a language does. The collation is prepared when it is first needed.
    Language(CollationDefinition, OnceLock<std::result::Result<Collation, String>>),
}

impl Collations {
    /// Returns the collations that all versions have.
    pub(super) fn new() -> Collations {
        let row = |(number, name, strength): (u32, &str, Option<&str>)| {
            let options = |strength: &str| BTreeMap::from([("strength".to_owned(), strength.to_owned())]);
            let definition =
                |strength| CollationDefinition { locale: String::new(), options: options(strength) };
            (number, Named { name: name.to_owned(), order: Order::of(strength.map(definition)) })
        };
        Collations { rows: ALWAYS.into_iter().map(row).collect() }
    }

    /// Adds a tuple of `_collation`: `[id, name, owner, type, locale, {options}]`. One of another form
    /// defines nothing: indexes that use it say so.
    pub(super) fn set(&mut self, tuple: &[u8]) {
        let Ok(number) = number(tuple, 0) else { return };
        match row(tuple) {
            Ok(row) => self.rows.insert(number, row),
            Err(_) => self.rows.remove(&number),
        };
    }

    /// Removes the collation with this number.
    pub(super) fn remove(&mut self, number: u32) {
        self.rows.remove(&number);
    }

    /// Returns the collation with this number; `None` if it compares bytes.
    ///
    /// # Errors
    /// Why it cannot be carried out, to follow the name of an index.
    pub(super) fn numbered(&self, number: u32) -> std::result::Result<Option<Collation>, String> {
        if number == NUMBER_NONE {
            return Ok(None);
        }
        match self.rows.get(&number) {
            Some(named) => named.collation(),
            None => Err(format!("has the collation {number}, which is not defined")),
        }
    }

    /// Returns the collation with this name; `None` if it compares bytes.
    ///
    /// # Errors
    /// As [`Collations::numbered`].
    pub(super) fn named(&self, name: &str) -> std::result::Result<Option<Collation>, String> {
        match self.rows.values().find(|named| named.name == name) {
            Some(named) => named.collation(),
            None => Err(format!("has the collation {}, which is not defined", name.escape_debug())),
        }
    }
}

impl Order {
    fn of(definition: Option<CollationDefinition>) -> Order {
        definition.map_or(Order::Bytes, |definition| Order::Language(definition, OnceLock::new()))
    }
}

impl Named {
    fn collation(&self) -> std::result::Result<Option<Collation>, String> {
        let Order::Language(definition, prepared) = &self.order else { return Ok(None) };
        let collation = prepared.get_or_init(|| Collation::new(definition.clone()));
        collation
            .clone()
            .map(Some)
            .map_err(|why| format!("has the collation {} {why}", self.name.escape_debug()))
    }
}

/// Reads the name and the order of a collation.
fn row(tuple: &[u8]) -> Result<Named> {
    let mut reader = Reader::new(tuple);
    let count = reader.array_len()?;
    reader.skip()?;
    let name = text(reader.str()?);
    reader.skip()?;
    let is_binary = reader.str()?.eq_ignore_ascii_case(b"binary");
    let locale = text(reader.str()?);
    let options = if count > 5 { options(&mut reader)? } else { BTreeMap::new() };
    let definition = CollationDefinition { locale, options };
    Ok(Named { name, order: Order::of((!is_binary).then_some(definition)) })
}

/// Reads the options. What is not text stays visible as a value that no option has.
fn options(reader: &mut Reader) -> Result<BTreeMap<String, String>> {
    let mut options = BTreeMap::new();
    each_option(reader, |key, value| {
        let is_text = value.peek()? == Class::String;
        let value = if is_text { text(value.str()?).to_ascii_lowercase() } else { "?".to_owned() };
        if value != "default" {
            options.insert(text(key).to_ascii_lowercase(), value);
        }
        Ok(())
    })?;
    Ok(options)
}
