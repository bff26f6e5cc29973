//! PushSubscription/get and /set (RFC 8620, section 7.2). The server calls nobody, so there are none and none
//! is made: clients use the event source.
//!
//! Input: calls. Output: responses without subscriptions. Reads nothing.

use crate::account::Account;
use crate::get::wanted;
use crate::ids::account_id;
use jmap::{
    Arguments, Context, Id, IdReference, MethodError, MethodErrorKind, SetError, SetErrorKind, SetResponse,
};
use serde_json::{Map, Value};

/// The properties of a subscription that may be read. Its `url` and `keys` may not.
const PROPERTIES: [&str; 5] = ["id", "deviceClientId", "verificationCode", "expires", "types"];
const SECRET: [&str; 2] = ["url", "keys"];

impl Account<'_> {
    pub(crate) fn push_subscription_get(
        &self,
        mut arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        let ids = arguments.optional_references("ids")?.unwrap_or_default();
        let properties = arguments.optional_strings("properties")?;
        arguments.finish()?;
        if ids.len() > context.limits.max_objects_in_get {
            return Err(MethodErrorKind::RequestTooLarge.into());
        }
        if properties.iter().flatten().any(|name| SECRET.contains(&name.as_str())) {
            return Err(MethodErrorKind::Forbidden.into());
        }
        wanted(properties.as_deref(), &PROPERTIES)?;
        let not_found = ids.iter().map(ToString::to_string).collect();
        Ok(Map::from_iter([
            ("list".to_owned(), Value::Array(Vec::new())),
            ("notFound".to_owned(), not_found),
        ]))
    }

    pub(crate) fn push_subscription_set(
        &self,
        mut arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        let create = arguments.optional_objects("create", |key| Id::new(key))?.unwrap_or_default();
        let update = arguments.optional_objects("update", IdReference::new)?.unwrap_or_default();
        let destroy = arguments.optional_references("destroy")?.unwrap_or_default();
        arguments.finish()?;
        if create.len() + update.len() + destroy.len() > context.limits.max_objects_in_set {
            return Err(MethodErrorKind::RequestTooLarge.into());
        }
        let mut response = SetResponse::new(account_id(), "");
        response.not_created = create.into_iter().map(|(id, object)| (id, refusal(&object))).collect();
        let not_found = |one: IdReference| (one, SetErrorKind::NotFound.into());
        response.not_updated = update.into_iter().map(|(one, _)| not_found(one)).collect();
        response.not_destroyed = destroy.into_iter().map(not_found).collect();
        let mut response: Map<String, Value> = response.into();
        // Subscriptions belong to no account, and have no state.
        response.retain(|name, _| !["accountId", "oldState", "newState"].contains(&name.as_str()));
        Ok(response)
    }
}

/// Says why a subscription is not made.
fn refusal(object: &Map<String, Value>) -> SetError {
    match object.get("url").and_then(Value::as_str) {
        Some(url) if url.starts_with("https://") => {
            SetError::new(SetErrorKind::Forbidden, "the server calls nobody; use the event source")
        }
        _ => SetError::invalid_properties(["url"]),
    }
}
