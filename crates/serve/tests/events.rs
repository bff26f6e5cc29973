//! Events: a client hears of commits, whoever made them.

use crate::support::{Client, Fixture, PATIENCE, message};
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

/// Returns the next event: its id, and its states.
fn next(client: &mut Client<TcpStream>) -> (String, Value) {
    let text = String::from_utf8(client.chunk().unwrap()).unwrap();
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let [id, "event: state", data] = lines[..] else { panic!("{text}") };
    let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
    assert_eq!(data["@type"], "StateChange");
    (id.strip_prefix("id: ").unwrap().to_owned(), data["changed"]["mail"].clone())
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
    let expected = json!({ "Email": state, "EmailDelivery": state, "Mailbox": state, "Thread": state });
    assert_eq!((&id, states), (&state, expected));
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
    let known = format!("Last-Event-ID: {}", fixture.state());
    let mut knows = open(&fixture, "", &[&known]);
    let mut new = open(&fixture, "", &[]);
    fixture.deliver("2:2,", &message("two"));
    let state = fixture.state();
    assert_eq!(next(&mut knows).0, state);
    assert_eq!(next(&mut new).0, state);
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
