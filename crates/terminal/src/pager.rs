//! Starts the program that shows long output on a terminal, page by page.
//!
//! Input: the command that the user names, or `less`. Output: a process that reads what we write. No shell
//! starts it. What the user is told while it runs is told after it.

use crate::complaint::{self, complain};
use crate::signals;
use crate::words;
use std::io;
use std::process::{Child, ChildStdin, Command, Stdio};

/// What is started if the user names nothing: colours as we write them, nothing else of a terminal.
const DEFAULT: [&str; 2] = ["less", "-R"];
/// How less behaves unless the user said so: ends if all fits on a screen, shows colours, leaves the screen
/// as it is.
const LESS: &str = "FRX";
/// How lv behaves unless the user said so: shows colours.
const LV: &str = "-c";

/// What the user says of the pager.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PagerOptions<'a> {
    /// Its command; empty or `cat` for none. `less` if nothing is said.
    pub command: Option<&'a str>,
    /// Whether the user has options for less (`LESS`).
    pub has_less_options: bool,
    /// Whether the user has options for lv (`LV`).
    pub has_lv_options: bool,
}

/// A running pager. Dropping it waits for its end, so that the shell gets the terminal back only when the
/// user has closed the pager.
#[derive(Debug)]
pub struct Pager {
    child: Child,
}

impl Drop for Pager {
    fn drop(&mut self) {
        // However it ended, all was written that it wanted to read.
        let _ = self.child.wait();
        complaint::tell_held();
    }
}

/// Starts the pager that the user names, or `less` if that is there. None if the user wants none, or it
/// cannot be started, which is told of if it was named.
///
/// The pager does not see the environment variables `secrets`.
pub fn start(options: PagerOptions<'_>, secrets: &[&str]) -> Option<(Pager, ChildStdin)> {
    let command = match command(options.command) {
        Ok(command) => command?,
        Err(what) => {
            complain(format!("the pager: {what}"));
            return None;
        }
    };
    let (program, arguments) = command.split_first()?;
    let mut process = Command::new(program);
    process.args(arguments).stdin(Stdio::piped());
    for name in secrets {
        process.env_remove(name);
    }
    if !options.has_less_options {
        process.env("LESS", LESS);
    }
    if !options.has_lv_options {
        process.env("LV", LV);
    }
    let interrupt = signals::leave_to_pager();
    match process.spawn() {
        Ok(mut child) => {
            let input = child.stdin.take()?;
            // What is told now would be lost between its lines.
            complaint::hold();
            Some((Pager { child }, input))
        }
        Err(error) => {
            interrupt.take_back();
            if options.command.is_some() || error.kind() != io::ErrorKind::NotFound {
                complain(format!("cannot run the pager {program}: {error}"));
            }
            None
        }
    }
}

/// Returns the words of the command; none if the user wants no pager.
fn command(named: Option<&str>) -> Result<Option<Vec<String>>, String> {
    match named.map(str::trim) {
        None => Ok(Some(DEFAULT.map(str::to_owned).to_vec())),
        Some("" | "cat") => Ok(None),
        Some(line) => words::split(line).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_names_the_pager_or_none() {
        let words = |named| command(named).unwrap();
        assert_eq!(words(None), Some(vec!["less".to_owned(), "-R".to_owned()]));
        assert_eq!(words(Some("most -w")), Some(vec!["most".to_owned(), "-w".to_owned()]));
        assert_eq!((words(Some("")), words(Some("cat"))), (None, None));
        assert!(command(Some("less '")).is_err());
    }
}
