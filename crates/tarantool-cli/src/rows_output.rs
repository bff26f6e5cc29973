//! Where printed rows go, and how it is told what could not be read.

use crate::session::Session;
use anyhow::{Result, bail};
use printable::sanitise::many_lines;
use std::path::Path;
use tarantool::cat::{Notice, RowForm};
use terminal::output::{Output, complain};

/// Lines about damage that are printed one by one.
const LINES_MAX: u64 = 1000;

/// Standard output for rows.
pub(crate) struct RowsOutput {
    output: Output,
    /// Whether a terminal must not see the text as it is.
    is_sanitised: bool,
}

impl RowsOutput {
    /// Takes standard output for rows of this form.
    ///
    /// # Errors
    /// It is a terminal, and the form is not text.
    pub(crate) fn new(session: &Session, form: RowForm) -> Result<RowsOutput> {
        let output = session.output();
        let is_terminal = output.terminal.is_terminal();
        if is_terminal && form == RowForm::Msgpack {
            bail!("msgpack is not for a terminal: redirect the output");
        }
        // JSON and Lua escape what a terminal acts on.
        Ok(RowsOutput { output, is_sanitised: is_terminal && form == RowForm::Yaml })
    }

    /// Writes text or bytes of rows.
    ///
    /// # Errors
    /// The output cannot be written.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        if self.is_sanitised {
            return self.output.bytes(many_lines(&String::from_utf8_lossy(bytes)).as_bytes());
        }
        self.output.bytes(bytes)
    }

    /// Writes what was gathered.
    ///
    /// # Errors
    /// The output cannot be written.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.output.flush()
    }

    /// Writes what was gathered, at the end.
    ///
    /// # Errors
    /// The output cannot be written.
    pub(crate) fn finish(self) -> Result<()> {
        self.output.finish()
    }
}

/// Tells on standard error what is not printed.
#[derive(Debug, Default)]
pub(crate) struct Notices {
    count: u64,
}

impl Notices {
    /// Tells of a notice about a file.
    pub(crate) fn tell(&mut self, path: &Path, notice: &Notice) {
        self.line(|| line(path, notice));
    }

    /// Tells that a file cannot be read at all.
    pub(crate) fn failed(&mut self, error: &tarantool::Error) {
        self.line(|| error.to_string());
    }

    /// Returns how many notices there were.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Tells how many notices were not told.
    pub(crate) fn finish(&self) {
        if let Some(more @ 1..) = self.count.checked_sub(LINES_MAX) {
            complain(format!("{more} more places cannot be read"));
        }
    }

    fn line(&mut self, line: impl FnOnce() -> String) {
        self.count += 1;
        if self.count <= LINES_MAX {
            complain(line());
        }
    }
}

/// Returns what is said of a place of a file.
pub(crate) fn line(path: &Path, notice: &Notice) -> String {
    let path = path.display();
    match notice {
        Notice::Damage { bytes, what, is_torn: true } => format!(
            "{path} ends with a write that was torn, or is not done: {} bytes from byte {} on: {what}; \
             left out",
            bytes.end - bytes.start,
            bytes.start
        ),
        Notice::Damage { bytes, what, is_torn: false } => {
            format!("{path}: bytes {} to {}: {what}; left out", bytes.start, bytes.end - 1)
        }
        Notice::CutOff { .. } => format!("{path}: {}", Notice::CUT_OFF),
        Notice::Row { lsn, what } => format!("{path}: the row with LSN {lsn}: {what}; left out"),
    }
}
