//! Completes a query that the user types: the name of a field, or a value after it.
//!
//! Input: the word at the cursor, which may hold a whole query. Output: that word with its last term finished
//! in every possible way. Values are escaped as the query language wants it. The caller knows which values
//! there are.

use crate::cursor::term_at;
use crate::fields::{self, FIELDS, Field, FieldSet, SAVED};
use crate::flags::{FLAGS, Priority};

/// Dates that people look for.
const DATES: [&str; 11] = [
    "today",
    "yesterday",
    "this_week",
    "last_week",
    "this_month",
    "last_month",
    "this_year",
    "last_year",
    "1w..",
    "1m..",
    "1y..",
];

/// Sizes that people look for.
const SIZES: [&str; 4] = ["10k..", "100k..", "1M..", "10M.."];

/// The values that a mailbox knows. Each list is asked for when it is needed.
pub trait Values {
    /// Returns the tags.
    fn tags(&self) -> Vec<String>;
    /// Returns the folders as people read them: they begin with a slash.
    fn folders(&self) -> Vec<String>;
    /// Returns the names of folders by their roles: `:archive`.
    fn roles(&self) -> Vec<String> {
        Vec::new()
    }
    /// Returns the directories of folders below their roots, without a slash at the beginning.
    fn directories(&self) -> Vec<String>;
    /// Returns the names of saved queries.
    fn saved_queries(&self) -> Vec<String>;
    /// Returns the header fields that are searched, too.
    fn headers(&self) -> Vec<String>;
    /// Returns the groups and kinds of problems.
    fn problems(&self) -> Vec<String>;
    /// Returns some people whose name or address has these words, the most likely first: each with the name,
    /// which may be empty, and the address.
    fn people(&self, words: &str) -> Vec<(String, String)> {
        let _ = words;
        Vec::new()
    }
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The name of a field.
    Field,
    /// A flag.
    Flag,
    /// A person's address.
    Person,
    /// A folder, or a directory of folders.
    Folder,
    /// A tag.
    Tag,
    /// The name of a saved query.
    SavedQuery,
    /// A date, or a range of dates.
    Date,
    /// Another value.
    Value,
}

/// A way to go on with a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The word at the cursor, with its last term finished.
    pub text: String,
    /// Whether the word ends here, so that a space may follow.
    pub is_whole: bool,
    /// What the last term stands for; may be empty.
    pub about: String,
}

/// Returns the completions of `word`.
pub fn complete(word: &str, known: &dyn Values) -> Vec<Completion> {
    let (before, term) = last_term(word);
    let completion = |text: String, is_whole: bool, about: String| Completion { text, is_whole, about };
    let Some((name, typed)) = term.split_once(':') else {
        let fields = field_names(term, known).into_iter();
        return fields.map(|(name, about)| completion(format!("{before}{name}:"), false, about)).collect();
    };
    values(name, typed, known)
        .into_iter()
        .map(|(value, about)| completion(format!("{before}{name}:{value}"), true, about))
        .collect()
}

/// Splits a query before its last term, which may still be open. A dash before it belongs to what is before.
fn last_term(word: &str) -> (&str, &str) {
    word.split_at(term_at(word, word.len()).start)
}

/// Returns the names of fields with this beginning, with their descriptions. A field's other names are
/// offered only if its first name does not fit.
pub(crate) fn field_names(beginning: &str, known: &dyn Values) -> Vec<(String, String)> {
    let fits = |name: &&str| name.starts_with(beginning);
    let mut found: Vec<(String, String)> = FIELDS
        .iter()
        .filter_map(|info| {
            let mut all = std::iter::once(info.name).chain(info.synonyms.iter().copied());
            Some((all.find(fits)?.to_owned(), info.description.replace('`', "")))
        })
        .collect();
    if SAVED.starts_with(beginning) {
        found.push((SAVED.to_owned(), "a saved query".to_owned()));
    }
    let headers = known.headers().into_iter().filter(|name| name.starts_with(beginning));
    found.extend(headers.map(|name| (name, "header".to_owned())));
    found
}

/// Returns the values of a field, written so that they begin with what was typed where they can.
fn values(name: &str, typed: &str, known: &dyn Values) -> Vec<(String, String)> {
    let write = |Value { value, after, about, .. }: Value| (written(&value, typed) + after, about);
    values_of(name, typed, known).into_iter().map(write).collect()
}

/// What can come after a field's colon.
pub(crate) struct Value {
    /// What it is.
    pub(crate) kind: Kind,
    /// The value itself.
    pub(crate) value: String,
    /// What follows it, with a meaning of its own.
    pub(crate) after: &'static str,
    /// What it stands for; may be empty.
    pub(crate) about: String,
}

