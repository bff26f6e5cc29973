//! Tests index and archive together: what is swept, rebuilt, searched as of a date, and restored on a new
//! machine.
//!
//! Input: mail that is backed up and deleted. Output: whether it is found where it should be. Does not depend
//! on how archives are stored.

use crate::support::{Home, Run, letter, long_letter, run};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const PASSWORD: &str = "pneumatic";
/// What is damaged may not say where the mail is.
const REPAIR: [&str; 4] = ["check", "--repair", "--maildir", "Mail"];

/// Runs the program with the repository of a home.
fn with_archive(home: &Home, arguments: &[&str]) -> Run {
    with_repository(home, &home.path().join("repository"), arguments)
}

fn with_repository(home: &Home, repository: &Path, arguments: &[&str]) -> Run {
    let mut command = home.command(arguments);
    command.env("RESTIC_REPOSITORY", repository).env("RESTIC_PASSWORD", PASSWORD);
    run(&mut command)
}

fn good(home: &Home, arguments: &[&str]) -> String {
    let run = with_archive(home, arguments);
    assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
    run.out
}

/// Returns the subjects that a search finds.
fn subjects(home: &Home, options: &[&str], query: &str) -> Vec<String> {
    let arguments = [&["find", "--fields", "s"], options, &[query]].concat();
    let run = with_archive(home, &arguments);
    assert!(matches!(run.code, Some(0 | 1)), "{arguments:?}: {run:?}");
    run.out.lines().map(str::to_owned).collect()
}

/// A home whose mail is backed up, and of which the message with the words "hello again" was then deleted.
fn deleted() -> Home {
    let home = Home::indexed();
    good(&home, &["archive", "init"]);
    good(&home, &["archive", "backup"]);
    fs::remove_file(home.mail().join("cur/2:2,")).unwrap();
    assert!(home.good(&["index"]).contains(" 1 gone"));
    home
}

