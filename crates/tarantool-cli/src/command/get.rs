//! `pneu-tarantool get`: prints the tuples with a key.

use crate::query_options::{PrintOptions, put_line};
use crate::session::Session;
use crate::source::{Source, SourceOptions};
use anyhow::{Error, Result, bail};
use clap::Args;
use std::path::PathBuf;
use tarantool::query::{Direction, KeyConditions};
use terminal::command_line::Run;
use terminal::exit::Outcome;

/// Print the tuples with a key, one JSON array per line
///
/// Type numbers, text, true, false, nil and UUIDs as they are. A number with a point also finds the decimal
/// that is written the same way. In an ordered index, the first parts of a key find all tuples that begin
/// with them.
///
/// A snapshot or a directory of Tarantool is loaded first. The store that is made of it is kept in the user's
/// cache, so that the next question is answered at once.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu-tarantool get /var/lib/tarantool/shop orders 17
  pneu-tarantool get shop.store orders --index by_customer ana 2024
  pneu-tarantool get 00000000000000000118.snap orders 17 --format json | jq .price

Exit code 1: nothing found. Exit code 3: done, but something was lost while loading.")]
pub(crate) struct Arguments {
    /// A snapshot, a directory with snapshots and logs, or a store made by "pneu-tarantool load"
    #[arg(value_name = "FILE|DIR|STORE")]
    source: PathBuf,
    /// Name or number of a space
    #[arg(value_name = "SPACE")]
    space: String,
    /// Look the key up in this index. Default: the primary key
    #[arg(long, value_name = "NAME")]
    index: Option<String>,
    /// The values of the key's parts
    #[arg(value_name = "KEY", required = true, allow_negative_numbers = true)]
    key: Vec<String>,
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
        let mut writer = self.print.writer(&space)?;
        let open = space.index(self.index.as_deref())?;
        let Some(index) = open.index else {
            bail!("space {} has no key; pneu-tarantool scan prints its tuples", self.space);
        };
        if space.is_hash(index) && self.key.len() < index.parts.len() {
            let count = index.parts.len();
            bail!("index {} is a hash index: all {count} parts of its key are needed", index.name);
        }
        let keys = KeyConditions { eq: self.key.clone(), ..KeyConditions::default() };
        let selection = keys.selection(Some(index)).map_err(Error::msg)?;
        let mut output = session.output();
        let mut line = Vec::new();
        let mut count = 0;
        for row in selection.rows(open, Direction::Ascending)? {
            line.clear();
            put_line(&mut writer, space.tuple(row?)?, &mut line)?;
            output.bytes(&line)?;
            count += 1;
        }
        output.finish()?;
        if count == 0 { session.nothing_found() } else { Ok(Outcome::Done) }
    }
}
