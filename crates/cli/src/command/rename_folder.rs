//! `pneu rename-folder`: gives a folder another name.

use crate::amount::count;
use crate::command::act::{ActOptions, complain, places};
use crate::exit::Outcome;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use pneu::Silent;
use terminal::command_line::Run;

/// Rename a folder
///
/// Renames a folder with all folders in it, and updates the index without reading a message. What mbsync or
/// Dovecot keep in the folder moves along. In a Maildir++, where folders are directories such as
/// ".lists.rust" beside each other, all directories of the folder are renamed. No folder is replaced, and the
/// new place is in the same root. An inbox cannot be renamed.
///
/// Nothing else is changed: names in the configuration of pneu, mbsync or Dovecot, in filters, saved queries
/// and subscriptions stay as they are.
///
/// "pneu undo" gives the folder its old name back.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu rename-folder lists/rust lists/crabs
  pneu rename-folder --dry-run ~/Mail/work/old ~/Mail/work/archive/2025

Exit code 3: done, but something could not be read or synced. Each is reported.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    options: ActOptions,
    /// The folder: its name, such as lists/rust, or its path
    #[arg(value_name = "FOLDER")]
    old: String,
    /// Its new name below the root, or its new path
    #[arg(value_name = "NEW-NAME")]
    new: String,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no such folder; it cannot be renamed; the new name is taken, not valid, or leads out of the
    /// root; the log of actions cannot be written.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let host = session.host()?;
        let mut output = session.output();
        if self.options.dry_run {
            for directory in host.plan_renaming(&self.old, &self.new)? {
                output.line(&places(&directory.from, &directory.to))?;
            }
            output.finish()?;
            return Ok(Outcome::Done);
        }
        let renamed = host.rename_folder(&self.old, &self.new, &Silent)?;
        complain(&renamed.left);
        if !session.is_quiet {
            output.line(&format!("{} renamed", count(renamed.folder_count, "folder")))?;
        }
        output.finish()?;
        Ok(if renamed.left.is_empty() { Outcome::Done } else { Outcome::Partly })
    }
}
