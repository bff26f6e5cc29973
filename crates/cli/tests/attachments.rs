//! Tests the text of attachments as a user meets it: commands of the configuration read it, queries find it.
//!
//! Input: messages with parts, configurations. Output: what is found, what is told, exit codes. Does not
//! depend on how commands are run.

use crate::support::{Home, end, run, run_with_input};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A message with an attachment that `tr a-z n-za-m` makes "hidden words" of.
fn message(number: u32, more: &str) -> Vec<u8> {
    format!(
        "From: ana@example.org\nSubject: s{number}\nMessage-ID: <{number}@x>\n\
         Date: Mon, 2 Jan 2023 10:00:00 +0000\n\
         Content-Type: multipart/mixed; boundary=b\n\n--b\n\nplain\n\
         --b\nContent-Type: application/pdf{more}\nContent-Transfer-Encoding: base64\n\n\
         dXZxcXJhIGpiZXFm\n--b--\n"
    )
    .into_bytes()
}

fn home(count: u32) -> Home {
    let home = Home::new();
    (0..count).for_each(|number| {
        home.deliver("", &format!("{number}:2,S"), &message(number, ""));
    });
    home.first_index();
    home
}

fn filter(home: &Home, command: &str) {
    home.configure(&format!("[attachments.filters]\n\"application/pdf\" = {command:?}\n"));
}

#[test]
fn attachments_of_old_and_new_mail_are_searched() {
    let home = home(2);
    let without = home.pneu(&["index", "--attachments"]);
    assert_eq!(without.code, Some(2));
    assert!(without.err.contains("the configuration has no [attachments.filters]"), "{without:?}");
    let log = home.path().join("log");
    filter(&home, &format!("echo x >> '{}'; tr a-z n-za-m", log.display()));
    home.deliver("", "9:2,S", &message(9, ""));
    let read = home.good(&["index"]);
    assert!(read.ends_with("attachments of 3 messages read\n"), "{read}");
    assert_eq!(home.good(&["index"]).lines().count(), 1);
    assert!(home.good(&["index", "--attachments"]).ends_with("attachments of 0 messages read\n"));
    assert_eq!(home.good(&["count", "\"hidden words\""]).trim(), "3");
    assert_eq!(home.good(&["count", "embed:plain or body:hidden"]).trim(), "3");
    assert_eq!(fs::read_to_string(log).unwrap(), "x\n".repeat(3), "each is read once");
    home.good(&["check", "--repair"]);
    assert_eq!(home.good(&["count", "embed:hidden"]).trim(), "3");
    // An index that is made anew has none, until they are read again.
    home.configure("headers = [\"X-New\"]\n[attachments.filters]\n\"application/pdf\" = \"tr a-z n-za-m\"\n");
    let rebuilt = home.pneu(&["check", "--repair"]);
    assert!(rebuilt.out.ends_with("attachments of 3 messages read\n"), "{rebuilt:?}");
    assert_eq!(home.good(&["count", "embed:hidden"]).trim(), "3");
}

#[test]
fn what_fails_costs_its_own_part_and_is_told_once() {
    let home = home(3);
    filter(&home, "nowhere-program - | cat");
    let unusable = home.pneu(&["index"]);
    assert_eq!(unusable.code, Some(3));
    assert_eq!(unusable.err.matches("it cannot be run").count(), 1, "{unusable:?}");
    assert_eq!(home.pneu(&["index"]).code, Some(0), "it is not tried again");
    let again = home.pneu(&["index", "--attachments"]);
    assert_eq!((again.code, again.err.matches("it cannot be run").count()), (Some(3), 1), "{again:?}");
    filter(&home, "echo text; exit 1");
    let failed = home.pneu(&["index"]);
    assert_eq!(failed.code, Some(3));
    assert!(
        failed.err.contains("it failed on 3 attachments") && failed.err.lines().count() == 1,
        "{failed:?}"
    );
    assert!(failed.out.ends_with("attachments of 3 messages read\n"), "{failed:?}");
    assert_eq!(home.pneu(&["find", "embed:text"]).code, Some(1));
    assert_eq!(home.good(&["count", "body:plain"]).trim(), "3");
    // A failure is not repeated.
    assert_eq!(home.pneu(&["index", "--attachments"]).code, Some(0));
}

