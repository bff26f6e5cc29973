//! `pneu delete`: moves messages to the trash, or removes them for good.

use crate::amount::count;
use crate::command::act::{ActOptions, act, agrees, no_match, outcome, question};
use crate::command::sweep;
use crate::exit::Outcome;
use crate::output;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use pneu::{Action, Removal, Removed, Silent};
use terminal::command_line::Run;

/// Move messages to the trash, or remove them for good
///
/// Moves the files of all matching messages to the trash of their root. If the query names folders with
/// "maildir:", only files in these are moved. The configuration can name the trash of each root, with the key
/// "trash". Else it is a folder with a usual name, such as Trash, Deleted Items or that of Gmail. It is the
/// same as "pneu move QUERY :trash".
///
/// "pneu undo" moves them back.
///
/// With --for-good the files are removed from the disk instead, those in the trash too, and the messages from
/// the index. Nothing brings them back except an archive that holds them; how many it holds is printed. If
/// any message would then exist nowhere, you are asked first. Tags stay. Words of a removed message stay in
/// the files of the index, where no query finds them, until these are merged. To remove them at once, delete
/// the directory "index" in the data directory, which "pneu info" names, and run "pneu index".
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu delete maildir:/inbox from:spammer@example.org
  pneu delete --dry-run 'list:announce date:..5y'
  pneu delete --for-good maildir:/Trash date:..30d

Exit code 3: done, but files were left alone. Each is reported.")]
pub(crate) struct Arguments {
    /// Remove the files from the disk. This cannot be undone. With --dry-run each file is printed
    #[arg(long)]
    for_good: bool,
    /// Do not ask, even if messages would then exist nowhere
    #[arg(long, requires = "for_good")]
    yes: bool,
    /// Do not check the archive: messages that only the archive still holds count as nowhere else
    #[arg(long, requires = "for_good")]
    no_archive: bool,
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
    /// The query cannot be understood; there is no trash; the archive cannot be read; nobody agrees; the log
    /// of actions cannot be written.
    fn run(&self, session: &Session) -> Result<Outcome> {
        if self.for_good {
            return self.remove(session);
        }
        act(&self.query, &Action::Delete, self.options, session)
    }
}

impl Arguments {
    fn remove(&self, session: &Session) -> Result<Outcome> {
        let question = question(&self.query, session)?;
        let archive = if self.no_archive { None } else { sweep::named(session)? };
        let host = session.host()?;
        let removal = host
            .plan_removal(&question.query, archive.as_ref(), &Silent)
            .map_err(|error| question.explain(error))?;
        if removal.files.is_empty() {
            return no_match(&question, session);
        }
        let has_archive = archive.is_some();
        if self.options.dry_run {
            let mut output = session.output();
            for file in &removal.files {
                output.line(&one_line(&file.path().to_string_lossy()))?;
            }
            output.finish()?;
            output::complain(fate(&removal, has_archive));
            return Ok(Outcome::Done);
        }
        if removal.last_count > 0 && !self.yes {
            output::complain(fate(&removal, has_archive));
            let files = count(removal.files.len() as u64, "file");
            let if_nobody = "nothing was removed; --yes removes them all the same";
            if !agrees(&format!("Remove {files} for good?"), if_nobody, session)? {
                return session.nothing("nothing was removed");
            }
        }
        let removed = host.remove_for_good(&removal, &Silent)?;
        Ok(session.conclude(&done(&removed, &removal, has_archive), outcome(&removed.left)))
    }
}

/// Says where the messages would still be.
fn fate(removal: &Removal, has_archive: bool) -> String {
    let messages = count(removal.message_count, "message");
    let held = match has_archive {
        true => format!("the archive holds {}", removal.held_count),
        false => "no archive was asked".to_owned(),
    };
    match removal.last_count {
        0 => format!("{messages}: {held}"),
        last => format!("{messages}: {held}; {last} would then exist nowhere"),
    }
}

/// Says what was removed, and what the archive holds of it.
fn done(removed: &Removed, removal: &Removal, has_archive: bool) -> String {
    let (messages, files) = (count(removed.message_count, "message"), count(removed.file_count, "file"));
    let held = match has_archive {
        true => format!("; the archive holds {} of {}", removal.held_count, removal.message_count),
        false => String::new(),
    };
    format!("{messages}: {files} removed for good{held}")
}
