//! `pneu view`: shows a message.

use crate::archive::repository::LockOptions;
use crate::environment;
use crate::exit::Outcome;
use crate::options::Paging;
use crate::output::{self, Output};
use crate::remedy;
use crate::sanitise::many_lines;
use crate::search::locate::{self, Located};
use crate::session::Session;
use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, ValueEnum};
use index::{Mailbox, RecordReader};
use mail::{Content, Flags, Preferred};
use printable::Look;
use render::{File, Record, hex};
use render::{html, message};
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use terminal::command_line::Run;
use terminal::screen::Terminal;
use work::Cancel;

/// Bytes of standard input that are read.
const INPUT_BYTES_MAX: u64 = 100 << 20;

/// Show messages
///
/// Reads a message from its file as it is now. The file is found even if a mail program moved it between
/// "new" and "cur" or changed its flags since the last index. A path is shown without using the index. On a
/// terminal, output goes through a pager: $PNEU_PAGER, the configuration's, $PAGER, or less.
#[derive(Debug, Args)]
#[command(
    visible_alias = "show",
    after_help = "\
Examples:
  pneu view ~/Maildir/cur/1700000000.1.host:2,S
  pneu view id:1234@example.org
  pneu view 3f29a0                       a prefix of its SHA-256, at least 6 digits
  pneu view 'from:ana subject:\"second reminder\"'
  pneu view --format raw id:1234@example.org > message.eml
  pneu view --format html id:1234@example.org > message.html
  curl https://lists.example.org/m/1 | pneu view -"
)]
pub(crate) struct Arguments {
    /// The messages. Each is a path, id: and a Message-ID, a prefix of a SHA-256, a query that matches
    /// exactly one message, or - for standard input
    #[arg(value_name = "MESSAGE", required = true)]
    messages: Vec<OsString>,
    #[command(flatten)]
    how: How,
    #[command(flatten)]
    lock: LockOptions,
}

/// How to show messages; `archive view` takes it, too.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct How {
    /// Output format
    #[arg(long, short = 'o', value_enum, default_value_t = Format::Plain)]
    pub format: Format,
    /// Which form to show of a text that has several. Default: plain text, unless the HTML says much more
    #[arg(long, value_enum, value_name = "FORM")]
    pub prefer: Option<Form>,
    #[command(flatten)]
    pub paging: Paging,
}

/// A form of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Plain text
    Plain,
    /// HTML, converted to text
    Html,
}

/// What is shown of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Main headers and text
    Plain,
    /// A page for a browser, without scripts or anything that is loaded from elsewhere
    Html,
    /// JSON, one line per message
    Json,
    /// An S-expression for Emacs
    Sexp,
    /// The exact bytes of the file, for a single message only
    Raw,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no such message, there are several, or its files cannot be read; of several messages only if
    /// none can be shown.
    fn run(&self, session: &Session) -> Result<Outcome> {
        if self.how.format == Format::Raw && self.messages.len() > 1 {
            bail!("--format raw shows one message; several are written by: pneu find --format mbox");
        }
        let locate = |message: &OsString| {
            let handle = message.to_string_lossy();
            if handle == "-" {
                from_standard_input()
            } else {
                locate::locate(&handle, Path::new(message), self.lock, session)
            }
        };
        let (found, outcome) = located(&self.messages, &locate)?;
        show(&found, self.how, session)?;
        Ok(outcome)
    }
}

/// Shows messages.
///
/// # Errors
/// The output cannot be written; for the format raw, the file cannot be read.
pub(crate) fn show(found: &[Located], how: How, session: &Session) -> Result<()> {
    for located in found.iter().filter(|_| !session.is_quiet) {
        if let Some(note) = &located.note {
            output::complain(note);
        }
        // The exact bytes of a file are written whatever its size.
        if located.content.truncated && (how.format != Format::Raw || located.path.is_none()) {
            output::complain("the message is very large; only the beginning is shown");
        }
    }
    let mut output = session.paged_output(how.paging);
    match how.format {
        Format::Plain => plain(found, (how, session), &mut output)?,
        Format::Html => html(found, (how, session), &mut output)?,
        Format::Json => lines(found, (how, session), &mut output, render::json_line)?,
        Format::Sexp => lines(found, (how, session), &mut output, render::sexp_line)?,
        Format::Raw => found.iter().try_for_each(|located| raw(located, &mut output))?,
    }
    output.finish()
}

/// Reads the messages with these names. Tells of those that cannot be read, and fails if all cannot.
///
/// # Errors
/// Why the last one cannot be read, if none can.
pub(crate) fn located(
    messages: &[OsString],
    locate: &dyn Fn(&OsString) -> Result<Located>,
) -> Result<(Vec<Located>, Outcome)> {
    let (mut found, mut last_error) = (Vec::new(), None);
    for message in messages {
        match locate(message) {
            Ok(located) => found.push(located),
            Err(error) => {
                if let Some(earlier) = last_error.replace(error) {
                    output::complain(remedy::explained(&earlier));
                }
            }
        }
    }
    match last_error {
        None => Ok((found, Outcome::Done)),
        Some(error) if found.is_empty() => Err(error),
        Some(error) => {
            remedy::complain_why(&error);
            Ok((found, Outcome::Partly))
        }
    }
}

