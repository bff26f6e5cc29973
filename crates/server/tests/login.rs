//! Who gets answers: links for browsers, a token for other clients, and nobody else.

use crate::support::{Fixture, Reply, Small, settings, text};
use server::{Address, Error, Limits, Secret, Settings, write_browser_file};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::time::Duration;

/// Returns what follows the server's address in a new link.
fn link(fixture: &Fixture) -> String {
    let url = fixture.handle.new_login().unwrap().url;
    url.strip_prefix(&format!("http://{}", fixture.host())).unwrap().to_owned()
}

fn open(fixture: &Fixture, link: &str) -> Reply {
    fixture.ask_without_token(&format!("GET {link}"), &[])
}

/// Returns the header field that a browser sends after it got this answer.
fn cookie(reply: &Reply) -> String {
    let field = reply.field("set-cookie").unwrap();
    format!("Cookie: {}", field.split(';').next().unwrap())
}

#[test]
fn a_link_logs_a_browser_in_once() {
    let fixture = Fixture::new(|_| text("x"));
    let link = link(&fixture);
    // To ask what is there uses nothing up.
    for method in ["HEAD", "POST"] {
        let refused = fixture.ask_without_token(&format!("{method} {link}"), &[]);
        assert_eq!((refused.status, refused.field("allow")), (405, Some("GET")), "{method}");
    }
    let reply = open(&fixture, &link);
    assert_eq!((reply.status, reply.field("location")), (303, Some("/")), "{reply:?}");
    assert_eq!(reply.field("referrer-policy"), Some("no-referrer"));
    assert_eq!(reply.field("cache-control"), Some("no-cache, no-store, must-revalidate"));
    let set_cookie = reply.field("set-cookie").unwrap();
    let (pair, rest) = set_cookie.split_once(';').unwrap();
    let secret = pair.strip_prefix(&format!("pneu-{}=", fixture.address.port())).unwrap();
    assert_eq!((secret.len(), rest), (43, " HttpOnly; SameSite=Strict; Path=/"));
    assert!(!link.contains(secret));
    assert_eq!(fixture.ask_without_token("GET /x", &[&cookie(&reply)]).text(), "x");

    let second = open(&fixture, &link);
    assert_eq!((second.status, second.field("set-cookie")), (403, None));
    assert_eq!(open(&fixture, "/login").status, 403);
    assert_eq!(open(&fixture, "/login?token=").status, 403);
    assert_eq!(open(&fixture, &format!("/login?token={}", fixture.token)).status, 403);
}

#[test]
fn a_running_server_gives_a_link_for_its_token() {
    let fixture = Fixture::new(|_| text("x"));
    let token = Secret::from_text(&fixture.token).unwrap();
    let asked = server::new_login(&Address::Tcp(fixture.address), &token).unwrap().url;
    let path = asked.strip_prefix(&format!("http://{}", fixture.host())).unwrap();
    let reply = open(&fixture, path);
    assert_eq!(reply.status, 303);
    assert_eq!(open(&fixture, path).status, 403);
    // No cookie is enough, and no page gets one.
    let line = "POST /login-link";
    assert_eq!(fixture.ask_without_token(line, &[&cookie(&reply)]).status, 401);
    assert_eq!(fixture.ask_without_token(line, &[]).status, 401);
    assert_eq!(fixture.ask(line, &["Sec-Fetch-Site: cross-site"]).status, 403);
    let refused = fixture.ask("GET /login-link", &[]);
    assert_eq!((refused.status, refused.field("allow")), (405, Some("POST")));
    let wrong = server::new_login(&Address::Tcp(fixture.address), &Secret::random().unwrap());
    let Err(Error::NoLink { what, .. }) = wrong else { panic!("{wrong:?}") };
    assert!(what.contains("another one"), "{what}");
}

#[test]
fn who_is_no_server_gives_no_link() {
    let token = Secret::random().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::Tcp(listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        let mut request = [0; 16];
        stream.read_exact(&mut request).unwrap();
        stream.write_all(b"220 mail.example.org ESMTP\r\n").unwrap();
        request
    });
    assert!(matches!(
        server::new_login(&address, &token),
        Err(Error::NoLink { .. } | Error::Unreached { .. })
    ));
    assert_eq!(&thread.join().unwrap(), b"POST /login-link");
    assert!(matches!(server::new_login(&address, &token), Err(Error::Unreached { .. })));
}

