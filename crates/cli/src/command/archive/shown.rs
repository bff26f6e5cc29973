//! How commands on repositories print times, kinds of files and snapshots.
//!
//! Turns values into text. Does not know any command.

use crate::environment;
use jiff::Timestamp;
use restic::{Id, NodeKind, Snapshot, Time};

/// Returns a time in local time; one that cannot be converted, as it was written.
pub(super) fn local_time(time: &Time) -> String {
    let zone = environment::now().time_zone().clone();
    let at = Timestamp::from_second(time.seconds()).map(|at| at.to_zoned(zone));
    at.map_or_else(|_| time.to_string(), |at| at.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

/// Returns the day of a time in local time.
pub(super) fn local_day(time: &Time) -> String {
    local_time(time).split(' ').next().unwrap_or_default().to_owned()
}

/// Returns the letter that stands for a kind of file in long lines.
pub(super) fn kind_letter(kind: NodeKind) -> char {
    match kind {
        NodeKind::Directory => 'd',
        NodeKind::Symlink => 'l',
        NodeKind::File => '-',
        NodeKind::Fifo => 'p',
        NodeKind::Socket => 's',
        NodeKind::BlockDevice => 'b',
        NodeKind::CharacterDevice => 'c',
        NodeKind::Irregular => '?',
    }
}

/// Returns a snapshot as one line: id, time, host, tags, paths.
pub(super) fn snapshot_line(id: &Id, snapshot: &Snapshot) -> String {
    let tags =
        if snapshot.tags.is_empty() { String::new() } else { format!("  [{}]", snapshot.tags.join(", ")) };
    let paths = snapshot.paths.join(" ");
    format!("{}  {}  {}{tags}  {paths}", id.short(), local_time(&snapshot.time), snapshot.hostname)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_beyond_calendars_is_shown_as_it_was_noted() {
        let time = Time::parse(b"9999-12-31T23:59:59-05:00").unwrap();
        assert_eq!(local_time(&time), "9999-12-31 23:59 -05:00");
        assert_eq!(local_day(&time), "9999-12-31");
        assert!(local_time(&Time::parse(b"0001-01-01T12:00:00Z").unwrap()).ends_with(":00:00"));
    }
}
