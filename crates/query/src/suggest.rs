//! Suggests what can be typed at a place of a query: for a page, which has room for more than a shell.
//!
//! Input: a query, the place of the cursor, and what a mailbox knows. Output: what may stand there, as texts
//! that replace a part of the query. Where no field is named yet, values of several fields are suggested with
//! their fields. The caller knows which values there are.

use crate::complete::{Kind, Value, Values, field_names, values_of, written};
use crate::cursor::term_at;
use crate::fields::{self, is_name_character};
use crate::fold::fold;
use std::ops::Range;

/// Something that may stand at the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// What it is.
    pub kind: Kind,
    /// What people call it: `from:`, `/lists/rust`, `Ana Ito`.
    pub label: String,
    /// What it stands for, or a person's address; may be empty.
    pub about: String,
    /// What replaces the range.
    pub text: String,
    /// What is replaced, in bytes of the query.
    pub range: Range<usize>,
}

/// The fields whose values are suggested where no field is named.
const BARE: [&str; 5] = ["from", "maildir", "tag", fields::SAVED, "flag"];

/// Returns at most so many suggestions. Values that begin with what was typed come first, then those that
/// have it in them; people stay in their order. Of several kinds, each gets its share.
pub fn suggest(query: &str, at: usize, count_max: usize, known: &dyn Values) -> Vec<Suggestion> {
    let term = term_at(query, at);
    let at = at.clamp(term.start, query.len());
    let typed = query.get(term.start..at).unwrap_or_default();
    let range = term.start..term.end;
    let groups = match (term.outer, typed.split_once(':')) {
        (Some(field), _) => vec![values(field, ("", typed), &range, known)],
        (None, Some((field, value))) => {
            let before = typed.get(..=field.len()).unwrap_or_default();
            vec![values(field, (before, value), &range, known)]
        }
        (None, None) => {
            let rest = query.get(at..term.end).unwrap_or_default();
            let mut groups = vec![names(typed, term.start..at + name_end(rest), known)];
            if !plain(typed).is_empty() {
                let of = |field: &&str| values(field, (&format!("{field}:"), typed), &range, known);
                groups.extend(BARE.iter().map(of));
            }
            groups
        }
    };
    shared(groups, count_max)
}

/// Returns where a name of a field ends, with its colon; if there is none, where the text ends.
fn name_end(rest: &str) -> usize {
    match rest.find(|character| !is_name_character(character)) {
        Some(end) if rest.get(end..).is_some_and(|rest| rest.starts_with(':')) => end + 1,
        _ => rest.len(),
    }
}

fn names(typed: &str, range: Range<usize>, known: &dyn Values) -> Vec<Suggestion> {
    let suggestion = |(name, about): (String, String)| {
        let text = format!("{name}:");
        Suggestion { kind: Kind::Field, label: text.clone(), about, text, range: range.clone() }
    };
    field_names(&typed.to_lowercase(), known).into_iter().map(suggestion).collect()
}

/// Returns values of a field that have in them what was typed; `before` is written before them.
fn values(
    field: &str,
    (before, typed): (&str, &str),
    range: &Range<usize>,
    known: &dyn Values,
) -> Vec<Suggestion> {
    let needle = plain(typed);
    let folded = fold(&needle);
    // Folders have their slash whether or not it was typed.
    let manner = if needle.starts_with(':') { ":" } else { "" };
    let mut found: Vec<(u8, Suggestion)> = values_of(field, manner, known)
        .into_iter()
        .filter_map(|value| Some((rank(&fold(&value.value), &folded)?, value)))
        .map(|(rank, Value { kind, value, after, about })| {
            let text = format!("{before}{}{after}", quoted(&value, after));
            let label = format!("{value}{after}");
            (rank, Suggestion { kind, label, about, text, range: range.clone() })
        })
        .collect();
    found.sort_by_key(|(rank, _)| *rank);
    let has_people = fields::find(field).is_some_and(|info| info.kind == fields::Kind::Address);
    let people = if has_people { known.people(&needle) } else { Vec::new() };
    let person = |(name, address): (String, String)| {
        let text = format!("{before}{}", quoted(&address, ""));
        let label = if name.is_empty() { address.clone() } else { name };
        Suggestion { kind: Kind::Person, label, about: address, text, range: range.clone() }
    };
    found.into_iter().map(|(_, suggestion)| suggestion).chain(people.into_iter().map(person)).collect()
}

/// Returns what was typed, without marks that only protect it.
fn plain(typed: &str) -> String {
    let mut plain = String::with_capacity(typed.len());
    let mut characters = typed.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => {}
            '\\' => plain.extend(characters.next()),
            _ => plain.push(character),
        }
    }
    plain
}

/// Returns how well a value fits: it begins with what is looked for, a part of it does, or it has it
/// somewhere.
fn rank(value: &str, needle: &str) -> Option<u8> {
    let before = value.get(..value.find(needle)?)?;
    if before.is_empty() {
        return Some(0);
    }
    let is_part = |(place, _): (usize, &str)| {
        value.get(..place).is_some_and(|before| before.ends_with(|last: char| !last.is_alphanumeric()))
    };
    Some(if value.match_indices(needle).any(is_part) { 1 } else { 2 })
}

/// Writes a value for a query, in quotation marks if it needs them.
fn quoted(value: &str, after: &str) -> String {
    let has_marks = value.contains(|character: char| character.is_whitespace() || "()".contains(character));
    // In quotation marks, what follows would be part of the value.
    written(value, if has_marks && after.is_empty() { "\"" } else { "" })
}

