//! `pneu flag`: changes the flags of messages.

use crate::command::act::{ActOptions, act};
use crate::command::change_words::{self, Changes};
use crate::exit::Outcome;
use crate::session::Session;
use anyhow::{Result, anyhow};
use clap::Args;
use pneu::{Action, Flags};
use std::collections::BTreeSet;
use terminal::command_line::Run;

/// Change the flags of messages
///
/// Adds and removes flags of all matching messages, as letters or words: S (seen), F (flagged), R (replied),
/// P (passed), D (draft), T (trashed; mail programs and servers may remove such messages). Flags are part of
/// file names, so mail programs and servers see them. If the query names folders with "maildir:", only files
/// in these get other flags.
///
/// "pneu undo" gives them their old flags.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu flag +S -- maildir:/lists/rust date:..1m
  pneu flag +flagged -seen -- from:ana
  pneu flag --dry-run -F -- flag:flagged date:..1y

Exit code 3: done, but files were left alone. Each is reported.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    options: ActOptions,
    /// +FLAG to add, -FLAG to remove, then -- and the query. Options come first
    #[arg(value_name = "+FLAG|-FLAG... -- QUERY", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// No flag, no query, or a query that cannot be understood; the log of actions cannot be written.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let (Changes { add, remove }, query) = change_words::split(&self.words, &NOUNS)?;
        let joined = |texts: &BTreeSet<String>| -> Result<Flags> {
            texts.iter().try_fold(Flags::NONE, |flags, text| Ok(flags | flags_of(text)?))
        };
        let action = Action::Flag { add: joined(&add)?, remove: joined(&remove)? };
        act(query, &action, self.options, session)
    }
}

const NOUNS: change_words::Nouns =
    change_words::Nouns { one: "flag", many: "flags", example: "+S", command: "pneu flag +S -- from:ana" };

/// Returns flags from letters or a word.
fn flags_of(text: &str) -> Result<Flags> {
    if let Some(flag) = Flags::from_word(text).filter(|flag| *flag != Flags::NEW) {
        return Ok(flag);
    }
    let mut flags = Flags::NONE;
    for letter in text.bytes() {
        let flag = Flags::from_letter(letter);
        if flag.is_empty() {
            return Err(anyhow!(
                "\"{text}\" is no flag: flags are the letters D, F, P, R, S and T, or the words draft, \
                 flagged, passed, replied, seen and trashed"
            ));
        }
        flags |= flag;
    }
    Ok(flags)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_letters_or_words() {
        assert_eq!(flags_of("FS").unwrap(), Flags::FLAGGED | Flags::SEEN);
        assert_eq!(flags_of("seen").unwrap(), Flags::SEEN);
        assert_eq!(flags_of("Flagged").unwrap(), Flags::FLAGGED);
        for wrong in ["new", "x", "s", "Sx"] {
            assert!(flags_of(wrong).is_err(), "{wrong}");
        }
    }
}
