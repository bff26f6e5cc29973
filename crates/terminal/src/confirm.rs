//! Asks the user at the terminal a question, yes or no.
//!
//! The caller checks whether there is a user to ask.

use anyhow::{Context, Result};
use printable::sanitise::one_line;
use std::io::{BufRead, BufReader, Read, Write, stderr, stdin};

/// Most bytes of an answer that are read.
const ANSWER_BYTES_MAX: u64 = 256;

/// Asks a question. Everything except yes means no, and so does the end of the input.
///
/// # Errors
/// The terminal cannot be read or written.
pub fn confirm(question: &str) -> Result<bool> {
    let answer = asked(&format!("{question} [y/N] "))?;
    Ok(is_yes(&answer))
}

/// Asks a question. Yes and an empty line mean yes; everything else means no, and so does the end of the
/// input.
///
/// # Errors
/// The terminal cannot be read or written.
pub fn confirm_unless_no(question: &str) -> Result<bool> {
    let answer = asked(&format!("{question} [Y/n] "))?;
    Ok(is_yes(&answer) || answer == "\n")
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

fn asked(prompt: &str) -> Result<String> {
    let mut stderr = stderr();
    stderr.write_all(one_line(prompt).as_bytes()).and_then(|()| stderr.flush()).context("cannot ask")?;
    let mut line = Vec::new();
    let mut input = BufReader::new(stdin().lock().take(ANSWER_BYTES_MAX));
    input.read_until(b'\n', &mut line).context("cannot read the answer")?;
    Ok(String::from_utf8_lossy(&line).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_a_yes() {
        for answer in ["y\n", "Y", " yes\r\n", "YES"] {
            assert!(is_yes(answer), "{answer:?}");
        }
        for answer in ["", "\n", "n\n", "no", "yesterday", "y y"] {
            assert!(!is_yes(answer), "{answer:?}");
        }
    }
}
