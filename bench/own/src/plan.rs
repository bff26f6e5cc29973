//! The order of measurements: which parts of pneu.
//!
//! Comes in: options. Goes out: results on disk, written anew after each part. Must not know what the parts measure.

use crate::{archive, engine, folder, small, text};
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use measure::corpora::{self, SEED};
use measure::{Report, machine, resume, say, starter};
use std::fs;
use std::path::PathBuf;
use testkit::corpus::CorpusOptions;

/// What to measure, and with what.
#[derive(Args)]
pub struct Options {
    /// The release program.
    #[arg(long, default_value = "target/release/pneu")]
    pub program: PathBuf,
    /// Where generated mail and its indexes are kept, outside the repository; about 12 GB, and 10 GB for a while.
    #[arg(long, default_value = "/tmp/pneu-bench")]
    pub corpora: PathBuf,
    /// Where results go: a directory for this run is made in it.
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
    /// Add to the run of this name and day: what it has of the same commit stays and gets more samples.
    #[arg(long)]
    pub resume: bool,
    /// Only these parts.
    #[arg(long, value_enum, value_delimiter = ',')]
    pub only: Vec<Part>,
}

impl Options {
    /// Returns what messages with text there are.
    pub(crate) fn text_options(&self) -> CorpusOptions {
        CorpusOptions::varied(self.text_messages, SEED)
    }

    /// Returns the Maildir of messages with text, made now if it is not there.
    pub(crate) fn text(&self) -> Result<PathBuf> {
        corpora::kept(&self.corpora, "text", &self.text_options())
    }
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
}

/// Measures one part and adds what it found.
type MeasurePart = fn(&Options, &mut Report) -> Result<()>;

/// Measures what the options ask for.
///
/// # Errors
/// If the program fails, or answers otherwise than it has to.
pub fn measure(options: &Options) -> Result<()> {
    starter::start_through_own_program()?;
    fs::create_dir_all(&options.corpora)
        .with_context(|| format!("cannot make {}", options.corpora.display()))?;
    let machine = options.machine.clone().unwrap_or_else(machine::name);
    let name = format!("{}-{machine}-own", machine::today()?);
    let mut facts = machine::facts(&options.corpora)?;
    facts.push(("program", machine::output(&options.program.display().to_string(), &["--version"])?));
    let mut report = Report { title: "A run of bench/own".to_owned(), facts, ..Report::default() };
    if options.resume {
        resume::take(&mut report, &options.runs.join(&name))?;
    }
    let parts: [(Part, MeasurePart); 5] = [
        (Part::Text, text::measure),
        (Part::Folder, folder::measure),
        (Part::Small, small::measure),
        (Part::Engine, engine::measure),
        (Part::Archive, archive::measure),
    ];
    for (part, measure_part) in parts {
        if options.only.is_empty() || options.only.contains(&part) {
            say(&format!("== {part:?}"));
            measure_part(options, &mut report)?;
            report.set_fact("load after", machine::load());
            let directory = report.write(&options.runs, &name)?;
            say(&format!("written to {}", directory.display()));
        }
    }
    Ok(())
}
