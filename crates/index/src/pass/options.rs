//! How a pass runs: what it trusts, and what happens to rows whose file is gone.

use crate::attached::{Asking, AttachmentReader};
use crate::tables::HeaderCodec;
use std::sync::Arc;
use std::time::Duration;
use work::Progress;

/// How much the pass trusts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Names and inodes. Drafts are checked by size and times, and read if they have another inode.
    Default,
    /// As by default. But where a directory changed within the last minute and its names did not, its files
    /// are left to a later pass: for a caller that looks at every file itself.
    Brief,
    /// The times of directories: unchanged directories are not read. Drafts are checked as by default.
    Lazy,
    /// Size and times of every file. One that has another inode is read.
    Thorough,
}

/// What happens to rows whose file is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cleanup {
    /// They are removed: a file that the pass did not see is gone.
    Pass,
    /// They stay until a pass with cleanup.
    Keep,
    /// They are removed after each row's file was looked up separately. This is slow, and shares as little
    /// code as possible with the pass. For comparison.
    Legacy,
}

/// What to do when most of a root's files are gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Leave that root as it is, and report a problem.
    Refuse,
    /// Accept the loss.
    Accept,
}

/// How to run a pass.
#[derive(Clone, Debug)]
pub struct UpdateOptions {
    /// How much to trust.
    pub mode: Mode,
    /// What to do when most files are gone.
    pub loss: Loss,
    /// What happens to rows whose file is gone.
    pub cleanup: Cleanup,
    /// Publish after this many new messages.
    pub batch_message_count: usize,
    /// Publish after this time. The first batches of a pass are published sooner.
    pub batch_time: Duration,
    /// Largest message that is held in memory, in bytes. A larger one is read in pieces.
    pub message_bytes_max: usize,
    /// Names of header fields that are indexed in addition to the standard ones.
    pub headers: Vec<String>,
    /// What reads the text of attachments, if anything does. A pass over the disk never asks it, so that no
    /// new mail waits for it. It is asked after the pass, and while messages of an archive are added.
    pub attachments: Option<Arc<dyn AttachmentReader>>,
    /// How header records are compressed, if this pass creates the index.
    pub codec: HeaderCodec,
    /// Whether segments that are due are merged at the end of the pass. If not, the caller merges them
    /// elsewhere: [`merge`](crate::merge).
    pub merges: bool,
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
            attachments: None,
            codec: HeaderCodec::default(),
            merges: true,
        }
    }
}

impl UpdateOptions {
    /// Returns what reads the text of attachments, until `observer` says to stop.
    pub(crate) fn asking<'a>(&'a self, observer: &'a dyn Progress) -> Option<Asking<'a>> {
        self.attachments.as_deref().map(|reader| Asking { reader, observer })
    }
}
