//! `pneu stats`: counts messages by year, folder, sender and more.

use crate::exit::Outcome;
use crate::format::bars::{self, Bars};
use crate::options::limit;
use crate::search::question::TypedQuery;
use crate::session::Session;
use anyhow::Result;
use clap::{Args, ValueEnum};
use pneu::Dimension;
use render::stats;
use std::num::NonZeroUsize;
use terminal::command_line::Run;

/// Count messages by year, folder, sender and more
///
/// Prints for each group how many messages match, their size, their threads, and how long replies took: half
/// of them came within that time. "you replied" are your replies to others, "they replied" those of others to
/// you. They need your addresses in the configuration, and count in the group of the reply. Copies of a
/// message count once. A message may be in several folders, or have parts of several types; then it counts in
/// each of these groups, and once in the total.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu stats
  pneu stats --by sender --max 10 date:1y..
  pneu stats --by hour from:ana
  pneu stats --by folder --format csv > folders.csv
  pneu stats --by month --format svg > months.svg")]
pub(crate) struct Arguments {
    /// The query. Several arguments are joined with spaces; quote with ' ' what the shell would expand
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// What messages are grouped by
    #[arg(long, short, value_name = "WHAT", value_enum, default_value_t = By::Year)]
    by: By,
    /// Print at most COUNT groups. Groups of time are the latest, all others the largest ones [default: 20
    /// for plain and svg, except groups of time]
    #[arg(long, short = 'n', aliases = ["maxnum", "limit"], value_name = "COUNT", value_parser = limit)]
    max: Option<NonZeroUsize>,
    /// Output format
    #[arg(long, short = 'o', value_enum, default_value_t = Format::Plain)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// The year of the date
    Year,
    /// Its month
    Month,
    /// The hour of the day, local time
    Hour,
    /// The day of the week
    Weekday,
    /// The folder
    Folder,
    /// The sender's address
    Sender,
    /// The mailing list
    List,
    /// The MIME types of the message and its parts
    Type,
    /// The language of the text, where it is certain
    Language,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table with bars
    Plain,
    /// JSON Lines
    Json,
    /// CSV (RFC 4180) with a line of column names. A text that a spreadsheet would compute has a ' in front
    Csv,
    /// A picture of the numbers of messages
    Svg,
}

impl By {
    fn of_library(self) -> Dimension {
        match self {
            By::Year => Dimension::Year,
            By::Month => Dimension::Month,
            By::Hour => Dimension::Hour,
            By::Weekday => Dimension::Weekday,
            By::Folder => Dimension::Folder,
            By::Sender => Dimension::Sender,
            By::List => Dimension::List,
            By::Type => Dimension::Type,
            By::Language => Dimension::Language,
        }
    }
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The query cannot be understood or answered; there is no index, or a damaged one.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let view = session.view()?;
        let question = TypedQuery::new(&self.query, &view)?;
        let by = self.by.of_library();
        let mut found = view.stats(&question.query, by).map_err(|error| question.explain(error))?;
        if found.total.message_count == 0 {
            let why = question.why_nothing(&view)?;
            return session.nothing(
                why.map_or("no message matches".to_owned(), |why| format!("no message matches: {why}")),
            );
        }
        found.keep(by, self.count_max(by));
        let mut output = session.output();
        match self.format {
            Format::Plain => {
                let bars = if session.shows_unicode() { Bars::Blocks } else { Bars::Ascii };
                for line in bars::lines(&found, by, output.terminal.columns, bars) {
                    output.line(&line)?;
                }
            }
            Format::Json => output.bytes(&stats::json_lines(&found, by))?,
            Format::Csv => output.bytes(&stats::csv_lines(&found, by))?,
            Format::Svg => output.bytes(stats::svg(&found, by).as_bytes())?,
        }
        output.finish()?;
        Ok(Outcome::Done)
    }
}

/// How many groups people read at once.
const COUNT_DEFAULT: usize = 20;

impl Arguments {
    fn count_max(&self, by: Dimension) -> usize {
        let is_for_people = matches!(self.format, Format::Plain | Format::Svg);
        match self.max {
            Some(count) => count.get(),
            None if is_for_people && !by.is_time() => COUNT_DEFAULT,
            None => usize::MAX,
        }
    }
}
