//! `pneu-tarantool count`: prints how many tuples there are.

use crate::query_options::{RowOptions, damaged};
use crate::session::Session;
use crate::source::{Source, SourceOptions};
use anyhow::{Error, Result};
use clap::Args;
use std::path::PathBuf;
use tarantool::query::Direction;
use terminal::command_line::Run;
use terminal::exit::Outcome;

/// Print how many tuples a space has, or how many fit
///
/// Takes the conditions of "pneu-tarantool scan". Without --where no tuple is read.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu-tarantool count /var/lib/tarantool/shop orders
  pneu-tarantool count shop.store orders --index by_day --ge 2024-03-01 --lt 2024-04-01
  pneu-tarantool count shop.store orders --where 'paid and price >= 10.5'

Exit code 1: the number is 0. Exit code 3: done, but something was lost while loading.")]
pub(crate) struct Arguments {
    /// A snapshot, a directory with snapshots and logs, or a store made by "pneu-tarantool load"
    #[arg(value_name = "FILE|DIR|STORE")]
    source: PathBuf,
    /// Name or number of a space
    #[arg(value_name = "SPACE")]
    space: String,
    #[command(flatten)]
    rows: RowOptions,
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
        let count = self.count(source)?;
        let mut output = session.output();
        output.line(&count.to_string())?;
        output.finish()?;
        Ok(if count == 0 { Outcome::Nothing } else { Outcome::Done })
    }

    fn count(&self, source: &Source) -> Result<u64> {
        let space = source.space(&self.space)?;
        let open = space.index(self.rows.index.as_deref())?;
        let selection = self.rows.keys().selection(open.index).map_err(Error::msg)?;
        let Some(expression) = self.rows.expression(&space)? else {
            return Ok(selection.count(open)?);
        };
        let mut count = 0;
        for row in selection.rows(open, Direction::Ascending)? {
            count += u64::from(expression.fits(space.tuple(row?)?).map_err(|damage| damaged(&damage))?);
        }
        Ok(count)
    }
}
