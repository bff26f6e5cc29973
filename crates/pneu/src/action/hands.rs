//! What actions do to files and directories of mail, one operation at a time, and why a step cannot be
//! undone.
//!
//! Input: paths. Output: what the file system says. Must not know actions.

use std::path::Path;

/// What is done to files of mail. Tests crash at each of these.
pub(super) trait Hands {
    /// Moves a file to a place where none is.
    fn move_file(&self, from: &Path, to: &Path) -> mail::Result<()>;
    /// Renames a directory, with all that is in it, to a name that nothing has.
    fn rename_directory(&self, from: &Path, to: &Path) -> mail::Result<()>;
    /// Copies a file to a place where none is.
    fn copy_file(&self, from: &Path, to: &Path) -> mail::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> mail::Result<()>;
    /// Makes the names in a directory durable.
    fn sync(&self, directory: &Path) -> mail::Result<()>;
}

/// The real ones.
pub(super) struct RealHands;

impl Hands for RealHands {
    fn move_file(&self, from: &Path, to: &Path) -> mail::Result<()> {
        mail::move_file(from, to)
    }

    fn rename_directory(&self, from: &Path, to: &Path) -> mail::Result<()> {
        mail::rename_directory(from, to)
    }

    fn copy_file(&self, from: &Path, to: &Path) -> mail::Result<()> {
        mail::copy_file(from, to)
    }

    fn remove(&self, path: &Path) -> mail::Result<()> {
        std::fs::remove_file(path).map_err(|source| mail::Error::io("remove", path, source))
    }

    fn sync(&self, directory: &Path) -> mail::Result<()> {
        mail::sync_directory(directory)
    }
}

/// Hands that change nothing and say that all went well: they show what the real ones would be asked for.
pub(super) struct IdleHands;

impl Hands for IdleHands {
    fn move_file(&self, _: &Path, _: &Path) -> mail::Result<()> {
        Ok(())
    }

    fn rename_directory(&self, _: &Path, _: &Path) -> mail::Result<()> {
        Ok(())
    }

    fn copy_file(&self, _: &Path, _: &Path) -> mail::Result<()> {
        Ok(())
    }

    fn remove(&self, _: &Path) -> mail::Result<()> {
        Ok(())
    }

    fn sync(&self, _: &Path) -> mail::Result<()> {
        Ok(())
    }
}

/// Why a step cannot be undone.
pub(super) enum Obstacle {
    /// Now, but perhaps later.
    Now(String),
    /// Ever: the file was moved, changed or removed.
    ForEver(String),
}

impl From<mail::Error> for Obstacle {
    fn from(error: mail::Error) -> Obstacle {
        Obstacle::Now(error.reason())
    }
}
