//! Email/set of emails that are there: keywords, mailboxes, destruction, and what becomes of the files.

use crate::support::{Fixture, message, text};
use jmap::{Limits, Request};
use jmap_mail::CAPABILITIES;
use pneu::Cancel;
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};

/// Three messages in the inbox; one of them is filed, too.
fn fixture() -> Fixture {
    let fixture = Fixture::new(&["mail"]);
    fixture.put("mail", "1.x:2,", &message("one", 1, "", "first"));
    fixture.put("mail", "2.x:2,FS", &message("two", 2, "", "second"));
    fixture.put("mail", "3.x:2,S", &message("three", 3, "X-Keywords: Given\n", "third"));
    fixture.put("mail/.Archive", "4.x:2,", &message("one", 1, "", "first"));
    fixture.put("mail/.Old", "5.x:2,S", &message("five", 5, "", "fifth"));
    fixture.update();
    fixture
}

/// Sets one email, by a patch of the email with a subject.
fn set(fixture: &Fixture, subject: &str, patch: Value) -> Value {
    let id = fixture.id_of(subject);
    fixture.call("Email/set", json!({"update": {id: patch}}))
}

fn keywords(fixture: &Fixture, subject: &str) -> String {
    let email = fixture.call("Email/get", json!({"ids": [fixture.id_of(subject)]}))["list"][0].take();
    let names = email["keywords"].as_object().expect("an object").keys().cloned();
    names.collect::<Vec<_>>().join(" ")
}

fn kinds(fixture: &Fixture) -> Vec<String> {
    let undoable = fixture.host.undoable().expect("the fixture works");
    undoable.iter().map(|action| format!("{:?}", action.kind)).collect()
}

#[test]
fn keywords_are_flags_of_all_files_and_tags() {
    let fixture = fixture();
    let before = fixture.state();
    let response = set(&fixture, "one", json!({"keywords/$Seen": true, "keywords/todo": true}));
    let id = fixture.id_of("one");
    assert_eq!(response["updated"], json!({id: null}), "{response}");
    assert_eq!((&response["oldState"], &response["newState"]), (&json!(before), &json!(fixture.state())));
    assert_eq!(fixture.files("mail"), ["cur/1.x:2,S", "cur/2.x:2,FS", "cur/3.x:2,S"]);
    assert_eq!(fixture.files("mail/.Archive"), ["cur/4.x:2,S"]);
    assert_eq!(keywords(&fixture, "one"), "$seen todo");
    let changes = fixture.call("Email/changes", json!({"sinceState": before}));
    assert_eq!(changes["updated"], json!([fixture.id_of("one")]));
    // A whole object says what is left out, too.
    set(&fixture, "one", json!({"keywords": {"$answered": true, "$DRAFT": true, "a=3db": true}}));
    assert_eq!(keywords(&fixture, "one"), "$answered $draft a=3db");
    assert_eq!(fixture.files("mail/.Archive"), ["cur/4.x:2,DR"]);
    set(&fixture, "one", json!({"keywords": null}));
    assert_eq!(keywords(&fixture, "one"), "");
    assert_eq!(kinds(&fixture), ["Flag"; 3], "and a tag is no action on files");
    assert_eq!(fixture.undo(), "Flag 2");
    assert_eq!(keywords(&fixture, "one"), "$answered $draft");
}

#[test]
fn a_tag_is_written_as_the_user_writes_it() {
    let fixture = fixture();
    fixture.tag("subject:two", "Work");
    set(&fixture, "one", json!({"keywords/work": true}));
    let view = fixture.host.view().expect("a view");
    assert_eq!(view.tags().expect("tags").into_keys().collect::<Vec<_>>(), ["Work"]);
    for (subject, patch) in [("two", json!({"keywords/WORK": null})), ("one", json!({"keywords": {}}))] {
        assert!(set(&fixture, subject, patch)["updated"].is_object());
    }
    assert_eq!(fixture.host.view().expect("a view").tags().expect("tags").len(), 0);
}

