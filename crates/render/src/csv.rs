//! Lines of CSV as RFC 4180 has them, safe to open in a spreadsheet.
//!
//! Input: values. Output: lines that end with CR LF. A spreadsheet computes a cell that begins with `=`, `+`,
//! `-` or `@`, and a formula can start a program or send other cells away. Mail brings such texts, so that
//! they get a `'` in front, which spreadsheets take for "this is text". Must not know what the columns mean.

use printable::sanitise::one_line;
use std::fmt::Display;

/// What begins a formula in some spreadsheet; the wide forms do so in Japanese ones.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];

/// A line to which values are added.
#[derive(Debug, Default)]
pub struct CsvLine {
    text: String,
}

impl CsvLine {
    /// Returns a line with these names of columns.
    pub fn of_names(names: &[&str]) -> CsvLine {
        names.iter().fold(CsvLine::default(), |line, name| line.text(name))
    }

    /// Adds text from mail. Line breaks and what a terminal acts on are replaced, as in all output.
    #[must_use]
    pub fn text(mut self, value: &str) -> CsvLine {
        let value = one_line(value);
        let guard = if value.trim_start().starts_with(FORMULA) { "'" } else { "" };
        let needs_quotes = |c: char| matches!(c, '"' | ',' | '\'' | ' ');
        if value.contains(needs_quotes) || !guard.is_empty() {
            self.text.push('"');
            self.text.push_str(guard);
            self.text.push_str(&value.replace('"', "\"\""));
            self.text.push('"');
        } else {
            self.text.push_str(&value);
        }
        self.text.push(',');
        self
    }

    /// Adds a number, or a date without commas and quotes; nothing for `None`.
    #[must_use]
    pub fn plain(mut self, value: Option<impl Display>) -> CsvLine {
        if let Some(value) = value {
            self.text.push_str(&value.to_string());
        }
        self.text.push(',');
        self
    }

    /// Returns the line with its end.
    pub fn finish(mut self) -> Vec<u8> {
        // The comma after the last value.
        self.text.pop();
        self.text.push_str("\r\n");
        self.text.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(text: &str) -> String {
        let line = String::from_utf8(CsvLine::default().text(text).finish()).unwrap();
        line.strip_suffix("\r\n").unwrap().to_owned()
    }

    #[test]
    fn values_are_quoted_where_needed_and_computed_nowhere() {
        for (text, expected) in [
            ("Ana", "Ana"),
            ("", ""),
            ("Ito, Ana", "\"Ito, Ana\""),
            ("\"Ana\"", "\"\"\"Ana\"\"\""),
            ("a\r\nb\tc", "\"a b c\""),
            ("=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\""),
            ("  -1+1", "\"'  -1+1\""),
            ("\t=1", "\"' =1\""),
            ("@x", "\"'@x\""),
            ("\u{ff1d}1", "\"'\u{ff1d}1\""),
            ("a=1", "a=1"),
            ("\u{1b}[2J", "\u{fffd}[2J"),
        ] {
            assert_eq!(cell(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_line_has_its_values_between_commas() {
        let line = CsvLine::of_names(&["a", "b"]).plain(Some(-1)).plain(None::<u32>).text("").finish();
        assert_eq!(line, b"a,b,-1,,\r\n");
    }
}
