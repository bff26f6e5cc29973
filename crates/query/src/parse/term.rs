//! From a term to a leaf. Input: the value and its field. Output: a leaf that says what to look for there.
//! Knows neither operators and parentheses nor the characters of the query.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::ops::Range;

use jiff::Zoned;

use super::lex::{FieldPrefix, PrefixTarget, Shape, Value};
use super::{date, size};
use crate::ast::{Leaf, Matcher, Pattern, Query, Target};
use crate::error::{Problem, ValueError};
use crate::fields::{Field, FieldInfo, FieldSet, Kind};
use crate::flags::{FLAGS, FlagName, Priority};
use crate::fold::is_dropped;
use crate::limits::{PHRASE_WORD_COUNT_MAX, REGEX_BYTES_MAX};
use crate::near::nearest;
use crate::stem::{StemScope, Stemming};
use crate::words::{Dot, asked_words, goes_on, is_paired_script};

/// What is wrong with a term, and where in the query.
pub(crate) type TermError = (Range<usize>, Problem);

/// A synonym of `flag`; in notmuch, of `tag`. A value that is not a flag is therefore a tag.
const FLAG_OR_TAG: &str = "is";

/// Returns what a term searches for, `None` if it contains nothing to search for.
///
/// # Errors
/// Returns the problem of a value that the field does not take.
pub(crate) fn read(
    prefix: Option<&FieldPrefix>,
    value: &Value,
    span: Range<usize>,
    now: &Zoned,
    stemming: Stemming,
) -> Result<Option<Query>, TermError> {
    let leaf = |target, matcher| Ok(Some(Query::Leaf(Leaf { target, matcher, span: span.clone() })));
    let Some(prefix) = prefix else {
        if is_only_stars(value) {
            return Ok(Some(Query::All));
        }
        return match text(value, Dot::IsPart, stemming)? {
            Some(matcher) => leaf(Target::Fields(FieldSet::BARE), matcher),
            None => Ok(None),
        };
    };
    let fail = |problem| (value.span.clone(), problem);
    match &prefix.target {
        // The caller that joins terms looks it up.
        PrefixTarget::Saved => Ok(None),
        PrefixTarget::Header(name) => {
            let matcher = text(value, Dot::IsPart, stemming)?.ok_or_else(|| fail(Problem::NoWords))?;
            leaf(Target::Header(name.clone()), matcher)
        }
        PrefixTarget::Field(info) if info.kind.is_words() => {
            // In these fields a dot separates words, and users may leave out the part before it: `from:.org`,
            // `file:.pdf`.
            let has_names = info.kind == Kind::Address || info.fields.contains(Field::File);
            let dot = if has_names { Dot::Separates } else { Dot::IsPart };
            let matcher = text(value, dot, stemming)?.ok_or_else(|| fail(Problem::NoWords))?;
            leaf(Target::Fields(info.fields), matcher)
        }
        PrefixTarget::Field(info) => {
            let is_tag =
                prefix.typed.eq_ignore_ascii_case(FLAG_OR_TAG) && FlagName::from_name(&value.text).is_none();
            let info = if is_tag { Field::Tag.info() } else { info };
            let matcher = whole(prefix, info, value, now)?;
            leaf(Target::Fields(info.fields), matcher)
        }
    }
}

