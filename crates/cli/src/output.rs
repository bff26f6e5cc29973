//! Standard output and standard error.
//!
//! In: finished lines. Out: bytes to whoever reads them, in large pieces. Must not know what they say; text from mail comes in
//! sanitised.

use crate::pager::Pager;
use crate::sanitise;
use crate::terminal::Terminal;
use std::fmt::{self, Display};
use std::io::{self, BufWriter, Write};
use std::process::ChildStdin;

/// Bytes gathered before they are written.
const BUFFER_BYTES: usize = 64 << 10;

/// Standard output. Call [`Output::finish`] at the end: only that says whether all was written.
pub(crate) struct Output {
    // Goes first, so that a pager sees the end before it is waited for.
    writer: BufWriter<Box<dyn Write>>,
    /// What it can show.
    pub terminal: Terminal,
    _pager: Option<Pager>,
}

/// Standard output cannot be written.
#[derive(Debug)]
pub(crate) struct Unwritable(pub io::Error);

impl Display for Unwritable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "cannot write the output: {}", self.0)
    }
}

impl std::error::Error for Unwritable {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

impl Output {
    /// Takes standard output.
    pub(crate) fn new(terminal: Terminal) -> Output {
        let writer: Box<dyn Write> = Box::new(io::stdout().lock());
        Output { writer: BufWriter::with_capacity(BUFFER_BYTES, writer), terminal, _pager: None }
    }

    /// Writes to a pager, which has standard output.
    pub(crate) fn paged(terminal: Terminal, (pager, input): (Pager, ChildStdin)) -> Output {
        let writer: Box<dyn Write> = Box::new(input);
        Output { writer: BufWriter::with_capacity(BUFFER_BYTES, writer), terminal, _pager: Some(pager) }
    }

    /// Writes bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.writer.write_all(bytes).map_err(|error| Unwritable(error).into())
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, line: &str) -> anyhow::Result<()> {
        self.bytes(line.as_bytes())?;
        self.bytes(b"\n")
    }

    /// Writes what is gathered.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.writer.flush().map_err(|error| Unwritable(error).into())
    }
}

/// Tells the user on standard error what is the matter with a file.
pub(crate) fn complain_of(path: impl Display, what: &str) {
    complain(sanitise::one_line(&said_of(&path.to_string(), what)));
}

/// Returns a sentence that names a file, once: what libraries say of it often does already.
pub(crate) fn said_of(path: &str, what: &str) -> String {
    // The top of a snapshot is part of every path.
    let is_named = path != "/" && what.contains(path);
    if is_named { what.to_owned() } else { format!("{path}: {what}") }
}

/// Tells the user something on standard error. Names and text in it may come from mail, so it is sanitised here.
pub(crate) fn complain(message: impl Display) {
    let text = message.to_string();
    // Where standard error is closed, nobody is left to tell.
    let _ = writeln!(io::stderr().lock(), "pneu: {}", sanitise::many_lines(&text));
}

/// Tells the user on standard error what failed, and why.
pub(crate) fn complain_why(error: &anyhow::Error) {
    complain(with_cause(error));
}

/// Returns what an error says, and what the system said, if that is all that lies below it: errors of libraries
/// name their causes themselves, as far as they help.
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
    fn a_sentence_names_its_file_once() {
        assert_eq!(said_of("/a", "is a pipe"), "/a: is a pipe");
        assert_eq!(said_of("/a", "cannot open /a: Permission denied"), "cannot open /a: Permission denied");
        assert_eq!(said_of("/", "tree 1 in data/2 is damaged"), "/: tree 1 in data/2 is damaged");
        assert_eq!(said_of("/a/cur", "/a/cur/1 is not a file"), "/a/cur/1 is not a file");
    }
}
