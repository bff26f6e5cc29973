//! Identity/set (RFC 8621, section 6.3).
//!
//! Input: changes of identities. Output: the response, and what is kept of each. Which identities there are,
//! and their addresses, is said by the configuration: none is created or destroyed here.

use super::state;
use super::who::Identity;
use crate::account::Account;
use crate::write::email::address;
use crate::write::not_done;
use jmap::{
    Arguments, Context, IdReference, MethodError, SetArguments, SetError, SetErrorKind, SetResponse,
    apply_patch, check_state,
};
use pneu::{Error, IndexError, KeptIdentity, NamedAddress};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The properties that can be set.
const SETTABLE: [&str; 5] = ["name", "replyTo", "bcc", "textSignature", "htmlSignature"];

impl Account<'_> {
    pub(in crate::write) fn identity_set(
        &mut self,
        arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        let set = SetArguments::read(arguments, &[], context)?;
        self.check(&set.account_id)?;
        self.renew()?;
        let all = self.identities()?;
        let old_state = state::state(&all);
        check_state(set.if_in_state.as_deref(), &old_state)?;
        let known = |reference: &IdReference| {
            let id = context.created_ids.resolve(reference);
            all.iter().find(|identity| Some(&identity.id) == id.as_ref())
        };
        let mut response = SetResponse::new(set.account_id, &old_state);
        response.not_created = set.create.into_keys().map(|creation| (creation, forbidden())).collect();
        for (reference, patch) in set.update {
            let updated = match known(&reference) {
                Some(_) if set.destroy.contains(&reference) => Err(SetErrorKind::WillDestroy.into()),
                Some(identity) => self.update_identity(identity, patch).map(|told| (identity, told)),
                None => Err(SetErrorKind::NotFound.into()),
            };
            match updated {
                Ok((identity, told)) => _ = response.updated.insert(identity.id.clone(), told),
                Err(error) => _ = response.not_updated.insert(reference, error),
            }
        }
        let refused = |one: &IdReference| {
            if known(one).is_some() { forbidden() } else { SetErrorKind::NotFound.into() }
        };
        response.not_destroyed = set.destroy.iter().map(|one| (one.clone(), refused(one))).collect();
        self.renew()?;
        response.new_state = state::state(&self.identities()?);
        Ok(response.into())
    }

    /// Changes an identity. Returns the properties that have another value than the client set.
    fn update_identity(
        &self,
        identity: &Identity,
        patch: Map<String, Value>,
    ) -> Result<Option<Map<String, Value>>, SetError> {
        let mut told = Err(not_done("nothing was changed"));
        // Nobody else changes another property of it between the look and the change.
        let mut change = |kept: &KeptIdentity| {
            let before = Identity { kept: kept.clone(), ..identity.clone() };
            let (kept, others) = match patched(&before, patch.clone()) {
                Ok((kept, others)) => (Some(kept), Ok(others)),
                Err(error) => (None, Err(error)),
            };
            told = others;
            kept
        };
        match self.host.change_identity(&identity.key, &mut change, &self.patience()) {
            Ok(()) => told,
            Err(Error::Cancelled) => Err(not_done("another process writes at the moment")),
            Err(Error::Index(IndexError::Limit { .. })) => Err(SetErrorKind::TooLarge.into()),
            Err(_) => Err(not_done("the user's data cannot be written")),
        }
    }
}

/// Returns what is to be kept of an identity after a change, and the properties that have another value than
/// the client set.
fn patched(
    identity: &Identity,
    patch: Map<String, Value>,
) -> Result<(KeptIdentity, Option<Map<String, Value>>), SetError> {
    let before = identity.object();
    let after = apply_patch(&before, patch)?;
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let is_wrong =
        |name: &&&String| !SETTABLE.contains(&name.as_str()) && before.get(**name) != after.get(**name);
    let mut wrong: Vec<String> = names.iter().filter(is_wrong).map(|name| (*name).clone()).collect();
    let kept = read(&after, identity, &mut wrong);
    if !wrong.is_empty() {
        return Err(SetError::invalid_properties(wrong));
    }
    let now = Identity { kept: kept.clone(), ..identity.clone() }.object();
    let null = Value::Null;
    let is_other = |(name, value): &(&String, &Value)| after.get(*name).unwrap_or(&null) != *value;
    let told: Map<String, Value> =
        now.iter().filter(is_other).map(|(name, value)| (name.clone(), value.clone())).collect();
    Ok((kept, (!told.is_empty()).then_some(told)))
}

/// Returns what is to be kept of an identity with these properties, and adds the names of those that are
/// wrong.
fn read(object: &Map<String, Value>, identity: &Identity, wrong: &mut Vec<String>) -> KeptIdentity {
    let mut text = |name: &str| match object.get(name) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(_) => {
            wrong.push(name.to_owned());
            None
        }
    };
    // Without a value, the name is that of the configuration.
    let name = text("name").filter(|name| *name != identity.own_name);
    let (text_signature, html_signature) = (text("textSignature"), text("htmlSignature"));
    if name.as_ref().is_some_and(|name| name.contains(char::is_control)) {
        wrong.push("name".to_owned());
    }
    let mut addresses = |name: &str| match object.get(name) {
        None | Some(Value::Null) => Vec::new(),
        Some(value) => {
            value.as_array().and_then(|all| all.iter().map(named).collect()).unwrap_or_else(|| {
                wrong.push(name.to_owned());
                Vec::new()
            })
        }
    };
    KeptIdentity {
        name,
        reply_to: addresses("replyTo"),
        bcc: addresses("bcc"),
        text_signature: text_signature.unwrap_or_default(),
        html_signature: html_signature.unwrap_or_default(),
    }
}

/// Reads an EmailAddress (RFC 8621, section 4.1.2.3).
fn named(value: &Value) -> Option<NamedAddress> {
    let read = address(value)?;
    let has_name = value.get("name").is_some_and(Value::is_string);
    Some(NamedAddress { name: has_name.then_some(read.name), address: read.address })
}

fn forbidden() -> SetError {
    let what = "which identities there are is said by the configuration, as `from` of a root";
    SetError::new(SetErrorKind::Forbidden, what)
}
