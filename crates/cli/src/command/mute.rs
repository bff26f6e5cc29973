//! `pneu mute` and `pneu unmute`: leave conversations out of the inbox.

use crate::amount::count;
use crate::exit::Outcome;
use crate::search::question::TypedQuery;
use crate::session::Session;
use anyhow::{Result, bail};
use clap::Args;
use pneu::{Host, TagSummary};
use terminal::command_line::Run;

/// Mute conversations
///
/// All messages of the conversations of matching messages get the tag "muted", and so do messages that come
/// later and answer one of them. "query:inbox", the saved query of that name, leaves muted messages out. All
/// other queries find them; "is:muted" finds only them.
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
        change(&self.query, session, Host::mute)
    }
}

impl Run<Session> for Unmute {
    /// Runs the command.
    ///
    /// # Errors
    /// As for `mute`.
    fn run(&self, session: &Session) -> Result<Outcome> {
        change(&self.query, session, Host::unmute)
    }
}

fn change(
    words: &[String],
    session: &Session,
    work: fn(&Host, &query::Query) -> pneu::Result<TagSummary>,
) -> Result<Outcome> {
    if words.iter().all(|word| word.trim().is_empty()) {
        bail!("no query is given; '*' means all messages");
    }
    let view = session.view()?;
    let question = TypedQuery::new(words, &view)?;
    let summary = work(session.host()?, &question.query).map_err(|error| question.explain(error))?;
    if summary.messages == 0 {
        let why = question.why_nothing(&view)?.map(|why| format!(": {why}")).unwrap_or_default();
        return session.nothing(format!("no message matches{why}"));
    }
    let done = format!("{}: {} changed", count(summary.messages, "message"), summary.changed);
    Ok(session.conclude(&done, Outcome::Done))
}
