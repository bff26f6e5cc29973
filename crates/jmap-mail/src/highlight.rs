//! Marks the words of a search in a text, as HTML (RFC 8621, section 5).
//!
//! Input: text, and the words that were searched for. Output: the text with `<mark>` around each of them, and
//! nothing else that is active. Words are told apart and folded as the index does it.

use query::words;
use std::collections::HashSet;

const BEGIN: &str = "<mark>";
const END: &str = "</mark>";
/// Stands for text that was left out.
const CUT: &str = "…";

/// How many bytes of text come before the first marked word of a part.
const BEFORE_BYTES: usize = 60;

/// Returns the words of phrases, with and without their signs.
pub(crate) fn wanted<'p>(phrases: impl Iterator<Item = &'p String>) -> HashSet<String> {
    phrases.flat_map(|phrase| words(phrase).map(|word| word.text)).collect()
}

/// Returns a text with wanted words marked, or `None` if it has none.
pub(crate) fn marked(text: &str, wanted: &HashSet<String>) -> Option<String> {
    let mut html = String::with_capacity(text.len());
    let mut is_found = false;
    for (piece, is_wanted) in pieces(text, wanted) {
        is_found |= is_wanted;
        html.push_str(&shown(piece, is_wanted));
    }
    is_found.then_some(html)
}

/// Returns the part of a text around its first wanted word, marked, in at most `bytes_max` bytes, or `None`
/// if it has none. White space becomes single spaces.
pub(crate) fn marked_part(text: &str, wanted: &HashSet<String>, bytes_max: usize) -> Option<String> {
    let mut at = 0;
    let first = pieces(text, wanted).find_map(|(piece, is_wanted)| {
        let begin = at;
        at += piece.len();
        is_wanted.then_some(begin)
    })?;
    let start = text.floor_char_boundary(first.saturating_sub(BEFORE_BYTES));
    // A part begins with a whole word, unless there is no space.
    let before = text.get(start..first).unwrap_or_default();
    let word = before.find(char::is_whitespace).filter(|_| start > 0).unwrap_or(0);
    let part = text.get(start + word..).unwrap_or_default();
    let mut html = if start > 0 { CUT.to_owned() } else { String::new() };
    let mut ends_with_space = true;
    for (piece, is_wanted) in pieces(part, wanted) {
        let piece = single_spaced(piece, &mut ends_with_space);
        let piece = shown(&piece, is_wanted);
        if html.len() + piece.len() + CUT.len() > bytes_max {
            html.push_str(CUT);
            break;
        }
        html.push_str(&piece);
    }
    html.contains(BEGIN).then_some(html)
}

/// Splits a text into words and what is between them, and says which words are wanted. What is between is
/// given character by character, so that a part can end anywhere in it.
fn pieces<'t>(text: &'t str, wanted: &HashSet<String>) -> impl Iterator<Item = (&'t str, bool)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = if first.is_alphanumeric() {
            rest.find(|character: char| !is_inside(character)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (piece, behind) = rest.split_at(end);
        rest = behind;
        let is_wanted = first.is_alphanumeric() && words(piece).any(|word| wanted.contains(&word.text));
        Some((piece, is_wanted))
    })
}

/// Accents that are characters of their own belong to the word.
fn is_inside(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '\u{300}'..='\u{36f}')
}

fn single_spaced(piece: &str, ends_with_space: &mut bool) -> String {
    let is_space = piece.chars().all(char::is_whitespace);
    let shown = match (is_space, *ends_with_space) {
        (true, true) => "",
        (true, false) => " ",
        (false, _) => piece,
    };
    *ends_with_space = is_space;
    shown.to_owned()
}

/// Returns a piece as HTML.
fn shown(piece: &str, is_wanted: bool) -> String {
    let mut html = String::with_capacity(piece.len());
    if is_wanted {
        html.push_str(BEGIN);
    }
    for character in piece.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
    if is_wanted {
        html.push_str(END);
    }
    html
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(words: &[&str]) -> HashSet<String> {
        let phrases: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        wanted(phrases.iter())
    }

    #[test]
    fn words_are_marked_and_all_else_is_escaped() {
        let text = "Zwölf <b>Boote</b> & \"boote\", Bootesbau";
        let expected =
            "Zwölf &lt;b&gt;<mark>Boote</mark>&lt;/b&gt; &amp; &quot;<mark>boote</mark>&quot;, Bootesbau";
        assert_eq!(marked(text, &of(&["boote"])).unwrap(), expected);
        assert_eq!(marked(text, &of(&["ZWOLF"])).unwrap().split(" ").next(), Some("<mark>Zwölf</mark>"));
        assert_eq!(marked(text, &of(&["boot"])), None);
        assert_eq!(marked("日本語の本", &of(&["本語"])).unwrap(), "<mark>日本語の本</mark>");
    }

    #[test]
    fn a_part_is_around_the_first_word() {
        let text = format!("{} the\n\n  needle here {}", "hay ".repeat(50), "more ".repeat(100));
        let part = marked_part(&text, &of(&["needle"]), 255).unwrap();
        assert!(part.starts_with("…hay") && part.ends_with('…'), "{part}");
        assert!(part.contains("hay the <mark>needle</mark> here more"), "{part}");
        assert_eq!(marked_part("a needle", &of(&["needle"]), 255).unwrap(), "a <mark>needle</mark>");
        assert_eq!(marked_part("hay", &of(&["needle"]), 255), None);
    }

    proptest! {
        #[test]
        fn a_part_is_short_and_has_no_other_marks(
            text in "(<mark>|&|needle| |日本|é|\\PC){0,200}",
            max in 80..255_usize,
        ) {
            if let Some(part) = marked_part(&text, &of(&["needle", "日本"]), max) {
                prop_assert!(part.len() <= max);
                let plain = part.replace(BEGIN, "").replace(END, "");
                prop_assert!(!plain.contains(['<', '>', '"']));
                prop_assert_eq!(part.matches(BEGIN).count(), part.matches(END).count());
            }
        }
    }
}
