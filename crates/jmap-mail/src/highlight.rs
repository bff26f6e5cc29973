//! Marks the words of a search in a text, as HTML (RFC 8621, section 5).
//!
//! Input: text, and the words that were searched for. Output: the text with `<mark>` around each of them, and
//! nothing else that is active. Words are told apart and folded as the index does it. Of scripts without
//! spaces, which the index has in pairs, single characters are marked.

use query::words::{is_inside, is_paired, is_paired_script};
use query::{Family, Matcher, words};
use std::collections::HashSet;

const BEGIN: &str = "<mark>";
const END: &str = "</mark>";
/// Stands for text that was left out.
const CUT: &str = "…";

/// How many bytes of text come before the first marked word of a part.
const BEFORE_BYTES: usize = 60;

/// How many forms of words are marked; each is compared with each word of a text.
const FORM_COUNT_MAX: usize = 64;

/// The words that are marked, folded.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    words: HashSet<String>,
    forms: Vec<Form>,
}

/// What words have in common.
#[derive(Debug)]
enum Form {
    Start(String),
    End(String),
    Part(String),
    Stem(Family),
}

impl Wanted {
    /// Adds the words of a phrase, with and without their signs.
    pub(crate) fn add_phrase(&mut self, phrase: &str) {
        self.words.extend(words(phrase).map(|word| word.text));
    }

    /// Adds the words that a term of a query means. Those of regular expressions are not marked.
    pub(crate) fn add_term(&mut self, term: &Matcher) {
        let form = match term {
            Matcher::Words(words) => {
                self.words.extend(words.iter().cloned());
                return;
            }
            Matcher::Prefix { before, last } => {
                self.words.extend(before.iter().cloned());
                if last.is_empty() {
                    return;
                }
                Form::Start(last.clone())
            }
            Matcher::Stem { word, languages } => Form::Stem(Family::new(word, *languages)),
            Matcher::Suffix(end) => Form::End(end.clone()),
            // A letter of a script without spaces is marked alone, wherever it is.
            Matcher::Infix(part) if part.chars().count() == 1 && part.chars().all(is_paired_script) => {
                self.words.insert(part.clone());
                return;
            }
            Matcher::Infix(part) => Form::Part(part.clone()),
            _ => return,
        };
        if self.forms.len() < FORM_COUNT_MAX {
            self.forms.push(form);
        }
    }

    /// Returns whether no word is marked.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty() && self.forms.is_empty()
    }

    fn has(&self, word: &str) -> bool {
        let is_of = |form: &Form| match form {
            Form::Start(start) => word.starts_with(start),
            Form::End(end) => word.ends_with(end),
            Form::Part(part) => word.contains(part),
            Form::Stem(family) => family.holds(word),
        };
        self.words.contains(word) || self.forms.iter().any(is_of)
    }
}

/// Returns a text with wanted words marked, or `None` if it has none.
pub(crate) fn marked(text: &str, wanted: &Wanted) -> Option<String> {
    let mut html = Html::default();
    for (piece, is_wanted) in pieces(text, wanted) {
        html.push(piece, is_wanted, usize::MAX);
    }
    html.finish()
}

/// Returns the part of a text around its first wanted word, marked, in at most `bytes_max` bytes, or `None`
/// if it has none. White space becomes single spaces.
pub(crate) fn marked_part(text: &str, wanted: &Wanted, bytes_max: usize) -> Option<String> {
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
    let mut html = Html { text: if start > 0 { CUT.to_owned() } else { String::new() }, ..Html::default() };
    let mut ends_with_space = true;
    for (piece, is_wanted) in pieces(part, wanted) {
        if !html.push(single_spaced(piece, &mut ends_with_space), is_wanted, bytes_max) {
            break;
        }
    }
    html.finish()
}

/// HTML, to which pieces are added. Wanted ones side by side have one mark.
#[derive(Default)]
struct Html {
    text: String,
    /// Whether a mark has begun and not ended.
    is_marked: bool,
    /// Whether there is a mark.
    has_marks: bool,
}

impl Html {
    /// Adds a piece, and returns whether there was room for it within `bytes_max`. If not, something stands
    /// for it.
    fn push(&mut self, piece: &str, is_wanted: bool, bytes_max: usize) -> bool {
        let tag = match (self.is_marked, is_wanted) {
            (false, true) => BEGIN,
            (true, false) => END,
            _ => "",
        };
        let (piece, end) = (escaped(piece), if is_wanted { END } else { "" });
        let sum = self.text.len() + tag.len() + piece.len() + end.len() + CUT.len();
        if sum > bytes_max {
            self.end_mark();
            self.text.push_str(CUT);
            return false;
        }
        self.text.push_str(tag);
        self.text.push_str(&piece);
        self.is_marked = is_wanted;
        self.has_marks |= is_wanted;
        true
    }

    fn end_mark(&mut self) {
        if std::mem::take(&mut self.is_marked) {
            self.text.push_str(END);
        }
    }

    /// Returns the whole, if it has a mark.
    fn finish(mut self) -> Option<String> {
        self.end_mark();
        self.has_marks.then_some(self.text)
    }
}

