//! `pneu deliver`: stores the message on standard input in a folder, and indexes it.
//!
//! For mail servers and filters: an error means that the message was not delivered, and what happens after
//! that is a warning. So a signal, or a lock that another process holds for long, ends the command with an
//! error before the message is stored, and with a warning after that.

use crate::error_meaning::NotDelivered;
use crate::exit::Outcome;
use crate::output;
use crate::remedy;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::{Result, anyhow};
use clap::Args;
use pneu::{DeliverOptions, Delivered, Flags, Problem, Stage};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::FileType;
use std::io::{self, Read};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use terminal::command_line::Run;
use terminal::signals::{self, Signals};

/// Store a message from standard input in a folder
///
/// Writes the message into the folder as mail programs do, makes it durable, and indexes it. It is found as
/// soon as the command ends. For mail servers, .forward files, procmail, fdm and the like. A line "From " of
/// an mbox before the header is left out.
///
/// The exit code is 0 if the message is stored, even if it could not be indexed: standard error says why, and
/// the next "pneu index" finds it, without its tags. A rule that is wrong is named there, and the other rules
/// are followed. The exit code is 75 if the message is not stored, whatever the reason, so that a mail server
/// keeps it and tries again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu deliver inbox < message
  pneu deliver --create --tag list -- lists/rust < message

A line of .forward, a recipe of procmail, and an action of fdm:
  |\"/usr/bin/pneu deliver -- /home/ana/Mail/inbox\"
  :0 w
  | pneu deliver --create -- \"$LIST\"
  action \"rust\" pipe \"pneu deliver -- lists/rust\"
Write -- before a folder whose name comes from a message: it may begin with a dash.")]
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
    /// The folder: its name, such as lists/rust, its path, or its role, such as :spam
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
        let delivered = self.deliver(session).map_err(|error| not_delivered(&error))?;
        for (error, what) in [(delivered.not_indexed, "indexed"), (delivered.not_tagged, "tagged")] {
            if let Some(error) = error {
                let why = remedy::explained(&error.into());
                output::complain(format!("the message is delivered, but not {what}: {why}"));
            }
        }
        for Problem { path: rule, what, .. } in &delivered.wrong_rules {
            let others = match session.configured()?.rules.len().saturating_sub(delivered.wrong_rules.len()) {
                0 => String::new(),
                1 => "; the other rule was followed".to_owned(),
                others => format!("; the other {others} rules were followed"),
            };
            let rule = rule.display();
            output::complain(one_line(&format!("the message is delivered without {rule}: {what}{others}")));
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
        let signals = Signals::get()?;
        signals::survive_file_size_limit()?;
        let options = DeliverOptions {
            flags: self.flags,
            tags: self.tag.iter().cloned().collect(),
            creates_folder: self.create,
            received_seconds: None,
        };
        let watch = Arc::new(Watch { signals, stored: OnceLock::new() });
        let watching = Arc::clone(&watch);
        // Without the thread, a lock is waited for as long as it is held.
        let _ = std::thread::Builder::new().name("watch".to_owned()).spawn(move || watching.end_if_late());
        Ok(session.host()?.deliver(&self.folder, &mut Input { signals }, &options, &*watch)?)
    }
}

/// Returns whether standard input may hold a message: it is neither a terminal nor /dev/null.
pub(crate) fn is_fed() -> bool {
    let stat = rustix::fs::fstat(io::stdin());
    stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) != FileType::CharacterDevice)
}

/// Ends the command once the message is stored and a signal comes, or indexing takes too long.
struct Watch {
    signals: &'static Signals,
    /// When the message was stored.
    stored: OnceLock<Instant>,
}

impl Watch {
    fn end_if_late(&self) {
        loop {
            std::thread::sleep(LOOK);
            let Some(stored) = self.stored.get() else { continue };
            if self.signals.is_asked() || stored.elapsed() > INDEXING_TIME {
                let why = if self.signals.is_asked() { "interrupted" } else { "another process is at work" };
                output::complain(format!("the message is delivered, but not indexed: {why}"));
                // Whatever is half done counts as not done.
                std::process::exit(0);
            }
        }
    }
}

impl pneu::Progress for Watch {
    fn stage(&self, _stage: Stage) {
        // Nothing is indexed before the message is stored.
        self.stored.get_or_init(Instant::now);
    }
}

/// Standard input, which ends with an error after a signal.
struct Input {
    signals: &'static Signals,
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let stdin = io::stdin().lock();
        loop {
            if self.signals.is_asked() {
                return Err(io::Error::other("interrupted"));
            }
            let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
            let time = Timespec { tv_sec: 0, tv_nsec: LOOK.subsec_nanos().into() };
            match rustix::event::poll(&mut ready, Some(&time)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                _ => return Ok(rustix::io::read(&stdin, buffer)?),
            }
        }
    }
}

/// How often it is looked whether the command shall end.
const LOOK: Duration = Duration::from_millis(50);
/// How long a message that is stored may be indexed: filters give up after some time.
const INDEXING_TIME: Duration = Duration::from_secs(10);

/// Returns the error with its remedy, as one that means "try again".
pub(crate) fn not_delivered(error: &anyhow::Error) -> anyhow::Error {
    anyhow!(NotDelivered).context(remedy::explained(error))
}

/// Reads letters of flags.
///
/// # Errors
/// A letter is none of a flag.
pub(super) fn flags(letters: &str) -> std::result::Result<Flags, String> {
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
