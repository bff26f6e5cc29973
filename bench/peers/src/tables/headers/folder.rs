//! The folder that is opened: its mail and its name.
//!
//! Does not know which programs open it.

use crate::options::{Sizes, counted};
use measure::corpora;
use testkit::corpus::CorpusOptions;

/// Returns the folder's mail.
pub(super) fn folder(sizes: &Sizes) -> CorpusOptions {
    CorpusOptions { folders: 1, ..CorpusOptions::varied(sizes.folder_messages, corpora::SEED) }
}

/// The name of the folder in names of work.
pub(super) fn label(sizes: &Sizes) -> String {
    format!("{} messages", counted(sizes.folder_messages.into()))
}
