//! Chooses the snapshots that show a mailbox as of a time, and those that belong to a mailbox at all.
//!
//! Input: snapshots with their hosts, times and paths; the roots of the mailbox. Output: for each root the
//! latest snapshot that has all of it. Pure: reads nothing.

use crate::names::keeps_deleted;
use index::Root;
use restic::Snapshot;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};

/// A snapshot, and the roots that it was chosen for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenSnapshot {
    /// The snapshot's index in the list.
    pub snapshot: usize,
    /// The roots, with the paths that they had then. Never empty.
    pub roots: Vec<Root>,
}

/// The snapshots that show a mailbox as of a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnapshotChoice {
    /// The newest first. Empty if no snapshot is old enough.
    pub snapshots: Vec<ChosenSnapshot>,
    /// Roots that no snapshot has.
    pub missing: Vec<Root>,
}

/// Chooses for each root the latest snapshot before `end_seconds` (since 1970) that has the complete root.
/// Prefers snapshots of this host. If no snapshot has any root, chooses the latest one for its own paths, as
/// the mail was then at another place. A path of a chosen snapshot that is not a root today counts as a root,
/// named by its last component.
pub fn choose_snapshots(
    snapshots: &[Snapshot],
    roots: &[Root],
    host: &str,
    end_seconds: i64,
) -> SnapshotChoice {
    let mut usable: Vec<(usize, &Snapshot)> = snapshots
        .iter()
        .enumerate()
        .filter(|(_, snapshot)| snapshot.time.seconds() < end_seconds && !keeps_deleted(snapshot))
        .collect();
    // Those of this host first, then the latest, then the first in the list.
    usable.sort_by_key(|(place, snapshot)| (snapshot.hostname != host, Reverse(snapshot.time.ns()), *place));
    let mut chosen = SnapshotChoice::default();
    for root in roots {
        match usable.iter().find(|(_, snapshot)| has_all_of(snapshot, &root.path)) {
            Some((place, _)) => add(&mut chosen.snapshots, *place, root.clone()),
            None => chosen.missing.push(root.clone()),
        }
    }
    if chosen.snapshots.is_empty()
        && let Some((place, _)) = usable.first()
    {
        chosen.snapshots.push(ChosenSnapshot { snapshot: *place, roots: Vec::new() });
    }
    let time_of = |place: usize| snapshots.get(place).map_or(i64::MIN, |snapshot| snapshot.time.ns());
    chosen.snapshots.sort_by_key(|standing| Reverse(time_of(standing.snapshot)));
    let mut all = roots.to_vec();
    for standing in &mut chosen.snapshots {
        let paths = snapshots.get(standing.snapshot).map_or(&[][..], |snapshot| &snapshot.paths);
        for path in paths.iter().map(PathBuf::from) {
            // A path with a root below it holds more than mail.
            if all.iter().all(|root| !root.path.starts_with(&path)) {
                let root = Root { name: free_name(&path, &all), path };
                all.push(root.clone());
                standing.roots.push(root);
            }
        }
    }
    chosen.snapshots.retain(|standing| !standing.roots.is_empty());
    chosen
}

/// Returns the time of the first snapshot of a mailbox, in seconds since 1970.
pub fn first_snapshot_seconds(snapshots: &[Snapshot]) -> Option<i64> {
    let of_mailboxes = snapshots.iter().filter(|snapshot| !keeps_deleted(snapshot));
    of_mailboxes.map(|snapshot| snapshot.time.seconds()).min()
}

/// Returns whether a snapshot is of this host, or has one of these roots on any host, or keeps deleted
/// messages.
pub fn is_relevant(snapshot: &Snapshot, roots: &[Root], host: &str) -> bool {
    let touches = |root: &Root| {
        snapshot
            .paths
            .iter()
            .map(Path::new)
            .any(|path| path.starts_with(&root.path) || root.path.starts_with(path))
    };
    snapshot.hostname == host || keeps_deleted(snapshot) || roots.iter().any(touches)
}

fn has_all_of(snapshot: &Snapshot, root: &Path) -> bool {
    snapshot.paths.iter().any(|path| root.starts_with(path))
}

fn add(list: &mut Vec<ChosenSnapshot>, place: usize, root: Root) {
    match list.iter_mut().find(|standing| standing.snapshot == place) {
        Some(standing) => standing.roots.push(root),
        None => list.push(ChosenSnapshot { snapshot: place, roots: vec![root] }),
    }
}

