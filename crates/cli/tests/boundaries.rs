//! Tests that nothing in a mail directory, a snapshot or a repository can make the program do what the user
//! did not ask for.
//!
//! Input: files as an attacker would make them. Output: what was run, written and printed. docs/SECURITY.md
//! says which boundary each test guards.

use crate::hostile::assert_harmless;
use crate::support::{Home, Run, letter, run};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const PASSWORD: &str = "boundaries";

/// A home with one message, and a directory `.pneu` in its Maildir.
fn unpacked() -> (Home, PathBuf) {
    let home = Home::new();
    home.deliver("", "1:2,S", &letter("1", "One", "text"));
    let own = home.mail().join(".pneu");
    fs::create_dir_all(&own).unwrap();
    (home, own)
}

/// A configuration that runs a program.
fn running(home: &Home) -> String {
    format!(
        "[archive]\nrepository = \"{}\"\npassword_command = \"sh -c 'id > {}'\"\n",
        home.path().join("theirs").display(),
        home.path().join("stolen").display()
    )
}

fn configuration(home: &Home) -> PathBuf {
    home.path().join(".config/pneu/config.toml")
}

fn with_archive(home: &Home, arguments: &[&str]) -> Run {
    let mut command = home.command(arguments);
    run(command.env("RESTIC_REPOSITORY", home.path().join("repository")).env("RESTIC_PASSWORD", PASSWORD))
}

#[test]
fn a_maildir_names_no_command_repository_or_place() {
    let (home, own) = unpacked();
    fs::write(own.join("config.toml"), running(&home)).unwrap();
    let first = home.pneu(&["--maildir", "Mail", "index"]);
    assert_eq!(first.code, Some(0), "{first:?}");
    let adopt = format!("pneu init --adopt {}", own.join("config.toml").display());
    for part in ["it is not used; it contains", "\n  command sh -c 'id > ", "\n  repository ", &adopt] {
        assert!(first.err.contains(part), "{part}: {}", first.err);
    }
    assert!(!configuration(&home).exists(), "it is nobody's configuration");
    for arguments in [&["index"][..], &["find", "--archived"], &["archive", "snapshots"], &["info"]] {
        home.pneu(arguments);
    }
    // Nor above the root, where a snapshot is restored to.
    fs::rename(&own, home.path().join(".pneu")).unwrap();
    fs::remove_dir_all(home.data()).unwrap();
    let above = home.pneu(&["index", "--maildir", "Mail"]);
    assert!(above.err.contains("it is not used"), "{above:?}");
    assert!(!home.path().join("stolen").exists() && !configuration(&home).exists());
    // What the user has is his own: nothing is said of another.
    fs::create_dir_all(configuration(&home).parent().unwrap()).unwrap();
    fs::write(configuration(&home), "").unwrap();
    fs::remove_dir_all(home.data()).unwrap();
    let own = home.pneu(&["index", "--maildir", "Mail"]);
    assert_eq!((own.code, own.err.as_str()), (Some(0), ""));
}

#[test]
fn what_is_found_beside_mail_is_shown_without_what_a_terminal_acts_on() {
    let (home, own) = unpacked();
    let text =
        "headers = [\"X-A\"]\n[[root]]\nname = \"work\"\npath = \"/x\\u001b[2J\\u009b\\u202e\\u0007\"\n";
    fs::write(own.join("config.toml"), text).unwrap();
    fs::write(own.join("queries"), "pneu-queries 1\nmine\tsubject:\u{202e}\u{2066}x\n").unwrap();
    fs::write(own.join("tags"), "pneu-tags 1\nno line \u{1b}[2J\n").unwrap();
    let first = home.pneu(&["index", "--maildir", "Mail"]);
    assert_harmless(&first, "index");
    assert_eq!(first.code, Some(0), "what lies there cannot make an index fail: {first:?}");
    assert!(
        first.err.contains("1 saved query is back") && first.err.contains("tags: it does not"),
        "{first:?}"
    );
    let listed = home.pneu(&["query"]);
    assert!(listed.out.contains("mine"), "{listed:?}");
    assert_harmless(&listed, "query");
    assert_harmless(&home.pneu(&["find", "query:mine and ("]), "a mistake");
    let later = home.pneu(&["index"]);
    assert_eq!((later.code, later.err.as_str()), (Some(0), ""), "once is enough");
}

