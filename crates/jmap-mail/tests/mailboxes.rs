//! Mailbox/get, /query, /changes and /queryChanges.

use crate::support::{Fixture, message, text};
use pneu::setup::account::Account;
use pneu::setup::roles::Role;
use serde_json::{Value, json};

/// An inbox with a thread of two, a draft and a read message; the answer of the thread is filed, read.
fn fixture() -> Fixture {
    let fixture = Fixture::new(&["mail"]);
    fixture.put("mail", "1.x:2,", &message("one", 1, "", "first"));
    fixture.put("mail", "2.x:2,D", &message("two", 2, "", "draft"));
    fixture.put("mail", "3.x:2,S", &message("three", 3, "", "read"));
    fixture.put("mail/.Archive", "4.x:2,S", &message("four", 4, "In-Reply-To: <one@x>\n", "answer"));
    fixture.put("mail/.Archive", "5.x:2,S", &message("four", 4, "In-Reply-To: <one@x>\n", "answer"));
    fixture.put("mail/.Archive.2024", "6.x:2,S", &message("three", 3, "", "read"));
    fixture.update();
    fixture
}

fn names(fixture: &Fixture, query: Value) -> String {
    let found = fixture.call("Mailbox/query", query);
    let all = fixture.call("Mailbox/get", json!({"ids": found["ids"]}));
    let list = all["list"].as_array().expect("an array");
    list.iter().map(|mailbox| text(&mailbox["name"])).collect::<Vec<_>>().join(" ")
}

#[test]
fn mailboxes_are_folders_with_counts_of_contents_and_threads() {
    let fixture = fixture();
    let answer = message("seven", 7, "In-Reply-To: <three@x>\n", "of the same thread");
    fixture.put("mail/.Archive.2024", "7.x:2,S", &answer);
    fixture.update();
    let all = fixture.call("Mailbox/get", json!({"ids": null}));
    let shown = |mailbox: &Value| {
        let counts = ["totalEmails", "unreadEmails", "totalThreads", "unreadThreads"];
        let counts: Vec<String> = counts.iter().map(|name| mailbox[name].to_string()).collect();
        format!("{} {} {}", text(&mailbox["name"]), mailbox["role"], counts.join(" "))
    };
    let shown: Vec<String> = all["list"].as_array().expect("an array").iter().map(shown).collect();
    assert_eq!(shown, ["Inbox \"inbox\" 3 1 3 1", "Archive \"archive\" 1 0 1 1", "2024 null 2 0 1 0"]);
    assert_eq!(all["list"][2]["parentId"], all["list"][1]["id"]);
    let may = |place: usize, right: &str| all["list"][place]["myRights"][right] == true;
    let rights = ["mayAddItems", "mayCreateChild", "mayRename", "mayDelete"];
    assert_eq!(rights.map(|right| may(0, right)), [true, false, false, false], "of the inbox");
    assert_eq!(rights.map(|right| may(1, right)), [true; 4]);
    let some = fixture.call("Mailbox/get", json!({"ids": ["F00", "x"], "properties": ["name"]}));
    assert_eq!((&some["list"], &some["notFound"]), (&json!([]), &json!(["F00", "x"])));
    assert_eq!(
        fixture.error("Mailbox/get", json!({"ids": null, "properties": ["size"]})),
        "invalidArguments"
    );
}

#[test]
fn queries_of_mailboxes_filter_sort_and_keep_the_tree() {
    let fixture = fixture();
    fixture.put("mail/.Bees.Archive", "7.x:2,S", &message("seven", 7, "", ""));
    fixture.update();
    let archive = fixture.mailbox("Archive");
    assert_eq!(names(&fixture, json!({})), "Inbox Archive 2024 Bees/Archive");
    let by_name = json!([{"property": "name", "isAscending": false}]);
    assert_eq!(names(&fixture, json!({"sort": by_name})), "Inbox Bees/Archive Archive 2024");
    let tree = json!({"sort": by_name, "sortAsTree": true});
    assert_eq!(names(&fixture, tree), "Inbox Bees/Archive Archive 2024");
    let tree = json!({"sort": [{"property": "name"}], "sortAsTree": true});
    assert_eq!(names(&fixture, tree), "Archive 2024 Bees/Archive Inbox");
    assert_eq!(names(&fixture, json!({"filter": {"parentId": archive}})), "2024");
    assert_eq!(names(&fixture, json!({"filter": {"parentId": archive}, "filterAsTree": true})), "");
    assert_eq!(names(&fixture, json!({"filter": {"parentId": null, "role": null}})), "Bees/Archive");
    assert_eq!(names(&fixture, json!({"filter": {"name": "ARCH"}})), "Archive Bees/Archive");
    assert_eq!(names(&fixture, json!({"filter": {"hasAnyRole": false}})), "2024 Bees/Archive");
    assert_eq!(names(&fixture, json!({"filter": {"isSubscribed": false}})), "");
    assert_eq!(names(&fixture, json!({"position": -1})), "Bees/Archive");
    assert_eq!(fixture.error("Mailbox/query", json!({"sort": [{"property": "role"}]})), "unsupportedSort");
    assert_eq!(fixture.error("Mailbox/query", json!({"filter": {"x": 1}})), "invalidArguments");
}

