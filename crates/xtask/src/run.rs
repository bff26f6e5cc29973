//! Runs other programs and prints for the user.
//!
//! Input: commands. Output: what they print, and how long they took. Does not depend on their purpose.

use anyhow::{Context, Result, bail};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the workspace's directory.
pub fn workspace_root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("xtask lies in crates/xtask")
}

/// Returns the directory that cargo builds into: CARGO_TARGET_DIR, or `target` in the workspace.
pub fn target_directory() -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR") {
        Some(named) => workspace_root().join(named),
        None => workspace_root().join("target"),
    }
}

/// Returns `cargo` with `arguments`, run in the workspace.
pub fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(workspace_root());
    command
}

/// Returns the command as a user would type it.
pub fn typed(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_./=:,+@".contains(letter);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("'{word}'") }
}

/// Runs `command` to its end, with its output shown.
///
/// # Errors
/// A sentence, if it cannot be started or fails.
pub fn run(command: &mut Command) -> Result<()> {
    let line = typed(command);
    let status = command.status().with_context(|| format!("cannot start \"{line}\""))?;
    if !status.success() {
        bail!("\"{line}\" failed: {status}");
    }
    Ok(())
}

/// Runs `command` to its end and returns what it prints.
///
/// # Errors
/// A sentence with its error output, if it cannot be started or fails.
pub fn output(command: &mut Command) -> Result<Vec<u8>> {
    let line = typed(command);
    let done = command.output().with_context(|| format!("cannot start \"{line}\""))?;
    if !done.status.success() {
        bail!("\"{line}\" failed: {}\n{}", done.status, String::from_utf8_lossy(&done.stderr).trim_end());
    }
    Ok(done.stdout)
}

/// Prints a line for the user.
#[expect(clippy::print_stdout, reason = "xtask is a program, and this is its voice")]
pub fn say(line: &str) {
    println!("{line}");
}

/// Prints a line for the user on standard error.
#[expect(clippy::print_stderr, reason = "xtask is a program, and this is its voice")]
pub fn complain(line: &str) {
    eprintln!("{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_shown_as_they_are_typed() {
        let mut command = Command::new("/usr/bin/pneu");
        command.args(["find", "two words", "--max=3"]);
        assert_eq!(typed(&command), "pneu find 'two words' --max=3");
    }

    #[test]
    fn a_failing_command_is_an_error_that_names_it() {
        let error = run(Command::new("sh").args(["-c", "exit 3"])).unwrap_err();
        assert!(error.to_string().starts_with("\"sh -c 'exit 3'\" failed"), "{error}");
    }

    #[test]
    fn output_is_returned_and_a_complaint_is_part_of_the_error() {
        assert_eq!(output(Command::new("sh").args(["-c", "echo one"])).unwrap(), b"one\n");
        let error = output(Command::new("sh").args(["-c", "echo two >&2; exit 3"])).unwrap_err();
        assert!(error.to_string().ends_with("\ntwo"), "{error}");
    }

    #[test]
    fn the_workspace_is_found() {
        assert!(workspace_root().join("rustfmt.toml").is_file());
    }
}
