//! `pneu export`: writes all messages that a query matches as a table, or as an mbox.

use crate::archive::messages::LazyArchive;
use crate::archive::repository::LockOptions;
use crate::deliver::mbox;
use crate::exit::Outcome;
use crate::options::limit;
use crate::output::{Output, Unwritable};
use crate::sanitise::one_line;
use crate::search::question::TypedQuery;
use crate::session::Session;
use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};
use pneu::{Direction, Existing, Hit, NewFile, NewFileError, Order, SortKey, ThreadStarts, View};
use render::table::{Column, Table, TableFormat};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use terminal::command_line::Run;
use terminal::signals;
use work::Cancel;

/// Write messages as a table for other programs
///
/// Writes a row for each matching message, for DuckDB, polars, pandas, R or a spreadsheet; or the messages
/// themselves as an mbox. Newest first; in Parquet and Arrow files in no particular order. Copies of a
/// message are written once. With --to FILE, the file appears only when it is complete.
///
/// Columns: message_id, sha256, date, from_name, from_address, to, cc, subject, size, flags, tags, list_id,
/// language, attachments, thread, folders, paths. If named with --columns, also bcc, references, snippet.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu export --to mail.parquet
  duckdb -c \"select from_address, count(*) from 'mail.parquet' group by 1 order by 2 desc limit 10\"
  pneu export --to lists.arrow --columns date,list_id,from_address flag:list
  pneu export --format csv --columns date,from_name,subject from:ana > ana.csv
  pneu export --format ndjson date:2024 | jq -r '.to[]' | sort | uniq -c
  pneu export --to 2023.mbox date:2023")]
pub(crate) struct Arguments {
    /// The query. Several arguments are joined with spaces; quote with ' ' what the shell would expand
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// Format [default: by the end of FILE's name]
    #[arg(long, short = 'o', value_enum)]
    format: Option<Format>,
    /// Write these columns, separated by commas, in this order
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', value_parser = column)]
    columns: Vec<Column>,
    /// Write to FILE, readable only by you, instead of standard output
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    /// Replace FILE if it exists
    #[arg(long, requires = "to")]
    force: bool,
    /// Write at most COUNT messages
    #[arg(long, short = 'n', aliases = ["maxnum", "limit"], value_name = "COUNT", value_parser = limit)]
    max: Option<NonZeroUsize>,
    #[command(flatten)]
    lock: LockOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Apache Parquet, compressed with zstd (.parquet)
    Parquet,
    /// An Arrow IPC file, also called Feather (.arrow, .feather)
    Arrow,
    /// CSV (RFC 4180) with a line of column names (.csv). A text that a spreadsheet would compute has a ' in
    /// front
    Csv,
    /// A JSON object on each line (.ndjson, .jsonl)
    Ndjson,
    /// The messages themselves, as one mbox file (.mbox)
    Mbox,
}

impl Format {
    /// Returns the format of a file by the end of its name.
    fn of_file(path: &Path) -> Option<Format> {
        Some(match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "parquet" => Format::Parquet,
            "arrow" | "feather" => Format::Arrow,
            "csv" => Format::Csv,
            "ndjson" | "jsonl" => Format::Ndjson,
            "mbox" => Format::Mbox,
            _ => return None,
        })
    }

    /// Returns the library's name, or `None` for an mbox, which is no table.
    fn of_library(self) -> Option<TableFormat> {
        Some(match self {
            Format::Parquet => TableFormat::Parquet,
            Format::Arrow => TableFormat::Arrow,
            Format::Csv => TableFormat::Csv,
            Format::Ndjson => TableFormat::Ndjson,
            Format::Mbox => return None,
        })
    }
}

