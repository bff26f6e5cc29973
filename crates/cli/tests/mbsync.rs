//! Tests actions on mail that the real mbsync synchronises and the real Dovecot serves.
//!
//! Input: a home whose mail comes from an account, and commands. Output: which message is where, here and on
//! the server. Dovecot's imap process is started by mbsync, without a daemon and without a network.

use crate::support::{Home, is_root, letter, run, run_with_input};
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Dovecot's process that serves one user's mail.
const IMAP: &str = "/usr/lib/dovecot/imap";
/// It serves no mail to root, so root becomes nobody.
const AS_NOBODY: &str = "setpriv --reuid=65534 --regid=65534 --clear-groups";

/// A home with a configuration of mbsync, and the account's mail on the server.
struct Account {
    home: Home,
    server: PathBuf,
}

/// The folders and flags of each message, by the subject. A message that is there twice has two.
type Found = BTreeMap<String, Vec<String>>;

impl Account {
    /// Makes an account with so many messages in its inbox and a folder for trash, synchronises and indexes.
    fn new(count: u32) -> Account {
        let home = Home::new();
        let server = home.path().join("server");
        fs::set_permissions(home.path(), Permissions::from_mode(0o755)).unwrap();
        for place in ["cur", "new", "tmp", ".Trash/cur", ".Trash/new", ".Trash/tmp"] {
            fs::create_dir_all(server.join("mail").join(place)).unwrap();
        }
        for number in 0..count {
            let content = letter(&number.to_string(), &format!("message {number}"), "through the tubes");
            fs::write(server.join(format!("mail/cur/{}.m.server:2,", 1_700_000_000 + number)), content)
                .unwrap();
        }
        let settings = settings(&server.join("mail"), &server);
        let log = server.join("log");
        let tunnel = format!("{} {IMAP} -c {} 2>> {}", as_nobody(), settings.display(), log.display());
        let configuration = format!(
            "IMAPAccount account\nTunnel \"{tunnel}\"\n\nIMAPStore server\nAccount account\n\nMaildirStore \
             here\nPath {mail}/\nInbox {mail}/Inbox\nSubFolders Verbatim\n\nChannel all\nFar :server:\nNear \
             :here:\nPatterns *\nCreate Both\nExpunge Both\nSyncState *\n",
            mail = home.mail().display()
        );
        fs::write(home.path().join(".mbsyncrc"), configuration).unwrap();
        for place in ["cur", "new", "tmp"] {
            fs::remove_dir(home.mail().join(place)).unwrap();
        }
        let account = Account { home, server };
        account.synchronise();
        account.home.first_index();
        account
    }

    /// Returns mbsync, to be run here.
    fn mbsync(&self) -> Command {
        let mut command = Command::new("mbsync");
        command.args(["-q", "-a"]).current_dir(self.home.path()).stdin(Stdio::null());
        command.env("HOME", self.home.path()).env("USER", "nobody");
        command
    }

    fn synchronise(&self) {
        let run = run(&mut self.mbsync());
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{run:?}");
    }

    fn here(&self) -> Found {
        messages(&self.home.mail())
    }

    fn there(&self) -> Found {
        messages(&self.server.join("mail"))
    }
}

/// Writes the settings with which Dovecot serves `mail` to a logged-in user, who may then change all of it.
fn settings(mail: &Path, place: &Path) -> PathBuf {
    let (run, file) = (place.join("run"), place.join("settings"));
    fs::create_dir_all(&run).unwrap();
    fs::write(place.join("log"), "").unwrap();
    let changed = Command::new("chmod").args(["-R", "a+rwX"]).arg(place).status().unwrap();
    assert!(changed.success());
    let (mail, place, run) = (mail.display(), place.display(), run.display());
    let text = format!(
        "protocols = imap\nmail_location = maildir:{mail}\nbase_dir = {run}\nstate_dir = {run}\nlog_path = \
         {place}/log\nssl = no\nfirst_valid_uid = 0\n"
    );
    fs::write(&file, text).unwrap();
    file
}

fn as_nobody() -> &'static str {
    if is_root() { AS_NOBODY } else { "env" }
}

/// Returns the folder and the flags of each message below a directory. A folder of a server has a dot before
/// its name.
fn messages(root: &Path) -> Found {
    let mut found = Found::new();
    let below = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let places = below.filter(|path| path.join("cur").is_dir()).chain([root.to_owned()]);
    for folder in places {
        let name = folder.strip_prefix(root).unwrap().to_str().unwrap().trim_start_matches('.');
        let name = if name.is_empty() { "Inbox" } else { name };
        let files = ["cur", "new"].map(|place| fs::read_dir(folder.join(place)));
        for path in files.into_iter().flatten().flatten().map(|entry| entry.unwrap().path()) {
            let content = fs::read_to_string(&path).unwrap();
            let subject = content.lines().find_map(|line| line.strip_prefix("Subject: ")).unwrap();
            let flags = path.to_str().unwrap().rsplit_once(":2,").map_or("", |(_, flags)| flags);
            found.entry(subject.to_owned()).or_default().push(format!("{name} {flags}").trim().to_owned());
        }
    }
    found
}

fn expected(pairs: &[(&str, &str)]) -> Found {
    pairs.iter().map(|(subject, place)| ((*subject).to_owned(), vec![(*place).to_owned()])).collect()
}

