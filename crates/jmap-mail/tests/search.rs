//! SavedQuery/get and /set, Tag/get, Suggestion/query.

use crate::support::{Fixture, message, text};
use serde_json::{Value, json};

fn fixture() -> Fixture {
    let fixture = Fixture::new(&["mail"]);
    for (number, name) in [(1, "one"), (2, "two")] {
        fixture.put("mail", &format!("{number}.x:2,"), &message(name, number, "", "text"));
    }
    fixture.put("mail/Old (2024)", "3.x:2,S", &message("three", 3, "", "text"));
    // The same content in two folders is one email.
    fixture.put("mail/lists", "3.x:2,S", &message("three", 3, "", "text"));
    fixture.update();
    fixture
}

fn all(fixture: &Fixture, method: &str) -> Value {
    fixture.call(method, json!({"ids": null}))
}

#[test]
fn queries_are_saved_changed_and_removed() {
    let fixture = fixture();
    let empty = all(&fixture, "SavedQuery/get");
    assert_eq!(empty["list"], json!([]));
    let create = json!({
        "a": {"name": "my.team", "query": "from:ana"},
        "b": {"name": "new", "query": "query:my.team flag:unread"},
        "c": {"name": "new", "query": "x"},
    });
    let state = json!({"create": create, "ifInState": empty["state"]});
    let set = fixture.call("SavedQuery/set", state.clone());
    assert_eq!(set["created"], json!({"a": {"id": "my_2eteam"}, "b": {"id": "new"}}), "{set}");
    let exists = json!({"type": "alreadyExists", "existingId": "new"});
    assert_eq!((&set["notCreated"]["c"], &set["oldState"]), (&exists, &empty["state"]));
    assert_eq!(fixture.error("SavedQuery/set", state), "stateMismatch");
    let now = all(&fixture, "SavedQuery/get");
    let team = json!({"id": "my_2eteam", "name": "my.team", "query": "from:ana"});
    let new = json!({"id": "new", "name": "new", "query": "query:my.team flag:unread"});
    assert_eq!((&now["list"], &now["state"]), (&json!([team, new]), &set["newState"]));

    let update = json!({"update": {"new": {"query": "flag:unread"}, "my_2eteam": {"name": "team"}}});
    let set = fixture.call("SavedQuery/set", update);
    assert_eq!((&set["updated"], &set["oldState"]), (&json!({"new": null}), &now["state"]), "{set}");
    assert_eq!(set["notUpdated"]["my_2eteam"]["properties"], json!(["name"]), "{set}");
    let some = json!({"ids": ["new", "none"], "properties": ["query"]});
    let some = fixture.call("SavedQuery/get", some);
    assert_eq!(some["list"], json!([{"id": "new", "query": "flag:unread"}]));
    assert_eq!((&some["notFound"], &some["state"]), (&json!(["none"]), &set["newState"]));
    // One request creates, changes and removes.
    let set = fixture.call(
        "SavedQuery/set",
        json!({
            "create": {"d": {"name": "d", "query": "one"}}, "update": {"#d": {"query": "two"}, "new": {}},
            "destroy": ["new", "none", "#e"],
        }),
    );
    assert_eq!((&set["updated"], &set["destroyed"]), (&json!({"d": null}), &json!(["new"])), "{set}");
    assert_eq!(set["notUpdated"]["new"]["type"], "willDestroy");
    assert_eq!(set["notDestroyed"]["none"]["type"], "notFound");
    assert_eq!(set["notDestroyed"]["#e"]["type"], "notFound");
    let queries = fixture.host.saved_queries().expect("queries");
    assert_eq!(queries.into_iter().collect::<Vec<_>>(), [("d", "two"), ("my.team", "from:ana")].map(own));
}

fn own((name, query): (&str, &str)) -> (String, String) {
    (name.to_owned(), query.to_owned())
}

#[test]
fn a_query_that_cannot_be_is_refused_with_the_place() {
    let fixture = fixture();
    fixture.host.save_query("team", "from:ana").expect("a query");
    fixture.host.save_query("mine", "query:team").expect("a query");
    let refused = |query: &str| {
        let create = json!({"create": {"k": {"name": "k", "query": query}}});
        fixture.call("SavedQuery/set", create)["notCreated"]["k"].take()
    };
    let error = refused("😀 subjct:x");
    assert_eq!((&error["type"], &error["properties"]), (&json!("invalidProperties"), &json!(["query"])));
    assert_eq!(error["position"], json!({"start": 3, "end": 9}), "{error}");
    assert!(text(&error["description"]).contains("there is no field \"subjct\""), "{error}");
    assert_eq!(refused("a (b")["position"], json!({"start": 2, "end": 3}));
    assert_eq!(refused("a query:none")["properties"], json!(["query"]));
    let circle = json!({"update": {"team": {"query": "query:mine"}}});
    let circle = fixture.call("SavedQuery/set", circle)["notUpdated"]["team"].take();
    assert!(text(&circle["description"]).contains("refers to itself"), "{circle}");
    let needed = fixture.call("SavedQuery/set", json!({"destroy": ["team"]}));
    let needed = &needed["notDestroyed"]["team"];
    assert_eq!((&needed["type"], &needed["neededBy"]), (&json!("forbidden"), &json!(["mine"])));
    let wrong = |object: Value| {
        let set = fixture.call("SavedQuery/set", json!({"create": {"k": object}}));
        set["notCreated"]["k"]["properties"].clone()
    };
    assert_eq!(wrong(json!({"name": "a b", "query": "x"})), json!(["name"]));
    assert_eq!(wrong(json!({"name": 1, "id": "x"})), json!(["id", "name", "query"]));
    assert_eq!(fixture.host.saved_queries().expect("queries").len(), 2);
}