/// Reads the name of a column.
fn column(name: &str) -> Result<Column, String> {
    Column::of_name(name).ok_or_else(|| {
        let names: Vec<&str> = Column::ALL.iter().map(|column| column.field().name).collect();
        format!("there is no such column; the columns are {}", names.join(", "))
    })
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The query cannot be understood or answered; there is no index, or a damaged one; the file cannot be
    /// written.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let format = self.format()?;
        let to = self.to.as_deref().filter(|to| *to != Path::new("-"));
        if to.is_none() && matches!(format, Format::Parquet | Format::Arrow) && session.terminal.is_terminal()
        {
            bail!("this format is not for terminals; write it to a file with --to FILE");
        }
        let existing = if self.force { Existing::Replaced } else { Existing::Refused };
        if to.is_some() {
            // Until here a signal ends the process at once; from here on it must not leave half a file.
            signals::listen()?;
            signals::survive_file_size_limit()?;
        }
        let new = to.map(|to| NewFile::begin(to, existing)).transpose().map_err(explained)?;
        let cancel = Cancel::when(signals::is_interrupted);
        let view = session.view()?.with_cancel(cancel.clone());
        let question = TypedQuery::new(&self.query, &view)?;
        let order = match format {
            // A limit means the newest ones.
            Format::Parquet | Format::Arrow if self.max.is_none() => {
                Order { key: SortKey::Arrival, direction: Direction::Ascending, ..Order::default() }
            }
            _ => Order { limit: self.max.map(NonZeroUsize::get), ..Order::default() },
        };
        let hits = view.find(&question.query, &order).map_err(|error| question.explain(error))?.list;
        if hits.is_empty() {
            let why = question.why_nothing(&view)?;
            return session.nothing(
                why.map_or("no message matches".to_owned(), |why| format!("no message matches: {why}")),
            );
        }
        let output = match &new {
            Some(new) => Output::of_file(new.file().try_clone().map_err(|error| new.failed(error))?),
            None => session.output(),
        };
        let written = match format.of_library() {
            Some(format) => self.write_table((&view, &hits), format, (output, &cancel)),
            None => mbox::write((&view, &hits), LazyArchive::new(self.lock, session)?, output),
        };
        let Some(new) = new else { return written };
        let outcome = written.map_err(|error| match error.downcast::<Unwritable>() {
            Ok(Unwritable(source)) => new.failed(source).into(),
            Err(error) => error,
        })?;
        if outcome == Outcome::Interrupted {
            return Ok(outcome);
        }
        new.finish().map_err(explained)?;
        if !session.is_quiet {
            let mut output = session.output();
            let messages = if hits.len() == 1 { "message" } else { "messages" };
            output.line(&one_line(&format!("{} {messages} in {}", hits.len(), self.shown())))?;
            output.finish()?;
        }
        Ok(outcome)
    }
}

impl Arguments {
    fn format(&self) -> Result<Format> {
        let by_name = || self.to.as_deref().and_then(Format::of_file);
        let format = self.format.or_else(by_name).ok_or_else(|| {
            anyhow!(
                "say in which format: add --format, or --to FILE with a name that ends in .parquet or .csv"
            )
        })?;
        if format == Format::Mbox && !self.columns.is_empty() {
            bail!("--columns does not work with --format mbox: an mbox has whole messages");
        }
        for (place, column) in self.columns.iter().enumerate() {
            if self.columns.iter().take(place).any(|before| before == column) {
                bail!("--columns names {} twice", column.field().name);
            }
        }
        Ok(format)
    }

    fn shown(&self) -> String {
        self.to.as_deref().unwrap_or(Path::new("-")).display().to_string()
    }

    fn write_table(
        &self,
        (view, hits): (&View, &[Hit]),
        format: TableFormat,
        (mut output, cancel): (Output, &Cancel),
    ) -> Result<Outcome> {
        let columns = if self.columns.is_empty() { Column::default_choice() } else { self.columns.clone() };
        let starts = if columns.contains(&Column::Thread) {
            view.thread_starts(hits)?
        } else {
            ThreadStarts::default()
        };
        let table = Table { mailbox: view.mailbox(), hits, starts: &starts, columns: &columns };
        table.write(format, &mut |bytes| {
            if cancel.is_cancelled() {
                return Err(pneu::Error::Cancelled.into());
            }
            output.bytes(bytes)
        })?;
        output.finish()?;
        Ok(Outcome::Done)
    }
}

/// Adds the option that replaces a file.
fn explained(error: NewFileError) -> anyhow::Error {
    match error {
        NewFileError::Exists { .. } => anyhow!("{error}; choose another name, or add --force"),
        error => error.into(),
    }
}
