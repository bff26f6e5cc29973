//! `pneu wait`: waits for messages that a query matches.

use crate::environment;
use crate::exit::Outcome;
use crate::format::FileChoice;
use crate::format::fields::{self, FIELDS_DEFAULT};
use crate::format::paths::{End, Paths};
use crate::format::plain::Plain;
use crate::output;
use crate::progress::Progress;
use crate::sanitise::one_line;
use crate::search::question::{TypedQuery, sentences};
use crate::session::Session;
use anyhow::{Result, anyhow};
use clap::{Args, ValueEnum};
use pneu::{NumberSet, Order, View};
use render::{Json, Printer};
use std::time::{Duration, Instant};
use terminal::command_line::Run;

/// Wait for new messages
///
/// Returns as soon as a query matches messages that it did not match before, and lists these. Without a
/// query, every message matches. It notices what "pneu index --watch", "pneu deliver" or any other command
/// adds, moves, flags or tags, but does not look at the mail itself. It uses no processor time while nothing
/// happens. A rebuilt index makes no message new.
///
/// What comes between two waits is not reported, unless the second has the token of the first: with --since,
/// messages that came since the token and match are listed at once. A message came if it was added. If the
/// query asks for folders, a message that was moved or copied counts, too; if it asks for flags or tags, one
/// that was flagged or tagged; if it asks for words of the text, one whose attachments were read since. The
/// token is that of "pneu changes". After the messages, and when the time is up, JSON has a line with the
/// next token.
///
/// If the query names a folder or a tag that does not exist, a line on standard error says so, and it waits
/// all the same.
///
/// With --follow, it does not return, but lists each message as it comes, until Ctrl-C. A message is listed
/// again only if it stopped matching in between.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu wait from:ana && notify-send 'Mail from Ana'
  pneu wait --timeout 60 subject:'your code' --format paths
  pneu wait --follow --format paths maildir:/inbox | while read -r path; do echo \"$path\"; done
  pneu changes | jq -r .token > token
  pneu wait --since \"$(cat token)\" from:ana | tee found
  jq -r '.token // empty' found > token

Exit code 1: the time was up. 4: the token cannot be used any more.")]
pub(crate) struct Arguments {
    /// Give up after this many seconds
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u32>,
    /// List what came since this token, too, and print the next one
    #[arg(long, value_name = "TOKEN")]
    since: Option<String>,
    /// Go on after the first messages
    #[arg(long)]
    follow: bool,
    /// Output format; "json" with --since, else "plain"
    #[arg(short = 'o', long, value_enum)]
    format: Option<Format>,
    /// The query, see pneu find --help
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
}

/// How messages are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Columns, as "pneu find" prints them
    Plain,
    /// JSON, one line per message, and one with the next token
    Json,
    /// The path of the file of each message
    Paths,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no index; the query cannot be understood; the token cannot be used.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let host = session.host()?;
        let question = TypedQuery::new(&self.query, &session.view()?)?;
        // It shows nothing: this waits for a person or a program.
        let progress =
            Progress::start(false, true).map_err(|error| anyhow!("cannot handle Ctrl-C: {error}"))?;
        let hints = session.view()?.hints(&question.query)?;
        if !hints.is_empty() && !session.is_quiet {
            output::complain(one_line(&format!("{}; waiting for it", sentences(&hints))));
        }
        let end = self.timeout.map(|seconds| Instant::now() + Duration::from_secs(seconds.into()));
        let explained = |error| question.explain(error);
        let mut wait = host.wait(&question.query, self.since.as_deref()).map_err(explained)?;
        let mut outcome = Outcome::Nothing;
        loop {
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            let found = wait.next(left, &progress, &|| progress.waits()).map_err(explained)?;
            self.print(wait.view(), found.as_ref(), session)?;
            if found.is_some() {
                outcome = Outcome::Done;
            }
            if found.is_none() || !self.follow {
                return Ok(outcome);
            }
        }
    }
}

impl Arguments {
    fn format(&self) -> Format {
        self.format.unwrap_or(if self.since.is_some() { Format::Json } else { Format::Plain })
    }

    /// Prints the messages that came, and in JSON the token.
    fn print(&self, view: &View, found: Option<&NumberSet>, session: &Session) -> Result<()> {
        let mut output = session.output();
        if let Some(found) = found {
            let hits = view.sorted(found, &Order::default())?.list;
            let printer = self.printer(session)?;
            let messages = (&*hits, &[][..]);
            render::print_messages(view.mailbox(), messages, &*printer, &mut output.first_at_once())?;
        }
        if self.format() == Format::Json {
            let mut line = Vec::new();
            render::change::token_line(&view.changes(None)?.token, &mut line);
            output.bytes(&line)?;
        }
        output.finish()
    }

    fn printer(&self, session: &Session) -> Result<Box<dyn Printer>> {
        let (end, places) = (End::Line, FileChoice::First);
        Ok(match self.format() {
            Format::Json => Box::new(Json),
            Format::Paths => Box::new(Paths { end, places, is_terminal: session.terminal.is_terminal() }),
            Format::Plain => {
                let pieces = fields::parse(FIELDS_DEFAULT).map_err(|what| anyhow!(what))?;
                let zone = environment::now().time_zone().clone();
                Box::new(Plain::new(&pieces, (end, places), zone, session.terminal))
            }
        })
    }
}
