//! The interface between the index and an archive: a place that keeps messages besides the Maildirs.
//!
//! The caller implements the traits; the `backup` crate does so for a repository. Input: SHA-256 of messages.
//! Output: whether the archive holds them, and their files. Must not know how an archive keeps messages.

use crate::error::{Error, Result};

/// How many ids one call of [`Archive::holds`] gets.
pub(crate) const BATCH_COUNT: usize = 4096;

/// An archive that can be asked which messages it holds.
pub trait Archive: Sync {
    /// Returns, for each SHA-256, whether the archive holds the whole message.
    ///
    /// # Errors
    /// [`Error::archive`] if the archive cannot tell. The operation that asked then fails.
    fn holds(&self, sha256: &[[u8; 32]]) -> Result<Vec<bool>>;
}

/// An archive that holds no message.
#[derive(Clone, Copy, Debug)]
pub struct NoArchive;

impl Archive for NoArchive {
    fn holds(&self, sha256: &[[u8; 32]]) -> Result<Vec<bool>> {
        Ok(vec![false; sha256.len()])
    }
}

impl ReadableArchive for NoArchive {
    fn each_key(&self, _visit: &mut dyn FnMut([u8; 32]) -> Result<()>) -> Result<()> {
        Ok(())
    }

    fn read(&self, _key: &[u8; 32]) -> Result<Option<ArchivedFile>> {
        Ok(None)
    }
}

impl Error {
    /// Wraps an error of an archive.
    pub fn archive(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        Error::Archive(source.into())
    }
}

/// An archive whose message files can be listed and read.
pub trait ReadableArchive: Archive {
    /// Calls `visit` once for every message file in the archive, with its key: the SHA-256 of the file.
    ///
    /// # Errors
    /// [`Error::archive`], or the error of `visit`.
    fn each_key(&self, visit: &mut dyn FnMut([u8; 32]) -> Result<()>) -> Result<()>;

    /// Reads the file with this key, as it was stored. Returns `None` if the archive no longer holds it.
    ///
    /// # Errors
    /// [`Error::archive`].
    fn read(&self, key: &[u8; 32]) -> Result<Option<ArchivedFile>>;
}

/// A message file of an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArchivedFile {
    /// The file's bytes, possibly compressed.
    pub bytes: Vec<u8>,
    /// The earliest time in the file's names, in seconds since 1970. It dates a message that has no date.
    pub named_seconds: Option<i64>,
}
