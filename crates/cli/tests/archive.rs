//! `pneu archive`, `find --archived` and `--at`, `undelete`: mail is backed up, deleted, found, shown and put
//! back.

use crate::support::{Home, Run, letter, run};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// A home with mail, and where its repository is.
pub(crate) struct Archived {
    pub(crate) home: Home,
    pub(crate) password: &'static str,
}

impl Archived {
    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        run(&mut self.command(arguments))
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.command(arguments);
        command.env("RESTIC_REPOSITORY", self.home.path().join("repository"));
        command.env("RESTIC_PASSWORD", self.password);
        command
    }
}

pub(crate) fn archived() -> Archived {
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
    // Directories above the Maildir are in it too, and /tmp changes whenever another test begins: so bytes of
    // trees may be added.
    assert!(again.out.contains(" 0 new, 0 changed; "), "{again:?}");
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
fn what_noindex_keeps_out_of_a_backup_is_said_in_one_line() {
    let home = archived();
    home.run(&["archive", "init"]);
    for (number, folder) in ["a", "b", "c", "d"].into_iter().enumerate() {
        home.home.deliver(folder, "9:2,", &letter("9", "Hidden", "text"));
        fs::write(home.home.mail().join(folder).join(".noindex"), "").unwrap();
        let path = |folder: &str| home.home.mail().join(folder).display().to_string();
        let expected = match number {
            0 => format!("1 folder with mail is not in the backup, because of .noindex: {}\n", path("a")),
            1 | 2 => continue,
            _ => format!(
                "4 folders with mail are not in the backup, because of .noindex: {}, {}, {}, and 1 more\n",
                path("a"),
                path("b"),
                path("c")
            ),
        };
        for options in [&[][..], &["--no-index"]] {
            let saved = home.run(&[&["archive", "backup"], options].concat());
            assert_eq!((saved.code, saved.err), (Some(0), format!("pneu: {expected}")), "{options:?}");
        }
    }
    let quiet = home.run(&["--quiet", "archive", "backup"]);
    assert_eq!((quiet.code, quiet.out.as_str(), quiet.err.as_str()), (Some(0), "", ""));
}

#[test]
fn a_maildir_named_with_dots_is_backed_up_searched_as_it_stood_and_put_back() {
    let home = Archived { home: Home::new(), password: "pneumatic" };
    let path = home.home.deliver("", "1:2,S", &letter("1", "Dotted", "text"));
    home.home.folder("sub");
    home.home.good(&["index", "--maildir", "Mail/sub/.."]);
    home.run(&["archive", "init"]);
    let saved = home.run(&["archive", "backup"]);
    assert_eq!((saved.code, saved.err.as_str()), (Some(0), ""), "{saved:?}");
    let listed = home.run(&["archive", "snapshots"]).out;
    assert!(listed.contains("/Mail") && !listed.contains(".."), "{listed}");
    fs::remove_file(&path).unwrap();
    assert_eq!(home.run(&["index", "--accept-loss"]).code, Some(0));
    let stood = home.run(&["--quiet", "find", "--at", "2999-01-01", "--fields", "s", "*"]);
    assert_eq!((stood.out.as_str(), stood.err.as_str()), ("Dotted\n", ""));
    let back = home.run(&["undelete", "id:1@example.org"]);
    assert_eq!(back.code, Some(0), "{back:?}");
    assert!(path.exists());
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
    assert!(dry.out.contains("2 of 3 snapshots would be removed, 1 would stay"), "{dry:?}");
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
fn each_rule_of_a_policy_can_be_given_and_several_at_once() {
    let home = archived();
    home.run(&["archive", "init"]);
    for _ in 0..4 {
        assert_eq!(home.run(&["archive", "backup"]).code, Some(0));
    }
    let forget = |rules: &[&str]| home.run(&[&["archive", "forget", "--dry-run"], rules].concat());
    for (rule, stay) in [
        ("--keep-within=1h", 4),
        ("--keep-within-hourly=1h", 2),
        ("--keep-within-daily=1d", 2),
        ("--keep-within-weekly=7d", 2),
        ("--keep-within-monthly=1m", 2),
        ("--keep-within-yearly=1y", 2),
    ] {
        let planned = forget(&[rule]);
        // The newest and the oldest; and one more if they lie on both sides of an hour, or of midnight.
        let stays = [stay, 3].iter().any(|stay| planned.out.contains(&format!(", {stay} would stay\n")));
        assert!(planned.code == Some(0) && stays, "{rule}: {planned:?}");
        let both = forget(&[rule, "2026"]);
        assert!(both.code == Some(2) && both.err.contains("cannot be used with"), "{rule}: {both:?}");
    }
    let several = forget(&["--keep-within-daily", "1d", "--keep-last", "2", "--prune"]);
    assert!(several.code == Some(0) && several.out.contains(", 3 would stay"), "{several:?}");
    assert!(several.out.contains("to remove ") && several.err.is_empty(), "{several:?}");
    assert_eq!(home.run(&["archive", "snapshots"]).out.lines().count(), 4);
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

#[test]
fn an_init_that_was_killed_goes_on_with_its_password() {
    let home = archived();
    let begun = home.run(&["archive", "init"]);
    assert_eq!(begun.code, Some(0), "{begun:?}");
    let config = home.home.path().join("repository/config");
    // It is written last: this is what a kill before it leaves.
    fs::remove_file(&config).unwrap();
    let other = Archived { password: "another", home: home.home };
    let refused = other.run(&["archive", "init"]);
    assert!(
        refused.code == Some(2) && refused.err.contains("Run init again with that password"),
        "{refused:?}"
    );
    let home = Archived { password: "pneumatic", ..other };
    let made = home.run(&["archive", "init"]);
    assert!(made.code == Some(0) && made.out.contains(" made at "), "{made:?}");
    assert_eq!(home.run(&["archive", "backup"]).code, Some(0));
    let repository = home.home.path().join("repository").display().to_string();
    if let Some(restic) = testkit::restic(home.home.path(), &repository, home.password) {
        restic.succeed(&["check", "--read-data"]);
    }
    fs::remove_file(&config).unwrap();
    let refused = home.run(&["archive", "init"]);
    assert!(refused.code == Some(2) && refused.err.contains("but no config"), "{refused:?}");
}

#[test]
fn who_reads_keeps_out_who_prunes_unless_asked_not_to() {
    let home = archived();
    home.run(&["archive", "init"]);
    assert_eq!(home.run(&["archive", "backup"]).code, Some(0));
    let path = home.home.mail().join("cur/1:2,S");
    fs::remove_file(&path).unwrap();
    assert_eq!(home.run(&["index"]).code, Some(0));
    let file = format!("latest:{}", path.display());
    let reading: [&[&str]; 12] = [
        &["archive", "snapshots"],
        &["archive", "ls"],
        &["archive", "find", "1:*"],
        &["archive", "view", &file],
        &["archive", "stats"],
        &["archive", "check"],
        &["archive", "prune", "--dry-run"],
        &["archive", "erase", "--dry-run", "id:1@example.org"],
        &["archive", "forget", "--keep-last", "1", "--dry-run"],
        &["find", "--at", "2999-01-01"],
        &["view", "id:1@example.org"],
        &["undelete", "id:nobody@example.org"],
    ];
    // Somebody elsewhere has the repository for himself alone: a prune, say.
    let repository = home.home.path().join("repository").display().to_string();
    let other = exclusive_lock(&repository, home.password);
    for arguments in reading {
        let locked = home.run(arguments);
        assert!(
            locked.code == Some(11) && locked.err.contains("is locked exclusively"),
            "{arguments:?}: {locked:?}"
        );
        let read = home.run(&[arguments, &["--no-lock"]].concat());
        assert!(matches!(read.code, Some(0 | 1)) && !read.err.contains("lock"), "{arguments:?}: {read:?}");
    }
    assert_eq!(home.run(&["find", "--archived", "id:1@example.org"]).code, Some(0), "it reads no pack");
    drop(other);
    assert_eq!(home.run(&["archive", "unlock"]).out, "0 locks removed\n", "nobody leaves a lock");
    let refused = home.run(&["archive", "prune", "--no-lock"]);
    let said = "--no-lock works only with --dry-run";
    assert!(refused.code == Some(2) && refused.err.contains(said), "{refused:?}");
}

/// Locks a repository from another machine.
pub(crate) fn exclusive_lock(repository: &str, password: &str) -> restic::HeldLock {
    let storage = restic::LocalStorage::new(Arc::new(disk::RealDisk), repository.into());
    let password = restic::Password::new(password.as_bytes().to_vec());
    let surroundings = restic::Surroundings {
        hostname: "elsewhere".to_owned(),
        context: work::Context::new(|| i64::try_from(jiff::Timestamp::now().as_nanosecond()).unwrap(), 2),
        sleep: |_| {},
        ..restic::testing::surroundings()
    };
    let repository = restic::Repository::open(Arc::new(storage), &password, None, surroundings).unwrap();
    repository.lock(restic::LockKind::Exclusive, Duration::ZERO, &|_, _| Ok(())).unwrap()
}

#[test]
fn a_directory_that_cannot_be_listed_costs_no_mail_below_it() {
    let home = archived();
    home.run(&["archive", "init"]);
    let repository = home.home.path().join("repository");
    let script =
        format!("export RESTIC_REPOSITORY={} RESTIC_PASSWORD={}", repository.display(), home.password);
    fs::set_permissions(home.home.mail(), Permissions::from_mode(0o311)).unwrap();
    let partly = home.home.without_rights_after(&script, &["archive", "backup", "--no-index"]);
    fs::set_permissions(home.home.mail(), Permissions::from_mode(0o755)).unwrap();
    assert_eq!(partly.code, Some(3), "{partly:?}");
    assert!(
        partly.err.contains("Permission denied (os error 13); the files in it were left out"),
        "{}",
        partly.err
    );
    assert!(partly.out.contains(": 4 files, "), "{}", partly.out);
}

#[test]
fn a_repository_that_may_only_be_read_is_read_without_a_lock() {
    let home = archived();
    home.run(&["archive", "init"]);
    assert_eq!(home.run(&["archive", "backup"]).code, Some(0));
    let path = home.home.mail().join("cur/1:2,S");
    fs::remove_file(&path).unwrap();
    assert_eq!(home.run(&["index"]).code, Some(0));
    let repository = home.home.path().join("repository");
    let environment =
        format!("export RESTIC_REPOSITORY={} RESTIC_PASSWORD={}", repository.display(), home.password);
    let read_only = |arguments: &[&str]| {
        // All is the other user's, who may write the index but not the repository.
        let script = format!("{environment}; chmod -R a-w '{}'", repository.display());
        home.home.without_rights_after(&script, arguments)
    };
    for arguments in
        [&["archive", "snapshots"][..], &["view", "id:1@example.org"], &["find", "--at", "2999-01-01"]]
    {
        let refused = read_only(arguments);
        assert!(
            refused.code == Some(2) && refused.err.contains("to read a read-only repository, use --no-lock"),
            "{refused:?}"
        );
        let read = read_only(&[arguments, &["--no-lock"]].concat());
        assert_eq!(read.code, Some(0), "{read:?}");
    }
}
