//! Suggestion/query: what can be typed at a place of a query.
//!
//! Input: a text and a place in it. Output: texts that may stand there, and what they replace. Does not know
//! the query language.

use super::position::{in_bytes, in_utf16};
use crate::account::Account;
use crate::error::failed;
use jmap::{Arguments, MethodError};
use pneu::{Suggestion, SuggestionKind};
use printable::sanitise::one_line;
use query::limits::QUERY_BYTES_MAX;
use serde_json::{Map, Value, json};

/// How many suggestions there are if the call does not say, and at most.
const LIMIT_DEFAULT: u64 = 20;
const LIMIT_MAX: u64 = 200;

impl Account<'_> {
    pub(super) fn suggestion_query(
        &self,
        mut arguments: Arguments,
    ) -> Result<Map<String, Value>, MethodError> {
        let account_id = arguments.id("accountId")?;
        let text = arguments.string("text")?;
        let position = arguments.optional_unsigned("position")?;
        let limit = arguments.optional_unsigned("limit")?.unwrap_or(LIMIT_DEFAULT).min(LIMIT_MAX);
        if text.len() > QUERY_BYTES_MAX {
            return Err(arguments.fault("text", "is longer than a query may be"));
        }
        let at = position.map_or(Some(text.len()), |position| in_bytes(&text, position));
        let at = at.ok_or_else(|| arguments.fault("position", "is after the end of the text"))?;
        arguments.finish()?;
        self.check(&account_id)?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let found = self.view.suggest(&text, at, limit).map_err(failed)?;
        let list: Value = found.iter().map(|suggestion| object(suggestion, &text)).collect();
        let response = [("accountId", account_id.into()), ("list", list)];
        Ok(response.map(|(name, value): (_, Value)| (name.to_owned(), value)).into_iter().collect())
    }
}

fn object(suggestion: &Suggestion, query: &str) -> Value {
    let Suggestion { kind, label, about, text, range } = suggestion;
    let kind = match kind {
        SuggestionKind::Field => "field",
        SuggestionKind::Flag => "flag",
        SuggestionKind::Person => "person",
        SuggestionKind::Folder => "folder",
        SuggestionKind::Tag => "tag",
        SuggestionKind::SavedQuery => "savedQuery",
        SuggestionKind::Date => "date",
        SuggestionKind::Value => "value",
    };
    let [start, end] = in_utf16(query, range);
    // Senders choose their names.
    json!({
        "kind": kind, "label": one_line(label), "about": one_line(about), "text": text,
        "start": start, "end": end,
    })
}
