//! `pneu deliver`: stores the message on standard input in a folder, and indexes it.
//!
//! For mail servers and filters: an error means that the message was not delivered, and what happens after
//! that is a warning.

use crate::error_meaning::NotDelivered;
use crate::exit::Outcome;
use crate::output;
use crate::remedy;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::{Result, anyhow};
use clap::Args;
use pneu::{DeliverOptions, Delivered, Flags, Silent};
use std::io;
use terminal::command_line::Run;

/// Store a message from standard input in a folder
///
/// Writes the message into the folder as mail programs do, makes it durable, and indexes it. It is found as
/// soon as the command ends. For mail servers, .forward files, procmail, fdm and the like. A line "From " of
/// an mbox before the header is left out.
///
/// The exit code is 0 if the message is stored, even if it could not be indexed: standard error says why, and
/// the next "pneu index" makes up for it. It is 75 if the message could not be stored, so that a mail server
/// keeps it and tries again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu deliver inbox < message
  pneu deliver --create --tag list lists/rust        in fdm: pipe \"pneu deliver ...\"
  |\"/usr/bin/pneu deliver /home/ana/Mail/inbox\"      a line of .forward")]
pub(crate) struct Arguments {
    /// Create the folder if it does not exist
    #[arg(long)]
    create: bool,
    /// Flags of the message, such as S (seen) and F (flagged). Without them it is new
    #[arg(long, value_name = "LETTERS", value_parser = flags)]
    flags: Option<Flags>,
    /// Tag the message; may be repeated
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// The folder: its name, such as lists/rust, or its path
    #[arg(value_name = "FOLDER")]
    folder: String,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no such folder; the message is empty or cannot be read; the disk cannot be written; the
    /// configuration is not valid. All with the code that means "try again".
    fn run(&self, session: &Session) -> Result<Outcome> {
        let delivered = self.deliver(session).map_err(|error| error_of_delivery(&error))?;
        if let Some(error) = delivered.not_indexed {
            let why = remedy::explained(&error.into());
            output::complain(format!("the message is delivered, but not indexed: {why}"));
        }
        if session.terminal.is_terminal() && !session.is_quiet {
            let mut output = session.output();
            output.line(&one_line(&delivered.path.to_string_lossy()))?;
            output.finish()?;
        }
        Ok(Outcome::Done)
    }
}

impl Arguments {
    fn deliver(&self, session: &Session) -> Result<Delivered> {
        let options = DeliverOptions {
            flags: self.flags,
            tags: self.tag.iter().cloned().collect(),
            creates_folder: self.create,
        };
        let mut message = io::stdin().lock();
        Ok(session.host()?.deliver(&self.folder, &mut message, &options, &Silent)?)
    }
}

/// Returns the error with its remedy, as one that means "try again".
fn error_of_delivery(error: &anyhow::Error) -> anyhow::Error {
    anyhow!(NotDelivered).context(remedy::explained(error))
}

fn flags(letters: &str) -> std::result::Result<Flags, String> {
    let mut flags = Flags::NONE;
    for letter in letters.bytes() {
        let flag = Flags::from_letter(letter);
        if flag.is_empty() {
            return Err("flags are the letters D, F, P, R, S and T".to_owned());
        }
        flags |= flag;
    }
    Ok(flags)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_letters() {
        assert_eq!(flags("FS"), Ok(Flags::FLAGGED | Flags::SEEN));
        assert_eq!(flags(""), Ok(Flags::NONE));
        assert!(flags("s").is_err() && flags("S,").is_err());
    }
}
