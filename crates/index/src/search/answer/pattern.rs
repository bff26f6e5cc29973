//! Converts the pattern of a leaf to a test of one value.
//!
//! Input: a matcher. Output: a test of the bytes of a word, a name or another value. Must not know where
//! values come from.

use crate::error::{Error, Result};
use crate::text::{WordTest, test_each, word_around};
use memchr::memmem::Finder;
use query::fold::fold;
use query::{Family, Leaf, Matcher, Pattern};
use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{
    Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look,
};
use std::ops::Range;

/// A test of a word or of a whole value. Each thread that tests many values takes its own clone, which has
/// its own memory.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    /// This value.
    Whole(String),
    /// Values that begin with this.
    Start(String),
    /// Values that end with this.
    End(String),
    /// Values that contain this.
    Holds(Box<Finder<'static>>),
    /// This directory, written without a trailing slash, and everything below it.
    Below(String),
    /// Words with the same stem. The tested value is what follows the letters that all of them begin with.
    Stem(Box<Family>),
    /// Values in which this matches.
    Regex(Box<Expression>),
}

/// A regular expression, for single values and for many at once.
#[derive(Clone, Debug)]
pub(super) struct Expression {
    /// Searches one value.
    value: Regex,
    /// Searches many values at once, one per line. `None` if that was not prepared, or if the expression has
    /// an anchor for the start or end of the whole text.
    lines: Option<Regex>,
}

impl Wanted {
    /// Returns whether a value is wanted.
    pub(super) fn is_match(&self, value: &[u8]) -> bool {
        match self {
            Wanted::Whole(whole) => value == whole.as_bytes(),
            Wanted::Start(start) => value.starts_with(start.as_bytes()),
            Wanted::End(end) => value.ends_with(end.as_bytes()),
            Wanted::Holds(part) => part.find(value).is_some(),
            Wanted::Below(name) => is_below(value, name.as_bytes()),
            Wanted::Stem(family) => is_of_family(family, value),
            Wanted::Regex(expression) => expression.value.is_match(value),
        }
    }

    /// Returns whether values are tested unchanged instead of folded.
    pub(super) fn is_regex(&self) -> bool {
        matches!(self, Wanted::Regex(_))
    }
}

impl WordTest for Wanted {
    fn likes(&self, word: &[u8]) -> bool {
        self.is_match(word)
    }

    fn find_all(&self, words: &[u8], each: &mut dyn FnMut(Range<usize>)) {
        match self {
            // No word contains a line feed.
            Wanted::Holds(part) if part.needle().contains(&b'\n') => {}
            Wanted::Holds(part) => find_many(words, |rest| part.find(rest), each),
            Wanted::Regex(expression) if let Some(lines) = &expression.lines => {
                find_many(words, |rest| lines.find(rest).map(|found| found.start()), each);
            }
            _ => test_each(words, 0..words.len(), |word| self.is_match(word), each),
        }
    }
}

/// Finds words by searching all of them at once. `find` finds the first match in the remaining words. No
/// match extends over the end of a word.
fn find_many(words: &[u8], find: impl Fn(&[u8]) -> Option<usize>, each: &mut dyn FnMut(Range<usize>)) {
    let mut start = 0;
    while let Some(found) = words.get(start..).filter(|rest| !rest.is_empty()).and_then(&find) {
        let place = start + found;
        if place >= words.len() {
            break;
        }
        let word = word_around(words, place);
        start = word.end + 1;
        each(word);
    }
}

impl Wanted {
    /// Prepares for testing many words at once.
    pub(super) fn for_many(self) -> Wanted {
        match self {
            Wanted::Regex(mut expression) => {
                expression.lines = of_lines(expression.value.as_str());
                Wanted::Regex(expression)
            }
            other => other,
        }
    }
}

/// How values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// Ignoring case and diacritics. Values are already folded.
    Folded,
    /// Byte by byte.
    Exact,
}

impl Spelling {
    /// Converts a value in a query to the stored form.
    pub(crate) fn apply(self, value: &str) -> String {
        match self {
            Spelling::Folded => fold(value).into_owned(),
            Spelling::Exact => value.to_owned(),
        }
    }
}

