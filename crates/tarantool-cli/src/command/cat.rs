//! `pneu-tarantool cat`: prints the rows of snapshots and logs.

use crate::follow::{Follow, follow};
use crate::position::position;
use crate::rows_output::{Notices, RowsOutput};
use crate::session::Session;
use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use tarantool::cat::{
    Printer, RowFilter, RowForm, RowsFile, SpaceChoice, definitions_before, kind_named, open_rows,
};
use tarantool::space::Formats;
use tarantool::text::JsonStyle;
use tarantool::{FileKind, Header, RowKind};
use terminal::command_line::Run;
use terminal::exit::Outcome;
use terminal::output::complain;

/// Print the rows of snapshots and logs
///
/// Reads files (.snap, .xlog, and vinyl's .vylog, .run and .index) under any name, without loading them. DIR
/// stands for all logs in it, the oldest first. Rows come in the order of the files. Rows of Tarantool's own
/// spaces are left out unless --show-system or --space asks for them.
///
/// Fields have names where a definition is known: from the snapshot itself; for a log from the snapshot
/// before it in the same directory and the logs between, or from a snapshot of the same instance that is
/// named before it.
///
/// Damaged blocks are left out and reported, each with its bytes; everything else is printed. A block is
/// printed whole or not at all. The files are never changed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu-tarantool cat 00000000000000000000.xlog
  pneu-tarantool cat /var/lib/tarantool/shop --space orders --type update,delete --from 2024-03-01T12:00
  pneu-tarantool cat *.xlog --space orders --key 17 | jq .tuple
  pneu-tarantool cat /var/lib/tarantool/shop --follow
  pneu-tarantool cat 00000000000000000118.snap --format msgpack > rows.msgpack

Exit code 1: no row matches. Exit code 3: done, but something could not be read.")]
pub(crate) struct Arguments {
    /// Files, or directories with logs
    #[arg(value_name = "FILE|DIR", required = true)]
    paths: Vec<PathBuf>,
    /// Only rows of this space. May be repeated
    #[arg(long, value_name = "NAME|ID")]
    space: Vec<String>,
    /// Also rows of Tarantool's own spaces
    #[arg(long)]
    show_system: bool,
    /// Begin with this row, included: an LSN, a time such as 2024-03-01T12:30 (UTC unless it has an offset)
    /// or @SECONDS, or a VClock such as "{1: 5}", whose own rows are left out
    #[arg(long, value_name = "POSITION")]
    from: Option<String>,
    /// End before this LSN or time; or after the rows of this VClock
    #[arg(long, value_name = "POSITION")]
    to: Option<String>,
    /// Only rows that this replica wrote. May be repeated
    #[arg(long, value_name = "ID")]
    replica: Vec<u32>,
    /// Only rows of these types: insert, replace, update, delete, upsert, nop, raft, promote, demote,
    /// confirm, rollback, or a number
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    types: Vec<String>,
    /// Only rows with this primary key. Repeat for each further part. Rows that name their tuple by another
    /// index are left out
    #[arg(long, value_name = "VALUE", allow_negative_numbers = true)]
    key: Vec<String>,
    /// The form of rows. yaml and lua are what tarantoolctl prints; msgpack is the header and the body of
    /// each row, as they are in the file
    #[arg(long, value_name = "FORMAT", default_value = "json")]
    format: Form,
    /// In JSON, mark decimals, UUIDs, times and bytes, so that the same values can be made of it
    #[arg(long)]
    exact: bool,
    /// Go on with what is written to the last log, and with the logs after it, until a signal ends it
    #[arg(long, short)]
    follow: bool,
    /// Where the snapshots are that define the fields of logs. Default: beside each log
    #[arg(long, value_name = "DIR")]
    snapshots: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Json,
    Yaml,
    Lua,
    Msgpack,
}

impl Run<Session> for Arguments {
    fn run(&self, session: &Session) -> Result<Outcome> {
        let form = self.form()?;
        let mut printer = Printer::new(form, self.filter()?, session.thread_count);
        let mut output = RowsOutput::new(session, form)?;
        let mut notices = Notices::default();
        let mut paths = self.files(session)?;
        let last = if self.follow { paths.pop() } else { None };
        let mut before: Option<Header> = None;
        let mut opened_count = 0;
        for path in &paths {
            match open_rows(session.disk.as_ref(), path) {
                Ok(file) => {
                    self.define(session, &file, before.as_ref(), &mut printer);
                    let mut tell = |notice| notices.tell(path, &notice);
                    printer.print(&file, &mut |bytes| output.put(bytes), &mut tell)?;
                    before = Some(file.header);
                    opened_count += 1;
                }
                Err(error) => notices.failed(&error),
            }
        }
        if let Some(path) = last {
            // The definitions are those at its beginning; what follows changes them as it is printed.
            if let Ok(file) = open_rows(session.disk.as_ref(), &path) {
                self.define(session, &file, before.as_ref(), &mut printer);
            }
            let follow_of = Follow { session, path, printer: &mut printer, output: &mut output };
            return follow(follow_of, &mut notices);
        }
        output.finish()?;
        self.outcome(session, &printer, &notices, opened_count)
    }
}

