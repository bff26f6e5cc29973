//! `cargo xtask generate-mail`: a Maildir of generated mail.
//!
//! Input: a directory and options. Output: files, and what is known of them. Does not know how mail is made
//! up.

use crate::run::say;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Instant;
use testkit::corpus::{CorpusOptions, facts, generate};

/// What to make.
#[derive(Debug, Args)]
pub struct GenerateArguments {
    /// Where; the directory is created.
    directory: PathBuf,
    /// How many messages.
    #[arg(long, default_value_t = 20_000)]
    messages: u32,
    /// All random choices follow from it.
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
    /// As people keep it: languages, threads, attachments, oddities.
    Varied,
    /// About 300 bytes each, as many as possible.
    Small,
}

/// Makes the Maildir and says what can be found in it.
///
/// # Errors
/// Disk errors; a Maildir that is there already.
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
