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

impl Contents for Nowhere {
    fn each_key(&self, _visit: &mut dyn FnMut([u8; 32]) -> Result<()>) -> Result<()> {
        Ok(())
    }

    fn read(&self, _key: &[u8; 32]) -> Result<Option<Kept>> {
        Ok(None)
    }
}

impl Error {
    /// Wraps what a place that keeps messages says.
    pub fn elsewhere(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        Error::Elsewhere(source.into())
    }
}

/// A place whose messages can be read, one by one.
pub trait Contents: Elsewhere {
    /// Calls `visit` with the key of every message file that is kept there, each once: the SHA-256 of the file.
    ///
    /// # Errors
    /// [`Error::elsewhere`], or what `visit` says.
    fn each_key(&self, visit: &mut dyn FnMut([u8; 32]) -> Result<()>) -> Result<()>;

    /// Reads the file with a key, as it was stored; `None` if it is not kept there any more.
    ///
    /// # Errors
    /// [`Error::elsewhere`].
    fn read(&self, key: &[u8; 32]) -> Result<Option<Kept>>;
}

/// A message file that is kept elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Its bytes, perhaps compressed.
    pub bytes: Vec<u8>,
    /// The earliest time that names of its file say, in seconds since 1970: the date of a message that says
    /// none.
    pub named_seconds: Option<i64>,
}
