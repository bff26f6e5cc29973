//! The mailboxes that are indexed, and the programs that index them.
//!
//! Input: sizes. Output: which mail. Does not know what is measured on it.

use crate::options::{Sizes, counted};
use measure::corpora;
use testkit::corpus::CorpusOptions;

/// The programs.
pub(crate) const COLUMNS: [&str; 4] = ["pneu", "mu", "notmuch", "mairix"];

/// Folders of messages with text. Later folders have compressed files, which the other programs do not read.
const TEXT_FOLDERS: usize = 8;

/// A mailbox.
pub(super) struct Mailbox {
    /// Its name in names of work.
    pub(super) label: String,
    pub(super) kind: Kind,
    pub(super) options: CorpusOptions,
}

/// The kind of a mailbox, which determines what is measured on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Very many small messages: everything.
    Small,
    /// Messages with text: what depends on it, the first index and queries.
    Text,
}

impl Kind {
    /// Returns its name in the directory of kept mailboxes.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Small => "small",
            Kind::Text => "plain",
        }
    }
}

/// Returns the mailboxes: several sizes of many small messages, so that growth shows, and a realistic one.
pub(super) fn mailboxes(sizes: &Sizes) -> Vec<Mailbox> {
    let small = |&messages: &u32| Mailbox {
        label: counted(messages.into()),
        kind: Kind::Small,
        options: CorpusOptions::small(messages, corpora::SEED),
    };
    let text =
        CorpusOptions { folders: TEXT_FOLDERS, ..CorpusOptions::varied(sizes.text_messages, corpora::SEED) };
    let text = Mailbox {
        label: format!("{} with text", counted(sizes.text_messages.into())),
        kind: Kind::Text,
        options: text,
    };
    sizes.index_messages.iter().map(small).chain([text]).collect()
}
