//! Identities: who mail is from (RFC 8621, section 6).
//!
//! Input: what the configuration says of each root, and what the user changed of it. Output: identities, and
//! the answers of Identity/get and /changes. `set` changes them; `state` says what is other than before. An
//! address is that of the configuration, so nobody can send as somebody else by these methods.

mod set;
mod state;

use crate::account::Account;
use crate::error::{failed, unknown_state};
use crate::get::wanted;
use jmap::{
    Arguments, ChangesArguments, ChangesResponse, Context, GetArguments, GetResponse, Id, MethodError,
};
use pneu::{IdentityKey, KeptIdentities, KeptIdentity, NamedAddress};
use printable::hex;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashSet;

/// The properties of an identity.
const PROPERTIES: [&str; 8] =
    ["id", "name", "email", "replyTo", "bcc", "textSignature", "htmlSignature", "mayDelete"];
/// Bytes of the hash in an id.
const HASH_BYTES: usize = 8;

/// Who mail is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) id: Id,
    pub(super) root: String,
    pub(super) address: String,
    key: IdentityKey,
    /// The name in the configuration.
    own_name: String,
    kept: KeptIdentity,
}

impl Identity {
    /// `text` is that of the configuration, with `address` in it. `is_again` if another identity of the root
    /// has that address.
    fn new(root: &str, (text, address): (&str, &str), is_again: bool, all: &KeptIdentities) -> Identity {
        let sender = if is_again { text.to_owned() } else { address.to_ascii_lowercase() };
        let key = IdentityKey { root: root.to_owned(), sender };
        let mut hash = Sha256::new();
        hash.update(&key.root);
        hash.update([0]);
        hash.update(&key.sender);
        let id = format!("I{}", hex(hash.finalize().get(..HASH_BYTES).unwrap_or_default()));
        let name = text.split_once('<').map_or("", |(name, _)| name).trim().trim_matches('"');
        Identity {
            id: Id::new(id).expect("letters and digits are an id"),
            root: root.to_owned(),
            address: address.to_owned(),
            own_name: name.to_owned(),
            kept: all.get(&key).cloned().unwrap_or_default(),
            key,
        }
    }

    fn property(&self, name: &str) -> Value {
        match name {
            "id" => self.id.clone().into(),
            "name" => self.kept.name.as_ref().unwrap_or(&self.own_name).as_str().into(),
            "email" => self.address.as_str().into(),
            "replyTo" => addresses(&self.kept.reply_to),
            "bcc" => addresses(&self.kept.bcc),
            "textSignature" => self.kept.text_signature.as_str().into(),
            "htmlSignature" => self.kept.html_signature.as_str().into(),
            "mayDelete" => false.into(),
            _ => Value::Null,
        }
    }

    /// Returns all properties.
    fn object(&self) -> Map<String, Value> {
        PROPERTIES.into_iter().map(|name| (name.to_owned(), self.property(name))).collect()
    }
}

fn addresses(all: &[NamedAddress]) -> Value {
    if all.is_empty() {
        return Value::Null;
    }
    all.iter().map(|one| json!({"name": one.name, "email": one.address})).collect()
}

impl Account<'_> {
    /// Returns all identities, in the order of the roots and of the configuration.
    pub(super) fn identities(&self) -> Result<Vec<Identity>, MethodError> {
        let accounts = &self.view.settings().configuration.accounts;
        let kept = self.view.kept_identities().map_err(failed)?;
        let mut all = Vec::new();
        for root in self.view.roots() {
            let Some(account) = accounts.get(&root.name) else { continue };
            let mut taken = HashSet::new();
            for sender in account.from.iter().map(String::as_str).zip(account.addresses()) {
                let is_again = !taken.insert(sender.1.to_ascii_lowercase());
                all.push(Identity::new(&root.name, sender, is_again, &kept));
            }
        }
        Ok(all)
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

#[cfg(test)]
mod tests {
    use super::Identity;
    use pneu::KeptIdentities;

    #[test]
    fn an_identity_is_known_by_its_address_whatever_its_name_is() {
        let none = KeptIdentities::default();
        let id = |text, address, is_again| Identity::new("home", (text, address), is_again, &none).id;
        let first = id("Ana <a@x>", "a@x", false);
        assert_eq!(first, id("Ana Ito <A@x>", "A@x", false));
        assert_ne!(first, id("Work <a@x>", "a@x", true));
        assert_ne!(first, Identity::new("work", ("a@x", "a@x"), false, &none).id);
    }
}
