//! What to generate, and what was generated.
//!
//! Plain values. Does not depend on how mail is made.

use std::thread;

/// What kind of mail is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Realistic mail: languages, threads, lists, attachments, unusual messages; 8.5 KiB on average.
    Varied,
    /// As many small files as fast as possible, about 300 bytes each: for walks over directories.
    Small,
}

/// What to generate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorpusOptions {
    /// What kind of mail.
    pub profile: Profile,
    /// How many messages. Varied mail has about four more files for each hundred messages: copies in a second
    /// folder.
    pub messages: u32,
    /// The seed of all random choices.
    pub seed: u64,
    /// How many folders, the root included.
    pub folders: usize,
    /// How many threads write. The result does not depend on it.
    pub threads: usize,
}

impl CorpusOptions {
    /// Returns options for `messages` varied messages in 40 folders.
    pub fn varied(messages: u32, seed: u64) -> CorpusOptions {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        CorpusOptions { profile: Profile::Varied, messages, seed, folders: 40, threads }
    }

    /// Returns options for `messages` small messages in 600 folders, with 36 of 137 messages in the root.
    pub fn small(messages: u32, seed: u64) -> CorpusOptions {
        CorpusOptions { profile: Profile::Small, folders: 600, ..CorpusOptions::varied(messages, seed) }
    }
}

/// What was generated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corpus {
    /// Files written.
    pub files: u64,
    /// Their length in bytes.
    pub bytes: u64,
    /// The folders, the root first.
    pub folders: Vec<FolderCount>,
}

/// A generated folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderCount {
    /// The path below the root, empty for the root itself. Not always UTF-8.
    pub path: Vec<u8>,
    /// Files in its `cur` and `new`.
    pub files: u64,
}
