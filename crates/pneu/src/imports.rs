//! Takes over tags and saved queries that lie in files: those of a restore beside the mail, and those that
//! the user names.
//!
//! Writes through the host, one writer after the other. The front end tells what came of it.

use crate::error::Result;
use crate::host::Host;
use index::{Root, TagImport};
use std::path::PathBuf;

impl Host {
    /// Adds tags that are written as text, as backups have them. Tags that are there stay.
    ///
    /// # Errors
    /// A line that is no tag; damage, a full disk: then nothing was changed.
    pub fn import_tags(&self, text: &str) -> Result<TagImport> {
        self.write_user(|environment| index::import_tags(environment, text))
    }

    /// Takes over the saved queries that a restore left beside the roots, unless the user has any. Returns
    /// the file, and how many queries it has; `None` if nothing was taken.
    ///
    /// # Errors
    /// The file cannot be read or is no file of saved queries; they cannot be written.
    pub fn import_restored_queries(&self, roots: &[Root]) -> Result<Option<(PathBuf, usize)>> {
        self.write_user(|environment| backup::import_restored_queries(environment, roots))
    }

    /// Takes over the tags that a restore left beside the roots, unless the user has any. Returns the files,
    /// each with what was taken from it.
    ///
    /// # Errors
    /// A file cannot be read or is no file of tags; they cannot be written.
    pub fn import_restored_tags(&self, roots: &[Root]) -> Result<Vec<(PathBuf, TagImport)>> {
        self.write_user(|environment| backup::import_restored_tags(environment, roots))
    }
}
