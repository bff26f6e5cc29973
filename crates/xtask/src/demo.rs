//! `cargo xtask demo`: builds the program, generates mail, indexes it and runs some searches.
//!
//! Input: the workspace. Output: what a first user wants to see. Knows only what the program's help says.

use crate::run::{cargo, run, say, target_directory, typed, workspace_root};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use testkit::corpus::{CorpusOptions, generate};

/// Where the demo's files go, in the workspace; git ignores it.
const PLACE: &str = ".demo";
const MESSAGES: u32 = 20_000;
const SEED: u64 = 1;

/// The queries, and why they are shown.
const QUESTIONS: [(&str, &[&str]); 6] = [
    ("A word that stands in 17 messages:", &["find", "quirlyphon", "--max", "5"]),
    ("A phrase, counted:", &["count", "\"velvet pneumatique dispatch\""]),
    (
        "By author, with the path of each file:",
        &["find", "from:ottilie@rohrpost.example", "--format", "paths", "--max", "3"],
    ),
    ("By attached file:", &["find", "file:dampfkessel-plan.pdf", "--max", "3"]),
    ("Without knowing the accents:", &["find", "zygometre"]),
    ("Flags and dates together:", &["count", "flag:flagged and date:2023..2024 and not maildir:/Sent"]),
];

/// Runs the demo.
///
/// # Errors
/// What cannot be built, made or run.
pub fn demo() -> Result<()> {
    let place = workspace_root().join(PLACE);
    say("Building the program ...");
    run(&mut cargo(&["build", "--profile", "demo", "--package", "pneu-cli"]))?;
    let program = target_directory().join("demo/pneu");
    let mail = place.join("Maildir");
    make_mail(&place, &mail)?;
    let pneu = |arguments: &[&str]| show(&program, arguments);
    say("\nThe first index reads every message:");
    pneu(&["index", "--maildir", &format!("{PLACE}/Maildir")])?;
    for (question, arguments) in QUESTIONS {
        say(&format!("\n{question}"));
        pneu(arguments)?;
    }
    say("\nThe second index only looks at names:");
    pneu(&["index"])?;
    say(&format!(
        "\nIn a browser; it prints a link that logs one in, and runs until Ctrl-C:\n  \
         XDG_CONFIG_HOME={PLACE}/config {} --data {PLACE}/data serve",
        program.display()
    ));
    say(&format!(
        "\nFor your own mail:\n  {0} --maildir ~/Maildir index\n  {0} find from:somebody \
         subject:something\n  {0} --help",
        program.display()
    ));
    Ok(())
}

/// Generates the mail again, so that the demo is the same each time.
fn make_mail(place: &Path, mail: &Path) -> Result<()> {
    if place.exists() {
        fs::remove_dir_all(place).with_context(|| format!("cannot remove {}", place.display()))?;
    }
    say(&format!("Making {MESSAGES} messages in {PLACE}/Maildir (cargo xtask generate-mail) ..."));
    let begin = Instant::now();
    let made = generate(mail, &CorpusOptions::varied(MESSAGES, SEED))?;
    let megabytes = made.bytes as f64 / 1e6;
    say(&format!("{} files, {megabytes:.0} MB, in {:.1} s", made.files, begin.elapsed().as_secs_f64()));
    Ok(())
}

/// Runs the program in the workspace with the demo's own data directory and configuration, and prints how
/// long it took.
fn show(program: &Path, arguments: &[&str]) -> Result<()> {
    let mut command = Command::new(program);
    command.args(["--data", &format!("{PLACE}/data")]).args(arguments).current_dir(workspace_root());
    // The user's own configuration must not matter here.
    command.env("XDG_CONFIG_HOME", workspace_root().join(PLACE).join("config"));
    say(&format!("$ {}", typed(&command)));
    let begin = Instant::now();
    let status = command.status().with_context(|| format!("cannot start {}", program.display()))?;
    if !status.success() {
        bail!("\"{}\" failed: {status}", typed(&command));
    }
    say(&format!("  ({:.0} ms)", begin.elapsed().as_secs_f64() * 1000.0));
    Ok(())
}