#[test]
fn a_configuration_is_adopted_by_whoever_has_read_it() {
    let (home, own) = unpacked();
    let (theirs, place) = (own.join("config.toml"), configuration(&home));
    let text = format!("# who\n{}[[root]]\nname = \"gone\"\npath = \"/nowhere/at/all\"\n", running(&home));
    fs::write(&theirs, &text).unwrap();
    let adopt = ["init", "--adopt", "Mail/.pneu/config.toml"];
    let shown = home.pneu(&adopt);
    assert_eq!(shown.code, Some(2), "{shown:?}");
    let named = "\nIt contains\n  mail gone in /nowhere/at/all\n";
    assert!(shown.out.starts_with(&text) && shown.out.contains(named), "{shown:?}");
    let last = shown.out.lines().last().unwrap();
    assert!(last.starts_with("  command sh -c"), "right above the question: {last}");
    assert!(shown.err.contains("pneu init --adopt Mail/.pneu/config.toml --yes"), "{shown:?}");
    assert!(!place.exists());
    let no = home.answering(&adopt, "\n");
    assert!(no.code == Some(1) && no.out.contains("[y/N]") && !place.exists(), "{no:?}");
    let yes = home.answering(&adopt, "y\n");
    assert!(yes.code == Some(0) && yes.out.contains("was written"), "{yes:?}");
    assert_eq!(fs::read_to_string(&place).unwrap(), text);
    assert!(home.good(&[&adopt[..], &["--yes"]].concat()).contains("already exists"));
    // Another one is never replaced.
    fs::write(&theirs, "headers = []\n").unwrap();
    let other = home.pneu(&[&adopt[..], &["--yes"]].concat());
    assert!(other.code == Some(2) && other.err.contains("it was not changed"), "{other:?}");
    assert_eq!(fs::read_to_string(&place).unwrap(), text);
    assert!(!home.path().join("stolen").exists(), "reading it runs nothing");
    for (content, part) in [("x = 1\n", "unknown field"), ("# \u{202e}\n", "unprintable characters")] {
        fs::write(&theirs, content).unwrap();
        let refused = home.pneu(&[&adopt[..], &["--yes"]].concat());
        assert!(refused.code == Some(2) && refused.err.contains(part), "{refused:?}");
    }
}

