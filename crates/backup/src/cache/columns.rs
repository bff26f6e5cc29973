//! Names of the tables of the cache, and the numbers of their columns. docs/FORMAT.md describes each column.

/// Directories of the last snapshot.
pub(super) mod directories {
    /// The table's name.
    pub(crate) const TABLE: &str = "directories";
    /// The absolute path, without a slash at the end (bytes, primary key).
    pub(crate) const PNEU_DIRECTORY: usize = 0;
    /// Its number (u32).
    pub(crate) const NUMBER: usize = 1;
    /// Its tree in the last snapshot (id).
    pub(crate) const TREE: usize = 2;
}

/// Files of the last snapshot.
pub(super) mod nodes {
    /// The table's name.
    pub(crate) const TABLE: &str = "nodes";
    /// The name, exact bytes (second of the primary key, after the directory's number).
    pub(crate) const NAME: usize = 1;
    /// Its inode (u64).
    pub(crate) const INODE: usize = 2;
    /// Its size in bytes (u64).
    pub(crate) const SIZE: usize = 3;
    /// Its time of modification (i64).
    pub(crate) const MTIME: usize = 4;
    /// Its time of status change (i64).
    pub(crate) const CTIME: usize = 5;
    /// Its type and permissions (u32).
    pub(crate) const MODE: usize = 6;
    /// Its owner (u32).
    pub(crate) const UID: usize = 7;
    /// Its group (u32).
    pub(crate) const GID: usize = 8;
    /// SHA-256 of its content (id).
    pub(crate) const CONTENT: usize = 9;
}

/// Contents that are cut into pieces.
pub(super) mod chunks {
    /// The table's name.
    pub(crate) const TABLE: &str = "chunks";
    /// The SHA-256 of the whole (id, primary key).
    pub(crate) const CONTENT: usize = 0;
    /// The ids of the pieces, concatenated (bytes).
    pub(crate) const PIECES: usize = 1;
}

/// Messages whose file is compressed.
pub(super) mod compressed {
    /// The table's name.
    pub(crate) const TABLE: &str = "compressed";
    /// SHA-256 of the message (id, primary key).
    pub(crate) const MESSAGE: usize = 0;
    /// SHA-256 of the file's content (id).
    pub(crate) const CONTENT: usize = 1;
}
