//! What every answer says, and what the application can say.

use crate::support::{Fixture, Reply, text};
use server::{Body, Cache, Disposition, EventOptions, Frames, Response, StatusCode, events};

const COMMON: [(&str, &str); 4] = [
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];
const POLICY: (&str, &str) = (
    "content-security-policy",
    "default-src 'none'; form-action 'none'; base-uri 'none'; sandbox | frame-ancestors 'none'",
);
const DENY: (&str, &str) = ("x-frame-options", "DENY");
const NO_STORE: (&str, &str) = ("cache-control", "no-cache, no-store, must-revalidate");

fn check(reply: &Reply, status: u16, fields: &[(&str, &str)]) {
    assert_eq!(reply.status, status, "{reply:?}");
    for (name, value) in COMMON.iter().chain(fields) {
        let found: Vec<&(String, String)> = reply.fields.iter().filter(|(found, _)| found == name).collect();
        // Several policies hold together.
        let found: Vec<&str> = found.iter().map(|(_, found)| found.as_str()).collect();
        assert_eq!(found.join(" | "), *value, "{name}: {reply:?}");
    }
}

#[test]
fn every_answer_has_them() {
    let fixture = Fixture::new(|request| match request.path.as_str() {
        "/panic" => panic!("a panic of the test"),
        "/none" => Response::new(StatusCode::NOT_FOUND, "text/plain", Body::Bytes(Vec::new())),
        "/events" => {
            let (sender, stream) = events(EventOptions::default());
            drop(sender);
            Response::events(stream)
        }
        _ => text("x"),
    });
    let login = fixture.handle.new_login().unwrap().url;
    let login = login.strip_prefix(&format!("http://{}", fixture.host())).unwrap();
    let common = [POLICY, DENY, NO_STORE];
    let lines = [
        ("GET /x", 200),
        ("HEAD /x", 200),
        ("GET /none", 404),
        ("GET /events", 200),
        ("GET /panic", 500),
        ("GET /rule", 500),
        ("OPTIONS /x", 405),
        ("POST /x", 415),
        ("GET /login?token=x", 403),
        (&format!("GET {login}"), 303),
    ];
    for (line, status) in lines {
        check(&fixture.ask(line, &[]), status, &common);
    }
    check(&fixture.ask_without_token("GET /x", &[]), 401, &common);
    check(&fixture.ask("GET /x", &["Origin: null"]), 403, &common);
    check(&fixture.ask("GET /x", &["Content-Length: 1"]), 413, &common);
    check(&fixture.connect().ask("GET /x HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 421, &common);
}

#[test]
fn an_answer_can_say_more() {
    let fixture = Fixture::new(|request| {
        let mut response = text("x");
        match request.path.as_str() {
            "/page" => response.content_security_policy = Some("script-src 'self'".to_owned()),
            "/framed" => response.frames = Frames::SameOrigin,
            "/file" => response.cache = Cache::Immutable,
            "/inline" => response.disposition = Disposition::Inline,
            "/save" => response.disposition = Disposition::Attachment("a\"\r\nb.txt".to_owned()),
            "/type" => response.content_type = Some("text/html\r\nSet-Cookie: a=b".to_owned()),
            "/policy" => response.content_security_policy = Some("script-src\n".to_owned()),
            _ => response.status = StatusCode::CONTINUE,
        }
        response
    });
    let ask = |path: &str| fixture.ask(&format!("GET {path}"), &[]);
    let policy = |text| ("content-security-policy", text);
    check(&ask("/page"), 200, &[policy("script-src 'self' | frame-ancestors 'none'"), DENY, NO_STORE]);
    let framed = POLICY.1.replace("ancestors 'none'", "ancestors 'self'");
    check(&ask("/framed"), 200, &[policy(&framed), ("x-frame-options", "SAMEORIGIN")]);
    check(&ask("/file"), 200, &[("cache-control", "private, max-age=31536000, immutable"), POLICY]);
    check(&ask("/inline"), 200, &[("content-disposition", "inline"), ("content-type", "text/plain")]);
    let save = "attachment; filename=\"a___b.txt\"; filename*=UTF-8''a%22%0D%0Ab.txt";
    check(&ask("/save"), 200, &[("content-disposition", save)]);
    check(&ask("/type"), 200, &[("content-type", "application/octet-stream")]);
    check(&ask("/policy"), 500, &[POLICY, NO_STORE]);
    check(&ask("/status"), 500, &[POLICY, NO_STORE]);
}

#[test]
fn head_is_get_without_the_body() {
    let fixture = Fixture::new(|request| match request.path.as_str() {
        "/stream" => {
            let body = Body::Stream { reader: Box::new(&b"0123456789"[..]), length: Some(10) };
            Response::new(StatusCode::OK, "text/plain", body)
        }
        "/events" => Response::events(events(EventOptions::default()).1),
        _ => text(&format!("{:?}", request.method)),
    });
    let mut client = fixture.connect();
    for (path, length) in [("/x", Some("3")), ("/stream", Some("10")), ("/events", None)] {
        let reply = client.ask(&fixture.head(&format!("HEAD {path}"), &[]));
        assert_eq!((reply.status, reply.field("content-length")), (200, length), "{path}");
    }
    // Nothing stands between one answer and the next.
    assert_eq!(client.ask(&fixture.head("GET /x", &[])).text(), "Get");
}
