//! All integration tests of the crate `tarantool`, in one binary.
//!
//! Input: the public interface of the crate. Output: failures.

#![expect(
    clippy::unwrap_used,
    reason = "a test that fails names its line, and clippy's leave for tests stops at helpers"
)]

mod block;
mod cat;
mod collation_words;
mod collations;
mod damage;
mod damage_logs;
mod damage_support;
mod diff;
mod duplicate_keys;
mod export;
mod header;
mod key_order;
mod load;
mod msgpack;
mod recovery;
mod repair;
mod rescue;
mod row;
mod salvage;
mod seal;
mod spaces;
mod state;
mod state_random;
mod support;
mod tarantool;
mod until;
mod update;
mod values;
mod vinyl;
mod vinyl_damage;
mod vinyl_made;
mod write;
