//! `pneu store scan`: prints tuples in the order of an index.

use super::open;
use crate::exit::Outcome;
use crate::format::tuple::put_tuple;
use crate::session::Session;
use anyhow::{Result, bail};
use clap::Args;
use std::ops::Bound;
use std::path::PathBuf;
use store::{OwnedValue, PRIMARY, RowIter, Value};

/// Print tuples in the order of an index, one JSON array a line
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu store scan shop.store orders
  pneu store scan shop.store orders --from 100 --to 200
  pneu store scan shop.store orders --index by_customer --from ana --from 2024 --limit 10
  pneu store scan shop.store orders --reverse --limit 1             the last one")]
pub(crate) struct Arguments {
    /// A store that "pneu store load" made
    #[arg(value_name = "STORE")]
    store: PathBuf,
    /// Name or number of a space
    #[arg(value_name = "SPACE")]
    space: String,
    /// The index whose order counts. Default: the primary key
    #[arg(long, value_name = "NAME")]
    index: Option<String>,
    /// Begin with this key. Given again for each further part
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true)]
    from: Vec<String>,
    /// End with this key, and all that begin with it. Given again for each further part
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true)]
    to: Vec<String>,
    /// Print so many at most
    #[arg(long, value_name = "NUMBER")]
    limit: Option<u64>,
    /// The last ones first
    #[arg(long)]
    reverse: bool,
}

/// Runs the command.
///
/// # Errors
/// There is no such space or index, an end does not fit, or a file is damaged.
pub(crate) fn run(arguments: &Arguments, session: &Session) -> Result<Outcome> {
    let snapshot = open::store(session, &arguments.store)?;
    let space = open::space(&snapshot, &arguments.space)?;
    let index = space.index(arguments.index.as_deref())?;
    let (name, from, to) = match index {
        Some(index) => {
            // What an end may stand for is all within.
            let smallest = open::key_parts(index, &arguments.from)?
                .into_iter()
                .filter_map(|part| part.into_iter().next());
            let largest =
                open::key_parts(index, &arguments.to)?.into_iter().filter_map(|mut part| part.pop());
            (index.store_name.as_str(), smallest.collect(), largest.collect())
        }
        None if arguments.from.is_empty() && arguments.to.is_empty() => (PRIMARY, Vec::new(), Vec::new()),
        None => bail!("space {} has no key to begin or end with", arguments.space),
    };
    let (from, to) = (values(&from), values(&to));
    let mut rows = space.table.range(name, bound(&from), bound(&to))?;
    let mut next = || if arguments.reverse { RowIter::next_back(&mut rows) } else { rows.next() };
    let mut output = session.output();
    let mut line = Vec::new();
    let mut count = 0;
    while arguments.limit.is_none_or(|limit| count < limit)
        && let Some(row) = next()
    {
        line.clear();
        put_tuple(space.tuple(row?)?, &mut line)?;
        line.push(b'\n');
        output.bytes(&line)?;
        count += 1;
    }
    output.finish()?;
    if count == 0 { session.nothing("nothing found") } else { Ok(Outcome::Done) }
}

fn values(key: &[OwnedValue]) -> Vec<Value<'_>> {
    key.iter().map(OwnedValue::as_value).collect()
}

/// No value stands for no end.
fn bound<'a>(key: &'a [Value<'a>]) -> Bound<&'a [Value<'a>]> {
    if key.is_empty() { Bound::Unbounded } else { Bound::Included(key) }
}
