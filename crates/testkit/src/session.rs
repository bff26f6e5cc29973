//! A shell session of a user, as the documents show it.
//!
//! Input: command lines. Output: what they print. Each session has a separate home directory, with the mail
//! of `testdata/sample-mail` in `Mail`, or with another directory of the workspace, and nothing else. Does
//! not depend on the documents with the commands.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};
use tempfile::TempDir;

/// The mail, in the workspace: eighteen messages in four folders.
const SAMPLE_MAIL: &str = "testdata/sample-mail";

/// A home directory with a few files, and the program under test.
#[derive(Debug)]
pub struct Session {
    home: TempDir,
    program: PathBuf,
    /// The `cd` and `export` lines so far, which hold for all later commands.
    preamble: String,
}

/// The output of a command, and whether it succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printed {
    /// Standard output and standard error, in the order of writing.
    pub text: String,
    /// Whether the exit code was 0.
    pub is_success: bool,
}

impl Session {
    /// Makes a home directory with the sample mail, for `program`.
    ///
    /// # Errors
    /// A sentence, if the directory or the mail in it cannot be made.
    pub fn new(program: &Path) -> Result<Session, String> {
        Session::with(program, Path::new(SAMPLE_MAIL), "Mail")
    }

    /// Makes a home directory with a copy of a directory of the workspace, under another name, for `program`.
    ///
    /// # Errors
    /// A sentence, if the directory or the copy in it cannot be made.
    pub fn with(program: &Path, directory: &Path, name: &str) -> Result<Session, String> {
        let home = tempfile::tempdir().map_err(|error| format!("no temporary directory: {error}"))?;
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(directory);
        copy_maildirs(&source, &home.path().join(name))
            .map_err(|error| format!("cannot copy {}: {error}", source.display()))?;
        Ok(Session { home, program: program.to_owned(), preamble: String::new() })
    }

    /// Returns the home directory.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Returns a shell that runs one command line in the home directory, with a separate environment.
    pub fn command(&self, line: &str) -> Command {
        let programs = self.program.parent().unwrap_or(Path::new("."));
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("{}{line}", self.preamble)])
            .env_clear()
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display()))
            .env("HOME", self.home())
            .env("TZ", "UTC")
            .env("LC_ALL", "C.UTF-8")
            .current_dir(self.home())
            .stdin(Stdio::null());
        command
    }

    /// Runs one command line. Both outputs are mixed as on a terminal. The home directory is printed as `~`.
    ///
    /// # Errors
    /// A sentence, if no shell can be started.
    pub fn run(&mut self, line: &str) -> Result<Printed, String> {
        if line.starts_with("export ") || line.starts_with("cd ") {
            self.preamble.push_str(&format!("{line}\n"));
        }
        let output = self
            .command(&format!("exec 2>&1; {line}"))
            .output()
            .map_err(|error| format!("cannot run \"{line}\": {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout).replace(&self.home().display().to_string(), "~");
        Ok(Printed { text, is_success: output.status.success() })
    }
}

/// Copies a tree of files. Every Maildir gets a `tmp`, `new` and `cur`: git keeps no empty directories.
fn copy_maildirs(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_maildirs(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    if from.join("cur").is_dir() {
        for name in ["tmp", "new", "cur"] {
            fs::create_dir_all(to.join(name))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_has_mail_and_remembers_variables() {
        let mut session = Session::new(Path::new("/bin/true")).unwrap();
        assert_eq!(session.run("ls Mail/Sent | tr '\\n' ' '").unwrap().text, "cur new tmp ");
        session.run("export WORD=tube").unwrap();
        let printed = session.run("echo $WORD in $HOME").unwrap();
        assert_eq!(printed, Printed { text: "tube in ~\n".to_owned(), is_success: true });
        assert!(!session.run("false").unwrap().is_success);
    }
}
