//! Runs the real program on small Maildirs in temporary directories. All integration tests of the crate, in
//! one binary.
//!
//! Input: the built program. Output: whether it prints, leaves and returns what it should. Does not depend on
//! its modules.

#![expect(
    clippy::unwrap_used,
    reason = "a test that fails names its line, and clippy's leave for tests stops at helpers"
)]

mod accounts;
mod actions;
mod archive;
mod archive_and_index;
mod archive_find;
mod archive_lost;
mod archive_only;
mod archive_unnamed;
mod attachments;
mod attacks;
mod both_ways;
mod boundaries;
mod changes;
mod clocks;
mod completions;
mod contacts;
mod copies;
mod count;
mod damage;
mod damaged_data;
mod decrypted;
mod dedupe;
mod deliver;
mod delivery;
mod doctor;
mod endings;
mod endless;
mod export;
mod extract;
mod failing;
mod flag_tags;
mod formats;
mod generated;
mod hostile;
mod import;
mod independent;
mod init;
mod interrupted;
mod invitations;
mod large;
mod links;
mod mbsync;
mod mute;
mod pass;
mod passwords;
mod personal;
mod protected;
mod protected_attacks;
mod queries;
mod real;
mod rights;
mod roots;
mod rules;
mod serve;
mod shown;
mod stats;
mod support;
mod tags;
mod terminal;
mod thread_view;
mod threads;
mod undelete;
mod upgrade;
mod view;
mod watching;
mod writers;
