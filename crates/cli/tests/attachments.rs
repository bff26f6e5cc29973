//! Tests the text of attachments as a user meets it: commands of the configuration read it, queries find it.
//!
//! Input: messages with parts, configurations. Output: what is found, what is told, exit codes. Does not
//! depend on how commands are run.

use crate::support::{Home, run, run_with_input};
use std::fs;

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
    home.good(&["index"]);
    assert_eq!(home.good(&["find", "--fields", "subject", "embed:hidden"]).trim(), "s9");
    let read = home.good(&["index", "--attachments"]);
    assert!(read.ends_with("attachments of 2 messages read\n"), "{read}");
    assert!(home.good(&["index", "--attachments"]).ends_with("attachments of 0 messages read\n"));
    assert_eq!(home.good(&["count", "\"hidden words\""]).trim(), "3");
    assert_eq!(home.good(&["count", "embed:plain or body:hidden"]).trim(), "3");
    assert_eq!(fs::read_to_string(log).unwrap(), "x\n".repeat(3), "each is read once");
    home.good(&["check", "--repair"]);
    assert_eq!(home.good(&["count", "embed:hidden"]).trim(), "3");
}

#[test]
fn what_fails_costs_its_own_part_and_is_told_once() {
    let home = home(3);
    filter(&home, "nowhere-program -");
    let unusable = home.pneu(&["index", "--attachments"]);
    assert_eq!(unusable.code, Some(3));
    assert_eq!(unusable.err.matches("it cannot be run").count(), 1, "{unusable:?}");
    filter(&home, "echo text; exit 1");
    let failed = home.pneu(&["index", "--attachments"]);
    assert_eq!(failed.code, Some(3));
    assert!(
        failed.err.contains("it failed on 3 attachments") && failed.err.lines().count() == 1,
        "{failed:?}"
    );
    assert!(failed.out.ends_with("attachments of 3 messages read\n"), "{failed:?}");
    assert_eq!(home.pneu(&["find", "embed:text"]).code, Some(1));
    assert_eq!(home.good(&["count", "body:plain"]).trim(), "3");
    let delivered = run_with_input(&mut home.command(&["deliver", "/"]), &message(7, ""));
    assert_eq!(delivered.code, Some(0), "{delivered:?}");
    assert!(delivered.err.contains("it failed on 1 attachment"), "{delivered:?}");
    // A failure is not repeated.
    assert_eq!(home.pneu(&["index", "--attachments"]).code, Some(0));
}

#[test]
fn a_command_gets_no_secret_and_nothing_of_the_message_but_the_content() {
    let home = Home::new();
    home.first_index();
    filter(&home, "env; tr '\\0' ' ' < /proc/$$/cmdline; echo seen");
    home.deliver("", "1:2,S", &message(1, "; name=\"oddname$(touch pwned)\"; x=oddparameter"));
    let mut command = home.command(&["index"]);
    let indexed = run(command.env("RESTIC_PASSWORD", "oddsecret").env("PLAIN", "oddplain"));
    assert_eq!(indexed.code, Some(0), "{indexed:?}");
    assert_eq!(home.good(&["count", "embed:seen embed:oddplain"]).trim(), "1");
    for secret in ["embed:oddsecret", "embed:oddname", "embed:oddparameter", "embed:s1", "embed:ana"] {
        assert_eq!(home.pneu(&["find", secret]).code, Some(1), "{secret}");
    }
    assert_eq!(home.good(&["count", "file:oddname"]).trim(), "1");
    assert!(!home.path().join("pwned").exists());
}
