//! Action/get and Action/undo.

use crate::support::{Fixture, answers_within, message, text};
use jmap::{Limits, Request};
use jmap_mail::{ACTIONS, CAPABILITIES};
use pneu::Cancel;
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};

fn fixture() -> Fixture {
    let fixture = Fixture::new(&["mail"]);
    for (number, name) in [(1, "one"), (2, "two")] {
        fixture.put("mail", &format!("{number}.x:2,"), &message(name, number, "", "text"));
    }
    fixture.put("mail/.Archive", "3.x:2,S", &message("three", 3, "", "text"));
    fixture.update();
    fixture
}

fn set_all(fixture: &Fixture, patch: &Value) {
    let all = fixture.call("Email/query", json!({"filter": {"inMailbox": fixture.mailbox("Inbox")}}));
    let ids = all["ids"].as_array().expect("ids").iter();
    let update: serde_json::Map<_, _> = ids.map(|id| (text(id), patch.clone())).collect();
    let done = fixture.call("Email/set", json!({"update": update}));
    assert_eq!(done["notUpdated"], Value::Null, "{done}");
}

/// Marks two emails as read, and moves both.
fn act(fixture: &Fixture) -> [String; 2] {
    let [inbox, archive] = ["Inbox", "Archive"].map(|name| fixture.mailbox(name));
    set_all(fixture, &json!({"keywords/$seen": true}));
    set_all(fixture, &json!({format!("mailboxIds/{inbox}"): null, format!("mailboxIds/{archive}"): true}));
    [inbox, archive]
}

#[test]
fn actions_are_data_the_newest_first() {
    let fixture = fixture();
    assert_eq!(fixture.call("Action/get", json!({"ids": null}))["list"], json!([]));
    let [inbox, archive] = act(&fixture);
    let mut all = fixture.call("Action/get", json!({"ids": null}));
    let at = all["list"][0]["at"].take();
    assert!(text(&at).ends_with('Z'), "{at}");
    let expected = json!({
        "id": "A2", "at": null, "kind": "move", "counts": {"files": 2}, "text": "2 files moved",
        "fromMailboxIds": [inbox], "toMailboxIds": [archive],
    });
    assert_eq!(all["list"][0], expected);
    let some = json!({"ids": ["A1", "A3", "A01", "x"], "properties": ["text", "kind"]});
    let some = fixture.call("Action/get", some);
    assert_eq!(some["list"], json!([{"id": "A1", "kind": "flag", "text": "2 files changed"}]));
    assert_eq!(some["notFound"], json!(["A3", "A01", "x"]));
    assert_eq!(some["state"], all["state"]);
    assert_eq!(fixture.error("Action/get", json!({"ids": null, "properties": ["x"]})), "invalidArguments");
    for method in ["Action/get", "Action/undo"] {
        let other = fixture.answers(&json!([[method, {"accountId": "x"}, "c"]]));
        assert_eq!(other[0][1]["type"], "accountNotFound", "{other}");
    }
    assert!(!all.to_string().contains(&fixture.path("").display().to_string()), "{all}");
}

#[test]
fn an_undo_says_what_it_did() {
    let fixture = fixture();
    let [inbox, archive] = act(&fixture);
    let before = fixture.call("Action/get", json!({"ids": null}))["state"].take();
    // Only the newest can be undone, and nothing happens else.
    assert_eq!(fixture.error("Action/undo", json!({"id": "A1"})), "stateMismatch");
    assert_eq!(fixture.error("Action/undo", json!({"id": "x"})), "stateMismatch");
    assert_eq!(fixture.files("mail/.Archive").len(), 3);
    let done = fixture.call("Action/undo", json!({"id": "A2"}));
    let undone = &done["undone"];
    assert_eq!(undone["kind"], "move", "{done}");
    assert_eq!((&undone["counts"], &undone["restored"]), (&json!({"files": 2}), &json!(2)));
    assert_eq!((&undone["left"], &undone["fromMailboxIds"]), (&json!([]), &json!([inbox])));
    assert_eq!(undone["toMailboxIds"], json!([archive]));
    assert_ne!(fixture.call("Action/get", json!({"ids": null}))["state"], before);
    assert_eq!(fixture.files("mail"), ["cur/1.x:2,S", "cur/2.x:2,S"]);
    // The same request sees it.
    let answers = fixture.answers(&json!([
        ["Action/undo", {"accountId": "mail"}, "a"],
        ["Email/query", {"accountId": "mail", "filter": {"notKeyword": "$seen"}}, "b"],
        ["Action/undo", {"accountId": "mail"}, "c"],
    ]));
    assert_eq!(answers[0][1]["undone"]["id"], "A1", "{answers}");
    assert_eq!(answers[1][1]["ids"].as_array().map(Vec::len), Some(2), "{answers}");
    assert_eq!(answers[2][1]["undone"], Value::Null, "{answers}");
    assert_eq!(fixture.error("Action/undo", json!({"id": "A1"})), "stateMismatch");
    assert_eq!(fixture.error("Action/undo", json!({"ids": null})), "invalidArguments");
}

#[test]
fn what_is_left_alone_is_told_without_paths() {
    let fixture = fixture();
    let [_, archive] = act(&fixture);
    fs::write(fixture.path("mail/.Archive/cur/1.x:2,S"), "another message").expect("a file");
    let done = fixture.call("Action/undo", json!({}));
    let undone = &done["undone"];
    assert_eq!((&undone["restored"], &undone["left"][0]["count"]), (&json!(1), &json!(1)), "{done}");
    assert_eq!(undone["left"][0]["mailboxId"], json!(archive));
    assert!(!text(&undone["left"][0]["why"]).is_empty());
    assert!(!done.to_string().contains(&fixture.path("").display().to_string()), "{done}");
}

#[test]
fn an_undo_that_waits_for_another_process_ends_with_its_request() {
    let fixture = fixture();
    act(&fixture);
    let lock = fs::File::create(fixture.path("data/user/actions/lock")).expect("a file");
    lock.lock().expect("a lock");
    for method in ["Action/undo", "Action/get"] {
        let cancel = Cancel::new().with_deadline(Instant::now() + Duration::from_millis(50));
        let mut account = fixture.account().with_cancel(cancel);
        let calls = json!([[method, {"accountId": "mail"}, "c"]]);
        let error = answers_within(&mut account, &calls, &Limits::default())[0][1].take();
        assert_eq!(error["type"], "serverUnavailable", "{method} {error}");
    }
    drop(lock);
    assert_eq!(fixture.call("Action/undo", json!({}))["undone"]["id"], "A2");
}

#[test]
fn a_request_must_name_the_capability() {
    let fixture = fixture();
    let limits = Limits::default();
    let using: Vec<&str> = CAPABILITIES.into_iter().filter(|name| *name != ACTIONS).collect();
    let request = json!({"using": using, "methodCalls": [["Action/get", {"accountId": "mail"}, "c"]]});
    let request = Request::read(request.to_string().as_bytes(), &limits, &CAPABILITIES).expect("a request");
    let answer = jmap::run(request, &limits, &mut fixture.account()).into_json();
    assert_eq!(answer["methodResponses"][0][1]["type"], "unknownMethod", "{answer}");
}