/// Reads a value for a field that is split into words. `None` if it has none.
fn text(value: &Value, dot: Dot, stemming: Stemming) -> Result<Option<Matcher>, TermError> {
    let fail = |problem| Err((value.span.clone(), problem));
    let &Shape::Text { stars_before, stars_behind, star_inside, has_tilde, is_quoted } = &value.shape else {
        return regex(value).map(Some);
    };
    if is_only_stars(value) {
        return Ok(Some(Matcher::Prefix { before: Vec::new(), last: String::new() }));
    }
    if star_inside {
        return fail(Problem::StarInside);
    }
    // A star before a dot means that there is something before the dot (`*.pdf`).
    let dot = if stars_before > 0 { Dot::Separates } else { dot };
    let asked = asked_words(&value.text, dot).take(PHRASE_WORD_COUNT_MAX.saturating_add(1));
    let mut found: Vec<String> = asked.map(|word| word.text).collect();
    if found.len() > PHRASE_WORD_COUNT_MAX {
        return fail(Problem::PhraseTooLong);
    }
    // A star that touches no word adds nothing (`*.pdf`), nor does one that touches text which is found by
    // any of its parts. What counts is what folding leaves: a point of vowels goes, and a number in a circle
    // can become a character of such a script.
    let touches = |character: Option<char>, folded: Option<char>| {
        character.is_some_and(char::is_alphanumeric) && !folded.is_some_and(is_paired_script)
    };
    let inner = value.text.trim_start_matches(is_dropped).trim_end_matches(|c| is_dropped(c) || goes_on(c));
    let (first, last) = (found.first(), found.last());
    let before =
        stars_before > 0 && touches(inner.chars().next(), first.and_then(|word| word.chars().next()));
    let behind = stars_behind > 0
        && touches(inner.chars().next_back(), last.and_then(|word| word.chars().next_back()));
    let is_whole = stars_before == 0 && stars_behind == 0;
    if has_tilde && (!is_whole || found.len() != 1) && !found.iter().any(|word| is_paired(word)) {
        return fail(Problem::StemOfMany);
    }
    let stems = has_tilde || (stemming.scope == StemScope::Plain && !is_quoted && !is_capital(&value.text));
    if let [word] = found.as_slice()
        && (stems && is_whole && !word.contains(['.', '+', '#']) && !is_paired(word))
    {
        return Ok(Some(Matcher::Stem { word: word.clone(), languages: stemming.languages }));
    }
    if before && found.len() > 1 {
        return fail(Problem::StarOverWords { count: found.len() });
    }
    let Some(last) = found.pop() else { return Ok(None) };
    Ok(Some(match (before, behind) {
        (true, true) => Matcher::Infix(last),
        (true, false) => Matcher::Suffix(last),
        (false, true) => Matcher::Prefix { before: found, last },
        // A single such character is indexed as a word only where it stands alone; elsewhere it is part of
        // pairs.
        (false, false) if found.is_empty() && is_one_of_a_pair(&last) => Matcher::Infix(last),
        (false, false) => {
            found.push(last);
            Matcher::Words(found)
        }
    }))
}

/// Returns whether a word is in a script without stems that is indexed in pairs.
fn is_paired(word: &str) -> bool {
    word.chars().any(is_paired_script)
}

/// Returns whether the text is probably a name, which has no stem.
fn is_capital(text: &str) -> bool {
    text.chars().find(|c| c.is_alphanumeric()).is_some_and(char::is_uppercase)
}

fn is_one_of_a_pair(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(is_paired_script) && chars.next().is_none()
}

fn regex(value: &Value) -> Result<Matcher, TermError> {
    if value.text.len() > REGEX_BYTES_MAX {
        return Err((value.span.clone(), Problem::RegexTooLong));
    }
    Ok(Matcher::Regex(value.text.clone()))
}

/// Reads a value for a field that is not split into words.
fn whole(prefix: &FieldPrefix, info: &FieldInfo, value: &Value, now: &Zoned) -> Result<Matcher, TermError> {
    let fail = |problem| (value.span.clone(), problem);
    let is_pattern = matches!(info.kind, Kind::Maildir | Kind::Path | Kind::Id | Kind::Value);
    if !is_pattern && let Some(what) = not_plain(value) {
        return Err(fail(Problem::NotForField { field: prefix.typed.clone(), what }));
    }
    match info.kind {
        Kind::Date => match date::parse(&value.text, now) {
            Ok((from, to)) => Ok(Matcher::DateRange { from, to }),
            Err(error) => Err((part(value, &error), Problem::BadDate { reason: error.reason })),
        },
        Kind::Size => match size::parse(&value.text) {
            Ok((from, to)) => Ok(Matcher::SizeRange { from, to }),
            Err(error) => Err((part(value, &error), Problem::BadSize { reason: error.reason })),
        },
        Kind::Flag => FlagName::from_name(&value.text).map(Matcher::Flag).ok_or_else(|| {
            let names =
                FLAGS.iter().flat_map(|info| std::iter::once(info.name).chain(info.synonyms.iter().copied()));
            fail(Problem::UnknownFlag { typed: value.text.clone(), nearest: nearest(&value.text, names) })
        }),
        Kind::Priority => Priority::from_name(&value.text)
            .map(Matcher::Priority)
            .ok_or_else(|| fail(Problem::UnknownPriority { typed: value.text.clone() })),
        Kind::Maildir | Kind::Path | Kind::Id | Kind::Value | Kind::Text | Kind::Address => {
            pattern(prefix, info.kind, value)
        }
    }
}

