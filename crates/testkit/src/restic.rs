//! restic itself, for tests of its format.
//!
//! Input: a directory, a password, arguments. Output: what restic printed, and its exit code. Does not know
//! the purpose of the call.

use crate::ask::{is_ci, may_ask};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The program.
const PROGRAM: &str = "restic";
/// How to get it.
const WAY_OUT: &str = "go install github.com/restic/restic/cmd/restic@latest, or apt-get install restic";

/// The newest restic of this machine, ready to run. All fields may be changed.
#[derive(Clone, Debug)]
pub struct Restic {
    /// The program itself.
    pub program: PathBuf,
    /// The working directory: relative paths among its arguments start there.
    pub directory: PathBuf,
    /// Its environment variables besides the tests' own: the repository, its password, a time zone, the keys
    /// of a server.
    pub environment: Vec<(String, String)>,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The exit code; `None` if it was killed.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it printed on standard error.
    pub stderr: String,
}

/// Returns a restic that runs in `directory`, on the repository at `address` ("repository": a directory
/// there), in UTC and without a cache.
///
/// If there is none, prints a line and returns `None`; the test is then skipped.
///
/// # Panics
/// If there is none though CI is `true`.
pub fn restic(directory: &Path, address: &str, password: &str) -> Option<Restic> {
    static NEWEST: OnceLock<Option<PathBuf>> = OnceLock::new();
    let newest = NEWEST.get_or_init(|| newest(candidates()));
    if !may_ask(PROGRAM, WAY_OUT, newest.is_some(), is_ci()) {
        return None;
    }
    let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Some(Restic {
        program: newest.clone()?,
        directory: directory.to_owned(),
        environment: vec![
            set("RESTIC_REPOSITORY", address),
            set("RESTIC_PASSWORD", password),
            set("TZ", "UTC"),
        ],
    })
}

impl Restic {
    /// Returns the same with one more environment variable.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Restic {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Returns the numbers of its version, for tests of features that only newer versions have.
    ///
    /// # Panics
    /// If it prints no version, although it did when it was found.
    pub fn version(&self) -> Vec<u32> {
        let printed = self.succeed(&["version"]);
        version(&String::from_utf8_lossy(&printed)).expect("it said its version before")
    }

    /// Runs it and returns the result, whatever that is.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn run(&self, arguments: &[&str]) -> Answer {
        let mut command = self.command();
        let output = command.args(arguments).output().expect("the program is there");
        Answer {
            code: output.status.code(),
            stdout: output.stdout,
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs it and returns what it printed.
    ///
    /// # Panics
    /// If it fails.
    pub fn succeed(&self, arguments: &[&str]) -> Vec<u8> {
        let answer = self.run(arguments);
        assert_eq!(
            answer.code,
            Some(0),
            "restic {arguments:?}: {}\n{}",
            String::from_utf8_lossy(&answer.stdout),
            answer.stderr
        );
        answer.stdout
    }

    /// Returns the command without arguments, to run it beside other work.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("--no-cache").current_dir(&self.directory);
        // Variables that a user has set for other repositories must not affect the tests.
        for (name, _) in env::vars_os() {
            if name.to_string_lossy().starts_with("RESTIC_") {
                command.env_remove(name);
            }
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// Returns where restic may be installed: on the search path, and where `go install` puts it.
fn candidates() -> Vec<PathBuf> {
    let mut directories: Vec<PathBuf> =
        env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default();
    directories.extend(env::var_os("GOBIN").map(PathBuf::from));
    directories.extend(env::var_os("GOPATH").map(|path| PathBuf::from(path).join("bin")));
    directories.extend(env::home_dir().map(|home| home.join("go/bin")));
    directories.into_iter().map(|directory| directory.join(PROGRAM)).filter(|path| path.is_file()).collect()
}

/// The oldest version that tests ask: the first that knows repositories of format 2.
const OLDEST: [u32; 2] = [0, 14];

/// Returns the newest of those `programs` that print a version, if it is not too old.
fn newest(programs: Vec<PathBuf>) -> Option<PathBuf> {
    let versions = programs.into_iter().filter_map(|program| {
        let output = Command::new(&program).arg("version").output().ok()?;
        Some((version(&String::from_utf8_lossy(&output.stdout))?, program))
    });
    versions.max().filter(|(version, _)| version.as_slice() >= &OLDEST).map(|(_, program)| program)
}

/// Reads "restic 0.18.1 compiled with go1.25 on linux/amd64", "restic 0.18.1-dev (..) ..".
fn version(line: &str) -> Option<Vec<u32>> {
    let number = line.strip_prefix("restic ")?.split([' ', '-']).next()?;
    number.split('.').map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn versions_are_compared_as_numbers() {
        let read = |line| version(line).unwrap();
        assert!(read("restic 0.19.1 compiled with go1.26") > read("restic 0.9.6 compiled with go1.13"));
        assert_eq!(read("restic 0.18.1-dev (compiled manually)"), [0, 18, 1]);
        assert_eq!((version("bash: restic: no such file"), version("restic new")), (None, None));
    }

    #[test]
    fn the_newest_that_is_not_too_old_is_asked() {
        let directory = tempfile::tempdir().unwrap();
        let program = |version: &str| {
            let path = directory.path().join(version);
            std::fs::write(&path, format!("#!/bin/sh\necho 'restic {version} compiled with go1.13'\n"))
                .unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        let [old, usable, new] = ["0.9.6", "0.14.0", "0.19.1"].map(program);
        assert_eq!(newest(vec![old.clone()]), None);
        assert_eq!(newest(vec![usable.clone(), old.clone()]), Some(usable.clone()));
        assert_eq!(newest(vec![usable, new.clone(), old]), Some(new));
    }

    #[test]
    fn a_repository_is_made_where_it_is_told_to() {
        let directory = tempfile::tempdir().unwrap();
        let Some(restic) = restic(directory.path(), "repository", "geheim") else { return };
        restic.succeed(&["init"]);
        assert!(restic.version() > vec![0, 1]);
        assert!(directory.path().join("repository/config").is_file());
        assert_eq!(restic.succeed(&["snapshots", "--json"]), b"[]\n");
        let wrong = restic.with("RESTIC_PASSWORD", "falsch").run(&["snapshots"]);
        assert_eq!(wrong.code, Some(12), "{wrong:?}");
    }
}
