//! What a server says when it refuses a request or a method call (RFC 8620, section 3.6).
//!
//! Input: what is wrong. Output: an error, and its JSON. Does not know who finds it.

use serde_json::{Map, Value};
use std::fmt;

/// How many characters of a client's text an error repeats.
const REPEATED_CHARACTERS_MAX: usize = 100;

/// Refuses a whole request (RFC 8620, section 3.6.1).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The bytes are not I-JSON, or were sent as something else.
    #[error("the request is not I-JSON: {0}")]
    NotJson(String),
    /// The JSON is no request.
    #[error("the JSON is not a Request object: {0}")]
    NotRequest(String),
    /// The request uses a capability that is not offered.
    #[error("the server does not offer the capability \"{0}\"")]
    UnknownCapability(String),
    /// The request exceeds the limit with this name, one of those of the core capability.
    #[error("the request exceeds the limit {0}")]
    Limit(&'static str),
}

impl RequestError {
    /// The HTTP status of the answer.
    pub const STATUS: u16 = 400;

    /// Returns the refusal of a request that uses `capability`.
    pub(crate) fn unknown_capability(capability: &str) -> Self {
        RequestError::UnknownCapability(capability.chars().take(REPEATED_CHARACTERS_MAX).collect())
    }

    /// Returns the body of the answer: problem details (RFC 7807), of the type `application/problem+json`.
    pub fn problem(&self) -> Value {
        let kind = match self {
            RequestError::NotJson(_) => "notJSON",
            RequestError::NotRequest(_) => "notRequest",
            RequestError::UnknownCapability(_) => "unknownCapability",
            RequestError::Limit(_) => "limit",
        };
        let mut problem = Map::new();
        problem.insert("type".to_owned(), format!("urn:ietf:params:jmap:error:{kind}").into());
        problem.insert("status".to_owned(), Self::STATUS.into());
        problem.insert("detail".to_owned(), self.to_string().into());
        if let RequestError::Limit(name) = self {
            problem.insert("limit".to_owned(), (*name).into());
        }
        Value::Object(problem)
    }
}

/// Why a method call is refused: RFC 8620, sections 3.6.2 and 5.1 to 5.6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodErrorKind {
    /// Something that the server needs is not there now. The call may succeed later.
    ServerUnavailable,
    /// Something unexpected happened. The call will fail again.
    ServerFail,
    /// Some of the changes were made. The client must synchronise again.
    ServerPartialFail,
    /// The server has no method with this name, or the request does not use its capability.
    UnknownMethod,
    /// An argument is missing, has a wrong type or is wrong in another way.
    InvalidArguments,
    /// A reference to the result of an earlier call leads nowhere.
    InvalidResultReference,
    /// The user may not do this.
    Forbidden,
    /// There is no account with this id.
    AccountNotFound,
    /// The account has no such records.
    AccountNotSupportedByMethod,
    /// The account may not be changed.
    AccountReadOnly,
    /// The call names more objects than the server works on at once.
    RequestTooLarge,
    /// The state of the client is too old, or unknown.
    CannotCalculateChanges,
    /// The records are not in the state that the call asks for.
    StateMismatch,
    /// There is no account with the id of the account to copy from.
    FromAccountNotFound,
    /// The account to copy from has no such records.
    FromAccountNotSupportedByMethod,
    /// The anchor is not among the results.
    AnchorNotFound,
    /// The server cannot sort by this property, or with this collation.
    UnsupportedSort,
    /// The server cannot look for this.
    UnsupportedFilter,
    /// More results changed than the client wants to hear of.
    TooManyChanges,
    /// A type that another specification defines.
    Other(&'static str),
}

impl MethodErrorKind {
    /// Returns its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::ServerUnavailable => "serverUnavailable",
            Self::ServerFail => "serverFail",
            Self::ServerPartialFail => "serverPartialFail",
            Self::UnknownMethod => "unknownMethod",
            Self::InvalidArguments => "invalidArguments",
            Self::InvalidResultReference => "invalidResultReference",
            Self::Forbidden => "forbidden",
            Self::AccountNotFound => "accountNotFound",
            Self::AccountNotSupportedByMethod => "accountNotSupportedByMethod",
            Self::AccountReadOnly => "accountReadOnly",
            Self::RequestTooLarge => "requestTooLarge",
            Self::CannotCalculateChanges => "cannotCalculateChanges",
            Self::StateMismatch => "stateMismatch",
            Self::FromAccountNotFound => "fromAccountNotFound",
            Self::FromAccountNotSupportedByMethod => "fromAccountNotSupportedByMethod",
            Self::AnchorNotFound => "anchorNotFound",
            Self::UnsupportedSort => "unsupportedSort",
            Self::UnsupportedFilter => "unsupportedFilter",
            Self::TooManyChanges => "tooManyChanges",
            Self::Other(name) => name,
        }
    }
}

