//! Mailbox/set: folders that are created, renamed, moved and removed.

use crate::support::{Fixture, message, text};
use serde_json::{Value, json};

/// A Maildir++ with an archive that has a folder below it.
fn fixture() -> Fixture {
    let fixture = Fixture::new(&["mail"]);
    fixture.put("mail", "1.x:2,", &message("one", 1, "", "first"));
    fixture.put("mail/.Archive", "2.x:2,S", &message("one", 1, "", "first"));
    fixture.put("mail/.Archive", "3.x:2,S", &message("three", 3, "", "third"));
    fixture.put("mail/.Archive.2024", "4.x:2,S", &message("four", 4, "", "fourth"));
    fixture.update();
    fixture
}

fn set(fixture: &Fixture, arguments: Value) -> Value {
    fixture.call("Mailbox/set", arguments)
}

/// Returns the mailboxes, each with its parents.
fn tree(fixture: &Fixture) -> String {
    let all = fixture.call("Mailbox/get", json!({"ids": null, "properties": ["name", "parentId"]}));
    let list = all["list"].as_array().expect("an array").clone();
    let path = |mailbox: &Value| {
        let (mut path, mut next) = (text(&mailbox["name"]), mailbox["parentId"].clone());
        while let Some(parent) = list.iter().find(|other| other["id"] == next) {
            path = format!("{}>{path}", text(&parent["name"]));
            next = parent["parentId"].clone();
        }
        path
    };
    let mut paths: Vec<String> = list.iter().map(path).collect();
    paths.sort();
    paths.join(" ")
}

#[test]
fn mailboxes_are_created_below_others_and_used_by_the_same_request() {
    let fixture = fixture();
    let (before, archive) = (fixture.state(), fixture.mailbox("Archive"));
    let id = fixture.id_of("one");
    let create = json!({
        "b": {"name": "Tief", "parentId": "#a"}, "a": {"name": "Gäste", "parentId": archive, "role": null},
        "t": {"name": "Top", "isSubscribed": true},
    });
    let answers = fixture.answers(&json!([
        ["Mailbox/set", {"accountId": "mail", "create": create}, "1"],
        ["Email/set", {"accountId": "mail", "update": {id: {"mailboxIds": {"#b": true}}}}, "2"],
    ]));
    let created = &answers[0][1]["created"];
    assert_eq!(created["t"]["totalEmails"], 0, "{answers}");
    assert_eq!(created["a"]["myRights"]["mayDelete"], true);
    assert_eq!((&created["b"]["name"], &answers[0][1]["oldState"]), (&Value::Null, &json!(before)));
    assert_eq!(tree(&fixture), "Archive Archive>2024 Archive>Gäste Archive>Gäste>Tief Inbox Top");
    // Of its two files, one is moved, and the other one is removed.
    assert!(answers[1][1]["updated"].is_object(), "{answers}");
    assert_eq!(fixture.files("mail/.Archive.G&AOQ-ste.Tief").len(), 1);
    assert_eq!(fixture.files("mail"), [""; 0]);
    assert_eq!(fixture.mailbox("Tief"), text(&created["b"]["id"]));
    let changes = fixture.call("Mailbox/changes", json!({"sinceState": before}));
    assert_eq!(changes["created"].as_array().map(Vec::len), Some(3));
}

#[test]
fn a_mailbox_is_renamed_and_moved_with_those_below_it() {
    let fixture = fixture();
    let archive = fixture.mailbox("Archive");
    let response = set(&fixture, json!({"update": {archive.clone(): {"name": "Ablage", "parentId": null}}}));
    assert_eq!(response["updated"], json!({archive.clone(): null}), "{response}");
    assert_eq!(fixture.mailbox("Ablage"), archive);
    assert_eq!(tree(&fixture), "Ablage Ablage>2024 Inbox");
    assert_eq!(fixture.files("mail/.Ablage"), ["cur/2.x:2,S", "cur/3.x:2,S"]);
    let year = fixture.mailbox("2024");
    set(&fixture, json!({"update": {year: {"parentId": null}}}));
    assert_eq!(tree(&fixture), "2024 Ablage Inbox");
    // Nothing changes.
    let year = fixture.mailbox("2024");
    let same = json!({"name": "2024", "isSubscribed": true, "role": null, "parentId": null});
    assert_eq!(set(&fixture, json!({"update": {year.clone(): same}}))["updated"], json!({year: null}));
    assert_eq!((fixture.undo(), fixture.undo()), ("Rename 1".to_owned(), "Rename 2".to_owned()));
    assert_eq!(tree(&fixture), "Archive Archive>2024 Inbox");
}

