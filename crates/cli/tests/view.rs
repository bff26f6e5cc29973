//! Tests what `view` shows, and how it finds a message that moved since the last index.
//!
//! Input: handles of every kind. Output: whether the right message is shown, and from where. Does not depend
//! on how it is located.

use crate::support::{Home, letter, run_with_input};
use std::fs;

#[test]
fn a_message_reads_as_header_and_text() {
    let home = Home::indexed();
    let path = home.mail().join("lists/rust/cur/3:2,FS");
    let expected = format!(
        "\
From: Ana Example <ana@example.org>
To: bo@example.org
Date: Mon, 04 Mar 2024 12:00:00 +0000
Subject: Third time
Message-ID: 3@example.org
Flags: flagged seen
File: {}

tubes under the city
",
        path.display()
    );
    assert_eq!(home.good(&["view", "id:3@example.org"]), expected);
    assert_eq!(home.good(&["show", path.to_str().unwrap()]), expected);
    assert_eq!(home.good(&["view", "Mail/lists/rust/cur/3:2,FS"]).lines().last(), expected.lines().last());
    assert_eq!(home.good(&["view", "subject:\"third time\""]), expected);
    let json: serde_json::Value =
        serde_json::from_str(&home.good(&["find", "--format", "json", "subject:third"])).unwrap();
    let sha256 = json["sha256"].as_str().unwrap();
    assert_eq!(home.good(&["view", sha256]), expected);
    assert_eq!(home.good(&["view", &sha256[..12]]), expected);
}

#[test]
fn several_messages_are_shown_and_those_that_are_not_there_told_of() {
    let home = Home::indexed();
    let some = home.pneu(&["view", "id:1@example.org", "id:nobody@x", "Mail/cur/2:2,"]);
    assert_eq!((some.code, some.err.as_str()), (Some(3), "pneu: there is no message id:nobody@x\n"));
    assert_eq!(some.out.matches("\nSubject: ").count(), 2);
    let none = home.pneu(&["view", "id:nobody@x", "id:nobody@y"]);
    assert_eq!((none.code, none.out.as_str()), (Some(1), ""));
    assert_eq!(none.err, "pneu: there is no message id:nobody@x\npneu: there is no message id:nobody@y\n");
    let lines = home.good(&["view", "-o", "json", "id:1@example.org", "id:2@example.org"]);
    assert_eq!(lines.lines().count(), 2);
    let raw = home.pneu(&["view", "-o", "raw", "id:1@example.org", "id:2@example.org"]);
    assert_eq!(raw.code, Some(2));
    assert!(raw.err.contains("--format raw shows one message"), "{}", raw.err);
}

#[test]
fn words_are_one_query_unless_one_of_them_names_a_message() {
    let home = Home::indexed();
    let third = home.good(&["view", "id:3@example.org"]);
    assert_eq!(home.good(&["view", "third", "time"]), third);
    assert_eq!(home.good(&["view", "maildir:/lists/rust", "from:ana", "third"]), third);
    assert_eq!(home.good(&["view", "--thread", "third", "time"]), home.good(&["view", "--thread", "third"]));
    assert_eq!(
        home.good(&["view", "-o", "raw", "third", "time"]),
        home.good(&["view", "-o", "raw", "third"])
    );
    let none = home.pneu(&["view", "third", "nowhere"]);
    assert_eq!((none.code, none.out.as_str()), (Some(1), ""));
    assert!(none.err.contains("third nowhere"), "{}", none.err);
    // Paths and Message-IDs each name a message, and so does what comes beside them.
    let each = home.pneu(&["view", "id:3@example.org", "second"]);
    assert_eq!((each.code, each.out.matches("\nSubject: ").count()), (Some(0), 2), "{}", each.err);
    let paths = home.pneu(&["view", "Mail/cur/8", "Mail/cur/9"]);
    assert_eq!(paths.err.lines().count(), 2, "{}", paths.err);
    let absolute = home.pneu(&["view", "/nowhere/1", "/nowhere/2"]);
    assert_eq!(absolute.err.lines().count(), 2, "{}", absolute.err);
}

