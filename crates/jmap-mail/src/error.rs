//! Errors of the library as errors of a method.
//!
//! Input: an error of the library. Output: what the client is told, without paths of the machine.

use jmap::{MethodError, MethodErrorKind};
use pneu::{Error, IndexError};

/// Returns what a client is told of an error.
pub(crate) fn failed(error: impl Into<Error>) -> MethodError {
    match error.into() {
        Error::Cancelled => {
            MethodError::new(MethodErrorKind::ServerUnavailable, "the request was stopped before its end")
        }
        Error::Query { .. } | Error::Index(IndexError::Query { .. }) => {
            MethodError::new(MethodErrorKind::UnsupportedFilter, "the index cannot answer this filter")
        }
        _ => MethodError::new(MethodErrorKind::ServerFail, "the index could not be read"),
    }
}

/// Returns the refusal of a state that cannot be compared with the current one.
pub(crate) fn unknown_state() -> MethodError {
    MethodErrorKind::CannotCalculateChanges.into()
}