#[test]
fn mailboxes_are_folders_with_a_file() {
    let fixture = fixture();
    let [archive, old] = ["Archive", "Old"].map(|name| fixture.mailbox(name));
    let inbox = fixture.mailbox("Inbox");
    // Into a further one: a copy.
    let response = set(&fixture, "two", json!({format!("mailboxIds/{archive}"): true}));
    assert!(response["updated"].is_object(), "{response}");
    assert_eq!(fixture.files("mail/.Archive"), ["cur/2.x:2,FS", "cur/4.x:2,"]);
    assert_eq!(fixture.files("mail").len(), 3);
    // From one into another: a move.
    set(&fixture, "three", json!({"mailboxIds": {old.clone(): true}}));
    assert_eq!(fixture.files("mail/.Old"), ["cur/3.x:2,S", "cur/5.x:2,S"]);
    // Out of one of two: its file there is removed.
    let response = set(&fixture, "one", json!({format!("mailboxIds/{archive}"): null}));
    assert!(response["updated"].is_object(), "{response}");
    assert_eq!(fixture.files("mail/.Archive"), ["cur/2.x:2,FS"]);
    assert_eq!(fixture.files("mail"), ["cur/1.x:2,", "cur/2.x:2,FS"]);
    assert_eq!(kinds(&fixture), ["Unfile", "Move", "Copy"]);
    assert_eq!(keywords(&fixture, "one"), "");
    // Out of all: refused, as out of one that there is not.
    for wrong in [
        json!({"mailboxIds": {}}),
        json!({"mailboxIds": null}),
        json!({"mailboxIds": {"F1": true}}),
        json!({format!("mailboxIds/{inbox}"): null}),
        json!({"mailboxIds": {inbox: false}}),
    ] {
        let response = set(&fixture, "one", wrong.clone());
        let error = &response["notUpdated"][fixture.id_of("one")];
        assert_eq!(error["type"], "invalidProperties", "{wrong} {response}");
        assert_eq!(error["properties"], json!(["mailboxIds"]));
    }
    for expected in ["Unfile 1", "Move 1", "Copy 1", ""] {
        assert_eq!(fixture.undo(), expected);
    }
    assert_eq!(fixture.files("mail"), ["cur/1.x:2,", "cur/2.x:2,FS", "cur/3.x:2,S"]);
    assert_eq!(fixture.files("mail/.Archive"), ["cur/4.x:2,"]);
    let found = fixture.call("Email/query", json!({"filter": {"inMailbox": fixture.mailbox("Archive")}}));
    assert_eq!(found["ids"], json!([fixture.id_of("one")]));
}

#[test]
fn many_updates_are_one_action() {
    let fixture = fixture();
    let ids: Vec<String> = ["one", "two", "three", "five"].map(|subject| fixture.id_of(subject)).into();
    let old = fixture.mailbox("Old");
    let patch = json!({"keywords/$seen": true, "keywords/$flagged": true, "mailboxIds": {old: true}});
    let update: serde_json::Map<String, Value> = ids.iter().map(|id| (id.clone(), patch.clone())).collect();
    let response = fixture.call("Email/set", json!({"update": update}));
    assert_eq!(response["updated"].as_object().map(serde_json::Map::len), Some(4), "{response}");
    assert_eq!(kinds(&fixture), ["Unfile", "Move", "Flag"]);
    let seen = ["cur/1.x:2,FS", "cur/2.x:2,FS", "cur/3.x:2,FS", "cur/5.x:2,FS"];
    let mut files = fixture.files("mail/.Old");
    // Of two files of one message one is moved.
    files.iter_mut().for_each(|file| *file = file.replace("4.x", "1.x"));
    assert_eq!(files, seen);
}

