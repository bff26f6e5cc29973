//! Which requests are answered: names of the server, other sites, methods, types of bodies.

use crate::support::{Fixture, Small, settings, text};
use server::{Address, Limits, Settings};
use std::io::Write;
use std::time::Duration;

fn status(fixture: &Fixture, request: &str) -> u16 {
    fixture.connect().ask(request).status
}

/// Returns the status of a request whose `Host` is `host`.
fn status_at(fixture: &Fixture, host: &str, fields: &str) -> u16 {
    let head = format!("GET /x HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\n", fixture.token);
    status(fixture, &format!("{head}{fields}\r\n"))
}

#[test]
fn the_host_is_one_of_the_servers_own_names() {
    let fixture = Fixture::new(|_| text("x"));
    let port = fixture.address.port();
    for host in ["127.0.0.1", "localhost", "LocalHost"] {
        assert_eq!(status_at(&fixture, &format!("{host}:{port}"), ""), 200, "{host}");
        // Some mail programs leave the port out. A browser does not, so a page has no use for this.
        assert_eq!(status_at(&fixture, host, ""), 200, "{host}");
        assert_eq!(status_at(&fixture, host, &format!("Origin: http://{host}\r\n")), 403, "{host}");
    }
    for host in ["evil.example", "evil.example:80", "localhost:80", "127.0.0.1:443", "127.0.0.2", ":", "["] {
        assert_eq!(status_at(&fixture, host, ""), 421, "{host}");
    }
    let wrong_port = port.wrapping_add(1);
    for host in ["evil.example", "127.0.0.2", "[::1]", "localhost.evil.example", "localhost."] {
        assert_eq!(status_at(&fixture, &format!("{host}:{port}"), ""), 421, "{host}");
    }
    assert_eq!(status_at(&fixture, &format!("localhost:{wrong_port}"), ""), 421);
    assert_eq!(status_at(&fixture, "", ""), 421);
    assert_eq!(status(&fixture, "GET /x HTTP/1.1\r\n\r\n"), 400);
    assert_eq!(status(&fixture, "GET /x HTTP/1.0\r\n\r\n"), 400);
    let twice = format!("Host: 127.0.0.1:{port}\r\n");
    assert_eq!(status_at(&fixture, &format!("127.0.0.1:{port}"), &twice), 400);
    let absolute = format!("GET http://127.0.0.1:{port}/x");
    assert_eq!(fixture.ask(&absolute, &[]).status, 400);
    // Nothing is said about what there is to those who use another name.
    assert_eq!(status(&fixture, &format!("GET /open HTTP/1.1\r\nHost: evil.example:{port}\r\n\r\n")), 421);
}

