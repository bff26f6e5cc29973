//! Keeps the tour in a README true: runs its commands and compares what they print.
//!
//! Comes in: a Markdown file whose code blocks after a line `<!-- tour -->` hold `$ command` lines with their output, and the program.
//! Goes out: whether the output is still the same, or with UPDATE=1 the file with the new output. Must not know what the commands
//! do: they run in a shell, in a home directory that holds generated mail in `Mail` and nothing else.

use crate::corpus::{CorpusOptions, generate};
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

/// The line before a code block that belongs to the tour.
const MARKER: &str = "<!-- tour -->";
/// What begins a command.
const PROMPT: &str = "$ ";
/// The mail that the tour walks through.
const MESSAGES: u32 = 2000;
const FOLDERS: usize = 12;
const SEED: u64 = 1;
/// What may stand after a measured number.
const UNITS: [&str; 10] = ["s", "ms", "us", "µs", "min", "seconds", "messages/s", "files/s", "MiB/s", "/s"];

/// Runs the tour in `readme` with `program` and says where it is out of date. With UPDATE=1 it writes the file instead.
///
/// Measured times and rates are compared as equal: machines differ.
///
/// # Errors
/// A sentence, with the lines that differ, or about what could not be run.
pub fn check_tour(readme: &Path, program: &Path) -> Result<(), String> {
    let old =
        fs::read_to_string(readme).map_err(|error| format!("cannot read {}: {error}", readme.display()))?;
    let home = tempfile::tempdir().map_err(|error| format!("no temporary directory: {error}"))?;
    let options = CorpusOptions { folders: FOLDERS, ..CorpusOptions::varied(MESSAGES, SEED) };
    generate(&home.path().join("Mail"), &options).map_err(|error| format!("cannot make mail: {error}"))?;
    let new = rewritten(&old, &mut |command| run(command, home.path(), program))?;
    if masked(&new) == masked(&old) {
        return Ok(());
    }
    if env::var_os("UPDATE").is_some() {
        return fs::write(readme, new).map_err(|error| format!("cannot write {}: {error}", readme.display()));
    }
    let differences = differences(&masked(&old), &masked(&new));
    Err(format!("the tour in {} is out of date; UPDATE=1 writes it anew:\n{differences}", readme.display()))
}

/// Runs one command line as a user would, in `home`, and returns what it shows: standard output, then standard error.
fn run(command: &str, home: &Path, program: &Path) -> Result<String, String> {
    let directory = program.parent().ok_or_else(|| format!("{} lies nowhere", program.display()))?;
    let output = Command::new("sh")
        .args(["-c", command])
        .env_clear()
        .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", directory.display()))
        .env("HOME", home)
        .env("TZ", "UTC")
        .env("LC_ALL", "C.UTF-8")
        .current_dir(home)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot run \"{command}\": {error}"))?;
    let shown = [output.stdout, output.stderr].concat();
    Ok(String::from_utf8_lossy(&shown).replace(&home.display().to_string(), "~"))
}

/// Returns `text` with the output of all commands of the tour as `run` gives it.
fn rewritten(text: &str, run: &mut dyn FnMut(&str) -> Result<String, String>) -> Result<String, String> {
    let mut new = String::with_capacity(text.len());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        writeln!(new, "{line}").expect("writing to a string");
        if line != MARKER {
            continue;
        }
        let fence = lines.next().filter(|line| line.starts_with("```"));
        writeln!(new, "{}", fence.ok_or("a tour marker without a code block after it")?)
            .expect("writing to a string");
        for line in lines.by_ref().take_while(|line| !line.starts_with("```")) {
            if let Some(command) = line.strip_prefix(PROMPT) {
                let output = run(command)?;
                writeln!(new, "{line}").expect("writing to a string");
                let output = output.trim_end();
                new.push_str(output);
                new.push_str(if output.is_empty() { "" } else { "\n" });
            }
        }
        new.push_str("```\n");
    }
    Ok(new)
}

/// Returns `text` with every measured time and rate as `#`.
fn masked(text: &str) -> String {
    let words: Vec<&str> = text.split_inclusive([' ', '\n']).collect();
    let mut masked = String::with_capacity(text.len());
    for (place, word) in words.iter().enumerate() {
        let next = words.get(place + 1).map_or("", |next| bare(next));
        let bare_word = bare(word);
        let digits = bare_word.trim_end_matches(|letter: char| !letter.is_ascii_digit());
        let unit = &bare_word[digits.len()..];
        let measured =
            is_number(digits) && (UNITS.contains(&unit) || unit.is_empty() && UNITS.contains(&next));
        masked.push_str(&if measured { word.replacen(digits, "#", 1) } else { (*word).to_owned() });
    }
    masked
}

fn bare(word: &str) -> &str {
    word.trim().trim_matches(|letter: char| "(),.;:".contains(letter))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_digit() || letter == '.' || letter == ',')
}

/// Returns the lines in which two texts differ, as far as they are the same number of lines; else the first difference.
fn differences(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let pairs = old.iter().zip(&new).enumerate().filter(|(_, (old, new))| old != new);
    let shown = if old.len() == new.len() { usize::MAX } else { 1 };
    let mut text = String::new();
    for (place, (old, new)) in pairs.take(shown) {
        writeln!(text, "line {}:\n-{old}\n+{new}", place + 1).expect("writing to a string");
    }
    if old.len() != new.len() {
        writeln!(text, "it had {} lines and has {}", old.len(), new.len()).expect("writing to a string");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    const README: &str = "# A\n\n<!-- tour -->\n```console\n$ nothing\n$ count\n2 messages in 0.10 s\n$ nothing\n```\n\n```\n$ other\n```\n";

    fn answers(command: &str) -> Result<String, String> {
        match command {
            "count" => Ok("2 messages in 0.25 s\n".to_owned()),
            "nothing" => Ok(String::new()),
            other => Err(format!("{other} is no command of the tour")),
        }
    }

    #[test]
    fn only_blocks_behind_the_marker_are_run() {
        let new = rewritten(README, &mut answers).unwrap();
        assert_eq!(new, README.replace("0.10", "0.25"));
        assert_eq!(masked(&new), masked(README));
    }

    #[test]
    fn a_marker_without_a_block_is_an_error() {
        assert!(rewritten("<!-- tour -->\ntext\n", &mut answers).is_err());
    }

    #[test]
    fn times_are_masked_and_counts_are_not() {
        assert_eq!(
            masked("2,000 messages in 1.25 s (1,600/s), 3 ms\n"),
            "2,000 messages in # s (#/s), # ms\n"
        );
        assert_eq!(masked("2024-01-05 12 a"), "2024-01-05 12 a");
    }

    #[test]
    fn another_output_is_reported_with_its_line() {
        let home = tempfile::tempdir().unwrap();
        let program = home.path().join("speak");
        fs::write(&program, "#!/bin/sh\nls \"$HOME\"/Mail/Drafts | head -1; echo \"$HOME/Mail\" >&2\n")
            .unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
        let readme = home.path().join("README.md");
        fs::write(&readme, "<!-- tour -->\n```\n$ speak\ncur\n~/Mail\n```\n").unwrap();
        check_tour(&readme, &program).unwrap();
        fs::write(&readme, "<!-- tour -->\n```\n$ speak\nnew\n~/Mail\n```\n").unwrap();
        let error = check_tour(&readme, &program).unwrap_err();
        assert!(error.ends_with("line 4:\n-new\n+cur\n"), "{error}");
    }
}