#[test]
fn names_and_properties_that_cannot_be_are_refused() {
    let fixture = fixture();
    let (archive, inbox) = (fixture.mailbox("Archive"), fixture.mailbox("Inbox"));
    let long = "x".repeat(300);
    for name in ["", ".", "..", "a/b", "../x", "a\u{0}b", "a\nb", ".x", "a.b", " ", "cur", &long] {
        let create = json!({"create": {"c": {"name": name, "parentId": archive}}});
        let error = &set(&fixture, create)["notCreated"]["c"];
        assert_eq!((&error["type"], &error["properties"]), (&json!("invalidProperties"), &json!(["name"])));
        let year = fixture.mailbox("2024");
        let error = &set(&fixture, json!({"update": {year.clone(): {"name": name}}}))["notUpdated"][&year];
        assert_eq!(error["type"], "invalidProperties", "{name:?} {error}");
    }
    let year = fixture.mailbox("2024");
    let twice = json!({"create": {"c": {"name": "2024", "parentId": archive}}});
    let exists = json!({"type": "alreadyExists", "existingId": year, "properties": ["name"]});
    assert_eq!(set(&fixture, twice)["notCreated"]["c"], exists);
    let onto = json!({"update": {year.clone(): {"name": "Archive", "parentId": null}}});
    let exists = json!({"type": "alreadyExists", "existingId": archive, "properties": ["name"]});
    assert_eq!(set(&fixture, onto)["notUpdated"][&year], exists);
    for (object, properties) in [
        (json!({}), json!(["name"])),
        (json!({"name": "x", "parentId": "F1"}), json!(["parentId"])),
        (json!({"name": "x", "parentId": "#no"}), json!(["parentId"])),
        (json!({"name": "x", "parentId": inbox}), json!(["parentId"])),
        (json!({"name": "x", "role": "junk"}), json!(["role"])),
        (json!({"name": "x", "isSubscribed": "no", "sortOrder": -3}), json!(["isSubscribed", "sortOrder"])),
        (json!({"name": "x", "totalEmails": 3}), json!(["totalEmails"])),
    ] {
        let error = &set(&fixture, json!({"create": {"c": object}}))["notCreated"]["c"];
        assert_eq!(error["properties"], properties, "{object}");
    }
    let update =
        |id: &str, patch: Value| set(&fixture, json!({"update": {id: patch}}))["notUpdated"][id].take();
    assert_eq!(update(&archive, json!({"role": "junk"}))["properties"], json!(["role"]));
    assert_eq!(update(&archive, json!({"name": null}))["properties"], json!(["name"]));
    assert_eq!(update(&archive, json!({"parentId": fixture.mailbox("2024")}))["properties"], json!(["name"]));
    assert_eq!(update(&inbox, json!({"name": "x"}))["type"], "forbidden");
    assert_eq!(update("F1", json!({"name": "x"}))["type"], "notFound");
    assert_eq!(tree(&fixture), "Archive Archive>2024 Inbox");
    assert!(!fixture.path("x").exists() && !fixture.path("mail/x").exists());
}

#[test]
fn a_mailbox_is_destroyed_if_it_is_empty_or_its_emails_may_go() {
    let fixture = fixture();
    let (archive, year) = (fixture.mailbox("Archive"), fixture.mailbox("2024"));
    let inbox = fixture.mailbox("Inbox");
    let destroy = |ids: &[&str], removes: bool| {
        set(&fixture, json!({"destroy": ids, "onDestroyRemoveEmails": removes}))
    };
    let response = destroy(&[&archive, &year, &inbox, "F1"], false);
    let errors = &response["notDestroyed"];
    let kinds = [&archive, &year, &inbox, "F1"].map(|id| text(&errors[id]["type"]));
    assert_eq!(kinds, ["mailboxHasChild", "mailboxHasEmail", "forbidden", "notFound"]);
    assert_eq!(tree(&fixture), "Archive Archive>2024 Inbox");
    let response = destroy(&[&archive, &year], true);
    assert_eq!(response["destroyed"], json!([year, archive]), "{response}");
    assert_eq!(tree(&fixture), "Inbox");
    assert!(!fixture.path("mail/.Archive").exists());
    // What is in another mailbox stays.
    assert_eq!(fixture.subjects(json!({})), "one");
    assert_eq!(fixture.files("mail"), ["cur/1.x:2,S"], "it is as read as before");
    let empty = set(&fixture, json!({"create": {"e": {"name": "E"}}}))["created"]["e"]["id"].take();
    assert_eq!(set(&fixture, json!({"destroy": [empty]}))["destroyed"], json!([empty]));
    assert_eq!(fixture.error("Mailbox/set", json!({"ifInState": "x"})), "stateMismatch");
}

#[test]
fn of_several_roots_one_is_named_by_the_parent_or_before_the_name() {
    let fixture = Fixture::new(&["home", "work"]);
    fixture.put("home", "1.x:2,", &message("one", 1, "", ""));
    fixture.put("work/Sent", "2.x:2,", &message("two", 1, "", ""));
    fixture.update();
    let create = json!({
        "a": {"name": "A", "parentId": fixture.mailbox("home")}, "b": {"name": "work/B"}, "c": {"name": "C"},
        "d": {"name": "home/D"},
    });
    let response = set(&fixture, json!({"create": create}));
    assert_eq!(tree(&fixture), "home home>A work/B work/Sent", "{response}");
    assert_eq!(response["notCreated"]["c"]["properties"], json!(["parentId"]));
    assert_eq!(response["notCreated"]["d"]["properties"], json!(["parentId"]));
}
