//! Tests mail that tries to control the terminal, or to look like other mail.
//!
//! Input: messages with escapes, control characters, line breaks and reversed text in every place. Output:
//! whether any of it is printed. Does not depend on what replaces it.

use crate::support::{Home, Run};

/// What must not come out: escape, bell, C1, turned text, carriage return.
pub(crate) const HARMFUL: [char; 9] =
    ['\u{1b}', '\u{7}', '\u{9b}', '\u{85}', '\u{202e}', '\u{2066}', '\u{200f}', '\u{61c}', '\r'];

/// All of it in one encoded word, with a line break and something that looks like a message of its own.
const SUBJECT: &str = "=?utf-8?q?=1B[31mred=1B]0;owned=07_=C2=9B2J=E2=80=AEtxt\
    =E2=81=A6=E2=80=8F=D8=9C=0D=0A2024-01-01_forged?=";

pub(crate) fn home() -> Home {
    let home = Home::new();
    let evil = "\u{1b}[2J\u{7}\u{9b}1m\u{202e}\u{2066}\u{200f}\u{61c}\u{85}";
    let content = format!(
        "From: =?utf-8?q?Ana=1B[5m=E2=80=AE?= <a\u{1b}@example.org>\nTo: {evil} <b@example.org>\nSubject: \
         {SUBJECT}\n\
         Message-ID: <x{evil}@example.org>\nList-Id: <l{evil}.example.org>\nDate: Tue, 5 Mar 2024 15:02:11 \
         +0100\n\
         MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain; \
         charset=utf-8\n\n\
         text {evil} text\rover\n--b\nContent-Type: application/x; name=\"{evil}.pdf\"\n\nx\n--b--\n"
    );
    home.deliver_bytes("", "1.\u{1b}]0;name\u{7}\u{202e}:2,S".as_bytes(), content.as_bytes());
    home.first_index();
    home
}

pub(crate) fn assert_harmless(run: &Run, what: &str) {
    for text in [&run.out, &run.err] {
        assert!(!text.contains(HARMFUL), "{what}: {text:?}");
    }
}

#[test]
fn nothing_of_a_message_reaches_the_terminal() {
    let home = home();
    let all = home.pneu(&["find", "--fields", "d f t c h s i m g z v j l r k"]);
    assert_harmless(&all, "find");
    assert_eq!(all.out.lines().count(), 1, "a message is one line: {}", all.out);
    for format in ["plain", "json", "sexp"] {
        let found = home.pneu(&["find", "--format", format]);
        assert_eq!(found.code, Some(0));
        assert_harmless(&found, format);
    }
    for format in ["plain", "html", "json", "sexp"] {
        let shown = home.pneu(&["view", "--format", format, "forged"]);
        assert_eq!(shown.code, Some(0), "{shown:?}");
        assert_harmless(&shown, format);
    }
    for arguments in [
        ["view", "\u{1b}[2J"],
        ["view", "/nowhere/cur/\u{1b}[2J\u{9b}\u{202e}"],
        ["find", "--maildir=\u{1b}[2J\u{7}"],
        ["find", "subject:\u{1b}\u{9b}("],
        ["count", "form:\u{202e}x"],
    ] {
        assert_harmless(&home.pneu(&arguments), "an error");
    }
}

#[test]
fn json_loses_nothing() {
    let home = home();
    let found: serde_json::Value = serde_json::from_str(&home.good(&["find", "--format", "json"])).unwrap();
    let subject = found["subject"].as_str().unwrap();
    assert!(
        subject.contains("\u{1b}[31mred") && subject.contains('\u{202e}') && subject.contains('\u{9b}'),
        "{subject:?}"
    );
    let path = found["files"][0]["path"].as_str().unwrap();
    assert!(path.ends_with("1.\u{1b}]0;name\u{7}\u{202e}:2,S"));
}

#[test]
fn a_header_cannot_forge_another() {
    let home = home();
    let shown = home.good(&["view", "forged"]);
    let header = shown.split("\n\n").next().unwrap();
    let names: Vec<&str> = header.lines().map(|line| line.split(':').next().unwrap()).collect();
    for name in &names {
        let known =
            ["From", "To", "Date", "Subject", "List", "Message-ID", "Flags", "Attachment", "File", "Problem"];
        assert!(known.contains(name), "{name}: {header}");
    }
    assert_eq!(names.iter().filter(|name| **name == "Subject").count(), 1);
}
