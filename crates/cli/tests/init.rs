//! Tests the first steps: a configuration, manual pages.
//!
//! Input: homes with mail in different places. Output: whether a configuration names it, and what shells and
//! `man` get. Does not depend on how a shell uses it.

use crate::support::{Home, letter, run};
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn init_writes_what_index_reads_and_never_overwrites() {
    let home = Home::new();
    home.deliver("", "1:2,", &letter("1", "First", "a"));
    let path = home.path().join(".config/pneu/config.toml");
    let first = home.good(&["init"]);
    let names = format!("it contains\n  mail {}\nnext: pneu index\n", home.mail().display());
    assert_eq!(first, format!("configuration {} was written; {names}", path.display()));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.ends_with("[[root]]\nname = \"mail\"\npath = \"~/Mail\"\n"), "{text}");
    assert_eq!(home.good(&["init"]), format!("configuration {} already exists; {names}", path.display()));
    assert!(home.good(&["index"]).starts_with("1 file: 1 added"));
    home.folder("other");
    let other = home.pneu(&["init", "--maildir", "Mail/other"]);
    assert_eq!((other.code, other.out.as_str()), (Some(2), ""));
    assert!(other.err.contains("already exists with other content; it was not changed"), "{}", other.err);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn init_looks_where_mail_mostly_is() {
    let home = Home::new();
    for place in ["cur", "new"] {
        fs::create_dir_all(home.path().join("elsewhere").join(place)).unwrap();
        fs::create_dir_all(home.path().join("Maildir/empty")).unwrap();
    }
    let mut command = home.command(&["init"]);
    let named = run(command.env("MAILDIR", home.path().join("elsewhere")));
    let names = format!("  elsewhere {0}/elsewhere\n  mail {0}/Mail\n", home.path().display());
    assert!(named.out.contains(&names), "{named:?}");
    fs::remove_dir_all(home.path().join(".config")).unwrap();
    let only = home.good(&["init"]);
    let names = format!("it contains\n  mail {}/Mail\nnext", home.path().display());
    assert!(only.contains(&names), "a directory without a Maildir is passed over: {only}");
    fs::remove_dir_all(home.path().join(".config")).unwrap();
    fs::remove_dir_all(home.mail()).unwrap();
    let none = home.pneu(&["init"]);
    assert_eq!((none.code, none.out.as_str()), (Some(2), ""));
    assert!(none.err.contains("say where it is: pneu init --maildir DIR"), "{}", none.err);
    let empty = home.pneu(&["init", "--maildir", "Maildir"]);
    assert!(empty.code == Some(2) && empty.err.contains("holds no Maildir"), "{empty:?}");
    assert!(!home.path().join(".config").exists());
}

/// Makes a Maildir with one message.
fn maildir(home: &Home, path: &str, id: &str) {
    for place in ["cur", "new", "tmp"] {
        fs::create_dir_all(home.path().join(path).join(place)).unwrap();
    }
    fs::write(home.path().join(path).join("cur/1:2,S"), letter(id, id, "text")).unwrap();
}

#[test]
fn the_first_index_finds_the_mail_and_says_where() {
    let home = Home::new();
    fs::remove_dir_all(home.mail()).unwrap();
    let none = home.pneu(&["index"]);
    assert_eq!((none.code, none.out.as_str()), (Some(2), ""));
    for part in ["where is your mail?", "/Maildir, ", "pneu index --maildir DIR", "pneu init --maildir DIR"] {
        assert!(none.err.contains(part), "{part}: {}", none.err);
    }
    assert!(!home.data().exists(), "nothing is left behind");
    maildir(&home, "post", "1");
    fs::write(home.path().join(".mbsyncrc"), "MaildirStore local\nInbox ~/post\nPassCmd \"touch ran\"\n")
        .unwrap();
    let one = home.pneu(&["index"]);
    assert_eq!(one.code, Some(0), "{one:?}");
    assert!(one.out.starts_with("1 file: 1 added"), "{one:?}");
    let (post, rc) = (home.path().join("post"), home.path().join(".mbsyncrc"));
    let said = format!(
        "pneu: found mail in 1 directory:\npneu:   mail {}, named by {}\npneu: this mail is indexed and \
         remembered; \"pneu init\" writes a configuration file to edit\n",
        post.display(),
        rc.display()
    );
    assert_eq!(one.err, said);
    let later = home.pneu(&["index"]);
    assert_eq!((later.code, later.err.as_str()), (Some(0), ""), "it is remembered");
}

#[test]
fn several_directories_are_all_indexed_and_nested_ones_once() {
    let home = Home::new();
    home.deliver("work", "1:2,S", &letter("1", "One", "text"));
    maildir(&home, "Maildir", "2");
    maildir(&home, "post", "3");
    // It lies in Mail; the home directory would hold everything; a command is not run.
    let text = "set folder=~\nset spoolfile=~/Mail/work\nmailboxes ~/post `touch ran`\n";
    fs::write(home.path().join(".muttrc"), text).unwrap();
    let quiet = home.pneu(&["index", "--quiet"]);
    assert_eq!((quiet.code, quiet.out.as_str(), quiet.err.as_str()), (Some(0), "", ""), "{quiet:?}");
    assert_eq!(home.good(&["count", "*"]), "3\n");
    assert!(!home.path().join("ran").exists());
    fs::remove_dir_all(home.data()).unwrap();
    let all = home.pneu(&["index"]);
    assert!(all.out.starts_with("3 files: 3 added") && all.err.contains("in 3 directories"), "{all:?}");
    for (name, path) in [("maildir", "Maildir"), ("mail", "Mail"), ("post", "post")] {
        let line = format!("pneu:   {name} {}", home.path().join(path).display());
        assert!(all.err.contains(&line), "{line}: {all:?}");
    }
}

