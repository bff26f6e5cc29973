//! `pneu-tarantool scan`: prints tuples in the order of an index.

use crate::open::{self, put_tuple};
use crate::session::Session;
use anyhow::{Result, bail};
use clap::Args;
use std::ops::Bound;
use std::path::PathBuf;
use store::{OwnedValue, PRIMARY, RowIter, Value};
use terminal::command_line::Run;
use terminal::exit::Outcome;

/// Print tuples in the order of an index, one JSON array per line
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu-tarantool scan shop.store orders
  pneu-tarantool scan shop.store orders --from 100 --to 200
  pneu-tarantool scan shop.store orders --index by_customer --from ana --from 2024 --limit 10
  pneu-tarantool scan shop.store orders --reverse --limit 1             the last tuple")]
pub(crate) struct Arguments {
    /// A store made by "pneu-tarantool load"
    #[arg(value_name = "STORE")]
    store: PathBuf,
    /// Name or number of a space
    #[arg(value_name = "SPACE")]
    space: String,
    /// Scan this index. Default: the primary key
    #[arg(long, value_name = "NAME")]
    index: Option<String>,
    /// Begin with this key. Repeat for each further part
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true)]
    from: Vec<String>,
    /// End with this key and all keys that begin with it. Repeat for each further part
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true)]
    to: Vec<String>,
    /// Print at most this many tuples
    #[arg(long, value_name = "NUMBER")]
    limit: Option<u64>,
    /// Print the last tuples first
    #[arg(long)]
    reverse: bool,
}

impl Run<Session> for Arguments {
    fn run(&self, session: &Session) -> Result<Outcome> {
        let snapshot = open::open_store(session, &self.store)?;
        let space = open::space(&snapshot, &self.space)?;
        let index = space.index(self.index.as_deref())?;
        let (name, from, to) = match index {
            Some(index) => {
                // What an end may stand for is all within.
                let smallest = open::key_parts(index, &self.from)?
                    .into_iter()
                    .filter_map(|part| part.into_iter().next());
                let largest = open::key_parts(index, &self.to)?.into_iter().filter_map(|mut part| part.pop());
                (index.store_name.as_str(), smallest.collect(), largest.collect())
            }
            None if self.from.is_empty() && self.to.is_empty() => (PRIMARY, Vec::new(), Vec::new()),
            None => bail!("space {} has no key to begin or end with", self.space),
        };
        let (from, to) = (values(&from), values(&to));
        let mut rows = space.table.range(name, bound(&from), bound(&to))?;
        let mut next = || if self.reverse { RowIter::next_back(&mut rows) } else { rows.next() };
        let mut output = session.output();
        let mut line = Vec::new();
        let mut count = 0;
        while self.limit.is_none_or(|limit| count < limit)
            && let Some(row) = next()
        {
            line.clear();
            put_tuple(space.tuple(row?)?, &mut line)?;
            line.push(b'\n');
            output.bytes(&line)?;
            count += 1;
        }
        output.finish()?;
        if count == 0 { session.nothing_found() } else { Ok(Outcome::Done) }
    }
}

fn values(key: &[OwnedValue]) -> Vec<Value<'_>> {
    key.iter().map(OwnedValue::as_value).collect()
}

/// No value stands for no end.
fn bound<'a>(key: &'a [Value<'a>]) -> Bound<&'a [Value<'a>]> {
    if key.is_empty() { Bound::Unbounded } else { Bound::Included(key) }
}
