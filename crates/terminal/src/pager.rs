//! Starts the program that shows long output on a terminal, page by page.
//!
//! Input: the command that the user names, or `less`. Output: a process that reads what we write. No shell
//! starts it. What the user is told while it runs is told after it, or before a signal ends us.

use crate::complaint::{self, complain};
use crate::signals;
use crate::words;
use std::io;
use std::process::{Child, ChildStdin, Command, Stdio};

/// The pager if the user names none: it passes colours through, and no other control characters.
const DEFAULT: [&str; 2] = ["less", "-R"];
/// The options of less unless the user sets them: quit if all fits on one screen, show colours, do not clear
/// the screen.
const LESS: &str = "FRX";
/// The options of lv unless the user sets them: show colours.
const LV: &str = "-c";

/// The user's settings for the pager.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PagerOptions<'a> {
    /// Its command; empty or `cat` for none. `less` if it is not set.
    pub command: Option<&'a str>,
    /// Whether the user has options for less (`LESS`).
    pub has_less_options: bool,
    /// Whether the user says which characters less shows (`LESSCHARSET`).
    pub has_less_charset: bool,
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
        // However it ended, it has read everything that it wanted.
        let _ = self.child.wait();
        signals::end_if_asked();
        complaint::tell_kept_back();
    }
}

/// Starts the pager that the user names, or `less` if that is there. `None` if the user wants none, or it
/// cannot be started, which is reported if the user named it.
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
    if !options.has_less_charset {
        // The output is UTF-8, whatever the locale is.
        process.env("LESSCHARSET", "utf-8");
    }
    if !options.has_lv_options {
        process.env("LV", LV);
    }
    let interrupt = signals::leave_to_pager();
    match process.spawn() {
        Ok(mut child) => {
            let input = child.stdin.take()?;
            // A message now would be lost between its lines.
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
