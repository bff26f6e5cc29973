//! Messages for the user on standard error.
//!
//! Each line begins with the program's name. Names of files and text from mail are sanitised here.

use printable::sanitise;
use std::fmt::Display;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The name of the program, once it is known.
static PROGRAM: OnceLock<&str> = OnceLock::new();
/// The name until then, as in tests.
const PROGRAM_DEFAULT: &str = "pneu";

/// Lines that wait while a pager has the terminal.
#[derive(Debug)]
struct KeptBack {
    lines: Vec<String>,
    /// How many more lines there were.
    left_out_count: usize,
}

/// Most lines that wait.
const KEPT_BACK_COUNT_MAX: usize = 1_000;

static KEPT_BACK: Mutex<Option<KeptBack>> = Mutex::new(None);

fn kept_back() -> MutexGuard<'static, Option<KeptBack>> {
    KEPT_BACK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps back what the user is told, until [`tell_kept_back`].
pub(crate) fn hold() {
    kept_back().get_or_insert(KeptBack { lines: Vec::new(), left_out_count: 0 });
}

/// Tells the user what was kept back. If another thread does so already, returns when it has.
pub(crate) fn tell_kept_back() {
    let mut kept_back = kept_back();
    let Some(KeptBack { lines, left_out_count }) = kept_back.take() else { return };
    lines.iter().for_each(|line| write(line));
    if left_out_count > 0 {
        write(&format!("and {left_out_count} more lines"));
    }
}

impl KeptBack {
    fn add(&mut self, line: String) {
        if self.lines.len() < KEPT_BACK_COUNT_MAX {
            self.lines.push(line);
        } else {
            self.left_out_count += 1;
        }
    }
}

/// Sets the program's name, with which each line on standard error begins. The first name stays.
pub fn name_program(name: &'static str) {
    PROGRAM.get_or_init(|| name);
}

fn program() -> &'static str {
    PROGRAM.get().copied().unwrap_or(PROGRAM_DEFAULT)
}

/// Prints on standard error what is wrong with a file.
pub fn complain_of(path: impl Display, what: &str) {
    complain(sanitise::one_line(&said_of(&path.to_string(), what)));
}

/// Returns a sentence that names a file once: messages of libraries often name it already.
pub fn said_of(path: &str, what: &str) -> String {
    // The top of a snapshot is part of every path.
    let is_named = path != "/" && what.contains(path);
    if is_named { what.to_owned() } else { format!("{path}: {what}") }
}

/// Prints a message on standard error. Names and text in it may come from mail, so it is sanitised here.
pub fn complain(message: impl Display) {
    let text = message.to_string();
    if let Some(kept_back) = kept_back().as_mut() {
        return kept_back.add(text);
    }
    write(&text);
}

fn write(text: &str) {
    // If standard error is closed, the message is lost.
    let _ = writeln!(io::stderr().lock(), "{}: {}", program(), sanitise::many_lines(text));
}

/// Prints on standard error what failed, and why.
pub fn complain_why(error: &anyhow::Error) {
    complain(with_cause(error));
}

/// Returns the message of an error, with that of the system if that is its only cause: errors of libraries
/// include useful causes themselves.
fn with_cause(error: &anyhow::Error) -> String {
    let said = error.to_string();
    match error.downcast_ref::<io::Error>().map(ToString::to_string) {
        Some(cause) if !said.contains(&cause) => format!("{said}: {cause}"),
        _ => said,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[test]
    fn what_the_system_says_is_told_once() {
        let denied = || anyhow::Error::new(io::Error::other("denied"));
        assert_eq!(with_cause(&denied()), "denied");
        assert_eq!(with_cause(&denied().context("cannot make a")), "cannot make a: denied");
        assert_eq!(with_cause(&denied().context("cannot make a: denied")), "cannot make a: denied");
        assert_eq!(with_cause(&anyhow!("details").context("cannot")), "cannot");
    }

    #[test]
    fn only_so_many_lines_wait() {
        let mut kept_back = KeptBack { lines: Vec::new(), left_out_count: 0 };
        (0..KEPT_BACK_COUNT_MAX + 2).for_each(|number| kept_back.add(number.to_string()));
        assert_eq!((kept_back.lines.len(), kept_back.left_out_count), (KEPT_BACK_COUNT_MAX, 2));
    }

    #[test]
    fn a_sentence_names_its_file_once() {
        assert_eq!(said_of("/a", "is a pipe"), "/a: is a pipe");
        assert_eq!(said_of("/a", "cannot open /a: Permission denied"), "cannot open /a: Permission denied");
        assert_eq!(said_of("/", "tree 1 in data/2 is damaged"), "/: tree 1 in data/2 is damaged");
        assert_eq!(said_of("/a/cur", "/a/cur/1 is not a file"), "/a/cur/1 is not a file");
    }
}
