//! Tab in bash, zsh and fish: what is offered, and that no shell runs any of it.
//!
//! Input: a shell at a terminal of its own, and keys. Output: the words that the shell hands to a program,
//! and all that it showed. A shell that is not there is left out.

use crate::support::{Home, letter, run};
use rustix::pty::{self, OpenptFlags};
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use testkit::ask::{is_ci, may_ask};

const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];
/// What every shell prints when it waits for a line.
const PROMPT: &str = "@@";
/// Goes to the start of the line, and makes it a call of the program that writes its words down.
const ACCEPT: &str = "\u{1}./show \r";
/// A folder whose name every shell would run, if anything let it.
const EVIL: &str = "evil $(touch ran);`touch ran`'\"!x&touch ran|*~{a,b}#";
/// A tag of that kind: it can hold no space.
const EVIL_TAG: &str = "w;touch${IFS}ran;$(touch${IFS}ran)`touch${IFS}ran`'\"!x";
/// What changes the title of a terminal.
const TITLE: &str = "\u{1b}]0;taken";

/// Returns a home with tags, folders and a saved query, and the shells' scripts.
fn home() -> Home {
    let home = Home::indexed();
    home.deliver(EVIL, "5:2,S", &letter("5", "Evil folder", "x"));
    home.deliver(&format!("title{TITLE}"), "6:2,S", &letter("6", "Title", "x"));
    home.good(&["index"]);
    home.good(&["-q", "tag", "+work", "--", "hello"]);
    home.good(&["-q", "tag", &format!("+{EVIL_TAG}"), "--", "id:3@example.org"]);
    home.good(&["-q", "query", "unread", "flag:unread"]);
    let write = |name: &str, text: &str| fs::write(home.path().join(name), text).unwrap();
    for shell in SHELLS {
        write(&format!("script.{shell}"), &home.good(&["completions", shell]));
    }
    write("bashrc", "PS1='@'@; . ./script.bash\n");
    write(".zshrc", "PS1='@'@; autoload -Uz compinit; compinit -u -D; . ./script.zsh; bindkey -e\n");
    write("config.fish", "function fish_prompt; printf '@'@; end; source ./script.fish\n");
    write("show", "#!/bin/sh\nprintf '%s\\n' \"$@\" > words\n");
    fs::set_permissions(home.path().join("show"), fs::Permissions::from_mode(0o755)).unwrap();
    home
}

fn is_there(shell: &str) -> bool {
    let is_found =
        ["/bin", "/usr/bin", "/usr/local/bin"].iter().any(|bin| Path::new(bin).join(shell).exists());
    may_ask(shell, "install its package", is_found, is_ci())
}

/// Types keys at a shell, and returns the words of the line that they make, and all that was shown.
fn typed(home: &Home, shell: &str, keys: &str) -> (Vec<String>, String) {
    let arguments: &[&str] = match shell {
        "bash" => &["bash", "--noprofile", "--rcfile", "bashrc", "-i"],
        "zsh" => &["zsh", "-d", "-i"],
        _ => &["fish", "--no-config", "-i", "-C", "source config.fish"],
    };
    let master = pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    pty::grantpt(&master).unwrap();
    pty::unlockpt(&master).unwrap();
    let name = pty::ptsname(&master, Vec::new()).unwrap();
    let path = Path::new(OsStr::from_bytes(name.as_bytes())).to_owned();
    let terminal = || OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let mut master = fs::File::from(master);
    let program = Path::new(env!("CARGO_BIN_EXE_pneu")).parent().unwrap();
    let mut command = Command::new("setsid");
    command.args(["--ctty", "--wait"]).args(arguments).env_clear().current_dir(home.path());
    command
        .env("HOME", home.path())
        .env("ZDOTDIR", home.path())
        .env("LC_ALL", "C.UTF-8")
        .env("TERM", "xterm");
    command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", program.display()));
    command.stdin(terminal()).stdout(terminal()).stderr(terminal());
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut shown = Vec::new();
    while !String::from_utf8_lossy(&shown).contains(PROMPT) {
        let mut bytes = [0; 4096];
        let count = master.read(&mut bytes).unwrap();
        shown.extend_from_slice(&bytes[..count]);
    }
    let words = home.path().join("words");
    let _ = fs::remove_file(&words);
    master.write_all(format!("{keys}{ACCEPT}exit\r").as_bytes()).unwrap();
    // Linux ends this with an error, EIO.
    let _ = master.read_to_end(&mut shown);
    child.wait().unwrap();
    let shown = String::from_utf8_lossy(&shown).into_owned();
    let words =
        fs::read_to_string(words).unwrap_or_else(|error| panic!("{shell} {keys:?}: {error}: {shown}"));
    (words.lines().map(str::to_owned).collect(), shown)
}

