//! `pneu-tarantool scan`: prints tuples in the order of an index.

use crate::query_options::{PrintOptions, RowOptions, damaged, put_line};
use crate::session::Session;
use crate::source::{Source, SourceOptions};
use anyhow::{Error, Result};
use clap::Args;
use std::path::PathBuf;
use tarantool::query::Direction;
use terminal::command_line::Run;
use terminal::exit::Outcome;

/// Print tuples in the order of an index, one JSON array per line
///
/// A snapshot or a directory of Tarantool is loaded first. The store that is made of it is kept in the user's
/// cache, so that the next question is answered at once.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu-tarantool scan /var/lib/tarantool/shop orders --where 'price > 10 and note like \"late%\"'
  pneu-tarantool scan shop.store orders --ge 100 --lt 200 --fields id,price
  pneu-tarantool scan shop.store orders --index by_customer --ge ana 2024 --limit 10
  pneu-tarantool scan 00000000000000000118.snap orders --index by_customer --eq ana --format json
  pneu-tarantool scan shop.store orders --reverse --limit 1             the last tuple

Exit code 1: nothing found. Exit code 3: done, but something was lost while loading.")]
pub(crate) struct Arguments {
    /// A snapshot, a directory with snapshots and logs, or a store made by "pneu-tarantool load"
    #[arg(value_name = "FILE|DIR|STORE")]
    source: PathBuf,
    /// Name or number of a space
    #[arg(value_name = "SPACE")]
    space: String,
    #[command(flatten)]
    rows: RowOptions,
    /// Print at most this many tuples
    #[arg(long, value_name = "NUMBER")]
    limit: Option<u64>,
    /// Leave out this many tuples first
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    offset: u64,
    /// Print the last tuples first
    #[arg(long)]
    reverse: bool,
    #[command(flatten)]
    print: PrintOptions,
    #[command(flatten)]
    options: SourceOptions,
}

impl Run<Session> for Arguments {
    fn run(&self, session: &Session) -> Result<Outcome> {
        let source = Source::open(session, &self.source, &self.options)?;
        source.settle(self.print(session, &source))
    }
}

impl Arguments {
    fn print(&self, session: &Session, source: &Source) -> Result<Outcome> {
        let space = source.space(&self.space)?;
        let (mut writer, expression) = (self.print.writer(&space)?, self.rows.expression(&space)?);
        let open = space.index(self.rows.index.as_deref())?;
        let selection = self.rows.keys().selection(open.index).map_err(Error::msg)?;
        let direction = if self.reverse { Direction::Descending } else { Direction::Ascending };
        let mut output = session.output();
        let mut line = Vec::new();
        let (mut skipped, mut count) = (0, 0);
        let is_full = |count| self.limit.is_some_and(|limit| count >= limit);
        let mut rows = selection.rows(open, direction)?;
        while !is_full(count)
            && let Some(row) = rows.next()
        {
            let tuple = space.tuple(row?)?;
            if let Some(expression) = &expression
                && !expression.fits(tuple).map_err(|damage| damaged(&damage))?
            {
                continue;
            }
            if skipped < self.offset {
                skipped += 1;
                continue;
            }
            line.clear();
            put_line(&mut writer, tuple, &mut line)?;
            output.bytes(&line)?;
            count += 1;
        }
        output.finish()?;
        if count == 0 { session.nothing_found() } else { Ok(Outcome::Done) }
    }
}
