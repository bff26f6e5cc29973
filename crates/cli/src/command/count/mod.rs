//! `pneu count`: prints how many messages match a query, or each of many.

mod batch;

use crate::exit::Outcome;
use crate::format::analysis;
use crate::output::complain;
use crate::search::question::TypedQuery;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use pneu::View;
use std::io;
use terminal::command_line::Run;

/// Count messages
///
/// Prints how many messages match. Copies of a message count once; "pneu info" also prints the number with
/// copies. The exit code is 1 if nothing matches. See "pneu find --help" for queries.
///
/// With --batch, reads a query from each line of standard input, and prints a number for each at once, so
/// that another program can ask one query after the other. All are answered from the index as it was at the
/// start. An empty line counts every message. For a query that cannot be answered it prints "error", says why
/// on standard error, and continues; the exit code is then 3, otherwise 0, even if nothing matches.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu count flag:unread
  pneu count 'from:ana and date:2024'
  printf '%s\\n' tag:work flag:unread | pneu count --batch")]
pub(crate) struct Arguments {
    /// The query. Without one, every message is counted
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// Count for each line of standard input, which is a query
    #[arg(long, conflicts_with_all = ["query", "analyze"])]
    batch: bool,
    /// Print how the query is answered and how long each part took, instead of the count
    #[arg(long)]
    analyze: bool,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The query cannot be understood or answered; there is no index, or a damaged one. With --batch also:
    /// standard input cannot be read.
    fn run(&self, session: &Session) -> Result<Outcome> {
        if self.batch {
            return batch::count(&session.view()?, &mut io::stdin().lock(), session);
        }
        let view = session.view()?;
        let question = TypedQuery::new(&self.query, &view)?;
        if self.analyze {
            analyze(&view, &question, session)
        } else {
            let count = view.count(&question.query).map_err(|error| question.explain(error))?;
            print(count, (&view, &question), session)
        }
    }
}

/// Prints how a query is answered.
///
/// # Errors
/// The query cannot be answered; damage.
pub(crate) fn analyze(view: &View, question: &TypedQuery, session: &Session) -> Result<Outcome> {
    let analysis = view.analyze(&question.query).map_err(|error| question.explain(error))?;
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
    (view, question): (&View, &TypedQuery),
    session: &Session,
) -> Result<Outcome> {
    let mut output = session.output();
    output.line(&count.to_string())?;
    output.finish()?;
    if count > 0 {
        return Ok(Outcome::Done);
    }
    if !session.is_quiet
        && let Some(why) = question.why_nothing(view)?
    {
        complain(why);
    }
    Ok(Outcome::Nothing)
}
