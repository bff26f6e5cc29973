//! How commands on repositories print times, kinds of files and snapshots.
//!
//! Turns values into text. Does not know any command.

use crate::environment;
use crate::sanitise::one_line;
use jiff::Timestamp;
use restic::{Id, NodeKind, Snapshot, Time};
use terminal::screen::{cut, width};

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

/// Fewest columns of a host's name that is cut.
const HOST_COLUMNS_MIN: usize = 8;

/// Returns a snapshot as one line: id, time, host, tags, paths. If it is wider than the terminal, the host's
/// name is cut.
pub(super) fn snapshot_line(id: &Id, snapshot: &Snapshot, columns: Option<usize>) -> String {
    let tags =
        if snapshot.tags.is_empty() { String::new() } else { format!("  [{}]", snapshot.tags.join(", ")) };
    let paths = snapshot.paths.join(" ");
    let before = format!("{}  {}  ", id.short(), local_time(&snapshot.time));
    around_host(&before, &snapshot.hostname, &format!("{tags}  {paths}"), columns)
}

fn around_host(before: &str, host: &str, behind: &str, columns: Option<usize>) -> String {
    let (before, host, behind) = (one_line(before), one_line(host), one_line(behind));
    let rest = width(&before) + width(&behind);
    let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(rest).max(HOST_COLUMNS_MIN));
    format!("{before}{}{behind}", cut(&host, room))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_name_of_a_host_is_cut() {
        let shown = |columns| around_host("id  ", "host.example.org", "  [tag]  /mail\u{1b}", columns);
        assert_eq!(shown(None), "id  host.example.org  [tag]  /mail\u{fffd}");
        assert_eq!(shown(Some(80)), shown(None));
        assert_eq!(shown(Some(30)), "id  host.examp…  [tag]  /mail\u{fffd}");
        assert_eq!(shown(Some(5)), "id  host.ex…  [tag]  /mail\u{fffd}");
    }

    #[test]
    fn a_time_beyond_calendars_is_shown_as_it_was_noted() {
        let time = Time::parse(b"9999-12-31T23:59:59-05:00").unwrap();
        assert_eq!(local_time(&time), "9999-12-31 23:59 -05:00");
        assert_eq!(local_day(&time), "9999-12-31");
        assert!(local_time(&Time::parse(b"0001-01-01T12:00:00Z").unwrap()).ends_with(":00:00"));
    }
}
