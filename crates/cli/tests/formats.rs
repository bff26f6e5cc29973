//! Tests what `find` and `count` print, in every format and order.
//!
//! Input: indexed mail. Output: whether lines, JSON, paths and counts are as docs/OUTPUT.md says. Does not
//! depend on how they are made.

use crate::support::{Home, letter};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use testkit::corpus::{CorpusOptions, generate};

#[test]
fn plain_lines_show_date_sender_and_subject_newest_first() {
    let home = Home::indexed();
    assert_eq!(
        home.good(&["find"]),
        "\
2024-03-05 12:00 Ana Example              A fourth
2024-03-04 12:00 Ana Example              Third time
2024-03-03 12:00 Ana Example              Second thoughts
2024-03-02 12:00 Ana Example              First steps
"
    );
    assert_eq!(home.good(&["search", "hello", "again"]), home.good(&["find", "subject:second"]));
}

#[test]
fn fields_are_chosen_by_letter() {
    let home = Home::indexed();
    let line = home.good(&["find", "--fields", "i|m|g|z|t", "subject:third"]);
    let parts: Vec<&str> = line.trim_end().split('|').map(str::trim).collect();
    let size = letter("3", "Third time", "tubes under the city").len().to_string();
    assert_eq!(parts, ["3@example.org", "/lists/rust", "FS", &size, "bo@example.org"]);
    let path = home.mail().join("lists/rust/cur/3:2,FS");
    assert_eq!(home.good(&["find", "--fields", "l", "subject:third"]), format!("{}\n", path.display()));
}