fn plain(found: &[Located], (how, session): (How, &Session), output: &mut Output) -> Result<()> {
    let zone = environment::now().time_zone().clone();
    for (place, located) in found.iter().enumerate() {
        if place > 0 {
            output.bytes(separator(session.terminal).as_bytes())?;
        }
        let paint = |look, text: &str| session.terminal.paint(look, text).into_owned();
        let paint: Option<&message::Paint<'_>> = session.terminal.has_color.then_some(&paint);
        let text = with_record(located, (how, session), |record| message::text(record, &zone, paint));
        output.bytes(text.as_bytes())?;
    }
    Ok(())
}

/// Returns the line between two messages: a form feed, which no text of a message holds; on a terminal a
/// visible line.
fn separator(terminal: Terminal) -> String {
    match terminal.columns {
        None => "\u{c}\n".to_owned(),
        Some(columns) => format!("\n{}\n\n", terminal.paint(Look::Label, &"─".repeat(columns))),
    }
}

fn html(found: &[Located], (how, session): (How, &Session), output: &mut Output) -> Result<()> {
    let zone = environment::now().time_zone().clone();
    let article = |located: &Located| {
        let own = mail::html_part(&located.content.bytes).filter(|_| how.prefer != Some(Form::Plain));
        with_record(located, (how, session), |record| {
            html::article(record, &message::header(record, &zone, None), own.as_deref(), &Cancel::new())
        })
    };
    let articles: Vec<_> = found.iter().map(article).collect();
    output.bytes(html::page(&articles).as_bytes())
}

fn lines(
    found: &[Located],
    (how, session): (How, &Session),
    output: &mut Output,
    line: fn(&Record<'_>, &mut Vec<u8>),
) -> Result<()> {
    for located in found {
        let mut bytes = Vec::new();
        with_record(located, (how, session), |record| line(record, &mut bytes));
        output.bytes(&bytes)?;
    }
    Ok(())
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
fn with_record<T>(
    located: &Located,
    (how, session): (How, &Session),
    show: impl FnOnce(&Record<'_>) -> T,
) -> T {
    let preferred = match how.prefer {
        None => Preferred::Better,
        Some(Form::Plain) => Preferred::Plain,
        Some(Form::Html) => Preferred::Html,
    };
    let message = located.parsed(preferred);
    let known = known(located, session);
    let files = match (&known, &located.path) {
        (Some(known), _) => (Vec::new(), known.files.iter().map(File::from_index).collect()),
        (None, Some(path)) => {
            let flags = flags_of(path);
            (vec![flags], vec![File::unknown(path, flags)])
        }
        (None, None) => (Vec::new(), Vec::new()),
    };
    let mut record = Record::from_mail(&message, &located.sha256, located.size_bytes, files);
    if message.date.is_none() {
        record.date_by(known.as_ref().map_or_else(|| date_of_name(located), |known| known.line.date));
    }
    if let Some(known) = &known {
        record.add_known(known);
    }
    show(&record)
}

/// Returns the message as the index knows it, if it knows that the file that was read holds it. Of what was
/// read from no file, nothing is said of files.
fn known(located: &Located, session: &Session) -> Option<index::Message> {
    // Without an index a file can be shown all the same, so that whatever is wrong with the index is no
    // matter here.
    let own = session.own_addresses().unwrap_or_default();
    let mailbox = Mailbox::open(&session.index).ok()?.with_own_addresses(own);
    let hit = *mailbox.resolve(&hex(&located.sha256)).ok()?.first()?;
    let message = mailbox.message(&hit, &mut RecordReader::new()).ok()?;
    match &located.path {
        Some(path) => message.files.iter().any(|file| file.path == *path).then_some(message),
        None => Some(index::Message { files: Vec::new(), ..message }),
    }
}

/// Returns the date that the name of its file gives a message which says none.
fn date_of_name(located: &Located) -> Option<i64> {
    mail::name_seconds(located.path.as_ref()?.file_name()?.as_bytes())
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
        return located
            .each_block(&mut |block| output.bytes(many_lines(&String::from_utf8_lossy(block)).as_bytes()));
    }
    let Some(path) = &located.path else { return output.bytes(&located.content.bytes) };
    let unreadable = |error| anyhow!("cannot read {}: {error}", path.display());
    let mut file = disk::open_file(path).map_err(unreadable)?;
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer).map_err(unreadable)? {
            0 => return Ok(()),
            count => output.bytes(buffer.get(..count).unwrap_or_default())?,
        }
    }
}
