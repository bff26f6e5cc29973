//! Who mail is from.
//!
//! Input: a sender of the configuration, and what the user changed of it. Output: its properties. An id is
//! made of the address, so that another name in the configuration makes no other identity of it.

use jmap::Id;
use pneu::{IdentityKey, KeptIdentities, KeptIdentity, NamedAddress};
use printable::hex;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// The properties of an identity.
pub(super) const PROPERTIES: [&str; 8] =
    ["id", "name", "email", "replyTo", "bcc", "textSignature", "htmlSignature", "mayDelete"];
/// Bytes of the hash in an id.
const HASH_BYTES: usize = 8;

/// Who mail is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::write::submission) struct Identity {
    pub(in crate::write::submission) id: Id,
    pub(in crate::write::submission) root: String,
    pub(in crate::write::submission) address: String,
    pub(super) key: IdentityKey,
    /// The name in the configuration.
    pub(super) own_name: String,
    pub(super) kept: KeptIdentity,
}

impl Identity {
    /// `text` is that of the configuration, with `address` in it. `is_again` if another identity of the root
    /// has that address.
    pub(super) fn new(
        root: &str,
        (text, address): (&str, &str),
        is_again: bool,
        all: &KeptIdentities,
    ) -> Identity {
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

    pub(super) fn property(&self, name: &str) -> Value {
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
    pub(super) fn object(&self) -> Map<String, Value> {
        PROPERTIES.into_iter().map(|name| (name.to_owned(), self.property(name))).collect()
    }
}

fn addresses(all: &[NamedAddress]) -> Value {
    if all.is_empty() {
        return Value::Null;
    }
    all.iter().map(|one| json!({"name": one.name, "email": one.address})).collect()
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
