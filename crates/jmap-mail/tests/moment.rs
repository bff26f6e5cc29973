//! The argument `moment`: mail as it was when a snapshot was made.

use crate::archive::{backed_up, call};
use crate::support::{Fixture, message, text};
use pneu::archive::{SharedArchive, Unopened};
use restic::testing::CLOCK_NS;
use serde_json::{Value, json};
use std::fs;

/// Returns a moment so many seconds after the backup, in its year.
fn moment(seconds: i64) -> String {
    jmap::Date::utc(CLOCK_NS / 1_000_000_000 + seconds).text().expect("the fixture works")
}

fn fixture() -> (Fixture, SharedArchive) {
    let fixture = Fixture::new(&["mail"]);
    fixture.put("mail", "1.x:2,", &message("apple", 1, "", "red fruit"));
    let pear = fixture.put("mail", "2.x:2,S", &message("pear", 2, "", "green fruit"));
    fixture.put("mail/Old", "3.x:2,F", &message("plum", 3, "", "blue fruit"));
    fixture.update();
    let archive = backed_up(&fixture);
    // Now one is read, one is in another folder, one is gone, a folder is gone, and one came.
    fixture.rename(&fixture.path("mail/cur/1.x:2,"), "mail/cur/1.x:2,S");
    fs::remove_file(pear).expect("the fixture works");
    fixture.put("mail/New", "3.x:2,", &message("plum", 3, "", "blue fruit"));
    fs::remove_dir_all(fixture.path("mail/Old")).expect("the fixture works");
    fixture.put("mail", "4.x:2,", &message("fig", 4, "", "late fruit"));
    fixture.update();
    (fixture, archive)
}

#[test]
fn mail_is_found_and_shown_as_it_stood() {
    let (fixture, archive) = fixture();
    let call = |method: &str, arguments: Value| call(&fixture, &archive, method, arguments);
    // The cache of mailboxes has those of today.
    let inbox_today = fixture.mailbox("Inbox");
    let then = moment(0);
    let boxes = call("Mailbox/get", json!({"ids": null, "moment": &then}));
    let boxes = boxes["list"].as_array().unwrap();
    let names: Vec<String> = boxes.iter().map(|one| text(&one["name"])).collect();
    assert_eq!(names, ["Inbox", "Old"]);
    assert_eq!((&boxes[0]["totalEmails"], &boxes[0]["unreadEmails"]), (&json!(2), &json!(1)));
    assert_eq!(boxes[0]["id"].as_str(), Some(&*inbox_today), "it is the same mailbox");
    let (inbox, old) = (boxes[0]["id"].clone(), boxes[1]["id"].clone());
    let subjects = |filter: Value| {
        let query = call("Email/query", json!({"filter": filter, "moment": &then}));
        let get = json!({"ids": query["ids"], "properties": ["subject"], "moment": &then});
        let got = call("Email/get", get);
        let subjects: Vec<String> =
            got["list"].as_array().unwrap().iter().map(|email| text(&email["subject"])).collect();
        subjects.join(" ")
    };
    for (filter, expected) in [
        (json!({}), "plum pear apple"),
        (json!({"inMailbox": inbox}), "pear apple"),
        (json!({"inMailbox": old}), "plum"),
        (json!({"hasKeyword": "$seen"}), "pear"),
        (json!({"pneuQuery": "flag:flagged or maildir:/New"}), "plum"),
        (json!({"body": "late"}), ""),
    ] {
        assert_eq!(subjects(filter.clone()), expected, "{filter}");
    }
    let ids = call("Email/query", json!({"moment": &then}));
    let expected: Vec<Value> = vec![moment(0).into()];
    assert_eq!(ids["asOf"], json!(expected));
    let get = json!({
        "ids": ids["ids"], "properties": ["mailboxIds", "keywords", "isDeleted", "bodyValues"],
        "fetchTextBodyValues": true, "moment": &then,
    });
    let got = call("Email/get", get);
    let list = got["list"].as_array().unwrap();
    assert_eq!(list[0]["mailboxIds"], json!({old.as_str().unwrap(): true}));
    assert_eq!((&list[0]["keywords"], &list[2]["keywords"]), (&json!({"$flagged": true}), &json!({})));
    let gone: Vec<&Value> = list.iter().map(|email| &email["isDeleted"]).collect();
    assert_eq!(gone, [false, true, false]);
    assert_eq!(list[1]["bodyValues"]["1"]["value"], "green fruit\n", "the archive has it");
    // Afterwards everything is as it is.
    assert_eq!(fixture.subjects(json!({})), "fig plum apple");
    assert_eq!(fixture.subjects(json!({"filter": {"hasKeyword": "$seen"}})), "apple");
    let later = call("Email/query", json!({"moment": moment(1_000_000)}));
    assert_eq!(later["ids"], ids["ids"], "the latest backup counts");
}

#[test]
fn a_moment_that_nobody_can_show_is_refused() {
    let (fixture, archive) = fixture();
    let call = |archive: &SharedArchive, more: Value| {
        let mut arguments = json!({"moment": moment(-1)});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call(&fixture, archive, "Email/query", arguments)
    };
    let early = call(&archive, json!({}));
    assert_eq!((&early["type"], &early["arguments"]), (&json!("invalidArguments"), &json!(["moment"])));
    assert_eq!(early["firstMoment"], moment(0));
    assert_eq!(call(&archive, json!({"moment": "yesterday"}))["type"], "invalidArguments");
    let both = call(&archive, json!({"moment": moment(0), "archived": "with"}));
    assert_eq!(both["arguments"], json!(["archived"]));
    assert!(call(&archive, json!({"moment": null}))["ids"].is_array());
    let closed = SharedArchive::new(|| Err(Unopened::Failed("/secret/place".to_owned())));
    let error = call(&closed, json!({}));
    assert_eq!(error["type"], "archiveUnavailable");
    assert!(!error.to_string().contains("secret"), "{error}");
    assert_eq!(fixture.error("Email/query", json!({"moment": moment(0)})), "archiveUnavailable");
}

#[test]
fn the_last_moment_is_shown_anew_after_a_commit() {
    let (fixture, archive) = fixture();
    let find = |text: &str| {
        let query = json!({"moment": moment(0), "filter": {"hasKeyword": text}});
        call(&fixture, &archive, "Email/query", query)["ids"].as_array().unwrap().len()
    };
    assert_eq!((find("ripe"), find("$flagged")), (0, 1));
    fixture.tag("subject:apple", "ripe");
    assert_eq!((find("ripe"), find("$flagged")), (1, 1));
}
