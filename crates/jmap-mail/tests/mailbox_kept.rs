//! Mailboxes keep their ids when they are renamed; their order and subscription can be set.

use crate::support::{Fixture, message, text};
use pneu::{Host, Settings, Silent};
use serde_json::{Value, json};

/// A Maildir++ with an archive that has a folder below it.
fn fixture() -> Fixture {
    let fixture = Fixture::new(&["mail"]);
    fixture.put("mail", "1.x:2,", &message("one", 1, "", "first"));
    fixture.put("mail/.Archive", "2.x:2,S", &message("two", 2, "", "second"));
    fixture.put("mail/.Archive.2024", "3.x:2,S", &message("three", 3, "", "third"));
    fixture.update();
    fixture
}

fn set(fixture: &Fixture, arguments: Value) -> Value {
    fixture.call("Mailbox/set", arguments)
}

fn changes(fixture: &Fixture, since: &str) -> [Value; 4] {
    let mut changes = fixture.call("Mailbox/changes", json!({"sinceState": since}));
    ["created", "updated", "destroyed", "updatedProperties"].map(|name| changes[name].take())
}

fn property(fixture: &Fixture, id: &str, name: &str) -> Value {
    fixture.call("Mailbox/get", json!({"ids": [id], "properties": [name]}))["list"][0][name].take()
}

/// Renames the archive as another process does.
fn rename_elsewhere(fixture: &Fixture, old: &str, new: &str) {
    let other = Host::new(Settings::new(fixture.path("data")));
    other.rename_folder(old, new, &Silent).expect("the fixture works");
    fixture.host.refresh().expect("the fixture works");
}

#[test]
fn a_renamed_mailbox_is_an_updated_one_and_so_are_those_below_it() {
    let fixture = fixture();
    let (archive, year, old) = (fixture.mailbox("Archive"), fixture.mailbox("2024"), fixture.state());
    let emails = json!({"filter": {"inMailbox": archive}});
    let renamed = set(&fixture, json!({"update": {archive.clone(): {"name": "Ablage"}}}));
    assert_eq!(renamed["updated"], json!({archive.clone(): null}), "{renamed}");
    assert_eq!((fixture.mailbox("Ablage"), fixture.mailbox("2024")), (archive.clone(), year.clone()));
    // The folder below it has the same name and parent as before.
    assert_eq!(changes(&fixture, &old), [json!([]), json!([archive]), json!([]), Value::Null]);
    assert_eq!(fixture.subjects(emails.clone()), "two");
    let new_state = text(&renamed["newState"]);
    set(&fixture, json!({"update": {year.clone(): {"parentId": null}}}));
    assert_eq!(changes(&fixture, &new_state), [json!([]), json!([year]), json!([]), Value::Null]);
    let undone = fixture.state();
    assert_eq!((fixture.undo(), fixture.undo()), ("Rename 1".to_owned(), "Rename 2".to_owned()));
    assert_eq!((fixture.mailbox("Archive"), fixture.mailbox("2024")), (archive.clone(), year.clone()));
    let [created, _, destroyed, _] = changes(&fixture, &undone);
    assert_eq!((created, destroyed), (json!([]), json!([])));
    assert_eq!(changes(&fixture, &old)[..3], [json!([]), json!([]), json!([])]);
}

#[test]
fn a_mailbox_that_another_process_renames_while_the_account_is_open_keeps_its_id() {
    let fixture = fixture();
    let (archive, year, old) = (fixture.mailbox("Archive"), fixture.mailbox("2024"), fixture.state());
    rename_elsewhere(&fixture, "Archive", "Ablage");
    assert_eq!((fixture.mailbox("Ablage"), fixture.mailbox("2024")), (archive.clone(), year.clone()));
    assert_eq!(changes(&fixture, &old)[..3], [json!([]), json!([archive]), json!([])]);
    // Another program renames a directory, and a pass finds it.
    fixture.rename(&fixture.path("mail/.Ablage.2024"), "mail/.Jahr");
    fixture.update();
    assert_eq!(fixture.mailbox("Jahr"), year);
}

#[test]
fn a_new_mailbox_at_the_old_place_is_another_one_and_the_index_may_be_made_anew() {
    let fixture = fixture();
    let archive = fixture.mailbox("Archive");
    let answers = fixture.answers(&json!([
        ["Mailbox/set", {"accountId": "mail", "update": {archive.clone(): {"name": "Ablage"}}}, "1"],
        ["Mailbox/set", {"accountId": "mail", "create": {"n": {"name": "Archive"}}}, "2"],
        ["Mailbox/set", {"accountId": "mail", "create": {"b": {"name": "Tief", "parentId": "#n"}}}, "3"],
        ["Mailbox/set", {"accountId": "mail", "update": {"#n": {"name": "Neu", "sortOrder": 4}}}, "4"],
    ]));
    let new = text(&answers[1][1]["created"]["n"]["id"]);
    assert_ne!(new, archive, "{answers}");
    assert_eq!(
        (fixture.mailbox("Neu"), fixture.mailbox("Ablage")),
        (new.clone(), archive.clone()),
        "{answers}"
    );
    assert_eq!(property(&fixture, &text(&answers[2][1]["created"]["b"]["id"]), "parentId"), json!(new));
    let before = fixture.call("Mailbox/get", json!({"ids": null}))["list"].take();
    std::fs::remove_dir_all(fixture.path("data/index")).expect("the fixture works");
    fixture.update();
    assert_eq!(fixture.call("Mailbox/get", json!({"ids": null}))["list"], before);
    assert_eq!(property(&fixture, &new, "sortOrder"), 4);
}

