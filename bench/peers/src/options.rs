//! What is measured, how often, and at which sizes.
//!
//! Input: arguments. Output: options. Does not know how anything is measured.

use clap::{Args, ValueEnum};
pub(crate) use measure::series::counted;
use std::path::{Path, PathBuf};

/// What to measure, and with what.
#[derive(Args)]
pub(crate) struct Options {
    /// The release program. pneu-tarantool must be beside it.
    #[arg(long, default_value = "target/release/pneu")]
    pub(crate) program: PathBuf,
    /// Directory for generated mail, repositories and snapshots, outside the repository; about 30 GB, with
    /// --quick about 1 GB.
    #[arg(long, default_value = "/tmp/pneu-bench")]
    pub(crate) corpora: PathBuf,
    /// A Maildir tree of yours: the table `index` measures the first index of this mail, and no generated
    /// mail. It is only read. Results have its number of messages and their size, no names and no text.
    #[arg(long, value_name = "DIR")]
    mail: Option<PathBuf>,
    /// Directory for results. Each run creates a directory in it.
    #[arg(long, default_value = "bench/runs")]
    pub(crate) runs: PathBuf,
    /// The name of this machine in the results [default: from its processor].
    #[arg(long)]
    pub(crate) machine: Option<String>,
    /// How often each thing is measured; the median counts [default: 5, with --quick 3].
    #[arg(long)]
    rounds: Option<usize>,
    /// How often to measure work of which a round takes half a minute [default: as often as the rest, with
    /// --quick once].
    #[arg(long)]
    slow_rounds: Option<usize>,
    /// Smaller sizes and fewer rounds: all tables in less than ten minutes.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Add to the run of this name and day: its results of the same commit stay and get more samples.
    #[arg(long)]
    pub(crate) resume: bool,
    /// Only these tables.
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(crate) only: Vec<Part>,
    /// Leave out these programs, which are not even looked for: mu needs more than 13 minutes for each first
    /// index of 89,297 messages.
    #[arg(long, value_name = "PROGRAM", value_delimiter = ',')]
    pub(crate) without: Vec<String>,
    /// Only these sizes of the tables `index` and `recovery`, as in the names of work: "200 k", "20 k with
    /// text", "64 M".
    #[arg(long = "sizes", value_name = "SIZE", value_delimiter = ',')]
    asked_sizes: Vec<String>,
    /// After a first index and queries, only these passes of the table `index`.
    #[arg(long, value_enum, value_delimiter = ',')]
    passes: Vec<Passes>,
    /// Only these pieces of the table `merge`.
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(crate) pieces: Vec<Piece>,
    #[command(flatten)]
    sizes: SizeOptions,
}

/// Sizes that replace the usual ones.
#[derive(Args)]
struct SizeOptions {
    /// Messages of the mailboxes that are indexed.
    #[arg(long, value_delimiter = ',')]
    index_messages: Vec<u32>,
    /// Messages of the mailbox with text that is indexed.
    #[arg(long)]
    text_messages: Option<u32>,
    /// Messages of the mailbox in which messages are tagged and delivered.
    #[arg(long)]
    action_messages: Option<u32>,
    /// Messages of the folder that is opened.
    #[arg(long)]
    folder_messages: Option<u32>,
    /// Messages of the mailbox that is backed up.
    #[arg(long)]
    backup_messages: Option<u32>,
    /// Messages of the mailbox in whose snapshots a file is searched.
    #[arg(long)]
    find_messages: Option<u32>,
    /// Blobs of the repository that is opened.
    #[arg(long)]
    blobs: Option<u64>,
    /// Rows of the snapshots that are recovered.
    #[arg(long, value_delimiter = ',')]
    recovery_rows: Vec<u64>,
}

/// All sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Messages of the mailboxes that are indexed.
    pub(crate) index_messages: Vec<u32>,
    /// Messages of the mailbox with text that is indexed.
    pub(crate) text_messages: u32,
    /// Messages of the mailbox in which messages are tagged and delivered.
    pub(crate) action_messages: u32,
    /// Messages of the folder that is opened.
    pub(crate) folder_messages: u32,
    /// Messages of the mailbox that is backed up.
    pub(crate) backup_messages: u32,
    /// Messages of the mailbox in whose snapshots a file is searched.
    pub(crate) find_messages: u32,
    /// Blobs of the repository that is opened.
    pub(crate) blobs: u64,
    /// Rows of the snapshots that are recovered, in ascending order.
    pub(crate) recovery_rows: Vec<u64>,
    /// Rows of the logs that are recovered, at most.
    pub(crate) log_rows: u64,
}

impl Sizes {
    fn full() -> Sizes {
        Sizes {
            index_messages: vec![50_000, 200_000, 1_370_000],
            text_messages: 20_000,
            action_messages: 200_000,
            folder_messages: 200_000,
            backup_messages: 200_000,
            find_messages: 50_000,
            blobs: 5_000_000,
            recovery_rows: vec![1_000_000, 4_000_000, 16_000_000, 64_000_000],
            log_rows: 4_000_000,
        }
    }

    /// Returns the sizes of a quick run.
    pub(crate) fn quick() -> Sizes {
        Sizes {
            index_messages: vec![5_000, 20_000],
            text_messages: 2_000,
            action_messages: 5_000,
            folder_messages: 10_000,
            backup_messages: 10_000,
            find_messages: 5_000,
            blobs: 200_000,
            recovery_rows: vec![250_000, 1_000_000],
            log_rows: 1_000_000,
        }
    }
}

