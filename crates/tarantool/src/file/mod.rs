//! Tarantool's files: a header, then blocks of rows. Reads, finds and writes them.
//!
//! From the inside out: `row` and `block` decode bytes, `header` reads the beginning of a file, `find_block`
//! searches for the next sound block after damage, `chunks` divides blocks among threads, `directory` lists
//! and opens files, `write` writes them. Nothing here knows spaces or what rows do.

pub(crate) mod block;
pub(crate) mod chunks;
pub(crate) mod directory;
pub(crate) mod find_block;
pub(crate) mod header;
pub(crate) mod row;
pub(crate) mod write;
