//! Ids (RFC 8620, section 1.2) and the references to records that a request creates (5.3).
//!
//! Input: text from a client or a server. Output: an id, or that it is none. Does not know what has the id.

use serde_json::Value;
use std::fmt;

/// The most bytes of an id.
pub const ID_BYTES_MAX: usize = 255;

/// The id of a record, an account or a blob, or a creation id: 1 to 255 letters and digits of ASCII, hyphens
/// and underscores (RFC 8620, section 1.2).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(String);

impl Id {
    /// Returns the id that `text` is, or `None` if it is none.
    pub fn new(text: impl Into<String>) -> Option<Id> {
        let text = text.into();
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let is_id = (1..=ID_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_allowed);
        is_id.then_some(Id(text))
    }

    /// Returns its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<Id> for String {
    fn from(id: Id) -> Self {
        id.0
    }
}

impl From<Id> for Value {
    fn from(id: Id) -> Self {
        Value::String(id.0)
    }
}

/// Names a record by its id, or one of the same request by its creation id, which is written with `#` before
/// it (RFC 8620, section 5.3).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IdReference {
    /// The record has this id.
    Id(Id),
    /// The record is created under this creation id.
    Created(Id),
}

impl IdReference {
    /// Returns the reference that `text` is, or `None` if it is none.
    pub fn new(text: &str) -> Option<IdReference> {
        match text.strip_prefix('#') {
            Some(creation) => Id::new(creation).map(IdReference::Created),
            None => Id::new(text).map(IdReference::Id),
        }
    }
}

impl fmt::Display for IdReference {
    /// Writes it as the client did.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IdReference::Id(id) => write!(formatter, "{id}"),
            IdReference::Created(id) => write!(formatter, "#{id}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_1_to_255_safe_characters() {
        let longest = "a".repeat(255);
        for text in ["a", "-", "_", "0", "azAZ09-_", longest.as_str()] {
            assert_eq!(Id::new(text).map(String::from).as_deref(), Some(text));
        }
        let too_long = "a".repeat(256);
        for text in ["", "a b", "é", "a=", "a/b", "#a", "a\n", too_long.as_str()] {
            assert_eq!(Id::new(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_reference_is_an_id_or_a_creation_id_after_a_number_sign() {
        let id = Id::new("k1").unwrap();
        assert_eq!(IdReference::new("k1"), Some(IdReference::Id(id.clone())));
        assert_eq!(IdReference::new("#k1"), Some(IdReference::Created(id)));
        for text in ["k1", "#k1"] {
            assert_eq!(IdReference::new(text).unwrap().to_string(), text);
        }
        for text in ["", "#", "##k1", "#k 1", "k#1"] {
            assert_eq!(IdReference::new(text), None, "{text:?}");
        }
    }
}
