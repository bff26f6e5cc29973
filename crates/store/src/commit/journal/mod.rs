//! The journal: the commits since the manifest was published (docs/FORMAT.md, "Journal").
//!
//! `record.rs` encodes and decodes records, `read.rs` reads a journal, `sectors.rs` divides bytes
//! into sectors, and `version_1.rs` reads journals without sectors. None of them depends on what a record
//! does to tables.

mod read;
mod record;
mod sectors;
mod version_1;

pub(crate) use read::{begins_as, encode_empty, read, read_on, together};
pub(crate) use record::{JournalContents, Kill, Record, TableChange};

#[cfg(test)]
#[expect(clippy::arithmetic_side_effects, reason = "a wrong number fails the test")]
mod tests;
