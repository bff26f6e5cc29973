//! What the threads that read and parse files share.
//!
//! Input: groups of files that were read, messages to be parsed. Output: what is to be done next, and what
//! has become of each batch. Knows no threads: the pipeline has the lock, does the work and wakes them.

use crate::pass::commit::contents::Read;
use crate::pass::commit::parse::{Parsed, Task};
use crate::state::TextSegment;
use crate::text::Documents;
use std::collections::{BTreeMap, VecDeque};

/// A file that was read: its place among the files, and its content. Of a large one only the beginning.
pub(in crate::pass) type FileRead = (usize, mail::Result<Read>);

/// The number of a batch.
pub(in crate::pass) type BatchNumber = u64;

/// A task in the queue.
pub(super) struct Queued {
    pub(super) batch: BatchNumber,
    pub(super) task: Task,
    pub(super) bytes: usize,
    /// What a large message counts for, in bytes; 0 for a task of small ones.
    pub(super) large_bytes: u64,
}

/// A writer of text, with the batch that it writes for.
pub(super) struct Writing {
    pub(super) batch: BatchNumber,
    pub(super) documents: Box<dyn Documents>,
}

/// What has become of a batch.
#[derive(Default)]
pub(super) struct BatchState {
    pub(super) parsed: Vec<Parsed>,
    pub(super) text: Vec<TextSegment>,
    /// Tasks that are not parsed yet, and writers that are not finished.
    pub(super) open_count: usize,
}

/// What a thread has to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// To parse the first task in the queue.
    Parse,
    /// To finish its writer, whose batch has no more messages.
    Finish,
    /// Nothing yet.
    Wait,
}

/// All of it.
#[derive(Default)]
pub(super) struct State {
    /// The next group to be read, and the next to be taken.
    pub(super) next_group: usize,
    pub(super) taken_group: usize,
    pub(super) read: BTreeMap<usize, Vec<mail::Result<Read>>>,
    pub(super) read_bytes: usize,
    pub(super) tasks: VecDeque<Queued>,
    /// Bytes of all tasks in the queue.
    pub(super) waiting_bytes: usize,
    /// What large messages that are queued or being parsed count for, in bytes.
    pub(super) large_bytes: u64,
    /// The batch that takes messages. Earlier ones have ended.
    pub(super) batch: BatchNumber,
    pub(super) batches: BTreeMap<BatchNumber, BatchState>,
    /// The writer of the coordinator, where it parses.
    pub(super) own: Option<Writing>,
    /// Whether no more files shall be taken: what was read before cannot be published.
    pub(super) has_given_up: bool,
    /// The first error of a worker.
    pub(super) failure: Option<crate::Error>,
    /// Whether something is missing that was handed over.
    pub(super) has_failed: bool,
    /// Whether a thread panicked: what it had taken is missing.
    pub(super) has_panicked: bool,
    pub(super) is_stopped: bool,
}

impl State {
    /// Returns whether no more messages of a batch wait to be parsed, nor will.
    fn is_handed_out(&self, batch: BatchNumber) -> bool {
        batch < self.batch && self.tasks.front().is_none_or(|queued| queued.batch > batch)
    }

    /// Returns the state of a batch.
    pub(super) fn batch(&mut self, batch: BatchNumber) -> &mut BatchState {
        self.batches.entry(batch).or_default()
    }

    /// Returns what a thread has to do next, if its writer writes for this batch, or it has none.
    pub(super) fn next(&self, writes_for: Option<BatchNumber>) -> Next {
        if writes_for.is_some_and(|batch| self.is_handed_out(batch)) {
            Next::Finish
        } else if self.tasks.is_empty() {
            Next::Wait
        } else {
            Next::Parse
        }
    }

    /// Notes that something is missing from now on.
    pub(super) fn fail(&mut self, error: crate::Error) {
        self.failure.get_or_insert(error);
        self.has_failed = true;
    }
}
