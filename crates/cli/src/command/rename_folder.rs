//! `pneu rename-folder`: gives a folder another name.

use crate::amount::count;
use crate::command::act::{ActOptions, outcome, places};
use crate::exit::Outcome;
use crate::output;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use pneu::{PlannedRenaming, RenamedRole, Silent};
use terminal::command_line::Run;

/// Rename a folder
///
/// Renames a folder with all folders in it, and updates the index without reading a message. What mbsync or
/// Dovecot keep in the folder moves along. In a Maildir++, where folders are directories such as
/// ".lists.rust" beside each other, all directories of the folder are renamed. No folder is replaced, and the
/// new place is in the same root. An inbox cannot be renamed.
///
/// Nothing else is changed: names in the configuration of pneu, mbsync or Dovecot, in filters, saved queries
/// and subscriptions stay as they are. If the folder has a role, such as "trash", the line is printed that
/// the configuration of pneu needs.
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
    /// Its new name below the root, with or without a slash before it, or its new path
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
        if self.options.dry_run {
            let PlannedRenaming { directories, roles } = host.plan_renaming(&self.old, &self.new)?;
            let mut output = session.output();
            for directory in directories {
                output.line(&places(&directory.from, &directory.to))?;
            }
            output.finish()?;
            roles.iter().for_each(|role| output::complain(one_line(&to_configure(role))));
            return Ok(Outcome::Done);
        }
        let renamed = host.rename_folder(&self.old, &self.new, &Silent)?;
        let done = format!("{} renamed", count(renamed.folder_count, "folder"));
        let outcome = session.conclude(&done, outcome(&renamed.left));
        renamed.roles.iter().for_each(|role| output::complain(one_line(&to_configure(role))));
        Ok(outcome)
    }
}

/// Says which line of the configuration names the role of a renamed folder.
fn to_configure(renamed: &RenamedRole) -> String {
    format!(
        "the configuration still names the old folder: in the [[root]] \"{}\", replace {} by {}",
        renamed.root,
        renamed.old_line(),
        renamed.new_line()
    )
}
