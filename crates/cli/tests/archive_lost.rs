//! What forgetting and pruning say of messages that nothing else has, and how those are kept.

use crate::archive::{Archived, archived};
use std::fs;

const GONE: &str = "1 message, 205 bytes,";

/// A home whose mail was backed up, a message deleted, and backed up again.
fn deleted() -> Archived {
    let home = archived();
    assert_eq!(home.run(&["archive", "init"]).code, Some(0));
    assert_eq!(home.run(&["archive", "backup"]).code, Some(0));
    fs::remove_file(home.home.mail().join(".Archive.2024/cur/4:2,S")).unwrap();
    assert_eq!(home.run(&["archive", "backup"]).code, Some(0));
    home
}

fn snapshot_count(home: &Archived) -> usize {
    home.run(&["archive", "snapshots"]).out.lines().count()
}

/// Whether the message that was deleted can be shown.
fn is_held(home: &Archived) -> bool {
    home.run(&["archive", "view", "id:4@example.org"]).code == Some(0)
}

#[test]
fn a_dry_run_lists_what_nothing_else_would_have() {
    let home = deleted();
    let dry = home.run(&["archive", "forget", "--keep-last", "1", "--dry-run"]);
    assert!(
        dry.code == Some(0)
            && dry.out.starts_with(&format!("{GONE} would then be in no Maildir and in no snapshot\n")),
        "{dry:?}"
    );
    let line = dry.out.lines().nth(1).unwrap();
    let path = format!("{}/.Archive.2024/cur/4:2,S", home.home.mail().display());
    assert!(line.starts_with("lost    2024-03-05 12:00 Ana Example "), "{line}");
    assert!(line.contains(" A fourth ") && line.ends_with(&format!("205 {path}")), "{line}");
    assert!(dry.err.contains("--keep-messages saves them first"), "{dry:?}");
    let none = home.run(&["archive", "prune", "--dry-run"]);
    assert!(
        none.out.starts_with("no message is lost: all are in a snapshot that stays or in a Maildir\n"),
        "{none:?}"
    );
    assert_eq!(snapshot_count(&home), 2);
    // Deleted since the last index, which is brought in step; or taken for what it is.
    fs::remove_file(home.home.mail().join("cur/1:2,S")).unwrap();
    let all: Vec<String> =
        home.run(&["archive", "snapshots"]).out.lines().map(|line| line[..8].to_owned()).collect();
    let forget = ["archive", "forget", "--dry-run", &all[0], &all[1]];
    let stale = home.run(&[&forget[..], &["--no-index"]].concat());
    assert!(stale.out.starts_with(GONE), "{stale:?}");
    let dry = home.run(&forget);
    assert!(dry.out.starts_with("2 messages, "), "{dry:?}");
    // Nobody knows the disk without an index, and the messages tell themselves what they are.
    fs::remove_dir_all(home.home.data()).unwrap();
    let blind = home.run(&forget);
    assert!(
        blind.out.starts_with("4 messages, ") && blind.out.contains("; there is no index here"),
        "{blind:?}"
    );
    assert!(
        blind.out.contains("2024-03-05 12:00 Ana Example ") && blind.out.contains(" A fourth "),
        "{blind:?}"
    );
}

#[test]
fn what_would_be_lost_is_kept_on_request_and_put_back() {
    let home = deleted();
    let forgot = home.run(&["archive", "forget", "--keep-last", "1", "--keep-messages", "--prune"]);
    assert!(
        forgot.code == Some(0) && forgot.out.starts_with(&format!("{GONE} is then in no Maildir")),
        "{forgot:?}"
    );
    assert!(
        forgot.out.contains("[pneu-deleted]  1 message\n") && forgot.out.contains("1 of 2 snapshots removed"),
        "{forgot:?}"
    );
    assert_eq!((snapshot_count(&home), is_held(&home)), (2, true));
    // No rule takes it away, it is never the latest, and it shows no mailbox.
    let again = home.run(&["archive", "forget", "--keep-last", "1"]);
    assert!(again.out.starts_with("0 of 2 snapshots removed, 2 stay"), "{again:?}");
    assert!(home.run(&["archive", "ls", "latest"]).out.contains("/cur/1:2,S"));
    assert_eq!(home.run(&["find", "--at", "2999-01-01", "--format", "count"]).out, "3\n");
    let checked = home.run(&["archive", "check", "--read-data"]);
    assert!(checked.code == Some(0), "{checked:?}");
    let repository = home.home.path().join("repository").display().to_string();
    if let Some(restic) = testkit::restic(home.home.path(), &repository, home.password) {
        restic.succeed(&["check", "--read-data"]);
    }
    let back = home.run(&["undelete", "id:4@example.org"]);
    let path = home.home.mail().join(".Archive.2024/cur/4:2,S");
    assert_eq!((back.code, back.out), (Some(0), format!("{}\n", path.display())));
    // By its tag it goes, and takes nothing with it now.
    let gone = home.run(&["archive", "forget", "--tag", "pneu-deleted", "--keep-last", "1", "--dry-run"]);
    assert!(gone.out.contains("0 of 2 snapshots would be removed"), "{gone:?}");
    let id = home.run(&["archive", "snapshots", "--tag", "pneu-deleted"]).out[..8].to_owned();
    let gone = home.run(&["archive", "forget", &id]);
    assert!(gone.out.starts_with("no message is lost: ") && gone.code == Some(0), "{gone:?}");
}