#[test]
fn changes_of_mailboxes_name_those_whose_counts_differ() {
    let fixture = fixture();
    let (old, archive) = (fixture.state(), fixture.mailbox("Archive"));
    let since = |state: &str| fixture.call("Mailbox/changes", json!({"sinceState": state}));
    assert_eq!(since(&old)["updated"], json!([]));
    fixture.put("mail/.Archive", "8.x:2,S", &message("eight", 8, "", ""));
    fixture.update();
    let changes = since(&old);
    assert_eq!((&changes["created"], &changes["updated"]), (&json!([]), &json!([archive])));
    assert_eq!(changes["updatedProperties"][0], "totalEmails");
    fixture.put("mail/.New", "9.x:2,S", &message("nine", 9, "", ""));
    fixture.update();
    let changes = since(&old);
    assert_eq!(changes["created"], json!([fixture.mailbox("New")]));
    let limited = json!({"sinceState": old, "maxChanges": 1});
    assert_eq!(fixture.error("Mailbox/changes", limited), "cannotCalculateChanges");
    let query = fixture.call("Mailbox/queryChanges", json!({"sinceQueryState": old}));
    assert_eq!((&query["removed"], &query["added"][0]["index"]), (&json!([]), &json!(3)));
    for method in ["Mailbox/changes", "Email/changes", "Thread/changes"] {
        assert_eq!(fixture.error(method, json!({"sinceState": "x"})), "cannotCalculateChanges");
    }
}

/// Names change, so `upToId` does not count (RFC 8620, section 5.6).
#[test]
fn changes_of_a_query_are_told_beyond_the_id_that_the_client_names() {
    let fixture = fixture();
    let (old, inbox) = (fixture.state(), fixture.mailbox("Inbox"));
    fixture.put("mail/.New", "9.x:2,S", &message("nine", 9, "", ""));
    fixture.update();
    let query = json!({"sinceQueryState": old, "upToId": inbox});
    let changes = fixture.call("Mailbox/queryChanges", query);
    assert_eq!(changes["added"], json!([{"id": fixture.mailbox("New"), "index": 3}]));
}

#[test]
fn all_mailboxes_are_got_even_if_they_are_many() {
    let fixture = Fixture::new(&["mail"]);
    for folder in 0..501 {
        fixture.put(&format!("mail/.f{folder}"), "1.x:2,S", &message("one", 1, "", ""));
    }
    fixture.update();
    let all = fixture.call("Mailbox/get", json!({"ids": null, "properties": ["name"]}));
    assert_eq!(all["list"].as_array().map(Vec::len), Some(501), "{all}");
}

#[test]
fn each_role_is_given_once_and_folders_of_roots_are_told_apart() {
    let fixture = Fixture::new(&["home", "work"]);
    for (folder, name) in [("home", "1.x:2,"), ("home/Sent", "2.x:2,"), ("work/Sent", "3.x:2,")] {
        fixture.put(folder, name, &message(&format!("m{}", &name[..1]), 1, "", folder));
    }
    fixture.update();
    let all = fixture.call("Mailbox/get", json!({"ids": null, "properties": ["name", "role", "parentId"]}));
    let list = all["list"].as_array().expect("an array");
    let shown: Vec<String> =
        list.iter().map(|one| format!("{} {}", text(&one["name"]), one["role"])).collect();
    assert_eq!(shown, ["home \"inbox\"", "Sent \"sent\"", "work/Sent null"]);
    assert_eq!(list[1]["parentId"], list[0]["id"]);
    let found = json!({"filter": {"inMailbox": list[2]["id"]}});
    assert_eq!(fixture.subjects(found), "m3");
}

#[test]
fn a_folder_with_two_roles_has_one() {
    let folders = [Role::Sent, Role::Archive].map(|role| (role, "Mine".to_owned()));
    let account = Account { folders: folders.into(), ..Account::default() };
    let fixture = Fixture::with_accounts(&["mail"], [("mail".to_owned(), account)].into());
    for folder in ["mail/Mine", "mail/Archive"] {
        fixture.put(folder, "1.x:2,", &message("one", 1, "", ""));
    }
    fixture.update();
    let all = fixture.call("Mailbox/get", json!({"ids": null}));
    let roles = all["list"].as_array().expect("an array").iter().map(|one| &one["role"]);
    assert_eq!(roles.collect::<Vec<_>>(), [&json!("sent"), &Value::Null]);
}
