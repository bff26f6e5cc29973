//! A program to compare with: its path, its version, and its package.
//!
//! Input: the environment. Output: a path and a version, or why there is none. Does not know what is
//! measured.

use anyhow::{Context, Result, bail};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The fixed properties of a program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer {
    /// Its name, and the heading of its column.
    pub(crate) name: &'static str,
    /// The environment variable that names another build of it.
    pub(crate) variable: &'static str,
    /// Its program's name.
    pub(crate) program: &'static str,
    /// The arguments with which it prints its version.
    pub(crate) version: &'static [&'static str],
    /// Debian's packages.
    pub(crate) packages: &'static [&'static str],
    /// The module from which go installs the newest version, and the version to use if a mirror cannot tell
    /// the newest one.
    pub(crate) module: Option<(&'static str, &'static str)>,
}

/// An installed program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Installed {
    /// Its path.
    pub(crate) program: PathBuf,
    /// Its version line.
    pub(crate) version: String,
}

impl Peer {
    /// Looks for the program: first in its environment variable, then where go installs, then in the search
    /// path.
    ///
    /// # Errors
    /// If there is none: the note for its column.
    pub(crate) fn find(&self) -> Result<Installed> {
        self.find_in(env::var_os(self.variable).map(PathBuf::from), &directories())
    }

    /// Returns whether the user named the program in its environment variable.
    pub(crate) fn is_named(&self) -> bool {
        env::var_os(self.variable).is_some()
    }

    /// Returns whether go installed one, possibly long ago.
    pub(crate) fn is_by_go(&self) -> bool {
        go_directory().is_some_and(|go| go.join(self.program).is_file())
    }

    fn find_in(&self, named: Option<PathBuf>, directories: &[PathBuf]) -> Result<Installed> {
        let program = match named {
            Some(program) => program,
            None => {
                let all = directories.iter().map(|directory| directory.join(self.program));
                let Some(program) = all.into_iter().find(|program| program.is_file()) else {
                    bail!(
                        "not installed; apt-get install {}, or {}=PATH",
                        self.packages.join(" "),
                        self.variable
                    );
                };
                program
            }
        };
        let version = said(Command::new(&program).args(self.version))
            .with_context(|| format!("{} does not work", program.display()))?;
        let mut version = version.lines().next().unwrap_or_default().trim().to_owned();
        if let Some(package) = self.package_of(&program) {
            version = format!("{version}, of Debian's {package}");
        }
        Ok(Installed { version, program })
    }

    /// Returns the name and version of the program's package, if the program is in a directory of packages.
    /// Not every program knows its version.
    fn package_of(&self, program: &Path) -> Option<String> {
        let package = self
            .packages
            .first()
            .filter(|_| program.starts_with("/usr/bin") || program.starts_with("/usr/sbin"))?;
        let mut query = Command::new("dpkg-query");
        let version = said(query.args(["--show", "--showformat=${Version}", package])).ok()?;
        Some(format!("{package} {version}"))
    }
}

/// Returns where go installs programs: GOBIN, or `bin` in the first directory of GOPATH, or in `~/go`.
fn go_directory() -> Option<PathBuf> {
    let variable = |name| env::var_os(name).filter(|value| !value.is_empty());
    let path = || env::split_paths(&variable("GOPATH")?).next();
    let usual = || Some(PathBuf::from(variable("HOME")?).join("go"));
    variable("GOBIN").map(PathBuf::from).or_else(|| Some(path().or_else(usual)?.join("bin")))
}

/// Returns the directories that are searched for programs.
fn directories() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut directories: Vec<PathBuf> = go_directory().into_iter().collect();
    directories.extend(env::split_paths(&path));
    // Servers are in directories outside the usual search path.
    directories.push(Path::new("/usr/sbin").to_owned());
    directories
}

/// Runs a command that must succeed, and returns its output.
///
/// # Errors
/// If it fails: with its error output.
pub(crate) fn said(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    if !output.status.success() {
        bail!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: Peer = Peer {
        name: "shell",
        variable: "PEER_SHELL",
        program: "peer-shell",
        version: &["say"],
        packages: &["shell", "more"],
        module: None,
    };

    fn script(directory: &Path, text: &str) -> PathBuf {
        let path = directory.join(PEER.program);
        // A separate process writes it. If this process wrote it, a process started meanwhile would inherit
        // the open file, and a file that is open for writing cannot be run.
        let mut written = Command::new("sh");
        written.arg("-c").arg("printf '#!/bin/sh\n%s\n' \"$1\" >\"$2\" && chmod 755 \"$2\"");
        let status = written.arg("sh").arg(text).arg(&path).status().unwrap();
        assert!(status.success());
        path
    }

    #[test]
    fn the_named_program_comes_first_and_then_the_first_of_the_path() {
        let places = [0, 1, 2].map(|_| tempfile::tempdir().unwrap());
        let [empty, first, second] = places.each_ref().map(|place| place.path().to_owned());
        script(&first, "echo $1 first; echo more");
        let named = script(&second, "echo second");
        let directories = [empty, first.clone(), second];
        let found = PEER.find_in(None, &directories).unwrap();
        assert_eq!((found.version.as_str(), found.program), ("say first", first.join(PEER.program)));
        assert_eq!(PEER.find_in(Some(named), &directories).unwrap().version, "second");
    }

    #[test]
    fn what_is_missing_or_broken_is_said() {
        let place = tempfile::tempdir().unwrap();
        let error = PEER.find_in(None, &[place.path().to_owned()]).unwrap_err();
        assert_eq!(error.to_string(), "not installed; apt-get install shell more, or PEER_SHELL=PATH");
        let broken = script(place.path(), "echo wrong >&2; exit 3");
        let error = format!("{:#}", PEER.find_in(Some(broken), &[]).unwrap_err());
        assert!(error.contains("does not work") && error.ends_with("wrong"), "{error}");
        assert!(PEER.find_in(Some(place.path().join("none")), &[]).is_err());
    }
}
