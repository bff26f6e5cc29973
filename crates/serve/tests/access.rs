//! Who may ask for what, and where things are: the session, and everything that needs a login.

use crate::support::{Fixture, json_of};
use serde_json::Value;

#[test]
fn the_session_has_whole_addresses_of_this_server() {
    let fixture = Fixture::new();
    let reply = fixture.get("/.well-known/jmap");
    assert_eq!((reply.status, reply.field("content-type")), (200, Some("application/json")));
    assert_eq!(reply.field("cache-control"), Some("no-cache, no-store, must-revalidate"));
    let session = json_of(&reply);
    let origin = fixture.origin();
    for (name, path) in [
        ("apiUrl", "/jmap/api"),
        ("downloadUrl", "/jmap/download/{accountId}/{blobId}/{name}?type={type}"),
        ("uploadUrl", "/jmap/upload/{accountId}"),
        ("eventSourceUrl", "/jmap/eventsource?types={types}&closeafter={closeafter}&ping={ping}"),
    ] {
        assert_eq!(session[name], format!("{origin}{path}"));
    }
    assert_eq!(session["username"], "ana@example.org");
    assert_eq!(session["primaryAccounts"]["urn:ietf:params:jmap:mail"], "mail");
    assert_eq!(json_of(&fixture.get("/jmap/session")), session);
    // Another name of the same server.
    let port = origin.rsplit(':').next().unwrap();
    let other = fixture.head("GET /jmap/session", &[]).replace("127.0.0.1", "localhost");
    let other = json_of(&fixture.connect().ask(&other));
    assert_eq!(other["apiUrl"], format!("http://localhost:{port}/jmap/api"));
    assert_ne!(other["state"], session["state"]);
}

#[test]
fn everything_but_the_page_needs_a_login() {
    let fixture = Fixture::new();
    for line in [
        "GET /.well-known/jmap",
        "GET /jmap/session",
        "GET /jmap/api",
        "GET /jmap/download/mail/B00/a",
        "GET /jmap/eventsource",
        "GET /mail/M00/html",
        "GET /mail/M00/image/1",
        "GET /favicon.ico",
        "HEAD /jmap/session",
        "POST /jmap/api",
        "POST /jmap/upload/mail",
        "POST /",
    ] {
        let reply = fixture.ask_without_token(line, &["Content-Type: application/json"]);
        assert_eq!(reply.status, 401, "{line}");
    }
    let wrong = fixture.ask_without_token("GET /jmap/session", &["Authorization: Bearer wrong"]);
    assert_eq!(wrong.status, 401);
    let page = fixture.ask_without_token("GET /", &[]);
    assert_eq!((page.status, page.field("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(page.text().contains("/.well-known/jmap"));
    assert!(page.field("cache-control").unwrap().contains("no-store"));
    for (before, name, content_type) in [
        ("src", "app.js", "text/javascript; charset=utf-8"),
        ("href", "style.css", "text/css; charset=utf-8"),
    ] {
        let before = format!("{before}=\"");
        let mut paths = page.text().split(&before).filter_map(|rest| rest.split('"').next());
        let path = paths.find(|path| path.ends_with(name)).unwrap();
        let file = fixture.ask_without_token(&format!("GET {path}"), &[]);
        assert_eq!((file.status, file.field("content-type")), (200, Some(content_type)));
        assert_eq!(file.field("cache-control"), Some("private, max-age=31536000, immutable"));
        let policy = file.field("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; "), "{policy}");
        assert_eq!(page.field("content-security-policy"), Some(policy));
    }
}

#[test]
fn a_link_and_its_cookie_open_the_session() {
    let fixture = Fixture::new();
    let url = fixture.handle.new_login().unwrap().url;
    let path = url.strip_prefix(&fixture.origin()).unwrap();
    let reply = fixture.ask_without_token(&format!("GET {path}"), &[]);
    assert_eq!((reply.status, reply.field("location")), (303, Some("/")));
    let cookie = format!("Cookie: {}", reply.field("set-cookie").unwrap().split(';').next().unwrap());
    let reply = fixture.ask_without_token("GET /jmap/session", &[&cookie]);
    assert_eq!(json_of(&reply)["username"], "ana@example.org");
}

#[test]
fn what_is_not_there_is_not_found_and_says_so() {
    let fixture = Fixture::new();
    for path in ["/index.html", "/jmap", "/jmap/", "/jmap/api", "/jmap/download/", "/jmap/upload/mail"] {
        let reply = fixture.get(path);
        assert_eq!((reply.status, problem_type(&reply.body)), (404, "about:blank".to_owned()), "{path}");
        assert_eq!(reply.field("content-type"), Some("application/problem+json"));
    }
    let reply = fixture.post("/jmap/upload/other", "some bytes");
    assert_eq!((reply.status, problem_type(&reply.body)), (404, "about:blank".to_owned()));
}

#[test]
fn head_has_the_fields_of_get_and_no_body() {
    let fixture = Fixture::new();
    for path in ["/", "/jmap/session", "/nothing"] {
        let reply = fixture.get(path);
        let head = fixture.connect().ask(&fixture.head(&format!("HEAD {path}"), &[]));
        assert_eq!((head.status, head.body.len()), (reply.status, 0));
        let fields = |name| (head.field(name), reply.field(name));
        for name in ["content-length", "content-type", "cache-control"] {
            assert_eq!(fields(name).0, fields(name).1, "{path} {name}");
        }
        assert_eq!(head.field("content-length"), Some(reply.body.len().to_string().as_str()));
    }
}

fn problem_type(body: &[u8]) -> String {
    let value: Value = serde_json::from_slice(body).unwrap();
    value["type"].as_str().unwrap().to_owned()
}
