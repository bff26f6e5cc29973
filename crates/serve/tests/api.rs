//! Requests of JMAP over HTTP: responses, problems, and an index that cannot be read.

use crate::support::{Fixture, Reply, json_of, message};
use pneu::{Host, Settings};
use serde_json::json;
use std::fs;
use std::sync::Arc;

#[test]
fn a_query_and_its_emails_come_with_one_request() {
    let fixture = Fixture::new();
    let answers = fixture.answers(json!([
        ["Email/query", { "accountId": "mail" }, "a"],
        ["Email/get", { "accountId": "mail", "properties": ["subject"],
            "#ids": { "resultOf": "a", "name": "Email/query", "path": "/ids" } }, "b"],
    ]));
    let responses = &answers["methodResponses"];
    assert_eq!((&responses[0][0], &responses[1][0]), (&json!("Email/query"), &json!("Email/get")));
    assert_eq!(responses[1][1]["list"][0]["subject"], "one");
    let session = json_of(&fixture.get("/jmap/session"));
    assert_eq!(answers["sessionState"], session["state"]);
}

#[test]
fn each_request_sees_what_others_committed_before_it() {
    let fixture = Fixture::without_events();
    for number in 2..6 {
        fixture.deliver(&format!("{number}:2,"), &message(&format!("m{number}")));
        let answers = fixture.answers(json!([["Email/query", { "accountId": "mail" }, "a"]]));
        assert_eq!(answers["methodResponses"][0][1]["ids"].as_array().unwrap().len(), number);
    }
}

#[test]
fn what_is_no_request_is_a_problem() {
    let fixture = Fixture::new();
    let using = |name: &str| json!({ "using": [name], "methodCalls": [] }).to_string();
    for (body, kind) in [
        ("{".to_owned(), "notJSON"),
        ("[]".to_owned(), "notRequest"),
        (using("urn:x"), "unknownCapability"),
        (
            json!({ "using": ["urn:ietf:params:jmap:core"],
                "methodCalls": vec![json!(["Core/echo", {}, "a"]); 17] })
            .to_string(),
            "limit",
        ),
    ] {
        let reply = fixture.post("/jmap/api", &body);
        assert_eq!((reply.status, reply.field("content-type")), (400, Some("application/problem+json")));
        assert_eq!(json_of(&reply)["type"], format!("urn:ietf:params:jmap:error:{kind}"));
    }
}

#[test]
fn what_is_refused_before_it_is_read_is_a_problem_too() {
    let fixture = Fixture::new();
    let problem = |reply: &Reply, status: u16, kind: &str| {
        assert_eq!((reply.status, reply.field("content-type")), (status, Some("application/problem+json")));
        let value = json_of(reply);
        assert_eq!((&value["type"], &value["status"]), (&json!(kind), &json!(status)), "{value}");
        value
    };
    let not_json = "urn:ietf:params:jmap:error:notJSON";
    let limit = "urn:ietf:params:jmap:error:limit";
    problem(&fixture.post_as("/jmap/api", "text/plain", "{}"), 415, not_json);
    let large = fixture.post_head("/jmap/api", "application/json", 10_000_001);
    assert_eq!(problem(&fixture.connect().ask(&large), 413, limit)["limit"], "maxSizeRequest");
    let large = fixture.post_head("/jmap/upload/mail", "text/plain", 50_000_001);
    assert_eq!(problem(&fixture.connect().ask(&large), 413, limit)["limit"], "maxSizeUpload");
    for path in ["/jmap/session", "/.well-known/jmap", "/jmap/eventsource"] {
        let reply = fixture.ask_without_token(&format!("GET {path}"), &[]);
        assert_eq!(problem(&reply, 401, "about:blank")["detail"], "log in first");
        assert!(reply.field("www-authenticate").is_some());
    }
    // People read what the page's addresses refuse.
    let reply = fixture.ask_without_token("GET /login?token=x", &[]);
    assert_eq!((reply.status, reply.field("content-type")), (403, Some("text/plain; charset=utf-8")));
}

#[test]
fn without_an_index_the_server_says_so_and_goes_on() {
    let fixture = Fixture::new();
    let data = fixture.directory.path().join("data");
    let away = fixture.directory.path().join("away");
    fs::rename(&data, &away).unwrap();
    let body = json!({ "using": [], "methodCalls": [] }).to_string();
    let reply = fixture.post("/jmap/api", &body);
    assert_eq!((reply.status, &json_of(&reply)["status"]), (503, &json!(503)));
    assert!(!reply.text().contains(&*data.to_string_lossy()), "{}", reply.text());
    assert_eq!(fixture.get("/jmap/download/mail/B00/a").status, 503);
    assert_eq!(fixture.get("/jmap/session").status, 200);
    fs::rename(&away, &data).unwrap();
    assert_eq!(fixture.post("/jmap/api", &body).status, 200);
}

#[test]
fn another_host_goes_on_with_another_configuration() {
    let fixture = Fixture::new();
    let mut settings = Settings::new(fixture.directory.path().join("data"));
    settings.configuration.headers = vec!["X-Project".to_owned()];
    let host = Arc::new(Host::new(settings));
    let is_in_use = Arc::downgrade(&host);
    fixture.mail.replace_host(host);
    assert_eq!(fixture.state(), fixture.state());
    assert!(is_in_use.upgrade().is_some_and(|host| host.settings().configuration.headers.len() == 1));
}