#[test]
fn a_word_with_a_slash_or_the_name_of_a_directory_may_be_part_of_a_query() {
    let home = Home::indexed();
    home.deliver("", "9:2,S", &letter("9", "Minutes and/or notes", "x"));
    home.good(&["index"]);
    let minutes = home.good(&["view", "subject:minutes"]);
    fs::create_dir(home.path().join("minutes")).unwrap();
    assert_eq!(home.good(&["view", "minutes", "notes"]), minutes);
    assert_eq!(home.good(&["view", "and/or", "minutes"]), minutes);
    assert_eq!(home.good(&["view", "subject:minutes", "/no.es/"]), minutes);
    assert_eq!(home.good(&["view", "/no.es/", "subject:minutes"]), minutes);
    let path = home.mail().join("cur/9:2,S");
    let both = home.good(&["view", path.to_str().unwrap(), "subject:third"]);
    assert_eq!(both.matches("\nSubject: ").count(), 2);
    // Its flags changed, and with them its name.
    for old in ["Mail/cur/9:2,", home.mail().join("cur/9:2,").to_str().unwrap()] {
        let both = home.good(&["view", old, "subject:third"]);
        assert_eq!(both.matches("\nSubject: ").count(), 2, "{old}");
    }
}

#[test]
fn a_hash_of_several_messages_is_no_word() {
    let home = Home::new();
    for number in TWINS {
        let content = format!("Message-ID: <{number}@x>\nSubject: Twins\n\nx\n");
        home.deliver("", &format!("{number}:2,S"), content.as_bytes());
    }
    home.first_index();
    let several = home.pneu(&["view", TWINS_SHA256, "nobody"]);
    assert!(several.err.contains("is the beginning of 2 ids"), "{}", several.err);
    assert_eq!(several.err.lines().count(), 2, "{}", several.err);
}

/// Two messages with the same beginning of their SHA-256.
const TWINS: [u32; 2] = [3768, 5456];
const TWINS_SHA256: &str = "88a7cf";