/// Returns the test for the matcher of a leaf. `is_known` says whether a value exists; a pattern equal to an
/// existing value stands for that value.
///
/// # Errors
/// An invalid or too large regular expression.
pub(super) fn wanted(leaf: &Leaf, spelling: Spelling, is_known: impl Fn(&str) -> bool) -> Result<Wanted> {
    Ok(match &leaf.matcher {
        Matcher::Suffix(end) => Wanted::End(end.clone()),
        Matcher::Infix(part) => holds(part),
        Matcher::Regex(source) => regex(leaf, source)?,
        Matcher::Value(pattern) => match pattern {
            Pattern::Whole(value) => Wanted::Whole(spelling.apply(value)),
            Pattern::Start(start) => Wanted::Start(spelling.apply(start)),
            Pattern::End(end) => Wanted::End(spelling.apply(end)),
            Pattern::Anywhere(part) => holds(&spelling.apply(part)),
            Pattern::Below(name) => Wanted::Below(spelling.apply(name).trim_end_matches('/').to_owned()),
            Pattern::WholeElseRegex(source) => {
                let name = spelling.apply(&format!("/{}", source.trim_matches('/')));
                if is_known(&name) { Wanted::Whole(name) } else { regex(leaf, source)? }
            }
        },
        _ => return Err(unanswerable(leaf, "this form of value")),
    })
}

/// Returns whether a word has a stem, given the part of the word after the letters that all words of the stem
/// begin with.
fn is_of_family(family: &Family, rest: &[u8]) -> bool {
    str::from_utf8(rest).is_ok_and(|rest| family.holds(&[family.begin(), rest].concat()))
}

/// Returns whether a path is a directory or lies below it. The directory has no trailing slash.
pub(super) fn is_below(path: &[u8], directory: &[u8]) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
}

/// Returns the error for a leaf that has no answer.
pub(super) fn unanswerable(leaf: &Leaf, what: &str) -> Error {
    Error::Query { span: leaf.span.clone(), what: format!("{what} cannot be searched"), remedy: None }
}

fn holds(part: &str) -> Wanted {
    Wanted::Holds(Box::new(Finder::new(part).into_owned()))
}

fn regex(leaf: &Leaf, source: &str) -> Result<Wanted> {
    let built = RegexBuilder::new(source).case_insensitive(true).build();
    let value = built.map_err(|error| {
        // The first lines repeat the expression; the last one has the reason.
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
        let place = wrong_part(source).map_or(String::new(), |part| format!(", at \"{part}\""));
        Error::Query {
            span: leaf.span.clone(),
            what: format!("the regular expression cannot be used: {reason}{place}"),
            remedy: None,
        }
    })?;
    Ok(Wanted::Regex(Box::new(Expression { value, lines: None })))
}

/// Returns the end of a regular expression that begins where it is wrong.
fn wrong_part(source: &str) -> Option<&str> {
    let offset = match regex_syntax::parse(source).err()? {
        regex_syntax::Error::Parse(error) => error.span().start.offset,
        regex_syntax::Error::Translate(error) => error.span().start.offset,
        _ => return None,
    };
    source.get(offset..)
}

/// Returns the expression for many values, one per line. Returns `None` if it has an anchor for the start or
/// end of the whole text.
fn of_lines(source: &str) -> Option<Regex> {
    let mut parser = ParserBuilder::new().case_insensitive(true).multi_line(true).utf8(false).build();
    let parsed = parser.parse(source).ok()?;
    let looks = parsed.properties().look_set();
    if looks.contains(Look::Start) || looks.contains(Look::End) {
        return None;
    }
    Regex::new(&within_lines(parsed).to_string()).ok()
}

