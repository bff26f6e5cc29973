//! Tests accounts: folders that are named by their roles, in actions and in queries, and what `init` finds.
//!
//! Input: a home with two roots. Output: where messages are. Does not depend on the usual names themselves.

use crate::support::{Home, letter, run_with_input};
use std::fs;

/// Makes a home with the roots `work` and `home`, each with an inbox and an archive under another name.
fn two_accounts() -> Home {
    let home = Home::new();
    fs::remove_dir_all(home.mail()).unwrap();
    home.deliver("work/inbox", "1:2,S", &letter("1", "Report", "x"));
    home.deliver("home/inbox", "2:2,S", &letter("2", "Holiday", "x"));
    for folder in ["work/Done", "work/Junk Email", "home/Archive", "home/:odd"] {
        home.folder(folder);
    }
    let text = "[[root]]\nname = \"work\"\npath = \"~/Mail/work\"\narchive = \"Done\"\n\
                from = \"Ana <ana@work.example>\"\nsendmail = \"msmtp -a work\"\n\
                [[root]]\nname = \"home\"\npath = \"~/Mail/home\"\n";
    home.configure(text);
    home.good(&["index"]);
    home
}

#[test]
fn a_role_means_the_folder_of_each_root() {
    let home = two_accounts();
    assert_eq!(home.good(&["move", "maildir:/inbox", ":archive"]), "2 messages: 2 files moved\n");
    assert_eq!(home.subjects("maildir:/Done"), ["Report"]);
    assert_eq!(home.subjects("maildir:/Archive"), ["Holiday"]);
    assert_eq!(home.subjects("maildir::archive").len(), 2);
    assert_eq!(home.subjects("maildir::work/archive"), ["Report"]);
    assert_eq!(home.subjects("not maildir::work/archive"), ["Holiday"]);
    home.good(&["undo"]);
    assert_eq!(home.subjects("maildir:/inbox").len(), 2);
    // A message is moved out of the named folder only.
    home.good(&["copy", "holiday", ":home/archive"]);
    assert_eq!(
        home.good(&["move", "maildir::archive", "holiday", ":work/spam"]),
        "1 message: 1 file moved\n"
    );
    assert_eq!(home.subjects("maildir:\"/Junk Email\""), ["Holiday"]);
    assert_eq!(home.subjects("maildir:/inbox").len(), 2);
    // A folder that is really called so.
    home.good(&["copy", "report", "/:odd"]);
    assert_eq!(home.subjects("maildir:/:odd"), ["Report"]);
}

#[test]
fn what_has_no_role_is_told_and_may_be_created() {
    let home = two_accounts();
    for (arguments, said) in [
        (&["move", "report", ":archiv"][..], "roles are :trash, :sent, :drafts, :archive and :spam"),
        (&["move", "report", ":nowhere/archive"], "there is no root of that name"),
        (&["move", "holiday", ":spam"], "there is no folder of spam in"),
        (&["move", "holiday", ":spam"], "or create one: pneu mkdir Spam"),
        (&["find", "maildir::archiv"], "roles are :trash"),
        (&["deliver", ":spam"], "there are several roots: put the name of one"),
        (&["delete", "holiday"], "there is no trash in"),
    ] {
        let wrong = home.pneu(arguments);
        assert!(wrong.code != Some(0) && wrong.err.contains(said), "{arguments:?}: {wrong:?}");
    }
    assert_eq!(home.good(&["move", "--create", "holiday", ":spam"]), "1 message: 1 file moved\n");
    assert_eq!(home.subjects("maildir:/Spam"), ["Holiday"]);
    let mut deliver = home.command(&["deliver", ":work/spam"]);
    let run = run_with_input(&mut deliver, &letter("9", "Win", "x"));
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(home.subjects("maildir::spam").len(), 2);
}

#[test]
fn doctor_shows_roles_and_misses_what_is_configured() {
    let home = two_accounts();
    let well = home.good(&["doctor"]);
    let line = format!("ok    folders: home: archive is {}\n", home.mail().join("home/Archive").display());
    assert!(well.contains(&line), "{well}");
    fs::remove_dir_all(home.mail().join("work/Done")).unwrap();
    home.good(&["index"]);
    let run = home.pneu(&["doctor", "--quiet"]);
    assert_eq!(run.code, Some(1));
    assert!(run.out.contains("todo  folders: work: not there: archive = \"Done\""), "{run:?}");
}

#[test]
fn init_writes_what_it_finds() {
    let home = Home::new();
    home.folder("[Gmail]/Papierkorb");
    home.folder("[Gmail]/Entw&APw-rfe");
    home.deliver("[Gmail]/Sent Mail", "1:2,S", b"From: Ana <ana@example.org>\nSubject: s\n\nx\n");
    fs::write(home.path().join(".msmtprc"), "account mine\nfrom ana@example.org\n").unwrap();
    let said = home.good(&["init"]);
    let expected = "    trash: [Gmail]/Papierkorb\n    sent: [Gmail]/Sent Mail\n    drafts: \
                    [Gmail]/Entw\u{fc}rfe\n    \
                    from: ana@example.org\n    sendmail: msmtp -a mine\n";
    assert!(said.contains(expected), "{said}");
    let text = fs::read_to_string(home.path().join(".config/pneu/config.toml")).unwrap();
    assert!(
        text.contains("drafts = \"[Gmail]/Entw\u{fc}rfe\"\n")
            && text.contains("\nsendmail = \"msmtp -a mine\"\n")
    );
    home.good(&["index"]);
    home.good(&["move", "*", ":drafts"]);
    assert_eq!(home.good(&["count", "maildir::drafts"]), "1\n");
}
