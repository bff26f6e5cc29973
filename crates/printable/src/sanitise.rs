//! Makes text from outside safe to print: replaces characters that a terminal acts on, and those that hide
//! text or change its direction.
//!
//! Input: text from messages, names of files. Output: the same text with a visible sign in place of each
//! harmful character.

use std::borrow::Cow;

/// What stands in for a harmful character.
pub const REPLACEMENT: char = '\u{fffd}';

/// Says whether a character may not be printed: controls and escapes (C0, DEL, C1), what turns the direction
/// of writing, line breaks that only some programs know, and what begins and ends hidden annotations.
///
/// A line feed and a tab are among them; [`one_line`] and [`many_lines`] know what to do with those.
pub fn is_harmful(character: char) -> bool {
    matches!(
        character,
        '\0'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{206f}'
            | '\u{fff9}'..='\u{fffb}'
    )
}

/// Says of each byte whether a harmful character begins with it.
const BEGINS_HARMFUL: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < table.len() {
        table[byte] = matches!(byte, 0..=0x1f | 0x7f | 0xc2 | 0xd8 | 0xe2 | 0xef);
        byte += 1;
    }
    table
};

/// Returns the first harmful character of a text and where it stands.
///
/// Most texts have none, so that bytes are looked at first: every harmful character begins with one of a few
/// that begin no other part of a character.
pub fn first_harmful(text: &str) -> Option<(usize, char)> {
    let suspects = text.bytes().enumerate().filter(|(_, byte)| BEGINS_HARMFUL[usize::from(*byte)]);
    suspects
        .filter_map(|(at, _)| Some((at, text.get(at..)?.chars().next()?)))
        .find(|(_, character)| is_harmful(*character))
}

/// Returns text as one line: line breaks and tabs become spaces, what is harmful [`REPLACEMENT`].
pub fn one_line(text: &str) -> Cow<'_, str> {
    if first_harmful(text).is_none() {
        return Cow::Borrowed(text);
    }
    let shown = text.replace("\r\n", " ");
    Cow::Owned(
        shown
            .chars()
            .map(|character| {
                if matches!(character, '\t'..='\r' | '\u{2028}' | '\u{2029}') {
                    ' '
                } else {
                    visible(character)
                }
            })
            .collect(),
    )
}

/// Returns text with its lines and tabs: every kind of line break becomes a line feed, what is harmful
/// [`REPLACEMENT`].
pub fn many_lines(text: &str) -> Cow<'_, str> {
    if first_harmful(text).is_none() {
        return Cow::Borrowed(text);
    }
    if !text.contains(|character| is_harmful(character) && !matches!(character, '\n' | '\t')) {
        return Cow::Borrowed(text);
    }
    let shown = text.replace("\r\n", "\n");
    let kept = |character| match character {
        '\n' | '\t' => character,
        '\r' | '\u{b}' | '\u{c}' | '\u{2028}' | '\u{2029}' => '\n',
        _ => visible(character),
    };
    Cow::Owned(shown.chars().map(kept).collect())
}

/// Returns bytes as one line of text; what is not UTF-8 becomes [`REPLACEMENT`].
pub fn one_line_of_bytes(bytes: &[u8]) -> String {
    one_line(&String::from_utf8_lossy(bytes)).into_owned()
}

fn visible(character: char) -> char {
    if is_harmful(character) { REPLACEMENT } else { character }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every character there is.
    fn all() -> impl Iterator<Item = char> {
        '\0'..=char::MAX
    }

    /// What must never be printed, spelled by what it is and not as ranges.
    fn is_dangerous(character: char) -> bool {
        let turns =
            [0x61c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069];
        character.is_control()
            || turns.contains(&u32::from(character))
            || "\u{2028}\u{2029}".contains(character)
    }

    #[test]
    fn nothing_dangerous_is_left_of_any_character() {
        for character in all() {
            let text = format!("a{character}b");
            let line = one_line(&text);
            assert!(!line.chars().any(is_dangerous), "{character:?}");
            assert_eq!(line.chars().count(), 3, "{character:?}: replaced visibly, and by one character");
            let lines = many_lines(&text);
            let is_left = |left: char| is_dangerous(left) && left != '\n' && left != '\t';
            assert!(!lines.chars().any(is_left), "{character:?}");
            assert_eq!(lines.chars().count(), 3, "{character:?}");
        }
    }

    #[test]
    fn the_first_harmful_character_is_found_wherever_it_stands() {
        for character in all() {
            for before in ["", "a", "é日本\u{2013}"] {
                let text = format!("{before}{character}\u{202e}");
                let slow = text.char_indices().find(|(_, character)| is_harmful(*character));
                assert_eq!(first_harmful(&text), slow, "{text:?}");
            }
        }
        assert_eq!(first_harmful("Grüße, Ana – 日本語"), None);
    }

    #[test]
    fn what_is_not_harmful_stays_as_it_is() {
        for character in all().filter(|character| !is_harmful(*character)) {
            let text = format!("a{character}b");
            assert_eq!(one_line(&text), text);
            assert_eq!(many_lines(&text), text);
        }
        for text in ["Grüße", "עברית", "日本語", "👩‍👧", "क्ष"] {
            assert_eq!(one_line(text), text);
        }
    }

    #[test]
    fn lines_stay_lines_or_become_one() {
        assert_eq!(many_lines("a\r\nb\rc\n\td"), "a\nb\nc\n\td");
        assert_eq!(one_line("a\r\n b\tc\nd"), "a  b c d");
        assert_eq!(one_line("\u{1b}[31mred\u{9b}0m\u{202e}cod"), "\u{fffd}[31mred\u{fffd}0m\u{fffd}cod");
        assert_eq!(one_line_of_bytes(b"a\xffb\n"), "a\u{fffd}b ");
    }
}
