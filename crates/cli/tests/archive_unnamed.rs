//! Index files that are missing from a repository: what lies in their packs is told of, and forgotten by
//! nobody.

use crate::archive::{Archived, archived};
use std::fs;
use std::path::PathBuf;

/// A home with two backups; a message of the first and one of the second are deleted since.
fn deleted() -> Archived {
    let home = archived();
    assert_eq!(home.run(&["archive", "init"]).code, Some(0));
    assert_eq!(home.run(&["archive", "backup"]).code, Some(0));
    let later = home.home.deliver("", "8:2,S", &crate::support::letter("8", "Later", "a later letter"));
    assert_eq!(home.run(&["archive", "backup"]).code, Some(0));
    fs::remove_file(later).unwrap();
    fs::remove_file(home.home.mail().join("lists/rust/cur/3:2,FS")).unwrap();
    assert_eq!(home.run(&["index"]).code, Some(0));
    home
}

/// Takes the index files of the repository away that are the newest, and returns them with their bytes.
fn lose(home: &Archived, count: usize) -> Vec<(PathBuf, Vec<u8>)> {
    let directory = fs::read_dir(home.home.path().join("repository/index")).unwrap();
    let mut files: Vec<PathBuf> = directory.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 2);
    files.sort_by_key(|path| fs::metadata(path).unwrap().modified().unwrap());
    let lost = files.into_iter().rev().take(count).map(|path| {
        let bytes = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        (path, bytes)
    });
    lost.collect()
}

#[test]
fn what_lies_in_packs_that_no_index_file_names_is_told_and_kept() {
    for (count, found, told) in
        [(1, "Third time\n", "1 message of the archive is"), (2, "", "2 messages of the archive are")]
    {
        let home = deleted();
        let find = ["find", "--archived", "--fields", "s", "id:3@example.org or id:8@example.org"];
        let before = home.run(&find);
        assert_eq!(
            (before.code, before.out.as_str(), before.err.as_str()),
            (Some(0), "Later\nThird time\n", "")
        );
        let lost = lose(&home, count);
        let told = format!("pneu: {told} not found, because no index file names ");
        let after = home.run(&find);
        assert_eq!((after.code, after.out.as_str()), (Some(3), found), "{after:?}");
        assert!(after.err.contains(&told) && after.err.contains("\"restic repair index\""), "{after:?}");
        let counted = home.run(&["find", "--archived", "--format", "count", "id:8@example.org"]);
        assert_eq!((counted.code, counted.out.as_str()), (Some(3), "0\n"), "{counted:?}");
        let shown = home.run(&["view", "--format", "raw", "id:8@example.org"]);
        assert!(
            shown.code == Some(2) && shown.err.contains("in a pack that no index file names"),
            "{shown:?}"
        );
        let shown = home.run(&["view", "later letter"]);
        assert!(shown.code == Some(2) && shown.err.contains("could not be read"), "{shown:?}");
        let back = home.run(&["undelete", "id:8@example.org"]);
        assert!(back.code == Some(3) && back.out.is_empty() && back.err.contains(&told), "{back:?}");
        // Without any index file the list of large messages cannot be read either: then nothing is known.
        let swept = home.run(&["sweep", "--older-than", "0d"]);
        if count == 1 {
            assert_eq!(swept.out, "0 messages forgotten; 2 kept, still in the archive\n", "{swept:?}");
        } else {
            assert!(swept.code == Some(2) && swept.err.contains("cannot tell which messages"), "{swept:?}");
        }
        for listing in [&["archive", "ls", "latest"][..], &["archive", "find", "8:*"]] {
            let listed = home.run(listing);
            assert!(listed.code == Some(3) && listed.err.contains("is in no index"), "{listed:?}");
        }
        for (path, bytes) in lost {
            fs::write(path, bytes).unwrap();
        }
        assert_eq!(home.run(&find), before, "nothing was forgotten");
    }
}

#[test]
fn packs_that_belong_to_nothing_that_is_looked_for_are_no_trouble() {
    let home = deleted();
    // A pack that a killed backup left, here of another message.
    home.home.deliver("", "9:2,S", &crate::support::letter("9", "Unfinished", "never ended"));
    let index = home.home.path().join("repository/index");
    let names =
        || -> Vec<PathBuf> { fs::read_dir(&index).unwrap().map(|entry| entry.unwrap().path()).collect() };
    let before = names();
    assert_eq!(home.run(&["archive", "backup"]).code, Some(0));
    for path in names().into_iter().filter(|path| !before.contains(path)) {
        fs::remove_file(path).unwrap();
    }
    // One that was never backed up makes it look.
    let new = home.home.deliver("", "10:2,S", &crate::support::letter("10", "New", "never backed up"));
    assert_eq!(home.run(&["index"]).code, Some(0));
    fs::remove_file(new).unwrap();
    assert_eq!(home.run(&["index"]).code, Some(0));
    let found = home.run(&["find", "--archived", "--fields", "s", "id:3@example.org or id:10@example.org"]);
    assert_eq!((found.code, found.out.as_str(), found.err.as_str()), (Some(0), "Third time\n", ""));
    let swept = home.run(&["sweep", "--older-than", "0d"]);
    assert_eq!(swept.out, "1 message forgotten; 2 kept, still in the archive\n", "{swept:?}");
}

#[test]
fn a_forget_that_prunes_removes_nothing_while_index_files_are_missing() {
    let home = deleted();
    let first = home.run(&["archive", "snapshots", "--format", "json"]).out;
    let first: serde_json::Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
    let id = first["id"].as_str().unwrap();
    let lost = lose(&home, 1);
    let refused = home.run(&["archive", "forget", id, "--prune"]);
    assert!(refused.code == Some(2) && refused.err.contains("nothing was removed"), "{refused:?}");
    assert_eq!(home.run(&["archive", "snapshots"]).out.lines().count(), 2);
    for (path, bytes) in lost {
        fs::write(path, bytes).unwrap();
    }
    let checked = home.run(&["archive", "check", "--read-data"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    let done = home.run(&["archive", "forget", id, "--prune"]);
    assert!(done.code == Some(0) && done.out.contains("1 of 2 snapshots removed"), "{done:?}");
}
