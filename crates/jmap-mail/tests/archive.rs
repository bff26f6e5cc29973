//! Messages whose files are gone: found, shown, read and brought back.

use crate::support::{Fixture, answers_of, message};
use backup::BackupOptions;
use jmap::{Id, Limits, Request};
use jmap_mail::{BlobError, CAPABILITIES, MAIL};
use pneu::archive::{SharedArchive, Unopened};
use pneu::{Error, Silent};
use restic::testing::{MemoryStorage, surroundings};
use restic::{Cost, HeldLock, LockKind, Password, Repository, SaveOptions};
use serde_json::{Value, json};
use std::fs;
use std::sync::Arc;
use std::time::Duration;

/// Backs up the mail of a fixture into a repository in memory.
pub(crate) fn backed_up(fixture: &Fixture) -> SharedArchive {
    let (storage, cost) = (MemoryStorage::new(), Cost { n: 2, r: 1, p: 1 });
    let password = Password::new(b"secret".to_vec());
    let repository = Repository::init(Arc::clone(&storage) as _, &password, cost, None, surroundings())
        .expect("the fixture works");
    let lock = |repository: &Repository, _: Option<&pneu::Summary>| -> Result<HeldLock, Error> {
        Ok(repository.lock(LockKind::Shared, Duration::ZERO, &|_, _| Ok(()))?)
    };
    let options = BackupOptions {
        tags: Vec::new(),
        configuration: None,
        save: SaveOptions::default(),
        program_version: "test".to_owned(),
    };
    let open = || Ok::<_, Error>(repository.reread());
    fixture.host.back_up(None, (open, lock), &options, &Silent).expect("the fixture works");
    SharedArchive::new(move || Ok(repository.reread()))
}

/// Answers one call of an account with an archive.
pub(crate) fn call(fixture: &Fixture, archive: &SharedArchive, method: &str, mut arguments: Value) -> Value {
    arguments["accountId"] = "mail".into();
    let mut account = fixture.account().with_archive(archive);
    answers_of(&mut account, &json!([[method, arguments, "c"]]))[0][1].take()
}

/// Returns mail of which a backup has everything, and one message is gone.
fn fixture() -> (Fixture, SharedArchive, String) {
    let fixture = Fixture::new(&["mail"]);
    let apple = fixture.put("mail", "1.x:2,S", &message("apple", 1, "", "red fruit"));
    fixture.put("mail", "2.x:2,S", &message("pear", 2, "", "green fruit"));
    fixture.put("mail/Other", "3.x:2,", &message("plum", 3, "", "blue fruit"));
    fixture.update();
    fixture.tag("subject:apple", "kept");
    let archive = backed_up(&fixture);
    let id = fixture.id_of("apple");
    fs::remove_file(apple).expect("the fixture works");
    fixture.put("mail", "4.x:2,", &message("fig", 4, "", "late fruit"));
    fixture.update();
    (fixture, archive, id)
}

#[test]
fn messages_that_are_gone_are_found_if_that_is_wanted() {
    let (fixture, ..) = fixture();
    let inbox = fixture.mailbox("Inbox");
    for (query, expected) in [
        (json!({}), "fig plum pear"),
        (json!({"archived": "without"}), "fig plum pear"),
        (json!({"archived": "with"}), "fig plum pear apple"),
        (json!({"archived": "only"}), "apple"),
        (json!({"archived": "with", "filter": {"body": "fruit"}, "position": 2}), "pear apple"),
        (json!({"archived": "only", "filter": {"pneuQuery": "fruit -tag:kept"}}), ""),
        (json!({"archived": "only", "filter": {"hasKeyword": "kept"}}), "apple"),
        (json!({"archived": "with", "filter": {"hasKeyword": "$seen"}}), "pear"),
        (json!({"archived": "with", "filter": {"inMailbox": inbox}}), "fig pear"),
        (json!({"archived": "only", "filter": {"operator": "NOT", "conditions": [{"body": "red"}]}}), ""),
        (json!({"archived": "with", "sort": [{"property": "subject"}], "limit": 2}), "apple fig"),
    ] {
        assert_eq!(fixture.subjects(query.clone()), expected, "{query}");
    }
    // The next call shows what is there.
    assert_eq!(fixture.subjects(json!({})), "fig plum pear");
    assert_eq!(fixture.error("Email/query", json!({"archived": "all"})), "invalidArguments");
}