fn pattern(prefix: &FieldPrefix, kind: Kind, value: &Value) -> Result<Matcher, TermError> {
    let fail = |problem| Err((value.span.clone(), problem));
    let is_folder = matches!(kind, Kind::Maildir | Kind::Path);
    let text = value.text.as_str();
    let &Shape::Text { stars_before, stars_behind, star_inside, .. } = &value.shape else {
        let matcher = regex(value)?;
        let folder = is_folder.then(|| Matcher::Value(Pattern::WholeElseRegex(text.to_owned())));
        return Ok(folder.unwrap_or(matcher));
    };
    if star_inside {
        return fail(Problem::StarInside);
    }
    if kind == Kind::Id && text.starts_with('{') {
        return fail(Problem::Unsupported { what: "a query in braces".to_owned() });
    }
    if text.is_empty() && stars_behind == 0 && !is_folder {
        return fail(Problem::MissingValue { field: prefix.typed.clone() });
    }
    let is_below =
        is_folder && stars_before == 0 && stars_behind > 1 && (text.is_empty() || text.ends_with('/'));
    Ok(Matcher::Value(match (stars_before > 0, stars_behind > 0) {
        _ if is_below => Pattern::Below(folder_name(kind, text)),
        (false, false) if is_folder => Pattern::Whole(folder_name(kind, text)),
        (false, false) if kind == Kind::Id => Pattern::Whole(without_brackets(text).to_owned()),
        (false, false) => Pattern::Whole(text.to_owned()),
        (false, true) if kind == Kind::Maildir && !text.is_empty() => {
            Pattern::Start(format!("/{}", text.trim_start_matches('/')))
        }
        (false, true) => Pattern::Start(text.to_owned()),
        (true, false) => Pattern::End(text.to_owned()),
        (true, true) => Pattern::Anywhere(text.to_owned()),
    }))
}

/// Returns the folder as `Pattern` expects it: a maildir begins with a slash, or with a colon if it is named
/// by its role; neither ends with a slash.
fn folder_name(kind: Kind, text: &str) -> String {
    let trimmed = text.trim_end_matches('/');
    match kind {
        Kind::Maildir if trimmed.starts_with(':') => trimmed.to_owned(),
        Kind::Maildir => format!("/{}", trimmed.trim_start_matches('/')),
        _ if trimmed.is_empty() && !text.is_empty() => "/".to_owned(),
        _ => trimmed.to_owned(),
    }
}

fn without_brackets(id: &str) -> &str {
    id.strip_prefix('<').and_then(|id| id.strip_suffix('>')).filter(|id| !id.is_empty()).unwrap_or(id)
}

fn is_only_stars(value: &Value) -> bool {
    value.text.is_empty() && matches!(value.shape, Shape::Text { stars_behind, .. } if stars_behind > 0)
}

pub(crate) fn not_plain(value: &Value) -> Option<&'static str> {
    match value.shape {
        Shape::Regex => Some("regular expression"),
        Shape::Text { stars_before: 0, stars_behind: 0, star_inside: false, .. } => None,
        Shape::Text { .. } => Some("\"*\""),
    }
}

/// Returns the place of a wrong part, or of the whole value where quotes or escapes blur it.
fn part(value: &Value, error: &ValueError) -> Range<usize> {
    if value.span.len() == value.text.len() && !error.span.is_empty() {
        let start = value.span.start.saturating_add(error.span.start);
        start..start.saturating_add(error.span.len())
    } else {
        value.span.clone()
    }
}
