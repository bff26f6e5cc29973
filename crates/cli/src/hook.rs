//! Runs the commands that the configuration names to be run before and after the index is updated.
//!
//! Takes a command. Prints what goes wrong. Only the user's own configuration names commands; they get no
//! secrets, and nothing of what is in mail.

use crate::environment;
use crate::exit::Outcome;
use crate::output::complain;
use crate::sanitise::one_line;
use crate::words;
use std::process::{Command, Stdio};

/// Runs a command, if one is named, and waits for it. What it prints goes to standard error. If it fails,
/// that is told, and the work was done partly.
pub(crate) fn run(key: &str, command: Option<&String>) -> Outcome {
    let Some(text) = command.filter(|text| !text.trim().is_empty()) else { return Outcome::Done };
    let failed = |what: &str| {
        complain(one_line(&format!("{key} = \"{text}\" in the configuration {what}")));
        Outcome::Partly
    };
    let words = match words::split(text) {
        Ok(words) => words,
        Err(what) => return failed(&format!("cannot be read: {what}")),
    };
    let Some((program, arguments)) = words.split_first() else { return Outcome::Done };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(std::io::stderr());
    match environment::without_secrets(&mut command).status() {
        Ok(status) if status.success() => Outcome::Done,
        Ok(status) => failed(&format!("failed: {status}")),
        Err(error) => failed(&format!("cannot be run: {error}")),
    }
}