/// Returns an expression with the same matches, except that none contains a line feed. A match that continues
/// into the next line would match neither value, might hide another match, and would take as long as all
/// lines together.
fn within_lines(expression: Hir) -> Hir {
    match expression.into_kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => Hir::fail(),
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Class(Class::Unicode(mut class)) => {
            class.difference(&ClassUnicode::new([ClassUnicodeRange::new('\n', '\n')]));
            Hir::class(Class::Unicode(class))
        }
        HirKind::Class(Class::Bytes(mut class)) => {
            class.difference(&ClassBytes::new([ClassBytesRange::new(b'\n', b'\n')]));
            Hir::class(Class::Bytes(class))
        }
        HirKind::Look(look) => Hir::look(look),
        HirKind::Repetition(mut repetition) => {
            repetition.sub = Box::new(within_lines(*repetition.sub));
            Hir::repetition(repetition)
        }
        HirKind::Capture(mut capture) => {
            capture.sub = Box::new(within_lines(*capture.sub));
            Hir::capture(capture)
        }
        HirKind::Concat(parts) => Hir::concat(parts.into_iter().map(within_lines).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.into_iter().map(within_lines).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use query::{Field, FieldSet, Target};

    fn test(matcher: Matcher) -> Wanted {
        let leaf = Leaf { target: Target::Fields(FieldSet::of(Field::Tag)), matcher, span: 0..1 };
        wanted(&leaf, Spelling::Folded, |name| name == "/known").unwrap()
    }

    #[test]
    fn values_are_tested() {
        let value = |pattern| Matcher::Value(pattern);
        for (matcher, yes, no) in [
            (value(Pattern::Whole("Ärger".into())), "arger", "argere"),
            (value(Pattern::Start("Ä".into())), "arger", "barger"),
            (value(Pattern::End("ER".into())), "arger", "argere"),
            (value(Pattern::Anywhere("RG".into())), "arger", "ager"),
            (value(Pattern::Below("/A/".into())), "/a/b", "/ab"),
            (value(Pattern::Below("/".into())), "/a", "a"),
            (value(Pattern::WholeElseRegex("known".into())), "/known", "/known/x"),
            (value(Pattern::WholeElseRegex("other".into())), "/another", "/known"),
            (Matcher::Suffix("er".into()), "arger", "argere"),
            (Matcher::Infix("rg".into()), "arger", "ager"),
            (Matcher::Regex("^A.*R$".into()), "arger", "barger"),
        ] {
            assert!(test(matcher.clone()).is_match(yes.as_bytes()), "{matcher:?}");
            assert!(!test(matcher.clone()).is_match(no.as_bytes()), "{matcher:?}");
        }
    }

    #[test]
    fn a_wrong_expression_is_shown_from_the_place_that_is_wrong() {
        for (source, expected) in [
            ("a(b[c", "unclosed character class, at \"[c\""),
            ("a(b", "unclosed group, at \"(b\""),
            ("a)b", "unopened group, at \")b\""),
            (r"a\p{Klingon}", r#"Unicode property not found, at "\p{Klingon}""#),
        ] {
            let matcher = Matcher::Regex(source.into());
            let leaf = Leaf { target: Target::Fields(FieldSet::of(Field::Tag)), matcher, span: 0..1 };
            let error = wanted(&leaf, Spelling::Folded, |_| false).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn many_words_at_once_are_tested_as_each_alone() {
        let words = ["", "a", "ab", "abba", "b a", "bab", "fo", "foo", "ofo", "zürich", "\u{e9}a", "a\ta"];
        let text: Vec<u8> = words.iter().flat_map(|word| [word.as_bytes(), b"\n"].concat()).collect();
        let expressions = [
            "a",
            "^a",
            "a$",
            "^a$",
            "^$",
            "$",
            "^",
            "",
            "x*",
            "b.*a",
            r"\s",
            r"\sa",
            "[^b]a",
            "(?s)a.b",
            "(?s).*",
            r"\Aa",
            r"a\z",
            "(?-m)^a",
            "(?-m)a$",
            r"\bfo",
            r"fo\b",
            r"\Bfo",
            "ü",
            "fo+",
            "A",
            r"\W",
            "a(?:\n|$)",
            "(a|b)[^x](b|f)",
            r"[^\n]",
            r"\D{3}",
        ];
        let mut matchers: Vec<Matcher> = expressions.map(|source| Matcher::Regex(source.into())).into();
        matchers.extend(["a", "ba", "ü", "zz"].map(|part| Matcher::Infix(part.into())));
        matchers.extend(["a", ""].map(|end| Matcher::Suffix(end.into())));
        for matcher in matchers {
            let wanted = test(matcher.clone()).for_many();
            let expected: Vec<&str> =
                words.iter().copied().filter(|word| wanted.is_match(word.as_bytes())).collect();
            let mut found = Vec::new();
            wanted.find_all(&text, &mut |word| found.push(str::from_utf8(&text[word]).unwrap()));
            assert_eq!(found, expected, "{matcher:?}");
        }
    }
}