#[test]
fn what_is_wrong_is_said_of_each_email_and_the_others_change() {
    let fixture = fixture();
    let [one, two, three] = ["one", "two", "three"].map(|subject| fixture.id_of(subject));
    let wrong = |patch: Value| {
        fixture.call("Email/set", json!({"update": {one.clone(): patch}}))["notUpdated"][&one].take()
    };
    for (patch, kind, properties) in [
        (json!({"keywords/a b": true}), "invalidProperties", json!(["keywords"])),
        (json!({"keywords/$seen": false}), "invalidProperties", json!(["keywords"])),
        (json!({"keywords": 1}), "invalidProperties", json!(["keywords"])),
        (json!({"keywords/": true}), "invalidProperties", json!(["keywords"])),
        (json!({"keywords/a=g": true}), "invalidProperties", json!(["keywords"])),
        (json!({"keywords/=2dx": true}), "invalidProperties", json!(["keywords"])),
        (json!({"subject": "x", "size": 1}), "invalidProperties", json!(["size", "subject"])),
        (json!({"nothing": null}), "invalidProperties", json!(["nothing"])),
        (json!({"mailboxIds/#none": true}), "invalidProperties", json!(["mailboxIds"])),
        (json!({"keywords/a/b": true}), "invalidPatch", Value::Null),
        (json!({"keywords": {}, "keywords/a": true}), "invalidPatch", Value::Null),
    ] {
        let error = wrong(patch.clone());
        assert_eq!((&error["type"], &error["properties"]), (&json!(kind), &properties), "{patch}");
    }
    let same = json!({"id": one, "subject": "one", "keywords/$seen": true});
    let none = json!({"keywords": {}});
    let update = json!({one.clone(): same, "M00": {}, "#none": {}, two.clone(): {}, three.clone(): none});
    let response = fixture.call("Email/set", json!({"update": update, "destroy": [two, "x"]}));
    assert_eq!(response["updated"], json!({one.clone(): null}));
    let errors = &response["notUpdated"];
    let kinds = ["M00", "#none", two.as_str(), three.as_str()].map(|id| text(&errors[id]["type"]));
    assert_eq!(kinds, ["notFound", "notFound", "willDestroy", "forbidden"], "a label of the message stays");
    assert_eq!(response["notDestroyed"], json!({"x": {"type": "notFound"}}));
    let old = json!({"ifInState": "0", "destroy": [one]});
    assert_eq!(fixture.error("Email/set", old), "stateMismatch");
    let many: Vec<String> = (0..501).map(|number| format!("M{number}")).collect();
    assert_eq!(fixture.error("Email/set", json!({"destroy": many})), "requestTooLarge");
    let elsewhere = json!([["Email/set", {"accountId": "other"}, "c"]]);
    assert_eq!(fixture.answers(&elsewhere)[0][1]["type"], "accountNotFound");
}

#[test]
fn what_is_destroyed_is_gone_for_good_with_all_its_files() {
    let fixture = fixture();
    let (one, before) = (fixture.id_of("one"), fixture.state());
    let response = fixture.call("Email/set", json!({"ifInState": before, "destroy": [one, one]}));
    assert_eq!((&response["destroyed"], &response["oldState"]), (&json!([one]), &json!(before)));
    assert_eq!(fixture.files("mail"), ["cur/2.x:2,FS", "cur/3.x:2,S"]);
    assert_eq!(fixture.files("mail/.Archive"), [""; 0]);
    let changes = fixture.call("Email/changes", json!({"sinceState": before}));
    assert_eq!(changes["destroyed"], json!([one]));
    assert_eq!(kinds(&fixture), ["Remove"], "the list of actions says that it happened");
    let view = fixture.host.view().expect("a view");
    assert_eq!(view.count(&view.query("subject:one").expect("a query")).expect("a count"), 0);
}

#[test]
fn later_calls_of_a_request_see_what_earlier_ones_wrote() {
    let fixture = fixture();
    let id = fixture.id_of("two");
    let answers = fixture.answers(&json!([
        ["Email/get", {"accountId": "mail", "ids": [id], "properties": ["keywords"]}, "a"],
        ["Email/set", {"accountId": "mail", "update": {id.clone(): {"keywords": {"$draft": true}}}}, "b"],
        ["Email/get", {"accountId": "mail", "ids": [id], "properties": ["keywords"]}, "c"],
        ["Email/set", {"accountId": "mail", "destroy": [id]}, "d"],
        ["Email/query", {"accountId": "mail", "filter": {"subject": "two"}}, "e"],
    ]));
    let keywords = |answer: usize| answers[answer][1]["list"][0]["keywords"].clone();
    assert_eq!(keywords(0), json!({"$flagged": true, "$seen": true}));
    assert_eq!(keywords(2), json!({"$draft": true}));
    assert_eq!(answers[0][1]["state"], answers[1][1]["oldState"]);
    assert_eq!(answers[2][1]["state"], answers[1][1]["newState"]);
    assert_eq!(answers[4][1]["ids"], json!([]));
}

