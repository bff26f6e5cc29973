//! All integration tests of the crate `store`, in one binary.

#![expect(
    clippy::unwrap_used,
    reason = "a test that fails names its line, and clippy's leave for tests stops at helpers"
)]

mod continues;
mod crash;
mod damage;
mod dictionaries;
mod difference;
mod known;
mod limits;
mod load_instead;
mod loaded;
mod millions;
mod more_tables;
mod prepared;
mod promises;
mod readers;
mod sealed;
mod second_copy;
mod segment;
mod segment_by_hand;
mod segment_damage;
mod segment_format;
mod segment_support;
mod store_format;
mod support;
mod twin;
mod writer;
