//! Which messages are addressed to the user in person: those that name one of the user's own addresses in To,
//! Cc or Bcc.
//!
//! In: the user's addresses. Out: a set of messages. It is found when it is asked for and not kept, so that
//! addresses may change without any mail being read again.

use crate::error::Result;
use crate::search::Mailbox;
use crate::set::NumberSet;
use crate::text::{ValueField, WordTest};

/// The user's own addresses, in lower case; `@example.org` stands for all of that domain, not of those below
/// it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnAddresses {
    addresses: Vec<String>,
}

impl OwnAddresses {
    /// Returns these addresses, whatever their case.
    pub fn new(addresses: &[String]) -> OwnAddresses {
        OwnAddresses { addresses: addresses.iter().map(|address| address.to_lowercase()).collect() }
    }

    /// Says whether none are known.
    pub fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }

    /// Says whether an address is one of them, without regard to case.
    pub fn holds(&self, address: &str) -> bool {
        let address = address.to_lowercase();
        self.addresses
            .iter()
            .any(|own| if own.starts_with('@') { address.ends_with(own.as_str()) } else { address == *own })
    }
}

/// Values are addresses as `text` keeps them: alone, or in angle brackets after a name and a space. What
/// stands after a name of a kilobyte is cut there, and is nobody's.
impl WordTest for OwnAddresses {
    fn likes(&self, value: &[u8]) -> bool {
        let Ok(value) = std::str::from_utf8(value) else { return false };
        let bracketed = value.strip_suffix('>').and_then(|value| value.rsplit_once(" <"));
        self.holds(bracketed.map_or(value, |(_, address)| address))
    }
}

impl Mailbox {
    /// Returns the same commit, asked by somebody who has these addresses.
    #[must_use]
    pub fn with_own_addresses(mut self, own: OwnAddresses) -> Mailbox {
        self.own = own;
        self.personal.take();
        self
    }

    /// Says whether the user's addresses are known.
    pub(super) fn has_own_addresses(&self) -> bool {
        !self.own.is_empty()
    }

    /// Returns the messages that are addressed to the user in person; none where no address is known.
    pub(super) fn personal(&self) -> Result<&NumberSet> {
        super::once(&self.personal, || self.with_own(&[ValueField::To, ValueField::Cc, ValueField::Bcc]))
    }

    /// Returns the messages that are from the user; none where no address is known.
    pub(super) fn sent(&self) -> Result<NumberSet> {
        self.with_own(&[ValueField::From])
    }

    fn with_own(&self, fields: &[ValueField]) -> Result<NumberSet> {
        let mut found = self.empty();
        for field in fields.iter().filter(|_| self.has_own_addresses()) {
            let added = self.text.find_values(*field, "", &self.own, &mut found);
            added.map_err(|error| self.text_error(error))?;
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_compared_whole_and_without_case() {
        let own = OwnAddresses::new(&["Ana@Example.org".into(), "@home.example".into(), "Jürgen@x".into()]);
        for (value, expected) in [
            ("ana@example.org", true),
            ("Ana Ito <ANA@example.ORG>", true),
            ("a@b <c> <ana@example.org>", true),
            ("JÜRGEN@X", true),
            ("any@home.example", true),
            ("any@Home.Example", true),
            ("any@at.home.example", false),
            ("@home.example.org", false),
            ("bana@example.org", false),
            ("ana@example.org.uk", false),
            ("ana@example.org <eve@example.com>", false),
            ("ana", false),
            ("", false),
        ] {
            assert_eq!(own.likes(value.as_bytes()), expected, "{value}");
        }
        assert!(!own.likes(b"\xffana@example.org"));
        assert!(OwnAddresses::default().is_empty());
    }
}
