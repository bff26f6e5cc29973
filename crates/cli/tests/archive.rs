//! `pneu archive`, `find --archived` and `--at`, `undelete`: mail is backed up, deleted, found, shown and put back.

use crate::support::{Home, Run, run};
use std::fs;
use std::path::PathBuf;

/// A home with mail, and where its repository is.
struct Archived {
    home: Home,
    password: &'static str,
}

impl Archived {
    fn run(&self, arguments: &[&str]) -> Run {
        let mut command = self.home.command(arguments);
        command.env("RESTIC_REPOSITORY", self.home.path().join("repository"));
        command.env("RESTIC_PASSWORD", self.password);
        run(&mut command)
    }
}

fn archived() -> Archived {
    Archived { home: Home::indexed(), password: "pneumatic" }
}

#[test]
fn deleted_mail_is_found_shown_and_put_back() {
    let home = archived();
    assert_eq!(home.run(&["archive", "snapshots"]).code, Some(10));
    assert_eq!(home.run(&["archive", "init"]).code, Some(0));
    assert_eq!(home.run(&["archive", "init"]).code, Some(2));
    let saved = home.run(&["archive", "backup"]);
    assert!(saved.code == Some(0) && saved.out.starts_with("snapshot "), "{saved:?}");
    let again = home.run(&["archive", "backup", "--tag", "again"]);
    assert!(again.out.contains(" 0 new, 0 changed; 0 bytes added"), "{again:?}");
    let listed = home.run(&["archive", "snapshots"]).out;
    assert!(listed.lines().count() == 2 && listed.contains("[again]"), "{listed}");

    let before = home.run(&["count", "*"]).out;
    let path = home.run(&["find", "--format", "paths", "-n", "1", "*"]).out;
    let path = PathBuf::from(path.trim_end());
    let content = fs::read(&path).unwrap();
    let json = home.run(&["find", "--format", "json", "-n", "1", "*"]).out;
    let id = json.split("\"message_id\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let query = format!("id:{id}");
    fs::remove_file(&path).unwrap();
    assert_eq!(home.run(&["index"]).code, Some(0));
    assert_eq!(home.run(&["find", &query]).code, Some(1));
    let found = home.run(&["find", "--archived", &query]);
    assert!(found.code == Some(0) && found.out.lines().count() == 1, "{found:?}");
    let shown = home.run(&["view", "--format", "raw", &query]);
    assert_eq!(shown.out.as_bytes(), content, "{shown:?}");
    let tomorrow = home.run(&["find", "--at", "2999-01-01", "--format", "count", "*"]);
    assert_eq!(tomorrow.out, before, "{tomorrow:?}");
    assert_eq!(home.run(&["find", "--at", "1999-01-01", "*"]).code, Some(1));
    let back = home.run(&["undelete", &query]);
    assert!(back.code == Some(0) && back.out.trim_end() == path.display().to_string(), "{back:?}");
    assert_eq!(fs::read(&path).unwrap(), content);
    assert_eq!(home.run(&["undelete", &query]).code, Some(1), "it is there");
    assert_eq!(home.run(&["count", "*"]).out, before);
}

#[test]
fn snapshots_are_forgotten_pruned_and_restored() {
    let home = archived();
    home.run(&["archive", "init"]);
    for _ in 0..3 {
        assert_eq!(home.run(&["archive", "backup"]).code, Some(0));
    }
    assert_eq!(home.run(&["archive", "forget"]).code, Some(2), "no rule");
    let dry = home.run(&["archive", "forget", "--keep-last", "1", "--dry-run"]);
    assert!(dry.out.contains("2 of 3 snapshots removed"), "{dry:?}");
    let forgot = home.run(&["archive", "forget", "--keep-last", "1", "--prune"]);
    assert!(forgot.code == Some(0) && forgot.out.contains("1 stay"), "{forgot:?}");
    let checked = home.run(&["archive", "check", "--read-data"]);
    assert!(checked.code == Some(0) && checked.out.ends_with("no damage found\n"), "{checked:?}");
    let target = home.home.path().join("restored");
    let restored = home.run(&["archive", "restore", "latest", "--target", &target.display().to_string()]);
    assert!(restored.code == Some(0) && target.join(".pneu/tags").exists(), "{restored:?}");
    let listed = home.run(&["archive", "ls", "latest"]).out;
    assert!(listed.lines().any(|line| line.ends_with("/cur")), "{listed}");
    assert!(home.run(&["archive", "stats"]).out.starts_with("snapshots   1\n"));
    assert_eq!(home.run(&["archive", "unlock"]).out, "0 locks removed\n");
}

#[test]
fn a_wrong_password_has_its_code_and_is_in_no_sentence() {
    let home = archived();
    home.run(&["archive", "init"]);
    let home = Archived { password: "geheimnis", ..home };
    let refused = home.run(&["archive", "snapshots"]);
    assert_eq!(refused.code, Some(12));
    assert!(refused.err.contains("wrong password") && !refused.err.contains("geheimnis"), "{refused:?}");
}
