//! Runs one test of this binary again as a separate process, for tests that change or end a whole process.
//!
//! A test that plays the child calls [`directory`] first, and does nothing if no other test started it.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const VARIABLE: &str = "DISK_TEST_CHILD_DIRECTORY";

/// Returns the directory a child works in, or nothing if the test runs as a test and not as a child.
pub(crate) fn directory() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).map(PathBuf::from)
}

/// Runs the test `name` as a child in `directory`.
pub(crate) fn run(name: &str, directory: &Path) -> Output {
    run_under("exec \"$@\"", name, directory)
}

/// Runs the test `name` as a child in `directory`, started by `script`, a shell script whose arguments are
/// the command.
pub(crate) fn run_under(script: &str, name: &str, directory: &Path) -> Output {
    let options = ["--exact", name, "--nocapture", "--test-threads=1"];
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh"]).arg(std::env::current_exe().unwrap()).args(options);
    command.env(VARIABLE, directory).output().unwrap()
}

/// Runs the test `name` as a child in `directory`, by a user for whom a read-only directory is read-only, as
/// it is not for root.
pub(crate) fn run_without_rights(name: &str, directory: &Path) -> Output {
    // That user may have no way to where this binary lies, hence the copy; the shell makes it, since a
    // descriptor to write it that another thread's child had inherited here would keep it from being run.
    let place = tempfile::tempdir().unwrap();
    std::fs::set_permissions(place.path(), Permissions::from_mode(0o755)).unwrap();
    let copy = place.path().join("test");
    let script = format!(
        "cp \"$1\" {copy}; shift; set -- {copy} \"$@\"
         if test $(id -u) = 0; then exec setpriv --reuid=65534 --clear-groups \"$@\"; else exec \"$@\"; fi",
        copy = copy.display()
    );
    run_under(&script, name, directory)
}

/// Checks that the child ran its one test and that the test passed.
pub(crate) fn assert_passed(output: &Output) {
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{output:?}");
}
