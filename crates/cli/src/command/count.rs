//! `pneu count`: says how many messages a query matches.

use crate::exit::Outcome;
use crate::format::analysis;
use crate::output::complain;
use crate::question::Question;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use index::Mailbox;

/// Count messages
///
/// Prints how many messages match, of copies one: "pneu info" says how many there are with them. The exit
/// code is 1 if none does. See "pneu find --help" for queries.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu count flag:unread
  pneu count 'from:ana and date:2024'")]
pub(crate) struct Arguments {
    /// What to count; nothing counts every message
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// Print how the query is answered, and what each part of it took, instead
    #[arg(long)]
    analyze: bool,
}

/// Runs the command.
///
/// # Errors
/// The query cannot be understood or answered; there is no index, or a damaged one.
pub(crate) fn run(arguments: &Arguments, session: &Session) -> Result<Outcome> {
    let question = Question::new(&arguments.query, session)?;
    let mailbox = session.mailbox()?;
    if arguments.analyze {
        analyze(&mailbox, &question, session)
    } else {
        let count = mailbox.count(&question.query).map_err(|error| question.explain(error))?;
        print(count, (&mailbox, &question), session)
    }
}

/// Prints how a query is answered.
///
/// # Errors
/// The query cannot be answered; damage.
pub(crate) fn analyze(mailbox: &Mailbox, question: &Question, session: &Session) -> Result<Outcome> {
    let clock = || (session.index.clock_ns)();
    let analysis = mailbox.analyze(&question.query, &clock).map_err(|error| question.explain(error))?;
    let mut output = session.output();
    for line in analysis::lines(&analysis) {
        output.line(&line)?;
    }
    output.finish()?;
    Ok(Outcome::Done)
}

/// Prints a number of messages; if there is none, why not, where that can be told.
///
/// # Errors
/// The output cannot be written; damage.
pub(crate) fn print(
    count: u64,
    (mailbox, question): (&Mailbox, &Question),
    session: &Session,
) -> Result<Outcome> {
    let mut output = session.output();
    output.line(&count.to_string())?;
    output.finish()?;
    if count > 0 {
        return Ok(Outcome::Done);
    }
    if !session.is_quiet
        && let Some(why) = question.why_nothing(mailbox)?
    {
        complain(why);
    }
    Ok(Outcome::Nothing)
}
