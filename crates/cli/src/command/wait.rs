//! `pneu wait`: waits for messages that a query matches.

use crate::environment;
use crate::exit::Outcome;
use crate::format::FileChoice;
use crate::format::fields::{self, FIELDS_DEFAULT};
use crate::format::paths::{End, Paths};
use crate::format::plain::Plain;
use crate::progress::Progress;
use crate::search::question::TypedQuery;
use crate::session::Session;
use anyhow::{Result, anyhow};
use clap::{Args, ValueEnum};
use pneu::Order;
use render::{Json, Printer};
use std::time::Duration;
use terminal::command_line::Run;

/// Wait for new messages
///
/// Returns as soon as a query matches messages that it did not match before, and lists these. Without a
/// query, every message matches. It notices what "pneu index --watch", "pneu deliver" or any other command
/// adds, moves, flags or tags, but does not look at the mail itself. It uses no processor time while nothing
/// happens. What comes between two waits is not reported by the second one.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu wait from:ana && notify-send 'Mail from Ana'
  pneu wait --timeout 60 subject:'your code' --format paths

Exit code 1: the time was up.")]
pub(crate) struct Arguments {
    /// Give up after this many seconds
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u32>,
    /// Output format
    #[arg(short = 'o', long, value_enum, default_value_t)]
    format: Format,
    /// The query, see pneu find --help
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
}

/// How messages are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Columns, as "pneu find" prints them
    #[default]
    Plain,
    /// JSON, one line per message
    Json,
    /// The path of the file of each message
    Paths,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no index; the query cannot be understood.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let host = session.host()?;
        let question = TypedQuery::new(&self.query, &session.view()?)?;
        // It shows nothing: this waits for a person or a program.
        let progress =
            Progress::start(false, true).map_err(|error| anyhow!("cannot handle Ctrl-C: {error}"))?;
        let timeout = self.timeout.map(|seconds| Duration::from_secs(seconds.into()));
        let waited = host.wait_for(&question.query, timeout, &progress, &|| progress.waits());
        let Some((view, found)) = waited.map_err(|error| question.explain(error))? else {
            return Ok(Outcome::Nothing);
        };
        let hits = view.sorted(&found, &Order::default())?.list;
        let mut output = session.output();
        render::print_messages(
            view.mailbox(),
            (&hits, &[]),
            &*self.printer(session)?,
            &mut output.first_at_once(),
        )?;
        output.finish()?;
        Ok(Outcome::Done)
    }
}

impl Arguments {
    fn printer(&self, session: &Session) -> Result<Box<dyn Printer>> {
        let (end, places) = (End::Line, FileChoice::First);
        Ok(match self.format {
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
