//! Rules for new messages: which messages get which tags.
//!
//! Input: the tables `[[rule]]` of the configuration. Output: rules, with checked tags. Queries are text:
//! what they mean depends on the saved queries, which change.

use crate::setup::configuration_error::ConfigurationError;
use index::{FlagTags, TagChange, check_tag};
use serde::Deserialize;
use sha2::{Digest, Sha256};

/// Most rules of a configuration.
const RULE_COUNT_MAX: usize = 256;

/// A rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// Which new messages it is for.
    pub query: String,
    /// What happens to their tags.
    pub change: TagChange,
}

impl Rule {
    /// Returns a number that no other rule has.
    pub(crate) fn id(&self) -> u64 {
        let digest = Sha256::digest(format!("{self:?}"));
        digest.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }
}

/// A table `[[rule]]`.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleTable {
    query: String,
    tag: String,
}

/// Checks rules.
///
/// # Errors
/// There are too many; one changes no tag, a text that cannot be one, or a flag: rules change no files.
pub(super) fn checked(tables: Vec<RuleTable>, flags: FlagTags) -> Result<Vec<Rule>, ConfigurationError> {
    if tables.len() > RULE_COUNT_MAX {
        let (count, max) = (tables.len(), RULE_COUNT_MAX);
        return Err(ConfigurationError::TooMany { key: "rule", items: "rules", count, max });
    }
    (1..).zip(tables).map(|(number, table)| checked_one(number, table, flags)).collect()
}

fn checked_one(
    number: usize,
    RuleTable { query, tag }: RuleTable,
    flags: FlagTags,
) -> Result<Rule, ConfigurationError> {
    let wrong = |what: String| ConfigurationError::Rule { number, what };
    let mut change = TagChange::default();
    for word in tag.split_whitespace() {
        let (tags, name) = match (word.strip_prefix('+'), word.strip_prefix('-')) {
            (Some(name), _) => (&mut change.add, name),
            (None, Some(name)) => (&mut change.remove, name),
            (None, None) => return Err(wrong(format!("\"{word}\" does not begin with + or -"))),
        };
        check_tag(name).map_err(|what| wrong(format!("\"{word}\": {what}")))?;
        if flags.find(name).is_some() {
            return Err(wrong(format!(
                "\"{word}\" is a flag, by tags.sync_flags, and rules change no flags"
            )));
        }
        tags.insert(name.to_owned());
    }
    if change == TagChange::default() {
        return Err(wrong("tag is empty; write tag = \"+NAME -NAME\"".to_owned()));
    }
    Ok(Rule { query, change })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(tag: &str) -> Result<Rule, String> {
        let table = RuleTable { query: "from:ana".into(), tag: tag.into() };
        checked(vec![table], FlagTags::Stored)
            .map(|mut rules| rules.remove(0))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_rule_adds_and_removes_tags() {
        let set = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect();
        let change = TagChange { add: set(&["list", "größe"]), remove: set(&["inbox"]) };
        assert_eq!(rule("+list  -inbox +größe"), Ok(Rule { query: "from:ana".into(), change }));
        for (tag, said) in [
            ("", "rule 1: tag is empty"),
            ("list", "rule 1: \"list\" does not begin with + or -"),
            ("+", "rule 1: \"+\": a tag has at least one character"),
            ("+a --b", "rule 1: \"--b\": a tag does not begin with + or -"),
        ] {
            let error = rule(tag).unwrap_err();
            assert!(error.starts_with(said), "{tag}: {error}");
        }
        let table = || RuleTable { query: String::new(), tag: "+a".into() };
        let many = (0..=RULE_COUNT_MAX).map(|_| table()).collect();
        let flag = vec![RuleTable { query: String::new(), tag: "+a -Unread".into() }];
        let error = checked(flag, FlagTags::Derived).unwrap_err().to_string();
        assert_eq!(error, "rule 1: \"-Unread\" is a flag, by tags.sync_flags, and rules change no flags");
        assert_eq!(
            checked(many, FlagTags::Stored).unwrap_err().to_string(),
            "rule: 257 rules, at most 256 are allowed"
        );
    }
}
