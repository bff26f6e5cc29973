//! `pneu count`: says how many messages a query matches.

use crate::exit::Outcome;
use crate::question::Question;
use crate::session::Session;
use anyhow::Result;
use clap::Args;

/// Count messages
///
/// Prints how many messages match. The exit code is 1 if none does. See "pneu find --help" for queries.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu count flag:unread
  pneu count 'from:ana and date:2024'")]
pub(crate) struct Arguments {
    /// What to count; nothing counts every message
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
}

/// Runs the command.
///
/// # Errors
/// The query cannot be understood or answered; there is no index, or a damaged one.
pub(crate) fn run(arguments: &Arguments, session: &Session) -> Result<Outcome> {
    let question = Question::new(&arguments.query)?;
    let count = session.mailbox()?.count(&question.query).map_err(|error| question.explain(error))?;
    print(count, session)
}

/// Prints a number of messages.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn print(count: u64, session: &Session) -> Result<Outcome> {
    let mut output = session.output();
    output.line(&count.to_string())?;
    output.finish()?;
    Ok(if count == 0 { Outcome::Nothing } else { Outcome::Done })
}