#[test]
fn on_a_terminal_several_directories_are_asked_about() {
    let home = Home::new();
    home.deliver("", "1:2,S", &letter("1", "One", "text"));
    maildir(&home, "Maildir", "2");
    let no = home.answering(&["index"], "n\n");
    assert!(no.code == Some(1) && no.out.contains("Index all of them? [Y/n]"), "{no:?}");
    assert!(
        no.out.contains("nothing was indexed; name the directory of your mail") && !home.data().exists(),
        "{no:?}"
    );
    let yes = home.answering(&["index"], "\n");
    assert!(yes.code == Some(0) && yes.out.contains("2 files: 2 added"), "{yes:?}");
    // One needs no question.
    fs::remove_dir_all(home.data()).unwrap();
    fs::remove_dir_all(home.path().join("Maildir")).unwrap();
    let one = home.answering(&["index"], "");
    assert!(one.code == Some(0) && one.out.contains("1 file: 1 added"), "{one:?}");
    assert!(!one.out.contains('?'), "{one:?}");
}

#[test]
fn a_disk_that_takes_no_more_leaves_no_half_of_a_configuration() {
    let home = Home::indexed();
    // A file may have one block, as if the disk were full then.
    let full = home.pneu_after("trap '' XFSZ; ulimit -f 1", &["init"]);
    assert_eq!((full.code, full.out.as_str()), (Some(2), ""), "{full:?}");
    assert!(full.err.contains("cannot write") && full.err.contains("File too large"), "{}", full.err);
    assert!(!home.path().join(".config/pneu/config.toml").exists());
    assert!(home.good(&["init"]).contains("was written"));
}

#[test]
fn units_of_systemd_are_written_once_and_start_this_program() {
    // Where the mail is does not matter.
    let home = Home::new();
    let mail = home.mail();
    fs::rename(&mail, home.path().join("elsewhere")).unwrap();
    let units = home.path().join(".config/systemd/user");
    let index = units.join("pneu-index.service");
    let first = home.good(&["init", "--systemd"]);
    let next = "next: systemctl --user enable --now pneu-index.service\n";
    assert_eq!(first, format!("unit {} was written\n{next}", index.display()));
    let text = fs::read_to_string(&index).unwrap();
    let start = format!("--data \"{}\" --quiet index --watch\n", home.data().display());
    assert!(text.contains(&start), "{text}");
    home.configure("[archive]\nrepository = \"/nowhere\"\n");
    let second = home.good(&["init", "--systemd"]);
    assert!(second.contains("pneu-index.service already exists\n"), "{second}");
    assert!(second.ends_with("enable --now pneu-index.service pneu-backup.timer\n"), "{second}");
    assert_eq!(fs::read_dir(&units).unwrap().count(), 3);
    // One that the user changed is left as it is.
    fs::write(&index, "[Service]\n").unwrap();
    let refused = home.pneu(&["init", "--systemd"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("already exists with other content; it was not changed"), "{}", refused.err);
}

#[test]
fn a_first_index_lets_other_programs_go_first() {
    let home = Home::new();
    home.deliver("", "1:2,", b"Subject: first\n\nx\n");
    home.configure("[index]\nafter = \"nice\"\n");
    let own = run(&mut std::process::Command::new("nice")).out;
    let said = || run(&mut home.command(&["index", "--maildir", home.mail().to_str().unwrap()])).err;
    assert_eq!(said().lines().last(), Some("10"));
    assert_eq!(said().lines().last(), Some(own.trim()), "an update is short");
    // As an index is that was stopped before it had looked at everything.
    fs::write(home.index_directory().join("incomplete"), "").unwrap();
    assert_eq!(said().lines().last(), Some("10"));
    assert_eq!(said().lines().last(), Some(own.trim()), "it is complete now");
}

#[test]
fn commands_of_the_configuration_run_before_and_after_the_index() {
    let home = Home::indexed();
    let said = |before: &str, after: &str| {
        home.configure(&format!("[index]\nbefore = {before:?}\nafter = {after:?}\n"));
        let mut command = home.command(&["index"]);
        run(command.env("RESTIC_PASSWORD", "secret"))
    };
    // What comes before may fetch mail; what both print is no result.
    let letter = home.path().join("letter");
    fs::write(&letter, "Subject: fetched\n\nx\n").unwrap();
    let fetched = said("cp letter Mail/cur/9.fetched:2,", "sh -c 'echo done ${RESTIC_PASSWORD:-no secret}'");
    assert_eq!((fetched.code, fetched.err.as_str()), (Some(0), "done no secret\n"), "{fetched:?}");
    assert!(fetched.out.contains(": 1 added"), "{fetched:?}");
    let failed = said("false", "/nowhere/program");
    assert_eq!(failed.code, Some(3), "{failed:?}");
    assert!(
        failed.out.contains(": 0 added") && failed.err.contains("index.before = \"false\""),
        "{failed:?}"
    );
    assert!(failed.err.contains("cannot be run"), "{failed:?}");
}
