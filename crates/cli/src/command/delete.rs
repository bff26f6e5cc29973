//! `pneu delete`: moves messages to the trash.

use crate::command::act::{ActOptions, act};
use crate::exit::Outcome;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use pneu::Action;
use terminal::command_line::Run;

/// Move messages to the trash
///
/// Moves the files of all matching messages to the trash of their root. If the query names folders with
/// "maildir:", only files in these are moved. The configuration can name the trash of each root, with the key
/// "trash". Else it is a folder with a usual name, such as Trash, Deleted Items or that of Gmail. It is the
/// same as "pneu move QUERY :trash".
///
/// "pneu undo" moves them back.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu delete maildir:/inbox from:spammer@example.org
  pneu delete --dry-run 'list:announce date:..5y'

Exit code 3: done, but files were left alone. Each is reported.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    options: ActOptions,
    /// The query; see docs/query.md
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The query cannot be understood; there is no trash; the log of actions cannot be written.
    fn run(&self, session: &Session) -> Result<Outcome> {
        act(&self.query, &Action::Delete, self.options, session)
    }
}
