//! What a client searches for in text (RFC 8621, section 4.4.1): words, all of which must be there, and
//! phrases in quotes.
//!
//! Input: a string of a client. Output: words of the query language, as a tree: it is never read as syntax of
//! that language.

use jmap::{MethodError, MethodErrorKind};
use query::limits::{PHRASE_WORD_COUNT_MAX, QUERY_BYTES_MAX, TERM_COUNT_MAX};
use query::words::is_paired_script;
use query::{Dot, Field, FieldSet, Leaf, Matcher, Query, Target, asked_words};

/// Where text is searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// In any of these fields.
    Fields(FieldSet),
    /// In a header field that the configuration names.
    Header(String),
}

impl Scope {
    pub(crate) fn of(field: Field) -> Scope {
        Scope::Fields(FieldSet::of(field))
    }

    pub(super) fn target(&self) -> Target {
        match self {
            Scope::Fields(fields) => Target::Fields(*fields),
            Scope::Header(name) => Target::Header(name.clone()),
        }
    }

    /// In names and addresses a dot separates words, as in the query language.
    fn dot(&self) -> Dot {
        let is_address = |field: Field| matches!(field, Field::From | Field::To | Field::Cc | Field::Bcc);
        match self {
            Scope::Fields(fields) if fields.iter().all(is_address) => Dot::Separates,
            _ => Dot::IsPart,
        }
    }
}

/// How much all texts of a filter may still have.
#[derive(Debug)]
pub(super) struct Allowance {
    bytes_left: usize,
    phrases_left: usize,
}

impl Default for Allowance {
    fn default() -> Allowance {
        Allowance { bytes_left: QUERY_BYTES_MAX, phrases_left: TERM_COUNT_MAX }
    }
}

impl Allowance {
    /// Counts a text and its words and phrases.
    ///
    /// # Errors
    /// `unsupportedFilter`, if that is more than there may be.
    pub(super) fn take(&mut self, bytes: usize, phrases: usize) -> Result<(), MethodError> {
        self.bytes_left = self.bytes_left.checked_sub(bytes).ok_or_else(too_long)?;
        self.phrases_left = self.phrases_left.checked_sub(phrases).ok_or_else(too_long)?;
        Ok(())
    }
}

fn too_long() -> MethodError {
    MethodError::new(MethodErrorKind::UnsupportedFilter, "a text has too many words")
}

/// Returns the query for a string in a place. A string without anything matches every message; one that has
/// signs only, which no index has, matches none.
///
/// # Errors
/// `unsupportedFilter`, if it has too many words, or more than the filter may still have.
pub(super) fn search(text: &str, scope: &Scope, allowance: &mut Allowance) -> Result<Query, MethodError> {
    allowance.take(text.len(), 0)?;
    let phrases = phrases(text);
    allowance.take(0, phrases.len())?;
    if phrases.is_empty() {
        return Ok(Query::All);
    }
    let mut leaves = Vec::new();
    for phrase in &phrases {
        let words: Vec<String> =
            asked_words(phrase, scope.dot()).take(PHRASE_WORD_COUNT_MAX + 1).map(|word| word.text).collect();
        if words.len() > PHRASE_WORD_COUNT_MAX {
            return Err(too_long());
        }
        if !words.is_empty() {
            leaves.push(Query::Leaf(Leaf { target: scope.target(), matcher: matcher(words), span: 0..0 }));
        }
    }
    Ok(if leaves.is_empty() { Query::not(Query::All) } else { Query::and(leaves) })
}

/// A single character of a script without spaces is part of a pair wherever it does not stand alone.
fn matcher(words: Vec<String>) -> Matcher {
    let is_one = |word: &String| word.chars().count() == 1 && word.chars().all(is_paired_script);
    match words.as_slice() {
        [word] if is_one(word) => Matcher::Infix(word.clone()),
        _ => Matcher::Words(words),
    }
}

/// Splits a string of a client at white space, except in quotes that are matched. In quotes, a backslash
/// takes the meaning of a quote or backslash after it.
pub(crate) fn phrases(text: &str) -> Vec<String> {
    let mut phrases = Vec::new();
    let mut rest = text.trim_start();
    // A quote that nothing ends is not looked for again: a later one of its kind has no end either.
    let mut unended = Vec::new();
    while let Some(first) = rest.chars().next() {
        let is_quote = matches!(first, '\'' | '"') && !unended.contains(&first);
        let found = if is_quote { quoted(rest, first) } else { None };
        let (phrase, behind) = match found {
            Some(found) => found,
            None => {
                if is_quote {
                    unended.push(first);
                }
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                let (word, behind) = rest.split_at(end);
                (word.to_owned(), behind)
            }
        };
        if !phrase.trim().is_empty() {
            phrases.push(phrase);
        }
        rest = behind.trim_start();
    }
    phrases
}

