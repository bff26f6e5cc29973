//! Tarantool itself, for tests of its files.
//!
//! Input: a Lua script and a directory for its files. Output: what the script printed. Does not know the
//! purpose of the script.

use crate::ask::{is_ci, may_ask};
use std::path::Path;
use std::process::Command;

/// The program.
const PROGRAM: &str = "tarantool";

/// Runs `script` in `directory` and returns what it printed. The script calls `box.cfg` itself, with `log =
/// 'tarantool.log'` and without `listen`, and ends with `os.exit(0)`.
///
/// If there is no Tarantool, prints a line and returns `None`; the test is then skipped.
///
/// # Panics
/// If there is none though CI is `true`, or the script fails.
pub fn tarantool(directory: &Path, script: &str) -> Option<String> {
    let is_there =
        Command::new(PROGRAM).arg("--version").output().is_ok_and(|output| output.status.success());
    if !may_ask(PROGRAM, "apt-get install tarantool (2.6)", is_there, is_ci()) {
        return None;
    }
    let path = directory.join("script.lua");
    std::fs::write(&path, script).expect("the directory takes the script");
    let output = Command::new(PROGRAM).arg(&path).current_dir(directory).env_remove("LUA_PATH").output();
    let output = output.expect("the program is there");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = String::from_utf8_lossy(&output.stderr);
    let log = std::fs::read_to_string(directory.join("tarantool.log")).unwrap_or_default();
    assert!(output.status.success(), "{}: {printed}\n{said}\n{log}", output.status);
    Some(printed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_runs_where_it_is_told_to() {
        let directory = tempfile::tempdir().unwrap();
        let Some(printed) = tarantool(directory.path(), "print(io.open('script.lua') ~= nil) os.exit(0)")
        else {
            return;
        };
        assert_eq!(printed, "true\n");
        let failed = std::panic::catch_unwind(|| tarantool(directory.path(), "os.exit(3)"));
        assert!(failed.is_err());
    }
}
