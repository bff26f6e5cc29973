//! Points at a place in a query. Input: the query and the place. Output: a line that a terminal shows as it
//! is, and below it a line with carets. Does not depend on what is wrong there.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::ops::Range;

use unicode_width::UnicodeWidthChar;

/// What stands in for a character that a terminal would act on.
const REPLACEMENT: char = '\u{fffd}';

/// Widest line of a query that is shown whole; of a longer one, the part around the place.
const LINE_COLUMNS_MAX: usize = 100;

/// How much of a longer query is shown before the place.
const CONTEXT_COLUMNS: usize = 40;

/// Returns the query, or the part around the place, and a line with carets below the place. Both lines are
/// indented; the last has no line end. `span` is the place in bytes of the query.
pub fn pointed(query: &str, span: Range<usize>) -> String {
    let shown: Vec<(usize, char)> = query.char_indices().map(|(at, c)| (at, printable(c))).collect();
    let start = shown.partition_point(|(at, _)| *at < span.start);
    let (before, after) = shown.split_at(start);
    let is_long = width(&shown) > LINE_COLUMNS_MAX;
    let before = if is_long { end_within(before, CONTEXT_COLUMNS) } else { before };
    let (mut line, mut carets) = (String::new(), String::new());
    if before.len() < start {
        line.push('…');
        carets.push(' ');
    }
    line.extend(before.iter().map(|(_, c)| *c));
    carets.extend(std::iter::repeat_n(' ', width(before)));
    let mut used = width(before);
    let mut marked: usize = 0;
    for (at, c) in after {
        used = used.saturating_add(columns(*c));
        if is_long && used > LINE_COLUMNS_MAX {
            line.push('…');
            break;
        }
        line.push(*c);
        if *at < span.end {
            marked = marked.saturating_add(columns(*c));
        }
    }
    carets.extend(std::iter::repeat_n('^', marked.max(1)));
    format!("  {line}\n  {carets}")
}

/// Returns the longest end that fits into this many columns.
fn end_within(shown: &[(usize, char)], columns_max: usize) -> &[(usize, char)] {
    let mut used: usize = 0;
    let fits = shown.iter().rev().take_while(|(_, c)| {
        used = used.saturating_add(columns(*c));
        used <= columns_max
    });
    let count = fits.count();
    shown.split_at(shown.len().saturating_sub(count)).1
}

fn width(part: &[(usize, char)]) -> usize {
    part.iter().map(|(_, c)| columns(*c)).sum()
}

/// Returns how many columns a printable character takes.
fn columns(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// Returns what to print for the character. Control characters and those that change the writing direction
/// never reach a terminal; a tab becomes one space.
pub(crate) fn printable(c: char) -> char {
    match c {
        _ if c.is_whitespace() => ' ',
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}' => {
            REPLACEMENT
        }
        _ if c.is_control() => REPLACEMENT,
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carets_stand_below_the_place() {
        assert_eq!(pointed("a prio:high b", 2..11), "  a prio:high b\n    ^^^^^^^^^");
        assert_eq!(pointed("日本 x", 7..8), "  日本 x\n       ^");
        assert_eq!(pointed("e\u{301}👩 x", 8..9), "  e\u{301}👩 x\n      ^");
        assert_eq!(pointed("a", 9..12), "  a\n   ^");
        assert_eq!(pointed("\u{1b}[m x:", 4..6), "  \u{fffd}[m x:\n      ^^");
    }
}