#[test]
fn every_shell_completes_commands_options_and_the_words_of_queries() {
    let home = home();
    for shell in SHELLS.into_iter().filter(|shell| is_there(shell)) {
        for (keys, expected) in [
            ("pneu fin\t", "pneu find"),
            ("pneu archive snap\t", "pneu archive snapshots"),
            ("pneu help fin\t", "pneu help find"),
            ("pneu help archive snap\t", "pneu help archive snapshots"),
            ("pneu archive help snap\t", "pneu archive help snapshots"),
            ("pneu find --fields date,fr\t", "pneu find --fields date,from"),
            ("pneu archive ls lat\t", "pneu archive ls latest"),
            ("pneu archive restore lat\t", "pneu archive restore latest"),
            ("pneu find --links\tx", "pneu find --links-dir x"),
            ("pneu find --sort si\t", "pneu find --sort size"),
            ("pneu find --sort=si\t", "pneu find --sort=size"),
            ("pneu find subj\tboard", "pneu find subject:board"),
            ("pneu find is:unr\t", "pneu find is:unread"),
            ("pneu find tag:wor\t", "pneu find tag:work"),
            ("pneu find -- -tag:wor\t", "pneu find -- -tag:work"),
            ("pneu find 'hello tag:wor\t", "pneu find hello tag:work"),
            ("pneu find \"hello (tag:wor\t", "pneu find hello (tag:work"),
            ("pneu find folder:li\t", "pneu find folder:lists/rust"),
            ("pneu find maildir:/li\t", "pneu find maildir:/lists/rust"),
            ("pneu find maildir::spa\t", "pneu find maildir::spam"),
            ("pneu move hello :spa\t", "pneu move hello :spam"),
            ("pneu count path:lis\t", "pneu count path:lists/rust/**"),
            ("pneu view query:unr\t", "pneu view query:unread"),
            ("pneu query --remove unr\t", "pneu query --remove unread"),
            ("pneu tag +wor\t", "pneu tag +work"),
            ("pneu tag -- tag:wor\t", "pneu tag -- tag:work"),
            ("pneu tag --import bash\t", "pneu tag --import bashrc"),
            ("pneu --data Mai\tx", "pneu --data Mail/x"),
            ("pneu --data=Mai\tx", "pneu --data=Mail/x"),
        ] {
            let (words, shown) = typed(&home, shell, keys);
            assert_eq!(words.join(" "), expected, "{shell} {keys:?}: {shown}");
        }
    }
}

#[test]
fn a_tilde_is_the_home_in_every_shell() {
    let home = home();
    fs::rename(home.data(), home.path().join("elsewhere")).unwrap();
    let mail = home.path().join("Mail/x");
    let elsewhere = home.path().join("elsewhere");
    for shell in SHELLS.into_iter().filter(|shell| is_there(shell)) {
        for (keys, expected) in [
            ("pneu --data ~/Mai\tx", format!("pneu --data {}", mail.display())),
            (
                "pneu --data ~/elsewhere find query:unr\t",
                format!("pneu --data {} find query:unread", elsewhere.display()),
            ),
        ] {
            let (words, shown) = typed(&home, shell, keys);
            assert_eq!(words.join(" "), expected, "{shell} {keys:?}: {shown}");
        }
    }
}