#[test]
fn who_logs_out_is_logged_out() {
    let fixture = Fixture::new(|_| text("x"));
    let [one, other] = [(); 2].map(|()| cookie(&open(&fixture, &link(&fixture))));
    let ask = |line: &str, cookie: &str| fixture.ask_without_token(line, &[cookie]);
    let refused = ask("GET /logout", &one);
    assert_eq!((refused.status, refused.field("allow")), (405, Some("POST")));
    // Another site logs nobody out.
    let cross = ["Sec-Fetch-Site: cross-site", &one];
    assert_eq!(fixture.ask_without_token("POST /logout", &cross).status, 403);
    assert_eq!(ask("GET /x", &one).status, 200);
    let done = ask("POST /logout", &one);
    let cleared = format!("pneu-{}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0", fixture.address.port());
    assert_eq!((done.status, done.field("set-cookie")), (204, Some(cleared.as_str())));
    assert_eq!(ask("GET /x", &one).status, 401);
    assert_eq!(ask("POST /logout", &one).status, 401);
    assert_eq!(ask("GET /x", &other).status, 200);
}

#[test]
fn cookies_of_other_programs_log_nobody_out() {
    let fixture = Fixture::new(|_| text("x"));
    let own = cookie(&open(&fixture, &link(&fixture)));
    let own = own.strip_prefix("Cookie: ").unwrap();
    for pairs in [format!("theme=\u{e9}; {own}"), format!("{own}; theme=\u{e9}"), format!("a\t; {own};;")] {
        assert_eq!(
            fixture.ask_without_token("GET /x", &[&format!("Cookie: {pairs}")]).status,
            200,
            "{pairs}"
        );
    }
}

#[test]
fn each_browser_has_a_session_of_its_own() {
    let fixture = Fixture::new(|_| text("x"));
    let links = [link(&fixture), link(&fixture)];
    let cookies = links.each_ref().map(|link| cookie(&open(&fixture, link)));
    assert_ne!(cookies[0], cookies[1]);
    for cookie in &cookies {
        assert_eq!(fixture.ask_without_token("GET /x", &[cookie]).status, 200);
    }
    let other = Fixture::new(|_| text("x"));
    let elsewhere = cookies[0]
        .replace(&format!("pneu-{}=", fixture.address.port()), &format!("pneu-{}=", other.address.port()));
    assert_eq!(other.ask_without_token("GET /x", &[&elsewhere]).status, 401);
}

#[test]
fn a_client_uses_a_token_that_may_be_given() {
    let token = Secret::random().unwrap();
    let given = Settings { token: Some(token.clone()), ..settings() };
    let fixture = Fixture::of(given, Small(Box::new(|_| text("x"))));
    assert_eq!(fixture.token, token.text());
    for _ in 0..2 {
        assert_eq!(fixture.ask("GET /x", &[]).status, 200);
    }
    // base64 of "any:" and the token, whose letters are those of the last 44 of these.
    let basic = base64(&format!("any:{}", token.text()));
    assert_eq!(fixture.ask_without_token("GET /x", &[&format!("Authorization: Basic {basic}")]).status, 200);
    let basic = base64(&format!("{}:any", token.text()));
    assert_eq!(fixture.ask_without_token("GET /x", &[&format!("Authorization: Basic {basic}")]).status, 401);
    assert_ne!(Fixture::new(|_| text("x")).token, fixture.token);
    assert!(matches!(Secret::from_text("short"), Err(Error::Token)));
}

/// Encodes a text whose length is a multiple of three, or not.
fn base64(text: &str) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut encoded = String::new();
    for group in text.as_bytes().chunks(3) {
        let bits = group.iter().chain(&[0, 0]).take(3).fold(0, |bits, byte| bits << 8 | usize::from(*byte));
        for place in 0..4 {
            let letter = LETTERS[bits >> (18 - 6 * place) & 63];
            encoded.push(if place <= group.len() { char::from(letter) } else { '=' });
        }
    }
    encoded
}

