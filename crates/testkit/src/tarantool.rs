//! Tarantool itself, which tests of its files ask.
//!
//! Comes in: a Lua script and a directory for its files. Goes out: what the script printed. Must not know what is asked.

use std::env;
use std::path::Path;
use std::process::Command;

/// The program.
const PROGRAM: &str = "tarantool";

/// Runs `script` in `directory` and returns what it printed. The script calls `box.cfg` itself, with `log =
/// 'tarantool.log'` and without `listen`, and ends with `os.exit(0)`.
///
/// Where there is no Tarantool, prints a line and returns `None`: the test has nothing to do.
///
/// # Panics
/// If there is none though CI is `true`, or the script fails.
pub fn tarantool(directory: &Path, script: &str) -> Option<String> {
    let is_there =
        Command::new(PROGRAM).arg("--version").output().is_ok_and(|output| output.status.success());
    if !may_ask(is_there, env::var("CI").as_deref() == Ok("true")) {
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

/// Says whether there is a Tarantool to ask, and prints a line if not.
#[expect(clippy::print_stderr, reason = "a test that does nothing has to say so")]
fn may_ask(is_there: bool, is_ci: bool) -> bool {
    assert!(is_there || !is_ci, "tests need {PROGRAM} 2.6: apt-get install tarantool");
    if !is_there {
        eprintln!("no {PROGRAM}: nothing is asked of it");
    }
    is_there
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_outside_of_ci_may_it_be_missing() {
        assert!(may_ask(true, true) && may_ask(true, false) && !may_ask(false, false));
        assert!(std::panic::catch_unwind(|| may_ask(false, true)).is_err());
    }

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
