//! How a pass runs: what it trusts, and what becomes of rows whose file is gone.

use crate::tables::HeaderCodec;
use std::time::Duration;

/// How much the pass trusts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Names and inodes; a closer look at drafts.
    Default,
    /// The times of directories: one that has not changed is not read. Drafts as by default.
    Lazy,
    /// Size and times of every file.
    Thorough,
}

/// What becomes of rows whose file is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleanup {
    /// They go: what the pass did not see is gone.
    Pass,
    /// They stay, until a pass with cleanup.
    Keep,
    /// They go, after each row's file was looked up on its own: slow, and sharing as little as can be with
    /// the pass. For comparison.
    Legacy,
}

/// What to do when most of a root's files are gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Leave that root as it is and say so.
    Refuse,
    /// It is meant.
    Accept,
}

/// How to run a pass.
#[derive(Clone, Debug)]
pub struct UpdateOptions {
    /// How much to trust.
    pub mode: Mode,
    /// What to do when most files are gone.
    pub loss: Loss,
    /// What becomes of rows whose file is gone.
    pub cleanup: Cleanup,
    /// New messages after which what is done so far is published.
    pub batch_message_count: usize,
    /// Time after which what is done so far is published.
    pub batch_time: Duration,
    /// Content of one message that is held in memory; one that is longer is read in pieces.
    pub message_bytes_max: usize,
    /// Names of header fields that are indexed besides those that every message has.
    pub headers: Vec<String>,
    /// How header records are compressed, if this pass makes the index.
    pub codec: HeaderCodec,
}

impl Default for UpdateOptions {
    fn default() -> UpdateOptions {
        UpdateOptions {
            mode: Mode::Default,
            loss: Loss::Refuse,
            cleanup: Cleanup::Pass,
            batch_message_count: 65_536,
            batch_time: Duration::from_secs(30),
            message_bytes_max: 100 << 20,
            headers: Vec::new(),
            codec: HeaderCodec::default(),
        }
    }
}
