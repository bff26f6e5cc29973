//! A mistake in an expression, and the place that shows it.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use printable::sanitise::{REPLACEMENT, is_harmful, one_line};
use std::fmt;

/// Characters of an expression that are shown before and after the place.
const CONTEXT_CHARACTERS: usize = 60;

/// A mistake in an expression. Printed, it has three lines: what is wrong, the expression, and a caret below
/// the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError {
    /// What is wrong.
    pub what: String,
    /// The expression.
    pub expression: String,
    /// Where the mistake is, in bytes.
    pub offset: usize,
}

impl std::error::Error for ExpressionError {}

impl fmt::Display for ExpressionError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let before = self.expression.char_indices().take_while(|(at, _)| *at < self.offset).count();
        let skipped = before.saturating_sub(CONTEXT_CHARACTERS);
        let count = before.saturating_sub(skipped).saturating_add(CONTEXT_CHARACTERS);
        // A character each, so that the caret stays below its place.
        let shown = |character: char| match character {
            _ if character.is_whitespace() => ' ',
            _ if is_harmful(character) => REPLACEMENT,
            _ => character,
        };
        let line: String = self.expression.chars().skip(skipped).take(count).map(shown).collect();
        let indent = before.saturating_sub(skipped);
        // It may quote the expression, or names from a file.
        let what = one_line(&self.what);
        write!(formatter, "{what}\n  {}\n  {:indent$}^", line.trim_end(), "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_one_line() {
        let what = "\"a\n\u{1b}[b\" is no field".to_owned();
        let error = ExpressionError { what, expression: "a\n\u{1b}[b".to_owned(), offset: 0 };
        assert_eq!(error.to_string(), "\"a \u{fffd}[b\" is no field\n  a \u{fffd}[b\n  ^");
    }

    #[test]
    fn the_caret_stands_below_the_place() {
        let error = |expression: &str, offset| {
            ExpressionError { what: "no".to_owned(), expression: expression.to_owned(), offset }.to_string()
        };
        assert_eq!(error("é > \u{1b}\n 5", 8), "no\n  é > \u{fffd}  5\n         ^");
        assert_eq!(error("a", 1), "no\n  a\n   ^");
        let long = error(&("x".repeat(1000) + "!" + &"y".repeat(1000)), 1000);
        let lines: Vec<&str> = long.lines().collect();
        assert_eq!(lines[1].len(), 2 + 120);
        assert_eq!(lines[2].find('^'), lines[1].find('!'));
    }
}
