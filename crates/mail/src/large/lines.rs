//! Finds lines that begin with two hyphens in a message in a window.
//!
//! Input: a window, and a test for the wanted line. Output: where the line is. Does not depend on boundaries.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::window::{Window, wide};
use crate::bytes::{after, before};
use std::io;

/// The longest line that is tested. A boundary is cut to `PARAMETERS_BYTES_MAX`; spaces may follow it.
const LINE_BYTES_MAX: usize = 64 << 10;

/// Tests a line without its LF, with the bytes after it: all, or `FOLLOWING_BYTES` at least.
pub(super) type Judge<'j, T> = &'j dyn Fn(&[u8], &[u8]) -> Option<T>;

/// Bytes after a line that are available to test it.
const FOLLOWING_BYTES: usize = 8;

/// A line that was found.
pub(super) struct Line<T> {
    pub(super) value: T,
    /// Its offset.
    pub(super) start: usize,
    /// The offset of the next line.
    pub(super) next: usize,
}

/// The result of searching some bytes for a line.
pub(super) enum Found<T> {
    Line(Line<T>),
    /// The line is not in the first `passed` bytes; and whether a line starts after them.
    Nothing {
        passed: usize,
        at_line_start: bool,
    },
}

/// Searches bytes for a line. `at_line_start` says whether they begin a line, `is_end` that nothing follows
/// them.
pub(super) fn find<T>(bytes: &[u8], at_line_start: bool, is_end: bool, judge: Judge<'_, T>) -> Found<T> {
    let mut from = 0;
    let mut is_start = at_line_start;
    loop {
        let rest = after(bytes, from);
        if is_start && (rest.starts_with(b"--") || b"--".starts_with(rest)) {
            let end = memchr::memchr(b'\n', rest);
            let length = end.map_or(rest.len(), |end| end.saturating_add(1));
            let following = after(rest, length);
            let is_whole = is_end || end.is_some() && following.len() >= FOLLOWING_BYTES;
            if !is_whole && (end.is_some() || rest.len() <= LINE_BYTES_MAX) {
                return Found::Nothing { passed: from, at_line_start: true };
            }
            let line = before(rest, end.unwrap_or(length));
            if is_whole && let Some(value) = judge(line, following) {
                return Found::Line(Line { value, start: from, next: from.saturating_add(length) });
            }
        }
        match memchr::memmem::find(rest, b"\n--") {
            Some(at) => from = from.saturating_add(at).saturating_add(1),
            None if bytes.ends_with(b"\n-") => {
                return Found::Nothing { passed: bytes.len().saturating_sub(1), at_line_start: true };
            }
            None => {
                let at_line_start = bytes.last().map_or(at_line_start, |byte| *byte == b'\n');
                return Found::Nothing { passed: bytes.len(), at_line_start };
            }
        }
        is_start = true;
    }
}

/// The result of searching a message for a line.
pub(super) struct Scanned<T> {
    /// The result of the test, and the offset of the next line; none at the end.
    pub(super) line: Option<(T, u64)>,
    /// Whether only white space was skipped.
    pub(super) is_blank: bool,
}

/// Advances to the next line that passes the test, or to the end: `to`, or that of the message. The window
/// must be at the start of a line.
pub(super) fn scan<T>(window: &mut Window<'_>, to: u64, judge: Judge<'_, T>) -> io::Result<Scanned<T>> {
    let (mut is_blank, mut at_line_start) = (true, true);
    let mut wanted = window.step_bytes;
    loop {
        window.fill(wanted)?;
        let left = usize::try_from(to.saturating_sub(window.position())).unwrap_or(usize::MAX);
        let is_end = window.is_over() || window.ahead().len() >= left;
        let bytes = before(window.ahead(), left);
        let (line, passed) = match find(bytes, at_line_start, is_end, judge) {
            Found::Line(line) => {
                (Some((line.value, window.position().saturating_add(wide(line.next)))), line.start)
            }
            Found::Nothing { passed, at_line_start: next } => {
                at_line_start = next;
                (None, if is_end { bytes.len() } else { passed })
            }
        };
        is_blank &= before(bytes, passed).trim_ascii().is_empty();
        // An incomplete line needs more input.
        wanted = bytes.len().saturating_sub(passed).saturating_add(window.step_bytes);
        window.advance(passed);
        if line.is_some() || is_end {
            return Ok(Scanned { line, is_blank });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::source::{Source, Storage};
    use super::super::window::{WINDOW_LIMITS, WindowLimits};
    use super::*;
    use crate::maildir::compression::Compression;

    #[test]
    fn lines_are_found_however_small_the_window_is() {
        let long = format!("--b{}\nx\n--b\n", " ".repeat(200));
        for (text, expected) in [
            ("--b\nx", Some((0, 4))),
            ("x\n--b\nx", Some((2, 6))),
            ("x--b\n", None),
            ("x\n--\n-\n--b", Some((7, 10))),
            ("-\n-- b\n\n--b\n", Some((8, 12))),
            ("", None),
            ("--", None),
            ("x\n-", None),
            (&*long, Some((206, 210))),
        ] {
            for step in [1, 2, 3, 7, 1000] {
                let source = Source {
                    storage: Storage::Bytes(text.as_bytes()),
                    compression: Compression::Plain,
                    has_cr_lines: false,
                    stop: Default::default(),
                };
                let mut window =
                    Window::new(&source, WindowLimits { step_bytes: step, ..WINDOW_LIMITS }).unwrap();
                let judge = |line: &[u8], _: &[u8]| (line == b"--b").then_some(());
                let scanned = scan(&mut window, u64::MAX, &judge).unwrap();
                let found = scanned.line.map(|((), next)| (window.position(), next));
                assert_eq!(found, expected, "{text:?} by {step}");
            }
        }
    }
}
