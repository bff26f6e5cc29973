//! Which addresses are those of mailing lists.
//!
//! Input: the List-Ids of all messages. Output: whether an address belongs to one of them. Lists make their
//! id of their address (RFC 2919, section 3): `tubes@lists.example.org` has the id `tubes.lists.example.org`.

use crate::error::Result;
use crate::search::mailbox::Mailbox;
use crate::text::TextField;
use query::fold::fold;
use std::collections::HashSet;

/// The ids of the mailing lists.
#[derive(Default)]
pub(super) struct Lists {
    /// Folded, as the text index has them.
    ids: HashSet<Vec<u8>>,
}

impl Lists {
    /// Returns the lists of a mailbox.
    ///
    /// # Errors
    /// Damage in the text index.
    pub(super) fn of(mailbox: &Mailbox) -> Result<Lists> {
        let mut lists = Lists::default();
        mailbox.text().each_term(TextField::List, &mut |id| {
            if !lists.ids.contains(id) {
                lists.ids.insert(id.to_vec());
            }
        })?;
        Ok(lists)
    }

    /// Returns whether an address in lower case is that of a list.
    pub(super) fn hold(&self, address: &[u8]) -> bool {
        let Some(at) = address.iter().rposition(|byte| *byte == b'@') else { return false };
        let mut id = address.to_vec();
        if let Some(byte) = id.get_mut(at) {
            *byte = b'.';
        }
        self.ids.contains(fold(&String::from_utf8_lossy(&id)).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_that_of_a_list_with_its_id() {
        let lists = Lists { ids: [b"tubes.lists.example.org".to_vec(), b"muller.x".to_vec()].into() };
        for (address, expected) in [
            ("tubes@lists.example.org", true),
            ("müller@x", true),
            ("tubes.lists@example.org", true),
            ("tubes.lists.example.org", false),
            ("tube@lists.example.org", false),
            ("tubes@lists.example.org.uk", false),
            ("@", false),
            ("", false),
        ] {
            assert_eq!(lists.hold(address.as_bytes()), expected, "{address}");
        }
    }
}
