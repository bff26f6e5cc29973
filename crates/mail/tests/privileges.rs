//! Runs a test without root's permission to read everything, so that directories without permission are
//! unreadable.
//!
//! Input: a test's name and body. The body runs here or in another process.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

const CHILD: &str = "PNEU_TEST_WITHOUT_PRIVILEGES";

/// Runs `body` where file permissions apply. If root runs the test `name` (with its modules), it runs once
/// more, by `setpriv`, in a process that is still root but has dropped the capability to bypass permissions.
pub(crate) fn without_privileges(name: &str, body: impl FnOnce()) {
    if !passes_over_permissions() {
        return body();
    }
    assert!(std::env::var_os(CHILD).is_none(), "setpriv did not take the privileges away");
    let output = Command::new("setpriv")
        .args(["--bounding-set", "-dac_override,-dac_read_search", "--"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", name])
        .env(CHILD, "1")
        .output()
        .expect("root needs setpriv (package util-linux) to run this test");
    let told = String::from_utf8_lossy(&output.stdout);
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && told.contains("1 passed"),
        "{name} in another process:\n{told}{failed}"
    );
}

/// Sets a file's or directory's permissions.
pub(crate) fn permit(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn passes_over_permissions() -> bool {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a");
    fs::write(&file, b"").unwrap();
    permit(&file, 0);
    fs::File::open(&file).is_ok()
}
