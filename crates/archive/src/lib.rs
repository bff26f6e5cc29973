//! Repositories in restic's format: deduplicated, compressed, encrypted.
//!
//! Comes in: a [`Storage`] that keeps files, a password, blobs. Goes out: blobs, trees and snapshots that restic itself reads and checks,
//! or an [`Error`] that names the file. Must not know mail, terminals, or who uses it.
//!
//! A *blob* is a piece of a file, or a directory as a *tree*; its name is the SHA-256 of its content. Blobs lie in *packs*, *index files*
//! say where, *snapshots* name the tree at the top. The format is restic's, <https://restic.readthedocs.io/en/stable/100_references.html>.

mod again;
mod blob;
mod blob_index;
mod check;
pub mod chunker;
mod compress;
pub mod config;
mod error;
mod find;
pub mod forget;
mod hex;
mod id;
pub mod index_file;
mod json;
mod key;
pub mod key_file;
mod list;
pub mod lock;
pub mod pack;
mod password;
pub mod pattern;
mod progress;
mod prune;
mod read;
mod repository;
mod restore;
pub mod select;
pub mod snapshot;
mod statistics;
mod storage;
mod surroundings;
pub mod testing;
mod threads;
mod time;
pub mod tree;
mod unnamed;
pub mod unpacked;
mod used;
mod walk;
mod write;

pub use blob::{BlobKind, Location, PackedBlob};
pub use blob_index::{
    BlobIndex, CachePlace, Entry, IndexFiles, Mention, PackSummary, SealedIndexFiles, Survey,
};
pub use check::{CheckReport, ReadData, check};
pub use compress::{Compression, Zstd};
pub use config::Config;
pub use error::{Error, Result};
pub use find::{Found, Wish, find};
pub use id::Id;
pub use json::JsonWriter;
pub use key::{Damaged, Key, OVERHEAD};
pub use key_file::{Cost, KeyFile};
pub use list::{Next, list, load_tree, node_at};
pub use lock::{HeldLock, LockKind, Surrender, Which as WhichLocks, unlock};
pub use password::Password;
pub use pattern::Pattern;
pub use progress::{Progress, Unwatched};
pub use prune::{
    MaxUnused, PruneFigures, PruneOptions, PrunePlan, PruneReport, carry_out as prune, plan as plan_prune,
    plan_without as plan_prune_without,
};
pub use read::{EachBlob, Reading, Wanted};
pub use repository::{CacheDirectory, Repository};
pub use restore::{Choice, Overwrite, RestoreOptions, RestoreProblem, RestoreReport, restore};
pub use snapshot::Snapshot;
pub use statistics::{Statistics, statistics};
pub use storage::address::{self, Address};
pub use storage::{FileKind, FileName, LocalStorage, Retry, Storage, Told};
#[cfg(feature = "s3")]
pub use storage::{Limits, ObjectStorage};
pub use surroundings::Surroundings;
pub use time::Time;
pub use tree::{Node, NodeKind};
pub use unnamed::{Unnamed, unnamed};
pub use unpacked::{Parts, Version};
pub use walk::{DEPTH_COUNT_MAX, Place, Repeats, RootSet, Sharing, Visitor, WalkProblem, shown_path, walk};
pub use write::{SaveOptions, SaveStatistics, Saved, SavedFile, Saver};
