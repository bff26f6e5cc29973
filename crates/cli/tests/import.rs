//! Tests `pneu import`: what comes out of the files of other programs, and what is there after a crash.
//!
//! Input: mbox files, MH folders, message files. Output: files, flags, tags, exit codes. The reader of mbox
//! files itself is tested in `mail`, and here against that of Python.

use crate::support::{Home, Run, by_env, end, letter, run_with_input};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// More messages than a batch and the blocks that the reader waits for have.
const MANY: usize = 10_000;
/// Messages of a batch.
const BATCH: usize = 4096;

fn text(id: &str, subject: &str) -> String {
    String::from_utf8(letter(id, subject, "text of a message")).unwrap()
}

/// Returns an mbox with messages.
fn mbox(messages: impl IntoIterator<Item = String>) -> String {
    messages.into_iter().map(|it| format!("From ana@x Mon Jan  5 10:00:00 2004\n{it}\n")).collect()
}

fn many() -> Vec<String> {
    (0..MANY).map(|number| mbox([text(&number.to_string(), &format!("number {number}"))])).collect()
}

fn write(home: &Home, path: &str, content: &str) {
    let path = home.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn files(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Returns the contents of the messages in a folder, in order.
fn contents(home: &Home, folder: &str) -> Vec<String> {
    let cur = home.mail().join(folder).join("cur");
    let mut contents: Vec<String> =
        files(&cur).iter().map(|name| fs::read_to_string(cur.join(name)).unwrap()).collect();
    contents.sort();
    contents
}

fn flags(home: &Home, query: &str) -> String {
    home.good(&["find", "--fields", "subject,flags", query]).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn counted(run: &Run) -> &str {
    run.out.trim_end().split_once(": ").map_or("", |(_, counts)| counts)
}

#[test]
fn an_mbox_comes_in_byte_for_byte_and_only_once() {
    let home = Home::indexed();
    let quoted = "Subject: quoted\n\n>From here\n";
    write(&home, "a.mbox", &mbox([text("7", "seven"), quoted.to_owned(), text("7", "seven")]));
    let refused = home.pneu(&["import", "old", "a.mbox"]);
    assert_eq!((refused.code, home.mail().join("old").exists()), (Some(2), false), "{refused:?}");
    let dry = home.pneu(&["import", "--dry-run", "--create", "old", "a.mbox"]);
    assert_eq!(counted(&dry), "2 messages would be imported, 1 there already");
    assert!(!home.mail().join("old").exists());
    let run = home.pneu(&["import", "--create", "--tag", "old", "old", "a.mbox"]);
    assert_eq!((run.code, counted(&run)), (Some(0), "2 messages imported, 1 there already"), "{run:?}");
    assert_eq!(contents(&home, "old"), [text("7", "seven"), quoted.replace(">From", "From")]);
    assert_eq!(home.subjects("tag:old and flag:unread").len(), 2);
    let cur = home.mail().join("old/cur");
    let metadata = cur.join(&files(&cur)[0]).metadata().unwrap();
    assert_eq!((metadata.mtime(), metadata.mode() & 0o777), (1_073_296_800, 0o600));
    assert!(files(&home.mail().join("old/tmp")).is_empty());
    let again = home.pneu(&["import", "old", "a.mbox"]);
    assert_eq!((again.code, counted(&again)), (Some(0), "0 messages imported, 3 there already"));
    assert!(home.good(&["index"]).contains("0 added, 0 moved, 0 changed, 0 gone"));
    // Another folder has none of them, unless those anywhere count.
    let known = home.pneu(&["import", "--create", "--skip-known", "fresh", "a.mbox"]);
    assert_eq!(counted(&known), "0 messages imported, 3 there already");
    let other = home.pneu(&["import", "--flags", "FS", "fresh", "a.mbox"]);
    assert_eq!(counted(&other), "2 messages imported, 1 there already");
    assert_eq!(home.subjects("maildir:/fresh and flag:flagged and flag:seen").len(), 2);
}

#[test]
fn takeout_has_labels_and_thunderbird_has_states() {
    let home = Home::indexed();
    let gmail = |id: &str, labels: &str| {
        let message = text(id, &format!("g{id}"));
        format!(
            "From 1{id}@xxx Mon Jan 05 10:00:00 +0000 2004\r\nX-GM-THRID: 1\r\n\
             X-Gmail-Labels: {labels}\r\n{}\r\n",
            message.replace('\n', "\r\n")
        )
    };
    write(
        &home,
        "All mail.mbox",
        &format!(
            "{}{}",
            gmail("1", "Inbox,Unread,\"a, b\""),
            gmail("2", "=?UTF-8?Q?Opened,Gr=C3=BC=C3=9Fe,Starred,_Work/X?=")
        ),
    );
    let run = home.pneu(&["import", "--create", "gmail", "All mail.mbox"]);
    assert_eq!((run.code, counted(&run)), (Some(0), "2 messages imported"), "{run:?}");
    assert_eq!(flags(&home, "tag:inbox and tag:a,_b"), "g1 u");
    assert_eq!(flags(&home, "tag:Grüße and tag:Work/X"), "g2 FS");
    let profile = "profile/Mail/Local Folders";
    let state = |id: &str, fields: &str| format!("From - \n{fields}{}\n", text(id, &format!("t{id}")));
    write(
        &home,
        &format!("{profile}/Inbox"),
        &[
            state("3", "X-Mozilla-Status: 0003\nX-Mozilla-Status2: 00000000\nX-Mozilla-Keys: $label2 trip\n"),
            state("4", "X-Mozilla-Status: 0009\nX-Mozilla-Status2: 00000000\n"),
            state("5", "X-Mozilla-Status: 0000\n"),
        ]
        .concat(),
    );
    write(&home, &format!("{profile}/Inbox.msf"), "// <!-- <mdb:mork:z v=\"1.4\"/> -->\n");
    write(&home, &format!("{profile}/Inbox.sbd/cur"), &state("6", "X-Mozilla-Status: 1005\n"));
    write(&home, "profile/prefs.js", "user_pref(\"a\", 1);\n");
    let run = home.pneu(&["import", "--create", "bird", "profile/Mail/Local Folders"]);
    let place = home.mail().join("bird").display().to_string();
    assert_eq!(
        run.out,
        format!(
            "{place}/Inbox: 2 messages imported, 1 deleted left out\n\
        {place}/Inbox/cur_: 1 message imported\nin all: 3 messages imported, 1 deleted left out\n"
        )
    );
    assert_eq!(flags(&home, "tag:work and tag:trip"), "t3 RS");
    assert_eq!(flags(&home, "maildir:/bird/Inbox/cur_"), "t6 FPS");
    assert_eq!(flags(&home, "maildir:/bird/Inbox and flag:unread"), "t5 u");
}

#[test]
fn directories_of_messages_become_folders() {
    let home = Home::indexed();
    for (path, id) in [("mh/1", "1"), ("mh/12", "2"), ("mh/sub/3", "3"), ("mh/sub/Letter one.eml", "4")] {
        write(&home, path, &text(id, &format!("m{id}")));
    }
    write(&home, "mh/.mh_sequences", "unseen: 12\nreplied: 1\n");
    write(&home, "mh/notes.txt", "nothing\n");
    let run = home.pneu(&["import", "--create", "mh", "mh"]);
    assert_eq!(run.out.lines().last(), Some("in all: 4 messages imported"), "{run:?}");
    assert_eq!(flags(&home, "maildir:/mh and flag:seen"), "m1 RS");
    assert_eq!(home.subjects("maildir:/mh/sub").len(), 2);
    let flat = home.pneu(&["import", "--create", "--flat", "flat", "mh", "mh/sub/3"]);
    assert_eq!(counted(&flat), "4 messages imported, 1 there already", "{flat:?}");
    for (path, id) in [("old/cur/5:2,FS", "5"), ("old/new/6", "6"), ("old/.Sent.x/cur/7:2,", "7")] {
        write(&home, &format!("all/{path}"), &text(id, &format!("m{id}")));
    }
    fs::create_dir(home.path().join("all/old/.Sent.x/new")).unwrap();
    home.good(&["import", "--create", "all", "all"]);
    assert_eq!(flags(&home, "maildir:/all/old and flag:flagged"), "m5 FS");
    assert_eq!(home.subjects("maildir:/all/old").len(), 2);
    assert_eq!(home.subjects("maildir:/all/old/Sent/x"), ["m7"]);
    let maildir = home.pneu(&["import", "flat", "Mail"]);
    assert!(maildir.code == Some(2) && maildir.err.contains("it is a Maildir"), "{maildir:?}");
}

#[test]
fn an_import_is_undone_with_its_tags() {
    let home = Home::indexed();
    let before = home.good(&["find", "--format", "paths"]);
    home.good(&["flag", "+F", "--", "hello"]);
    let labelled = format!("X-Gmail-Labels: trip\n{}", text("8", "eight"));
    write(&home, "mail/a b\u{1b}.mbox", &mbox([text("7", "seven"), labelled]));
    write(&home, "mail/more.mbox", &mbox([text("9", "nine")]));
    home.good(&["import", "--create", "old", "mail/a b\u{1b}.mbox", "mail/more.mbox"]);
    assert_eq!(home.good(&["count", "tag:trip"]), "1\n");
    let list = home.good(&["undo", "--list"]);
    let lines: Vec<&str> = list.lines().collect();
    let what = "3 messages imported from mail/a b";
    assert!(lines[0].starts_with(what) && !lines[0].contains('\u{1b}'), "{list}");
    assert!(lines[0].contains(".mbox, mail/more.mbox into old at 2"), "{list}");
    assert!(lines[1].starts_with("2 files changed at ") && lines.len() == 2 + 3, "{list}");
    let cur = home.mail().join("old/cur").display().to_string();
    assert!(lines[2..].iter().all(|line| line.starts_with(&cur) && !line.contains('\t')), "{list}");
    let refused = home.pneu(&["undo"]);
    assert!(refused.code == Some(2) && refused.err.contains("add --yes"), "{refused:?}");
    assert_eq!(files(&home.mail().join("old/cur")).len(), 3);
    let said = home.good(&["undo", "--yes"]);
    assert!(said.starts_with("undone for 3 of 3 messages imported from mail/a b"), "{said}");
    assert!(files(&home.mail().join("old/cur")).is_empty());
    assert_eq!(home.pneu(&["count", "maildir:/old or tag:trip"]).out, "0\n");
    assert!(home.good(&["undo"]).starts_with("undone for 2 of 2 files changed at "));
    assert_eq!(home.good(&["find", "--format", "paths"]), before);
    // The parts of an import that a kill ended are undone like another one.
    let messages = many();
    let mut child = with_first_batch(&home, &messages);
    child.kill().unwrap();
    child.wait().unwrap();
    let there = files(&home.mail().join("big/cur")).len();
    assert!(there >= BATCH, "{there}");
    let said = home.good(&["undo", "--yes"]);
    assert!(said.starts_with(&format!("undone for {there} of {there} messages imported")), "{said}");
    assert!(files(&home.mail().join("big/cur")).is_empty());
}

#[test]
fn a_message_in_another_state_is_there_already() {
    let home = Home::indexed();
    let unnamed = "Subject: unnamed\n\nwithout an id\n";
    let state = |status: &str, id: &str| {
        let fields = format!("X-Mozilla-Status: {status}\nX-Mozilla-Status2: 00000000\nStatus: {status}O\n");
        let message = if id.is_empty() { unnamed.to_owned() } else { text(id, "same subject") };
        mbox([format!("{fields}{message}")])
    };
    let large = format!("{}\n", "0123456789".repeat(500_000));
    let all = |status| {
        let large = state(status, "large").replace("text of a message", &large);
        [state(status, "1"), state(status, "2"), state(status, ""), large].concat()
    };
    write(&home, "Inbox", &all("0000"));
    assert_eq!(counted(&home.pneu(&["import", "--create", "in", "Inbox"])), "4 messages imported");
    // In one import, too.
    write(&home, "both", &[all("0000"), all("0001")].concat());
    let both = home.pneu(&["import", "--create", "both", "both"]);
    assert_eq!(counted(&both), "4 messages imported, 4 there already");
    write(&home, "Inbox", &all("0001"));
    let again = home.pneu(&["import", "--tag", "again", "in", "Inbox"]);
    assert_eq!((again.code, counted(&again)), (Some(0), "0 messages imported, 4 there already"), "{again:?}");
    assert_eq!(home.good(&["count", "tag:again"]), "4\n");
    assert_eq!(files(&home.mail().join("in/cur")).len(), 4);
    // What differs in anything else is another message, whatever id it has.
    write(&home, "other", &state("0001", "1").replace("text of", "another text of"));
    assert_eq!(counted(&home.pneu(&["import", "in", "other"])), "1 message imported");
    // In another folder it is new, unless all folders count.
    let known = home.pneu(&["import", "--create", "--skip-known", "else", "Inbox"]);
    assert_eq!(counted(&known), "0 messages imported, 4 there already", "{known:?}");
    assert_eq!(counted(&home.pneu(&["import", "else", "Inbox"])), "4 messages imported");
}

#[test]
fn names_and_places_say_the_state_of_files_of_a_maildir() {
    let home = Home::indexed();
    let with = |fields: &str, id: &str| format!("{fields}{}", text(id, &format!("m{id}")));
    write(&home, "all/old/cur/1:2,", &with("X-Mozilla-Status: 0009\n", "1"));
    write(&home, "all/old/cur/2:2,F", &with("Status: RO\nX-Status: A\n", "2"));
    write(&home, "all/old/new/3", "Status: RO\nSubject: m3\n\nwithout a date\n");
    let past = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    for path in ["all/old/new/3", "all/old/cur/2:2,F"] {
        let file = fs::File::options().write(true).open(home.path().join(path)).unwrap();
        file.set_modified(past).unwrap();
    }
    let run = home.pneu(&["import", "--create", "in", "all"]);
    assert_eq!((run.code, counted(&run)), (Some(0), "3 messages imported"), "{run:?}");
    assert_eq!(home.subjects("maildir:/in/old and flag:seen").len(), 0);
    assert_eq!(flags(&home, "maildir:/in/old and flag:flagged"), "m2 Fu");
    let cur = home.mail().join("in/old/cur");
    let is_old = |name: &String| cur.join(name).metadata().unwrap().mtime() == 1_000_000_000;
    assert_eq!(files(&cur).iter().filter(|name| is_old(name)).count(), 2);
    // Only an mbox has messages that are deleted. A file of one message has a time if nothing else says one.
    write(&home, "4.eml", "X-Mozilla-Status: 0009\nSubject: m4\n\nwithout a date\n");
    let file = fs::File::options().write(true).open(home.path().join("4.eml")).unwrap();
    file.set_modified(past).unwrap();
    assert_eq!(counted(&home.pneu(&["import", "--create", "single", "4.eml"])), "1 message imported");
    let cur = home.mail().join("single/cur");
    assert_eq!(cur.join(&files(&cur)[0]).metadata().unwrap().mtime(), 1_000_000_000);
}

#[test]
fn folders_of_the_index_are_not_imported() {
    let home = Home::indexed();
    let before = home.good(&["count", "*"]);
    write(&home, "Mail/old.mbox", &mbox([text("1", "in a root")]));
    std::os::unix::fs::symlink("Mail", home.path().join("link")).unwrap();
    let elsewhere = home.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::rename(home.mail(), elsewhere.join("Mail")).unwrap();
    std::os::unix::fs::symlink("elsewhere/Mail", home.mail()).unwrap();
    let run = home.pneu(&["import", "--create", "in", "elsewhere"]);
    assert_eq!((run.code, counted(&run)), (Some(3), "1 message imported"), "{run:?}");
    assert!(run.err.contains("it is a folder of the index already"), "{run:?}");
    let again = home.pneu(&["import", "--create", "in", "elsewhere"]);
    assert_eq!((again.code, counted(&again)), (Some(3), "0 messages imported, 1 there already"), "{again:?}");
    let after: u64 = home.good(&["count", "*"]).trim().parse().unwrap();
    assert_eq!(after, before.trim().parse::<u64>().unwrap() + 1);
}

#[test]
fn other_files_with_colons_are_no_messages() {
    let home = Home::indexed();
    let accounts = "root:x:0:0:root:/root:/bin/sh\ndaemon:x:1:1::/:/bin/false\n";
    write(&home, "passwd", accounts);
    write(&home, "letters/passwd.eml", accounts);
    write(&home, "letters/1.eml", &text("1", "one"));
    let run = home.pneu(&["import", "--create", "in", "passwd", "letters"]);
    assert_eq!((run.code, counted(&run)), (Some(3), "1 message imported"), "{run:?}");
    assert_eq!(run.err.matches("neither an mbox nor a message").count(), 2, "{run:?}");
}

#[test]
fn a_directory_whose_name_is_too_long_is_reported_and_the_rest_comes_in() {
    let home = Home::indexed();
    fs::create_dir(home.mail().join(".in")).unwrap();
    ["cur", "new", "tmp"].iter().for_each(|name| fs::create_dir(home.mail().join(".in").join(name)).unwrap());
    home.good(&["index"]);
    let long = "ä".repeat(100);
    write(&home, &format!("tree/{long}/1"), &text("1", "long"));
    write(&home, "tree/short/2", &text("2", "short"));
    let run = home.pneu(&["import", home.mail().join(".in").to_str().unwrap(), "tree"]);
    assert_eq!((run.code, counted(&run)), (Some(3), "1 message imported"), "{run:?}");
    assert!(run.err.contains("it has no folder: ") && run.err.contains("/1: "), "{run:?}");
    assert_eq!(home.subjects("subject:short").len(), 1);
}

#[test]
fn what_cannot_be_read_is_reported_and_the_rest_comes_in() {
    let home = Home::indexed();
    write(&home, "mail/good", &mbox([text("1", "good")]));
    let packed = zstd::encode_all(mbox([text("2", "cut"), text("3", "cut")]).as_bytes(), 3).unwrap();
    fs::write(home.path().join("mail/cut.zst"), &packed[..packed.len() - 6]).unwrap();
    write(&home, "picture", "\u{1}\u{2}\n");
    let run = home.pneu(&["import", "--create", "--flat", "in", "mail", "picture"]);
    assert_eq!((run.code, counted(&run)), (Some(3), "1 message imported"), "{run:?}");
    assert!(run.err.contains("mail/cut.zst: ") && run.err.contains("picture: "), "{run:?}");
    assert!(run.err.contains("neither an mbox nor a message"), "{run:?}");
    fs::write(home.path().join("mail/cut.zst"), &packed).unwrap();
    let run = home.pneu(&["import", "--flat", "in", "mail"]);
    assert_eq!((run.code, counted(&run)), (Some(0), "2 messages imported, 1 there already"), "{run:?}");
    write(&home, "empty", "");
    assert_eq!(home.pneu(&["import", "in", "empty"]).code, Some(1));
    assert_eq!(home.pneu(&["import", "in", "nowhere"]).code, Some(2));
}

#[test]
fn names_in_a_profile_lead_nowhere_else() {
    let home = Home::indexed();
    write(&home, "outside/1", &text("9", "secret"));
    write(&home, "tree/..sbd/1", &text("1", "one"));
    write(&home, "tree/\u{1b}[31m/1", &text("2", "two"));
    std::os::unix::fs::symlink("../outside", home.path().join("tree/link")).unwrap();
    std::os::unix::fs::symlink("../outside/1", home.path().join("tree/7")).unwrap();
    let run = home.pneu(&["import", "--create", "in", "tree"]);
    assert_eq!(run.out.lines().last(), Some("in all: 2 messages imported"), "{run:?}");
    assert!(!run.out.contains('\u{1b}') && home.subjects("secret").is_empty());
    let below: BTreeSet<String> = files(&home.mail().join("in")).into_iter().collect();
    let expected = ["_", "_[31m"];
    assert_eq!(below, expected.map(str::to_owned).into());
}

#[test]
fn a_folder_that_is_not_indexed_gets_no_mail() {
    let home = Home::indexed();
    write(&home, "a.mbox", &mbox([text("1", "one")]));
    fs::write(home.folder("hidden").join(".noindex"), "").unwrap();
    let run = home.pneu(&["import", home.mail().join("hidden").to_str().unwrap(), "a.mbox"]);
    assert!(run.code == Some(2) && run.err.contains("is not indexed"), "{run:?}");
    assert!(files(&home.mail().join("hidden/cur")).is_empty());
}

/// Starts an import of standard input, and returns when the first batch is there.
fn with_first_batch(home: &Home, messages: &[String]) -> Child {
    let command = home.command(&["import", "--create", "--tag", "all", "big", "-"]);
    // As a shell does for a user, who ignores no signal, whatever this test was started by.
    let mut command = by_env(&command, &["--default-signal=INT,TERM,HUP"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    messages.iter().for_each(|message| input.write_all(message.as_bytes()).unwrap());
    input.flush().unwrap();
    while files(&home.mail().join("big/cur")).len() < BATCH {
        assert!(child.try_wait().unwrap().is_none(), "it ended too early");
        std::thread::yield_now();
    }
    child.stdin = Some(input);
    child
}

fn assert_completed_by_the_next(home: &Home, messages: &[String]) {
    let there = files(&home.mail().join("big/cur")).len();
    assert!((BATCH..=MANY).contains(&there), "{there}");
    fs::write(home.path().join("all.mbox"), messages.concat()).unwrap();
    let run = home.pneu(&["import", "--tag", "all", "big", "all.mbox"]);
    let expected = format!("{} messages imported, {there} there already", MANY - there);
    assert_eq!((run.code, counted(&run)), (Some(0), expected.as_str()), "{run:?}");
    let expected: BTreeSet<String> =
        (0..MANY).map(|number| text(&number.to_string(), &format!("number {number}"))).collect();
    let found = contents(home, "big");
    assert_eq!(found.len(), MANY);
    assert!(found.into_iter().collect::<BTreeSet<String>>() == expected);
    assert_eq!(home.good(&["count", "tag:all"]).trim(), MANY.to_string());
    assert!(files(&home.mail().join("big/tmp")).is_empty());
}

#[test]
fn after_a_kill_each_message_is_whole_and_the_next_import_adds_the_rest() {
    let (home, messages) = (Home::indexed(), many());
    let mut child = with_first_batch(&home, &messages);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_completed_by_the_next(&home, &messages);
}

#[test]
fn ctrl_c_keeps_what_is_done() {
    let (home, messages) = (Home::indexed(), many());
    let mut child = with_first_batch(&home, &messages[..MANY - 10]);
    let id = i32::try_from(child.id()).unwrap();
    kill_process(Pid::from_raw(id).unwrap(), Signal::INT).unwrap();
    // It looks for signals after each message. The pipe stays open for messages that it never reads.
    let mut input = child.stdin.take().unwrap();
    for message in messages.iter().cycle() {
        if input.write_all(message.as_bytes()).is_err() {
            break;
        }
    }
    let run = end(child);
    assert_eq!(run.code, Some(130), "{run:?}");
    assert!(run.err.contains("what was stored so far is kept"), "{run:?}");
    assert_completed_by_the_next(&home, &messages);
}

/// Prints each message of an mbox in hexadecimal digits.
const OF_PYTHON: &str = "import mailbox, sys\n\
    for message in (box := mailbox.mbox(sys.argv[1], create=False)).keys():\n    \
    print(box.get_bytes(message).hex())\n";

#[test]
fn one_ctrl_c_ends_an_import_whose_pipe_is_silent() {
    let (home, messages) = (Home::indexed(), many());
    let mut child = with_first_batch(&home, &messages);
    // The pipe stays open, and nothing more comes.
    let input = child.stdin.take();
    kill_process(Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(), Signal::INT).unwrap();
    let run = end(child);
    assert_eq!(run.code, Some(130), "{run:?}");
    assert!(run.err.contains("interrupted; what was stored so far is kept"), "{run:?}");
    drop(input);
    assert_completed_by_the_next(&home, &messages);
}

#[test]
fn python_reads_the_same_messages() {
    let there = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !testkit::may_ask("python3", "apt-get install python3", there, testkit::is_ci()) {
        return;
    }
    let home = Home::indexed();
    let from = "From ana@x Mon Jan  5 10:00:00 2004\n";
    for (number, mbox) in [
        mbox([text("1", "one"), text("2", "two\n\n\nthree"), text("3", "\n\n")]),
        format!("{from}Subject: a\n\na\n{from}Subject: b\n\nb\n"),
        format!("{from}Subject: a\n\na\n\n\n\n{from}Subject: b\n\nb"),
        format!("{from}Subject: a\n\n>From b\n>>From c\n\n{from}Subject: d\n\n"),
        format!("{from}Subject: a\n\nFromage\n From b\n\n{from}Subject: b\r\n\r\nc\r\n"),
        format!("{from}Subject: a\n\n{}\n\n{from}Subject: b\n\nc\n", "x".repeat(1_000_000)),
    ]
    .into_iter()
    .enumerate()
    {
        let (file, folder) = (format!("{number}.mbox"), format!("f{number}"));
        write(&home, &file, &mbox);
        home.good(&["import", "--create", "--dialect", "mboxcl2", &folder, &file]);
        let mut python = Command::new("python3");
        python.args(["-c", OF_PYTHON]).arg(home.path().join(&file));
        let run = run_with_input(&mut python, b"");
        let mut expected: Vec<String> = run.out.lines().map(str::to_owned).collect();
        expected.sort();
        let hex = |text: &String| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
        let mut found: Vec<String> = contents(&home, &folder).iter().map(hex).collect();
        found.sort();
        assert!(!found.is_empty());
        assert_eq!(found, expected, "{mbox:.300?}");
    }
}
