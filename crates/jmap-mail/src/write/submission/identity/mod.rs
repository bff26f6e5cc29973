//! Identities (RFC 8621, section 6).
//!
//! Input: what the configuration says of each root, and what the user changed of it. Output: identities, and
//! the answers of Identity/get and /changes. `who` is one identity, `set` changes them, `state` says what is
//! other than before. An address is that of the configuration, so nobody can send as somebody else by these
//! methods.

mod set;
mod state;
mod who;

use crate::account::Account;
use crate::error::{failed, unknown_state};
use crate::get::wanted;
use jmap::{Arguments, ChangesArguments, ChangesResponse, Context, GetArguments, GetResponse, MethodError};
use pneu::View;
use serde_json::{Map, Value};
use std::collections::HashSet;
pub(super) use who::Identity;
use who::PROPERTIES;

/// Returns all identities of a view.
fn all(view: &View) -> pneu::Result<Vec<Identity>> {
    let accounts = &view.settings().configuration.accounts;
    let kept = view.kept_identities()?;
    let mut all = Vec::new();
    for root in view.roots() {
        let Some(account) = accounts.get(&root.name) else { continue };
        let mut taken = HashSet::new();
        for sender in account.from.iter().map(String::as_str).zip(account.addresses()) {
            let is_again = !taken.insert(sender.1.to_ascii_lowercase());
            all.push(Identity::new(&root.name, sender, is_again, &kept));
        }
    }
    Ok(all)
}

/// Returns the state of all identities of a view.
///
/// # Errors
/// The user's data is damaged.
pub(crate) fn identity_state(view: &View) -> pneu::Result<String> {
    Ok(state::state(&all(view)?))
}

impl Account<'_> {
    /// Returns all identities, in the order of the roots and of the configuration.
    pub(super) fn identities(&self) -> Result<Vec<Identity>, MethodError> {
        all(&self.view).map_err(failed)
    }

    pub(in crate::write) fn identity_get(
        &self,
        arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        let get = GetArguments::read(arguments, &[], context)?;
        self.check(&get.account_id)?;
        let wanted = wanted(get.properties.as_deref(), &PROPERTIES)?;
        let all = self.identities()?;
        let object = |identity: &Identity| {
            let values = wanted.iter().map(|name| ((*name).to_owned(), identity.property(name)));
            Value::Object(values.collect())
        };
        let ids = get.ids.unwrap_or_else(|| all.iter().map(|identity| identity.id.clone()).collect());
        let (mut list, mut not_found) = (Vec::new(), get.unknown);
        for id in ids {
            match all.iter().find(|identity| identity.id == id) {
                Some(identity) => list.push(object(identity)),
                None => not_found.push(id.into()),
            }
        }
        Ok(GetResponse { account_id: get.account_id, state: state::state(&all), list, not_found }.into())
    }

    pub(in crate::write) fn identity_changes(
        &self,
        arguments: Arguments,
    ) -> Result<Map<String, Value>, MethodError> {
        let changes = ChangesArguments::read(arguments, &[])?;
        self.check(&changes.account_id)?;
        let all = self.identities()?;
        let state::Difference { created, updated, destroyed } =
            state::since(&changes.since_state, &all).ok_or_else(unknown_state)?;
        let count = created.len().saturating_add(updated.len()).saturating_add(destroyed.len());
        // There is no state between the two.
        if changes.max_changes.is_some_and(|most| u64::try_from(count).is_ok_and(|count| count > most.get()))
        {
            return Err(unknown_state());
        }
        Ok(ChangesResponse {
            account_id: changes.account_id,
            old_state: changes.since_state,
            new_state: state::state(&all),
            has_more_changes: false,
            created,
            updated,
            destroyed,
        }
        .into())
    }
}
