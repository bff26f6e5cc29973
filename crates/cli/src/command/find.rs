//! `pneu find`: lists the messages that a query matches.

use crate::environment;
use crate::exit::{NotFound, Outcome};
use crate::format::fields::{self, FIELDS_DEFAULT, Piece};
use crate::format::json::Json;
use crate::format::paths::{End, Paths};
use crate::format::plain::Plain;
use crate::format::{self, Places, Printer};
use crate::question::Question;
use crate::session::Session;
use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};
use index::{Direction, Hits, Order, SortKey};
use std::num::NonZeroUsize;

/// Find messages
///
/// Lists the messages that match, newest first, one a line. Words are looked for in subject, text and addresses; case and accents
/// do not matter. No query at all matches every message.
#[derive(Debug, Args)]
#[command(after_help = "\
Queries:
  ana invoice                     both words, anywhere
  '\"second reminder\"'             words next to each other
  invoi*                          words that begin so
  from:ana to:bo subject:invoice  words in a field
  date:2024-03..2024-05 date:2w.. size:1M.. flag:unread file:report.pdf
  maildir:/lists/rust list:rust.example.org mime:image/* msgid:1234@example.org
  'ana and (invoice or bill) and not flag:seen'

Examples:
  pneu find from:ana date:1m..
  pneu find --sort size --max 10
  pneu find --fields 'd g f s' flag:flagged
  pneu find --format paths --print0 list:announce | xargs -0 grep -l urgent
  pneu find --format json subject:invoice | jq -r .message_id")]
pub(crate) struct Arguments {
    /// What to find. Several words are joined with spaces; put ' ' around what the shell would change
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// What to sort by: dates and sizes from the largest, subjects and senders from A
    #[arg(long, value_name = "KEY", value_enum, default_value_t = Sort::Date)]
    sort: Sort,
    /// Turn the order around
    #[arg(long, short = 'z')]
    reverse: bool,
    /// List so many messages at most
    #[arg(long, short = 'n', value_name = "COUNT")]
    max: Option<NonZeroUsize>,
    /// Leave out so many at the beginning
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    offset: usize,
    /// What to print: aligned columns, JSON Lines, a path each, or only the number of messages
    #[arg(long, value_enum, default_value_t = Format::Plain)]
    format: Format,
    /// The columns of plain lines, by their letters: d date, f from, t to, c cc, h bcc, s subject, i message-id, m maildir,
    /// l path, g flags, z size, v list, j attachments
    #[arg(long, value_name = "LETTERS", default_value = FIELDS_DEFAULT)]
    fields: String,
    /// A line for every file of a message, where it has copies in several folders
    #[arg(long)]
    files: bool,
    /// End each line or path with a zero byte instead of a line feed
    #[arg(long)]
    print0: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sort {
    Date,
    Size,
    Subject,
    From,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Plain,
    Json,
    Paths,
    Count,
}

/// Runs the command.
///
/// # Errors
/// The query cannot be understood or answered; there is no index, or a damaged one.
pub(crate) fn run(arguments: &Arguments, session: &Session) -> Result<Outcome> {
    let pieces = fields::parse(&arguments.fields).map_err(|what| anyhow!("--fields: {what}"))?;
    if arguments.print0 && !matches!(arguments.format, Format::Plain | Format::Paths) {
        bail!("--print0 goes with --format plain and --format paths");
    }
    let question = Question::new(&arguments.query)?;
    let mailbox = session.mailbox()?;
    if arguments.format == Format::Count {
        return super::count::print(&mailbox, &question, session);
    }
    let hits = mailbox.find(&question.query, &arguments.order()).map_err(|error| question.explain(error))?;
    if hits.list.is_empty() {
        return nothing(&hits, arguments, session);
    }
    let mut output = session.output();
    format::print(&mailbox, &hits.list, &*arguments.printer(pieces, session), &mut output)?;
    output.finish()?;
    Ok(Outcome::Done)
}

impl Arguments {
    /// Returns what prints messages in the format that was asked for.
    fn printer(&self, pieces: Vec<Piece>, session: &Session) -> Box<dyn Printer> {
        let end = if self.print0 { End::Zero } else { End::Line };
        let places = if self.files { Places::All } else { Places::First };
        let terminal = session.terminal;
        match self.format {
            Format::Json => Box::new(Json),
            Format::Paths => Box::new(Paths { end, places, is_terminal: terminal.is_terminal() }),
            Format::Plain | Format::Count => {
                let zone = environment::now().time_zone().clone();
                Box::new(Plain { pieces, end, places, zone, terminal })
            }
        }
    }

    fn order(&self) -> Order {
        let (key, natural) = match self.sort {
            Sort::Date => (SortKey::Date, Direction::Descending),
            Sort::Size => (SortKey::Size, Direction::Descending),
            Sort::Subject => (SortKey::Subject, Direction::Ascending),
            Sort::From => (SortKey::From, Direction::Ascending),
        };
        let direction = match (natural, self.reverse) {
            (direction, false) => direction,
            (Direction::Ascending, true) => Direction::Descending,
            (Direction::Descending, true) => Direction::Ascending,
        };
        Order { key, direction, offset: self.offset, limit: self.max.map(NonZeroUsize::get) }
    }
}

fn nothing(hits: &Hits, arguments: &Arguments, session: &Session) -> Result<Outcome> {
    if session.is_quiet {
        return Ok(Outcome::Nothing);
    }
    let what = match hits.total {
        0 => "no message matches".to_owned(),
        total => format!("{total} messages match, none behind the first {}", arguments.offset),
    };
    Err(NotFound(what).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(sort: Sort, reverse: bool) -> Direction {
        let arguments = Arguments {
            query: vec![],
            sort,
            reverse,
            max: None,
            offset: 0,
            format: Format::Plain,
            fields: String::new(),
            files: false,
            print0: false,
        };
        arguments.order().direction
    }

    #[test]
    fn the_newest_the_largest_and_a_come_first() {
        for (sort, natural, other) in [
            (Sort::Date, Direction::Descending, Direction::Ascending),
            (Sort::Size, Direction::Descending, Direction::Ascending),
            (Sort::Subject, Direction::Ascending, Direction::Descending),
            (Sort::From, Direction::Ascending, Direction::Descending),
        ] {
            assert_eq!((order(sort, false), order(sort, true)), (natural, other), "{sort:?}");
        }
    }
}
