//! What to restore, and what to do with files that are there already.

/// Whether to restore what is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Restore it.
    Take,
    /// Do not restore it, but perhaps something below it.
    Pass,
    /// Restore neither it nor anything below it.
    Skip,
}

/// What to do where a file exists already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overwrite {
    /// Keep it.
    #[default]
    Never,
    /// Replace it if the snapshot's file was modified later.
    IfNewer,
    /// Replace it.
    Always,
}

/// Options of a restore.
pub struct RestoreOptions<'a> {
    /// Decides what to restore, by the path below the tree: "/cur/1:2,S".
    pub choose: &'a (dyn Fn(&[u8]) -> Choice + Sync),
    /// What to do with existing files.
    pub overwrite: Overwrite,
}
