//! `pneu-tarantool get`: prints the tuples with a key.

use crate::open::{self, put_tuple};
use crate::session::Session;
use anyhow::{Result, bail};
use clap::Args;
use std::ops::Bound;
use std::path::PathBuf;
use store::{IndexKind, OwnedValue, PRIMARY, RowId, Value};
use tarantool::table::TableIndex;
use terminal::command_line::Run;
use terminal::exit::Outcome;

/// Print the tuples with a key, one JSON array per line
///
/// Type numbers, text, true, false, nil and UUIDs as they are. A number with a point also finds the decimal
/// that is written the same way. In an ordered index, the first parts of a key find all tuples that begin
/// with them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu-tarantool get shop.store orders 17
  pneu-tarantool get shop.store orders --index by_customer ana 2024")]
pub(crate) struct Arguments {
    /// A store made by "pneu-tarantool load"
    #[arg(value_name = "STORE")]
    store: PathBuf,
    /// Name or number of a space
    #[arg(value_name = "SPACE")]
    space: String,
    /// Look the key up in this index. Default: the primary key
    #[arg(long, value_name = "NAME")]
    index: Option<String>,
    /// The values of the key's parts
    #[arg(value_name = "KEY", required = true, allow_negative_numbers = true)]
    key: Vec<String>,
}

impl Run<Session> for Arguments {
    fn run(&self, session: &Session) -> Result<Outcome> {
        let snapshot = open::open_store(session, &self.store)?;
        let space = open::space(&snapshot, &self.space)?;
        let Some(index) = space.index(self.index.as_deref())? else {
            bail!("space {} has no key; pneu-tarantool scan prints its tuples", self.space);
        };
        let mut rows = Vec::new();
        for key in keys(&open::key_parts(index, &self.key)?) {
            rows.extend(find(&space, index, &key)?);
        }
        if rows.is_empty() {
            return session.nothing_found();
        }
        let mut output = session.output();
        let mut line = Vec::new();
        for row in rows {
            line.clear();
            put_tuple(space.tuple(row)?, &mut line)?;
            line.push(b'\n');
            output.bytes(&line)?;
        }
        output.finish()?;
        Ok(Outcome::Done)
    }
}

/// Returns every key that takes one value for each part.
fn keys(parts: &[Vec<OwnedValue>]) -> Vec<Vec<OwnedValue>> {
    parts.iter().fold(vec![Vec::new()], |keys, values| {
        let with = |key: &Vec<OwnedValue>, value: &OwnedValue| {
            [key.as_slice(), std::slice::from_ref(value)].concat()
        };
        keys.iter().flat_map(|key| values.iter().map(move |value| with(key, value))).collect()
    })
}

/// Returns the rows with a key, or with a key that begins so.
fn find(space: &open::OpenSpace, index: &TableIndex, key: &[OwnedValue]) -> Result<Vec<RowId>> {
    let values: Vec<Value> = key.iter().map(OwnedValue::as_value).collect();
    let name = index.store_name.as_str();
    if key.len() == index.parts.len() {
        return Ok(space.table.find(name, &values)?);
    }
    let schema = &space.shape.schema;
    let is_hash = name != PRIMARY
        && schema.index(name).is_some_and(|number| schema.indexes[number].kind == IndexKind::Hash);
    if is_hash {
        bail!("index {} is a hash index: all {} parts of its key are needed", index.name, index.parts.len());
    }
    let end = Bound::Included(values.as_slice());
    space.table.range(name, end, end)?.map(|row| Ok(row?)).collect()
}
