//! Shows the progress of a pass, and stops it after a signal.
//!
//! Takes what the library reports. On a terminal, work that takes over a second shows a line with rate and
//! time left. In pipes nothing is shown. Does not know what a pass does.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use terminal::complaint::complain;
use terminal::progress::{AMOUNT, Line, WORKING};
use terminal::signals::{self, Signals};
use work::Stage;

/// The template of the line while files are read.
const READING: &str = "{msg} [{wide_bar}] {human_pos} of {human_len} files, {rate}, {eta} left";

/// Watches a pass for the user.
#[derive(Debug)]
pub(crate) struct Progress {
    line: Line,
    may_show: bool,
    is_quiet: bool,
    signals: &'static Signals,
    is_told: AtomicBool,
    /// Whether the amount of work is one of bytes.
    is_by_bytes: AtomicBool,
    /// Whether files are being read, which ends with writing what they hold.
    is_reading: AtomicBool,
}

impl Progress {
    /// Starts. From now on signals stop the pass, and a Ctrl-C after them ends the process at once.
    ///
    /// # Errors
    /// The system refuses the signal's handler.
    pub(crate) fn start(stderr_is_terminal: bool, is_quiet: bool) -> io::Result<Progress> {
        let may_show = stderr_is_terminal && !is_quiet;
        Ok(Progress {
            line: Line::new(may_show),
            may_show,
            is_quiet,
            signals: Signals::get()?,
            is_told: AtomicBool::new(false),
            is_by_bytes: AtomicBool::new(false),
            is_reading: AtomicBool::new(false),
        })
    }

    /// Shows work of an unknown amount.
    pub(crate) fn name(&self, what: &'static str) {
        self.is_reading.store(false, Ordering::Relaxed);
        self.line.begin(WORKING, what, None);
    }

    /// Shows work on files, whose number will be known.
    pub(crate) fn name_files(&self, what: &'static str) {
        self.name(what);
        self.is_reading.store(true, Ordering::Relaxed);
    }

    /// Removes the line.
    pub(crate) fn finish(&self) {
        self.line.finish();
    }

    /// Lets a signal end the process: it waits, and nothing is half done. Ends when work begins again.
    pub(crate) fn waits(&self) {
        self.signals.waits();
    }

    /// Returns the time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.line.elapsed()
    }

    fn tell(&self, message: &str) {
        self.line.suspend(|| complain(message));
    }
}

impl work::Progress for Progress {
    fn stage(&self, stage: Stage) {
        self.signals.works();
        let (template, message) = look(stage);
        self.is_reading.store(stage == Stage::Read, Ordering::Relaxed);
        self.line.begin(template, message, None);
    }

    fn expect(&self, items: u64, bytes: u64) {
        self.signals.works();
        self.is_by_bytes.store(bytes > 0, Ordering::Relaxed);
        let template = if self.is_reading.load(Ordering::Relaxed) { READING } else { AMOUNT };
        self.line.expect(template, if bytes > 0 { bytes } else { items });
    }

    fn add(&self, items: u64, bytes: u64) {
        self.line.advance(if self.is_by_bytes.load(Ordering::Relaxed) { bytes } else { items });
        if self.is_reading.load(Ordering::Relaxed) && self.line.is_complete() {
            // All is read; writing remains.
            self.line.name(WORKING, "writing");
        }
    }

    fn waiting(&self, holder: &str) {
        self.signals.waits();
        if !self.is_quiet {
            self.tell(&format!("waiting for another process: {holder}"));
        }
    }

    fn is_cancelled(&self) -> bool {
        self.signals.works();
        let is_cancelled = self.signals.is_asked();
        if is_cancelled && self.may_show && !self.is_told.swap(true, Ordering::Relaxed) {
            self.line.stop();
            self.tell("keeping what is done so far; Ctrl-C again ends at once");
        }
        is_cancelled
    }
}

/// Returns the template of a stage's line, and its description.
fn look(stage: Stage) -> (&'static str, &'static str) {
    match stage {
        Stage::List => ("{spinner} {msg}: {human_pos} files", "listing folders"),
        Stage::Read => (WORKING, "reading"),
        Stage::Merge => (WORKING, "merging"),
        Stage::Import => (WORKING, "importing"),
    }
}

/// Returns an error if a signal arrived since `signals::listen`.
///
/// # Errors
/// [`restic::Error::Interrupted`].
pub(crate) fn check() -> restic::Result<()> {
    if signals::is_interrupted() { Err(restic::Error::Interrupted) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stage_has_a_valid_look() {
        for stage in [Stage::List, Stage::Read, Stage::Merge, Stage::Import] {
            let (template, message) = look(stage);
            Line::new(false).begin(template, message, None);
        }
        Line::new(false).expect(READING, 7);
    }

    #[test]
    fn nothing_is_shown_in_pipes_or_before_its_time() {
        for (is_terminal, is_quiet) in [(false, false), (true, true), (true, false)] {
            let progress = Progress::start(is_terminal, is_quiet).unwrap();
            work::Progress::stage(&progress, Stage::Read);
            work::Progress::expect(&progress, 2, 0);
            work::Progress::add(&progress, 1, 0);
            assert!(progress.line.is_hidden());
            progress.finish();
        }
    }
}