#[test]
fn a_prune_knows_what_was_forgotten_before_it() {
    let home = deleted();
    let forgot = home.run(&["archive", "forget", "--keep-last", "1"]);
    assert!(
        forgot.out.starts_with(&format!("{GONE} is then in no Maildir and in no snapshot\n")),
        "{forgot:?}"
    );
    assert!(
        forgot.err.contains("they can be saved until the next prune: pneu archive prune --keep-messages"),
        "{forgot:?}"
    );
    assert!(is_held(&home), "until a prune");
    let dry = home.run(&["archive", "prune", "--dry-run"]);
    assert!(
        dry.out.starts_with(&format!(
            "{GONE} would then be in no Maildir and in no snapshot\nlost    2024-03-05"
        )),
        "{dry:?}"
    );
    let kept = home.run(&["archive", "prune", "--keep-messages", "--max-unused", "0%"]);
    assert!(kept.code == Some(0) && kept.out.contains("[pneu-deleted]  1 message\n"), "{kept:?}");
    assert_eq!((snapshot_count(&home), is_held(&home)), (2, true));
    let again = home.run(&["archive", "prune", "--max-unused", "0%"]);
    assert!(again.out.starts_with("no message is lost: "), "{again:?}");
    // Without being kept it is gone for good, as was said; and nothing of it is said again.
    let id = home.run(&["archive", "snapshots", "--tag", "pneu-deleted"]).out[..8].to_owned();
    let gone = home.run(&["archive", "forget", &id, "--prune", "--max-unused", "0%", "--quiet"]);
    assert_eq!((gone.code, gone.out.as_str(), gone.err.as_str()), (Some(0), "", ""));
    assert!(!is_held(&home));
    assert!(home.run(&["archive", "prune"]).out.starts_with("no message is lost: "));
    assert_eq!(home.run(&["archive", "check", "--read-data"]).code, Some(0));
}

#[test]
fn a_damaged_snapshot_can_be_forgotten_and_that_is_said() {
    let home = deleted();
    let first = home.run(&["archive", "snapshots", "--format", "json"]).out;
    let first: serde_json::Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
    // The packs with trees that only the first snapshot has cannot be told from here: all of what was saved
    // first goes.
    let packs = || {
        let directories = fs::read_dir(home.home.path().join("repository/data")).unwrap();
        let files = directories.flat_map(|directory| fs::read_dir(directory.unwrap().path()).unwrap());
        let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        files.sort_by_key(|path| fs::metadata(path).unwrap().modified().unwrap());
        files
    };
    for pack in packs() {
        let mut bytes = fs::read(&pack).unwrap();
        for byte in bytes.iter_mut().take(200) {
            *byte ^= 1;
        }
        fs::set_permissions(&pack, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        fs::write(&pack, bytes).unwrap();
    }
    let id = first["id"].as_str().unwrap();
    let refused = home.run(&["archive", "forget", id, "--prune"]);
    assert!(refused.code == Some(2) && refused.err.contains("nothing was removed"), "{refused:?}");
    assert!(refused.out.lines().all(|line| !line.starts_with("remove")) && snapshot_count(&home) == 2);
    let forgot = home.run(&["archive", "forget", id, "--no-cache"]);
    assert!(forgot.code == Some(3) && forgot.err.contains("what is in it is not known"), "{forgot:?}");
    assert!(forgot.out.contains("1 of 2 snapshots removed"), "{forgot:?}");
}