#[test]
fn text_that_comes_later_is_a_change_and_rules_and_waits_see_it() {
    let home = home(1);
    home.configure(
        "[[rule]]\nquery = \"plain\"\ntag = \"+inbox\"\n[[rule]]\nquery = \"hidden\"\ntag = \"+found\"\n\
         [attachments.filters]\n\"application/pdf\" = \"tr a-z n-za-m\"\n",
    );
    let token = |home: &Home| {
        let line: serde_json::Value = serde_json::from_str(&home.good(&["changes"])).unwrap();
        line["token"].as_str().unwrap().to_owned()
    };
    let first = token(&home);
    home.deliver("", "1:2,S", &message(1, ""));
    for number in [2, 3] {
        let delivered = run_with_input(&mut home.command(&["deliver", "/"]), &message(number, ""));
        assert_eq!(delivered.code, Some(0), "{delivered:?}");
    }
    assert_eq!(home.pneu(&["find", "tag:found"]).code, Some(1), "no command has read it yet");
    home.good(&["tag", "-inbox", "--", "subject:s2"]);
    let second = token(&home);
    home.good(&["index"]);
    // What the first index found is not new, and what a rule did before it does not do again.
    let tagged = |tag: &str| home.subjects(tag).into_iter().collect::<BTreeSet<_>>();
    let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(tagged("tag:found"), named(&["s1", "s2", "s3"]));
    assert_eq!(tagged("tag:inbox"), named(&["s1", "s3"]));
    home.good(&["tag", "-found", "--", "subject:s3"]);
    home.good(&["index", "--attachments"]);
    assert_eq!(tagged("tag:found"), named(&["s1", "s2"]));
    let changes = home.good(&["changes", "--since", &second]);
    assert_eq!(changes.matches("\"change\":\"text\"").count(), 4, "{changes}");
    let wait = |since: &str, query: &str| home.pneu(&["wait", "--timeout", "0", "--since", since, query]);
    let came = wait(&second, "embed:hidden");
    assert_eq!((came.code, came.out.lines().count()), (Some(0), 5), "{came:?}");
    assert_eq!(wait(&second, "subject:s2").code, Some(1), "it asks for no text");
    assert_eq!(wait(&first, "subject:s2").code, Some(0));
    assert_eq!(wait(&token(&home), "embed:hidden").code, Some(1));
}

#[test]
fn a_delivery_runs_no_filter() {
    let home = home(0);
    filter(&home, "tr a-z n-za-m");
    let delivered = run_with_input(&mut home.command(&["deliver", "/"]), &message(7, ""));
    assert_eq!(delivered.code, Some(0), "{delivered:?}");
    assert_eq!(home.good(&["count", "subject:s7"]).trim(), "1");
    assert_eq!(home.pneu(&["find", "embed:hidden"]).code, Some(1));
    assert!(home.good(&["index"]).ends_with("attachments of 1 message read\n"));
    assert_eq!(home.good(&["count", "embed:hidden"]).trim(), "1");
}

/// A filter that waits until somebody writes to a pipe, and the pipe in which it says that it waits.
fn waiting_filter(home: &Home) -> PathBuf {
    let [answer, begun] = ["answer", "begun"].map(|name| home.path().join(name));
    for pipe in [&answer, &begun] {
        assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    }
    // All processes of it have the pipe open until they end.
    filter(home, &format!("exec 5> '{}'; echo x >&5; cat '{}'", begun.display(), answer.display()));
    begun
}

/// Waits until the filter runs. Returns what stays open until all its processes are gone.
fn has_begun(begun: &Path) -> BufReader<fs::File> {
    let mut pipe = BufReader::new(fs::File::open(begun).unwrap());
    let mut line = String::new();
    pipe.read_line(&mut line).unwrap();
    assert_eq!(line, "x\n");
    pipe
}

fn is_gone(mut pipe: BufReader<fs::File>) {
    let mut rest = String::new();
    pipe.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
}

#[test]
fn a_signal_ends_the_filter_and_says_how_to_go_on() {
    let home = home(1);
    let begun = waiting_filter(&home);
    for (arguments, signal, code, flags) in [
        (&["index"][..], "INT", 130, "+F"),
        (&["index", "--attachments"], "TERM", 143, "-F"),
        (&["index", "--watch"], "INT", 130, "+F"),
        (&["index", "--watch"], "TERM", 143, "-F"),
        (&["serve", "--port", "0"], "INT", 130, "+F"),
        (&["serve", "--port", "0"], "TERM", 143, "-F"),
    ] {
        let mut command = home.command(arguments);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let pipe = has_begun(&begun);
        // The mail is in the index, and others can write.
        assert_eq!(home.good(&["count", "subject:s0"]).trim(), "1");
        home.good(&["flag", flags, "--", "subject:s0"]);
        let beside = home.pneu(&["index"]);
        assert!(
            beside.code == Some(0) && beside.err.contains("another process reads attachments"),
            "{beside:?}"
        );
        let done = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
        assert!(done.unwrap().success());
        let ended = end(child);
        assert_eq!(ended.code, Some(code), "{arguments:?}: {ended:?}");
        is_gone(pipe);
        if arguments[0] == "index" && !arguments.contains(&"--watch") {
            let again = format!("run \"pneu {}\" again for the rest", arguments.join(" "));
            assert!(ended.err.contains(&again), "{ended:?}");
        }
    }
    filter(&home, "tr a-z n-za-m");
    home.good(&["index"]);
    assert_eq!(home.good(&["count", "embed:hidden"]).trim(), "1");
}

