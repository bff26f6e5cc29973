//! Messages as HTML: what is left of them, the policy that they are under, and the pictures in them.

use crate::support::{Fixture, json_of};
use serde_json::json;

const RELATED: &str = "From: ana@example.org\nMessage-ID: <rich@x>\nMIME-Version: 1.0\nContent-Type: \
    multipart/related; boundary=r\n\n--r\nContent-Type: text/html\n\n<style>p{color:red;background:url(\
    http://a.example/b)}</style><body bgcolor=\"#eee\"><p>rich</p><script>x()</script><img src=\"cid:one@x\">\
    <img src=\"http://a.example/1\"><img src=\"https://b.example/2\"><img src=\"http://127.0.0.1/3\"><img \
    src=\"cid:two@x\">\n--r\nContent-Type: image/png\nContent-ID: <one@x>\n\nPNG\n--r\nContent-Type: \
    image/svg+xml\nContent-ID: <two@x>\n\n<svg/>\n--r--\n";

/// Delivers a message. Returns the address of what it is as HTML.
fn deliver(fixture: &Fixture, text: &str) -> String {
    fixture.deliver("2:2,", text);
    let answers = fixture.answers(json!([["Email/query",
        { "accountId": "mail", "filter": { "header": ["Message-ID", "rich@x"] } }, "a"]]));
    let id = answers["methodResponses"][0][1]["ids"][0].as_str().unwrap();
    format!("/mail/{id}")
}

#[test]
fn html_is_cleaned_and_under_a_policy_of_its_own() {
    let fixture = Fixture::without_events();
    let mail = deliver(&fixture, RELATED);
    let origin = fixture.origin();
    let reply = fixture.get(&format!("{mail}/html"));
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox allow-same-origin; \
         img-src data: {origin}{mail}/image/"
    );
    for (name, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("content-security-policy", policy.as_str()),
        ("x-frame-options", "SAMEORIGIN"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-cache, no-store, must-revalidate"),
    ] {
        assert_eq!((reply.status, reply.field(name)), (200, Some(value)));
    }
    let text = reply.text();
    assert!(text.contains("<meta name=\"hosts\" content=\"a.example b.example\">"), "{text}");
    assert!(text.contains("<style>p{color:red;background:;}</style>"), "{text}");
    assert!(text.contains("<body bgcolor=\"#eee\">"), "{text}");
    let left = format!("<p>rich</p><img src=\"{mail}/image/2\"><img><img><img><img>");
    assert!(text.contains(&left), "{text}");
    assert!(!text.contains("http:") && !text.contains("script"), "{text}");
    let reply = fixture.get(&format!("{mail}/html?images=1"));
    let policy = format!("{policy} http://a.example https://b.example");
    assert_eq!(reply.field("content-security-policy"), Some(policy.as_str()));
    let text = reply.text();
    assert!(
        text.contains("<img src=\"http://a.example/1\"><img src=\"https://b.example/2\"><img><img>"),
        "{text}"
    );
    assert!(!text.contains("a.example/b"), "{text}");
}

#[test]
fn pictures_are_those_of_the_message_that_browsers_show() {
    let fixture = Fixture::without_events();
    let mail = deliver(&fixture, RELATED);
    let reply = fixture.get(&format!("{mail}/image/2"));
    assert_eq!((reply.status, reply.text()), (200, "PNG"));
    for (name, value) in [
        ("content-type", "image/png"),
        ("content-disposition", "inline"),
        ("content-security-policy", "sandbox; default-src 'none'; frame-ancestors 'none'"),
        ("x-frame-options", "DENY"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(reply.field(name), Some(value));
    }
    let unknown = format!("/mail/M{}", "0".repeat(64));
    for path in [
        // The text, SVG, and what there is not.
        format!("{mail}/image/1"),
        format!("{mail}/image/3"),
        format!("{mail}/image/9"),
        format!("{mail}/image/x"),
        format!("{mail}/image/2/x"),
        format!("{mail}/image"),
        format!("{mail}/html/x"),
        format!("{mail}/other"),
        mail.clone(),
        format!("{unknown}/html"),
        format!("{unknown}/image/1"),
        "/mail/..%2Fx/html".to_owned(),
        "/mail/".to_owned(),
    ] {
        let reply = fixture.get(&path);
        assert_eq!((reply.status, &json_of(&reply)["status"]), (404, &json!(404)), "{path}");
    }
    // A message may go while it is opened: the frame of the page then has this answer.
    let gone = fixture.get(&format!("{unknown}/html"));
    assert_eq!(gone.field("x-frame-options"), Some("SAMEORIGIN"));
    assert_eq!(fixture.get(&format!("{unknown}/image/1")).field("x-frame-options"), Some("DENY"));
    let reply = fixture.ask_without_token(&format!("GET {mail}/html"), &[]);
    assert_eq!(reply.status, 401);
    assert_eq!(fixture.ask_without_token(&format!("GET {mail}/image/2"), &[]).status, 401);
}

#[test]
fn html_that_cannot_be_cleaned_is_not_shown() {
    let fixture = Fixture::without_events();
    let deep = "<div>".repeat(3000);
    let mail = deliver(
        &fixture,
        &format!("Message-ID: <rich@x>\nMIME-Version: 1.0\nContent-Type: text/html\n\n<p>words</p>{deep}"),
    );
    let reply = fixture.get(&format!("{mail}/html"));
    assert_eq!(reply.status, 200);
    assert!(reply.text().contains("name=\"unclean\"") && !reply.text().contains("words"), "{}", reply.text());
}

#[test]
fn texts_and_pictures_between_html_are_shown_in_order() {
    let fixture = Fixture::without_events();
    let mail = deliver(
        &fixture,
        "Message-ID: <rich@x>\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=m\n\n--m\n\na <b>\n\
         --m\nContent-Type: image/gif\n\nGIF\n--m\nContent-Type: text/html\n\n<i>c</i>\n--m--\n",
    );
    let reply = fixture.get(&format!("{mail}/html"));
    let expected = format!(
        "<div><pre>a &lt;b&gt;</pre></div>\n<div><p><img alt=\"\" src=\"{mail}/image/2\"></p></div>\n\
         <div><i>c</i></div>"
    );
    assert!(reply.text().contains(&expected), "{}", reply.text());
}

#[test]
fn lasting_addresses_are_the_page() {
    let fixture = Fixture::without_events();
    let page = fixture.ask_without_token("GET /", &[]);
    for path in ["/m/a%40b", "/m/", "/q/from:ana/x?y", "/q/%F0%9F%93%AE"] {
        let reply = fixture.ask_without_token(&format!("GET {path}"), &[]);
        assert_eq!((reply.status, &reply.body), (200, &page.body), "{path}");
        let field = |reply: &crate::support::Reply, name| reply.field(name).map(str::to_owned);
        for name in ["content-security-policy", "content-type", "x-frame-options"] {
            assert_eq!(field(&reply, name), field(&page, name), "{path} {name}");
        }
    }
    for path in ["/m", "/q", "/M/a", "/mm/a"] {
        assert_eq!(fixture.ask_without_token(&format!("GET {path}"), &[]).status, 401, "{path}");
    }
}
