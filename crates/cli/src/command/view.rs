//! `pneu view`: shows a message.

use crate::environment;
use crate::exit::Outcome;
use crate::format::record::{File, Record, hex};
use crate::format::{json, message};
use crate::locate::{self, Located};
use crate::output::{self, Output};
use crate::sanitise::many_lines;
use crate::session::Session;
use anyhow::{Context, Result, anyhow};
use clap::{Args, ValueEnum};
use index::{Mailbox, PayloadReader};
use mail::{Content, Flags};
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Bytes of standard input that are read.
const INPUT_BYTES_MAX: u64 = 100 << 20;

/// Show a message
///
/// The message is read from its file as that is now: one that a mail program moved between "new" and "cur" or gave other flags
/// since the last index is still found. A path is shown without any index.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu view ~/Maildir/cur/1700000000.1.host:2,S
  pneu view id:1234@example.org
  pneu view 3f29a0                       the beginning of its sha256, at least 6 digits
  pneu view 'from:ana subject:\"second reminder\"'
  pneu view --format raw id:1234@example.org > message.eml
  curl https://lists.example.org/m/1 | pneu view -")]
pub(crate) struct Arguments {
    /// Which message: a path, id: and its Message-ID, the beginning of its sha256, a query that only it matches, or - for
    /// standard input
    #[arg(value_name = "MESSAGE")]
    message: OsString,
    /// What to print: text, a line of JSON, or the exact bytes of the file
    #[arg(long, value_enum, default_value_t = Format::Plain)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Plain,
    Json,
    Raw,
}

/// Runs the command.
///
/// # Errors
/// There is no such message, there are several, or its files cannot be read.
pub(crate) fn run(arguments: &Arguments, session: &Session) -> Result<Outcome> {
    let handle = arguments.message.to_string_lossy();
    let located = if handle == "-" {
        from_standard_input()?
    } else {
        locate::locate(&handle, Path::new(&arguments.message), session)?
    };
    if let Some(note) = located.note.as_ref().filter(|_| !session.is_quiet) {
        output::complain(note);
    }
    if located.content.truncated && !session.is_quiet {
        output::complain("the message is very large; only the beginning is shown");
    }
    let mut output = session.output();
    match arguments.format {
        Format::Plain => {
            let zone = environment::now().time_zone().clone();
            let text =
                with_record(&located, session, |record| message::text(record, &zone, session.terminal));
            output.bytes(text.as_bytes())?;
        }
        Format::Json => {
            let mut line = Vec::new();
            with_record(&located, session, |record| json::line(record, &mut line));
            output.bytes(&line)?;
        }
        Format::Raw => raw(&located, &mut output)?,
    }
    output.finish()?;
    Ok(Outcome::Done)
}

fn from_standard_input() -> Result<Located> {
    let mut content = Content::default();
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(INPUT_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .context("cannot read standard input")?;
    content.truncated = bytes.len() as u64 > INPUT_BYTES_MAX;
    content.bytes = bytes;
    Ok(Located::new(None, content))
}

/// Hands all that is shown of a message to `show`.
fn with_record<T>(located: &Located, session: &Session, show: impl FnOnce(&Record<'_>) -> T) -> T {
    let message = locate::parse(&located.content, environment::clock_ns().div_euclid(1_000_000_000));
    let size = located.content.bytes.len() as u64;
    let known = known(located, session);
    let files = match (&known, &located.path) {
        (Some(known), _) => (known.flags(), known.files.iter().map(File::from_index).collect()),
        (None, Some(path)) => {
            let flags = flags_of(path);
            (flags, vec![File::unknown(path, flags)])
        }
        (None, None) => (Flags::NONE, Vec::new()),
    };
    show(&Record::from_mail(&message, &located.sha256, size, files))
}

/// Returns the message as the index knows it, if it knows that the file that was read holds it.
fn known(located: &Located, session: &Session) -> Option<index::Message> {
    let path = located.path.as_ref()?;
    // Without an index a file can be shown all the same, so that whatever is wrong with the index is no matter here.
    let mailbox = Mailbox::open(&session.index).ok()?;
    let hit = *mailbox.resolve(&hex(&located.sha256)).ok()?.first()?;
    let message = mailbox.message(&hit, &mut PayloadReader::new()).ok()?;
    message.files.iter().any(|file| file.path == *path).then_some(message)
}

/// Returns the flags that a file's name and place give it.
fn flags_of(path: &Path) -> Flags {
    let mut flags = mail::parse_name(path.file_name().unwrap_or_default().as_bytes()).flags;
    if path.parent().is_some_and(|parent| parent.ends_with("new")) {
        flags |= Flags::NEW;
    }
    flags
}

/// Writes the exact bytes; on a terminal as text.
fn raw(located: &Located, output: &mut Output) -> Result<()> {
    if output.terminal.is_terminal() {
        return output.bytes(many_lines(&String::from_utf8_lossy(&located.content.bytes)).as_bytes());
    }
    let Some(path) = &located.path else { return output.bytes(&located.content.bytes) };
    let unreadable = |error| anyhow!("cannot read {}: {error}", path.display());
    let mut file = std::fs::File::open(path).map_err(unreadable)?;
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer).map_err(unreadable)? {
            0 => return Ok(()),
            count => output.bytes(buffer.get(..count).unwrap_or_default())?,
        }
    }
}