/// Splits a text into words and what is between them, and says which words are wanted. Scripts without
/// spaces, and what is between words, are given character by character, so that a part can end anywhere.
fn pieces<'t>(text: &'t str, wanted: &Wanted) -> impl Iterator<Item = (&'t str, bool)> {
    let is_wanted = |text: &str| words(text).any(|word| wanted.has(&word.text));
    let mut rest = text;
    // Whether the letter before this one begins a wanted pair.
    let mut is_second = false;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let is_letter = is_paired(first);
        let end = if is_letter {
            letter_end(rest)
        } else if first.is_alphanumeric() {
            rest.find(|next| !is_inside(next) || is_paired(next)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (piece, behind) = rest.split_at(end);
        let is_first = is_letter
            && behind.chars().next().is_some_and(is_paired)
            && rest.get(..end + letter_end(behind)).is_some_and(is_wanted);
        let is_wanted = is_first || is_second || first.is_alphanumeric() && is_wanted(piece);
        is_second = is_first;
        rest = behind;
        Some((piece, is_wanted))
    })
}

/// Returns where the first letter of a text ends, with what is joined to it when text is folded: accents, and
/// vowels and last consonants of Hangul.
fn letter_end(text: &str) -> usize {
    let goes_on = |next: char| {
        let is_voiced = matches!(next, '\u{ff9e}' | '\u{ff9f}');
        let is_hangul = matches!(next, '\u{1160}'..='\u{11ff}');
        is_voiced || is_hangul || is_inside(next) && !next.is_alphanumeric()
    };
    let mut characters = text.char_indices().skip(1);
    characters.find(|(_, next)| !goes_on(*next)).map_or(text.len(), |(place, _)| place)
}

/// Returns a piece with single spaces.
fn single_spaced<'p>(piece: &'p str, ends_with_space: &mut bool) -> &'p str {
    let is_space = piece.chars().all(char::is_whitespace);
    let shown = match (is_space, *ends_with_space) {
        (true, true) => "",
        (true, false) => " ",
        (false, _) => piece,
    };
    *ends_with_space = is_space;
    shown
}

/// Returns a piece as HTML.
fn escaped(piece: &str) -> String {
    let mut html = String::with_capacity(piece.len());
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
    html
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(words: &[&str]) -> Wanted {
        let mut wanted = Wanted::default();
        words.iter().for_each(|phrase| wanted.add_phrase(phrase));
        wanted
    }

    #[test]
    fn words_are_marked_and_all_else_is_escaped() {
        let text = "Zwölf <b>Boote</b> & \"boote\", Bootesbau";
        let expected =
            "Zwölf &lt;b&gt;<mark>Boote</mark>&lt;/b&gt; &amp; &quot;<mark>boote</mark>&quot;, Bootesbau";
        assert_eq!(marked(text, &of(&["boote"])).unwrap(), expected);
        assert_eq!(marked(text, &of(&["ZWOLF"])).unwrap().split(" ").next(), Some("<mark>Zwölf</mark>"));
        assert_eq!(marked(text, &of(&["boot"])), None);
    }

    #[test]
    fn words_end_where_they_end_in_the_index() {
        for (text, word, expected) in [
            ("日本語の本", "本語", "日<mark>本語</mark>の本"),
            ("日本語の本", "日本語", "<mark>日本語</mark>の本"),
            ("日本語の本", "本", "日<mark>本</mark>語の<mark>本</mark>"),
            ("iPhone手机壳x", "手机", "iPhone<mark>手机</mark>壳x"),
            ("ﾃﾞｽﾄ", "ﾃﾞｽ", "<mark>ﾃﾞｽ</mark>ﾄ"),
            (
                "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}어",
                "한국",
                "<mark>\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}</mark>어",
            ),
            ("हिन्दी में", "हिन्दी", "<mark>हिन्दी</mark> में"),
            ("to co\u{ad}operate", "cooperate", "to <mark>co\u{ad}operate</mark>"),
            ("A\u{30a}ngstro\u{308}m", "angstrom", "<mark>A\u{30a}ngstro\u{308}m</mark>"),
        ] {
            assert_eq!(marked(text, &of(&[word])).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(marked("日語", &of(&["日本語"])), None);
    }

    #[test]
    fn text_without_spaces_has_a_part() {
        let text = format!("{}針{}", "草".repeat(200), "草".repeat(200));
        let part = marked_part(&text, &of(&["草針"]), 255).unwrap();
        assert!(part.len() <= 255 && part.starts_with("…草") && part.ends_with("草…"), "{part}");
        assert!(part.contains("草<mark>草針</mark>草"), "{part}");
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
            let wanted = of(&["needle", "日本"]);
            let part = marked_part(&text, &wanted, max);
            // A long word before it, and what its letters take as HTML, may leave no room in a short part.
            let is_found = words(&text).any(|word| wanted.has(&word.text));
            prop_assert!(part.is_none() || is_found);
            prop_assert_eq!(marked(&text, &wanted).is_some(), is_found);
            prop_assert_eq!(marked_part(&text, &wanted, usize::MAX).is_some(), is_found);
            if let Some(part) = part {
                prop_assert!(part.len() <= max);
                let plain = part.replace(BEGIN, "").replace(END, "");
                prop_assert!(!plain.contains(['<', '>', '"']));
                prop_assert_eq!(part.matches(BEGIN).count(), part.matches(END).count());
            }
        }
    }
}
