//! Which messages are addressed to the user in person: those that name one of the user's own addresses in To,
//! Cc or Bcc.
//!
//! Input: the user's addresses. Output: a set of messages. It is computed on request and not stored, so that
//! addresses may change without reading any mail again.

use crate::error::Result;
use crate::search::commit::{Commit, once};
use crate::set::NumberSet;
use crate::text::{TextReader, ValueField, WordTest};
use std::sync::OnceLock;

/// The fields that name the recipients of a message.
const RECEIVED: [ValueField; 3] = [ValueField::To, ValueField::Cc, ValueField::Bcc];

/// The user's own addresses, in lower case. `@example.org` stands for all addresses of that domain, but not
/// of its subdomains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnAddresses {
    addresses: Vec<String>,
}

impl OwnAddresses {
    /// Returns a set of these addresses, in any case.
    pub fn new(addresses: &[String]) -> OwnAddresses {
        OwnAddresses { addresses: addresses.iter().map(|address| address.to_lowercase()).collect() }
    }

    /// Returns whether no address is known.
    pub fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }

    /// Returns whether an address is one of them, ignoring case.
    pub fn holds(&self, address: &str) -> bool {
        self.holds_key(address.to_lowercase().as_bytes())
    }

    /// Returns whether an address in lower case is one of them.
    pub(crate) fn holds_key(&self, address: &[u8]) -> bool {
        self.addresses
            .iter()
            .map(String::as_bytes)
            .any(|own| if own.starts_with(b"@") { address.ends_with(own) } else { address == own })
    }

    /// Returns words of each address that the text index has for every message from it. Without any, the
    /// words of that address are too unusual to look for.
    pub(crate) fn words(&self) -> Vec<Vec<String>> {
        let is_plain =
            |word: &str| word.len() <= WORD_BYTES_MAX && word.bytes().all(|b| b.is_ascii_alphanumeric());
        let of_address = |address: &String| {
            query::words::words(address).map(|word| word.text).filter(|word| is_plain(word)).collect()
        };
        self.addresses.iter().map(of_address).collect()
    }
}

/// Longest word of an address that is looked for.
const WORD_BYTES_MAX: usize = 32;

/// Returns the address of a person as the text index stores it: alone, or in angle brackets after a name.
pub(in crate::search) fn address_of(value: &str) -> &str {
    let bracketed = value.strip_suffix('>').and_then(|value| value.rsplit_once(" <"));
    bracketed.map_or(value, |(_, address)| address)
}

/// Tests addresses as the text index stores them: alone, or in angle brackets after a name and a space. An
/// address after a name of more than a kilobyte is cut off, and matches nobody.
impl WordTest for OwnAddresses {
    fn likes(&self, value: &[u8]) -> bool {
        let Ok(value) = std::str::from_utf8(value) else { return false };
        self.holds(address_of(value))
    }
}

/// The user's addresses, and which messages name them.
#[derive(Default)]
pub(crate) struct Personal {
    addresses: OwnAddresses,
    received: OnceLock<NumberSet>,
}

impl Personal {
    /// Returns the addresses, with nothing looked up yet.
    pub(crate) fn new(addresses: OwnAddresses) -> Personal {
        Personal { addresses, received: OnceLock::new() }
    }

    /// Returns the user's addresses.
    pub(crate) fn addresses(&self) -> &OwnAddresses {
        &self.addresses
    }

    /// Returns the messages that name one of the addresses in To, Cc or Bcc.
    ///
    /// # Errors
    /// Damage in the text index.
    pub(crate) fn received(&self, commit: &Commit) -> Result<&NumberSet> {
        once(&self.received, || self.find(commit, &commit.text, &RECEIVED))
    }

    /// Returns the messages that name one of the addresses in From.
    ///
    /// # Errors
    /// Damage in the text index.
    pub(crate) fn sent(&self, commit: &Commit) -> Result<NumberSet> {
        self.find(commit, &commit.text, &[ValueField::From])
    }

    /// Returns the same for a later commit. The content of a message never changes, so only new text segments
    /// are searched, and none if there is no new message.
    ///
    /// # Errors
    /// Damage in the text index.
    pub(crate) fn newer(&self, older: &Commit, newer: &Commit) -> Result<Personal> {
        let addresses = self.addresses.clone();
        let Some(received) = self.received.get() else { return Ok(Personal::new(addresses)) };
        let mut received = received.clone();
        received.grow(newer.bound());
        if newer.may_have_more_messages(older) {
            received.or(&self.find(newer, &newer.text.since(&older.text)?, &RECEIVED)?);
        }
        Ok(Personal { addresses, received: OnceLock::from(received) })
    }

    fn find(&self, commit: &Commit, text: &TextReader, fields: &[ValueField]) -> Result<NumberSet> {
        let mut found = NumberSet::new(commit.bound());
        for field in fields.iter().filter(|_| !self.addresses.is_empty()) {
            // The result is kept, so it must be complete.
            text.find_values((*field, ""), &self.addresses, &|| false, &mut found)?;
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
