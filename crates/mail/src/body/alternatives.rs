//! Chooses the form of a multipart/alternative that is shown.
//!
//! Input: parts. Output: which of them are shown, and which lines of the others add words. Does not know how
//! a message is displayed.
//!
//! The plain form is shown unless HTML is better. HTML is better if the plain form has few letters and
//! digits, not counting web addresses, and HTML has several times as many. A text that only says "view this
//! in a browser" is therefore not shown as the message.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::collections::{BTreeMap, HashSet};

use encoding_rs::Encoding;
use xxhash_rust::xxh3::xxh3_64;

use crate::body::part_text::part_text;
use crate::bytes::before;
use crate::decode::transfer::decode;
use crate::mime::content_fields::{ContentFields, Disposition};
use crate::mime::parts::{Body, Part};
use crate::problem::Problems;

/// A plain text with this many letters and digits is shown whatever the HTML contains.
const LETTER_COUNT_ENOUGH: usize = 250;
/// How many times as many letters and digits HTML must have to be better.
const BETTER_FACTOR: usize = 4;
/// Bytes of a part that are read for the comparison.
const COMPARED_BYTES_MAX: usize = 256 << 10;

/// The preferred form of a text, if there are several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PreferredAlternative {
    /// The plain one, unless HTML has much more text.
    #[default]
    Better,
    /// The plain one, unless it has no words.
    Plain,
    /// HTML, unless it has no words.
    Html,
}

/// The forms of an alternative, the best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    Plain,
    Html,
    Other,
}

fn form(content: &ContentFields) -> Option<Form> {
    match content.mime.as_str() {
        _ if content.disposition == Disposition::Attachment || !content.is_text() => None,
        "text/plain" => Some(Form::Plain),
        "text/html" => Some(Form::Html),
        // An invitation has more in it than the text beside it.
        "text/calendar" => None,
        _ => Some(Form::Other),
    }
}

/// Returns for each part whether its text is shown: all but the worse forms of an alternative.
pub(crate) fn choose(
    parts: &[Part<'_>],
    preferred: PreferredAlternative,
    fallback: Option<&'static Encoding>,
) -> Vec<bool> {
    // For each alternative, the parts of each form that have words.
    let mut forms: BTreeMap<usize, [Vec<usize>; 3]> = BTreeMap::new();
    for (index, part) in parts.iter().enumerate() {
        let Some(form) = form(&part.content) else { continue };
        let alternatives = alternatives(part, parts);
        if alternatives.is_empty() || !has_words(part) {
            continue;
        }
        for number in alternatives {
            let [plain, html, other] = forms.entry(number).or_default();
            match form {
                Form::Plain => plain.push(index),
                Form::Html => html.push(index),
                Form::Other => other.push(index),
            }
        }
    }
    let mut letters = LetterCounts { parts, fallback, known: BTreeMap::new() };
    let best: BTreeMap<usize, Form> =
        forms.iter().map(|(number, forms)| (*number, best(forms, preferred, &mut letters))).collect();
    let is_best = |part: &Part<'_>| {
        let Some(form) = form(&part.content) else { return true };
        alternatives(part, parts).iter().filter_map(|number| best.get(number)).all(|best| form == *best)
    };
    parts.iter().map(is_best).collect()
}

/// Returns the form of an alternative that is shown. At least one form has words.
fn best(
    [plain, html, _]: &[Vec<usize>; 3],
    preferred: PreferredAlternative,
    letters: &mut LetterCounts<'_>,
) -> Form {
    match (plain.is_empty(), html.is_empty(), preferred) {
        (true, true, _) => Form::Other,
        (false, true, _) | (false, false, PreferredAlternative::Plain) => Form::Plain,
        (true, false, _) | (false, false, PreferredAlternative::Html) => Form::Html,
        (false, false, PreferredAlternative::Better) => {
            let plain_count = letters.count_all(plain);
            let is_better = plain_count < LETTER_COUNT_ENOUGH
                && letters.count_all(html) > plain_count.saturating_mul(BETTER_FACTOR);
            if is_better { Form::Html } else { Form::Plain }
        }
    }
}

/// Returns the indexes of the alternatives that contain a part, within its own message.
fn alternatives(part: &Part<'_>, parts: &[Part<'_>]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut number = part.parent;
    while let Some((at, parent)) = number.and_then(|at| Some((at, parts.get(at)?))) {
        if !matches!(parent.body, Body::Multipart) {
            break;
        }
        if parent.content.mime == "multipart/alternative" {
            found.push(at);
        }
        number = parent.parent;
    }
    found
}

/// Returns whether a part's text has any letter or digit. Usually the first kilobyte tells.
fn has_words(part: &Part<'_>) -> bool {
    let Body::Leaf(content) = &part.body else { return false };
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte >= 0x80;
    let has = |bytes| decode(bytes, part.content.transfer).0.iter().any(is_word);
    has(before(content, 1 << 10)) || (content.len() > 1 << 10 && has(content))
}

/// Counts letters and digits of parts, once for each part.
struct LetterCounts<'a> {
    parts: &'a [Part<'a>],
    fallback: Option<&'static Encoding>,
    known: BTreeMap<usize, usize>,
}