#[test]
fn tags_beside_mail_say_nothing_of_other_mail() {
    let home = Home::new();
    home.deliver("", "1:2,S", &letter("1", "One", "text"));
    home.first_index();
    let theirs = home.path().join("Theirs");
    for place in ["cur", "new", "tmp", ".pneu"] {
        fs::create_dir_all(theirs.join(place)).unwrap();
    }
    fs::write(theirs.join("cur/2:2,S"), letter("2", "Two", "text")).unwrap();
    let digest = |content: &[u8]| -> String {
        use sha2::Digest;
        sha2::Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let (one, two) = (digest(&letter("1", "One", "text")), digest(&letter("2", "Two", "text")));
    let nowhere = "0".repeat(64);
    let text = format!(
        "pneu-tags \
         1\n{one}\t1@example.org\tspam\n{two}\t1@example.org\tmine\n{nowhere}\t1@example.org\tspam\n"
    );
    fs::write(theirs.join(".pneu/tags"), text).unwrap();
    let both = home.pneu(&["index", "--maildir", "mail=Mail", "--maildir", "theirs=Theirs"]);
    assert_eq!(both.code, Some(0), "{both:?}");
    let path = theirs.join(".pneu/tags").display().to_string();
    assert!(both.err.contains(&format!("{path}: tags of 1 message are back")), "{both:?}");
    let left = format!(
        "{path}: tags of 2 messages that are not here were left out; to import all of it: pneu tag --import \
         {path}"
    );
    assert!(both.err.contains(&left), "{both:?}");
    assert_eq!(home.subjects("tag:mine"), ["Two"]);
    assert_eq!(home.pneu(&["count", "tag:spam"]).out, "0\n");
    // Not even when the message with the tag is gone, and another has the Message-ID that it was said to
    // have.
    fs::remove_file(theirs.join("cur/2:2,S")).unwrap();
    home.good(&["index", "--accept-loss"]);
    assert_eq!(home.pneu(&["count", "tag:mine"]).out, "0\n");
}

#[test]
fn pipes_links_and_endless_files_beside_mail_are_passed_over() {
    for name in ["tags", "queries", "config.toml"] {
        for kind in ["pipe", "link", "device", "directory", "huge"] {
            let (home, own) = unpacked();
            let path = own.join(name);
            match kind {
                "pipe" => {
                    let mode = rustix::fs::Mode::from_raw_mode(0o600);
                    let fifo = rustix::fs::FileType::Fifo;
                    rustix::fs::mknodat(rustix::fs::CWD, &path, fifo, mode, 0).unwrap();
                }
                "link" => {
                    fs::write(home.path().join("elsewhere"), running(&home)).unwrap();
                    symlink(home.path().join("elsewhere"), &path).unwrap();
                }
                "device" => symlink("/dev/zero", &path).unwrap(),
                "directory" => fs::create_dir(&path).unwrap(),
                _ => fs::File::create(&path).unwrap().set_len(1 << 40).unwrap(),
            }
            let first = home.pneu(&["index", "--maildir", "Mail"]);
            // What may be the user's own is told of.
            let told =
                kind == "huge" && first.err.lines().count() == 1 && first.err.ends_with("is too long\n");
            assert!(first.code == Some(0) && (told || first.err.is_empty()), "{name} {kind}: {first:?}");
            assert_eq!(told, kind == "huge", "{name} {kind}: {first:?}");
        }
    }
    let (home, own) = unpacked();
    fs::write(own.join("config.toml"), running(&home)).unwrap();
    fs::rename(&own, home.path().join("real")).unwrap();
    symlink(home.path().join("real"), &own).unwrap();
    let first = home.pneu(&["index", "--maildir", "Mail"]);
    assert_eq!((first.code, first.err.as_str()), (Some(0), ""));
}

#[test]
fn links_in_a_maildir_lead_to_mail_and_nowhere_else() {
    let home = crate::archive::archived();
    let (mail, at) = (home.home.mail(), |path: &str| home.home.path().join(path));
    for directory in [".ssh", "Other/cur", "Other/deep/cur", "Mail/store", "Mail/sub/cur"] {
        fs::create_dir_all(at(directory)).unwrap();
    }
    fs::write(at(".ssh/key"), letter("k", "Private", "xyzzysecret")).unwrap();
    fs::write(at("Other/.netrc"), "xyzzysecret").unwrap();
    fs::write(at("Other/cur/8:2,S"), letter("8", "Elsewhere", "text")).unwrap();
    fs::write(at("Other/deep/cur/6:2,S"), letter("6", "Deep", "text")).unwrap();
    fs::write(at("Mail/store/9"), letter("9", "Annexed", "text")).unwrap();
    for (target, name) in [
        (".ssh/key", "cur/7:2,S"),
        (".ssh/key", "cur/70:2,S"),
        ("Other/cur/8:2,S", "cur/8:2,S"),
        ("Mail/store/9", "sub/cur/9:2,S"),
        (".ssh/key", "subscriptions"),
        (".ssh/key", "dovecot-keywords"),
        ("Other", "elsewhere"),
    ] {
        symlink(at(target), mail.join(name)).unwrap();
    }
    // Once the index does not look into a folder, once it does.
    for (folder, mark) in [("still", ".noupdate"), ("keys", "mark")] {
        fs::create_dir_all(mail.join(folder).join("new")).unwrap();
        fs::write(mail.join(folder).join(mark), "").unwrap();
        symlink(at(".ssh"), mail.join(folder).join("cur")).unwrap();
    }
    for pass in ["first", "second"] {
        let told = home.run(&["index"]);
        let said = "cur/70:2,S: is a link to a file outside the mail; it is not followed; the same of 1 more \
            in this directory\n";
        assert!(told.code == Some(3) && told.err.contains(said), "{pass}: {told:?}");
        for place in ["keys/cur", "still/cur"] {
            let said = format!("{place} leads to a directory outside the mail; it is not followed");
            assert!(told.err.contains(&said), "{pass}: {told:?}");
        }
    }
    let subjects = home.home.subjects("subject:elsewhere or subject:annexed or subject:deep");
    assert_eq!(subjects.len(), 3, "{subjects:?}");
    assert_eq!(home.run(&["count", "xyzzysecret or subject:private"]).out, "0\n");
    assert_eq!(home.run(&["archive", "init"]).code, Some(0));
    let check = |arguments: &[&str], lost: &str| {
        let saved = home.run(arguments);
        let listed = home.run(&["archive", "ls", "latest"]).out;
        let is_there = |name: &&str| listed.lines().any(|line| line.ends_with(*name));
        let wanted = ["cur/8:2,S", "sub/cur/9:2,S", "elsewhere/deep/cur/6:2,S"];
        assert!(wanted.iter().filter(|name| **name != lost).all(is_there), "{saved:?} {listed}");
        let refused = ["7:2,S", "70:2,S", "subscriptions", "keywords", "key", ".netrc", lost];
        assert_eq!(refused.into_iter().find(is_there), None, "{arguments:?}: {saved:?} {listed}");
    };
    check(&["archive", "backup"], "nothing");
    check(&["archive", "backup", "--no-index"], "nothing");
    // What the index knows is exchanged for a link.
    fs::remove_file(at("Other/cur/8:2,S")).unwrap();
    fs::remove_file(mail.join("cur/8:2,S")).unwrap();
    symlink(at(".ssh/key"), mail.join("cur/8:2,S")).unwrap();
    check(&["archive", "backup", "--no-index"], "cur/8:2,S");
    fs::rename(mail.join("sub/cur"), mail.join("sub/was")).unwrap();
    fs::rename(at(".ssh/key"), at(".ssh/9:2,S")).unwrap();
    symlink(at(".ssh"), mail.join("sub/cur")).unwrap();
    let saved = home.run(&["archive", "backup", "--no-index"]);
    assert!(saved.err.contains("is a link to a directory outside the mail; it is not followed"), "{saved:?}");
    // What was in the directory before stays in the snapshot.
    let place = mail.join("sub/cur/9:2,S");
    let kept = home.run(&["archive", "view", "--format", "raw", &format!("latest:{}", place.display())]);
    assert!(kept.out.contains("Annexed") && !kept.out.contains("xyzzysecret"), "{kept:?}");
}

#[test]
fn pipes_and_devices_among_messages_are_no_messages() {
    let (home, _) = unpacked();
    let cur = home.mail().join("cur");
    let (fifo, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600));
    rustix::fs::mknodat(rustix::fs::CWD, cur.join("2:2,S"), fifo, mode, 0).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, home.mail().join("dovecot-keywords"), fifo, mode, 0).unwrap();
    symlink("/dev/zero", cur.join("3:2,S")).unwrap();
    symlink("..", home.mail().join("round")).unwrap();
    symlink("/nowhere/at/all", home.mail().join("nowhere")).unwrap();
    let first = home.pneu(&["index", "--maildir", "Mail"]);
    assert!(first.out.starts_with("1 file: 1 added"), "{first:?}");
    assert!(matches!(first.code, Some(0 | 3)), "{first:?}");
}

