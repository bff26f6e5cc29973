//! The abilities of standard output: colours, and the number of columns.
//!
//! Paints, pads and cuts text. The text is already sanitised.

use printable::Look;
use std::borrow::Cow;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The abilities of standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// Columns of the terminal; `None` if it is a pipe or a file, where nothing is cut.
    pub columns: Option<usize>,
    /// Whether to use colours.
    pub has_color: bool,
}

impl Terminal {
    /// Decides by the user's choice and the terminal.
    pub fn new(columns: Option<usize>, no_color: bool, choice: ColorChoice) -> Terminal {
        let has_color = match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => columns.is_some() && !no_color,
        };
        Terminal { columns, has_color }
    }

    /// Returns whether the output is a terminal.
    pub fn is_terminal(self) -> bool {
        self.columns.is_some()
    }

    /// Returns text in the colour of its kind.
    pub fn paint(self, look: Look, text: &str) -> Cow<'_, str> {
        let code = match look {
            _ if !self.has_color => return Cow::Borrowed(text),
            Look::Plain => return Cow::Borrowed(text),
            Look::Date => "36",
            Look::Person => "33",
            Look::Label => "1",
            Look::Aside => "2",
            Look::Quote(depth) => {
                ["34", "32", "35"].get(depth.saturating_sub(1) % 3).copied().unwrap_or("34")
            }
        };
        Cow::Owned(format!("\u{1b}[{code}m{text}\u{1b}[0m"))
    }
}

/// Returns how many columns text takes.
pub fn width(text: &str) -> usize {
    // Most text is ASCII, in which every character that can be seen takes one column.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) { text.len() } else { text.width() }
}

/// Returns as much of a text as fits into so many columns, with `…` where something is left out.
pub fn cut(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let room = columns.saturating_sub(1);
    let mut used = 0;
    let kept = text.chars().take_while(|character| {
        used += character.width().unwrap_or(0);
        used <= room
    });
    let mut short: String = kept.collect();
    if columns > 0 {
        short.push('…');
    }
    Cow::Owned(short)
}

/// Splits a line into pieces of so many columns at most, except that each has a character at least. A
/// character that some terminals show in two columns counts as two, and a tab as all that it may take. One
/// that should take no column counts as two, since many of these take one or two in some terminals; only the
/// common accents (U+0300 to U+036F) take none in any.
pub fn pieces(line: &str, columns: usize) -> Vec<&str> {
    let (mut found, mut rest) = (Vec::new(), line);
    while !rest.is_empty() {
        let mut used = 0;
        let is_over = |(at, character): &(usize, char)| {
            used += match *character {
                '\t' => 8,
                '\u{300}'..='\u{36f}' => 0,
                other => other.width_cjk().filter(|width| *width > 0).unwrap_or(2),
            };
            *at > 0 && used > columns
        };
        let end = rest.char_indices().find(is_over).map_or(rest.len(), |(at, _)| at);
        let (piece, after) = rest.split_at(end);
        found.push(piece);
        rest = after;
    }
    if found.is_empty() { vec![""] } else { found }
}

/// Returns the spaces that fill a text up to so many columns.
pub fn padding(text: &str, columns: usize) -> String {
    " ".repeat(columns.saturating_sub(width(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_way_for_ascii_gives_what_the_long_way_gives() {
        for c in '\0'..='\u{ff}' {
            let text = format!("a{c}b");
            assert_eq!(width(&text), text.as_str().width(), "{text:?}");
        }
    }

    #[test]
    fn colours_are_for_terminals_unless_asked_for() {
        let has = |columns, no_color, choice| Terminal::new(columns, no_color, choice).has_color;
        assert!(has(Some(80), false, ColorChoice::Auto));
        assert!(!has(Some(80), true, ColorChoice::Auto));
        assert!(!has(None, false, ColorChoice::Auto));
        assert!(has(None, true, ColorChoice::Always));
        assert!(!has(Some(80), false, ColorChoice::Never));
    }

    #[test]
    fn lines_are_split_by_columns() {
        assert_eq!(pieces("", 5), [""]);
        assert_eq!(pieces("hello", 5), ["hello"]);
        assert_eq!(pieces("hello, you", 5), ["hello", ", you"]);
        assert_eq!(pieces("日本語", 5), ["日本", "語"]);
        assert_eq!(pieces("a\tb", 8), ["a", "\t", "b"]);
        assert_eq!(pieces("§§", 3), ["§", "§"], "wide on some terminals");
        assert_eq!(pieces("日e\u{301}", 1), ["日", "e\u{301}"]);
        assert_eq!(pieces("ab", 0), ["a", "b"]);
        // Characters that some terminals show in a column, whatever the tables of others say.
        for odd in ['\u{ad}', '\u{605}', '\u{70f}', '\u{890}', '\u{8e2}', '\u{302e}', '\u{3164}', '\u{ffa0}']
        {
            let line = odd.to_string().repeat(6);
            assert_eq!(pieces(&line, 2).len(), 6, "{odd:?}");
        }
    }

    #[test]
    fn text_is_cut_by_columns() {
        assert_eq!(cut("hello", 5), "hello");
        assert_eq!(cut("hello!", 5), "hell…");
        assert_eq!(cut("日本語", 6), "日本語");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}…");
        assert_eq!((cut("ab", 1), cut("ab", 0)), ("…".into(), "".into()));
        assert_eq!(padding("日本", 6), "  ");
        for columns in 0..12 {
            assert!(width(&cut("a日b本c語d👩‍👧e", columns)) <= columns);
        }
    }

    #[test]
    fn paint_changes_nothing_without_colours() {
        let plain = Terminal { columns: None, has_color: false };
        assert_eq!(plain.paint(Look::Person, "Ana"), "Ana");
        let colored = Terminal { has_color: true, ..plain };
        assert_eq!(colored.paint(Look::Person, "Ana"), "\u{1b}[33mAna\u{1b}[0m");
    }
}
