//! Tests `pneu tag`: tags by query, stored outside the index.
//!
//! Input: indexed mail and changes. Output: what is then found and printed. Does not depend on where tags are
//! stored.

use crate::support::Home;
use std::fs;

#[test]
fn tags_are_given_found_listed_and_taken_away() {
    let home = Home::indexed();
    assert_eq!(home.good(&["tag", "+work", "+later", "--", "hello"]), "2 messages: 2 changed\n");
    assert_eq!(home.good(&["tag", "-later", "--", "subject:first"]), "1 message: 1 changed\n");
    assert_eq!(home.good(&["tag"]), "       1 later\n       2 work\n");
    assert_eq!(home.subjects("tag:work"), ["Second thoughts", "First steps"]);
    assert_eq!(home.subjects("tag:work and not tag:later"), ["First steps"]);
    assert_eq!(home.good(&["find", "--fields", "x s", "tag:later"]), "later,work       Second thoughts\n");
    let shown = home.good(&["view", "--format", "json", "id:2@example.org"]);
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&shown).unwrap()["tags"].to_string(),
        r#"["later","work"]"#
    );
    // The index is gone and made again: tags are no part of it.
    fs::remove_dir_all(home.index_directory()).unwrap();
    home.first_index();
    assert_eq!(home.subjects("tag:later"), ["Second thoughts"]);
    assert_eq!(home.good(&["tag", "--quiet", "-work", "-later", "--", "*"]), "");
    let none = home.pneu(&["tag"]);
    assert_eq!((none.code, none.out.as_str()), (Some(1), ""));
}

#[test]
fn mistakes_are_told_and_change_nothing() {
    let home = Home::indexed();
    for (arguments, code, part) in [
        (&["tag", "+a b", "--", "hello"][..], 2, "\"a b\" cannot be a tag: a tag has neither white space"),
        (&["tag", "+", "--", "hello"], 2, "\"\" cannot be a tag: a tag has at least one character"),
        (&["tag", "hello"], 2, "no tag is given"),
        (&["tag", "+a", "--"], 2, "no query is given"),
        (&["tag", "+a", "--", "form:bob"], 2, "did you mean \"from:\"?"),
        (&["tag", "+a", "--", "nowhere"], 1, "no message matches"),
    ] {
        let wrong = home.pneu(arguments);
        assert_eq!((wrong.code, wrong.out.as_str()), (Some(code), ""), "{arguments:?}");
        assert!(wrong.err.contains(part), "{arguments:?}: {}", wrong.err);
    }
    assert!(!home.data().join("user").exists());
}

#[test]
fn damaged_tags_are_told_and_the_rest_goes_on() {
    let home = Home::indexed();
    home.good(&["tag", "+work", "--", "hello"]);
    let manifest = home.data().join("user/manifest");
    let mut bytes = fs::read(&manifest).unwrap();
    bytes[20] ^= 1;
    fs::write(&manifest, bytes).unwrap();
    assert_eq!(home.subjects("hello").len(), 2, "a query without tags does not need them");
    for arguments in [&["find", "tag:work"][..], &["tag"], &["tag", "+x", "--", "hello"]] {
        let wrong = home.pneu(arguments);
        assert_eq!((wrong.code, wrong.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(wrong.err.contains("user/manifest is damaged"), "{arguments:?}: {}", wrong.err);
    }
}

#[test]
fn people_are_listed() {
    let home = Home::indexed();
    assert_eq!(home.good(&["contacts"]), "Ana Example <ana@example.org>\nbo@example.org\n");
    assert_eq!(home.good(&["contacts", "-n", "1", "EXAMPLE"]), "Ana Example <ana@example.org>\n");
    let line = home.good(&["contacts", "--format", "json", "bo@"]);
    let value: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!((value["sent"].as_u64(), value["received"].as_u64()), (Some(0), Some(4)));
    assert_eq!((value["address"].as_str(), value["name"].as_str()), (Some("bo@example.org"), Some("")));
    let none = home.pneu(&["contacts", "nobody"]);
    assert_eq!((none.code, none.err.as_str()), (Some(1), "pneu: no person matches\n"));
}
