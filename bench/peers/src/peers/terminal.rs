//! A terminal for programs that insist on one.
//!
//! Input: a command line. Output: a command that runs it in a terminal of 24 lines. Does not know what runs.

use std::process::Command;

/// A program that asks a question in the terminal would wait forever, so it is ended after this many seconds.
const SECONDS_MAX: u32 = 1800;

/// Returns the command that runs a shell command in a terminal. The terminal's output goes to standard
/// output.
pub(crate) fn in_terminal(line: &str) -> Command {
    let mut command = Command::new("script");
    let limited = format!("stty rows 24 cols 80; exec timeout --foreground {SECONDS_MAX} {line}");
    command.args(["--quiet", "--return", "--command"]).arg(limited);
    command.arg("/dev/null").env("TERM", "xterm").env("SHELL", "/bin/sh");
    command
}

/// Returns text quoted as one word for the shell.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Prefix of a mail reader's status line. The number of messages follows.
const OPENED: &str = "OPENED ";
/// The mail readers' setting with this prefix.
pub(crate) const STATUS_FORMAT: &str = "set status_format=\"OPENED %m messages\"\n";

/// Returns how many messages a reader with [`STATUS_FORMAT`] reports.
pub(crate) fn opened(shown: &str) -> Option<u64> {
    let (_, rest) = shown.rsplit_once(OPENED)?;
    rest.split_once(' ')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_runs_in_a_terminal_of_that_size() {
        let line = format!("sh -c {}", quoted("test -t 0 && test -t 1 && stty size; echo 'it''s'"));
        let Ok(output) = in_terminal(&line).stdin(std::process::Stdio::null()).output() else { return };
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains("24 80") && said.contains("its"), "{said}");
    }

    #[test]
    fn the_last_number_that_is_shown_counts() {
        assert_eq!(opened("x OPENED 1 messages\u{1b}[24;1H OPENED 1313 messages ---"), Some(1313));
        assert_eq!(opened("OPENED 13"), None);
        assert_eq!(opened("nothing"), None);
    }
}
