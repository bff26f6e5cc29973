//! `pneu view`: shows messages, or whole conversations.

mod thread;
mod writer;

use crate::archive::repository::LockOptions;
use crate::exit::Outcome;
use crate::options::Paging;
use crate::output;
use crate::remedy;
use crate::search::locate::{self, Located};
use crate::session::Session;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use index::{Mailbox, RecordReader};
use mail::FileContent;
use render::hex;
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::Path;
use terminal::command_line::Run;
use writer::Writer;

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
  pneu view --thread id:1234@example.org
  pneu view --format raw id:1234@example.org > message.eml
  pneu view --format html id:1234@example.org > message.html
  curl https://lists.example.org/m/1 | pneu view -"
)]
pub(crate) struct Arguments {
    /// The messages. Each is a path, id: and a Message-ID, a prefix of a SHA-256, a query that matches
    /// exactly one message, or - for standard input
    #[arg(value_name = "MESSAGE", required = true)]
    messages: Vec<OsString>,
    /// Show all messages of the conversation that a message belongs to, those that are answered first. A
    /// query may then match several messages of one conversation
    #[arg(long, short = 't')]
    thread: bool,
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
    /// Do not show where the links of HTML lead
    #[arg(long)]
    pub no_links: bool,
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
        if self.thread {
            return thread::show(&self.messages, (self.how, self.lock), session);
        }
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
    found.iter().for_each(|located| tell(located, how, session));
    let mut writer = Writer::new(how, session);
    for located in found {
        writer.message(located, known(located, session).as_ref(), None)?;
    }
    writer.finish()
}

/// Tells what the user should know of a message.
fn tell(located: &Located, how: How, session: &Session) {
    if session.is_quiet {
        return;
    }
    if let Some(note) = &located.note {
        output::complain(note);
    }
    // The exact bytes of a file are written whatever its size.
    if located.content.truncated && (how.format != Format::Raw || located.path.is_none()) {
        output::complain("the message is very large; only the beginning is shown");
    }
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

fn from_standard_input() -> Result<Located> {
    let mut content = FileContent::default();
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

/// Returns the message as the index knows it, if it knows that the file that was read holds it. Of what was
/// read from no file, nothing is said of files.
fn known(located: &Located, session: &Session) -> Option<index::Message> {
    // Without an index a file can be shown all the same, so that whatever is wrong with the index is no
    // matter here.
    let own = session.own_addresses().unwrap_or_default();
    let mailbox = Mailbox::open(&session.index).ok()?.with_own_addresses(own);
    let hit = *mailbox.resolve(&hex(&located.sha256)).ok()?.first()?;
    let message = mailbox.message(&hit, &mut RecordReader::new()).ok()?;
    known_as(message, located)
}

/// Returns what the index knows of a message that was read, if it knows the file that it was read from.
fn known_as(message: index::Message, located: &Located) -> Option<index::Message> {
    match &located.path {
        Some(path) => message.files.iter().any(|file| file.path == *path).then_some(message),
        None => Some(index::Message { files: Vec::new(), ..message }),
    }
}
