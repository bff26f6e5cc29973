//! Standard output, or a file in its place.
//!
//! Takes finished lines and writes them in large pieces to their reader. Does not depend on their content;
//! text from mail is already sanitised.

use crate::exit::{Outcome, is_closed_pipe};
use crate::pager::Pager;
use crate::screen::{Terminal, cut};
use std::fmt::{self, Display};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::process::ChildStdin;

pub use crate::complaint::{complain, complain_of, complain_why, said_of};

/// Bytes gathered before they are written.
const BUFFER_BYTES: usize = 64 << 10;

/// Standard output. Call [`Output::finish`] at the end: only that reports whether all was written.
pub struct Output {
    // Dropped first, so that a pager sees the end of its input before this waits for it.
    writer: BufWriter<Box<dyn Write>>,
    /// The abilities of the output.
    pub terminal: Terminal,
    _pager: Option<Pager>,
}

/// Standard output cannot be written.
#[derive(Debug)]
pub struct Unwritable(pub io::Error);

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
    pub fn new(terminal: Terminal) -> Output {
        let writer: Box<dyn Write> = Box::new(io::stdout().lock());
        Output { writer: BufWriter::with_capacity(BUFFER_BYTES, writer), terminal, _pager: None }
    }

    /// Writes to a pager, which has standard output.
    pub fn paged(terminal: Terminal, (pager, input): (Pager, ChildStdin)) -> Output {
        let writer: Box<dyn Write> = Box::new(input);
        Output { writer: BufWriter::with_capacity(BUFFER_BYTES, writer), terminal, _pager: Some(pager) }
    }

    /// Writes to a file.
    pub fn of_file(file: File) -> Output {
        let terminal = Terminal { columns: None, has_color: false };
        Output { writer: BufWriter::with_capacity(BUFFER_BYTES, Box::new(file)), terminal, _pager: None }
    }

    /// Writes bytes unchanged.
    ///
    /// # Errors
    /// [`Unwritable`].
    pub fn bytes(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.writer.write_all(bytes).map_err(|error| Unwritable(error).into())
    }

    /// Writes a line.
    ///
    /// # Errors
    /// [`Unwritable`].
    pub fn line(&mut self, line: &str) -> anyhow::Result<()> {
        self.bytes(line.as_bytes())?;
        self.bytes(b"\n")
    }

    /// Writes a line of a list. It has no colours, and is cut to the width of a terminal.
    ///
    /// # Errors
    /// [`Unwritable`].
    pub fn listed(&mut self, line: &str) -> anyhow::Result<()> {
        match self.terminal.columns {
            Some(columns) => self.line(&cut(line, columns)),
            None => self.line(line),
        }
    }

    /// Writes the gathered bytes now, because the reader waits for them.
    ///
    /// # Errors
    /// [`Unwritable`].
    pub fn flush(&mut self) -> anyhow::Result<()> {
        self.writer.flush().map_err(|error| Unwritable(error).into())
    }

    /// Returns what writes the parts of a long output. On a terminal the first part is shown at once.
    pub fn first_at_once(&mut self) -> impl FnMut(&[u8]) -> anyhow::Result<()> {
        let mut is_first = true;
        move |bytes| {
            self.bytes(bytes)?;
            if std::mem::take(&mut is_first) && self.terminal.is_terminal() { self.flush() } else { Ok(()) }
        }
    }

    /// Writes a last line, which says what was done, and the gathered bytes. Returns how the command ended:
    /// the work is done, whether that can be written or not. A full disk is reported, with what was done, and
    /// [`Outcome::Done`] becomes [`Outcome::Partly`].
    pub fn conclude(self, done: Option<&str>, outcome: Outcome) -> Outcome {
        self.conclude_lines(done.as_slice(), done, outcome)
    }

    /// Does what [`Output::conclude`] does with several lines. `done` is for the report.
    pub fn conclude_lines(
        mut self,
        lines: &[impl AsRef<str>],
        done: Option<&str>,
        outcome: Outcome,
    ) -> Outcome {
        let written = lines.iter().try_for_each(|line| self.line(line.as_ref()));
        let Err(error) = written.and_then(|()| self.finish()) else { return outcome };
        if is_closed_pipe(&error) {
            return outcome;
        }
        let done = done.map_or(String::new(), |line| format!(": {line}"));
        complain(format!("{error}; all that was to be done is done{done}"));
        if outcome == Outcome::Done { Outcome::Partly } else { outcome }
    }

    /// Writes the gathered bytes. If there is a pager, waits until the user closes it.
    ///
    /// # Errors
    /// [`Unwritable`].
    pub fn finish(mut self) -> anyhow::Result<()> {
        self.flush()
    }
}