/// Takes of each group in turn until there are enough, and keeps their order.
fn shared(groups: Vec<Vec<Suggestion>>, count_max: usize) -> Vec<Suggestion> {
    let mut counts = vec![0; groups.len()];
    let mut left = count_max;
    loop {
        let before = left;
        for (count, group) in counts.iter_mut().zip(&groups) {
            if left > 0 && *count < group.len() {
                *count += 1;
                left -= 1;
            }
        }
        if left == before || left == 0 {
            break;
        }
    }
    groups.into_iter().zip(counts).flat_map(|(group, count)| group.into_iter().take(count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, Stemming, parse};

    struct Known;

    impl Values for Known {
        fn tags(&self) -> Vec<String> {
            ["board", "a b", "x\"y", "rust"].map(str::to_owned).to_vec()
        }
        fn folders(&self) -> Vec<String> {
            ["/", "/lists/rust", "/Old (2024)", "/Entwürfe"].map(str::to_owned).to_vec()
        }
        fn roles(&self) -> Vec<String> {
            vec![":archive".to_owned(), ":trash".to_owned()]
        }
        fn directories(&self) -> Vec<String> {
            ["", "lists/rust", "a b"].map(str::to_owned).to_vec()
        }
        fn saved_queries(&self) -> Vec<String> {
            vec!["team".to_owned(), "unread".to_owned()]
        }
        fn headers(&self) -> Vec<String> {
            vec!["x-project".to_owned()]
        }
        fn problems(&self) -> Vec<String> {
            vec!["date".to_owned(), "charset".to_owned()]
        }
        fn people(&self, words: &str) -> Vec<(String, String)> {
            let people = [("Bo Rust", "bo@example.org"), ("", "ru@example.org")];
            let has =
                |(name, address): &(&str, &str)| format!("{name} {address}").to_lowercase().contains(words);
            let own = |(name, address): (&str, &str)| (name.to_owned(), address.to_owned());
            people.into_iter().filter(has).map(own).collect()
        }
    }

    /// Returns the query after each suggestion; `|` is the cursor.
    fn after(text: &str, count_max: usize) -> Vec<String> {
        let at = text.find('|').unwrap();
        let query = text.replacen('|', "", 1);
        let replaced = |suggestion: Suggestion| {
            let mut query = query.clone();
            query.replace_range(suggestion.range, &suggestion.text);
            query
        };
        suggest(&query, at, count_max, &Known).into_iter().map(replaced).collect()
    }

    #[test]
    fn a_word_is_a_field_or_a_value_of_several() {
        assert_eq!(after("hello fr|", 9), ["hello from:"]);
        assert_eq!(after("Fr|om:ana", 9), ["from:ana"]);
        assert_eq!(after("x-|", 9), ["x-project:"]);
        assert_eq!(
            after("not ru|st or x", 9),
            [
                "not from:bo@example.org or x",
                "not from:ru@example.org or x",
                "not maildir:/lists/rust or x",
                "not tag:rust or x",
            ]
        );
        assert_eq!(after("-unr|", 9), ["-query:unread", "-flag:unread"]);
        assert_eq!(after("entwurfe|", 9), ["maildir:/Entwürfe"]);
        let all = after("|", 99);
        assert_eq!((all.len(), all[0].as_str()), (fields::FIELDS.len() + 2, "from:"));
        assert_eq!(after("|", 3), ["from:", "to:", "cc:"]);
    }

    #[test]
    fn each_kind_gets_its_share() {
        let kinds = |text: &str, count_max| {
            suggest(text, text.len(), count_max, &Known).into_iter().map(|one| one.kind).collect::<Vec<_>>()
        };
        assert_eq!(kinds("ru", 3), [Kind::Person, Kind::Folder, Kind::Tag]);
        assert_eq!(kinds("ru", 4), [Kind::Person, Kind::Person, Kind::Folder, Kind::Tag]);
        assert_eq!(kinds("ru", 0), []);
    }

    #[test]
    fn values_are_those_of_the_field() {
        assert_eq!(after("to:bo|", 9), ["to:bo@example.org"]);
        assert_eq!(after("from:(x or bo|) y", 9), ["from:(x or bo@example.org) y"]);
        assert_eq!(after("folder:old|", 9), ["folder:\"/Old (2024)\""]);
        assert_eq!(after("maildir::ar|", 9), ["maildir::archive"]);
        assert_eq!(after("path:a|", 9), [r"path:a\ b/**"]);
        assert_eq!(after("tag:\"a b|\" x", 9), ["tag:\"a b\" x"]);
        assert_eq!(after("tag:x|", 9), [r#"tag:x\"y"#]);
        assert_eq!(after("query:|", 9), ["query:team", "query:unread"]);
        assert_eq!(after("date:yes|", 9), ["date:yesterday"]);
        assert_eq!(after("flag:mut|", 9), ["flag:muted"]);
        assert_eq!(after("nothing:x|", 9), [""; 0]);
        // What begins with it comes first, then what has a part that does.
        assert_eq!(after("tag:b|", 9), ["tag:board", "tag:\"a b\""]);
    }

    #[test]
    fn what_is_suggested_is_a_query() {
        let context = Context {
            now: "2024-03-15T12:30:45+00:00[UTC]".parse().unwrap(),
            headers: Vec::new(),
            queries: ["team", "unread"].map(|name| (name.to_owned(), "x".to_owned())).into(),
            stemming: Stemming::default(),
        };
        let fields = fields::FIELDS.iter().map(|info| info.name).chain([fields::SAVED]);
        let mut count = 0;
        for text in fields.flat_map(|name| [format!("{name}:|"), format!("a {name}:(|)")]) {
            for query in after(&text, 99) {
                assert!(parse(&query, &context).is_ok(), "{query}");
                count += 1;
            }
        }
        assert!(count > 80, "{count}");
    }
}
