//! Shows how far a pass is, and tells it of signals that ask for an end.
//!
//! In: what the library says of its progress. Out: on a terminal, and only for what takes over a second, a line with rate and time
//! left; in pipes silence. Must not know what a pass does.

use crate::ending::Ends;
pub(crate) use crate::ending::{check, is_interrupted, listen};
use crate::environment::Stopwatch;
use crate::output;
use index::{Observer, Stage};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What is done sooner shows no progress.
const SILENCE: Duration = Duration::from_secs(1);
/// How often the line is drawn anew while nothing moves.
const TICK: Duration = Duration::from_millis(200);

/// The line of work of a known amount.
const AMOUNT: &str = "{msg} [{wide_bar}] {percent} %, {eta} left";
/// The line of work whose end nobody knows.
const WORKING: &str = "{spinner} {msg}";

/// Watches a pass for the user.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    may_show: bool,
    is_shown: AtomicBool,
    is_quiet: bool,
    since: Stopwatch,
    ends: &'static Ends,
    is_told: AtomicBool,
    /// Whether the amount of work is one of bytes.
    is_by_bytes: AtomicBool,
}

impl Progress {
    /// Begins. From now on signals ask the pass to end, and a Ctrl-C after them ends the process at once.
    ///
    /// # Errors
    /// The system refuses the signal's handler.
    pub(crate) fn start(stderr_is_terminal: bool, is_quiet: bool) -> io::Result<Progress> {
        let ends = Ends::get()?;
        Ok(Progress {
            bar: ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
            may_show: stderr_is_terminal && !is_quiet,
            is_shown: AtomicBool::new(false),
            is_quiet,
            since: Stopwatch::start(),
            ends,
            is_told: AtomicBool::new(false),
            is_by_bytes: AtomicBool::new(false),
        })
    }

    /// Says what is being done, of an amount that nobody knows yet.
    pub(crate) fn name(&self, what: &'static str) {
        self.bar.unset_length();
        self.draw(WORKING, what);
        self.bar.reset();
        self.show_when_due();
    }

    /// Asks the pass to end, as a signal does: something else failed without which it is of no use.
    pub(crate) fn end(&self) {
        self.ends.ask();
    }

    /// Takes the line away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Returns the time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        self.since.elapsed()
    }

    fn show_when_due(&self) {
        let is_due = self.may_show && self.since.elapsed() >= SILENCE;
        if is_due && !self.is_shown.swap(true, Ordering::Relaxed) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.enable_steady_tick(TICK);
        }
    }

    fn draw(&self, template: &str, message: &'static str) {
        self.bar.set_style(style(template));
        self.bar.set_message(message);
    }

    fn tell(&self, message: &str) {
        self.bar.suspend(|| output::complain(message));
    }
}

/// Shows how much of a known amount of work is done. Ctrl-C ends the process.
#[derive(Debug)]
pub(crate) struct ByteProgress {
    bar: ProgressBar,
    may_show: bool,
    is_shown: AtomicBool,
    since: Stopwatch,
}

impl ByteProgress {
    /// Begins work of so many bytes, or of whatever `what` names.
    pub(crate) fn start(may_show: bool, what: &'static str, amount: u64) -> ByteProgress {
        let bar = ProgressBar::with_draw_target(Some(amount), ProgressDrawTarget::hidden());
        bar.set_style(style(AMOUNT));
        bar.set_message(what);
        ByteProgress { bar, may_show, is_shown: AtomicBool::new(false), since: Stopwatch::start() }
    }

    /// Says that so much more is done. From any thread.
    pub(crate) fn advance(&self, amount: u64) {
        self.bar.inc(amount);
        let is_due = self.may_show && self.since.elapsed() >= SILENCE;
        if is_due && !self.is_shown.swap(true, Ordering::Relaxed) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// Takes the line away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Progress {
    fn stage(&self, stage: Stage) {
        self.ends.works();
        let (template, length, message) = look(stage);
        self.draw(template, message);
        match length {
            Some(length) => self.bar.set_length(length),
            None => self.bar.unset_length(),
        }
        self.bar.reset();
        self.show_when_due();
    }

    fn advance(&self, file_count: u64) {
        self.bar.inc(file_count);
        if self.bar.length() == Some(self.bar.position()) {
            // All is read; what remains is to write it.
            self.draw(WORKING, "writing");
        }
        self.show_when_due();
    }

    fn waiting(&self, holder: &str) {
        self.ends.waits();
        if !self.is_quiet {
            self.tell(&format!("waiting for another process: {holder}"));
        }
    }

    fn is_interrupted(&self) -> bool {
        self.ends.works();
        let is_interrupted = self.ends.is_asked();
        if is_interrupted && self.may_show && !self.is_told.swap(true, Ordering::Relaxed) {
            self.tell("keeping what is done so far; Ctrl-C again ends at once");
        }
        is_interrupted
    }
}

/// Work on a repository: items and bytes.
impl archive::Progress for Progress {
    fn expect(&self, items: u64, bytes: u64) {
        self.ends.works();
        self.bar.set_style(style(AMOUNT));
        self.bar.set_length(if bytes > 0 { bytes } else { items });
        self.is_by_bytes.store(bytes > 0, Ordering::Relaxed);
        self.bar.reset();
        self.show_when_due();
    }

    fn add(&self, items: u64, bytes: u64) {
        self.bar.inc(if self.is_by_bytes.load(Ordering::Relaxed) { bytes } else { items });
        self.show_when_due();
    }

    fn is_interrupted(&self) -> bool {
        Observer::is_interrupted(self)
    }
}

/// Returns how a stage looks: the template of its line, how many files it will do, and what it does.
fn look(stage: Stage) -> (&'static str, Option<u64>, &'static str) {
    match stage {
        Stage::Scan => ("{spinner} {msg}: {human_pos} files", None, "listing folders"),
        Stage::Read { file_count } => (
            "{msg} [{wide_bar}] {human_pos} of {human_len} files, {rate}, {eta} left",
            Some(file_count),
            "reading",
        ),
        Stage::Merge => (WORKING, None, "merging"),
    }
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).expect("the templates here are valid, a test says so");
    let rate = |state: &ProgressState, out: &mut dyn fmt::Write| {
        // A line that cannot be written is not worth an error.
        let _ = write!(out, "{:.0} files/s", state.per_sec());
    };
    style.progress_chars("=> ").with_key("rate", rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stage_has_a_valid_look() {
        for stage in [Stage::Scan, Stage::Read { file_count: 7 }, Stage::Merge] {
            style(look(stage).0);
        }
        style(WORKING);
        style(AMOUNT);
    }

    #[test]
    fn nothing_is_shown_in_pipes_or_before_its_time() {
        for (is_terminal, is_quiet) in [(false, false), (true, true), (true, false)] {
            let progress = Progress::start(is_terminal, is_quiet).unwrap();
            progress.stage(Stage::Read { file_count: 2 });
            progress.advance(1);
            assert!(progress.bar.is_hidden());
            assert_eq!(progress.bar.position(), 1);
            progress.finish();
        }
    }
}