#[test]
fn what_the_index_has_of_a_message_that_is_gone_is_shown_without_the_archive() {
    let (fixture, _, id) = fixture();
    let properties = json!(["subject", "mailboxIds", "keywords", "isDeleted", "deletedAt", "inArchive"]);
    let got =
        fixture.call("Email/get", json!({"ids": [&id, fixture.id_of("pear")], "properties": properties}));
    let apple = &got["list"][0];
    assert_eq!(apple["subject"], "apple");
    assert_eq!((&apple["mailboxIds"], &apple["keywords"]), (&json!({}), &json!({"kept": true})));
    assert_eq!((&apple["isDeleted"], &apple["inArchive"]), (&json!(true), &Value::Null));
    assert!(apple["deletedAt"].as_str().unwrap().ends_with('Z'), "{apple}");
    let pear = &got["list"][1];
    assert_eq!((&pear["isDeleted"], &pear["deletedAt"]), (&json!(false), &Value::Null));
    assert_eq!(got.get("notRead"), None);
    let body = json!({"ids": [&id], "properties": ["subject", "textBody"]});
    let got = fixture.call("Email/get", body);
    assert_eq!((&got["list"][0]["subject"], &got["list"][0]["textBody"]), (&json!("apple"), &Value::Null));
    assert_eq!(got["notRead"][&id]["type"], "archiveUnavailable");
    assert!(got["notRead"][&id]["description"].as_str().unwrap().contains("[archive]"), "{got}");
}

#[test]
fn who_does_not_name_the_capability_sees_only_what_is_there() {
    let (fixture, archive, id) = fixture();
    let refused = |method: &str, mut arguments: Value| {
        arguments["accountId"] = "mail".into();
        let request = json!({"using": [MAIL], "methodCalls": [[method, arguments, "c"]]}).to_string();
        let request = Request::read(request.as_bytes(), &Limits::default(), &CAPABILITIES).unwrap();
        let mut account = fixture.account().with_archive(&archive);
        jmap::run(request, &Limits::default(), &mut account).into_json()["methodResponses"][0][1].take()
    };
    assert_eq!(refused("Email/query", json!({"archived": "with"}))["type"], "invalidArguments");
    assert_eq!(refused("Email/query", json!({"moment": "2025-01-01T00:00:00Z"}))["type"], "invalidArguments");
    assert_eq!(refused("Email/get", json!({"ids": [&id]}))["notFound"], json!([&id]));
    let properties = json!({"ids": [&id], "properties": ["isDeleted"]});
    assert_eq!(refused("Email/get", properties)["type"], "invalidArguments");
    assert_eq!(refused("Email/restore", json!({"ids": [&id]}))["type"], "unknownMethod");
}

#[test]
fn the_archive_gives_the_bytes_of_a_message_that_is_gone() {
    let (fixture, archive, id) = fixture();
    let get = json!({
        "ids": [&id, fixture.id_of("fig")], "fetchTextBodyValues": true,
        "properties": ["blobId", "bodyValues", "inArchive"],
    });
    let got = call(&fixture, &archive, "Email/get", get);
    let apple = &got["list"][0];
    assert_eq!(apple["bodyValues"]["1"]["value"], "red fruit\n", "{got}");
    assert_eq!((&apple["inArchive"], &got["list"][1]["inArchive"]), (&json!(true), &json!(false)));
    let blob = Id::new(apple["blobId"].as_str().unwrap().to_owned()).unwrap();
    let account = fixture.account().with_archive(&archive);
    let bytes = account.blob(&blob).unwrap().into_bytes().unwrap();
    assert_eq!(bytes, message("apple", 1, "", "red fruit").into_bytes());
    assert_eq!(fixture.account().blob(&blob).unwrap_err(), BlobError::NotFound);
    let closed = SharedArchive::new(|| Err(Unopened::NeedsPassword));
    assert_eq!(fixture.account().with_archive(&closed).blob(&blob).unwrap_err(), BlobError::Archived);
    let snippets = json!({"emailIds": [&id], "filter": {"pneuQuery": "red"}});
    let got = call(&fixture, &archive, "SearchSnippet/get", snippets);
    assert_eq!(got["list"][0]["preview"], "<mark>red</mark> fruit");
}

