//! Checks the commands in a document: runs them, and compares their output with the document.
//!
//! Input: a Markdown file and the program. Output: whether the file is up to date, or with UPDATE=1 the file
//! with the new output. Two marks make a code block part of the tour:
//!
//! - `<!-- tour -->`: `$ command` lines, each with its output.
//! - `<!-- commands -->`: one command on each line. All must succeed. Their output is not compared.
//!
//! All commands of a document run in one [`Session`], in the order of the document.

use crate::session::Session;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

/// The line before a code block of commands with their output.
const TOUR: &str = "<!-- tour -->";
/// The line before a code block of commands alone.
const COMMANDS: &str = "<!-- commands -->";
/// The beginning of a command in a block with output.
const PROMPT: &str = "$ ";
const FENCE: &str = "```";
/// The units that may follow a measured number.
const UNITS: [&str; 10] = ["s", "ms", "us", "µs", "min", "seconds", "messages/s", "files/s", "MiB/s", "/s"];

/// Runs the commands in `page` with `program` and reports where the page is out of date. With UPDATE=1 it
/// writes the page instead.
///
/// Measured times and rates count as equal, because machines differ.
///
/// # Errors
/// A sentence: the lines that differ, the command that failed, or what could not be run.
pub fn check_tour(page: &Path, program: &Path) -> Result<(), String> {
    check_tour_in(Session::new(program)?, page)
}

/// Does what [`check_tour`] does in a session of the caller.
///
/// # Errors
/// As for [`check_tour`].
pub fn check_tour_in(mut session: Session, page: &Path) -> Result<(), String> {
    let old = fs::read_to_string(page).map_err(|error| format!("cannot read {}: {error}", page.display()))?;
    let new = rewritten(&old, &mut |command, must_succeed| {
        let printed = session.run(command)?;
        if must_succeed == MustSucceed::Yes && !printed.is_success {
            return Err(format!("\"{command}\" in {} failed:\n{}", page.display(), printed.text));
        }
        Ok(printed.text)
    })?;
    if masked(&new) == masked(&old) {
        return Ok(());
    }
    if env::var_os("UPDATE").is_some() {
        return fs::write(page, new).map_err(|error| format!("cannot write {}: {error}", page.display()));
    }
    let differences = differences(&masked(&old), &masked(&new));
    Err(format!("the tour in {} is out of date; UPDATE=1 writes it anew:\n{differences}", page.display()))
}

/// Whether a failing command is an error. In a block with output, the output shows the failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MustSucceed {
    Yes,
    No,
}

/// Returns `text` with the output of all commands of the tour, which `run` gives.
fn rewritten(
    text: &str,
    run: &mut dyn FnMut(&str, MustSucceed) -> Result<String, String>,
) -> Result<String, String> {
    let mut new = String::with_capacity(text.len());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        new.push_str(line);
        new.push('\n');
        if line != TOUR && line != COMMANDS {
            continue;
        }
        let fence = lines.next().filter(|line| line.starts_with(FENCE));
        new.push_str(fence.ok_or_else(|| format!("{line} without a code block after it"))?);
        new.push('\n');
        for inside in lines.by_ref().take_while(|line| !line.starts_with(FENCE)) {
            if line == COMMANDS {
                run(inside, MustSucceed::Yes)?;
                new.push_str(&format!("{inside}\n"));
            } else if let Some(command) = inside.strip_prefix(PROMPT) {
                let output = run(command, MustSucceed::No)?;
                new.push_str(&format!("{inside}\n{output}"));
                new.push_str(if output.is_empty() || output.ends_with('\n') { "" } else { "\n" });
            }
        }
        new.push_str(FENCE);
        new.push('\n');
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

/// Returns the lines that differ, if both texts have the same number of lines; else the first difference.
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

    const PAGE: &str = "# A\n\n<!-- tour -->\n```console\n$ nothing\n$ count\n\
                        2 messages in 0.10 s\n$ nothing\n```\n\n\
                        <!-- commands -->\n```sh\nnothing\n```\n\n```\n$ other\n```\n";

    fn answers(command: &str, _: MustSucceed) -> Result<String, String> {
        match command {
            "count" => Ok("2 messages in 0.25 s\n".to_owned()),
            "nothing" => Ok(String::new()),
            other => Err(format!("{other} is no command of the tour")),
        }
    }

    #[test]
    fn only_blocks_after_a_mark_are_run() {
        let new = rewritten(PAGE, &mut answers).unwrap();
        assert_eq!(new, PAGE.replace("0.10", "0.25"));
        assert_eq!(masked(&new), masked(PAGE));
    }

    #[test]
    fn a_mark_without_a_block_is_an_error() {
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
    fn other_output_is_reported_with_its_line() {
        let home = tempfile::tempdir().unwrap();
        let program = home.path().join("speak");
        fs::write(&program, "#!/bin/sh\nls \"$HOME\"/Mail/Sent | head -1; echo \"$HOME/Mail\" >&2\n")
            .unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
        let page = home.path().join("README.md");
        fs::write(&page, "<!-- tour -->\n```\n$ speak\ncur\n~/Mail\n```\n").unwrap();
        check_tour(&page, &program).unwrap();
        fs::write(&page, "<!-- tour -->\n```\n$ speak\nnew\n~/Mail\n```\n").unwrap();
        let error = check_tour(&page, &program).unwrap_err();
        assert!(error.ends_with("line 4:\n-new\n+cur\n"), "{error}");
    }

    #[test]
    fn a_command_that_fails_is_named() {
        let home = tempfile::tempdir().unwrap();
        let page = home.path().join("page.md");
        fs::write(&page, "<!-- commands -->\n```sh\ntrue\necho why; false\n```\n").unwrap();
        let error = check_tour(&page, Path::new("/bin/true")).unwrap_err();
        assert!(error.contains("\"echo why; false\"") && error.ends_with("failed:\nwhy\n"), "{error}");
    }
}
