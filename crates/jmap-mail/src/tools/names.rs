//! Ids of records that have a name: saved queries and tags.
//!
//! Input: a name. Output: an id, the same each time, that no other name has. Letters, digits and hyphens of
//! ASCII stand for themselves, every other byte is `_` and two digits. A name that would be longer than an id
//! may be has a hash for an id. Must not know what has the name.

use jmap::Id;
use printable::hex;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// What no name begins with after it is written.
const HASH: &str = "_-";

/// Returns the id of a record by its name.
pub(super) fn id_of(name: &str) -> Id {
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'-' {
            text.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(text, "_{byte:02x}");
        }
    }
    let hash = || format!("{HASH}{}", hex(&Sha256::digest(name.as_bytes())));
    Id::new(text).or_else(|| Id::new(hash())).expect("a hash in digits is an id")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_an_id_of_its_own() {
        for (name, expected) in
            [("work", "work"), ("to-do", "to-do"), ("a_b.c", "a_5fb_2ec"), ("ü x", "_c3_bc_20x")]
        {
            assert_eq!(id_of(name).as_str(), expected);
        }
        let long = ["ü".repeat(43), "ü".repeat(44), String::new()];
        let ids = long.map(|name| String::from(id_of(&name)));
        assert!(ids.iter().all(|id| id.starts_with("_-") && id.len() == 66), "{ids:?}");
        assert_ne!(ids[0], ids[1]);
        assert_eq!(id_of(&"ü".repeat(42)).as_str().len(), 252);
    }
}
