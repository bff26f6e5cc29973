//! Conversations: an extension of pneu, described in docs/jmap-extensions.md.
//!
//! Input: calls of requests that use it. Output: conversations, and what they add to the methods of emails. A
//! conversation is one thread, or several that late messages joined.

use crate::account::Account;
use crate::capabilities::CONVERSATIONS;
use crate::error::failed;
use crate::ids;
use jmap::{Arguments, Context, MethodError};
use pneu::{Grouping, Hit};
use serde_json::{Map, Value};

/// The property of an email.
pub(crate) const PROPERTY: &str = "conversationId";

/// The arguments that methods of queries have besides those of each /query.
const FURTHER: [&str; 2] = ["collapseThreads", "collapseConversations"];

impl Account<'_> {
    pub(crate) fn conversation_get(
        &self,
        arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        self.group_get(arguments, context, Grouping::Conversations)
    }

    /// Returns the id of the conversation of a content.
    pub(crate) fn conversation_of(&self, hit: &Hit) -> Result<Value, MethodError> {
        let name = self.view.group_of(hit, Grouping::Conversations).map_err(failed)?;
        Ok(ids::group(name, Grouping::Conversations).into())
    }
}

/// Takes the property from those that a call asks for. Returns the others, and whether it was there.
pub(crate) fn take_property(names: Option<&[String]>, context: &Context<'_>) -> (Option<Vec<String>>, bool) {
    let Some(names) = names else { return (None, false) };
    let is_other = |name: &&String| *name != PROPERTY || !context.uses(CONVERSATIONS);
    let others: Vec<String> = names.iter().filter(is_other).cloned().collect();
    let is_there = others.len() < names.len();
    (Some(others), is_there)
}

/// Returns the arguments of queries that say what is shown once.
pub(crate) fn collapsing(context: &Context<'_>) -> &'static [&'static str] {
    let count = if context.uses(CONVERSATIONS) { FURTHER.len() } else { 1 };
    FURTHER.get(..count).unwrap_or_default()
}

/// Reads these arguments.
///
/// # Errors
/// `invalidArguments`.
pub(crate) fn collapse(rest: &mut Arguments) -> Result<Option<Grouping>, MethodError> {
    let [threads, conversations] = FURTHER.map(|name| rest.boolean(name, false));
    Ok(match (threads?, conversations?) {
        (_, true) => Some(Grouping::Conversations),
        (true, false) => Some(Grouping::Threads),
        (false, false) => None,
    })
}
