//! The content of a repository's files: blobs and how they are cut and compressed, packs, index files,
//! trees, the config.
//!
//! Turns bytes into values and back, and reads and writes single files. Does not depend on an open repository
//! or its index.

pub(crate) mod blob;
pub mod chunker;
pub(crate) mod compress;
pub mod config;
pub mod index_file;
pub mod pack;
pub mod tree;
pub mod unpacked;
