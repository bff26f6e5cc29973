//! Makes Maildirs: as many messages as wanted, the same ones for the same options, on every machine.
//!
//! Comes in: [`CorpusOptions`]. Goes out: files below a directory, and [`facts`] known of them without reading. Must not know who
//! reads them.

mod body;
mod date;
mod encode;
mod facts;
mod folders;
mod message;
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

use std::io;
use std::path::Path;
use std::thread;

/// What kind of mail is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Mail as people keep it: languages, threads, lists, attachments, oddities; 8.5 KiB on average.
    Varied,
    /// As many small files as fast as possible, about 300 bytes each: for walking.
    Small,
}

/// What to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorpusOptions {
    /// What kind of mail.
    pub profile: Profile,
    /// How many messages. Varied mail has about four files more for each hundred: copies in a second folder.
    pub messages: u32,
    /// All random choices follow from it.
    pub seed: u64,
    /// How many folders, the root included.
    pub folders: usize,
    /// How many threads write. The files do not depend on it.
    pub threads: usize,
}

impl CorpusOptions {
    /// Returns options for `messages` varied messages in 40 folders.
    pub fn varied(messages: u32, seed: u64) -> CorpusOptions {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        CorpusOptions { profile: Profile::Varied, messages, seed, folders: 40, threads }
    }

    /// Returns options for `messages` small messages in 600 folders; 36 of 137 of them lie in the root.
    pub fn small(messages: u32, seed: u64) -> CorpusOptions {
        CorpusOptions { profile: Profile::Small, folders: 600, ..CorpusOptions::varied(messages, seed) }
    }
}

/// What was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corpus {
    /// Files written.
    pub files: u64,
    /// Their length in bytes.
    pub bytes: u64,
    /// The folders, the root first.
    pub folders: Vec<FolderCount>,
}

/// A folder that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderCount {
    /// The path below the root, empty for the root itself. Not always UTF-8.
    pub path: Vec<u8>,
    /// Files in its `cur` and `new`.
    pub files: u64,
}

/// Makes the Maildir that `options` describe in `root`, which is created if it is not there.
///
/// # Errors
/// What the disk says. A Maildir that is already there is an error: mixing two corpora would make the known facts untrue.
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
