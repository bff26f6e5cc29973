//! All integration tests of the crate `store`, in one binary.
//!
//! Comes in: the crate as its users see it, on simulated and real disks. Goes out: failures. Must not know the crate's insides.

#![expect(
    clippy::unwrap_used,
    reason = "a test that fails names its line, and clippy's leave for tests stops at helpers"
)]

mod crash;
mod damage;
mod instead;
mod lent;
mod limits;
mod loaded;
mod millions;
mod readers;
mod sealed;
mod second;
mod segment;
mod segment_by_hand;
mod segment_damage;
mod segment_format;
mod segment_support;
mod store_format;
mod support;
mod twin;
mod writer;