#[test]
fn actions_reach_the_server_and_are_undone_there() {
    let account = Account::new(4);
    let home = &account.home;
    let all = |place: &str| {
        let subjects = ["message 0", "message 1", "message 2", "message 3"];
        expected(&subjects.map(|subject| (subject, place)))
    };
    assert_eq!((account.here(), account.there()), (all("Inbox"), all("Inbox")));

    home.good(&["flag", "+S", "+F", "--", "subject:0"]);
    home.good(&["move", "--create", "subject:1", "done"]);
    home.good(&["delete", "subject:2"]);
    let new = letter("7", "written here", "out");
    let delivered = run_with_input(&mut home.command(&["deliver", "--flags", "S", "done"]), &new);
    assert_eq!((delivered.code, delivered.err.as_str()), (Some(0), ""), "{delivered:?}");
    account.synchronise();
    let acted = expected(&[
        ("message 0", "Inbox FS"),
        ("message 1", "done"),
        ("message 2", "Trash"),
        ("message 3", "Inbox"),
        ("written here", "done S"),
    ]);
    assert_eq!((account.here(), account.there()), (acted.clone(), acted.clone()));
    // The server's numbers are in the names now, which is a move of the files and no new mail.
    let pass = home.good(&["index"]);
    assert!(pass.contains(": 0 added, 3 moved, 0 changed, 0 gone"), "{pass}");
    assert_eq!(home.subjects("maildir:/done"), ["written here", "message 1"]);
    account.synchronise();
    assert_eq!((account.here(), account.there()), (acted.clone(), acted));

    // The last action first; files are found although mbsync has renamed them. What was delivered stays.
    for expected in ["moved to the trash", "file moved", "file changed"] {
        let said = home.good(&["undo"]);
        assert!(said.contains(expected), "{said}");
    }
    account.synchronise();
    let mut undone = all("Inbox");
    undone.extend(expected(&[("written here", "done S")]));
    assert_eq!((account.here(), account.there()), (undone.clone(), undone));
    home.good(&["index"]);
    assert_eq!(home.good(&["count", "*"]), "5\n");
}

#[test]
fn a_sync_in_the_middle_of_a_move_loses_and_doubles_nothing() {
    let account = Account::new(12);
    let home = &account.home;
    let whole: Vec<String> = account.here().into_keys().collect();
    for folder in ["done", "Inbox"] {
        // Every rename waits, so that mbsync finds the messages in part here and in part there.
        let own = home.command(&["move", "--create", "message", folder]);
        let trace = home.path().join("trace");
        let mut slow = Command::new("strace");
        slow.args(["-f", "-qq", "-e", "trace=rename,renameat,renameat2"]);
        slow.args(["-e", "inject=rename,renameat,renameat2:delay_enter=50000", "-o"]).arg(&trace);
        slow.arg(own.get_program()).args(own.get_args()).current_dir(home.path()).env_clear();
        slow.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let mut moving = slow.stdout(Stdio::null()).spawn().unwrap();
        while moving.try_wait().unwrap().is_none() {
            // What it finds may be gone when it looks again, of which it may complain.
            account.mbsync().output().unwrap();
        }
        let status = moving.wait().unwrap();
        assert!(status.success(), "{status}");
        let renames = fs::read_to_string(&trace).unwrap();
        assert!(renames.matches("rename").count() >= whole.len(), "{renames}");
        account.synchronise();
        account.synchronise();
        let there: Found = whole.iter().map(|subject| (subject.clone(), vec![folder.to_owned()])).collect();
        assert_eq!((account.here(), account.there()), (there.clone(), there));
        home.good(&["index"]);
        assert_eq!(home.good(&["count", &format!("maildir:/{folder}")]), "12\n");
    }
}

#[test]
fn dovecot_serves_what_was_moved_and_flagged_beneath_it() {
    let home = Home::new();
    home.folder(".done");
    for (number, flags) in [(1, ""), (2, "S"), (3, "")] {
        let content = letter(&number.to_string(), &format!("message {number}"), "through the tubes");
        home.deliver("", &format!("170000000{number}.m.host,S={}:2,{flags}", content.len()), &content);
    }
    let settings = settings(&home.mail(), home.path());
    let ask = |commands: &str| {
        let line = format!("exec {} {IMAP} -c {}", as_nobody(), settings.display());
        let mut imap = Command::new("sh");
        imap.args(["-c", &line]).env("USER", "nobody").env("HOME", home.path());
        run_with_input(&mut imap, format!("{commands}9 LOGOUT\r\n").as_bytes()).out
    };
    let fetch = "1 SELECT INBOX\r\n2 FETCH 1:* (UID FLAGS)\r\n3 SELECT done\r\n4 FETCH 1:* (UID FLAGS)\r\n";
    let before = ask(fetch);
    assert!(before.contains("* 3 EXISTS") && before.contains("* 0 EXISTS"), "{before}");
    home.first_index();
    home.good(&["move", "subject:2", ".done"]);
    home.good(&["flag", "+F", "--", "subject:3"]);
    let after = ask(fetch);
    assert!(after.contains("* 2 EXISTS") && after.contains("* 1 EXISTS"), "{after}");
    assert!(after.contains("(UID 1 FLAGS (\\Seen") && after.contains("(UID 3 FLAGS (\\Flagged"), "{after}");
    // Dovecot flags a message and pneu moves it, in turns; each sees the other's work.
    let stored = ask("1 SELECT done\r\n2 STORE 1 +FLAGS (\\Answered)\r\n");
    assert!(stored.contains("2 OK"), "{stored}");
    home.good(&["index"]);
    assert_eq!(home.subjects("flag:replied"), ["message 2"]);
    home.good(&["undo"]);
    home.good(&["undo"]);
    let undone = ask(fetch);
    assert!(undone.contains("* 3 EXISTS") && undone.contains("* 0 EXISTS"), "{undone}");
    assert!(undone.contains("(UID 4 FLAGS (\\Answered \\Seen"), "{undone}");
    assert!(undone.contains("(UID 3 FLAGS ())"), "{undone}");
    assert_eq!(messages(&home.mail()).len(), 3);
}