/// Returns the values of a field. Those of folders depend on how they are typed: by role, or with a slash.
pub(crate) fn values_of(name: &str, typed: &str, known: &dyn Values) -> Vec<Value> {
    let plain = |kind, values: Vec<String>| {
        let plain = move |value| Value { kind, value, after: "", about: String::new() };
        values.into_iter().map(plain).collect::<Vec<_>>()
    };
    let listed =
        |kind, values: &[&str]| plain(kind, values.iter().map(|value| (*value).to_owned()).collect());
    if name.eq_ignore_ascii_case(SAVED) {
        return plain(Kind::SavedQuery, known.saved_queries());
    }
    let Some(info) = fields::find(name) else { return Vec::new() };
    let is = |field| info.fields == FieldSet::of(field);
    if is(Field::Tag) {
        plain(Kind::Tag, known.tags())
    } else if is(Field::Flag) {
        let flags = FLAGS.iter().map(|flag| {
            let about = flag.description.replace('`', "");
            Value { kind: Kind::Flag, value: flag.name.to_owned(), after: "", about }
        });
        let tags = if name.eq_ignore_ascii_case("is") { known.tags() } else { Vec::new() };
        flags.chain(plain(Kind::Tag, tags)).collect()
    } else if is(Field::Maildir) {
        let by_role = typed.trim_start_matches('"').starts_with(':');
        plain(Kind::Folder, if by_role { known.roles() } else { folders(known.folders(), typed) })
    } else if is(Field::Path) {
        let below = |value: String| {
            let after = if value.is_empty() { "**" } else { "/**" };
            Value { kind: Kind::Folder, value, after, about: String::new() }
        };
        let is_plain = !typed.starts_with('"');
        known.directories().into_iter().filter(|_| is_plain).map(below).collect()
    } else if is(Field::Priority) {
        listed(Kind::Value, &Priority::ALL.map(Priority::name))
    } else if is(Field::Problem) {
        let mut kinds = known.problems();
        kinds.sort_unstable();
        kinds.dedup();
        plain(Kind::Value, kinds)
    } else if is(Field::Date) || is(Field::Changed) {
        listed(Kind::Date, &DATES)
    } else if is(Field::Size) {
        listed(Kind::Value, &SIZES)
    } else {
        Vec::new()
    }
}

/// Returns folders as they are typed: without the slash before them if it was left out.
fn folders(names: Vec<String>, typed: &str) -> Vec<String> {
    let bare = typed.trim_start_matches('"');
    if bare.is_empty() || bare.starts_with(['/', '\\']) {
        return names;
    }
    names.iter().filter_map(|name| Some(name.strip_prefix('/')?.to_owned())).collect()
}

/// Writes a value for a query: in quotation marks if that is how it was begun, else with backslashes, so that
/// it begins as it was typed.
pub(crate) fn written(value: &str, typed: &str) -> String {
    let is_quoted = typed.starts_with('"');
    let mut text = String::from(if is_quoted { "\"" } else { "" });
    let is_like_regex = value.len() > 1 && value.starts_with('/') && value.ends_with('/');
    for (at, character) in value.char_indices() {
        let is_special = match character {
            '"' | '\\' | '*' => true,
            '/' => is_like_regex && at == 0,
            '(' | ')' => !is_quoted,
            _ => character.is_whitespace() && !is_quoted,
        };
        text.extend(is_special.then_some('\\'));
        text.push(character);
    }
    text.extend(is_quoted.then_some('"'));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, Leaf, Matcher, Pattern, Query, Stemming, parse};
    use std::collections::BTreeMap;

    #[test]
    fn the_last_term_is_what_follows_space_and_parentheses() {
        for (word, expected) in [
            ("", ("", "")),
            ("ta", ("", "ta")),
            ("-ta", ("-", "ta")),
            ("a-b", ("", "a-b")),
            ("from:ana (tag:x or not ma", ("from:ana (tag:x or not ", "ma")),
            ("tag:\"a b", ("", "tag:\"a b")),
            ("tag:\"a b\" fo", ("tag:\"a b\" ", "fo")),
            (r"tag:a\ b", ("", r"tag:a\ b")),
            (r#"a:"\" b" c"#, (r#"a:"\" b" "#, "c")),
        ] {
            assert_eq!(last_term(word), expected, "{word}");
        }
    }

    #[test]
    fn values_mean_themselves_in_a_query() {
        let context = Context {
            now: "2024-03-15T12:30:45+00:00[UTC]".parse().unwrap(),
            headers: Vec::new(),
            queries: BTreeMap::new(),
            stemming: Stemming::default(),
        };
        for value in [
            "work",
            "a b",
            "$(touch x)",
            "a\"b",
            "a\\b",
            "*",
            "a*",
            "(a",
            "-a",
            "/a/b",
            "größe",
            "a:b",
            "~a",
            "or",
            "a\u{a0}b",
            "\\",
            "/ x/ y",
        ] {
            for typed in ["", "\""] {
                let query = parse(&format!("tag:{}", written(value, typed)), &context);
                let Ok(Query::Leaf(Leaf { matcher: Matcher::Value(Pattern::Whole(meant)), .. })) = &query
                else {
                    panic!("{value} {typed}: {query:?}")
                };
                assert_eq!(meant, value, "{typed}");
            }
        }
    }

    #[test]
    fn folders_are_typed_with_or_without_the_slash() {
        let names = || vec!["/".to_owned(), "/lists".to_owned()];
        assert_eq!(folders(names(), ""), ["/", "/lists"]);
        assert_eq!(folders(names(), "\"/l"), ["/", "/lists"]);
        assert_eq!(folders(names(), "li"), ["", "lists"]);
    }
}