/// Returns the last component of a path, with a number after it if a root already has this name.
fn free_name(path: &Path, roots: &[Root]) -> String {
    let name = path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let is_free = |name: &String| roots.iter().all(|root| root.name != *name);
    if is_free(&name) {
        return name;
    }
    (2..).map(|number| format!("{name}.{number}")).find(is_free).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::snapshots::snapshot;

    fn roots(names: &[&str]) -> Vec<Root> {
        names.iter().map(|name| Root { name: (*name).into(), path: format!("/{name}").into() }).collect()
    }

    /// Formats the choice as text: "place: name=path ..", and "without: name".
    fn show(snapshots: &[Snapshot], names: &[&str], end_seconds: i64) -> Vec<String> {
        let chosen = choose_snapshots(snapshots, &roots(names), "tower", end_seconds);
        let line = |standing: &ChosenSnapshot| {
            let roots = standing.roots.iter().map(|root| format!(" {}={}", root.name, root.path.display()));
            format!("{}:{}", standing.snapshot, roots.collect::<String>())
        };
        let without = chosen.missing.iter().map(|root| format!("without: {}", root.name));
        chosen.snapshots.iter().map(line).chain(without).collect()
    }

    #[test]
    fn each_root_has_its_newest_snapshot_before_the_end() {
        let list = [
            snapshot("tower", 10, &["/a", "/b"], &[]),
            snapshot("tower", 30, &["/a"], &[]),
            snapshot("tower", 20, &["/b"], &[]),
            snapshot("tower", 40, &["/a", "/b"], &["pneu-deleted"]),
        ];
        assert_eq!(show(&list, &["a", "b"], 15), ["0: a=/a b=/b"]);
        assert_eq!(show(&list, &["a", "b"], 25), ["2: b=/b", "0: a=/a"]);
        assert_eq!(show(&list, &["a", "b"], 99), ["1: a=/a", "2: b=/b"]);
        assert_eq!(show(&list, &["a", "b"], 30), ["2: b=/b", "0: a=/a"], "the end is not in it");
        assert_eq!(show(&list, &["a", "b"], 10), ["without: a", "without: b"]);
        assert_eq!(show(&list, &["a", "c"], 99), ["1: a=/a", "without: c"]);
        assert_eq!(show(&[], &["a"], 99), ["without: a"]);
        assert_eq!((first_snapshot_seconds(&list), first_snapshot_seconds(&list[3..])), (Some(10), None));
    }

    #[test]
    fn the_own_host_comes_first_and_others_where_it_has_none() {
        let list = [
            snapshot("laptop", 10, &["/a"], &[]),
            snapshot("tower", 20, &["/a"], &[]),
            snapshot("laptop", 30, &["/a"], &[]),
        ];
        assert_eq!(show(&list, &["a"], 99), ["1: a=/a"]);
        assert_eq!(show(&list, &["a"], 15), ["0: a=/a"]);
    }

    #[test]
    fn what_lay_elsewhere_counts_by_its_last_name() {
        let list = [snapshot("tower", 10, &["/old/a", "/old/mail"], &[])];
        assert_eq!(show(&list, &["a"], 99), ["0: a.2=/old/a mail=/old/mail", "without: a"]);
        let list = [snapshot("tower", 10, &["/a", "/gone"], &[]), snapshot("tower", 9, &["/", "/b"], &[])];
        assert_eq!(show(&list, &["a", "b"], 99), ["0: a=/a gone=/gone", "1: b=/b"]);
        // Part of a root does not show the whole root.
        let list = [snapshot("tower", 10, &["/a"], &[]), snapshot("tower", 20, &["/a/work"], &[])];
        assert_eq!(show(&list, &["a"], 99), ["0: a=/a"]);
    }

    #[test]
    fn snapshots_of_the_host_of_the_roots_and_of_what_was_kept_concern_a_mailbox() {
        let is_relevant = |host, paths: &[&str], tags: &[&str]| {
            is_relevant(&snapshot(host, 1, paths, tags), &roots(&["a"]), "tower")
        };
        assert!(is_relevant("tower", &["/elsewhere"], &[]));
        assert!(is_relevant("laptop", &["/"], &[]) && is_relevant("laptop", &["/a/work"], &[]));
        assert!(is_relevant("laptop", &["/pneu-deleted"], &["pneu-deleted"]));
        assert!(!is_relevant("laptop", &["/ab", "/b"], &["weekly"]));
    }
}
