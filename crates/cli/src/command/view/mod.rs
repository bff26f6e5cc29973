//! `pneu view`: shows messages, or whole conversations.

mod input;
mod link_lines;
mod options;
mod part;
mod protected;
mod thread;
mod verdict;
mod writer;

pub(crate) use input::{located, one};
pub(crate) use options::{Format, How};
pub(crate) use part::{ending, no_part, write_content};

use crate::archive::repository::LockOptions;
use crate::exit::Outcome;
use crate::search::locate::{self, Located};
use crate::session::Session;
use anyhow::{Result, bail};
use clap::Args;
use input::tell;
use std::ffi::OsString;
use terminal::command_line::Run;

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
  pneu view from:ana 'subject:\"second reminder\"'
  pneu view --thread id:1234@example.org
  pneu view --format raw id:1234@example.org > message.eml
  pneu view --format html id:1234@example.org > message.html
  pneu view --headers all id:1234@example.org
  pneu view --links id:1234@example.org
  pneu view --part 3 id:1234@example.org
  pneu view --verify id:1234@example.org
  pneu view --decrypt id:1234@example.org
  curl https://lists.example.org/m/1 | pneu view -"
)]
pub(crate) struct Arguments {
    /// The messages. Each is a path, id: and a Message-ID, a prefix of a SHA-256, a query that matches
    /// exactly one message, or - for standard input. Words that are none of these alone are one query
    #[arg(value_name = "MESSAGE", required = true)]
    messages: Vec<OsString>,
    /// Show all messages of the conversation that a message belongs to, replies after the message they reply
    /// to. A query may then match several messages of one conversation
    #[arg(long, short = 't', conflicts_with_all = ["links", "part", "headers", "verify", "decrypt"])]
    thread: bool,
    #[command(flatten)]
    how: How,
    #[command(flatten)]
    lock: LockOptions,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no such message, there are several, or its files cannot be read; of several messages only if
    /// none can be shown.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let names = locate::joined(&self.messages, session);
        if self.thread {
            return thread::show(&names, (self.how, self.lock), session);
        }
        if self.how.format == Format::Raw && names.len() > 1 {
            bail!("--format raw shows one message; several are written by: pneu find --format mbox");
        }
        let (found, outcome) = located(&names, &|name: &OsString| one(name, self.lock, session))?;
        match show(&found, self.how, session)? {
            Outcome::Done => Ok(outcome),
            other => Ok(other),
        }
    }
}

/// Shows messages.
///
/// # Errors
/// The output cannot be written; for the format raw, the file cannot be read; there is no such part.
pub(crate) fn show(found: &[Located], how: How, session: &Session) -> Result<Outcome> {
    found.iter().for_each(|located| tell(located, how, session));
    if how.links {
        return link_lines::show(found, how, session);
    }
    if let Some(number) = how.part {
        return part::show(found, number.get(), how, session);
    }
    if how.verify || how.decrypt {
        return protected::show(found, how, session);
    }
    writer::write_all(found, how, session)?;
    Ok(Outcome::Done)
}