#[test]
fn tags_have_the_numbers_of_their_emails() {
    let fixture = fixture();
    assert_eq!(all(&fixture, "Tag/get")["list"], json!([]));
    fixture.tag("subject:one or subject:three", "Work");
    fixture.tag("subject:one", "a=b");
    let tags = all(&fixture, "Tag/get");
    let work = json!({"id": "Work", "name": "Work", "keyword": "work", "total": 2});
    let other = json!({"id": "a_3db", "name": "a=b", "keyword": "a=3db", "total": 1});
    assert_eq!(tags["list"], json!([work, other]));
    for tag in tags["list"].as_array().expect("tags") {
        let filter = json!({"filter": {"hasKeyword": tag["keyword"]}, "calculateTotal": true});
        assert_eq!(fixture.call("Email/query", filter)["total"], tag["total"]);
    }
    let some = fixture.call("Tag/get", json!({"ids": ["Work", "none", "Work"], "properties": ["total"]}));
    assert_eq!(some["list"], json!([{"id": "Work", "total": 2}]));
    assert_eq!((&some["notFound"], &some["state"]), (&json!(["none"]), &tags["state"]));
    // A new state is counted again, and one that nothing changed is not another one.
    assert_eq!(all(&fixture, "Tag/get"), tags);
    fixture.tag("subject:two", "Work");
    let now = all(&fixture, "Tag/get");
    assert_eq!(now["list"][0]["total"], 3);
    assert_ne!(now["state"], tags["state"]);
}

fn suggested(fixture: &Fixture, arguments: Value) -> Vec<[String; 3]> {
    let query = text(&arguments["text"]);
    let found = fixture.call("Suggestion/query", arguments);
    let list = found["list"].as_array().unwrap_or_else(|| panic!("{found}"));
    let of = |one: &Value| {
        let units: Vec<u16> = query.encode_utf16().collect();
        let place = |name: &str| usize::try_from(one[name].as_u64().expect("a place")).expect("a place");
        let part = |units: &[u16]| String::from_utf16(units).expect("whole characters");
        let (before, after) = (part(&units[..place("start")]), part(&units[place("end")..]));
        [text(&one["kind"]), text(&one["label"]), format!("{before}{}{after}", text(&one["text"]))]
    };
    list.iter().map(of).collect()
}

#[test]
fn suggestions_complete_a_query() {
    let fixture = fixture();
    fixture.tag("subject:one", "archive");
    fixture.host.save_query("analysis", "subject:one").expect("a query");
    let found = suggested(&fixture, json!({"text": "😀 an or x", "position": 5}));
    let expected = [
        ["person", "Ana Ito", "😀 from:ana@example.org or x"],
        ["savedQuery", "analysis", "😀 query:analysis or x"],
    ];
    assert_eq!(found, expected);
    let found = suggested(&fixture, json!({"text": "folder:old"}));
    assert_eq!(found, [["folder", "/Old (2024)", "folder:\"/Old (2024)\""]]);
    assert_eq!(suggested(&fixture, json!({"text": "tag:a"})), [["tag", "archive", "tag:archive"]]);
    assert_eq!(suggested(&fixture, json!({"text": "x-p"})), [["field", "x-project:", "x-project:"]]);
    let fields = suggested(&fixture, json!({"text": "", "limit": 2}));
    assert_eq!(fields, [["field", "from:", "from:"], ["field", "to:", "to:"]]);
    assert_eq!(suggested(&fixture, json!({"text": "a", "limit": 0})), [[""; 3]; 0]);
    // What is suggested finds what it says.
    let view = fixture.host.view().expect("a view");
    for (query, count) in [("from:ana@example.org", 3), ("folder:\"/Old (2024)\"", 1)] {
        assert_eq!(view.count(&view.query(query).expect("a query")).expect("a count"), count, "{query}");
    }
}

#[test]
fn a_suggestion_needs_a_text_and_a_place_in_it() {
    let fixture = fixture();
    let error = |arguments: Value| fixture.error("Suggestion/query", arguments);
    assert_eq!(error(json!({})), "invalidArguments");
    assert_eq!(error(json!({"text": "ab", "position": 3})), "invalidArguments");
    assert_eq!(error(json!({"text": "ab", "x": 3})), "invalidArguments");
    assert_eq!(error(json!({"text": "a".repeat(1 << 20)})), "invalidArguments");
}