impl Options {
    /// Returns the release program that reads Tarantool's files.
    pub(crate) fn tarantool_program(&self) -> PathBuf {
        self.program.with_file_name("pneu-tarantool")
    }

    /// Returns how often each thing is measured.
    pub(crate) fn rounds(&self) -> usize {
        self.rounds.unwrap_or(if self.quick { 3 } else { 5 })
    }

    /// Returns how often slow work is measured.
    pub(crate) fn slow_rounds(&self) -> usize {
        let rounds = self.rounds();
        self.slow_rounds.unwrap_or(if self.quick { rounds.min(1) } else { rounds })
    }

    /// Returns the mail that the user named, if the table that measures it was asked for.
    pub(crate) fn measured_mail(&self) -> Option<&Path> {
        let is_asked = self.only.is_empty() || self.only.contains(&Part::Index);
        self.mail.as_deref().filter(|_| is_asked)
    }

    /// Returns whether to measure work with this size in its name.
    pub(crate) fn is_asked(&self, size: &str) -> bool {
        self.asked_sizes.is_empty() || self.asked_sizes.iter().any(|asked| asked == size)
    }

    /// Returns whether to make these passes of the table `index`.
    pub(crate) fn has_passes(&self, passes: Passes) -> bool {
        self.passes.is_empty() || self.passes.contains(&passes)
    }

    /// Returns all sizes.
    pub(crate) fn sizes(&self) -> Sizes {
        let usual = if self.quick { Sizes::quick() } else { Sizes::full() };
        let given = &self.sizes;
        Sizes {
            index_messages: or(&given.index_messages, usual.index_messages),
            text_messages: given.text_messages.unwrap_or(usual.text_messages),
            action_messages: given.action_messages.unwrap_or(usual.action_messages),
            folder_messages: given.folder_messages.unwrap_or(usual.folder_messages),
            backup_messages: given.backup_messages.unwrap_or(usual.backup_messages),
            find_messages: given.find_messages.unwrap_or(usual.find_messages),
            blobs: given.blobs.unwrap_or(usual.blobs),
            recovery_rows: or(&given.recovery_rows, usual.recovery_rows),
            log_rows: usual.log_rows,
        }
    }
}

/// Returns the given values in order, or the usual ones.
fn or<T: Copy + Ord>(given: &[T], usual: Vec<T>) -> Vec<T> {
    let mut sizes = if given.is_empty() { usual } else { given.to_vec() };
    sizes.sort_unstable();
    sizes
}

/// A table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Index mail and update the index, compared with mu, notmuch and mairix.
    Index,
    /// Tag, flag and deliver messages and list people, compared with mu and notmuch.
    Actions,
    /// Open a large folder, compared with neomutt, mutt and Dovecot; keep header records, compared with
    /// embedded databases.
    Headers,
    /// Merge and search the index of a repository, back up and restore, compared with restic.
    Merge,
    /// Recover from snapshots and logs, compared with Tarantool.
    Recovery,
}

/// Passes that can be selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Passes {
    /// Nothing changed, or only the INBOX's directory was touched.
    Unchanged,
    /// Messages were added, removed, moved or flagged.
    Changes,
}

/// Pieces that can be measured alone, in the order of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Piece {
    /// Merges of index entries.
    Merges,
    /// Look-ups of ids, and decoding.
    Lookups,
    /// Loading an index file.
    Load,
    /// Backups with nothing changed.
    Unchanged,
    /// First backups.
    First,
    /// Backups after new messages.
    Arrived,
    /// Backups after changed flags.
    Flagged,
    /// A file name in many snapshots.
    Find,
    /// Restores.
    Restore,
    /// Opening the index of a large repository, by the crate alone.
    Index,
    /// Opening a large repository, by both programs.
    Open,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Arguments {
        #[command(flatten)]
        options: Options,
    }

    fn options(arguments: &[&str]) -> Options {
        Arguments::parse_from([&["bench-peers"], arguments].concat()).options
    }

    #[test]
    fn sizes_are_the_usual_ones_but_for_those_that_are_given() {
        assert_eq!(options(&[]).sizes(), Sizes::full());
        assert_eq!((options(&[]).rounds(), options(&["--quick"]).rounds()), (5, 3));
        let given = options(&["--quick", "--rounds=7", "--recovery-rows=30,20", "--blobs=9"]);
        let expected = Sizes { recovery_rows: vec![20, 30], blobs: 9, ..Sizes::quick() };
        assert_eq!((given.rounds(), given.slow_rounds(), given.sizes()), (7, 1, expected));
        assert_eq!((options(&[]).slow_rounds(), options(&["--slow-rounds=2"]).slow_rounds()), (5, 2));
    }

    #[test]
    fn mail_is_measured_if_its_table_is_asked_for() {
        let mail = |arguments: &[&str]| options(arguments).measured_mail().map(Path::to_owned);
        let given = Some(PathBuf::from("/somewhere"));
        assert_eq!(mail(&[]), None);
        assert_eq!(mail(&["--mail=/somewhere"]), given);
        assert_eq!(mail(&["--mail", "/somewhere", "--only=merge,index"]), given);
        assert_eq!(mail(&["--mail=/somewhere", "--only=merge"]), None);
    }

    #[test]
    fn all_sizes_are_asked_for_unless_some_are() {
        assert!(options(&[]).is_asked("64 M"));
        let some = options(&["--sizes=64 M,20 k with text"]);
        let asked = ["64 M", "20 k with text", "20 k", "4 M"].map(|size| some.is_asked(size));
        assert_eq!(asked, [true, true, false, false]);
    }
}