/// Reads a phrase in quotes, up to a quote after which nothing or a space is, and returns what follows.
fn quoted(text: &str, quote: char) -> Option<(String, &str)> {
    let inside = text.strip_prefix(quote)?;
    let mut phrase = String::new();
    let mut characters = inside.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        if character == '\\'
            && let Some((_, escaped)) = characters.next_if(|(_, next)| matches!(next, '\'' | '"' | '\\'))
        {
            phrase.push(escaped);
            continue;
        }
        let behind = inside.get(at + character.len_utf8()..)?;
        if character == quote && behind.chars().next().is_none_or(char::is_whitespace) {
            return Some((phrase, behind));
        }
        phrase.push(character);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quotes_make_phrases() {
        for (text, expected) in [
            ("", &[][..]),
            ("  two  words ", &["two", "words"]),
            ("\"a phrase\" and 'another one'", &["a phrase", "and", "another one"]),
            (r#"'it\'s \\ \"so\"' x"#, &["it's \\ \"so\"", "x"]),
            ("don't 'tis", &["don't", "'tis"]),
            ("'tis the season's 'a b'", &["tis the season's 'a b"]),
            ("\"open end", &["\"open", "end"]),
            ("'' \"\" x", &["x"]),
        ] {
            assert_eq!(phrases(text), expected, "{text}");
        }
    }

    fn shown(text: &str, scope: &Scope) -> String {
        search(text, scope, &mut Allowance::default()).unwrap().to_string()
    }

    #[test]
    fn words_are_joined_by_and() {
        let subject = Scope::of(Field::Subject);
        assert_eq!(shown("Zwölf Boote", &subject), "subject:zwolf and subject:boote");
        assert_eq!(shown("'Zwölf Boote'", &subject), "subject:\"zwolf boote\"");
        assert_eq!(shown("ana@example.org", &Scope::of(Field::From)), "from:\"ana example org\"");
        let search = |text: &str| search(text, &subject, &mut Allowance::default());
        assert_eq!(search("").unwrap(), Query::All);
        assert_eq!(search("?! &").unwrap(), Query::not(Query::All));
        assert_eq!(shown("!? boat", &subject), "subject:boat");
        assert!(search(&format!("'{}'", "a ".repeat(300))).is_err());
        assert!(search(&" ".repeat(QUERY_BYTES_MAX)).is_ok());
        assert!(search(&" ".repeat(QUERY_BYTES_MAX + 1)).is_err());
    }

    #[test]
    fn all_texts_of_a_filter_have_one_limit() {
        let (subject, mut allowance) = (Scope::of(Field::Subject), Allowance::default());
        let half = "a ".repeat(TERM_COUNT_MAX / 2);
        assert!(search(&half, &subject, &mut allowance).is_ok());
        assert!(search(&half, &subject, &mut allowance).is_ok());
        assert!(search("a", &subject, &mut allowance).is_err());
    }

    /// Searching each of these quotes to the end would take minutes.
    #[test]
    fn quotes_without_an_end_are_words() {
        let text = "'a \"b ".repeat(1 << 18);
        let found = phrases(&text);
        assert_eq!((found.len(), found[0].as_str(), found[1].as_str()), (1 << 19, "'a", "\"b"));
    }

    /// The obvious twin looks for the end of each quote.
    fn phrases_naively(text: &str) -> Vec<String> {
        let (mut found, mut rest) = (Vec::new(), text.trim_start());
        while let Some(first) = rest.chars().next() {
            let quoted = Some(first).filter(|first| "'\"".contains(*first)).and_then(|_| quoted(rest, first));
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            let (phrase, behind) = quoted.unwrap_or_else(|| (rest[..end].to_owned(), &rest[end..]));
            found.extend(Some(phrase).filter(|phrase| !phrase.trim().is_empty()));
            rest = behind.trim_start();
        }
        found
    }

    /// Only words come out, in the fields that were asked for.
    fn is_plain(query: &Query) -> bool {
        match query {
            Query::All => true,
            Query::And(all) => all.iter().all(|one| matches!(one, Query::Leaf(_)) && is_plain(one)),
            Query::Not(child) => **child == Query::All,
            Query::Leaf(leaf) => {
                let is_word = |word: &String| !word.contains([' ', ':', '/', '"', '(', ')', '*']);
                let is_plain = match &leaf.matcher {
                    Matcher::Words(words) => words.iter().all(is_word),
                    Matcher::Infix(word) => is_word(word),
                    _ => false,
                };
                is_plain && leaf.target == Target::Fields(FieldSet::of(Field::Subject))
            }
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn no_text_is_read_as_syntax(
            text in "(from:|maildir:|/|\"|'|\\\\|\\*|\\(|\\)| or | not |query:|a|é|日|\\PC){0,20}",
        ) {
            let query = search(&text, &Scope::of(Field::Subject), &mut Allowance::default()).unwrap();
            prop_assert!(is_plain(&query), "{text}: {query:?}");
        }

        #[test]
        fn phrases_are_those_of_the_obvious_twin(text in "['\"\\\\ a]{0,30}") {
            prop_assert_eq!(phrases(&text), phrases_naively(&text));
        }
    }
}
