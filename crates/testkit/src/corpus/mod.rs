//! Generates Maildirs of any size. The same options give the same messages on every machine.
//!
//! Input: [`CorpusOptions`]. Output: files below a directory, and [`facts`] about them. Does not depend on
//! the programs that read the mail.

mod body;
mod date;
mod encode;
mod facts;
mod folders;
mod message;
mod options;
mod people;
mod shape;
mod small;
mod text;
mod varied;
mod words;
mod write;

pub use facts::{
    ACCENTED_WORD, ATTACHMENT_NAME, AUTHOR_ADDRESS, AUTHOR_NAME, COMMON_PHRASE, FOLDED_WORD, Fact,
    RARE_COUNT, RARE_WORD, SUBJECT_WORD, facts,
};
pub use options::{Corpus, CorpusOptions, FolderCount, Profile};

use std::io;
use std::path::Path;

/// Generates the Maildir of `options` in `root`, which is created if it does not exist.
///
/// # Errors
/// Disk errors. An existing Maildir is an error, because the known facts would not hold for a mixture of two
/// corpora.
pub fn generate(root: &Path, options: &CorpusOptions) -> io::Result<Corpus> {
    if root.join("cur").exists() {
        let sentence = format!("{} holds a Maildir already; remove it or name another place", root.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, sentence));
    }
    match options.profile {
        Profile::Varied => varied::generate(root, options),
        Profile::Small => small::generate(root, options),
    }
}
