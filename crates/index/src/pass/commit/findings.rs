//! What a batch of a pass has found out, before it is based on a commit.
//!
//! Input: files with the numbers of their messages, parsed messages, segments of text. Output: the same,
//! together. Knows no commit.

use crate::pass::commit::dates::NamedDates;
use crate::pass::commit::parse::Parsed;
use crate::pass::plan::{Candidate, Move};
use crate::pass::scan::Found;
use crate::pass::summary::Summary;
use crate::rows::FileRow;
use crate::state::TextSegment;
use mail::FileStat;
use std::collections::HashSet;

/// What is done without reading a file: rows that move, rows that get other times, drafts that only moved.
#[derive(Default)]
pub(in crate::pass) struct Unread {
    pub(in crate::pass) moved: Vec<Move>,
    pub(in crate::pass) restated: Vec<(FileRow, Found, FileStat)>,
    pub(in crate::pass) whole: Vec<Candidate>,
}

/// Where the numbers of new messages come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pass) enum Claim {
    /// They were set aside by an earlier commit.
    Granted,
    /// Nobody had them when the pass began. It begins again if somebody has them now.
    From(u32),
}

/// What a batch has found out.
pub(in crate::pass) struct Findings {
    pub(in crate::pass) unread: Unread,
    /// Files that were read: their place in the plan, and the number of their message.
    pub(in crate::pass) files: Vec<(usize, u32, FileStat)>,
    /// New messages.
    pub(in crate::pass) messages: Vec<Parsed>,
    pub(in crate::pass) text: Vec<TextSegment>,
    /// Dates of new messages that have no file.
    pub(in crate::pass) named: NamedDates,
    /// Whether the new messages have no file.
    pub(in crate::pass) are_absent: bool,
    pub(in crate::pass) claim: Claim,
    /// How many numbers to set aside for later batches.
    pub(in crate::pass) wanted_count: usize,
    /// Whether files that no commit names are removed afterwards. The writer is kept for that.
    pub(in crate::pass) cleans_up: bool,
    pub(in crate::pass) end: Option<End>,
}

/// The end of a pass.
pub(in crate::pass) struct End {
    /// Whether all files were taken. If not, rows of files that seem gone stay: they may only have moved.
    pub(in crate::pass) is_complete: bool,
    /// Folders with files that could not be read.
    pub(in crate::pass) unreadable: HashSet<usize>,
}

impl Findings {
    /// Marks the last findings of a pass without files.
    pub(in crate::pass) fn end(&mut self) {
        self.cleans_up = true;
        self.end = Some(End { is_complete: true, unreadable: HashSet::new() });
    }

    /// Returns whether they are the last of their pass.
    pub(in crate::pass) fn is_last(&self) -> bool {
        self.end.is_some()
    }

    /// Returns findings without any file or message.
    pub(in crate::pass) fn none(claim: Claim) -> Findings {
        Findings {
            unread: Unread::default(),
            files: Vec::new(),
            messages: Vec::new(),
            text: Vec::new(),
            named: NamedDates::default(),
            are_absent: false,
            claim,
            wanted_count: 0,
            cleans_up: false,
            end: None,
        }
    }
}

/// What a commit holds.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::pass) struct Counts {
    pub(in crate::pass) new_messages: u64,
    pub(super) added: u64,
    pub(super) changed: u64,
    pub(super) moved: u64,
    pub(super) gone: u64,
}

impl Counts {
    /// Adds what another commit holds.
    pub(in crate::pass) fn add(&mut self, other: Counts) {
        self.new_messages += other.new_messages;
        self.added += other.added;
        self.changed += other.changed;
        self.moved += other.moved;
        self.gone += other.gone;
    }

    pub(in crate::pass) fn add_to(self, summary: &mut Summary) {
        summary.new_messages += self.new_messages;
        summary.added += self.added;
        summary.changed += self.changed;
        summary.moved += self.moved;
        summary.gone += self.gone;
    }
}