#[test]
fn results_are_sorted_turned_and_cut() {
    let home = Home::indexed();
    let subjects = |options: &[&str]| {
        let out = home.good(&[&["find", "--fields", "s"], options].concat());
        out.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(subjects(&[]), ["A", "Third", "Second", "First"]);
    assert_eq!(subjects(&["--reverse"]), ["First", "Second", "Third", "A"]);
    assert_eq!(subjects(&["--sort", "subject"]), ["A", "First", "Second", "Third"]);
    assert_eq!(subjects(&["--sort", "size"]), ["A", "Second", "First", "Third"]);
    assert_eq!(subjects(&["--sort", "size", "--reverse", "--max", "1"]), ["Third"]);
    assert_eq!(subjects(&["-n", "2", "--offset", "1"]), ["Third", "Second"]);
    assert_eq!(subjects(&["-s", "maildir"]), ["First", "Second", "A", "Third"]);
    assert_eq!(subjects(&["-s", "m", "-z"]), ["Third", "A", "Second", "First"]);
    assert_eq!(subjects(&["-s", "flags"]), ["Third", "First", "A", "Second"]);
    assert_eq!(subjects(&["--sortfield", "msgid", "--maxnum", "3"]), ["First", "Second", "Third"]);
}

#[test]
fn many_messages_are_printed_in_the_order_of_few() {
    let home = Home::new();
    generate(&home.mail().join("many"), &CorpusOptions { folders: 3, ..CorpusOptions::varied(500, 9) })
        .unwrap();
    home.first_index();
    for format in ["plain", "json", "sexp", "paths"] {
        let page = |offset: usize| {
            let run = home.pneu(&["find", "--format", format, "--offset", &offset.to_string(), "-n", "100"]);
            (run.code == Some(0)).then_some(run.out)
        };
        let pages: String = (0..).step_by(100).map_while(page).collect();
        assert!(pages.lines().count() > 400, "{format}");
        assert!(home.good(&["find", "--format", format]) == pages, "{format}");
    }
}

#[test]
fn counts_are_numbers_and_none_is_an_exit_code() {
    let home = Home::indexed();
    assert_eq!(home.good(&["count"]), "4\n");
    assert_eq!(home.good(&["count", "hello"]), "2\n");
    assert_eq!(home.good(&["find", "--format", "count", "flag:seen"]), "3\n");
    let none = home.pneu(&["count", "nowhere"]);
    assert_eq!((none.code, none.out.as_str(), none.err.as_str()), (Some(1), "0\n", ""));
}

#[test]
fn sexp_has_every_documented_key() {
    let home = Home::indexed();
    let line = home.good(&["find", "--format", "sexp", "subject:third"]);
    let path = home.mail().join("lists/rust/cur/3:2,FS");
    let size = letter("3", "Third time", "tubes under the city").len();
    let begin = format!(
        "(:path \"{}\" :maildir \"/lists/rust\" :size {size} :date (26085 47040 0) :changed (",
        path.display()
    );
    assert!(line.starts_with(&begin), "{line}");
    let end = " :subject \"Third time\" :from ((:email \"ana@example.org\" :name \"Ana Example\")) \
        :to ((:email \"bo@example.org\")) :priority normal :flags (flagged seen))\n";
    assert!(line.ends_with(end), "{line}");
    let document = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/OUTPUT.md")).unwrap();
    for key in line.split(['(', ' ']).filter(|word| word.starts_with(':')) {
        assert!(document.contains(&format!("`{key}`")), "docs/OUTPUT.md does not explain {key}");
    }
}

#[test]
fn fields_are_chosen_by_name() {
    let home = Home::indexed();
    assert_eq!(home.good(&["find", "-f", "size,msgid", "subject:third"]), "      158 3@example.org\n");
    assert_eq!(home.good(&["find", "-f", "date,from,subject"]), home.good(&["find"]));
}

#[test]
fn json_has_every_documented_key() {
    let home = Home::new();
    let content = "From: \"Ana\" <ana@example.org>\nTo: bo@example.org, Cy <cy@example.org>\nCc: \
        d@example.org\n\
        Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\nDate: Tue, 5 Mar 2024 15:02:11 +0100\nMessage-ID: \
        <x@example.org>\n\
        In-Reply-To: <w@example.org>\nList-Id: Tubes <tubes.example.org>\nX-Label: work\nMIME-Version: 1.0\n\
        Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nhello there\n--b\n\
        Content-Type: application/pdf; name=plan.pdf\nContent-Disposition: attachment; \
        filename=plan.pdf\n\n%PDF\n--b--\n";
    let path = home.deliver("", "1:2,FS", content.as_bytes());
    let copy = home.deliver("copies", "2:2,R", content.as_bytes());
    home.first_index();
    let lines = home.good(&["find", "--format", "json"]);
    assert_eq!(lines.lines().count(), 1, "one content is one message");
    let found: serde_json::Value = serde_json::from_str(&lines).unwrap();
    let sha256 = found["sha256"].as_str().unwrap().to_owned();
    assert!(sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let expected = serde_json::json!({
        "version": 1, "type": "message", "message_id": "x@example.org", "sha256": sha256,
        "date": "2024-03-05T14:02:11Z", "date_unix": 1_709_647_331, "size": content.len(),
        "flags": ["flagged", "replied", "seen", "unread", "attach", "list"],
        "from": [{"name": "Ana", "address": "ana@example.org"}],
        "to": [{"name": "", "address": "bo@example.org"}, {"name": "Cy", "address": "cy@example.org"}],
        "cc": [{"name": "", "address": "d@example.org"}], "bcc": [],
        "subject": "Grüße", "list_id": "tubes.example.org", "references": ["w@example.org"],
        "tags": ["work"], "attachments": [{"name": "plan.pdf"}], "snippet": "hello there", "problems": [],
        "files": [
            {"root": "mail", "maildir": "/copies", "path": copy, "flags": ["replied", "unread"]},
            {"root": "mail", "maildir": "/", "path": path, "flags": ["flagged", "seen"]},
        ],
    });
    let mut expected = expected;
    expected["files"].as_array_mut().unwrap().sort_by_key(|file| file["path"].as_str().map(str::to_owned));
    assert_eq!(found, expected);
    let document = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/OUTPUT.md")).unwrap();
    for key in found.as_object().unwrap().keys().chain(found["files"][0].as_object().unwrap().keys()) {
        assert!(document.contains(&format!("`{key}`")), "docs/OUTPUT.md does not explain {key}");
    }
}

#[test]
fn every_copy_has_a_line_where_asked_for() {
    let home = Home::new();
    let content = letter("1", "Twice", "the same");
    let paths = [home.deliver("a", "1:2,S", &content), home.deliver("b", "1:2,", &content)];
    home.first_index();
    assert_eq!(home.good(&["count"]), "1\n");
    let first = format!("{}\n", paths[0].display());
    let both = format!("{first}{}\n", paths[1].display());
    assert_eq!(home.good(&["find", "--format", "paths"]), first);
    assert_eq!(home.good(&["find", "--format", "paths", "--files"]), both);
    assert_eq!(home.good(&["find", "--fields", "m g s"]), "/a               Su     Twice\n");
    assert_eq!(
        home.good(&["find", "--fields", "m g s", "--files"]),
        "/a               S      Twice\n/b               u      Twice\n"
    );
}

#[test]
fn paths_are_exact_bytes_and_may_end_in_zero() {
    let home = Home::new();
    let path = home.deliver_bytes("", b"1.\xff\n.x:2,S", &letter("1", "Odd name", "x"));
    home.first_index();
    let run = home.pneu(&["find", "--format", "paths", "--print0"]);
    assert_eq!((run.code, run.bytes), (Some(0), [path.as_os_str().as_bytes(), b"\0"].concat()));
    let lines = home.good(&["find", "--fields", "s", "--print0"]);
    assert_eq!(lines, "Odd name\0");
    let json: serde_json::Value = serde_json::from_str(&home.good(&["find", "--format", "json"])).unwrap();
    let file = &json["files"][0];
    assert!(file.get("path").is_none());
    let decoded = decode(file["path_base64"].as_str().unwrap());
    assert_eq!(decoded, path.as_os_str().as_bytes());
}

/// Decodes base64, slowly.
fn decode(text: &str) -> Vec<u8> {
    const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letters = text.trim_end_matches('=');
    let bits: String =
        letters.chars().map(|letter| format!("{:06b}", LETTERS.find(letter).unwrap())).collect();
    let whole = bits.len() / 8 * 8;
    (0..whole).step_by(8).map(|at| u8::from_str_radix(&bits[at..at + 8], 2).unwrap()).collect()
}