#[test]
fn names_from_mail_and_archives_are_one_harmless_line_each() {
    let home = Home::new();
    let evil = "\u{1b}[2J\n2024-01-01 forged\u{7}\u{202e}";
    let folder = home.folder(&format!("f{evil}"));
    fs::write(
        folder.join("cur").join(std::ffi::OsStr::from_bytes(format!("1{evil}:2,S").as_bytes())),
        letter("1", "One", "text"),
    )
    .unwrap();
    home.first_index();
    for arguments in [
        &["find"][..],
        &["find", "--format", "paths"],
        &["find", "--fields", "l m d"],
        &["find", "--format", "json"],
        &["find", "--format", "sexp"],
        &["info"],
        &["view", "id:1@example.org"],
    ] {
        assert_harmless_names(&home.pneu(arguments), arguments);
    }
    let tag = format!("t{evil}");
    assert_eq!(with_archive(&home, &["archive", "init"]).code, Some(0));
    let backup = with_archive(&home, &["archive", "backup", "--tag", &tag]);
    assert!(matches!(backup.code, Some(0 | 2)), "{backup:?}");
    with_archive(&home, &["archive", "backup"]);
    for arguments in [
        &["archive", "snapshots"][..],
        &["archive", "ls", "latest"],
        &["archive", "find", "1*"],
        &["archive", "snapshots", "--format", "json"],
        &["archive", "check"],
    ] {
        assert_harmless_names(&with_archive(&home, arguments), arguments);
    }
}

