//! The words of `tag` and `flag`: changes (`+a -b`), then a query.

use anyhow::{Result, bail};
use std::collections::BTreeSet;

/// What is added and removed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    /// What comes after a plus sign.
    pub add: BTreeSet<String>,
    /// What comes after a minus sign.
    pub remove: BTreeSet<String>,
}

/// How errors name what is changed.
pub(super) struct Nouns {
    /// One of them.
    pub one: &'static str,
    /// Several.
    pub many: &'static str,
    /// One that is added.
    pub example: &'static str,
    /// A whole command.
    pub command: &'static str,
}

/// Separates changes and query. The query is what follows `--`, or the last change. To change all messages,
/// the query must say so.
///
/// # Errors
/// No change or no query is given; an option comes too late.
pub(super) fn split<'w>(words: &'w [String], nouns: &Nouns) -> Result<(Changes, &'w [String])> {
    let Nouns { one, many, example, command } = nouns;
    let mut changes = Changes::default();
    let (mut rest, mut is_separated) = (words, false);
    while let [word, others @ ..] = rest {
        if word == "--" {
            (rest, is_separated) = (others, true);
            break;
        }
        if word.starts_with("--") {
            bail!("{word} must come before the {many}");
        }
        match (word.strip_prefix('+'), word.strip_prefix('-')) {
            (Some(text), _) => changes.add.insert(text.to_owned()),
            (_, Some(text)) => changes.remove.insert(text.to_owned()),
            (None, None) => break,
        };
        rest = others;
    }
    if changes.add.is_empty() && changes.remove.is_empty() {
        let sign = example.trim_start_matches('+');
        bail!("no {one} is given: +{sign} adds a {one}, -{sign} removes one: {command}");
    }
    // An option here would be a word of the query, and other messages would be changed than were meant.
    if let Some(option) = rest.iter().find(|word| word.starts_with("--") && !is_separated) {
        bail!("{option} must come before the {many}; a word of the query that begins so goes after --");
    }
    if rest.is_empty() {
        bail!("no query is given: put it after the {many}: {command}; '*' means all");
    }
    Ok((changes, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAGS: Nouns =
        Nouns { one: "tag", many: "tags", example: "+TAG", command: "pneu tag +work -- from:ana" };

    fn shown(line: &str) -> String {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        match split(&words, &TAGS) {
            Ok((changes, query)) => format!("{:?} {:?} {query:?}", changes.add, changes.remove),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn changes_and_query_are_taken_apart() {
        for (line, expected) in [
            ("+a -b -- from:x y", r#"{"a"} {"b"} ["from:x", "y"]"#),
            ("+a from:x -y", r#"{"a"} {} ["from:x", "-y"]"#),
            ("-a -- -y", r#"{} {"a"} ["-y"]"#),
            ("+a +a *", r#"{"a"} {} ["*"]"#),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
        assert!(shown("from:x").starts_with("no tag is given"));
        assert!(shown("-- from:x").starts_with("no tag is given"));
        assert!(shown("+a --").starts_with("no query is given"));
        assert!(shown("+a --quiet -- x").starts_with("--quiet must come before"));
        assert!(shown("+a from:x --max 1").starts_with("--max must come before"));
        assert_eq!(shown("+a -- --x"), r#"{"a"} {} ["--x"]"#);
    }
}
