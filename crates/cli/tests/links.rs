//! Tests how `view` shows where the links of HTML lead.
//!
//! Input: HTML with honest and deceptive links. Output: what is shown, and that nothing else changes. Does
//! not depend on how HTML is read.

use crate::support::{Home, run_with_input};

const LETTER: &str = "From: Ana <ana@example.org>\nSubject: Links\nMessage-ID: <1@x>\n\
    Date: Tue, 5 Mar 2024 15:02:11 +0100\nContent-Type: text/html; charset=utf-8\n\n\
    <p>Read <a href=\"https://news.example/1?a=1&amp;b=2\">the news</a> or \
    <a href=mailto:ana@example.org>write</a>.\n\
    <p>Your bank: <a href=https://evil.example/login>https://bank.example</a>\n\
    <p>Itself: <a href=https://itself.example/>itself.example</a>, <a href=#top>top</a>, \
    <a href=/x>here</a>, \
    <a href=javascript:alert(1)>run</a>, <a href=\"x:\x1b]0;owned\x07\u{202e}\">odd</a>\n\
    <p><a href=https://news.example/1?a=1&amp;b=2>again</a> \
    <a href=https://shop.example/><img src=x></a>\n";

fn shown(home: &Home, options: &[&str], letter: &str) -> String {
    let arguments = [&["view"], options, &["-"]].concat();
    let run = run_with_input(&mut home.command(&arguments), letter.as_bytes());
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    run.out
}

#[test]
fn links_are_numbered_and_listed_below() {
    let home = Home::new();
    let text = shown(&home, &[], LETTER);
    insta::assert_snapshot!(text.replace('\u{fffd}', "?"), @r"
    From: Ana <ana@example.org>
    Date: Tue, 05 Mar 2024 14:02:11 +0000
    Subject: Links
    Message-ID: 1@x

    Read the news[1] or write[2].

    Your bank: https://bank.example[3]

    Itself: itself.example, top, here, run[4], odd[5]

    again[1]

    Links:
    [1] https://news.example/1?a=1&b=2
    [2] mailto:ana@example.org
    [3] https://evil.example/login
    [4] javascript:alert(1)
    [5] x:?]0;owned??
    [6] https://shop.example/ (picture)
    ");
    let without = shown(&home, &["--no-links"], LETTER);
    assert!(without.ends_with("here, run, odd\n\nagain\n"), "{without}");
    let plain = "Subject: x\n\nsee <a href=https://a.example/>this</a>\n";
    assert_eq!(shown(&home, &[], plain), shown(&home, &["--no-links"], plain));
    // A page has its own links.
    assert!(!shown(&home, &["-o", "html"], LETTER).contains("[1]"));
}

#[test]
fn records_have_links_and_the_text_as_it_is() {
    let home = Home::new();
    let json = |options: &[&str]| -> serde_json::Value {
        serde_json::from_str(&shown(&home, &[&["-o", "json"], options].concat(), LETTER)).unwrap()
    };
    let with = json(&[]);
    let links = with["links"].as_array().unwrap();
    assert_eq!(links.len(), 8);
    assert_eq!(
        links[2],
        serde_json::json!({"text": "https://bank.example", "target": "https://evil.example/login"})
    );
    assert_eq!(links[7], serde_json::json!({"text": "", "target": "https://shop.example/"}));
    let mut without = json(&["--no-links"]);
    assert_eq!(without.get("links"), None);
    without["links"] = with["links"].clone();
    assert_eq!(without, with);
    let many = format!("Content-Type: text/html\n\n{}", "<a href=x:1>one</a> ".repeat(502));
    let many: serde_json::Value = serde_json::from_str(&shown(&home, &["-o", "json"], &many)).unwrap();
    assert_eq!((many["links"].as_array().unwrap().len(), many["links_left_out"].as_u64()), (500, Some(2)));
    let sexp = shown(&home, &["-o", "sexp"], LETTER);
    assert!(
        sexp.contains("(:target \"https://shop.example/\")") && sexp.contains(":text \"the news\")"),
        "{sexp}"
    );
}

#[test]
fn targets_are_neither_searched_nor_part_of_what_makes_copies() {
    let home = Home::new();
    home.deliver("", "1:2,S", LETTER.as_bytes());
    home.first_index();
    assert_eq!(home.subjects("news"), ["Links"]);
    assert_eq!(home.subjects("evil"), [""; 0]);
    assert_eq!(home.subjects("body:/evil/"), [""; 0]);
}
