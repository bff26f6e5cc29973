//! `pneu undo`: undoes the last action on mail, or lists what it would undo.

use crate::command::act::{agrees, outcome, places, things};
use crate::environment;
use crate::exit::Outcome;
use crate::format::fields::minute;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use pneu::{ActionKind, ImportedFrom, Silent, Undoable, Undone};
use terminal::command_line::Run;

/// Undo the last action
///
/// Undoes the last "flag", "move", "copy", "delete", "rename-folder" or "import" that is not undone yet; the
/// next undo undoes the one before. Files go back into their old folders and get their old flags; their names
/// may differ. They are found even if mail programs renamed them since. A file that was moved elsewhere,
/// changed or removed since is left alone and reported, and flags that changed since stay. The last 200
/// actions are remembered. What was removed for good stays gone.
///
/// Of an import, the messages that it stored are removed for good, whatever flags they have by now, and so
/// are the tags that it set. You are asked before. Nothing looks whether their source is still there. A
/// message that was moved to another folder stays. An import that was stopped and repeated is as many actions
/// as there were runs. The folders that an import created stay.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu undo --list
  pneu undo

Exit code 3: done, but files were left alone. Each is reported.")]
pub(crate) struct Arguments {
    /// List the actions that can be undone, the last one first; then the files of the last one, each with its
    /// present and its old place, separated by a tab. A file that was imported has only a present one
    #[arg(long)]
    list: bool,
    /// Do not ask before the messages of an import are removed
    #[arg(long)]
    yes: bool,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The log of actions is damaged, or cannot be written.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let host = session.host()?;
        if self.list {
            return list(&host.undoable()?, session);
        }
        if !self.yes && !agrees_to_next(&host.undoable()?, session)? {
            return Ok(Outcome::Done);
        }
        let Some(Undone { action, restored_count, left }) = host.undo(&Silent)? else {
            return session.nothing(NOTHING);
        };
        if action.kind == ActionKind::Remove {
            let all = things(action.kind, action.files.len());
            let what =
                format!("{all} {} cannot come back; the next undo undoes the action before", title(&action));
            return session.nothing(what);
        }
        let all = things(action.kind, action.files.len());
        let done = format!("undone for {restored_count} of {all} {}", title(&action));
        Ok(session.conclude(&done, outcome(&left)))
    }
}

/// Asks for consent if the next undo removes messages. Returns whether to go on.
fn agrees_to_next(actions: &[Undoable], session: &Session) -> Result<bool> {
    let Some(next) = actions.first().filter(|next| next.kind == ActionKind::Import) else { return Ok(true) };
    let question = format!("Remove {} {}?", things(next.kind, next.files.len()), title(next));
    agrees(&question, "the last action is an import; to remove its messages, add --yes", session)
}

const NOTHING: &str = "there is nothing to undo";

fn list(actions: &[Undoable], session: &Session) -> Result<Outcome> {
    let Some(last) = actions.first() else { return session.nothing(NOTHING) };
    let mut output = session.output();
    for action in actions {
        output.line(&format!("{} {}", things(action.kind, action.files.len()), title(action)))?;
    }
    for (old, now) in &last.files {
        match last.kind {
            ActionKind::Import => output.line(&one_line(&now.to_string_lossy()))?,
            _ => output.line(&places(now, old))?,
        }
    }
    output.finish()?;
    Ok(Outcome::Done)
}

/// Returns what was done to the files of an action, and when.
fn title(action: &Undoable) -> String {
    let from = action.import.as_ref().map(|ImportedFrom { sources, folder }| {
        let sources: Vec<_> = sources.iter().map(|source| source.to_string_lossy()).collect();
        one_line(&format!(" from {} into {folder}", sources.join(", "))).into_owned()
    });
    let time = minute(action.time, environment::now().time_zone());
    format!("{}{} at {time}", action.kind.done(), from.unwrap_or_default())
}
