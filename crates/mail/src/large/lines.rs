//! Finds lines that begin with two hyphens in a message that passes by in a window.
//!
//! Comes in: a window, and what makes a line the one that is looked for. Goes out: where it stands. Knows
//! nothing of boundaries.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::window::{Window, wide};
use crate::bytes::{after, before};
use std::io;

/// Longest line that is looked at. A boundary is cut to `PARAMETERS_BYTES_MAX`; spaces may follow it.
const LINE_BYTES_MAX: usize = 64 << 10;

/// Judges a line without its LF, by what follows it, of which all or `FOLLOWING_BYTES` are there.
pub(super) type Judge<'j, T> = &'j dyn Fn(&[u8], &[u8]) -> Option<T>;

/// How much of what follows a line is there to judge it by.
const FOLLOWING_BYTES: usize = 8;

/// A line that was looked for.
pub(super) struct Line<T> {
    pub(super) value: T,
    /// Where it begins.
    pub(super) start: usize,
    /// Where the next one begins.
    pub(super) next: usize,
}

/// What came of looking for a line in some bytes.
pub(super) enum Found<T> {
    Line(Line<T>),
    /// It is not in so many of them; and whether a line begins after these.
    Nothing {
        passed: usize,
        at_line_start: bool,
    },
}

/// Looks for a line in bytes, of which the first may begin a line; `is_end` says that nothing follows them.
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

/// What came of looking for a line in a message.
pub(super) struct Scanned<T> {
    /// What the judge said of the line, and where the next one begins; none at the end.
    pub(super) line: Option<(T, u64)>,
    /// Whether nothing but white space was passed by.
    pub(super) is_blank: bool,
}

/// Goes to the next line that is looked for, or to the end: `to`, or that of the message. The window stands
/// at the beginning of a line.
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
        // A line that is not whole yet needs more than there is.
        wanted = bytes.len().saturating_sub(passed).saturating_add(window.step_bytes);
        window.advance(passed);
        if line.is_some() || is_end {
            return Ok(Scanned { line, is_blank });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::source::{Place, Source};
    use super::super::window::{PACE, Pace};
    use super::*;
    use crate::unpack::Compression;

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
                    place: Place::Bytes(text.as_bytes()),
                    compression: Compression::Plain,
                    has_cr_lines: false,
                };
                let mut window = Window::new(&source, Pace { step_bytes: step, ..PACE }).unwrap();
                let judge = |line: &[u8], _: &[u8]| (line == b"--b").then_some(());
                let scanned = scan(&mut window, u64::MAX, &judge).unwrap();
                let found = scanned.line.map(|((), next)| (window.position(), next));
                assert_eq!(found, expected, "{text:?} by {step}");
            }
        }
    }
}
