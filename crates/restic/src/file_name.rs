//! Names of a repository's files: their kinds, the directory of each kind, and the size limit of each kind.
//!
//! Does not depend on storages or on the contents of files.

use crate::encoding::id::Id;
use std::fmt::{Display, Formatter};

/// The kinds of files that a repository has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileKind {
    /// The config; there is only one.
    Config,
    /// Key files, each sealed with a password.
    Key,
    /// Locks.
    Lock,
    /// Snapshots.
    Snapshot,
    /// Index files.
    Index,
    /// Packs.
    Pack,
}

impl FileKind {
    /// All kinds except the config. There may be many files of each.
    pub const MANY: [FileKind; 5] =
        [FileKind::Key, FileKind::Lock, FileKind::Snapshot, FileKind::Index, FileKind::Pack];

    /// Returns the directory of files of this kind. For the config, returns its name.
    pub fn directory(self) -> &'static str {
        match self {
            FileKind::Config => "config",
            FileKind::Key => "keys",
            FileKind::Lock => "locks",
            FileKind::Snapshot => "snapshots",
            FileKind::Index => "index",
            FileKind::Pack => "data",
        }
    }

    /// Returns the largest size of a stored file of this kind, in bytes. A larger file is damaged, and is not
    /// read into memory.
    pub fn bytes_max(self) -> u64 {
        match self {
            // Each has some hundred bytes.
            FileKind::Config | FileKind::Key | FileKind::Lock => 1 << 20,
            FileKind::Snapshot => 64 << 20,
            FileKind::Index => 256 << 20,
            // Blobs in it are found by 32 bits; then there is a header.
            FileKind::Pack => (4 << 30) + (17 << 20),
        }
    }
}

/// One file of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileName {
    /// Its kind.
    pub kind: FileKind,
    /// Its id: the SHA-256 of its bytes; all zero for the config.
    pub id: Id,
}

impl FileName {
    /// The config.
    pub const CONFIG: FileName = FileName { kind: FileKind::Config, id: Id([0; Id::BYTES]) };

    /// Returns the path below the repository, with slashes.
    pub fn path(&self) -> String {
        match self.kind {
            FileKind::Config => "config".to_owned(),
            FileKind::Pack => {
                let digits = self.id.to_string();
                format!("data/{}/{digits}", &digits[..2])
            }
            other => format!("{}/{}", other.directory(), self.id),
        }
    }
}

impl Display for FileName {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.path())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_lie_where_restic_looks_for_them() {
        let id: Id = format!("ab{}", "0".repeat(62)).parse().unwrap();
        let path = |kind| FileName { kind, id }.to_string();
        assert_eq!(FileName::CONFIG.to_string(), "config");
        assert_eq!(path(FileKind::Pack), format!("data/ab/{id}"));
        let rest = [FileKind::Key, FileKind::Lock, FileKind::Snapshot, FileKind::Index].map(path);
        assert_eq!(
            rest,
            [format!("keys/{id}"), format!("locks/{id}"), format!("snapshots/{id}"), format!("index/{id}")]
        );
    }
}
