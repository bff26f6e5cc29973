//! Chooses the words of a message that a list shows beside its subject.
//!
//! Input: the text of a message. Output: one line. Text that the author did not write is skipped unless
//! there is nothing else: quoted lines, the line that introduces them, the frame of a signed text. Does not
//! depend on parts.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::limits::SNIPPET_CHARACTERS_MAX;

/// Lines of the text that are read.
const LINE_COUNT_MAX: usize = 200;

/// Returns the first words that the author wrote, or the first of any if there are none.
pub(crate) fn snippet(text: &str) -> String {
    let own = collect(author_lines(text));
    if own.is_empty() { collect(text.lines().take(LINE_COUNT_MAX)) } else { own }
}

/// Returns the lines that the author wrote, up to the signature.
pub(crate) fn author_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut lines = text.lines().take(LINE_COUNT_MAX).peekable();
    std::iter::from_fn(move || {
        loop {
            let line = lines.next()?.trim();
            if line == "-- " || line == "--" {
                return None;
            }
            let next = lines.peek().map_or("", |next| next.trim());
            if is_attribution(line) || is_quote_or_frame(line) {
                continue;
            }
            // An attribution of two lines: `On Monday, Ann Bee <ann@example.org>` / `wrote:`.
            if is_attribution_begin(line) && is_attribution_end(next) {
                lines.next();
                continue;
            }
            return Some(line);
        }
    })
}

/// Returns whether the line is quoted, or frames a signed or forwarded text.
fn is_quote_or_frame(line: &str) -> bool {
    line.starts_with(['>', '|'])
        || line.starts_with("-----")
        || line.starts_with("_____")
        || line.starts_with("=====")
        || line.strip_prefix("Hash: ").is_some_and(|rest| rest.starts_with("SHA"))
}

fn is_attribution(line: &str) -> bool {
    is_attribution_end(line)
        && (is_attribution_begin(line)
            || line.contains('@')
            || line.contains(|character: char| character.is_ascii_digit()))
}

fn is_attribution_begin(line: &str) -> bool {
    ["On ", "Am ", "Le ", "El ", "Il ", "Den ", "Op ", "Em ", "At ", "* "]
        .iter()
        .any(|start| line.starts_with(start))
}

fn is_attribution_end(line: &str) -> bool {
    const WORDS: [&str; 10] = [
        "wrote:",
        "writes:",
        "said:",
        "schrieb:",
        "écrit :",
        "écrit:",
        "escribió:",
        "scritto:",
        "skrev:",
        "schreef:",
    ];
    WORDS.iter().any(|word| line.ends_with(word))
}

/// Joins the words of lines until the snippet is full.
fn collect<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let mut snippet = String::new();
    let mut count = 0_usize;
    for word in lines.flat_map(str::split_whitespace) {
        if !snippet.is_empty() {
            snippet.push(' ');
            count = count.saturating_add(1);
        }
        for character in word.chars().filter(|&character| !is_filler(character)) {
            if count >= SNIPPET_CHARACTERS_MAX {
                snippet.truncate(snippet.trim_end().len());
                return snippet;
            }
            snippet.push(character);
            count = count.saturating_add(1);
        }
        if snippet.ends_with(' ') {
            snippet.pop();
            count = count.saturating_sub(1);
        }
    }
    snippet
}

/// Characters that newsletters use as filler after their first line, and other invisible ones.
fn is_filler(character: char) -> bool {
    matches!(character, '\0'..='\x1f' | '\x7f' | '\u{ad}' | '\u{34f}' | '\u{200b}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_words_come_first() {
        for (text, expected) in [
            ("Hello\n world\t!", "Hello world !"),
            ("On Monday, Ann wrote:\n> quoted\n>> more\n\nI agree.\n", "I agree."),
            ("On Monday 5 Jan, Ann Bee <ann@example.org>\nwrote:\n> quoted\nYes", "Yes"),
            ("Ann Bee <a@b> writes:\n| quoted\nYes", "Yes"),
            ("-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nSigned words\n", "Signed words"),
            ("> only quoted\n> words", "> only quoted > words"),
            ("-- \nsignature", "-- signature"),
            ("own\n-- \nsignature", "own"),
            ("preheader \u{34f} \u{34f}\u{200b} \u{feff} text", "preheader text"),
            ("", ""),
            (" \n\t\n", ""),
        ] {
            assert_eq!(snippet(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_snippet_is_short() {
        for text in ["é".repeat(1000), "ab ".repeat(1000), "\u{34f} ".repeat(1000) + "x"] {
            let snippet = snippet(&text);
            assert!(snippet.chars().count() <= SNIPPET_CHARACTERS_MAX);
            assert!(!snippet.is_empty() && snippet.trim() == snippet);
        }
    }
}
