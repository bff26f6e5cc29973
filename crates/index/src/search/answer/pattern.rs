//! Turns what a leaf looks for into a test of one value.
//!
//! In: a matcher. Out: a test of the bytes of a word, a name or another value. Must not know where values
//! come from.

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

/// Says whether a value, a word or a whole one, is wanted. A thread that tests many takes a clone: each has
/// memory of its own.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    /// This value.
    Whole(String),
    /// Values that begin so.
    Start(String),
    /// Values that end so.
    End(String),
    /// Values that hold this.
    Holds(Box<Finder<'static>>),
    /// This directory, written without a slash behind, and all below it.
    Below(String),
    /// Words of one stem; a value is what stands behind the letters that all of them begin with.
    Stem(Box<Family>),
    /// Values in which this is found.
    Regex(Box<Expression>),
}

/// A regular expression, for one value and for many.
#[derive(Clone, Debug)]
pub(super) struct Expression {
    /// Searches one value.
    value: Regex,
    /// Searches values one behind the other, each a line; `None` if that was not asked for, or the expression
    /// asks where all text begins or ends.
    lines: Option<Regex>,
}

impl Wanted {
    /// Says whether a value is wanted.
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

    /// Says whether values are wanted as they are, and not folded.
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
            // No word holds a line feed.
            Wanted::Holds(part) if part.needle().contains(&b'\n') => {}
            Wanted::Holds(part) => find_many(words, |rest| part.find(rest), each),
            Wanted::Regex(expression) if let Some(lines) = &expression.lines => {
                find_many(words, |rest| lines.find(rest).map(|found| found.start()), each);
            }
            _ => test_each(words, 0..words.len(), |word| self.is_match(word), each),
        }
    }
}

/// Finds words by a search through all of them at once. `find` finds the first match in the rest of the
/// words; no match reaches over a word's end.
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
    /// Prepares for words one behind the other.
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
    /// Without case and diacritics: values are folded already.
    Folded,
    /// Byte by byte.
    Exact,
}

impl Spelling {
    /// Returns a value of a query as values are kept.
    pub(crate) fn apply(self, value: &str) -> String {
        match self {
            Spelling::Folded => fold(value).into_owned(),
            Spelling::Exact => value.to_owned(),
        }
    }
}

/// Returns the test that a leaf's matcher asks for. `is_known` says whether a value exists, for patterns that
/// are then that value.
///
/// # Errors
/// A regular expression that is none, or too large.
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

/// Says whether a word has a stem, from what stands behind the letters that all words of that stem begin
/// with.
fn is_of_family(family: &Family, rest: &[u8]) -> bool {
    str::from_utf8(rest).is_ok_and(|rest| family.holds(&[family.begin(), rest].concat()))
}

/// Says whether a path is a directory or lies below it. The directory is written without a slash behind.
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
        // The first lines repeat the expression, the last one says what is wrong with it.
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
        Error::Query {
            span: leaf.span.clone(),
            what: format!("the regular expression cannot be used: {reason}"),
            remedy: None,
        }
    })?;
    Ok(Wanted::Regex(Box::new(Expression { value, lines: None })))
}

/// Returns the expression for values that lie one behind the other as lines; `None` if it asks where all text
/// begins or ends.
fn of_lines(source: &str) -> Option<Regex> {
    let mut parser = ParserBuilder::new().case_insensitive(true).multi_line(true).utf8(false).build();
    let parsed = parser.parse(source).ok()?;
    let looks = parsed.properties().look_set();
    if looks.contains(Look::Start) || looks.contains(Look::End) {
        return None;
    }
    Regex::new(&within_lines(parsed).to_string()).ok()
}

/// Returns an expression that matches what this one does, but no line feed: a match that goes on into the
/// next line is a match of neither, may hide one, and takes as long as all lines together.
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
