//! `pneu query`: saves, shows and removes queries under a name.
//!
//! The library decides which names are allowed, whether a query can be saved or removed, and where queries
//! are stored.

use crate::exit::Outcome;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::{Result, bail};
use clap::Args;
use pneu::QueryRemoval;
use terminal::command_line::Run;

/// Save a query under a name, or list saved queries
///
/// In any query, query:NAME stands for the saved query, as if it were written there in parentheses. Saved
/// queries may use other saved queries. Backups contain them, and "pneu index" imports them after a restore.
/// Without arguments, lists all saved queries.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu query unread 'flag:unread and not list:*'
  pneu query team '(from:ana or from:bo) date:1m..'
  pneu find query:unread query:team
  pneu query                                         all of them
  pneu query --remove team")]
pub(crate) struct Arguments {
    /// Its name: letters, digits and . _ -
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// The query to save. Without it, prints the saved query
    #[arg(value_name = "QUERY", requires = "name")]
    query: Vec<String>,
    /// Remove the saved query
    #[arg(long, requires = "name", conflicts_with = "query")]
    remove: bool,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The query cannot be understood, or refers to itself; the name is not valid; the saved queries are
    /// damaged or cannot be written.
    fn run(&self, session: &Session) -> Result<Outcome> {
        match &self.name {
            Some(name) if self.remove => remove(name, session),
            Some(name) if !self.query.is_empty() => save(name, &self.query.join(" "), session),
            Some(name) => show(name, session),
            None => list(session),
        }
    }
}

fn list(session: &Session) -> Result<Outcome> {
    let queries = session.host()?.saved_queries()?;
    if queries.is_empty() {
        return session.nothing("no query is saved; pneu query NAME QUERY saves one");
    }
    let mut output = session.output();
    for (name, query) in queries {
        output.line(&format!("{name}\t{}", one_line(&query)))?;
    }
    output.finish()?;
    Ok(Outcome::Done)
}

fn show(name: &str, session: &Session) -> Result<Outcome> {
    match session.host()?.saved_queries()?.get(name) {
        Some(query) => {
            let mut output = session.output();
            output.line(&one_line(query))?;
            output.finish()?;
            Ok(Outcome::Done)
        }
        None => session.nothing(format!("no query is saved as {name}")),
    }
}

fn save(name: &str, text: &str, session: &Session) -> Result<Outcome> {
    session.host()?.save_query(name, text)?;
    if !session.is_quiet {
        let mut output = session.output();
        output.line(&format!("saved: query:{name}"))?;
        output.finish()?;
    }
    Ok(Outcome::Done)
}

fn remove(name: &str, session: &Session) -> Result<Outcome> {
    match session.host()?.remove_query(name)? {
        QueryRemoval::Removed => Ok(Outcome::Done),
        QueryRemoval::Unknown => session.nothing(format!("no query is saved as {name}")),
        QueryRemoval::NeededBy(others) => {
            bail!("{name} is part of {}: change or remove that first", others.join(", "))
        }
    }
}
