//! A repository as this crate uses it: trees of entries, and pieces of files.
//!
//! Everything else in this crate uses the traits [`BlobReader`](reader::BlobReader) and
//! [`BlobWriter`](writer::BlobWriter), so that it can be tested with a repository in memory. Only
//! `repository` and `unindexed` use `restic`'s repository. Does not depend on the index or the cache.

pub(crate) mod entry;
pub(crate) mod reader;
pub(crate) mod repository;
pub(crate) mod stream;
pub(crate) mod unindexed;
pub(crate) mod walk;
pub(crate) mod writer;
