//! Makes Maildirs: as many messages as wanted, the same ones for the same options, on every machine.
//!
//! Input: [`CorpusOptions`]. Output: files below a directory, and [`facts`] that are known about them without
//! reading them. Does not depend on the programs that read the mail.

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

/// Makes the Maildir that `options` describe in `root`, which is created if it is not there.
///
/// # Errors
/// Disk errors. A Maildir that is already there is an error: mixing two corpora would make the known
/// facts untrue.
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