#[test]
fn changes_of_others_are_not_taken_for_ones_own() {
    let fixture = fixture();
    // What nobody has seen yet.
    let copy = message("two", 2, "Received: by y\n", "second");
    fixture.put("mail/.Old", "9.x:2,", &copy);
    fixture.update();
    fixture.rename(&fixture.path("mail/cur/3.x:2,S"), "mail/cur/3.x:2,FS");
    let state = fixture.state();
    // The tag is set on the copy, too, which the client did not ask for.
    let response = set(&fixture, "one", json!({"keywords/todo": true}));
    assert_eq!(response["oldState"], json!(state));
    let ids = fixture.call("Email/query", json!({"filter": {"subject": "two"}}))["ids"].take();
    let response = fixture.call("Email/set", json!({"update": {text(&ids[0]): {"keywords/todo": true}}}));
    assert!(response["updated"].is_object(), "{response}");
    assert_eq!(response["oldState"], Value::Null);
    for id in ids.as_array().expect("ids") {
        let email = fixture.call("Email/get", json!({"ids": [id]}));
        assert_eq!(email["list"][0]["keywords"]["todo"], true, "{email}");
    }
}

#[test]
fn a_file_that_cannot_be_changed_is_said_of_its_email() {
    let fixture = fixture();
    let [one, two] = ["one", "two"].map(|subject| fixture.id_of(subject));
    // Another program has replaced the message.
    fs::remove_file(fixture.path("mail/cur/2.x:2,FS")).expect("a file");
    fs::write(fixture.path("mail/cur/2.x:2,FS"), message("other", 2, "", "other")).expect("a file");
    let patch = json!({"keywords/$answered": true});
    let response =
        fixture.call("Email/set", json!({"update": {one.clone(): patch.clone(), two.clone(): patch}}));
    assert_eq!(response["updated"], json!({one.clone(): null}), "{response}");
    assert_eq!(response["notUpdated"][&two]["type"], "serverFail", "{response}");
    assert!(!response.to_string().contains(&fixture.path("").display().to_string()), "{response}");
    assert_eq!(response["oldState"], Value::Null, "the state holds what the other program did, too");
    // The file that is to stay has other bytes than the index knows, so the other one is not removed.
    let stays = fixture.path("mail/cur/1.x:2,RS");
    let stays = if stays.exists() { stays } else { fixture.path("mail/cur/1.x:2,R") };
    let written = stays.metadata().and_then(|metadata| metadata.modified()).expect("a file");
    fs::write(&stays, message("one", 1, "", "fir5t")).expect("a file");
    let file = fs::File::options().write(true).open(&stays).expect("a file");
    file.set_modified(written).expect("a file");
    let patch = json!({format!("mailboxIds/{}", fixture.mailbox("Archive")): null});
    let response = fixture.call("Email/set", json!({"update": {one.clone(): patch}}));
    assert_eq!(response["notUpdated"][&one]["type"], "serverFail", "{response}");
    assert_eq!(fixture.files("mail/.Archive").len(), 1);
}

#[test]
fn a_write_that_waits_for_another_process_ends_with_its_request() {
    let fixture = fixture();
    let id = fixture.id_of("one");
    let log = fixture.path("data/user/actions");
    fs::create_dir_all(&log).expect("a directory");
    let lock = fs::File::create(log.join("lock")).expect("a file");
    lock.lock().expect("a lock");
    let call = json!(["Email/set", {"accountId": "mail", "update": {id: {"keywords/$seen": true}}}, "c"]);
    let request = json!({"using": CAPABILITIES, "methodCalls": [call]}).to_string();
    let limits = Limits::default();
    let request = || Request::read(request.as_bytes(), &limits, &CAPABILITIES).expect("a request");
    let cancel = Cancel::new().with_deadline(Instant::now() + Duration::from_millis(50));
    let mut account = fixture.account().with_cancel(cancel);
    let error = jmap::run(request(), &limits, &mut account).into_json()["methodResponses"][0][1].take();
    assert_eq!(error["type"], "serverUnavailable", "{error}");
    assert_eq!(fixture.files("mail")[0], "cur/1.x:2,");
    drop(lock);
    let done = jmap::run(request(), &limits, &mut fixture.account()).into_json();
    assert!(done["methodResponses"][0][1]["updated"].is_object(), "{done}");
}
