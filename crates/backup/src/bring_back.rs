//! Takes in again after a restore what is no mail: tags, saved queries; and says where the configuration is.
//!
//! In: roots. Out: what lies in the nearest directory `.pneu` at or above one of them, where a restore put it, if nothing was ever said
//! here. Must not know archives.

use crate::error::{Error, Result};
use crate::settled::settled;
use index::{Environment, Root, TagImport};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The directory below the one that a snapshot was restored into.
const DIRECTORY: &str = ".pneu";
/// The file of tags in it.
const TAGS: &str = "tags";
/// The file of saved queries in it.
pub(crate) const QUERIES: &str = "queries";
/// The configuration in it.
const CONFIGURATION: &str = "config.toml";
/// A file with more bytes is none of ours.
const BYTES_MAX: u64 = 1 << 30;
/// A file that others may write may say what others want.
const OTHERS_WRITE: u32 = 0o022;

/// Takes in the tags that a restore left beside the mail, unless there are tags here already. Returns the file and what it said.
///
/// # Errors
/// The file is damaged or cannot be read; what the disk says: then nothing was changed.
pub fn bring_back_tags(environment: &Environment, roots: &[Root]) -> Result<Option<(PathBuf, TagImport)>> {
    if !index::has_no_tags(environment)? {
        return Ok(None);
    }
    let Some(path) = restored(roots, TAGS) else { return Ok(None) };
    let text = std::fs::read_to_string(&path).map_err(|source| unread(&path, source))?;
    let import = index::import_tags(environment, &text)?;
    Ok(Some((path, import)))
}

/// Takes in the saved queries that a restore left beside the mail, byte for byte, unless some were ever saved here. Returns the file and how many
/// those are.
///
/// # Errors
/// As [`bring_back_tags`].
pub fn bring_back_queries(environment: &Environment, roots: &[Root]) -> Result<Option<(PathBuf, usize)>> {
    let Some(path) = restored(roots, QUERIES) else { return Ok(None) };
    let bytes = std::fs::read(&path).map_err(|source| unread(&path, source))?;
    Ok(index::import_queries(environment, &bytes)?.map(|count| (path, count)))
}

/// Returns the configuration that a restore left beside the mail, and what it says. Only one of this user's own that nobody else may write counts:
/// it may name programs to be run.
///
/// # Errors
/// It cannot be read.
pub fn restored_configuration(roots: &[Root], user: u32) -> Result<Option<(PathBuf, String)>> {
    let Some(path) = restored(roots, CONFIGURATION) else { return Ok(None) };
    let is_own = std::fs::symlink_metadata(&path)
        .is_ok_and(|metadata| metadata.uid() == user && metadata.mode() & OTHERS_WRITE == 0);
    if !is_own {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&path).map_err(|source| unread(&path, source))?;
    Ok(Some((path, text)))
}

fn unread(path: &Path, source: std::io::Error) -> Error {
    Error::Io { action: "read", path: path.to_owned(), source }
}

fn restored(roots: &[Root], name: &str) -> Option<PathBuf> {
    settled(roots).iter().find_map(|root| find(&root.path, name))
}

/// Looks at and above a root. Only a file of the root's own owner counts: above it others may write.
fn find(root: &Path, name: &str) -> Option<PathBuf> {
    let owner = std::fs::metadata(root).ok()?.uid();
    root.ancestors().map(|directory| directory.join(DIRECTORY).join(name)).find(|path| {
        std::fs::symlink_metadata(path).is_ok_and(|metadata| {
            metadata.is_file() && metadata.uid() == owner && metadata.len() <= BYTES_MAX
        })
    })
}
