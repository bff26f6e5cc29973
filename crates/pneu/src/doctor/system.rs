//! What the system says: free space, limits, units that failed.
//!
//! Input: paths; files of `/proc`; the output of systemctl. Output: numbers and names, `None` where the
//! system does not say. Runs systemctl with fixed arguments and waits a limited time.

use crate::settings::SECRET_VARIABLES;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// How many directories a user may watch.
const WATCH_LIMIT: &str = "/proc/sys/fs/inotify/max_user_watches";
/// How long systemctl may take.
const SYSTEMCTL_TIME: Duration = Duration::from_secs(5);
/// How often it is looked whether it is done.
const LOOK: Duration = Duration::from_millis(10);
/// Bytes of its output that are read.
const OUTPUT_BYTES_MAX: u64 = 64 << 10;
/// The units that count begin so.
const OWN_UNITS: &str = "pneu";

/// Returns the bytes that a user may still write on the disk of a path, or of the directory above it that
/// exists.
pub(super) fn free_bytes(path: &Path) -> Option<u64> {
    let existing = path.ancestors().find(|path| path.exists())?;
    let stat = rustix::fs::statvfs(existing).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Returns how many directories a user may watch.
pub(super) fn watch_limit() -> Option<u64> {
    std::fs::read_to_string(WATCH_LIMIT).ok()?.trim().parse().ok()
}

/// Returns the size of all files in a directory, without what is below it.
pub(super) fn size_bytes(directory: &Path) -> u64 {
    metadata(directory).map(|metadata| metadata.len()).sum()
}

/// Returns when the newest file in a directory was written.
pub(super) fn newest_file(directory: &Path) -> Option<SystemTime> {
    metadata(directory).filter_map(|metadata| metadata.modified().ok()).max()
}

fn metadata(directory: &Path) -> impl Iterator<Item = std::fs::Metadata> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).filter(std::fs::Metadata::is_file)
}

/// Returns the user's units of this program that failed; `None` without systemd.
pub(super) fn failed_units() -> Option<Vec<String>> {
    let arguments = ["--user", "list-units", "--state=failed", "--plain", "--no-legend", "--no-pager"];
    let mut command = Command::new("systemctl");
    // It needs the rest of the environment to find the user's systemd.
    for name in SECRET_VARIABLES {
        command.env_remove(name);
    }
    let mut child = command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let begun = Instant::now();
    let is_done = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status.success(),
            Ok(None) if begun.elapsed() < SYSTEMCTL_TIME => std::thread::sleep(LOOK),
            Ok(None) | Err(_) => {
                // Nothing more can be done with a process that does not end.
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    };
    let mut output = String::new();
    child.stdout.take()?.take(OUTPUT_BYTES_MAX).read_to_string(&mut output).ok()?;
    is_done.then(|| units(&output))
}

/// Returns the names of this program's units in the output of systemctl.
fn units(output: &str) -> Vec<String> {
    let names = output.lines().filter_map(|line| line.split_whitespace().next());
    names.filter(|name| name.starts_with(OWN_UNITS)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_units_of_this_program_count() {
        let output = "pneu-backup.service loaded failed failed Back up mail\n\
                      other.service       loaded failed failed pneu\n\npneu.timer loaded failed failed\n";
        assert_eq!(units(output), ["pneu-backup.service", "pneu.timer"]);
        assert!(units("").is_empty());
    }

    #[test]
    fn the_disk_of_a_path_that_is_not_there_is_that_above_it() {
        let place = tempfile::tempdir().unwrap();
        let free = free_bytes(&place.path().join("a/b/c")).unwrap();
        assert!(free > 0);
        std::fs::write(place.path().join("x"), [0; 100]).unwrap();
        assert_eq!(size_bytes(place.path()), 100);
        assert!(newest_file(place.path()).is_some() && newest_file(&place.path().join("no")).is_none());
    }
}