#[test]
fn without_login_there_is_only_what_is_open() {
    let fixture = Fixture::new(|request| text(&request.path));
    assert_eq!(fixture.ask_without_token("GET /open/a", &[]).text(), "/open/a");
    let refused = fixture.ask_without_token("GET /x", &[]);
    assert_eq!(refused.status, 401);
    let challenges = |reply: &Reply| -> Vec<String> {
        let fields = reply.fields.iter().filter(|(name, _)| name == "www-authenticate");
        fields.map(|(_, value)| value.split(' ').next().unwrap().to_owned()).collect()
    };
    assert_eq!(challenges(&refused), ["Bearer", "Basic"]);
    // A browser would show a dialogue.
    let browser = fixture.ask_without_token("GET /x", &["Sec-Fetch-Site: same-origin"]);
    assert_eq!((browser.status, challenges(&browser)), (401, vec!["Bearer".to_owned()]));
    // Before the type and the length of a body are looked at.
    assert_eq!(fixture.ask_without_token("POST /x", &["Content-Length: 99999"]).status, 401);
}

#[test]
fn a_wrong_token_waits_and_nobody_else_does() {
    let limits = Limits {
        login_pause_first: Duration::from_secs(100_000),
        login_pause_max: Duration::from_secs(100_000),
        ..Limits::default()
    };
    let fixture = Fixture::with(limits, |_| text("x"));
    let wrong = [
        ("GET /x", format!("Authorization: Bearer {}", Secret::random().unwrap().text())),
        ("GET /login?token=wrong", "Accept: */*".to_owned()),
    ];
    let waiting = wrong.map(|(line, field)| {
        let mut client = fixture.connect();
        client.send(&fixture.head_without_token(line, &[&field]));
        client
    });
    // The server's one thread has read them before it answers these.
    assert_eq!(fixture.ask("GET /x", &[]).status, 200);
    assert_eq!(fixture.ask_without_token("GET /x", &[]).status, 401);
    // A page that was open before the server was started again.
    let old = format!("Cookie: pneu-{}=old", fixture.address.port());
    assert_eq!(fixture.ask_without_token("GET /x", &[&old]).status, 401);
    assert_eq!(open(&fixture, &link(&fixture)).status, 303);
    for mut client in waiting {
        client.stream.set_nonblocking(true).unwrap();
        let early = client.stream.read(&mut [0; 1]);
        assert!(matches!(&early, Err(error) if error.kind() == ErrorKind::WouldBlock), "{early:?}");
    }
}

#[test]
fn no_secret_is_shown() {
    let fixture = Fixture::new(|request| text(&format!("{request:?}")));
    let (url, server) = (fixture.handle.new_login().unwrap(), &fixture.handle);
    let secret = url.url.rsplit('=').next().unwrap().to_owned();
    let shown = format!("{url:?} {server:?} {:?}", Secret::from_text(&fixture.token).unwrap());
    let settings = Settings { token: Some(Secret::from_text(&fixture.token).unwrap()), ..settings() };
    let shown = format!("{shown} {settings:?} {:?}", server::Server::bind(settings.clone()).unwrap());
    assert!(!shown.contains(&secret) && !shown.contains(&fixture.token), "{shown}");
    let replies = [
        fixture.ask("GET /x?a=private", &[]),
        fixture.ask("GET /login?token=wrong", &[]),
        fixture.ask("GET /panic", &["Origin: null"]),
        open(&fixture, &format!("/login?token={secret}")),
        open(&fixture, &format!("/login?token={secret}")),
    ];
    for reply in replies {
        let all = format!("{reply:?} {}", reply.text());
        assert!(!all.contains(&secret) && !all.contains(&fixture.token), "{all}");
        assert!(!all.contains("wrong") && !all.contains("private"), "{all}");
    }
}

#[test]
fn a_file_opens_a_browser() {
    let fixture = Fixture::new(|_| text("x"));
    let directory = tempfile::tempdir().unwrap();
    let path = write_browser_file(directory.path(), &fixture.handle.new_login().unwrap()).unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    let start = format!("href=\"http://{}", fixture.host());
    let link = page.split(&start).nth(1).unwrap().split('"').next().unwrap();
    // What a browser says when a page of a file leads to a server.
    let from_file = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"];
    let reply = fixture.ask_without_token(&format!("GET {link}"), &from_file);
    assert_eq!(reply.status, 303);
    // It follows the redirection without its new cookie, which is strict; the page then has it.
    assert_eq!(fixture.ask_without_token("GET /", &from_file).status, 200);
    let own = ["Sec-Fetch-Site: same-origin", &cookie(&reply)];
    assert_eq!(fixture.ask_without_token("GET /x", &own).status, 200);
}
