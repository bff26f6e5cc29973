//! Repositories in restic's format: deduplicated, compressed, encrypted.
//!
//! A [`Repository`] is opened on a [`Storage`] with a password. Blobs, trees and snapshots written here can
//! be read and checked by restic itself. Every [`Error`] names the file it is about. The crate knows nothing
//! of mail or terminals.
//!
//! A *blob* is a piece of a file, or a directory as a *tree*; its name is the SHA-256 of its content. Blobs
//! lie in *packs*, *index files* say where, and *snapshots* name the tree at the top. The format is
//! restic's, <https://restic.readthedocs.io/en/stable/100_references.html>.

mod blob_index;
mod check;
mod crypto;
mod encoding;
mod error;
mod file_name;
mod format;
pub mod lock;
mod prune;
mod remedy;
mod repository;
mod restore;
mod save;
mod snapshots;
mod statistics;
mod storage;
mod surroundings;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod this_process;
mod threads;
mod trees;

pub use blob_index::{
    BlobIndex, Entry, IndexCache, IndexFiles, Mention, PackSummary, SealedIndexFiles, Survey,
};
pub use check::{CheckReport, Hint, ReadData, check};
pub use crypto::key::{Damaged, Key, OVERHEAD};
pub use crypto::key_file::{self, Cost, KeyFile};
pub use crypto::password::Password;
pub use encoding::id::Id;
pub use encoding::json::JsonWriter;
pub use encoding::time::Time;
pub use error::{CacheError, Error, Result};
pub use file_name::{FileKind, FileName};
pub use format::blob::{BlobKind, Location, PackedBlob};
pub use format::chunker;
pub use format::compress::{Compression, Zstd};
pub use format::config::{self, Config};
pub use format::index_file;
pub use format::pack;
pub use format::tree::{self, Node, NodeKind};
pub use format::unpacked::{self, Parts, Version};
pub use lock::{HeldLock, LockKind, LockReleaser, WhichLocks, unlock};
pub use prune::{
    MaxUnused, PruneFigures, PruneOptions, PrunePlan, PruneReport, carry_out as prune, plan as plan_prune,
    plan_without as plan_prune_without,
};
pub use remedy::Remedy;
pub use repository::read::{EachBlob, Reading, Wanted};
pub use repository::unindexed_packs::{UnindexedPacks, unindexed_packs};
pub use repository::{CacheDirectory, Repository};
pub use restore::{Choice, Overwrite, RestoreOptions, RestoreProblem, RestoreReport, restore};
pub use save::{SaveOptions, SaveStatistics, Saved, SavedFile, Saver};
pub use snapshots::forget;
pub use snapshots::remove::remove_snapshots;
pub use snapshots::select;
pub use snapshots::snapshot::{self, Snapshot};
pub use statistics::{Statistics, statistics};
pub use storage::address::{self, Address};
#[cfg(feature = "s3")]
pub use storage::{Limits, ObjectStorage};
pub use storage::{LocalStorage, Retry, Storage, StorageOptions, Told, open_storage};
pub use surroundings::Surroundings;
pub use trees::find::{FindFilter, Found, find};
pub use trees::list::{Next, list, load_tree, node_at};
pub use trees::pattern::{self, Pattern};
pub use trees::rewrite::{Depth, Edit, Edited, Rewritten, TreeRewriter};
pub use trees::walk::{
    DEPTH_COUNT_MAX, Repeats, RootSet, Sharing, VisitedDirectory, Visitor, WalkProblem, shown_path, walk,
};
