//! Backs up mail as snapshots of a restic repository, and brings it back.
//!
//! Input: the index, the Maildirs, an open repository. Output: snapshots that hold the Maildirs as they are
//! on disk; and from snapshots messages, deleted mail, and a mailbox as of a date. The crate joins `index`,
//! which knows messages, and `restic`, which knows snapshots; neither knows the other. Must not know
//! terminals.
//!
//! # Cost
//! All functions take `&self` or plain references and keep nothing between calls, so a server may call them
//! again and again.
//! - No repository access: [`apply_policy`], [`choose_snapshots`], [`first_snapshot_seconds`],
//!   [`is_relevant`], [`latest_snapshot`], [`resolved_roots`].
//! - Lookups in the repository's index, and one blob per piece: [`ArchivedMessages::message`], and `holds` of
//!   [`index::Archive`]. The first message that neither the local cache nor the repository's index knows
//!   makes an [`ArchivedMessages`] read the lists of pieces, which lists all snapshots and reads the newest
//!   list of each host and its paths. Keep one [`ArchivedMessages`] for many questions.
//! - Walks over all trees of the given snapshots: `each_key` and `read` of [`index::ReadableArchive`] (the
//!   first call), [`MessageArchive::moment`], [`MessageArchive::undelete`],
//!   [`MessageArchive::lost_messages`].
//! - Reads every pack that no index file names: [`ArchivedMessages::unindexed`] and
//!   [`ArchivedMessages::is_unindexed`] (once).
//! - Looks at every file of the Maildirs: [`backup`], [`LookAhead`].

mod archive;
mod blobs;
mod cache;
mod choose;
mod erase;
mod error;
mod excluded;
mod forget;
mod lost;
mod names;
mod paths;
mod pieces;
mod read;
mod remedy;
mod restored;
mod roots;
#[cfg(test)]
mod testing;
mod undelete;
mod write;

pub use archive::{MessageArchive, UndeleteReport, Unreferenced};
pub use choose::{ChosenSnapshot, SnapshotChoice, choose_snapshots, first_snapshot_seconds, is_relevant};
pub use erase::Erased;
pub use error::{CacheError, Error, Problem, Result};
pub use excluded::{excluded_folders, noindex_directories};
pub use forget::{PolicyOutcome, apply_policy, latest_snapshot};
pub use lost::find::{LostMessage, LostReport};
pub use lost::keep::keep_messages;
pub use names::DELETED_TAG;
pub use read::messages::{ArchivedMessages, UnindexedMessages};
pub use remedy::Remedy;
pub use restored::{
    CONFIGURATION_BYTES_MAX, import_restored_folders, import_restored_queries, import_restored_tags,
    restored_configuration,
};
pub use roots::resolved_roots;
pub use undelete::put_back::Undeleted;
pub use write::backup::{BackupReport, backup, backup_after};
pub use write::look_ahead::LookAhead;
pub use write::snapshot::{BackupOptions, Target};
pub use write::store_mail::Counts;
