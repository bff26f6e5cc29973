//! Why a record is not created, updated, destroyed or copied (RFC 8620, sections 5.3 and 5.4).
//!
//! Input: what is wrong. Output: an error, and its JSON. Does not know who finds it.

use serde_json::{Map, Value};

/// The types of RFC 8620, sections 5.3 and 5.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetErrorKind {
    /// The user may not do this.
    Forbidden,
    /// There would be too many records, or too much in them.
    OverQuota,
    /// The record would be too large.
    TooLarge,
    /// Too many records were created lately.
    RateLimit,
    /// There is no such record.
    NotFound,
    /// The patch breaks a rule of [`apply_patch`](crate::apply_patch).
    InvalidPatch,
    /// The same call destroys the record.
    WillDestroy,
    /// The record would be wrong. See [`SetError::invalid_properties`].
    InvalidProperties,
    /// There is always one record of this type.
    Singleton,
    /// The record is there already. See [`SetError::already_exists`].
    AlreadyExists,
    /// A type that a data type defines.
    Other(&'static str),
}

impl SetErrorKind {
    /// Returns its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Forbidden => "forbidden",
            Self::OverQuota => "overQuota",
            Self::TooLarge => "tooLarge",
            Self::RateLimit => "rateLimit",
            Self::NotFound => "notFound",
            Self::InvalidPatch => "invalidPatch",
            Self::WillDestroy => "willDestroy",
            Self::InvalidProperties => "invalidProperties",
            Self::Singleton => "singleton",
            Self::AlreadyExists => "alreadyExists",
            Self::Other(name) => name,
        }
    }
}

/// Refuses one record of a /set or a /copy.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}: {}", kind.name(), description.as_deref().unwrap_or("no description"))]
pub struct SetError {
    /// Its type.
    pub kind: SetErrorKind,
    /// What a developer reads.
    pub description: Option<String>,
    /// All properties that are invalid, if it is `invalidProperties`.
    pub properties: Vec<String>,
    /// Further members, such as `existingId`.
    pub extra: Map<String, Value>,
}

impl SetError {
    /// Returns an error of this kind with a description.
    pub fn new(kind: SetErrorKind, description: impl Into<String>) -> Self {
        SetError { description: Some(description.into()), ..kind.into() }
    }

    /// Returns the refusal of a record with these invalid properties.
    pub fn invalid_properties<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        let properties = names.into_iter().map(Into::into).collect();
        SetError { properties, ..SetErrorKind::InvalidProperties.into() }
    }

    /// Returns the refusal of a record that is there already, as `existing`.
    pub fn already_exists(existing: crate::Id) -> Self {
        SetError::from(SetErrorKind::AlreadyExists).with("existingId", existing)
    }

    /// Adds a member.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.extra.insert(name.to_owned(), value.into());
        self
    }

    /// Returns it as JSON.
    pub fn into_json(self) -> Value {
        let mut error = self.extra;
        error.insert("type".to_owned(), self.kind.name().into());
        if let Some(description) = self.description {
            error.insert("description".to_owned(), description.into());
        }
        if self.kind == SetErrorKind::InvalidProperties || !self.properties.is_empty() {
            error.insert("properties".to_owned(), self.properties.into());
        }
        Value::Object(error)
    }
}

impl From<SetErrorKind> for SetError {
    fn from(kind: SetErrorKind) -> Self {
        SetError { kind, description: None, properties: Vec::new(), extra: Map::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_error_is_written_with_what_it_has() {
        let json = |error: SetError| error.into_json();
        assert_eq!(json(SetErrorKind::NotFound.into()), json!({"type": "notFound"}));
        let described = SetError::new(SetErrorKind::Other("mailboxHasChild"), "x");
        assert_eq!(json(described), json!({"type": "mailboxHasChild", "description": "x"}));
        let invalid = SetError::invalid_properties(["a", "b"]);
        assert_eq!(json(invalid), json!({"type": "invalidProperties", "properties": ["a", "b"]}));
        let exists = SetError::already_exists(crate::Id::new("m1").unwrap());
        assert_eq!(json(exists), json!({"type": "alreadyExists", "existingId": "m1"}));
    }
}
