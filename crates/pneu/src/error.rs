//! What can go wrong: what happened, where, and a remedy that a front end words.

use crate::message_file::FileError;
use crate::remedy::Remedy;
use std::ops::Range;

/// A failure of the library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A query cannot be understood or answered.
    #[error("{what}")]
    Query {
        /// The place in the text of the query, in bytes.
        span: Range<usize>,
        /// What is wrong.
        what: String,
        /// What helps, if that is known.
        remedy: Option<index::Remedy>,
    },
    /// The request was cancelled, or its deadline passed.
    #[error("the request was cancelled")]
    Cancelled,
    /// No file of a message can be read as it is indexed.
    #[error(transparent)]
    File(#[from] FileError),
    /// The index reports a failure.
    #[error(transparent)]
    Index(index::Error),
}

/// The result of the library's functions.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns what helps, if that is known.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Error::Query { remedy, .. } => remedy.map(Remedy::Index),
            Error::Index(error) => error.remedy().map(Remedy::Index),
            Error::File(error) => error.remedy(),
            Error::Cancelled => None,
        }
    }
}

impl From<index::Error> for Error {
    fn from(error: index::Error) -> Error {
        match error {
            index::Error::Query { span, what, remedy } => Error::Query { span, what, remedy },
            index::Error::Interrupted => Error::Cancelled,
            other => Error::Index(other),
        }
    }
}

impl From<query::Error> for Error {
    fn from(error: query::Error) -> Error {
        Error::Query { span: error.span.clone(), what: error.to_string(), remedy: None }
    }
}
