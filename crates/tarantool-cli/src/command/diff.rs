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
/// their numbers. With --from, two states of one directory are compared: what the rows of its logs from there
/// on have changed.
///
/// A snapshot or a directory of Tarantool is loaded first. The store that is made of it is kept in the user's
/// cache, so that the next question is answered at once.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu-tarantool diff 00000000000000000118.snap 00000000000000000240.snap
  pneu-tarantool diff monday.store /var/lib/tarantool/shop --space orders | jq .fields
  pneu-tarantool diff monday.store tuesday.store --summary
  pneu-tarantool diff /var/lib/tarantool/shop --from 2024-03-01T12:00 --to 2024-03-01T13:00

Exit code 0: they are equal. Exit code 1: they differ. Exit code 3: something was lost while loading.")]
pub(crate) struct Arguments {
    /// The older one: a snapshot, a directory with snapshots and logs, or a store
    #[arg(value_name = "A")]
    old: PathBuf,
    /// The newer one. Not with --from
    #[arg(value_name = "B", required_unless_present = "from", conflicts_with = "from")]
    new: Option<PathBuf>,
    /// Compare A, a directory, with itself: as it was before this LSN or time, or after the rows of this
    /// VClock, such as "{1: 5}"
    #[arg(long, value_name = "POSITION", conflicts_with = "until")]
    from: Option<String>,
    /// End of the newer state, as --until of "pneu-tarantool load". Default: all that is there
    #[arg(long, value_name = "POSITION", requires = "from")]
    to: Option<String>,
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
        let until = |position: &Option<String>| {
            let mut options = self.options.clone();
            if self.from.is_some() {
                options.recovery.until.clone_from(position);
            }
            options
        };
        let old = Source::open(session, &self.old, &until(&self.from))?;
        let new = Source::open(session, self.new.as_ref().unwrap_or(&self.old), &until(&self.to))?;
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
