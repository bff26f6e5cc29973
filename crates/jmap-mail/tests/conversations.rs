//! Threads that late messages join keep their ids, and are one conversation.

use crate::support::{Fixture, answers_of, message, text};
use jmap::{CORE, Limits, Request};
use jmap_mail::{CAPABILITIES, MAIL};
use serde_json::{Value, json};
use std::fs;

/// Two threads of two emails, one of which is read, and a third one.
fn fixture() -> Fixture {
    let fixture = Fixture::new(&["mail"]);
    fixture.put("mail", "0.x:2,S", &message("fig", 9, "", ""));
    fixture.update();
    for (number, (name, references)) in
        [("apple", ""), ("pear", ""), ("apple2", "<apple@x>"), ("pear2", "<pear@x>")].into_iter().enumerate()
    {
        let flags = if name == "apple" { "S" } else { "" };
        let text = message(name, 1 + u32::try_from(number).unwrap_or(0), &references_of(references), "");
        fixture.put("mail", &format!("{name}.x:2,{flags}"), &text);
        fixture.update();
    }
    fixture
}

fn references_of(ids: &str) -> String {
    if ids.is_empty() { String::new() } else { format!("References: {ids}\n") }
}

/// Delivers an answer to an email of the second thread that refers to the first one, too.
fn join(fixture: &Fixture) {
    let text = message("late", 5, &references_of("<apple2@x> <pear2@x>"), "");
    fixture.put("mail", "late.x:2,", &text);
    fixture.update();
}

/// Returns a property of an email.
fn of(fixture: &Fixture, subject: &str, property: &str) -> String {
    let ids = json!({"ids": [fixture.id_of(subject)], "properties": [property]});
    text(&fixture.call("Email/get", ids)["list"][0][property])
}

const ALL: [&str; 6] = ["fig", "apple", "pear", "apple2", "pear2", "late"];

#[test]
fn a_late_email_joins_conversations_and_no_threads() {
    let fixture = fixture();
    let threads =
        |names: &[&str]| names.iter().map(|name| of(&fixture, name, "threadId")).collect::<Vec<_>>();
    let conversation = |name: &str| of(&fixture, name, "conversationId");
    let known = &ALL[..5];
    let (before, of_pear, state) = (threads(known), conversation("pear"), fixture.state());
    assert_ne!(of_pear, conversation("apple"));
    join(&fixture);
    assert_eq!(threads(known), before);
    assert_eq!(threads(&["late"]), threads(&["pear"]));
    for name in &ALL[1..] {
        assert_eq!(conversation(name), conversation("apple"), "{name}");
    }
    assert!(conversation("apple").starts_with('C'));
    assert_ne!(conversation("fig"), conversation("apple"));
    // What changed is told exactly.
    let emails = fixture.call("Email/changes", json!({"sinceState": state}));
    assert_eq!(
        [&emails["created"], &emails["updated"], &emails["destroyed"]],
        [&json!([fixture.id_of("late")]), &json!([]), &json!([])]
    );
    let changed = fixture.call("Thread/changes", json!({"sinceState": state}));
    assert_eq!(
        [&changed["created"], &changed["updated"], &changed["destroyed"]],
        [&json!([]), &json!(threads(&["pear"])), &json!([])]
    );
    let emails_of = |method: &str, id: &str| {
        let got = fixture.call(method, json!({"ids": [id]}));
        fixture.subjects_of(&got["list"][0]["emailIds"])
    };
    assert_eq!(emails_of("Thread/get", &threads(&["apple"])[0]), "apple apple2");
    assert_eq!(emails_of("Thread/get", &threads(&["pear"])[0]), "pear pear2 late");
    assert_eq!(emails_of("Conversation/get", &conversation("late")), "apple pear apple2 pear2 late");
    let gone = fixture.call("Conversation/get", json!({"ids": [of_pear, "T1", "C1"]}));
    assert_eq!((&gone["list"], gone["notFound"].as_array().map(Vec::len)), (&json!([]), Some(3)));
    let only_id = json!({"ids": [conversation("fig")], "properties": ["id"]});
    assert_eq!(fixture.call("Conversation/get", only_id)["list"], json!([{"id": conversation("fig")}]));
}