#[test]
fn blobs_of_a_message_that_is_gone_are_parsed_as_its_email_is_read() {
    let (fixture, archive, id) = fixture();
    let fig = fixture.id_of("fig");
    fs::remove_file(fixture.path("mail/cur/4.x:2,")).unwrap();
    fixture.update();
    let [apple, fig] = [&id, &fig].map(|id| id.replacen('M', "B", 1));
    let parse = json!({"blobIds": [&apple, format!("{apple}-1"), format!("{apple}-9"), &fig],
        "properties": ["subject", "bodyValues"], "fetchTextBodyValues": true});
    let got = call(&fixture, &archive, "Email/parse", parse.clone());
    assert_eq!(got["parsed"][&apple]["subject"], "apple", "{got}");
    assert_eq!(got["parsed"][&apple]["bodyValues"]["1"]["value"], "red fruit\n");
    assert_eq!(got["notParsable"], json!([format!("{apple}-1")]));
    assert_eq!(got["notFound"], json!([format!("{apple}-9"), &fig]));
    assert_eq!(got["notRead"].as_object().unwrap().keys().collect::<Vec<_>>(), [&fig]);
    assert_eq!(got["notRead"][&fig]["type"], "notFound");
    // Without the archive, and without the capability.
    let got = fixture.call("Email/parse", parse.clone());
    assert_eq!(
        (&got["parsed"], &got["notRead"][&apple]["type"]),
        (&Value::Null, &json!("archiveUnavailable"))
    );
    let mut arguments = parse;
    arguments["accountId"] = "mail".into();
    let request = json!({"using": [MAIL], "methodCalls": [["Email/parse", arguments, "c"]]}).to_string();
    let request = Request::read(request.as_bytes(), &Limits::default(), &CAPABILITIES).unwrap();
    let mut account = fixture.account().with_archive(&archive);
    let mut answer = jmap::run(request, &Limits::default(), &mut account).into_json();
    let got = answer["methodResponses"][0][1].take();
    assert_eq!((&got["parsed"], got.get("notRead")), (&Value::Null, None), "{got}");
    assert_eq!(got["notFound"].as_array().map(Vec::len), Some(4));
}

/// The index does not know yet.
#[test]
fn the_archive_gives_the_bytes_of_a_message_whose_file_went_just_now() {
    let (fixture, archive, _) = fixture();
    let id = fixture.id_of("pear");
    let blob = Id::new(id.replacen('M', "B", 1)).unwrap();
    fs::remove_file(fixture.path("mail/cur/2.x:2,S")).unwrap();
    assert_eq!(fixture.account().blob(&blob).unwrap_err(), BlobError::NotFound);
    let account = fixture.account().with_archive(&archive);
    let bytes = account.blob(&blob).unwrap().into_bytes().unwrap();
    assert_eq!(bytes, message("pear", 2, "", "green fruit").into_bytes());
    let parse = json!({"blobIds": [blob.as_str()], "properties": ["subject"]});
    let got = call(&fixture, &archive, "Email/parse", parse);
    assert_eq!(got["parsed"][blob.as_str()]["subject"], "pear", "{got}");
}

#[test]
fn messages_come_back_as_one_action() {
    let (fixture, archive, id) = fixture();
    let pear = fixture.id_of("pear");
    let restore = |more: Value| {
        let mut arguments = json!({"ids": [&id, &id, &pear, "M1"]});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call(&fixture, &archive, "Email/restore", arguments)
    };
    assert_eq!(restore(json!({"mailboxId": "F1"}))["type"], "invalidArguments");
    let done = restore(json!({}));
    assert_eq!(done["restored"], json!({&id: {"mailboxIds": {fixture.mailbox("Inbox"): true}}}), "{done}");
    assert_eq!(done["notRestored"][&pear]["type"], "alreadyExists");
    assert_eq!(done["notRestored"]["M1"]["type"], "notFound");
    assert_eq!(fixture.subjects(json!({})), "fig plum pear apple");
    assert_eq!(fixture.files("mail"), ["cur/1.x:2,S", "cur/2.x:2,S", "cur/4.x:2,"]);
    assert_eq!(fixture.undo(), "Import 1");
    assert_eq!(fixture.subjects(json!({"archived": "only"})), "apple");
    let other = fixture.mailbox("Other");
    let done = restore(json!({"mailboxId": &other}));
    assert_eq!(done["restored"][&id]["mailboxIds"], json!({other: true}), "{done}");
    assert_eq!(fixture.files("mail/Other"), ["cur/1.x:2,S", "cur/3.x:2,"]);
    let nothing = fixture.call("Email/restore", json!({"ids": []}));
    assert_eq!((&nothing["restored"], &nothing["notRestored"]), (&json!({}), &json!({})));
}

#[test]
fn what_no_archive_has_does_not_come_back() {
    let (fixture, archive, _) = fixture();
    let fig = fixture.id_of("fig");
    fs::remove_file(fixture.path("mail/cur/4.x:2,")).unwrap();
    fixture.update();
    let get = json!({"ids": [&fig], "properties": ["inArchive", "headers"]});
    let got = call(&fixture, &archive, "Email/get", get);
    assert_eq!(got["list"][0], json!({"id": &fig, "inArchive": false, "headers": null}));
    assert_eq!(got["notRead"][&fig]["type"], "notFound");
    let done = call(&fixture, &archive, "Email/restore", json!({"ids": [&fig]}));
    assert_eq!(done["notRestored"][&fig]["description"], "no snapshot of the archive has it");
    let closed = SharedArchive::new(|| Err(Unopened::NeedsPassword));
    let error = call(&fixture, &closed, "Email/restore", json!({"ids": [&fig]}));
    assert_eq!(error["type"], "archiveUnavailable");
    assert!(error["description"].as_str().unwrap().contains("password_command"), "{error}");
}
