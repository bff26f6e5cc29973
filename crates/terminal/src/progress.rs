//! Shows on a terminal how far work is, in one line.
//!
//! Only work that takes over a second shows a line, and only on a terminal; in pipes nothing is shown. The
//! line does not know what the work is.

use crate::environment::{self, Stopwatch};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use work::Progress;

/// Shorter work shows no progress.
const SILENCE: Duration = Duration::from_secs(1);
/// How often the line is redrawn while nothing changes.
const TICK: Duration = Duration::from_millis(200);

/// The template for work of a known amount.
pub const AMOUNT: &str = "{msg} [{wide_bar}] {percent} %, {eta} left";
/// The template for work of an unknown amount.
pub const WORKING: &str = "{spinner} {msg}";

/// The template of a narrow line about work of a known amount.
const NARROW_AMOUNT: &str = "{wide_msg} {percent} %, {eta} left";
/// The template of a narrow line about work of an unknown amount.
const NARROW_WORKING: &str = "{spinner} {wide_msg}";
/// Fewest columns of a terminal for a line with a bar.
const WIDE_COLUMNS_MIN: usize = 78;

/// A line about work in progress. Templates are those of indicatif, with `{rate}` for files per second.
#[derive(Debug)]
pub struct Line {
    bar: ProgressBar,
    may_show: bool,
    is_shown: AtomicBool,
    /// Whether the work is being stopped. The line says only that from then on.
    is_stopping: AtomicBool,
    since: Stopwatch,
}

impl Line {
    /// Starts the clock. The line is shown only if `may_show`.
    pub fn new(may_show: bool) -> Line {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        Line {
            bar,
            may_show,
            is_shown: AtomicBool::new(false),
            is_stopping: AtomicBool::new(false),
            since: Stopwatch::start(),
        }
    }

    /// Begins work with a name, from 0; `None` if nobody knows its amount.
    pub fn begin(&self, template: &str, name: &'static str, amount: Option<u64>) {
        if self.is_stopping() {
            return;
        }
        self.name(template, name);
        match amount {
            Some(amount) => self.bar.set_length(amount),
            None => self.bar.unset_length(),
        }
        self.bar.reset();
        self.show_when_due();
    }

    /// Begins the same work again from 0, now with a known amount.
    pub fn expect(&self, template: &str, amount: u64) {
        if self.is_stopping() {
            return;
        }
        self.bar.set_style(style(template));
        self.bar.set_length(amount);
        self.bar.reset();
        self.show_when_due();
    }

    /// Gives the work another name and look, and leaves its amount.
    pub fn name(&self, template: &str, name: &'static str) {
        if self.is_stopping() {
            return;
        }
        self.bar.set_style(style(template));
        self.bar.set_message(name);
    }

    /// Says that the work is being stopped, without an amount or a time, whatever is reported later.
    pub fn stop(&self) {
        self.begin(WORKING, "stopping", None);
        self.is_stopping.store(true, Ordering::Relaxed);
    }

    fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }

    /// Adds to the amount that is done. May be called from any thread.
    pub fn advance(&self, amount: u64) {
        self.bar.inc(amount);
        self.show_when_due();
    }

    /// Returns whether the whole amount is done.
    pub fn is_complete(&self) -> bool {
        self.bar.length() == Some(self.bar.position())
    }

    /// Returns whether the line is hidden because there is no terminal.
    pub fn is_hidden(&self) -> bool {
        self.bar.is_hidden()
    }

    /// Removes the line while something else is printed.
    pub fn suspend(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    /// Removes the line.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Returns the time since the start.
    pub fn elapsed(&self) -> Duration {
        self.since.elapsed()
    }

    fn show_when_due(&self) {
        let is_due = self.may_show && self.since.elapsed() >= SILENCE;
        if is_due && !self.is_shown.swap(true, Ordering::Relaxed) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.enable_steady_tick(TICK);
        }
    }
}

/// The progress of work of a known amount, in bytes or whatever its name says. A signal ends the process.
#[derive(Debug)]
pub struct AmountProgress(Line);

impl AmountProgress {
    /// Begins.
    pub fn start(may_show: bool, name: &'static str, amount: u64) -> AmountProgress {
        let line = Line::new(may_show);
        line.begin(AMOUNT, name, Some(amount));
        AmountProgress(line)
    }

    /// Removes the line.
    pub fn finish(&self) {
        self.0.finish();
    }
}

impl Progress for AmountProgress {
    fn add(&self, items: u64, bytes: u64) {
        self.0.advance(if bytes > 0 { bytes } else { items });
    }
}

/// Returns a template whose line is never wider than the terminal.
fn fitting(template: &str, columns: usize) -> &str {
    match template {
        _ if columns >= WIDE_COLUMNS_MIN => template,
        WORKING => NARROW_WORKING,
        _ if template.contains("{eta}") => NARROW_AMOUNT,
        _ => template,
    }
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(fitting(template, environment::stderr_columns()))
        .expect("templates are constants, tests say they are valid");
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
    fn templates_are_valid() {
        for template in [WORKING, AMOUNT, NARROW_WORKING, NARROW_AMOUNT] {
            style(template);
        }
    }

    #[test]
    fn narrow_terminals_have_no_bar_and_no_rate() {
        let long = "{msg} [{wide_bar}] {human_pos} of {human_len} files, {rate}, {eta} left";
        for (template, narrow) in [
            (AMOUNT, NARROW_AMOUNT),
            (long, NARROW_AMOUNT),
            (WORKING, NARROW_WORKING),
            ("{spinner} {msg}: {human_pos} files", "{spinner} {msg}: {human_pos} files"),
        ] {
            assert_eq!(fitting(template, 80), template);
            assert_eq!(fitting(template, 40), narrow);
        }
    }

    #[test]
    fn work_that_is_being_stopped_says_nothing_else() {
        let line = Line::new(true);
        line.begin(AMOUNT, "reading", Some(3));
        line.stop();
        line.begin(AMOUNT, "merging", Some(7));
        line.expect(AMOUNT, 7);
        line.name(AMOUNT, "writing");
        line.advance(1);
        assert_eq!((line.bar.message(), line.bar.length()), ("stopping".to_owned(), None));
    }

    #[test]
    fn work_is_complete_when_its_amount_is_done() {
        let line = Line::new(true);
        line.begin(AMOUNT, "reading", Some(3));
        line.advance(2);
        assert!(!line.is_complete() && line.is_hidden());
        line.advance(1);
        assert!(line.is_complete());
        line.begin(WORKING, "writing", None);
        assert!(!line.is_complete());
    }
}
