//! Events: a client hears of commits, whoever made them.

use crate::support::{Client, Fixture, PATIENCE, json_of, message};
use pneu::TagChange;
use serde_json::{Value, json};
use std::fs;
use std::net::TcpStream;

fn open(fixture: &Fixture, query: &str, fields: &[&str]) -> Client<TcpStream> {
    let mut client = fixture.connect();
    client.send(&fixture.head(&format!("GET /jmap/eventsource{query}"), fields));
    let reply = client.reply_head();
    assert_eq!((reply.status, reply.field("content-type")), (200, Some("text/event-stream")));
    client
}

/// Returns the next event: the token in its id, and its states.
fn next(client: &mut Client<TcpStream>) -> (String, Value) {
    let text = String::from_utf8(client.chunk().unwrap()).unwrap();
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let [id, "event: state", data] = lines[..] else { panic!("{text}") };
    let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
    assert_eq!(data["@type"], "StateChange");
    let (token, _) = id.strip_prefix("id: ").unwrap().rsplit_once('.').unwrap();
    (token.to_owned(), data["changed"]["mail"].clone())
}

/// Opens a stream that has heard of the state that there is: the thread that waits for commits knows it.
fn open_at_state(fixture: &Fixture, query: &str) -> Client<TcpStream> {
    let mut client = open(fixture, query, &["Last-Event-ID: old"]);
    assert_eq!(next(&mut client).0, fixture.state());
    client
}

#[test]
fn a_commit_of_another_program_is_told_with_its_state() {
    let fixture = Fixture::new();
    let mut client = open_at_state(&fixture, "?types=*&closeafter=no&ping=0");
    fixture.deliver("2:2,", &message("two"));
    let (id, states) = next(&mut client);
    let state = fixture.state();
    for kind in ["Email", "EmailDelivery", "Mailbox", "Thread"] {
        assert_eq!(states[kind], state, "{kind}");
    }
    let get = |kind: &str, capability: &str| {
        let call = json!({ "using": ["urn:ietf:params:jmap:core", capability],
            "methodCalls": [[format!("{kind}/get"), { "accountId": "mail" }, "a"]] });
        json_of(&fixture.post("/jmap/api", &call.to_string()))["methodResponses"][0][1]["state"].clone()
    };
    let capabilities = [("Identity", "urn:ietf:params:jmap:submission"), ("SavedQuery", jmap_mail::SEARCH)];
    for (kind, capability) in capabilities {
        assert_eq!((&states[kind], states[kind].is_string()), (&get(kind, capability), true), "{kind}");
    }
    assert_eq!((&id, states.as_object().unwrap().len()), (&state, 6));
    // Flags are no delivery, and tags are commits, too.
    fs::rename(fixture.path("2:2,"), fixture.path("2:2,S")).unwrap();
    fixture.update();
    let (id, states) = next(&mut client);
    assert_eq!(
        (&id, &states["Email"], &states["EmailDelivery"]),
        (&fixture.state(), &json!(id), &json!(state))
    );
    let host = fixture.other_host();
    let query = host.view().unwrap().query("subject:two").unwrap();
    let change = TagChange { add: ["urgent".to_owned()].into(), ..TagChange::default() };
    host.tag(&query, &change).unwrap();
    let (id, states) = next(&mut client);
    assert_eq!((&id, &states["Thread"]), (&fixture.state(), &json!(id)));
    // Saved queries are no part of the token, and are told all the same.
    host.save_query("urgent", "tag:urgent").unwrap();
    let (same, states) = next(&mut client);
    assert_eq!((&same, &states["SavedQuery"]), (&id, &get("SavedQuery", jmap_mail::SEARCH)));
}

#[test]
fn only_the_types_that_are_wanted_are_told_and_a_stream_may_end_after_a_state() {
    let fixture = Fixture::new();
    let mut client = open(&fixture, "?types=Email,Thread&closeafter=state&ping=0", &["Last-Event-ID: old"]);
    let (id, states) = next(&mut client);
    assert_eq!(states, json!({ "Email": id, "Thread": id }));
    assert_eq!(client.chunk(), None);
}

#[test]
fn who_knows_the_newest_state_waits_for_the_next_one() {
    let fixture = Fixture::new();
    drop(open_at_state(&fixture, ""));
    let mut first = open(&fixture, "", &["Last-Event-ID: old"]);
    let text = String::from_utf8(first.chunk().unwrap()).unwrap();
    let known = text.lines().next().unwrap().strip_prefix("id: ").unwrap();
    let known = format!("Last-Event-ID: {known}");
    let mut knows = open(&fixture, "", &[&known]);
    let mut new = open(&fixture, "", &[]);
    fixture.deliver("2:2,", &message("two"));
    let state = fixture.state();
    assert_eq!(next(&mut knows).0, state);
    assert_eq!(next(&mut new).0, state);
}

#[test]
fn what_is_known_can_be_said_in_the_address_too() {
    let fixture = Fixture::new();
    let _first = open_at_state(&fixture, "");
    let mut client = open(&fixture, "?ping=0&lastEventId=", &[]);
    let text = String::from_utf8(client.chunk().unwrap()).unwrap();
    let known = text.lines().next().unwrap().strip_prefix("id: ").unwrap();
    assert!(known.starts_with(&format!("{}.", fixture.state())));
    let mut knows = open(&fixture, &format!("?lastEventId={known}"), &[]);
    // The field is newer: the address stays as it was when one connects again.
    let mut again = open(&fixture, "?lastEventId=", &[&format!("Last-Event-ID: {known}")]);
    fixture.deliver("2:2,", &message("two"));
    let state = fixture.state();
    for client in [&mut client, &mut knows, &mut again] {
        assert_eq!(next(client).0, state);
    }
}

#[test]
fn a_lost_index_is_told_once_and_events_go_on_when_it_is_back() {
    let fixture = Fixture::new();
    let mut client = open_at_state(&fixture, "");
    let data = fixture.directory.path().join("data");
    fs::rename(data.join("index"), data.join("away")).unwrap();
    let told = fixture.told.lock().unwrap().recv_timeout(PATIENCE).unwrap();
    assert!(told.contains("index"), "{told}");
    fs::rename(data.join("away"), data.join("index")).unwrap();
    fixture.deliver("2:2,", &message("two"));
    assert_eq!(next(&mut client).0, fixture.state());
    assert!(fixture.told.lock().unwrap().try_recv().is_err());
}

#[test]
fn what_a_stream_cannot_do_is_a_problem() {
    let fixture = Fixture::new();
    for query in ["?closeafter=maybe", "?ping=often", "?ping=-1"] {
        let reply = fixture.get(&format!("/jmap/eventsource{query}"));
        assert_eq!((reply.status, reply.field("content-type")), (400, Some("application/problem+json")));
    }
}