#[test]
fn queries_show_threads_or_conversations_once() {
    let fixture = fixture();
    join(&fixture);
    let shown = |arguments: Value| fixture.subjects(arguments);
    assert_eq!(shown(json!({"collapseThreads": true})), "fig late apple2");
    assert_eq!(shown(json!({"collapseConversations": true})), "fig late");
    assert_eq!(shown(json!({"collapseConversations": true, "collapseThreads": true})), "fig late");
    let by_subject = json!([{"property": "subject"}]);
    assert_eq!(shown(json!({"collapseThreads": true, "sort": by_subject})), "apple fig late");
    assert_eq!(shown(json!({"collapseConversations": true, "sort": by_subject})), "apple fig");
    // Filters and counts go by threads.
    let has = |name: &str| json!({"filter": {name: "$seen"}, "sort": by_subject});
    assert_eq!(shown(has("someInThreadHaveKeyword")), "apple apple2 fig");
    assert_eq!(shown(has("noneInThreadHaveKeyword")), "late pear pear2");
    assert_eq!(shown(has("allInThreadHaveKeyword")), "fig");
    let counts = json!({"ids": null, "properties": ["totalThreads", "unreadThreads"]});
    let counts = fixture.call("Mailbox/get", counts)["list"][0].take();
    assert_eq!((&counts["totalThreads"], &counts["unreadThreads"]), (&json!(3), &json!(2)));
}

#[test]
fn who_does_not_use_conversations_does_not_see_them() {
    let fixture = fixture();
    let calls = json!([
        ["Email/get", {"accountId": "mail", "ids": [], "properties": ["conversationId"]}, "a"],
        ["Email/query", {"accountId": "mail", "collapseConversations": true}, "b"],
        ["Email/queryChanges",
            {"accountId": "mail", "sinceQueryState": "", "collapseConversations": true}, "c"],
        ["Conversation/get", {"accountId": "mail", "ids": []}, "d"],
        ["Email/get", {"accountId": "mail", "ids": [fixture.id_of("fig")]}, "e"],
    ]);
    let limits = Limits::default();
    let request = json!({"using": [CORE, MAIL], "methodCalls": calls}).to_string();
    let request = Request::read(request.as_bytes(), &limits, &CAPABILITIES).expect("a request");
    let response = jmap::run(request, &limits, &mut fixture.account()).into_bytes();
    let response: Value = serde_json::from_slice(&response).expect("JSON");
    let answers = &response["methodResponses"];
    let kind = |place: usize| text(&answers[place][1]["type"]);
    assert_eq!([0, 1, 2].map(kind), ["invalidArguments"; 3]);
    assert_eq!(kind(3), "unknownMethod");
    // Nobody gets the property who does not ask for it.
    let all = answers_of(&mut fixture.account(), &json!([calls[4]]));
    for email in [&answers[4][1]["list"][0], &all[0][1]["list"][0]] {
        assert!(email["threadId"].is_string() && email.get("conversationId").is_none(), "{email}");
    }
}

#[test]
fn changes_cannot_be_told_across_a_join_in_the_first_index() {
    let fixture = fixture();
    let since = fixture.state();
    let mark = fixture.path("data/index/incomplete");
    fs::write(&mark, "").expect("the fixture works");
    join(&fixture);
    assert!(!mark.exists());
    assert_eq!(of(&fixture, "late", "threadId"), of(&fixture, "apple", "threadId"));
    assert_eq!(of(&fixture, "pear", "threadId"), of(&fixture, "apple", "threadId"));
    for method in ["Email/changes", "Thread/changes"] {
        assert_eq!(fixture.error(method, json!({"sinceState": since})), "cannotCalculateChanges");
        let now = fixture.call(method, json!({"sinceState": fixture.state()}));
        assert_eq!(now["hasMoreChanges"], false, "{now}");
    }
}