#[test]
fn no_shell_runs_what_mail_is_called() {
    let home = home();
    for shell in SHELLS.into_iter().filter(|shell| is_there(shell)) {
        for keys in [
            "pneu find maildir:/ev\t",
            "pneu find 'maildir:/ev\t",
            "pneu find \"maildir:/ev\t",
            "pneu find maildir:\"/ev\t",
            "pneu find maildir:\\\"/ev\t",
        ] {
            let (words, shown) = typed(&home, shell, keys);
            let query = words.get(2).unwrap_or_else(|| panic!("{shell} {keys:?}: {words:?} {shown}"));
            assert_eq!(words.len(), 3, "{shell} {keys:?}: {words:?}");
            assert_eq!(home.subjects(query), ["Evil folder"], "{shell} {keys:?}: {query}");
        }
        for (keys, expected) in [
            ("pneu tag +w;\u{8}\\;\t", format!("+{EVIL_TAG}")),
            ("pneu tag '+w;\t", format!("+{EVIL_TAG}")),
            ("pneu tag \"+w;\t", format!("+{EVIL_TAG}")),
        ] {
            let (words, shown) = typed(&home, shell, keys);
            assert_eq!(words, ["pneu", "tag", &expected], "{shell} {keys:?}: {shown}");
        }
        // A list of all, which has folders and tags in it.
        for keys in ["pneu find maildir:\t\t", "pneu find tag:\t\t", "pneu find maildir:/t\t\t"] {
            let (_, shown) = typed(&home, shell, keys);
            assert!(!shown.contains(TITLE), "{shell} {keys:?}: {shown:?}");
        }
        assert!(!home.path().join("ran").exists(), "{shell}");
    }
}

#[test]
fn what_is_hidden_is_not_offered() {
    let home = home();
    let asked = |words: &[&str]| home.good(&[&["__complete", "fish", "pneu"], words].concat());
    let commands = asked(&[""]);
    for command in ["find\tSearch for messages", "view\tShow messages", "archive\t", "help\t"] {
        assert!(commands.contains(command), "{commands}");
    }
    let options = asked(&["index", "--"]) + &asked(&["find", "--"]);
    for option in ["--lazy\t", "--links-dir\t", "--data\t", "--quiet\t", "--help\t"] {
        assert!(options.contains(option), "{options}");
    }
    for hidden in ["legacy-cleanup", "header-codec", "linksdir", "sortfield", "maxnum"] {
        assert!(!options.contains(hidden), "{options}");
    }
}

#[test]
fn commands_fields_and_snapshots_are_offered() {
    let home = Home::indexed();
    let asked = |words: &[&str]| home.good(&[&["__complete", "fish", "pneu"], words].concat());
    let help = asked(&["help", ""]);
    assert!(
        help.contains("\nfind\t") && help.contains("\narchive\t") && !help.contains("\nhelp\t"),
        "{help}"
    );
    assert_eq!(asked(&["help", "find", ""]), "values\n");
    assert_eq!(asked(&["help", "--"]), "values\n");
    assert!(asked(&["find", "--fields", ""]).contains("\ndate\tdate of the message\n"));
    assert_eq!(asked(&["find", "--fields", "date,si"]), "values\ndate,size\tsize in bytes (`k` is 1024)\n");
    assert_eq!(asked(&["find", "--fields=date,da"]), "values\n");
    let names = asked(&["export", "--columns", "date,to,fro"]);
    assert_eq!(names, "values\ndate,to,from_name\t\ndate,to,from_address\t\n");
    assert_eq!(asked(&["export", "--columns=to,t"]), "values\n--columns=to,tags\t\n--columns=to,thread\t\n");
    assert_eq!(asked(&["archive", "ls", ""]), "values\nlatest\t\n");
    // The files of a repository in a directory have the names of its snapshots. It is not opened.
    let repository = home.path().join("repository");
    fs::create_dir_all(repository.join("snapshots")).unwrap();
    let id = "1a2b3c4d".repeat(8);
    for name in [&*id, "unfinished-1"] {
        fs::write(repository.join("snapshots").join(name), "").unwrap();
    }
    for command in [&["archive", "ls"][..], &["archive", "restore"], &["archive", "forget"]] {
        let offered = asked(&[command, &["--repo", "repository", ""]].concat());
        assert!(offered.starts_with("values\nlatest\t\n1a2b3c4d\t20"), "{offered}");
        assert_eq!(offered.lines().count(), 3, "{offered}");
    }
    assert_eq!(asked(&["archive", "ls", "--repo", "s3:https://nobody.invalid/x", ""]), "values\nlatest\t\n");
    let in_home = asked(&["archive", "ls", "--repo", "~/repository", "1a"]);
    assert!(in_home.starts_with("values\n1a2b3c4d\t20"), "{in_home}");
    // A path may follow.
    for (command, expected) in [("ls", "-latest"), ("restore", "-latest"), ("forget", "+latest")] {
        let offered = home.good(&["__complete", "zsh", "pneu", "archive", command, "lat"]);
        assert_eq!(offered, format!("values\n{expected}\t\n"), "{command}");
    }
}

