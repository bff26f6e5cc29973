//! `pneu dedupe`: moves duplicate files to the trash.

use crate::command::act::{self, ActOptions};
use crate::exit::Outcome;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use pneu::Silent;
use terminal::command_line::Run;

/// Move duplicate files of a folder to the trash
///
/// Files are duplicates if they are in the same folder and have the same bytes. The bytes on disk are
/// compared before anything is moved. A file that is not marked for deletion stays; of several, the one with
/// the most flags, then the oldest. Links to a file are no duplicates of it. Messages that read the same but
/// came over different ways have different bytes, and stay.
///
/// "pneu undo" moves them back.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu dedupe --dry-run inbox
  pneu dedupe inbox lists/rust

Exit code 1: there are no duplicates. 3: done, but files were left alone. Each is reported.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    options: ActOptions,
    /// The folders: their names, such as lists/rust, or their paths
    #[arg(value_name = "FOLDER", required = true)]
    folders: Vec<String>,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no such folder, or no trash; the log of actions cannot be written.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let host = session.host()?;
        if self.options.dry_run {
            let plan = host.plan_dedupe(&self.folders)?;
            if plan.steps.is_empty() {
                return session.nothing(NONE);
            }
            return act::show(&plan, session);
        }
        let acted = host.dedupe(&self.folders, &Silent)?;
        if acted.file_count == 0 && acted.left.is_empty() {
            return session.nothing(NONE);
        }
        Ok(act::tell(&acted, pneu::ActionKind::Delete, session))
    }
}

/// The message if there is nothing to do.
const NONE: &str = "there are no duplicate files";
