//! A directory to work in, and the program run there as a user would.
//!
//! Takes arguments, returns exit codes and what was printed. It does not know what is tested.

use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A home directory, which is also the current directory of the program.
pub(crate) struct Home(TempDir);

/// What a run of the program left.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Home {
    /// Makes an empty home.
    pub(crate) fn new() -> Home {
        Home(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs the program, with nothing of the test's own environment.
    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pneu-tarantool"));
        command.args(arguments).env_clear().current_dir(self.path()).stdin(Stdio::null());
        let output = command.env("HOME", self.path()).env("TZ", "UTC").output().unwrap();
        Run {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs the program and returns what it printed; fails unless it ended with 0 and said nothing else.
    pub(crate) fn good(&self, arguments: &[&str]) -> String {
        let run = self.run(arguments);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{arguments:?}: {run:?}");
        run.out
    }
}
