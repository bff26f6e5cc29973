//! Decides which snapshots tell how a mailbox stood at a time, and which have to do with it at all.
//!
//! In: snapshots with their hosts, times and paths; the roots of the mailbox. Out: for each root the newest snapshot that has all of it.
//! Pure: nothing is read.

use crate::lost::KEPT;
use archive::Snapshot;
use index::Root;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};

/// A snapshot, and the roots that it answers for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The snapshot's place in the list.
    pub snapshot: usize,
    /// The roots, with the paths that they had then. Never empty.
    pub roots: Vec<Root>,
}

/// Which snapshots answer for a mailbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// The newest first. Empty if no snapshot is old enough.
    pub standing: Vec<Standing>,
    /// Roots that no snapshot has.
    pub without: Vec<Root>,
}

/// Chooses for each root the newest snapshot before `end_seconds` (since 1970) that has all of it: one of this host, or if there is none, of any.
/// If no snapshot has any root, the newest one answers for the paths that it names: mail that lay elsewhere then. A path that a
/// chosen snapshot names and that is no root today counts as a root by its last name.
pub fn standing(snapshots: &[Snapshot], roots: &[Root], host: &str, end_seconds: i64) -> Chosen {
    let mut usable: Vec<(usize, &Snapshot)> = snapshots
        .iter()
        .enumerate()
        .filter(|(_, snapshot)| snapshot.time.seconds() < end_seconds && !keeps_deleted(snapshot))
        .collect();
    // The own host's before others', each the newest first; of equal ones the one that stands first.
    usable.sort_by_key(|(place, snapshot)| (snapshot.hostname != host, Reverse(snapshot.time.ns()), *place));
    let mut chosen = Chosen::default();
    for root in roots {
        match usable.iter().find(|(_, snapshot)| has_all_of(snapshot, &root.path)) {
            Some((place, _)) => add(&mut chosen.standing, *place, root.clone()),
            None => chosen.without.push(root.clone()),
        }
    }
    if chosen.standing.is_empty()
        && let Some((place, _)) = usable.first()
    {
        chosen.standing.push(Standing { snapshot: *place, roots: Vec::new() });
    }
    let time_of = |place: usize| snapshots.get(place).map_or(i64::MIN, |snapshot| snapshot.time.ns());
    chosen.standing.sort_by_key(|standing| Reverse(time_of(standing.snapshot)));
    let mut all = roots.to_vec();
    for standing in &mut chosen.standing {
        let paths = snapshots.get(standing.snapshot).map_or(&[][..], |snapshot| &snapshot.paths);
        for path in paths.iter().map(PathBuf::from) {
            // What has a root in it is more than mail.
            if all.iter().all(|root| !root.path.starts_with(&path)) {
                let root = Root { name: free_name(&path, &all), path };
                all.push(root.clone());
                standing.roots.push(root);
            }
        }
    }
    chosen.standing.retain(|standing| !standing.roots.is_empty());
    chosen
}

/// Returns the time of the first snapshot of a mailbox, in seconds since 1970.
pub fn first_seconds(snapshots: &[Snapshot]) -> Option<i64> {
    let of_mailboxes = snapshots.iter().filter(|snapshot| !keeps_deleted(snapshot));
    of_mailboxes.map(|snapshot| snapshot.time.seconds()).min()
}

/// Says whether a snapshot is of this host, or of these roots wherever it was made, or keeps messages that nothing else has.
pub fn concerns(snapshot: &Snapshot, roots: &[Root], host: &str) -> bool {
    let touches = |root: &Root| {
        snapshot
            .paths
            .iter()
            .map(Path::new)
            .any(|path| path.starts_with(&root.path) || root.path.starts_with(path))
    };
    snapshot.hostname == host || keeps_deleted(snapshot) || roots.iter().any(touches)
}

/// Says whether a snapshot was made of messages that were about to be lost, and not of a mailbox.
fn keeps_deleted(snapshot: &Snapshot) -> bool {
    snapshot.tags.iter().any(|tag| tag == KEPT)
}

fn has_all_of(snapshot: &Snapshot, root: &Path) -> bool {
    snapshot.paths.iter().any(|path| root.starts_with(path))
}

fn add(list: &mut Vec<Standing>, place: usize, root: Root) {
    match list.iter_mut().find(|standing| standing.snapshot == place) {
        Some(standing) => standing.roots.push(root),
        None => list.push(Standing { snapshot: place, roots: vec![root] }),
    }
}

/// Returns the last name of a path, with a number behind it if a root is called so.
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
    use archive::{Id, Time};

    fn snapshot(host: &str, seconds: i64, paths: &[&str], tags: &[&str]) -> Snapshot {
        Snapshot {
            time: Time::from_ns(seconds * 1_000_000_000, 0),
            parent: None,
            tree: Id([0; 32]),
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
            hostname: host.to_owned(),
            username: String::new(),
            uid: 0,
            gid: 0,
            excludes: Vec::new(),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            original: None,
            program_version: String::new(),
            summary: None,
        }
    }

    fn roots(names: &[&str]) -> Vec<Root> {
        names.iter().map(|name| Root { name: (*name).into(), path: format!("/{name}").into() }).collect()
    }

    /// Shows what is chosen as text: "place: name=path ..", and "without: name".
    fn show(snapshots: &[Snapshot], names: &[&str], end_seconds: i64) -> Vec<String> {
        let chosen = standing(snapshots, &roots(names), "tower", end_seconds);
        let line = |standing: &Standing| {
            let roots = standing.roots.iter().map(|root| format!(" {}={}", root.name, root.path.display()));
            format!("{}:{}", standing.snapshot, roots.collect::<String>())
        };
        let without = chosen.without.iter().map(|root| format!("without: {}", root.name));
        chosen.standing.iter().map(line).chain(without).collect()
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
        assert_eq!((first_seconds(&list), first_seconds(&list[3..])), (Some(10), None));
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
        // A part of a root is not how it stood.
        let list = [snapshot("tower", 10, &["/a"], &[]), snapshot("tower", 20, &["/a/work"], &[])];
        assert_eq!(show(&list, &["a"], 99), ["0: a=/a"]);
    }

    #[test]
    fn snapshots_of_the_host_of_the_roots_and_of_what_was_kept_concern_a_mailbox() {
        let concerns = |host, paths: &[&str], tags: &[&str]| {
            concerns(&snapshot(host, 1, paths, tags), &roots(&["a"]), "tower")
        };
        assert!(concerns("tower", &["/elsewhere"], &[]));
        assert!(concerns("laptop", &["/"], &[]) && concerns("laptop", &["/a/work"], &[]));
        assert!(concerns("laptop", &["/pneu-deleted"], &["pneu-deleted"]));
        assert!(!concerns("laptop", &["/ab", "/b"], &["weekly"]));
    }
}
