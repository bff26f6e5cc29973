//! Names that this program gives to things in its snapshots. docs/FORMAT.md lists them.

use restic::Snapshot;

/// The tag of snapshots that keep messages which no other snapshot has, and the directory at the top of such
/// a snapshot.
pub const DELETED_TAG: &str = "pneu-deleted";
/// The directory at the top of a snapshot for files from outside the Maildirs.
pub(crate) const PNEU_DIRECTORY: &[u8] = b"/.pneu";
/// The file in it that lists which pieces make up which message.
pub(crate) const PIECES: &str = "pieces";
/// The file of tags in it.
pub(crate) const TAGS: &str = "tags";
/// The file of saved queries in it.
pub(crate) const QUERIES: &str = "queries";
/// The file of what is kept of folders in it.
pub(crate) const FOLDERS: &str = "folders";
/// The configuration in it.
pub(crate) const CONFIGURATION: &str = "config.toml";

/// Returns whether a snapshot keeps messages that no other snapshot has, instead of a mailbox.
pub(crate) fn keeps_deleted(snapshot: &Snapshot) -> bool {
    snapshot.tags.iter().any(|tag| tag == DELETED_TAG)
}

/// Returns the original path of a directory in a snapshot of deleted messages.
pub(crate) fn original(directory: &[u8]) -> &[u8] {
    let kept = directory.strip_prefix(b"/").and_then(|rest| rest.strip_prefix(DELETED_TAG.as_bytes()));
    kept.filter(|rest| rest.first() == Some(&b'/')).unwrap_or(directory)
}