/// Refuses a method call. Nothing has changed on the server then, except after
/// [`ServerPartialFail`](MethodErrorKind::ServerPartialFail) (RFC 8620, section 3.6.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodError {
    /// Its type.
    pub kind: MethodErrorKind,
    /// What a developer reads.
    pub description: Option<String>,
    /// The arguments that are invalid. One within another is named by its path, as in `filter/inMailbox`.
    pub arguments: Vec<String>,
    /// Further members, of errors that say more than the RFC.
    pub extra: Map<String, Value>,
}

impl MethodError {
    /// Returns an error of this kind with a description.
    pub fn new(kind: MethodErrorKind, description: impl Into<String>) -> Self {
        MethodError { description: Some(description.into()), ..kind.into() }
    }

    /// Returns the refusal of the argument `name`, which `fault` tells more about, as in "is missing".
    pub fn invalid_argument(name: impl Into<String>, fault: &str) -> Self {
        let name = name.into();
        let shown: String = name.chars().take(REPEATED_CHARACTERS_MAX).collect();
        let description = format!("the argument \"{shown}\" {fault}");
        MethodError { arguments: vec![name], ..Self::new(MethodErrorKind::InvalidArguments, description) }
    }

    /// Returns the arguments of the response with the name "error".
    pub fn into_json(self) -> Map<String, Value> {
        let mut error = Map::new();
        error.insert("type".to_owned(), self.kind.name().into());
        if let Some(description) = self.description {
            error.insert("description".to_owned(), description.into());
        }
        if !self.arguments.is_empty() {
            error.insert("arguments".to_owned(), self.arguments.into());
        }
        error.extend(self.extra);
        error
    }
}

impl From<MethodErrorKind> for MethodError {
    fn from(kind: MethodErrorKind) -> Self {
        MethodError { kind, description: None, arguments: Vec::new(), extra: Map::new() }
    }
}

impl fmt::Display for MethodError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.kind.name())?;
        self.description.as_ref().map_or(Ok(()), |description| write!(formatter, ": {description}"))
    }
}

impl std::error::Error for MethodError {}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn problem_details_have_the_type_the_status_and_the_limit() {
        let problem = RequestError::Limit("maxCallsInRequest").problem();
        let expected = json!({
            "type": "urn:ietf:params:jmap:error:limit", "status": 400, "limit": "maxCallsInRequest",
            "detail": "the request exceeds the limit maxCallsInRequest",
        });
        assert_eq!(problem, expected);
        let types = [
            (RequestError::NotJson("x".to_owned()), "urn:ietf:params:jmap:error:notJSON"),
            (RequestError::NotRequest("x".to_owned()), "urn:ietf:params:jmap:error:notRequest"),
            (RequestError::unknown_capability("x"), "urn:ietf:params:jmap:error:unknownCapability"),
        ];
        for (error, expected) in types {
            assert_eq!(error.problem()["type"], expected);
            assert_eq!(error.problem().get("limit"), None);
        }
    }

    #[test]
    fn a_long_text_of_a_client_is_not_repeated_in_full() {
        let long = "é".repeat(5_000);
        assert!(RequestError::unknown_capability(&long).to_string().len() < 300);
        let error = MethodError::invalid_argument(long, "is missing");
        assert!(error.to_string().len() < 300);
    }

    #[test]
    fn a_method_error_is_written_with_what_it_has() {
        let bare = MethodError::from(MethodErrorKind::StateMismatch);
        assert_eq!(Value::Object(bare.clone().into_json()), json!({"type": "stateMismatch"}));
        assert_eq!(bare.to_string(), "stateMismatch");
        let argument = MethodError::invalid_argument("ids", "is missing");
        assert_eq!(argument.to_string(), "invalidArguments: the argument \"ids\" is missing");
        let expected = json!({
            "type": "invalidArguments", "description": "the argument \"ids\" is missing", "arguments": ["ids"]
        });
        assert_eq!(Value::Object(argument.into_json()), expected);
        assert_eq!(MethodErrorKind::Other("fooBar").name(), "fooBar");
    }
}