impl LetterCounts<'_> {
    fn count_all(&mut self, indexes: &[usize]) -> usize {
        indexes.iter().fold(0, |sum, index| sum.saturating_add(self.count(*index)))
    }

    /// Counts those of a part, as far as needed. Usually the first kilobytes are enough.
    fn count(&mut self, index: usize) -> usize {
        const ENOUGH: usize = LETTER_COUNT_ENOUGH * BETTER_FACTOR;
        if let Some(count) = self.known.get(&index) {
            return *count;
        }
        let Some(Part { content, body: Body::Leaf(bytes), .. }) = self.parts.get(index) else { return 0 };
        let mut count = 0;
        for length in [4 << 10, COMPARED_BYTES_MAX] {
            let (decoded, _) = decode(before(bytes, length), content.transfer);
            let room = (decoded.len(), self.fallback);
            count = letter_count(&part_text(content, &decoded, room, &mut Problems::default()));
            if count >= ENOUGH || bytes.len() <= length {
                break;
            }
        }
        self.known.insert(index, count);
        count
    }
}

/// Counts letters and digits, except those of web addresses.
fn letter_count(text: &str) -> usize {
    let is_address = |word: &&str| word.contains("://") || word.starts_with("www.");
    let words = text.split_whitespace().filter(|word| !is_address(word));
    words.map(|word| word.chars().filter(|character| character.is_alphanumeric()).count()).sum()
}

/// The words of a message's text, by hash and ignoring case.
#[derive(Default)]
pub(crate) struct Vocabulary {
    known: HashSet<u64>,
    /// A buffer for one word.
    word: String,
}

impl Vocabulary {
    /// Adds the words of a text.
    pub(crate) fn add(&mut self, text: &str) {
        self.add_new(text);
    }

    /// Returns the lines of a text that contain a new word, and adds their words.
    pub(crate) fn lines_with_new_words(&mut self, text: &str) -> String {
        let mut lines = String::new();
        for line in text.lines().filter(|line| !line.is_empty()) {
            if self.add_new(line) {
                lines.push_str(line);
                lines.push('\n');
            }
        }
        lines.truncate(lines.trim_end().len());
        lines
    }

    /// Adds words, and returns whether any is new.
    fn add_new(&mut self, text: &str) -> bool {
        let mut has_new = false;
        let is_between = |character: char| !character.is_alphanumeric();
        for word in text.split(is_between).filter(|word| !word.is_empty()) {
            self.word.clear();
            if word.is_ascii() {
                self.word.push_str(word);
                self.word.make_ascii_lowercase();
            } else {
                self.word.extend(word.chars().flat_map(char::to_lowercase));
            }
            has_new |= self.known.insert(xxh3_64(self.word.as_bytes()));
        }
        has_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::block::split;
    use crate::mime::parts::take_apart;

    /// Returns the types of the parts that are shown.
    fn shown(plain: &str, html: &str, preferred: PreferredAlternative) -> String {
        let text = format!(
            "Content-Type: multipart/alternative; boundary=b\n\n--b\n\n{plain}\n--b\n\
             Content-Type: text/html\n\n{html}\n--b--\n"
        );
        let block = split(text.as_bytes());
        let parts = take_apart(&block, &mut Problems::default());
        let shown = choose(&parts, preferred, None);
        let types = parts.iter().zip(shown).filter(|(part, shown)| *shown && form(&part.content).is_some());
        types.map(|(part, _)| part.content.mime.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn html_is_shown_if_the_plain_text_says_next_to_nothing() {
        let long = "Dear reader, <b>this</b> is what it is about. ".repeat(10);
        let address = format!("View in a browser: https://example.org/{}", "x".repeat(300));
        for (plain, html, expected) in [
            ("AAA", long.as_str(), "text/html"),
            (&address, &long, "text/html"),
            ("  \n", &long, "text/html"),
            ("Yes.", "<p>Yes.", "text/plain"),
            ("Yes, at ten.", "<p>Yes, at ten. <p>Ana", "text/plain"),
            ("AAA", "<div hidden>much that is not shown</div>AAA", "text/plain"),
            (&long, &long.repeat(20), "text/plain"),
            (&"long enough text ".repeat(20), &long.repeat(20), "text/plain"),
            (&("\n".repeat(5000) + &"long enough text ".repeat(20)), &long.repeat(20), "text/plain"),
            ("AAA", &(" ".repeat(5000) + &long), "text/html"),
        ] {
            assert_eq!(shown(plain, html, PreferredAlternative::Better), expected, "{plain} / {html}");
        }
    }

    #[test]
    fn a_reader_may_prefer_a_form() {
        let long = "<p>This is what it is about.".repeat(10);
        assert_eq!(shown("AAA", &long, PreferredAlternative::Plain), "text/plain");
        assert_eq!(shown("the same text", "the same text", PreferredAlternative::Html), "text/html");
        assert_eq!(shown("the same text", "<br>", PreferredAlternative::Html), "text/html");
        assert_eq!(shown("--", &long, PreferredAlternative::Plain), "text/html");
    }

    #[test]
    fn lines_are_kept_that_say_more() {
        let mut words = Vocabulary::default();
        words.add("One two, THREE.\nÜber");
        let html = "three  two\n\nfour one\nüber\nFOUR\nfive six\n\n";
        assert_eq!(words.lines_with_new_words(html), "four one\nfive six");
        assert_eq!(words.lines_with_new_words(html), "");
    }
}