#[test]
fn behind_a_proxy_its_host_is_the_only_other_name() {
    let address = Address::Tcp(([0, 0, 0, 0], 0).into());
    let proxy = Some("Mail.example.org".to_owned());
    let settings = Settings { address, behind_proxy: proxy, ..settings() };
    let fixture = Fixture::of(settings, Small(Box::new(|request| text(&request.origin))));
    let port = fixture.address.port();
    let origin = |host: &str| {
        let head = format!("GET /open HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let reply = fixture.connect().ask(&head);
        (reply.status, reply.text().trim().to_owned())
    };
    assert_eq!(origin("mail.example.org"), (200, "https://mail.example.org".to_owned()));
    assert_eq!(origin("mail.example.org:443"), (200, "https://mail.example.org".to_owned()));
    assert_eq!(origin(&format!("localhost:{port}")), (200, format!("http://localhost:{port}")));
    assert_eq!(origin("localhost"), (200, format!("http://localhost:{port}")));
    for host in [&format!("mail.example.org:{port}"), "www.example.org", &format!("0.0.0.0:{port}")] {
        assert_eq!(origin(host).0, 421, "{host}");
    }
    let at_proxy = |origin| status_at(&fixture, "mail.example.org", &format!("Origin: {origin}\r\n"));
    assert_eq!(at_proxy("https://mail.example.org"), 200);
    assert_eq!(at_proxy("http://mail.example.org"), 403);
    assert_eq!(at_proxy(&format!("http://127.0.0.1:{port}")), 403);
    // A browser that reaches the proxy over TLS keeps its cookie from plain connections.
    let login = fixture.handle.new_login().unwrap().url;
    let path = login.strip_prefix("https://mail.example.org").unwrap();
    let reply = fixture.connect().ask(&format!("GET {path} HTTP/1.1\r\nHost: mail.example.org\r\n\r\n"));
    assert!(reply.field("set-cookie").unwrap().ends_with("; Secure"), "{reply:?}");
}

#[test]
fn an_origin_is_that_of_the_request() {
    let fixture = Fixture::new(|_| text("x"));
    let host = fixture.host();
    let ask = |origin: &str| fixture.ask("GET /x", &[&format!("Origin: {origin}")]).status;
    assert_eq!(ask(&format!("http://{host}")), 200);
    let others = [
        "null".to_owned(),
        "http://evil.example".to_owned(),
        format!("https://{host}"),
        format!("http://localhost:{}", fixture.address.port()),
        "http://127.0.0.1".to_owned(),
        format!("http://{host}.evil.example"),
        String::new(),
    ];
    for origin in others {
        assert_eq!(ask(&origin), 403, "{origin}");
    }
    let two = [&format!("Origin: http://{host}"), "Origin: http://evil.example"];
    assert_eq!(fixture.ask("GET /x", &two).status, 403);
}

#[test]
fn other_sites_can_only_lead_to_what_is_open() {
    let fixture = Fixture::new(|_| text("x"));
    let ask = |line: &str, site: &str, mode: &str, destination: &str| {
        let fields = [
            format!("Sec-Fetch-Site: {site}"),
            format!("Sec-Fetch-Mode: {mode}"),
            format!("Sec-Fetch-Dest: {destination}"),
            "Content-Type: application/json".to_owned(),
        ];
        fixture.ask(line, &fields.each_ref().map(String::as_str)).status
    };
    for site in ["same-origin", "none"] {
        assert_eq!(ask("GET /x", site, "cors", "empty"), 200, "{site}");
        assert_eq!(ask("POST /x", site, "cors", "empty"), 200, "{site}");
        assert_eq!(ask("GET /x", site, "navigate", "document"), 200, "{site}");
    }
    for site in ["cross-site", "same-site", "new-kind"] {
        for path in ["/x", "/open"] {
            assert_eq!(ask(&format!("GET {path}"), site, "cors", "empty"), 403, "{site} {path}");
            assert_eq!(ask(&format!("GET {path}"), site, "no-cors", "image"), 403, "{site} {path}");
            assert_eq!(ask(&format!("GET {path}"), site, "navigate", "iframe"), 403, "{site} {path}");
            assert_eq!(ask(&format!("POST {path}"), site, "navigate", "document"), 403, "{site} {path}");
            assert_eq!(ask(&format!("HEAD {path}"), site, "navigate", "document"), 403, "{site} {path}");
        }
        assert_eq!(ask("GET /x", site, "navigate", "document"), 403, "{site}");
        assert_eq!(ask("GET /open", site, "navigate", "document"), 200, "{site}");
        assert_eq!(ask("GET /login?token=x", site, "cors", "empty"), 403, "{site}");
        let login = fixture.handle.new_login().unwrap().url;
        let path = login.strip_prefix(&format!("http://{}", fixture.host())).unwrap();
        assert_eq!(ask(&format!("GET {path}"), site, "navigate", "document"), 303, "{site}");
    }
}

#[test]
fn only_get_head_and_post_are_answered() {
    let fixture = Fixture::new(|_| text("x"));
    for method in ["OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "PROPFIND", "get"] {
        let reply = fixture.ask(&format!("{method} /x"), &["Access-Control-Request-Method: POST"]);
        assert_eq!((reply.status, reply.field("allow")), (405, Some("GET, HEAD, POST")), "{method}");
        assert!(reply.fields.iter().all(|(name, _)| !name.starts_with("access-control")), "{reply:?}");
    }
    assert_eq!(fixture.ask("OPTIONS *", &[]).status, 405);
}

#[test]
fn a_post_has_a_type_that_its_path_takes() {
    let fixture = Fixture::new(|request| text(request.content_type.as_deref().unwrap_or("none")));
    let ask = |path: &str, fields: &[&str]| {
        let length = ["Content-Length: 2"];
        let request = format!("{}{{}}", fixture.head(&format!("POST {path}"), &[&length, fields].concat()));
        let reply = fixture.connect().ask(&request);
        (reply.status, reply.text().to_owned())
    };
    let json = "application/json; charset=utf-8";
    assert_eq!(ask("/x", &[&format!("Content-Type: {json}")]), (200, json.to_owned()));
    assert_eq!(ask("/x", &["Content-Type: Application/JSON"]).0, 200);
    for wrong in ["text/plain", "application/json2", "multipart/form-data", "application/jso", "*/*", ""] {
        assert_eq!(ask("/x", &[&format!("Content-Type: {wrong}")]).0, 415, "{wrong}");
    }
    assert_eq!(ask("/x", &[]).0, 415);
    assert_eq!(ask("/x", &["Content-Type: application/json", "Content-Type: text/plain"]).0, 415);
    assert_eq!(ask("/x", &["Content-Type: application/json", "Content-Encoding: gzip"]).0, 415);
    assert_eq!(ask("/upload", &["Content-Type: image/png"]), (200, "image/png".to_owned()));
    assert_eq!(ask("/upload", &[]), (200, "none".to_owned()));
}

#[test]
fn the_application_gets_what_was_asked() {
    let fixture = Fixture::new(|request| {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        text(&format!(
            "{:?} {} {:?} {body} {:?} {}",
            request.method, request.path, request.query, request.last_event_id, request.origin
        ))
    });
    let fields = ["Content-Type: application/json", "Last-Event-ID: 7", "Transfer-Encoding: chunked"];
    let head = fixture.head("POST /a%2fb/c?x=1%202&y", &fields);
    let reply = fixture.connect().ask(&format!("{head}3\r\n{{\"a\r\n2\r\n\"}}\r\n0\r\n\r\n"));
    let host = fixture.host();
    let query = "[(\"x\", \"1 2\"), (\"y\", \"\")]";
    assert_eq!(reply.text(), format!("Post /a%2fb/c {query} {{\"a\"}} Some(\"7\") http://{host}"));
    assert_eq!(fixture.ask("GET /x?a=%zz", &[]).status, 400);
}

#[test]
fn addresses_are_ascii() {
    let fixture = Fixture::new(|request| text(&request.path));
    for path in ["/\u{e9}", "/x?\u{e9}", "/x\u{7f}", "/\u{ff0f}x"] {
        assert_eq!(fixture.ask(&format!("GET {path}"), &[]).status, 400, "{path:?}");
    }
    assert_eq!(fixture.ask("GET //x/../y;z", &[]).text(), "//x/../y;z");
}

#[test]
fn nothing_that_is_sent_ends_the_server() {
    // A wrong token would hold its answer back.
    let limits = Limits { login_pause_max: Duration::ZERO, ..Limits::default() };
    let fixture = Fixture::with(limits, |request| text(&request.path));
    let fields = ["Content-Type: application/json", "Transfer-Encoding: chunked", "Cookie: a=b; pneu"];
    let valid = fixture.head("POST /x?a=%20", &fields) + "3\r\nabc\r\n0\r\n\r\n";
    let mut random: u64 = 1;
    for round in 0..2000 {
        let mut request = valid.clone().into_bytes();
        for _ in 0..=round % 4 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let [place, byte, kind, ..] = (random >> 16).to_le_bytes().map(usize::from);
            let place = (place << 8 | byte) % request.len();
            match kind % 3 {
                0 => request[place] = (random >> 56).to_le_bytes()[0],
                1 => drop(request.remove(place)),
                _ => request.insert(place, (random >> 48).to_le_bytes()[0]),
            }
        }
        let mut client = fixture.connect();
        // The server may have closed the connection already.
        let _ = client.stream.write_all(&request);
        let _ = client.stream.shutdown(std::net::Shutdown::Write);
        client.wait_for_end();
        let answer = String::from_utf8_lossy(&client.unread);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 "), "{answer}");
        assert!(!answer.starts_with("HTTP/1.1 5"), "{answer}");
    }
    assert_eq!(fixture.ask("GET /x", &[]).text(), "/x");
}
