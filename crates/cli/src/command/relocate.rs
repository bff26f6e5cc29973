//! `pneu move` and `pneu copy`: put the files of messages into another folder.

use crate::command::act::{ActOptions, act};
use crate::exit::Outcome;
use crate::session::Session;
use anyhow::{Result, bail};
use clap::Args;
use pneu::Action;
use terminal::command_line::Run;

/// Move messages to a folder
///
/// Moves the files of all matching messages. If the query names folders with "maildir:", only files in these
/// are moved; else all files of each message. Files keep flags and times; the letters of Dovecot's keywords
/// stay, too, and may mean others in the new folder. On the same file system they
/// are renamed, to another one they are copied and made durable before they are removed. A file that another
/// program changed meanwhile is left alone and reported.
///
/// The folder may be named by its role: :archive, :trash, :sent, :drafts or :spam is the folder of each
/// file's root, and :work/archive that of the root "work". The configuration names them, or they have a usual
/// name.
///
/// "pneu undo" moves them back.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu move maildir:/inbox date:..1y archive
  pneu move --create 'list:rust and maildir:/inbox' lists/rust
  pneu move maildir:/inbox date:..1y :archive
  pneu move --dry-run from:ana archive

Exit code 3: done, but files were left alone. Each is reported.")]
pub(crate) struct Move {
    #[command(flatten)]
    arguments: Arguments,
}

/// Copy messages to a folder
///
/// Copies the files of all matching messages. If the query names folders with "maildir:", only files in these
/// are copied. Copies keep flags and times. Files that are in the folder already are not copied.
///
/// "pneu undo" removes the copies.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu copy maildir:/inbox subject:invoice taxes/2026
  pneu copy --dry-run id:1234@example.org archive

Exit code 3: done, but files were left alone. Each is reported.")]
pub(crate) struct Copy {
    #[command(flatten)]
    arguments: Arguments,
}

#[derive(Debug, Args)]
struct Arguments {
    #[command(flatten)]
    options: ActOptions,
    /// Create the folder if it does not exist
    #[arg(long)]
    create: bool,
    /// The query, and last the folder: its name, such as lists/rust, its path, or its role, such as :archive
    #[arg(value_name = "QUERY... FOLDER", required = true, num_args = 1..)]
    words: Vec<String>,
}

impl Run<Session> for Move {
    /// Runs the command.
    ///
    /// # Errors
    /// The query cannot be understood; there is no such folder; the log of actions cannot be written.
    fn run(&self, session: &Session) -> Result<Outcome> {
        self.arguments.run(session, |folder, creates| Action::Move { folder, creates })
    }
}

impl Run<Session> for Copy {
    /// Runs the command.
    ///
    /// # Errors
    /// As for `move`.
    fn run(&self, session: &Session) -> Result<Outcome> {
        self.arguments.run(session, |folder, creates| Action::Copy { folder, creates })
    }
}

impl Arguments {
    fn run(&self, session: &Session, action: impl FnOnce(String, bool) -> Action) -> Result<Outcome> {
        let Some((folder, query)) = self.words.split_last().filter(|(_, query)| !query.is_empty()) else {
            bail!("a query and a folder are needed: pneu move from:ana archive");
        };
        act(query, &action(folder.clone(), self.create), self.options, session)
    }
}