#[test]
fn old_snapshots_of_a_large_repository_are_offered_by_their_beginning() {
    let home = Home::indexed();
    let snapshots = home.path().join("repository/snapshots");
    fs::create_dir_all(&snapshots).unwrap();
    for number in 0..1000_u32 {
        fs::write(snapshots.join(format!("{number:08x}").repeat(8)), "").unwrap();
    }
    let old = fs::File::create(snapshots.join("1a2b3c4d".repeat(8))).unwrap();
    old.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(86_400)).unwrap();
    let asked =
        |word| home.good(&["__complete", "fish", "pneu", "archive", "ls", "--repo", "repository", word]);
    assert_eq!(asked("1a"), "values\n1a2b3c4d\t1970-01-02 00:00\n");
    assert_eq!(asked("").lines().count(), 202);
}

#[test]
fn a_pipe_that_should_name_the_repository_is_not_waited_for() {
    let home = Home::indexed();
    let pipe = home.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let line = ["10", env!("CARGO_BIN_EXE_pneu"), "__complete", "fish", "pneu", "archive", "ls", ""];
    let mut command = Command::new("timeout");
    command.args(line).env_clear().env("HOME", home.path()).env("TZ", "UTC");
    let offered = run(command.env("RESTIC_REPOSITORY_FILE", &pipe));
    assert_eq!((offered.code, offered.out.as_str()), (Some(0), "values\nlatest\t\n"));
}

#[test]
fn nothing_is_offered_or_said_where_there_is_nothing() {
    let home = Home::new();
    for words in [
        &["find", "tag:"][..],
        &["find", "maildir:"],
        &["find", "query:"],
        &["tag", "+"],
        &["nonsense", "x"],
        &["--data", "nowhere", "find", "tag:"],
    ] {
        assert_eq!(home.good(&[&["__complete", "zsh", "pneu"], words].concat()), "values\n", "{words:?}");
    }
    let mut homeless = home.command(&["__complete", "zsh", "pneu", "find", "tag:"]);
    let nobody = run(homeless.env_remove("HOME"));
    assert_eq!((nobody.code, nobody.out.as_str(), nobody.err.as_str()), (Some(0), "values\n", ""));
    assert!(!home.data().exists());
    assert_eq!(home.pneu(&["completions", "csh"]).code, Some(2));
}

#[test]
fn the_data_directory_of_the_line_counts() {
    let home = Home::indexed();
    home.good(&["-q", "query", "here", "hello"]);
    fs::rename(home.data(), home.path().join("elsewhere")).unwrap();
    let offered = |words: &[&str]| home.good(&[&["__complete", "fish", "pneu"], words].concat());
    assert_eq!(offered(&["find", "query:"]), "values\n");
    for words in [
        &["--data", "elsewhere", "find", "query:"][..],
        &["find", "--data=elsewhere", "query:"],
        &["find", "--data", "x", "--data", "elsewhere", "query:"],
        &["find", "--data", "~/elsewhere", "query:"],
    ] {
        assert_eq!(offered(words), "values\nquery:here\t\n", "{words:?}");
    }
}
