//! Identity/get, /changes and /set (RFC 8621, section 6).
//!
//! Input: what the configuration says of each root. Output: identities, which only the configuration changes.

use crate::account::Account;
use crate::error::unknown_state;
use crate::get::wanted;
use jmap::{
    Arguments, ChangesArguments, ChangesResponse, Context, GetArguments, GetResponse, Id, MethodError,
    SetArguments, SetError, SetErrorKind, SetResponse, check_state,
};
use printable::hex;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// The properties of an identity.
const PROPERTIES: [&str; 8] =
    ["id", "name", "email", "replyTo", "bcc", "textSignature", "htmlSignature", "mayDelete"];
/// Bytes of the hashes in ids and in the state.
const HASH_BYTES: usize = 8;

/// Who mail is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) id: Id,
    pub(super) root: String,
    name: String,
    pub(super) address: String,
}

impl Account<'_> {
    /// Returns all identities, in the order of the roots and of the configuration.
    pub(super) fn identities(&self) -> Vec<Identity> {
        let accounts = &self.view.settings().configuration.accounts;
        let of_root = |root: &pneu::Root| {
            let account = accounts.get(&root.name);
            let from = account.map(|account| account.from.iter().zip(account.addresses()));
            from.into_iter().flatten().map(|(text, address)| identity(&root.name, text, address)).collect()
        };
        self.view.roots().iter().flat_map(|root| -> Vec<Identity> { of_root(root) }).collect()
    }

    fn identity_state(&self) -> String {
        let mut hash = Sha256::new();
        for identity in self.identities() {
            hash.update(identity.id.as_str());
        }
        hex(hash.finalize().get(..HASH_BYTES).unwrap_or_default())
    }

    pub(in crate::write) fn identity_get(
        &self,
        arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        let get = GetArguments::read(arguments, &[], context)?;
        self.check(&get.account_id)?;
        let wanted = wanted(get.properties.as_deref(), &PROPERTIES)?;
        let all = self.identities();
        let object = |identity: &Identity| {
            let values = wanted.iter().map(|name| ((*name).to_owned(), property(identity, name)));
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
        let state = self.identity_state();
        Ok(GetResponse { account_id: get.account_id, state, list, not_found }.into())
    }

    pub(in crate::write) fn identity_changes(
        &self,
        arguments: Arguments,
    ) -> Result<Map<String, Value>, MethodError> {
        let changes = ChangesArguments::read(arguments, &[])?;
        self.check(&changes.account_id)?;
        let state = self.identity_state();
        if changes.since_state != state {
            return Err(unknown_state());
        }
        Ok(ChangesResponse::unchanged(changes.account_id, state).into())
    }

    pub(in crate::write) fn identity_set(
        &self,
        arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        let set = SetArguments::read(arguments, &[], context)?;
        self.check(&set.account_id)?;
        let state = self.identity_state();
        check_state(set.if_in_state.as_deref(), &state)?;
        let all = self.identities();
        let forbidden = || {
            SetError::new(
                SetErrorKind::Forbidden,
                "identities are those of the configuration, as `from` of a root",
            )
        };
        let refused = |reference: &jmap::IdReference| {
            let id = context.created_ids.resolve(reference);
            let is_known = all.iter().any(|identity| Some(&identity.id) == id.as_ref());
            if is_known { forbidden() } else { SetErrorKind::NotFound.into() }
        };
        let mut response = SetResponse::new(set.account_id, &state);
        response.not_created = set.create.into_keys().map(|creation| (creation, forbidden())).collect();
        response.not_updated = set.update.into_iter().map(|(one, _)| (one.clone(), refused(&one))).collect();
        response.not_destroyed = set.destroy.into_iter().map(|one| (one.clone(), refused(&one))).collect();
        Ok(response.into())
    }
}

fn identity(root: &str, text: &str, address: &str) -> Identity {
    let mut hash = Sha256::new();
    hash.update(root);
    hash.update([0]);
    hash.update(text);
    let id = format!("I{}", hex(hash.finalize().get(..HASH_BYTES).unwrap_or_default()));
    let name = text.split_once('<').map_or("", |(name, _)| name).trim().trim_matches('"');
    Identity {
        id: Id::new(id).expect("letters and digits are an id"),
        root: root.to_owned(),
        name: name.to_owned(),
        address: address.to_owned(),
    }
}

fn property(identity: &Identity, name: &str) -> Value {
    match name {
        "id" => identity.id.clone().into(),
        "name" => identity.name.clone().into(),
        "email" => identity.address.clone().into(),
        "textSignature" | "htmlSignature" => "".into(),
        "mayDelete" => false.into(),
        _ => Value::Null,
    }
}
