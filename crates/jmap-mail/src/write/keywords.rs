//! Keywords that a client sets, as changes of flags and tags.
//!
//! Input: keywords as a content has them and as it shall have them. Output: flags and tags to add and to
//! remove. A keyword is set on all files of a content. A tag is written as the user writes it already. Does
//! not know files.

use crate::account::Account;
use crate::email::keywords::{Keyword, is_allowed};
use crate::error::failed;
use jmap::MethodError;
use mail::Flags;
use pneu::{Content, TagChange};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The longest keyword.
const KEYWORD_BYTES_MAX: usize = 255;

/// Changes of flags and tags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct KeywordChange {
    pub(super) add_flags: Flags,
    pub(super) remove_flags: Flags,
    pub(super) tags: TagChange,
}

/// Why keywords cannot be set.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum KeywordFault {
    /// Something is no keyword, or none that a message can have.
    Invalid,
    /// The message itself has it.
    Label,
}

/// How the user writes tags, by their lower-case forms. Read when it is first needed.
#[derive(Debug, Default)]
pub(super) struct Spelling(Option<BTreeMap<String, String>>);

/// Reads the property `keywords`.
pub(super) fn read(value: Option<&Value>) -> Result<BTreeSet<String>, KeywordFault> {
    let none = Map::new();
    let members = match value {
        None | Some(Value::Null) => &none,
        Some(Value::Object(members)) => members,
        Some(_) => return Err(KeywordFault::Invalid),
    };
    let keyword = |(name, value): (&String, &Value)| {
        let is_keyword = (1..=KEYWORD_BYTES_MAX).contains(&name.len()) && name.bytes().all(is_allowed);
        (is_keyword && *value == Value::Bool(true)).then(|| name.to_ascii_lowercase())
    };
    members.iter().map(keyword).collect::<Option<_>>().ok_or(KeywordFault::Invalid)
}

/// Returns the flags that keywords stand for.
pub(super) fn flags(keywords: &BTreeSet<String>) -> Flags {
    keywords.iter().fold(Flags::NONE, |flags, keyword| match Keyword::read(keyword) {
        Keyword::Flag(flag) => flags | flag,
        Keyword::Tag(_) | Keyword::None => flags,
    })
}

impl Account<'_> {
    /// Returns what to change so that a content has the keywords `after` and no others.
    pub(super) fn keyword_change(
        &self,
        content: Option<&Content>,
        (before, after): (&BTreeSet<String>, &BTreeSet<String>),
        spelling: &mut Spelling,
    ) -> Result<Result<KeywordChange, KeywordFault>, MethodError> {
        let mut change = KeywordChange::default();
        for keyword in after.difference(before) {
            match Keyword::read(keyword) {
                Keyword::Flag(flag) => change.add_flags |= flag,
                Keyword::Tag(tag) => {
                    let is_flag = self.view.settings().configuration.flag_tags.find(&tag).is_some();
                    if is_flag || pneu::check_tag(&tag).is_err() {
                        return Ok(Err(KeywordFault::Invalid));
                    }
                    change.tags.add.insert(self.spelled(tag, spelling)?);
                }
                Keyword::None => return Ok(Err(KeywordFault::Invalid)),
            }
        }
        for keyword in before.difference(after) {
            match Keyword::read(keyword) {
                Keyword::Flag(flag) => change.remove_flags |= flag,
                Keyword::Tag(tag) => {
                    let is_it = |other: &&String| other.to_lowercase() == tag;
                    let message = content.map(|content| &content.message);
                    if message.is_some_and(|message| message.rest.labels.iter().any(|label| is_it(&label))) {
                        return Ok(Err(KeywordFault::Label));
                    }
                    let tags = message.into_iter().flat_map(|message| &message.tags);
                    change.tags.remove.extend(tags.filter(is_it).cloned());
                }
                Keyword::None => {}
            }
        }
        Ok(Ok(change))
    }

    /// Returns a tag as the user writes it.
    fn spelled(&self, tag: String, spelling: &mut Spelling) -> Result<String, MethodError> {
        if spelling.0.is_none() {
            let tags = self.view.tags().map_err(failed)?;
            spelling.0 = Some(tags.into_keys().map(|tag| (tag.to_lowercase(), tag)).collect());
        }
        Ok(spelling.0.as_ref().and_then(|known| known.get(&tag)).cloned().unwrap_or(tag))
    }
}