/// Names may say what they like on a terminal's line; they may not end it, nor act on the terminal.
fn assert_harmless_names(run: &Run, arguments: &[&str]) {
    assert!(matches!(run.code, Some(0 | 1)), "{arguments:?}: {run:?}");
    // Paths for other programs are printed as they are, if no terminal reads them.
    if arguments.contains(&"paths") {
        return;
    }
    assert_harmless(run, &arguments.join(" "));
    assert!(!run.out.lines().any(|line| line.starts_with("2024-01-01 forged")), "{arguments:?}: {run:?}");
}

#[test]
fn a_message_is_put_back_into_the_maildir_and_nowhere_else() {
    let home = Home::new();
    home.deliver("", "1:2,S", &letter("1", "One", "text"));
    let gone = home.deliver("lists", "2:2,S", &letter("2", "Two", "text"));
    home.first_index();
    assert_eq!(with_archive(&home, &["archive", "init"]).code, Some(0));
    assert_eq!(with_archive(&home, &["archive", "backup"]).code, Some(0));
    // An attacker who can write to the Maildir replaces the file by a link to a file of the user, which is
    // neither read nor replaced.
    fs::remove_file(&gone).unwrap();
    let own = home.path().join("own");
    fs::write(&own, "precious").unwrap();
    let tmp = home.mail().join("lists/tmp");
    for number in 0..3 {
        symlink(&own, tmp.join(format!("2.pneu{number}"))).unwrap();
    }
    let back = with_archive(&home, &["undelete", "id:2@example.org"]);
    assert_eq!(back.code, Some(0), "{back:?}");
    assert_eq!(fs::read(&own).unwrap(), b"precious");
    assert_eq!(fs::read(home.mail().join("lists/cur/2:2,S")).unwrap(), letter("2", "Two", "text"));
    assert!(!gone.is_symlink());
}

#[test]
fn every_test_that_guards_a_boundary_is_there() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(top.join("docs/SECURITY.md")).unwrap();
    let (_, table) = page.split_once("\n## Tests\n").unwrap();
    let mut sources = String::new();
    let mut left = vec![top.join("crates")];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
    let mut count = 0;
    for row in table.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let tests = row.rsplit(" | ").next().unwrap();
        for name in tests.split('`').skip(1).step_by(2) {
            let name = name.rsplit([':', ' ']).next().unwrap();
            assert!(sources.contains(&format!("fn {name}()")), "docs/SECURITY.md names {name}");
            count += 1;
        }
    }
    assert!(count > 20, "{count} tests");
}
