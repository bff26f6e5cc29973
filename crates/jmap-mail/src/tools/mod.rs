//! What a page needs besides mail: methods of this project's own, which docs/jmap-extensions.md describes.
//!
//! Input: calls. Output: responses. Each kind of records has a file of its own, and a capability that a
//! request must name. What all of them share is here: which methods there are, and how a state is made of
//! what a client sees.

mod actions;
mod names;
mod position;
mod saved_queries;
mod statistics;
mod suggestions;
mod tags;

use crate::account::Account;
use crate::capabilities::{ACTIONS, SEARCH, STATISTICS};
use jmap::{Arguments, Context, MethodError, MethodErrorKind};
use printable::hex;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

pub(crate) use saved_queries::state as saved_query_state;

/// These methods, each with its capability.
const METHODS: [(&str, &str); 7] = [
    ("Action/get", ACTIONS),
    ("Action/undo", ACTIONS),
    ("SavedQuery/get", SEARCH),
    ("SavedQuery/set", SEARCH),
    ("Statistics/get", STATISTICS),
    ("Suggestion/query", SEARCH),
    ("Tag/get", SEARCH),
];

/// Bytes of a hash that is a state.
const STATE_BYTES: usize = 8;

impl Account<'_> {
    /// Returns the capability of one of these methods.
    pub(crate) fn capability_of_tool(name: &str) -> Option<&'static str> {
        METHODS.iter().find(|(known, _)| *known == name).map(|(_, capability)| *capability)
    }

    /// Answers a call of one of these methods.
    pub(crate) fn tool(
        &mut self,
        name: &str,
        arguments: Arguments,
        context: &mut Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        match name {
            "Action/get" => self.action_get(arguments, context),
            "Action/undo" => self.action_undo(arguments),
            "SavedQuery/get" => self.saved_query_get(arguments, context),
            "SavedQuery/set" => self.saved_query_set(arguments, context),
            "Statistics/get" => self.statistics_get(arguments, context),
            "Suggestion/query" => self.suggestion_query(arguments),
            "Tag/get" => self.tag_get(arguments, context),
            _ => Err(MethodErrorKind::UnknownMethod.into()),
        }
    }
}

/// Returns the state of records: a hash of all texts that tell them apart.
fn state_of<T: AsRef<[u8]>>(texts: impl Iterator<Item = T>) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.as_ref().len() as u64).to_le_bytes());
        hash.update(text);
    }
    hex(hash.finalize().get(..STATE_BYTES).unwrap_or_default())
}
