//! `pneu mute` and `pneu unmute`: leave conversations out of the inbox.

use crate::command::act::question;
use crate::command::retag::{RetagOptions, retag};
use crate::exit::Outcome;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use pneu::TagChange;
use terminal::command_line::Run;

/// Mute conversations
///
/// All messages of the conversations of matching messages get the tag "muted", and so do messages that come
/// later and answer one of them: a message answers the last one that it refers to. A message that refers to
/// two conversations belongs to the one that it answers, and does not join them. A message that comes with
/// the Message-ID of another one changes nothing for that one. "query:inbox", the saved query of that name,
/// leaves muted messages out. All other queries find them; "is:muted" finds only them.
///
/// "pneu unmute" ends it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu query inbox 'maildir:/inbox flag:unread'
  pneu mute id:1234@example.org
  pneu find query:inbox
  pneu find --threads is:muted")]
pub(crate) struct Mute {
    #[command(flatten)]
    options: RetagOptions,
    /// The query; see docs/query.md
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
}

/// Unmute conversations
///
/// Removes the tag "muted" from all messages of the conversations of matching messages. "query:inbox" shows
/// them again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu unmute id:1234@example.org
  pneu unmute is:muted from:ana")]
pub(crate) struct Unmute {
    #[command(flatten)]
    options: RetagOptions,
    /// The query; see docs/query.md
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
}

impl Run<Session> for Mute {
    /// Runs the command.
    ///
    /// # Errors
    /// The query cannot be understood; the data directory cannot be written.
    fn run(&self, session: &Session) -> Result<Outcome> {
        change(&self.query, &pneu::muting(), self.options, session)
    }
}

impl Run<Session> for Unmute {
    /// Runs the command.
    ///
    /// # Errors
    /// As for `mute`.
    fn run(&self, session: &Session) -> Result<Outcome> {
        change(&self.query, &pneu::unmuting(), self.options, session)
    }
}

fn change(words: &[String], change: &TagChange, options: RetagOptions, session: &Session) -> Result<Outcome> {
    let question = question(words, session)?;
    let view = session.view()?;
    let found = view.matching(&question.query).map_err(|error| question.explain(error))?;
    retag(&question, (&view, &view.conversations(&found)?), change, options, session)
}
