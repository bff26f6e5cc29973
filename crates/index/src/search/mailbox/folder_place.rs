//! A folder as others see it.
//!
//! Must not know rows.

use std::path::{Path, PathBuf};

/// A folder of the index: its names, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderPlace {
    /// Its name as it is shown: `/lists/rust`, `/Entwürfe`; `/` for the folder that is a root.
    pub name: String,
    /// Its name on disk, with a leading slash: `/lists/rust`, `/Entw&APw-rfe`.
    pub disk_name: String,
    /// Its path.
    pub path: PathBuf,
}

impl FolderPlace {
    /// Returns the folder at `path` below a root, which has no slash at either end.
    pub fn below(root: &Path, path: &[u8]) -> FolderPlace {
        FolderPlace {
            name: format!("/{}", mail::readable_folder(path)),
            disk_name: format!("/{}", String::from_utf8_lossy(path)),
            path: mail::join(root, path),
        }
    }
}