#[test]
fn a_watch_reads_what_others_deliver_while_a_filter_waits() {
    let home = home(0);
    let begun = waiting_filter(&home);
    let mut command = home.command(&["index", "--watch"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.next().unwrap().contains(" 0 added"));
    let delivered = run_with_input(&mut home.command(&["deliver", "/"]), &message(1, ""));
    assert_eq!(delivered.code, Some(0), "{delivered:?}");
    let pipe = has_begun(&begun);
    home.deliver("", "2:2,S", b"Subject: later\n\nlater\n");
    // The delivered message may be added by the watch, too, before its own command does it.
    let is_added = |line: String| {
        line.starts_with("1 added, ") && home.pneu(&["count", "subject:later"]).out.trim() == "1"
    };
    assert!(lines.any(is_added));
    fs::write(home.path().join("answer"), "answered").unwrap();
    is_gone(pipe);
    assert!(lines.any(|line| line == "attachments of 1 message read"));
    assert_eq!(home.good(&["find", "--fields", "subject", "embed:answered"]).trim(), "s1");
    let done = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(done.unwrap().success());
    assert_eq!(end(child).code, Some(143));
}

#[test]
fn a_command_gets_no_secret_and_nothing_of_the_message_but_the_content() {
    let home = Home::new();
    home.first_index();
    filter(&home, "env; tr '\\0' ' ' < /proc/$$/cmdline; echo seen");
    home.deliver("", "1:2,S", &message(1, "; name=\"oddname$(touch pwned)\"; x=oddparameter"));
    let mut command = home.command(&["index"]);
    let indexed = run(command
        .envs([("RESTIC_PASSWORD", "oddsecret"), ("RESTIC_PASSWORD_COMMAND", "oddsecret")])
        .envs([("RESTIC_PASSWORD_FILE", "oddsecret"), ("RESTIC_REPOSITORY", "oddsecret")])
        .envs([("AWS_ACCESS_KEY_ID", "oddsecret"), ("GITHUB_TOKEN", "oddsecret"), ("LC_ALL", "oddplain")]));
    assert_eq!(indexed.code, Some(0), "{indexed:?}");
    assert_eq!(home.good(&["count", "embed:seen embed:oddplain"]).trim(), "1");
    for secret in ["embed:oddsecret", "embed:oddname", "embed:oddparameter", "embed:s1", "embed:ana"] {
        assert_eq!(home.pneu(&["find", secret]).code, Some(1), "{secret}");
    }
    assert_eq!(home.good(&["count", "file:oddname"]).trim(), "1");
    assert!(!home.path().join("pwned").exists());
}

#[test]
fn what_one_filter_has_read_stays_if_another_one_fails_later() {
    let home = Home::new();
    let part =
        "--b\nContent-Type: image/png\n\npicture\n--b\nContent-Type: application/pdf\n\nold words\n--b--\n";
    let message =
        format!("Subject: s\nMessage-ID: <1@x>\nContent-Type: multipart/mixed; boundary=b\n\n{part}");
    home.deliver("", "1:2,S", message.as_bytes());
    home.first_index();
    let index = |png: &str, arguments: &[&str]| {
        let png = if png.is_empty() { String::new() } else { format!("\"image/png\" = {png:?}\n") };
        home.configure(&format!("[attachments.filters]\n\"application/pdf\" = \"cat\"\n{png}"));
        let run = home.pneu(arguments);
        (run.code, home.pneu(&["count", "embed:words"]).out, home.pneu(&["count", "embed:picture"]).out)
    };
    let counts =
        |code, words: &str, picture: &str| (Some(code), format!("{words}\n"), format!("{picture}\n"));
    assert_eq!(index("", &["index"]), counts(0, "1", "0"));
    for png in ["false", "nowhere-program"] {
        assert_eq!(index(png, &["index"]), counts(3, "1", "0"), "{png}");
        assert_eq!(index(png, &["index", "--attachments"]), counts(3, "1", "0"), "{png}");
    }
    assert_eq!(index("cat", &["index"]), counts(0, "1", "1"));
}
