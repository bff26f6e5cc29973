//! Runs a command for each message, with the path of its file.
//!
//! Takes a command line and hits. Runs the processes one after the other, with the standard input and outputs
//! of this process. No shell reads the line or the path. If a command fails, the failure is reported and the
//! next one runs.

use super::{Troubles, each_file};
use crate::environment::without_secrets;
use crate::exit::Outcome;
use crate::format::FileChoice;
use anyhow::{Result, anyhow};
use pneu::{Hit, View};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};

/// What stands for the path.
const PATH: &str = "{}";

/// Runs `command` for all hits.
///
/// # Errors
/// It cannot be started at all; damage in the store.
pub(crate) fn run(view: &View, hits: &[Hit], places: FileChoice, command: &[String]) -> Result<Outcome> {
    let mut troubles = Troubles::default();
    each_file((view, hits), places, &mut troubles, |_, path, troubles| {
        let words = words(command, &path);
        let (program, arguments) = words.split_first().ok_or_else(|| anyhow!("the command is empty"))?;
        let mut process = Command::new(program);
        let status = without_secrets(process.args(arguments))
            .status()
            .map_err(|error| anyhow!("cannot run {}: {error}", program.display()))?;
        if !status.success() {
            troubles.add(format!("{} {} for {}", program.display(), ending(status), path.display()));
        }
        Ok(())
    })?;
    Ok(troubles.outcome())
}

/// Returns the words to run: the path in place of each `{}`, or else after all words.
fn words(command: &[String], path: &Path) -> Vec<OsString> {
    let mut words: Vec<OsString> = command.iter().map(|word| with_path(word, path)).collect();
    if !command.iter().any(|word| word.contains(PATH)) {
        words.push(path.into());
    }
    words
}

fn with_path(word: &str, path: &Path) -> OsString {
    let pieces: Vec<&[u8]> = word.split(PATH).map(str::as_bytes).collect();
    OsString::from_vec(pieces.join(OsStr::as_bytes(path.as_os_str())))
}

fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("failed with {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        (None, None) => "failed".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_stands_where_it_is_wanted_or_last() {
        let words = |command: &[&str]| {
            let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
            words(&command, Path::new("/m/1 2:2,S"))
        };
        assert_eq!(words(&["less", "-R"]), ["less", "-R", "/m/1 2:2,S"]);
        assert_eq!(words(&["cp", "{}", "/tmp"]), ["cp", "/m/1 2:2,S", "/tmp"]);
        assert_eq!(words(&["x", "a={}={}"]), ["x", "a=/m/1 2:2,S=/m/1 2:2,S"]);
        let odd = Path::new(OsStr::from_bytes(b"/m/\xff"));
        assert_eq!(super::words(&["x{}".to_owned()], odd)[0].as_bytes(), b"x/m/\xff");
    }
}
