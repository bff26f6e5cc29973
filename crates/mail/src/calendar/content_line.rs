//! Splits calendar data into its lines: name, parameters, value.
//!
//! Input: text. Output: one line after the other, unfolded. A line that is none is left out. Does not know
//! what a property means.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::bytes::cut;

/// Most bytes of an unfolded line.
const LINE_BYTES_MAX: usize = 64 << 10;
/// Most parameters of a line.
const PARAMETER_COUNT_MAX: usize = 32;

/// A line of calendar data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ContentLine {
    /// The name in capitals.
    pub(super) name: String,
    /// Names in capitals, and values without quotation marks.
    parameters: Vec<(String, String)>,
    /// The value as it is written.
    pub(super) value: String,
    /// Whether the line is too long, and the rest of it is left out.
    pub(super) is_cut: bool,
}

impl ContentLine {
    /// Returns the value of a parameter, or an empty text.
    pub(super) fn parameter(&self, name: &str) -> &str {
        self.parameters.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// Returns the value as text, its escapes decoded, cut to so many bytes.
    pub(super) fn text(&self, length_max: usize) -> String {
        let mut text = String::new();
        let mut characters = self.value.chars();
        while let Some(character) = characters.next() {
            match (character, characters.clone().next()) {
                ('\\', Some(escaped)) => {
                    text.push(if matches!(escaped, 'n' | 'N') { '\n' } else { escaped });
                    characters.next();
                }
                _ => text.push(character),
            }
        }
        cut(text.trim(), length_max).to_owned()
    }
}

/// Returns the lines of a text that are not empty; `None` for one that is no line of a calendar.
pub(super) fn content_lines(text: &str) -> impl Iterator<Item = Option<ContentLine>> {
    let mut lines = text.lines().peekable();
    std::iter::from_fn(move || {
        let mut whole = lines.find(|line| !line.trim().is_empty())?.trim_end_matches('\r').to_owned();
        let mut is_cut = false;
        while let Some(folded) = lines.next_if(|line| line.starts_with([' ', '\t'])) {
            if whole.len().saturating_add(folded.len()) <= LINE_BYTES_MAX {
                whole.extend(folded.chars().skip(1).filter(|character| *character != '\r'));
            } else {
                is_cut = true;
            }
        }
        Some(parse(&whole).map(|line| ContentLine { is_cut, ..line }))
    })
}

fn parse(line: &str) -> Option<ContentLine> {
    let end = line.find([';', ':'])?;
    let (name, mut rest) = line.split_at_checked(end)?;
    let is_name = |character: char| character.is_ascii_alphanumeric() || character == '-';
    if name.is_empty() || !name.chars().all(is_name) {
        return None;
    }
    let mut parameters = Vec::new();
    while let Some(parameter) = rest.strip_prefix(';') {
        let (key, from_value) = parameter.split_once('=')?;
        let (value, next) = parameter_value(from_value)?;
        if parameters.len() < PARAMETER_COUNT_MAX {
            parameters.push((key.trim().to_ascii_uppercase(), value));
        }
        rest = next;
    }
    let value = rest.strip_prefix(':')?.to_owned();
    Some(ContentLine { name: name.to_ascii_uppercase(), parameters, value, is_cut: false })
}

/// Reads the value of a parameter, and returns the rest of the line: from a semicolon or colon on.
fn parameter_value(text: &str) -> Option<(String, &str)> {
    let mut is_quoted = false;
    let ends = |(_, character): &(usize, char)| {
        is_quoted ^= *character == '"';
        !is_quoted && matches!(character, ';' | ':')
    };
    let (end, _) = text.char_indices().find(ends)?;
    let (value, rest) = text.split_at_checked(end)?;
    // RFC 6868.
    let value = value.replace('"', "").replace("^n", " ").replace("^'", "\"").replace("^^", "^");
    Some((value, rest))
}

/// Reads numbers of these widths that follow each other, and nothing else.
pub(super) fn digits<const N: usize>(text: &str, widths: [usize; N]) -> Option<[u32; N]> {
    let mut numbers = [0; N];
    let mut rest = text;
    for (number, width) in numbers.iter_mut().zip(widths) {
        let (piece, next) = rest.split_at_checked(width)?;
        piece.bytes().all(|byte| byte.is_ascii_digit()).then_some(())?;
        *number = piece.parse().ok()?;
        rest = next;
    }
    rest.is_empty().then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<ContentLine> {
        content_lines(text).flatten().collect()
    }

    #[test]
    fn lines_are_unfolded_and_split() {
        let found = lines(
            "summary:One\r\n  and two\r\n\tthree\r\n\
             ATTENDEE;CN=\"Ana; the: first\";\r\n PARTSTAT=ACCEPTED:mailto:a@b\r\n\
             no line\n:x\nA B:c\nX;broken:y\n",
        );
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!((found[0].name.as_str(), found[0].value.as_str()), ("SUMMARY", "One and twothree"));
        let of = |name| found[1].parameter(name);
        assert_eq!((of("CN"), of("PARTSTAT")), ("Ana; the: first", "ACCEPTED"));
        assert_eq!((found[1].parameter("ROLE"), found[1].value.as_str()), ("", "mailto:a@b"));
    }

    #[test]
    fn escapes_of_text_are_decoded_and_text_is_cut() {
        let found = lines("A: a\\, b\\;\\n\\N\\\\ c\\");
        assert_eq!(found[0].text(100), "a, b;\n\n\\ c\\");
        assert_eq!(found[0].text(2), "a,");
    }

    #[test]
    fn a_line_has_a_limit() {
        let long = format!("A:x\n{}", format!(" {}\n", "y".repeat(1000)).repeat(1000));
        assert!(lines(&long)[0].value.len() <= LINE_BYTES_MAX && lines(&long)[0].is_cut);
        assert_eq!(
            content_lines("A:x\n\nno line\n").map(|line| line.is_some()).collect::<Vec<_>>(),
            [true, false]
        );
        let many = format!("A{}:x", ";P=1".repeat(1000));
        assert_eq!(lines(&many)[0].parameters.len(), PARAMETER_COUNT_MAX);
    }
}