impl Arguments {
    fn form(&self) -> Result<RowForm> {
        if self.exact && self.format != Form::Json {
            bail!("--exact is for JSON; yaml and lua have one form, and msgpack is exact by itself");
        }
        Ok(match self.format {
            Form::Json if self.exact => RowForm::Json(JsonStyle::Exact),
            Form::Json => RowForm::Json(JsonStyle::Readable),
            Form::Yaml => RowForm::Yaml,
            Form::Lua => RowForm::Lua,
            Form::Msgpack => RowForm::Msgpack,
        })
    }

    fn filter(&self) -> Result<RowFilter> {
        let kind = |name: &String| -> Result<RowKind> {
            kind_named(name.trim()).ok_or_else(|| anyhow!("\"{name}\" is no type of rows; see --help"))
        };
        Ok(RowFilter {
            spaces: self.space.iter().map(|space| SpaceChoice::parse(space)).collect(),
            shows_system: self.show_system,
            from: position(self.from.as_deref())?,
            to: position(self.to.as_deref())?,
            replicas: self.replica.clone(),
            kinds: self.types.iter().map(kind).collect::<Result<_>>()?,
            key: self.key.clone(),
        })
    }

    /// Returns the files that the arguments stand for.
    fn files(&self, session: &Session) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for path in &self.paths {
            if !path.is_dir() {
                files.push(path.clone());
                continue;
            }
            let logs = tarantool::cat::logs_of(session.disk.as_ref(), path)?;
            if logs.is_empty() {
                bail!("there is no log (.xlog) in {}", path.display());
            }
            // Nobody who follows a directory waits for its history.
            let begin = if self.follow { logs.len() - 1 } else { 0 };
            files.extend(logs.into_iter().skip(begin));
        }
        Ok(files)
    }

    /// Tells the printer the definitions at the beginning of a file, which comes after `before`.
    fn define(&self, session: &Session, file: &RowsFile, before: Option<&Header>, printer: &mut Printer) {
        if before.is_some_and(|before| continues(before, &file.header)) {
            return;
        }
        let beside = match file.path.parent() {
            Some(directory) if !directory.as_os_str().is_empty() => directory,
            _ => Path::new("."),
        };
        let directory = self.snapshots.as_deref().unwrap_or(beside);
        match definitions_before(session.disk.as_ref(), file, directory) {
            Ok(Some(formats)) => printer.define(formats),
            // Whoever names an older snapshot of the instance first wants its names.
            Ok(None) if before.is_some_and(|before| before.instance == file.header.instance) => {}
            Ok(None) => printer.define(Formats::default()),
            Err(error) => {
                complain(format!("{}: fields have no names: {error}", file.path.display()));
                printer.define(Formats::default());
            }
        }
    }

    fn outcome(
        &self,
        session: &Session,
        printer: &Printer,
        notices: &Notices,
        opened_count: usize,
    ) -> Result<Outcome> {
        notices.finish();
        if opened_count == 0 {
            return Ok(Outcome::Damaged);
        }
        let unknown: Vec<&str> = printer.unknown_names().collect();
        if !unknown.is_empty() {
            bail!(
                "no definition names a space {}: give its number, or name the snapshot before the log",
                unknown.join(", ")
            );
        }
        if notices.count() > 0 {
            return Ok(Outcome::Partly);
        }
        if printer.totals().shown_count == 0 { session.nothing_found() } else { Ok(Outcome::Done) }
    }
}

/// Returns whether a file begins where the definitions after the other one still hold.
fn continues(before: &Header, file: &Header) -> bool {
    let is_next = match before.kind {
        FileKind::Snapshot => before.vclock == file.vclock,
        FileKind::Log => file.previous.as_ref() == Some(&before.vclock),
        _ => false,
    };
    file.kind == FileKind::Log && before.instance == file.instance && is_next
}
