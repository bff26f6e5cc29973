//! `cargo xtask generate-mail`: a Maildir of generated mail.
//!
//! Input: a directory and options. Output: files, and the known facts about them. Does not depend on how mail
//! is made up.

use crate::run::say;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Instant;
use testkit::corpus::{CorpusOptions, facts, generate};

/// What to generate.
#[derive(Debug, Args)]
pub struct GenerateArguments {
    /// The directory, which is created.
    directory: PathBuf,
    /// How many messages.
    #[arg(long, default_value_t = 20_000)]
    messages: u32,
    /// The seed of all random choices.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many folders [default: 40, small: 600].
    #[arg(long)]
    folders: Option<usize>,
    /// What kind of mail.
    #[arg(long, value_enum, default_value = "varied")]
    profile: Profile,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Profile {
    /// Realistic mail: languages, threads, attachments, unusual messages.
    Varied,
    /// Files of about 300 bytes, as many as possible.
    Small,
}

/// Generates the Maildir and prints which queries find what in it.
///
/// # Errors
/// Disk errors; if the Maildir exists already.
pub fn generate_mail(arguments: &GenerateArguments) -> Result<()> {
    let mut options = match arguments.profile {
        Profile::Varied => CorpusOptions::varied(arguments.messages, arguments.seed),
        Profile::Small => CorpusOptions::small(arguments.messages, arguments.seed),
    };
    options.folders = arguments.folders.unwrap_or(options.folders);
    let begin = Instant::now();
    let made = generate(&arguments.directory, &options)
        .with_context(|| format!("cannot make mail in {}", arguments.directory.display()))?;
    say(&format!(
        "{}: {} messages in {} files, {:.1} MB, {} folders, in {:.1} s",
        arguments.directory.display(),
        options.messages,
        made.files,
        made.bytes as f64 / 1e6,
        made.folders.len(),
        begin.elapsed().as_secs_f64()
    ));
    for fact in facts(&options) {
        say(&format!("  {:<32} is in {} messages", fact.query, fact.messages));
    }
    Ok(())
}
