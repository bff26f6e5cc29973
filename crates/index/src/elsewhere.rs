//! What the index is told of a place that keeps messages besides the Maildirs: an archive, without knowing what that is.
//!
//! In: SHA-256 of messages. Out: whether they are kept there. The caller implements it. Must not know
//! how messages are kept.

use crate::error::{Error, Result};

/// How many ids are asked about at once.
pub(crate) const BATCH_COUNT: usize = 4096;

/// A place that keeps messages besides the Maildirs.
pub trait Elsewhere: Sync {
    /// Says of each id whether the message with this SHA-256 is kept there, whole.
    ///
    /// # Errors
    /// [`Error::elsewhere`] with what went wrong: then nothing is known, and what was asked for is not done.
    fn holds(&self, sha256: &[[u8; 32]]) -> Result<Vec<bool>>;
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug)]
pub struct Nowhere;

impl Elsewhere for Nowhere {
    fn holds(&self, sha256: &[[u8; 32]]) -> Result<Vec<bool>> {
        Ok(vec![false; sha256.len()])
    }
}

impl Error {
    /// Wraps what a place that keeps messages says.
    pub fn elsewhere(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        Error::Elsewhere(source.into())
    }
}
