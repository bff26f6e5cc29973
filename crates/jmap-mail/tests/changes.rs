//! Email/changes and Thread/changes.

use crate::support::{Fixture, message, text};
use serde_json::{Value, json};
use std::fs;

/// Returns the sorted ids that a response has under each name.
fn lists(changes: &Value) -> [Vec<String>; 3] {
    ["created", "updated", "destroyed"].map(|name| {
        let mut ids: Vec<String> =
            changes[name].as_array().unwrap_or_else(|| panic!("{changes}")).iter().map(text).collect();
        ids.sort();
        ids
    })
}

#[test]
fn emails_are_created_updated_and_destroyed() {
    let fixture = Fixture::new(&["mail"]);
    let one = fixture.put("mail", "1.x:2,", &message("one", 1, "", ""));
    let two = fixture.put("mail", "2.x:2,", &message("two", 2, "", ""));
    fixture.put("mail", "3.x:2,", &message("three", 3, "", ""));
    fixture.put("mail", "4.x:2,", &message("four", 4, "", ""));
    fixture.update();
    let state = fixture.state();
    let id = |name: &str| fixture.id_of(name);
    let (id_one, id_two, id_three) = (id("one"), id("two"), id("three"));
    fixture.rename(&one, "mail/cur/1.x:2,S");
    fs::remove_file(two).unwrap();
    let short = fixture.put("mail", "5.x:2,", &message("short", 5, "", ""));
    fixture.put("mail", "6.x:2,", &message("six", 6, "", ""));
    fixture.update();
    fs::remove_file(short).unwrap();
    fixture.update();
    fixture.tag("subject:three", "work");
    let changes = fixture.call("Email/changes", json!({"sinceState": state}));
    let mut updated = vec![id_one, id_three];
    updated.sort();
    assert_eq!(lists(&changes), [vec![id("six")], updated, vec![id_two.clone()]]);
    let limited = json!({"sinceState": state, "maxChanges": 3});
    assert_eq!(fixture.error("Email/changes", limited), "cannotCalculateChanges");
    let now = text(&changes["newState"]);
    let none = fixture.call("Email/changes", json!({"sinceState": now}));
    assert_eq!(lists(&none), [vec![], vec![], vec![]] as [Vec<String>; 3]);
    // It comes back.
    fixture.put("mail", "2.x:2,", &message("two", 2, "", ""));
    fixture.update();
    let back = fixture.call("Email/changes", json!({"sinceState": now}));
    assert_eq!(lists(&back), [vec![id_two], vec![], vec![]]);
}

#[test]
fn what_can_be_told_does_not_end_where_a_message_joins_threads() {
    let fixture = Fixture::new(&["mail"]);
    // A thread is named by what came first.
    let gone = fixture.put("mail", "4.x:2,", &message("four", 4, "", ""));
    fixture.update();
    fixture.put("mail/Other", "0.x:2,", &message("other", 4, "", ""));
    fixture.put("mail", "1.x:2,", &message("one", 1, "References: <zero@x> <half@x>\n", ""));
    fixture.put("mail", "2.x:2,", &message("two", 2, "", ""));
    fixture.put("mail", "3.x:2,", &message("three", 3, "References: <zero@x>\n", ""));
    fixture.update();
    fs::remove_file(gone).unwrap();
    fixture.update();
    let changes = |since: &str| {
        ["Email/changes", "Thread/changes"].map(|method| fixture.call(method, json!({"sinceState": since})))
    };
    let state = fixture.state();
    // Answers, also to a message that is not there, join nothing that was there.
    fixture.put("mail", "5.x:2,", &message("five", 5, "References: <half@x> <three@x>\n", ""));
    fixture.put("mail", "6.x:2,", &message("six", 6, "References: <two@x> <new@x>\n", ""));
    fixture.update();
    let [emails, threads] = changes(&state).map(|changes| lists(&changes).map(|list| list.len()));
    assert_eq!((emails, threads), ([2, 0, 0], [0, 2, 0]));
    for (name, references) in [("7.x:2,", "<two@x> <one@x>"), ("8.x:2,", "<four@x> <three@x>")] {
        let state = fixture.state();
        fixture.put("mail", name, &message(name, 7, &format!("References: {references}\n"), ""));
        fixture.update();
        let [emails, threads] = changes(&state).map(|changes| lists(&changes).map(|list| list.len()));
        assert_eq!((emails, threads), ([1, 0, 0], [0, 1, 0]), "{references}");
    }
}

#[test]
fn threads_change_with_their_emails() {
    let fixture = Fixture::new(&["mail"]);
    fixture.put("mail", "1.x:2,", &message("one", 1, "", ""));
    let two = fixture.put("mail", "2.x:2,", &message("two", 2, "", ""));
    let three = fixture.put("mail", "3.x:2,", &message("three", 3, "", ""));
    fixture.update();
    let thread = |name: &str| {
        let ids = json!({"ids": [fixture.id_of(name)], "properties": ["threadId"]});
        text(&fixture.call("Email/get", ids)["list"][0]["threadId"])
    };
    let (state, of_one, of_two) = (fixture.state(), thread("one"), thread("two"));
    fixture.put("mail", "4.x:2,", &message("four", 4, "In-Reply-To: <one@x>\n", ""));
    fixture.put("mail", "5.x:2,", &message("five", 5, "", ""));
    fs::remove_file(two).unwrap();
    // The emails of its thread stay the same.
    fixture.rename(&three, "mail/cur/3.x:2,S");
    fixture.update();
    let changes = fixture.call("Thread/changes", json!({"sinceState": state}));
    assert_eq!(lists(&changes), [vec![thread("five")], vec![of_one], vec![of_two]]);
}

#[test]
fn threads_change_with_emails_that_are_removed_for_good() {
    let fixture = Fixture::new(&["mail"]);
    fixture.put("mail", "1.x:2,", &message("one", 1, "", ""));
    fixture.put("mail", "2.x:2,", &message("two", 2, "In-Reply-To: <one@x>\n", ""));
    fixture.put("mail", "3.x:2,", &message("three", 3, "", ""));
    fixture.update();
    let thread = |name: &str| {
        let ids = json!({"ids": [fixture.id_of(name)], "properties": ["threadId"]});
        text(&fixture.call("Email/get", ids)["list"][0]["threadId"])
    };
    let (state, of_one, of_three) = (fixture.state(), thread("one"), thread("three"));
    let gone = [fixture.id_of("one"), fixture.id_of("three")];
    let set = fixture.call("Email/set", json!({"destroy": gone}));
    assert_eq!(set["destroyed"].as_array().map(Vec::len), Some(2), "{set}");
    let changes = fixture.call("Thread/changes", json!({"sinceState": state}));
    assert_eq!(lists(&changes), [vec![], vec![of_one], vec![of_three]]);
}
