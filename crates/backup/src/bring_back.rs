//! Takes tags in again after a restore.
//!
//! In: roots. Out: tags of the nearest directory `.pneu` at or above one of them, where a restore put it, if nothing was ever said here. Must
//! not know archives.

use crate::error::{Error, Result};
use index::{Environment, Root, TagImport};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where tags lie below a directory that a snapshot was restored into.
const TAGS: &str = ".pneu/tags";
/// A file with more bytes is none of ours.
const TAGS_BYTES_MAX: u64 = 1 << 30;

/// Takes in the tags that a restore left beside the mail, unless there are tags here already. Returns the file and what it said.
///
/// # Errors
/// The file is damaged or cannot be read; what the disk says: then nothing was changed.
pub fn bring_back_tags(environment: &Environment, roots: &[Root]) -> Result<Option<(PathBuf, TagImport)>> {
    if !index::has_no_tags(environment)? {
        return Ok(None);
    }
    let Some(path) = roots.iter().find_map(|root| find(&root.path)) else { return Ok(None) };
    let text = std::fs::read_to_string(&path).map_err(|source| Error::Io {
        action: "read",
        path: path.clone(),
        source,
    })?;
    let import = index::import_tags(environment, &text)?;
    Ok(Some((path, import)))
}

/// Looks at and above a root. Only a file of the root's own owner counts: above it others may write.
fn find(root: &Path) -> Option<PathBuf> {
    let owner = std::fs::metadata(root).ok()?.uid();
    root.ancestors().map(|directory| directory.join(TAGS)).find(|path| {
        std::fs::symlink_metadata(path).is_ok_and(|metadata| {
            metadata.is_file() && metadata.uid() == owner && metadata.len() <= TAGS_BYTES_MAX
        })
    })
}
