//! `pneu-tarantool diff`: prints how the tuples of two databases differ.

use crate::session::Session;
use crate::source::{Source, SourceOptions};
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;
use tarantool::diff::{DiffForm, DiffOptions, diff};
use terminal::command_line::Run;
use terminal::exit::Outcome;
use terminal::output::complain;

/// Print how two databases differ, one JSON object per line
///
/// Compares tuples by primary key: added ones, removed ones, and changed ones with the fields that differ.
/// Spaces and definitions that differ are printed, too. Spaces belong together by their names, or else by
/// their numbers.
///
/// A snapshot or a directory of Tarantool is loaded first. The store that is made of it is kept in the user's
/// cache, so that the next question is answered at once.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu-tarantool diff 00000000000000000118.snap 00000000000000000240.snap
  pneu-tarantool diff monday.store /var/lib/tarantool/shop --space orders | jq .fields
  pneu-tarantool diff monday.store tuesday.store --summary

Exit code 0: they are equal. Exit code 1: they differ. Exit code 3: something was lost while loading.")]
pub(crate) struct Arguments {
    /// The older one: a snapshot, a directory with snapshots and logs, or a store
    #[arg(value_name = "A")]
    old: PathBuf,
    /// The newer one
    #[arg(value_name = "B")]
    new: PathBuf,
    /// Only this space, by name or number. May be repeated
    #[arg(long, value_name = "NAME|ID")]
    space: Vec<String>,
    /// Also Tarantool's own spaces
    #[arg(long)]
    show_system: bool,
    /// Print only a line with counts for each space
    #[arg(long)]
    summary: bool,
    #[command(flatten)]
    options: SourceOptions,
}

impl Run<Session> for Arguments {
    fn run(&self, session: &Session) -> Result<Outcome> {
        let old = Source::open(session, &self.old, &self.options)?;
        let new = Source::open(session, &self.new, &self.options)?;
        old.settle(new.settle(self.print(session, &old, &new)))
    }
}

impl Arguments {
    fn print(&self, session: &Session, old: &Source, new: &Source) -> Result<Outcome> {
        let options = DiffOptions {
            form: if self.summary { DiffForm::Summary } else { DiffForm::Lines },
            spaces: self.space.clone(),
            shows_system: self.show_system,
            thread_count: session.thread_count,
        };
        let mut output = session.output();
        let sides = ((&old.snapshot, &old.spaces), (&new.snapshot, &new.spaces));
        let totals = diff::<anyhow::Error>(sides.0, sides.1, &options, &mut |bytes| output.bytes(bytes))?;
        totals.remarks.iter().for_each(complain);
        output.finish()?;
        // Unlike for other commands, nothing is what was hoped for.
        Ok(if totals.is_different { Outcome::Nothing } else { Outcome::Done })
    }
}