#[test]
fn html_is_a_page_without_anything_active() {
    let home = Home::new();
    let content = "From: Ana <ana@example.org>\nSubject: A <page>\nMessage-ID: <1@example.org>\nDate: Tue, 5 \
        Mar 2024 15:02:11 +0100\n\
        Content-Type: text/html; charset=utf-8\n\n<p onclick=x()>Gr\u{fc}\u{df}e<script>alert(1)</script>\
        <img src=http://tracker.example/1><a href=https://example.org/>there</a>\n";
    let path = home.deliver("", "1:2,S", content.as_bytes());
    home.deliver("", "2:2,", &letter("2", "Text", "1 < 2 & 3"));
    home.first_index();
    let page = home.good(&["view", "--format", "html", "id:1@example.org", "id:2@example.org"]);
    let page = page.replace(&path.parent().unwrap().display().to_string(), "CUR");
    insta::assert_snapshot!(page, @r##"
        <!DOCTYPE html>
        <html>
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; form-action 'none'; base-uri 'none'">
        <meta name="referrer" content="no-referrer">
        <title>A &lt;page&gt;</title>
        </head>
        <body>
        <article>
        <pre>From: Ana &lt;ana@example.org&gt;
        Date: Tue, 05 Mar 2024 14:02:11 +0000
        Subject: A &lt;page&gt;
        Message-ID: 1@example.org
        Flags: seen
        File: CUR/1:2,S
        </pre>
        <hr>
        <p>Grüße<img><a href="https://example.org/" rel="noopener noreferrer">there</a>
        </p>
        </article>
        <hr>
        <article>
        <pre>From: Ana Example &lt;ana@example.org&gt;
        To: bo@example.org
        Date: Sun, 03 Mar 2024 12:00:00 +0000
        Subject: Text
        Message-ID: 2@example.org
        Flags: unread
        File: CUR/2:2,
        </pre>
        <hr>
        <pre>1 &lt; 2 &amp; 3</pre>
        </article>
        </body>
        </html>
        "##);
}

#[test]
fn sexp_has_the_text_too() {
    let home = Home::indexed();
    let line = home.good(&["view", "--format", "sexp", "id:3@example.org"]);
    assert!(line.ends_with(" :flags (flagged seen) :body-txt \"tubes under the city\")\n"), "{line}");
}

#[test]
fn raw_is_every_byte_of_the_file() {
    let home = Home::new();
    let mut content = letter("1", "Raw", "caf\u{e9}");
    content.extend_from_slice(b"\r\n\0\xff\x1b[2J without an end");
    home.deliver("", "1:2,", &content);
    home.first_index();
    let run = home.pneu(&["view", "--format", "raw", "id:1@example.org"]);
    assert_eq!((run.code, run.bytes), (Some(0), content.clone()));
    let piped = run_with_input(&mut home.command(&["view", "--format", "raw", "-"]), &content);
    assert_eq!((piped.code, piped.bytes), (Some(0), content));
}

#[test]
fn standard_input_is_shown_without_any_index() {
    let home = Home::new();
    let content = letter("1", "Piped", "through a tube");
    let shown = run_with_input(&mut home.command(&["view", "-"]), &content);
    assert_eq!((shown.code, shown.err.as_str()), (Some(0), ""));
    assert!(
        shown.out.ends_with("Subject: Piped\nMessage-ID: 1@example.org\n\nthrough a tube\n"),
        "{}",
        shown.out
    );
    let json = run_with_input(&mut home.command(&["view", "--format", "json", "-"]), &content);
    let json: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((&json["text"], &json["size"]), (&"through a tube".into(), &content.len().into()));
    let nothing = run_with_input(&mut home.command(&["view", "-"]), b"");
    assert_eq!(nothing.code, Some(0), "an empty message is a message: {nothing:?}");
}

#[test]
fn a_message_is_found_under_its_new_name() {
    let home = Home::indexed();
    let old = home.mail().join("cur/2:2,");
    let new = home.mail().join("cur/2:2,RS");
    fs::rename(&old, &new).unwrap();
    for handle in ["id:2@example.org", old.to_str().unwrap()] {
        let shown = home.good(&["view", handle]);
        assert!(shown.contains(&format!("File: {}\n", new.display())), "{shown}");
        assert!(shown.contains("hello again"));
    }
    fs::remove_file(&new).unwrap();
    let gone = home.pneu(&["view", "id:2@example.org"]);
    assert_eq!(gone.code, Some(2));
    assert!(gone.err.contains("is gone; run \"pneu index\" to find where it moved"), "{}", gone.err);
}

#[test]
fn another_copy_is_read_when_one_is_gone() {
    let home = Home::new();
    let content = letter("1", "Twice", "the same");
    let first = home.deliver("a", "1:2,S", &content);
    home.deliver("b", "1:2,S", &content);
    home.first_index();
    fs::remove_file(first).unwrap();
    assert!(home.good(&["view", "id:1@example.org"]).ends_with("the same\n"));
}

#[test]
fn a_file_that_holds_another_message_now_is_not_shown_for_the_old_one() {
    let home = Home::indexed();
    let path = home.mail().join("cur/1:2,S");
    fs::write(&path, letter("77", "Somebody else", "not what was asked for")).unwrap();
    let other = home.pneu(&["view", "id:1@example.org"]);
    assert_eq!((other.code, other.out.as_str()), (Some(2), ""));
    assert!(other.err.contains("holds another message now; run \"pneu index --thorough\""), "{}", other.err);
    assert!(
        home.good(&["view", path.to_str().unwrap()]).contains("not what was asked for"),
        "a path is what is in it"
    );
    // What is said helps, though the file has its name and its inode still.
    home.good(&["index", "--thorough"]);
    assert!(home.good(&["view", "id:77@example.org"]).contains("not what was asked for"));
    let gone = home.pneu(&["view", "id:1@example.org"]);
    assert!(!gone.err.contains("holds another message"), "{}", gone.err);
}

#[test]
fn a_draft_that_was_saved_again_is_shown_as_it_is_now() {
    let home = Home::indexed();
    let found: serde_json::Value =
        serde_json::from_str(&home.good(&["find", "--format", "json", "subject:first"])).unwrap();
    let path = home.mail().join("cur/1:2,S");
    fs::write(&path, letter("1", "First steps", "hello, rewritten")).unwrap();
    let by_content = home.pneu(&["view", &found["sha256"].as_str().unwrap()[..16]]);
    assert_eq!((by_content.code, by_content.out.as_str()), (Some(2), ""), "that content is nowhere any more");
    let shown = home.pneu(&["view", "id:1@example.org"]);
    assert_eq!(shown.code, Some(0));
    assert!(shown.out.ends_with("hello, rewritten\n"), "{}", shown.out);
    assert_eq!(shown.err, "pneu: the message changed since it was indexed; run \"pneu index --thorough\"\n");
}

#[test]
fn handles_that_name_nothing_are_one() {
    let home = Home::indexed();
    for (handle, part) in [
        ("id:nobody@example.org", "there is no message id:nobody@example.org"),
        ("/nowhere/cur/1:2,S", "there is no message /nowhere/cur/1:2,S"),
        ("subject:nothing", "no message matches it as a query"),
        ("0000000000000000", "no message matches it as a query"),
    ] {
        let none = home.pneu(&["view", handle]);
        assert_eq!((none.code, none.out.as_str()), (Some(1), ""), "{handle}: {none:?}");
        assert!(none.err.contains(part), "{}", none.err);
    }
}

#[test]
fn several_messages_of_one_id_are_told_of() {
    let home = Home::new();
    home.deliver("", "1:2,", &letter("1", "One way", "a"));
    home.deliver("", "2:2,", &letter("1", "Another way", "b"));
    home.first_index();
    let shown = home.pneu(&["view", "id:1@example.org"]);
    assert_eq!(shown.code, Some(0));
    assert!(shown.err.contains("1 more message has this Message-ID"), "{}", shown.err);
}

#[test]
fn a_compressed_message_is_shown_unpacked_and_its_raw_bytes_are_those_of_the_file() {
    let home = Home::new();
    let content = letter("1", "Packed", "squeezed");
    let length = u8::try_from(content.len()).unwrap();
    let [low, high, ..] = (u32::from(length) << 3 | 1).to_le_bytes();
    // A zstd frame with one block that is stored as it is.
    let packed = [&[0x28, 0xb5, 0x2f, 0xfd, 0x20, length, low, high, 0][..], &content].concat();
    home.deliver("", "1:2,S", &packed);
    home.first_index();
    assert!(home.good(&["view", "id:1@example.org"]).ends_with("\n\nsqueezed\n"));
    assert_eq!(home.pneu(&["view", "--format", "raw", "id:1@example.org"]).bytes, packed);
}

#[test]
fn a_file_without_an_index_shows_the_flags_of_its_name() {
    let home = Home::new();
    let old = home.deliver("", "1:2,FS", &letter("1", "Old", "a"));
    let new = home.folder("").join("new/2");
    fs::write(&new, letter("2", "New", "b")).unwrap();
    assert!(home.good(&["view", old.to_str().unwrap()]).contains("\nFlags: flagged seen\n"));
    assert!(home.good(&["view", new.to_str().unwrap()]).contains("\nFlags: new unread\n"));
}
