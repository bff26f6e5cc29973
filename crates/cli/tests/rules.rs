//! Tests rules for new messages: which messages get tags, when, and only once.
//!
//! Input: a home with a configuration. Output: tags. Does not depend on how queries are answered.

use crate::support::{Home, letter, run_with_input};
use std::fs;

const RULES: &str = "[[rule]]\nquery = \"subject:list\"\ntag = \"+list +inbox\"\n\
                     [[rule]]\nquery = \"body:boring\"\ntag = \"-inbox\"\n";

#[test]
fn rules_tag_new_messages_once_and_in_order() {
    let home = Home::new();
    home.configure(RULES);
    home.deliver("", "1:2,", &letter("1", "list one", "x"));
    home.first_index();
    assert_eq!(home.subjects("tag:list"), [""; 0], "what the first index finds is not new");
    home.deliver("", "2:2,", &letter("2", "list two", "x"));
    home.deliver("", "3:2,", &letter("3", "list three", "boring"));
    home.deliver("", "4:2,", &letter("4", "other", "x"));
    home.good(&["index"]);
    assert_eq!(home.subjects("tag:list"), ["list three", "list two"]);
    assert_eq!(home.subjects("tag:inbox"), ["list two"]);
    // Once: what the user changed stays, whatever happens to the files.
    home.good(&["tag", "-list", "--", "two"]);
    home.good(&["flag", "+S", "--", "two"]);
    home.folder("other");
    home.good(&["index"]);
    home.good(&["move", "two", "other"]);
    fs::remove_dir_all(home.index_directory()).unwrap();
    home.first_index();
    home.good(&["check", "--repair"]);
    home.good(&["index"]);
    assert_eq!(home.subjects("tag:list"), ["list three"]);
    // After that, new ones are new again; a copy of an old one is not.
    home.deliver("", "5:2,", &letter("5", "list five", "x"));
    let mut copy = b"Received: by another way\n".to_vec();
    copy.extend(letter("2", "list two", "x"));
    home.deliver("other", "6:2,", &copy);
    home.good(&["index"]);
    assert_eq!(home.subjects("tag:list"), ["list five", "list three"]);
}

#[test]
fn a_delivery_is_new_and_its_own_tags_win() {
    let home = Home::new();
    home.configure(RULES);
    home.deliver("", "1:2,", &letter("1", "list one", "x"));
    home.first_index();
    let deliver = |arguments: &[&str], id: &str, subject: &str| {
        let run = run_with_input(&mut home.command(arguments), &letter(id, subject, "boring"));
        assert_eq!(run.code, Some(0), "{run:?}");
        run.err
    };
    deliver(&["deliver", "--tag", "inbox", "/"], "2", "list two");
    assert_eq!(home.subjects("tag:list tag:inbox"), ["list two"]);
    home.configure(
        "[[rule]]\nquery = \"(\"\ntag = \"+x\"\n[[rule]]\nquery = \"subject:list\"\ntag = \"+y\"\n",
    );
    let said = deliver(&["deliver", "/"], "3", "list three");
    assert!(said.starts_with("pneu: the message is delivered without rule 1: "), "{said}");
    assert!(said.ends_with("; the other rule was followed\n") && said.lines().count() == 1, "{said}");
    assert_eq!(home.subjects("tag:y"), ["list three"], "the other rules are followed");
}

#[test]
fn a_wrong_query_is_told_by_its_number_and_the_pass_goes_on() {
    let home = Home::new();
    home.deliver("", "1:2,", &letter("1", "one", "x"));
    home.first_index();
    home.configure(
        "[[rule]]\nquery = \"one\"\ntag = \"+a\"\n[[rule]]\nquery = \"query:none\"\ntag = \"+b\"\n",
    );
    home.deliver("", "2:2,", &letter("2", "two one", "x"));
    let run = home.pneu(&["index"]);
    assert_eq!(run.code, Some(3), "{run:?}");
    assert_eq!(run.err, "pneu: rule 2: there is no saved query \"none\"\n");
    assert!(run.out.contains(" 0 unreadable;"), "{run:?}");
    assert_eq!(home.subjects("tag:a"), ["two one"]);
    home.good(&["index"]);
    home.configure("[[rule]]\nquery = \"one\"\ntag = \"a\"\n");
    let wrong = home.pneu(&["index"]);
    assert!(
        wrong.code == Some(2) && wrong.err.contains("rule 1: \"a\" does not begin with + or -"),
        "{wrong:?}"
    );
}

#[test]
fn rules_that_are_added_later_are_for_later_messages() {
    let home = Home::new();
    home.configure(RULES);
    home.first_index();
    home.deliver("", "1:2,", &letter("1", "list one", "x"));
    home.good(&["index"]);
    home.configure("");
    home.deliver("", "2:2,", &letter("2", "list two", "x"));
    home.good(&["index"]);
    home.configure(RULES);
    home.deliver("", "3:2,", &letter("3", "list three", "x"));
    home.good(&["index"]);
    assert_eq!(home.subjects("tag:list"), ["list three", "list one"]);
}