#[test]
fn order_and_subscription_are_set_found_and_told() {
    let fixture = fixture();
    let (archive, year, inbox) =
        (fixture.mailbox("Archive"), fixture.mailbox("2024"), fixture.mailbox("Inbox"));
    let (old, emails) = (fixture.state(), text(&fixture.call("Email/get", json!({"ids": []}))["state"]));
    let update = json!({
        year.clone(): {"sortOrder": 0, "isSubscribed": false},
        inbox.clone(): {"sortOrder": 2_147_483_647_u32},
    });
    let response = set(&fixture, json!({"update": update}));
    assert_eq!(response["updated"], json!({year.clone(): null, inbox.clone(): null}), "{response}");
    let names = |query: Value| {
        let found = fixture.call("Mailbox/query", query);
        let name = |id: &Value| text(&property(&fixture, &text(id), "name"));
        found["ids"].as_array().expect("an array").iter().map(name).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(json!({})), "2024 Archive Inbox");
    let down = json!({"sort": [{"property": "sortOrder", "isAscending": false}]});
    assert_eq!(names(down), "Inbox Archive 2024");
    assert_eq!(names(json!({"filter": {"isSubscribed": false}})), "2024");
    assert_eq!(names(json!({"filter": {"isSubscribed": true}})), "Archive Inbox");
    let both = [year.clone(), inbox.clone()].iter().map(|id| json!(id)).collect::<Vec<_>>();
    let [created, updated, destroyed, properties] = changes(&fixture, &old);
    assert_eq!((created, destroyed, properties), (json!([]), json!([]), Value::Null));
    assert_eq!(updated, json!(both));
    let query = fixture
        .call("Mailbox/queryChanges", json!({"sinceQueryState": old, "filter": {"isSubscribed": true}}));
    assert!(query["removed"].as_array().expect("an array").contains(&json!(year)), "{query}");
    // No email changed.
    let told = fixture.call("Email/changes", json!({"sinceState": emails}));
    assert_eq!([&told["created"], &told["updated"], &told["destroyed"]], [&json!([]); 3], "{told}");
    // What is null is as it was at first, and the client is told how that is.
    let unset =
        json!({inbox.clone(): {"sortOrder": null}, year.clone(): {"isSubscribed": null, "name": "Jahr"}});
    let response = set(&fixture, json!({"update": unset}));
    assert_eq!(
        response["updated"],
        json!({inbox.clone(): {"sortOrder": 1}, year.clone(): {"isSubscribed": true}})
    );
    assert_eq!(
        [property(&fixture, &year, "sortOrder"), property(&fixture, &year, "isSubscribed")],
        [json!(0), json!(true)]
    );
    for (patch, wrong) in [
        (json!({"sortOrder": -1}), "sortOrder"),
        (json!({"sortOrder": 2_147_483_648_u32}), "sortOrder"),
        (json!({"sortOrder": "1"}), "sortOrder"),
        (json!({"isSubscribed": 1}), "isSubscribed"),
    ] {
        let response = set(
            &fixture,
            json!({"update": {archive.clone(): patch}, "create": {"c": {"name": "C", wrong: patch[wrong]}}}),
        );
        assert_eq!(response["notUpdated"][&archive]["properties"], json!([wrong]), "{response}");
        assert_eq!(response["notCreated"]["c"]["properties"], json!([wrong]), "{response}");
    }
    let create = json!({"c": {"name": "C", "sortOrder": 5, "isSubscribed": false}});
    let created = &set(&fixture, json!({"create": create}))["created"]["c"];
    assert_eq!((&created["sortOrder"], &created["isSubscribed"]), (&json!(5), &json!(false)));
    // One that is destroyed and made again is a new one.
    set(&fixture, json!({"destroy": [created["id"]]}));
    let again = &set(&fixture, json!({"create": {"c": {"name": "C"}}}))["created"]["c"];
    assert_eq!((&again["sortOrder"], &again["isSubscribed"]), (&json!(7), &json!(true)));
}

#[test]
fn damage_is_told_and_named() {
    let fixture = fixture();
    let archive = fixture.mailbox("Archive");
    set(&fixture, json!({"update": {archive.clone(): {"sortOrder": 40}}}));
    let user = fixture.path("data/user");
    for directory in [user.clone(), user.join("copy")] {
        for entry in std::fs::read_dir(directory).expect("the fixture works") {
            let path = entry.expect("an entry").path();
            if path.is_file()
                && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("journal"))
            {
                let mut bytes = std::fs::read(&path).expect("the fixture works");
                bytes.iter_mut().skip(700).step_by(64).for_each(|byte| *byte ^= 1);
                std::fs::write(&path, bytes).expect("the fixture works");
            }
        }
    }
    let other = Host::new(Settings::new(fixture.path("data")));
    let error = other.view().expect_err("damage");
    assert!(error.to_string().contains("user/journal"), "{error}");
}
