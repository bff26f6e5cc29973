//! What to measure, and with what.
//!
//! Does not depend on how the parts are measured.

use anyhow::Result;
use clap::{Args, ValueEnum};
use measure::corpora::{self, SEED};
use std::path::PathBuf;
use testkit::corpus::CorpusOptions;

/// What to measure, and with what.
#[derive(Args)]
pub struct Options {
    /// The release program.
    #[arg(long, default_value = "target/release/pneu")]
    pub program: PathBuf,
    /// Directory for generated mail and its indexes, outside the repository; about 12 GB, and temporarily 10
    /// GB more.
    #[arg(long, default_value = "/tmp/pneu-bench")]
    pub corpora: PathBuf,
    /// Directory for results. Each run creates a directory in it.
    #[arg(long, default_value = "bench/runs")]
    pub runs: PathBuf,
    /// The name of this machine in the results [default: from its processor].
    #[arg(long)]
    pub machine: Option<String>,
    /// How often each thing is measured; the median counts.
    #[arg(long, default_value_t = 5)]
    pub rounds: usize,
    /// How often a query is measured.
    #[arg(long, default_value_t = 15)]
    pub query_rounds: usize,
    /// How many messages with text.
    #[arg(long, default_value_t = 200_000)]
    pub text_messages: u32,
    /// How many small files.
    #[arg(long, default_value_t = 1_370_000)]
    pub small_messages: u32,
    /// Small sizes for the parts `actions`, `watch` and `serve`: they take seconds.
    #[arg(long)]
    pub quick: bool,
    /// How many messages there are in the Maildirs in which messages are tagged, moved and delivered, and in
    /// those that are served [default: 200,000 and 1,370,000, with --quick 5,000].
    #[arg(long, value_name = "COUNT", value_delimiter = ',')]
    pub action_messages: Vec<u32>,
    /// How many messages there are in the Maildir that is watched [default: 200,000, with --quick 5,000].
    #[arg(long, value_name = "COUNT")]
    pub watch_messages: Option<u32>,
    /// For how many seconds messages arrive in it [default: 600, with --quick 3].
    #[arg(long, value_name = "SECONDS")]
    pub watch_seconds: Option<u32>,
    /// How many arrive in a second.
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    pub watch_rate: u32,
    /// How many folders there are in the mail whose watch is measured for memory [default: 10,000, with
    /// --quick 300].
    #[arg(long, value_name = "COUNT")]
    pub watch_folders: Option<usize>,
    /// Add to the run of this name and day: its results of the same commit stay and get more samples.
    #[arg(long)]
    pub resume: bool,
    /// Only these parts.
    #[arg(long, value_enum, value_delimiter = ',')]
    pub only: Vec<Part>,
}

impl Options {
    /// Returns the options of messages with text.
    pub(crate) fn text_options(&self) -> CorpusOptions {
        CorpusOptions::varied(self.text_messages, SEED)
    }

    /// Returns the Maildir of messages with text. Generates it if it does not exist.
    pub(crate) fn text(&self) -> Result<PathBuf> {
        corpora::kept(&self.corpora, "text", &self.text_options())
    }

    /// Returns the sizes of the Maildirs in which messages are tagged, moved and delivered, and of those that
    /// are served.
    pub(crate) fn action_sizes(&self) -> Vec<u32> {
        match (self.action_messages.as_slice(), self.quick) {
            ([], true) => vec![QUICK_MESSAGES],
            ([], false) => vec![200_000, 1_370_000],
            (given, _) => given.to_vec(),
        }
    }

    /// Returns what is watched.
    pub(crate) fn watched(&self) -> WatchSizes {
        let usual = |full, quick| if self.quick { quick } else { full };
        WatchSizes {
            messages: self.watch_messages.unwrap_or(usual(200_000, QUICK_MESSAGES)),
            seconds: self.watch_seconds.unwrap_or(usual(600, 3)),
            rate: self.watch_rate.max(1),
            folders: self.watch_folders.unwrap_or(if self.quick { 300 } else { 10_000 }),
        }
    }
}

/// How many messages the parts `actions`, `watch` and `serve` have if they must be quick.
const QUICK_MESSAGES: u32 = 5000;

/// What is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WatchSizes {
    /// Messages in the Maildir before others arrive.
    pub(crate) messages: u32,
    /// For how long they arrive.
    pub(crate) seconds: u32,
    /// How many arrive in a second.
    pub(crate) rate: u32,
    /// Folders of the other mail, whose watch is measured for memory.
    pub(crate) folders: usize,
}

/// A part of the measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// First index, queries and changes, on messages with text.
    Text,
    /// One large folder and one a tenth of it.
    Folder,
    /// Many small files in many folders.
    Small,
    /// Merges, look-ups, scans and codecs of the store alone, index files of the archive.
    Engine,
    /// The index of a large repository.
    Archive,
    /// Tag, flag, move, copy, undo, deliver; people, and what changed.
    Actions,
    /// Follow mail that arrives.
    Watch,
    /// Answer requests of JMAP.
    Serve,
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

    #[test]
    fn sizes_are_the_usual_ones_but_for_those_that_are_given() {
        let options =
            |arguments: &[&str]| Arguments::parse_from([&["bench-own"], arguments].concat()).options;
        assert_eq!(options(&[]).action_sizes(), [200_000, 1_370_000]);
        assert_eq!(options(&["--quick"]).action_sizes(), [5000]);
        assert_eq!(options(&["--quick", "--action-messages=7,9"]).action_sizes(), [7, 9]);
        let watched = |arguments: &[&str]| {
            let WatchSizes { messages, seconds, rate, folders } = options(arguments).watched();
            (messages, seconds, rate, folders)
        };
        assert_eq!(watched(&[]), (200_000, 600, 100, 10_000));
        assert_eq!(watched(&["--quick"]), (5000, 3, 100, 300));
        let given = ["--watch-messages=8", "--watch-seconds=2", "--watch-rate=5", "--watch-folders=3"];
        assert_eq!(watched(&given), (8, 2, 5, 3));
    }
}