#[test]
fn a_sweep_leaves_what_the_archive_holds() {
    let home = deleted();
    // One that no archive has.
    let path = home.deliver("", "9:2,S", &letter("9", "Never saved", "text"));
    home.good(&["index"]);
    fs::remove_file(path).unwrap();
    home.good(&["index"]);
    let old = ["sweep", "--older-than", "0d"];
    let list = |options: &[&str]| {
        let out = good(&home, &[&old[..], &["--dry-run"], options].concat());
        out.lines().map(|line| line.rsplit("  ").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(list(&[]), ["Never saved"]);
    let mut all = list(&["--no-archive"]);
    all.sort();
    assert_eq!(all, ["Never saved", "Second thoughts"]);
    assert_eq!(good(&home, &old), "1 message forgotten; 1 kept, still in the archive\n");
    assert_eq!(subjects(&home, &["--archived"], "\"hello again\""), ["Second thoughts"]);
    assert_eq!(good(&home, &old), "0 messages forgotten; 1 kept, still in the archive\n");
    assert_eq!(good(&home, &[&old[..], &["--no-archive"]].concat()), "1 message forgotten\n");
    assert_eq!(subjects(&home, &["--archived"], "\"hello again\""), [""; 0]);
}

/// A home of which a large message is in the archive alone: its path and its content. What backups of this
/// machine know is gone, as on any other machine.
fn large_in_archive_alone() -> (Home, PathBuf, Vec<u8>) {
    let home = Home::indexed();
    // Not the same over and over: what cuts it looks at what is in it.
    let lines = (0..60_000u64).map(|line| format!("{:x}\n", line.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    let content = letter("9", "With a photo", &lines.collect::<String>());
    let path = home.deliver("", "9:2,S", &content);
    good(&home, &["archive", "init"]);
    good(&home, &["archive", "backup"]);
    fs::remove_file(&path).unwrap();
    home.good(&["index"]);
    fs::remove_dir_all(home.data().join("archive")).unwrap();
    (home, path, content)
}

#[test]
fn a_large_message_is_found_shown_and_put_back_by_the_archive_alone() {
    let (home, _, content) = large_in_archive_alone();
    assert_eq!(subjects(&home, &["--archived"], "photo"), ["With a photo"]);
    assert_eq!(good(&home, &["view", "--format", "raw", "id:9@example.org"]).as_bytes(), content);
    let old = ["sweep", "--older-than", "0d"];
    assert_eq!(good(&home, &old), "0 messages forgotten; 1 kept, still in the archive\n");
    // A backup begins its tables with what the archive knows, and hands it on.
    good(&home, &["archive", "backup"]);
    let kept = home.path().join("kept");
    fs::rename(home.data().join("archive"), &kept).unwrap();
    good(&home, &["archive", "forget", "--keep-last", "1"]);
    assert_eq!(subjects(&home, &["--archived"], "photo"), ["With a photo"]);
    fs::rename(&kept, home.data().join("archive")).unwrap();
    let back = with_archive(&home, &["undelete", "id:9@example.org"]);
    assert_eq!(back.code, Some(3), "the snapshot that had it is gone: {back:?}");
    assert!(back.err.contains("no snapshot has it any more"), "{back:?}");
}

#[test]
fn a_large_message_is_put_back_by_the_archive_alone() {
    let (home, path, content) = large_in_archive_alone();
    good(&home, &["undelete", "id:9@example.org"]);
    assert_eq!(fs::read(&path).unwrap(), content);
}

#[test]
fn a_sweep_that_cannot_ask_the_archive_forgets_nothing() {
    let home = deleted();
    let old = ["sweep", "--older-than", "0d"];
    let nowhere = home.path().join("nowhere");
    for arguments in [&old[..], &["sweep", "--older-than", "0d", "--dry-run"]] {
        let refused = with_repository(&home, &nowhere, arguments);
        assert_eq!((refused.code, refused.out.as_str()), (Some(10), ""), "{refused:?}");
        assert!(
            refused.err.contains("nothing was removed, because the archive could not be read"),
            "{refused:?}"
        );
    }
    // The same where a part of the repository that says what it holds is damaged.
    let index = only(&home.path().join("repository/index"));
    let sound = fs::read(&index).unwrap();
    let mut bytes = sound.clone();
    bytes[40] ^= 1;
    rewrite(&index, &bytes);
    fs::remove_dir_all(home.path().join(".cache")).unwrap();
    let refused = with_archive(&home, &old);
    assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{refused:?}");
    assert!(refused.err.contains("nothing was removed"), "{refused:?}");
    rewrite(&index, &sound);
    assert_eq!(good(&home, &old), "0 messages forgotten; 1 kept, still in the archive\n");
    let without = with_repository(&home, &nowhere, &[&old[..], &["--no-archive"]].concat());
    assert_eq!((without.code, without.out.as_str()), (Some(0), "1 message forgotten\n"));
}

/// Returns the only file in a directory.
fn only(directory: &Path) -> PathBuf {
    let mut entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let first = entries.next().unwrap();
    assert!(entries.next().is_none());
    first
}

/// Replaces a file that may be for reading only.
fn rewrite(path: &Path, bytes: &[u8]) {
    fs::remove_file(path).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Flips a byte in the middle of the largest file of the index, or of its text.
fn damage_index(home: &Home, below: &str) {
    let largest =
        fs::read_dir(home.index_directory().join(below)).unwrap().map(|entry| entry.unwrap().path());
    let largest = largest.filter(|path| path.is_file()).max_by_key(|path| fs::metadata(path).unwrap().len());
    let path = largest.unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    rewrite(&path, &bytes);
}

#[test]
fn an_index_made_anew_finds_deleted_mail_again_with_its_text() {
    for below in ["", "text"] {
        let home = deleted();
        home.deliver("", "8:2,S", &long_letter("8", "Long", "many words"));
        home.good(&["index"]);
        damage_index(&home, below);
        let repaired = with_archive(&home, &REPAIR);
        assert_eq!(repaired.code, Some(0), "{below}: {repaired:?}");
        assert!(repaired.out.ends_with("1 message added that only the archive has\n"), "{repaired:?}");
        assert_eq!(subjects(&home, &["--archived"], "\"hello again\""), ["Second thoughts"]);
        assert_eq!(subjects(&home, &[], "hello"), ["First steps"]);
        let shown = good(&home, &["view", "--format", "raw", "id:2@example.org"]);
        assert_eq!(
            shown.as_bytes(),
            letter("2", "Second thoughts", "hello again, with more words than before")
        );
        assert_eq!(good(&home, &["check", "--deep"]), "no damage found\n");
    }
}

#[test]
fn an_index_is_made_anew_without_an_archive_that_cannot_be_asked() {
    let home = deleted();
    damage_index(&home, "");
    let partly = with_repository(&home, &home.path().join("nowhere"), &REPAIR);
    assert_eq!(partly.code, Some(3), "{partly:?}");
    assert!(
        partly.err.contains("the archive could not be read; once it can be read, \"pneu index --archived\""),
        "{partly:?}"
    );
    assert_eq!(subjects(&home, &["--archived"], "\"hello again\""), [""; 0]);
    let taken_in = good(&home, &["index", "--archived"]);
    assert!(taken_in.ends_with("1 message added that only the archive has\n"), "{taken_in}");
    assert_eq!(subjects(&home, &["--archived"], "\"hello again\""), ["Second thoughts"]);
    assert!(!good(&home, &["index", "--archived"]).contains("added that only"), "all of it is known");
    let nobody = home.pneu(&["index", "--archived"]);
    assert_eq!(nobody.code, Some(2));
    assert!(nobody.err.contains("--archived: no repository is named"), "{nobody:?}");
}

#[test]
fn a_pack_that_is_missing_costs_only_its_own_messages() {
    let home = deleted();
    let before = packs(&home);
    // More packs, with another message that is deleted.
    let path = home.deliver("", "7:2,S", &letter("7", "Seventh", "another text"));
    good(&home, &["archive", "backup"]);
    fs::remove_file(path).unwrap();
    home.good(&["index"]);
    for pack in packs(&home).into_iter().filter(|pack| !before.contains(pack)) {
        fs::remove_file(pack).unwrap();
    }
    damage_index(&home, "");
    let partly = with_archive(&home, &REPAIR);
    assert_eq!(partly.code, Some(3), "{partly:?}");
    assert!(partly.err.contains("part of the archive could not be read"), "{partly:?}");
    // What the first snapshot has is there.
    assert_eq!(subjects(&home, &["--archived"], "hello"), ["Second thoughts", "First steps"]);
    assert_eq!(subjects(&home, &["--archived"], "another"), [""; 0]);
}

/// Returns the packs of a repository.
fn packs(home: &Home) -> Vec<PathBuf> {
    let mut packs = Vec::new();
    for directory in fs::read_dir(home.path().join("repository/data")).unwrap() {
        for pack in fs::read_dir(directory.unwrap().path()).unwrap() {
            packs.push(pack.unwrap().path());
        }
    }
    packs
}

#[test]
fn the_first_index_takes_in_deleted_mail_where_the_configuration_names_the_archive() {
    let home = deleted();
    fs::remove_dir_all(home.data()).unwrap();
    let first = good(&home, &["index", "--maildir", "Mail"]);
    assert!(!first.contains("added that only"), "an environment may name any repository: {first}");
    fs::write(home.path().join("password"), PASSWORD).unwrap();
    let configuration = home.path().join(".config/pneu/config.toml");
    fs::create_dir_all(configuration.parent().unwrap()).unwrap();
    let archive = |repository: &str| {
        format!("[archive]\nrepository = \"~/{repository}\"\npassword_file = \"~/password\"\n")
    };
    for (repository, last) in
        [("not-made-yet", " 0 unreadable"), ("repository", "1 message added that only the archive has")]
    {
        fs::remove_dir_all(home.data()).unwrap();
        fs::write(&configuration, archive(repository)).unwrap();
        let first = home.first_index();
        assert!(first.contains(last), "{repository}: {first}");
    }
    assert_eq!(home.good(&["find", "--archived", "--fields", "s", "\"hello again\""]), "Second thoughts\n");
}

/// Returns the time of the only snapshot, as `--at` takes it.
fn time_of_snapshot(home: &Home) -> String {
    let line = good(home, &["archive", "snapshots", "--format", "json"]);
    let snapshot: serde_json::Value = serde_json::from_str(&line).unwrap();
    let time = jiff::Timestamp::from_second(snapshot["time_unix"].as_i64().unwrap()).unwrap();
    time.strftime("%Y-%m-%dT%H:%M:%S").to_string()
}

#[test]
fn the_mail_is_searched_as_it_stood_and_said_of_when() {
    let home = deleted();
    let all = ["A fourth", "Third time", "Second thoughts", "First steps"];
    let first = time_of_snapshot(&home);
    let future = with_archive(&home, &["find", "--at", "2999-01-01", "--fields", "s"]);
    assert_eq!(future.out.lines().collect::<Vec<_>>(), all);
    assert!(future.err.contains("2999-01-01 is in the future; searching the latest backup"));
    assert!(future.err.contains(&format!("as of {}, snapshot ", first.replace('T', " "))), "{future:?}");
    let now = with_archive(&home, &["find", "--at", &first, "--fields", "s"]);
    assert_eq!((now.code, now.out.lines().count()), (Some(0), 4), "{now:?}");
    assert!(!now.err.contains("to come") && now.err.lines().count() == 1, "{now:?}");
    let quiet = with_archive(&home, &["find", "--quiet", "--at", &first, "--fields", "s"]);
    assert_eq!((quiet.out, quiet.err.as_str()), (now.out, ""));
    let before = with_archive(&home, &["find", "--at", "1999-01-01"]);
    assert_eq!((before.code, before.out.as_str()), (Some(1), ""));
    let oldest = first.replace('T', " ");
    let sentence = format!("there is no snapshot from 1999-01-01 or earlier; the first is from {oldest}");
    assert!(before.err.contains(&sentence), "{before:?}");
    let mistake = with_archive(&home, &["find", "--at", "yesterday"]);
    assert_eq!(mistake.code, Some(2));
    assert!(mistake.err.contains("write a day, 2025-06-01, or a time of your time zone"), "{mistake:?}");
    let empty = home.path().join("empty");
    assert_eq!(with_repository(&home, &empty, &["archive", "init"]).code, Some(0));
    let none = with_repository(&home, &empty, &["find", "--at", "2999-01-01"]);
    assert!(none.code == Some(1) && none.err.contains("has no snapshot of mail yet"), "{none:?}");
}

#[test]
fn a_day_is_one_of_local_time() {
    let home = deleted();
    let day = time_of_snapshot(&home)[..10].to_owned();
    let at = |zone: &str| {
        let mut command = home.command(&["find", "--at", &day, "--format", "count"]);
        command.env("RESTIC_REPOSITORY", home.path().join("repository")).env("RESTIC_PASSWORD", PASSWORD);
        run(command.env("TZ", zone)).code
    };
    assert_eq!(at("UTC0"), Some(0));
    // Where the sun rises a day before, that day was over when the backup was made; where it rises a day
    // behind, it had not begun.
    assert_eq!(at("Far-24"), Some(1));
    assert_eq!(at("Near24"), Some(0));
}

#[test]
fn each_root_is_searched_in_its_newest_snapshot() {
    let home = Home::indexed();
    good(&home, &["archive", "init"]);
    good(&home, &["archive", "backup"]);
    let other = home.path().join("Other");
    for place in ["cur", "new", "tmp"] {
        fs::create_dir_all(other.join(place)).unwrap();
    }
    fs::write(other.join("cur/8:2,S"), letter("8", "Elsewhere", "text")).unwrap();
    // A data directory of its own, so that this snapshot has the other root only.
    let aside = ["--data", "aside"];
    good(&home, &[&aside[..], &["index", "--maildir", "other=Other"]].concat());
    good(&home, &[&aside[..], &["archive", "backup"]].concat());
    home.good(&["index", "--maildir", "mail=Mail", "--maildir", "other=Other"]);
    let both = with_archive(&home, &["find", "--at", "2999-01-01", "--fields", "s m"]);
    assert_eq!(both.out.lines().count(), 5, "{both:?}");
    assert!(both.out.contains("Elsewhere"), "{both:?}");
    for root in [home.mail(), other.clone()] {
        assert!(both.err.contains(&format!("{}: as of ", root.display())), "{both:?}");
    }
    // One that was never backed up is named.
    let third = home.path().join("Third");
    for place in ["cur", "new", "tmp"] {
        fs::create_dir_all(third.join(place)).unwrap();
    }
    fs::write(third.join("cur/9:2,S"), letter("9", "Never saved", "text")).unwrap();
    let roots = ["index", "--maildir", "mail=Mail", "--maildir", "other=Other", "--maildir", "third=Third"];
    home.good(&roots);
    let third_is_missing = with_archive(&home, &["find", "--at", "2999-01-01"]);
    assert_eq!(third_is_missing.out.lines().count(), 5);
    let sentence = format!("no snapshot up to that time has {}", third.display());
    assert!(third_is_missing.err.contains(&sentence), "{third_is_missing:?}");
}

/// Returns every file below a directory with its content; without what is in `tmp`.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut left) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            found.insert(path.strip_prefix(root).unwrap().to_owned(), fs::read(&path).unwrap());
        }
    }
    found
}

#[test]
fn a_plain_restore_and_an_index_bring_everything_back_on_a_bare_machine() {
    let home = Home::indexed();
    let configuration = format!(
        "headers = [\"X-Mailer\"]\n# where it is\n[[root]]\nname = \"home\"\npath = \"{}\"\n",
        home.mail().display()
    );
    let place = home.path().join(".config/pneu/config.toml");
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(&place, &configuration).unwrap();
    fs::remove_dir_all(home.data()).unwrap();
    home.good(&["index"]);
    home.good(&["tag", "+work", "+großes", "--", "hello"]);
    home.good(&["query", "mine", "tag:work and flag:seen"]);
    home.good(&["query", "all", "query:mine or subject:fourth"]);
    good(&home, &["archive", "init"]);
    good(&home, &["archive", "backup"]);
    let (mail, queries) = (files(&home.mail()), fs::read(home.data().join("user/queries")).unwrap());
    let found = home.good(&["find", "--format", "json", "query:all"]);
    let tags = home.good(&["tag"]);
    let Some(restic) = testkit::restic(home.path(), "repository", PASSWORD) else { return };
    restic.succeed(&["check", "--read-data"]);
    // The machine is bare: no mail, no configuration, no index, no tags. Only the repository is left.
    for gone in
        [home.mail(), home.path().join(".config"), home.path().join(".local"), home.path().join(".cache")]
    {
        fs::remove_dir_all(gone).unwrap();
    }
    restic.succeed(&["restore", "latest", "--target", "restored"]);
    let restored = home.path().join("restored");
    let below = home.path().strip_prefix("/").unwrap();
    fs::rename(restored.join(below).join("Mail"), home.mail()).unwrap();
    fs::rename(restored.join(".pneu"), home.path().join(".pneu")).unwrap();
    // The configuration is back when the user has read it; all else comes by itself.
    let adopted = home.good(&["init", "--adopt", ".pneu/config.toml", "--yes"]);
    assert!(adopted.starts_with(&configuration), "{adopted}");
    let back = home.pneu(&["index", "--maildir", "home=Mail"]);
    assert_eq!(back.code, Some(0), "{back:?}");
    for part in ["2 saved queries are back", "tags of 2 messages are back"] {
        assert!(back.err.contains(part), "{part}: {back:?}");
    }
    assert_eq!(files(&home.mail()), mail);
    assert_eq!(fs::read_to_string(&place).unwrap(), configuration);
    assert_eq!(fs::read(home.data().join("user/queries")).unwrap(), queries);
    assert_eq!(home.good(&["find", "--format", "json", "query:all"]), found);
    assert_eq!(home.good(&["tag"]), tags);
    let header = home.pneu(&["count", "X-Mailer:*"]);
    assert_eq!((header.out.as_str(), header.err.as_str()), ("0\n", ""), "the header was indexed at once");
    // Once is enough: what is removed afterwards stays removed.
    home.good(&["tag", "-work", "-großes", "--", "*"]);
    home.good(&["query", "--remove", "all"]);
    let quiet = home.good(&["index"]);
    assert!(quiet.contains(" 0 added"), "{quiet}");
    assert_eq!(home.good(&["query"]), "mine\ttag:work and flag:seen\n");
}

#[test]
fn what_is_deleted_for_good_is_still_in_the_archive_until_it_is_erased_there() {
    let home = Home::indexed();
    good(&home, &["archive", "init"]);
    good(&home, &["archive", "backup"]);
    home.deliver("", "9:2,S", &letter("9", "Never saved", "text"));
    home.good(&["index"]);
    let content = fs::read(home.mail().join("cur/2:2,")).unwrap();
    let question = "\"hello again\" or subject:never";
    let planned = with_archive(&home, &["delete", "--for-good", "--dry-run", question]);
    assert_eq!(planned.err, "pneu: 2 messages: the archive holds 1; 1 would then exist nowhere\n");
    // One that the archive holds needs no agreement.
    let deleted = good(&home, &["delete", "--for-good", "\"hello again\""]);
    assert_eq!(deleted, "1 message: 1 file removed for good; the archive holds 1 of 1\n");
    assert_eq!(with_archive(&home, &["delete", "--for-good", "subject:never"]).code, Some(2));
    let unknown = with_repository(&home, &home.path().join("nowhere"), &["delete", "--for-good", "tubes"]);
    assert_eq!(unknown.code, Some(10));
    assert!(
        unknown.err.contains("nothing was removed, because the archive could not be read"),
        "{unknown:?}"
    );
    assert_eq!(subjects(&home, &[], "tubes"), ["Third time"]);
    // The index does not know it any more, but its content has a name.
    let sha256 = restic::Id::of(&content).to_string();
    let none = with_archive(&home, &["archive", "erase", "--dry-run", "\"hello again\""]);
    assert!(none.err.starts_with("pneu: no message matches; \"pneu index --archived\" adds"), "{none:?}");
    let planned = good(&home, &["archive", "erase", "--dry-run", &sha256]);
    assert!(planned.ends_with("\n1 of 1 message, 1 file, in 1 of 1 snapshot\n"), "{planned}");
    let refused = with_archive(&home, &["archive", "erase", &sha256]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.ends_with("pneu: nothing was changed; --yes erases without asking\n"), "{refused:?}");
    let erased = good(&home, &["archive", "erase", "--yes", &sha256]);
    assert!(erased.contains("\nerased  1 message, 1 file; "), "{erased}");
    let none = with_archive(&home, &["archive", "erase", "--yes", &sha256]);
    assert_eq!((none.code, none.err.as_str()), (Some(1), "pneu: no snapshot has any of these messages\n"));
    // One that is here comes back with the next backup.
    let erased = with_archive(&home, &["archive", "erase", "--yes", "tubes"]);
    assert_eq!(erased.code, Some(0), "{erased:?}");
    assert_eq!(
        erased.err,
        "pneu: 1 of the messages is in a Maildir here, and the next backup stores it again\n"
    );
    assert_eq!(with_archive(&home, &["archive", "find", "3:*"]).code, Some(1));
    good(&home, &["archive", "backup"]);
    assert_eq!(good(&home, &["archive", "find", "3:*"]).lines().count(), 1);
    // Packs hold what snapshots forgot. No snapshot brings it back, so it does not count as held.
    let content = fs::read(home.good(&["find", "--format", "paths", "tubes"]).trim_end()).unwrap();
    let sha256 = restic::Id::of(&content).to_string();
    for line in good(&home, &["archive", "snapshots"]).lines().filter(|line| line.contains("Mail")) {
        good(&home, &["archive", "forget", line.split(' ').next().unwrap()]);
    }
    let planned = with_archive(&home, &["delete", "--for-good", "--dry-run", "tubes"]);
    assert_eq!(planned.err, "pneu: 1 message: the archive holds 0; 1 would then exist nowhere\n");
    // What an erasure that was interrupted would leave is erased, too.
    let left = with_archive(&home, &["archive", "erase", "--yes", &sha256]);
    assert_eq!(left.code, Some(0), "{left:?}");
    let said = "pneu: no snapshot has any of these messages, but packs still have them\n";
    assert!(left.err.starts_with(said), "{left:?}");
    let none = with_archive(&home, &["archive", "erase", "--yes", &sha256]);
    assert_eq!((none.code, none.err.as_str()), (Some(1), "pneu: no snapshot has any of these messages\n"));
    if let Some(restic) = testkit::restic(home.path(), "repository", PASSWORD) {
        restic.succeed(&["check", "--read-data"]);
    }
}
