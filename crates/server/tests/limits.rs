//! How much clients may use. Each limit is reached; where it is a time, the test waits for what must follow.

use crate::support::{Client, Fixture, PATIENCE, receive, text, wait_until};
use server::{Body, EventOptions, EventSender, Limits, Response, StatusCode, events};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(100_000);
/// More than the buffers of a connection hold.
const MUCH: usize = 64 << 20;

#[test]
fn heads_have_limits() {
    let limits =
        Limits { header_bytes_max: 1000, header_count_max: 10, url_bytes_max: 100, ..Limits::default() };
    let fixture = Fixture::with(limits, |_| text("x"));
    let status = |line: &str, fields: &[&str]| fixture.ask(line, fields).status;
    let field = |bytes: usize| format!("A: {}", "b".repeat(bytes));
    // Host and Authorization are there already.
    assert_eq!(status("GET /x", &["A: b"; 8]), 200);
    assert_eq!(status("GET /x", &["A: b"; 9]), 431);
    assert_eq!(status("GET /x", &["A: b"; 200]), 431);
    assert_eq!(status("GET /x", &[&field(800)]), 200);
    assert_eq!(status("GET /x", &[&field(1000)]), 431);
    assert_eq!(status("GET /x", &[&field(100_000)]), 431);
    assert_eq!(status(&format!("GET /{}", "x".repeat(99)), &[]), 200);
    assert_eq!(status(&format!("GET /{}", "x".repeat(100)), &[]), 414);
    assert_eq!(status(&format!("GET /x?{}", "x".repeat(98)), &[]), 414);
}

#[test]
fn cookies_of_other_programs_have_room_of_their_own() {
    let fixture = Fixture::new(|_| text("x"));
    let cookies = |bytes: usize| fixture.ask("GET /x", &[&format!("Cookie: a={}", "b".repeat(bytes))]);
    assert_eq!(cookies(17_000).status, 200);
    assert_eq!(cookies(65_000).status, 200);
    let refused = cookies(66_000);
    assert!(refused.status == 431 && refused.text().contains("remove its cookies"), "{refused:?}");
    let half = format!("Cookie: {}", "b".repeat(33_000));
    assert_eq!(fixture.ask("GET /x", &[&half, &half]).status, 431);
}

#[test]
fn a_body_that_is_too_large_is_not_read() {
    let fixture = Fixture::new(|request| text(&request.body.len().to_string()));
    let json = "Content-Type: application/json";
    let post = |line: &str, length: &str, body: &str| {
        let mut client = fixture.connect();
        client.ask(&format!("{}{body}", fixture.head(line, &[json, length])))
    };
    assert_eq!(post("POST /x", "Content-Length: 1000", &"x".repeat(1000)).text(), "1000");
    // Nothing of the body is there: the head is enough.
    assert_eq!(post("POST /x", "Content-Length: 1001", "").status, 413);
    assert_eq!(post("POST /x", "Content-Length: 18446744073709551000", "").status, 413);
    // Its length is not said before.
    let chunks = |count: usize| format!("64\r\n{}\r\n", "x".repeat(100)).repeat(count);
    assert_eq!(
        post("POST /x", "Transfer-Encoding: chunked", &format!("{}0\r\n\r\n", chunks(10))).text(),
        "1000"
    );
    assert_eq!(post("POST /x", "Transfer-Encoding: chunked", &chunks(11)).status, 413);
    // Who asks for leave gets none.
    let mut client = fixture.connect();
    let head = fixture.head("POST /x", &[json, "Content-Length: 1001", "Expect: 100-continue"]);
    assert_eq!(client.ask(&head).status, 413);
    // Only a POST of somebody who logged in has a body.
    assert_eq!(post("GET /x", "Content-Length: 1", "x").status, 413);
    assert_eq!(post("POST /open", "Content-Length: 1", "x").status, 413);
    assert_eq!(post("POST /open", "Transfer-Encoding: chunked", "1\r\nx\r\n0\r\n\r\n").status, 413);
    assert_eq!(post("POST /open", "Content-Length: 0", "").text(), "0");
}

#[test]
fn who_sends_on_after_a_refusal_still_reads_it() {
    let limits = Limits { linger_time: LONG, ..Limits::default() };
    let fixture = Fixture::with(limits, |_| text("x"));
    let mut client = fixture.connect();
    let length = format!("Content-Length: {MUCH}");
    client.send(&fixture.head("POST /x", &["Content-Type: application/json", &length]));
    let chunk = vec![b'x'; 1 << 20];
    for _ in 0..MUCH >> 20 {
        client.stream.write_all(&chunk).unwrap();
    }
    let reply = client.reply(false);
    assert_eq!((reply.status, reply.field("connection")), (413, Some("close")));
    client.wait_for_end();
}

#[test]
fn who_does_not_hang_up_after_a_refusal_is_cut() {
    let limits = Limits { linger_time: SHORT, ..Limits::default() };
    let fixture = Fixture::with(limits, |_| text("x"));
    let mut client = fixture.connect();
    let head = fixture.head("POST /x", &["Content-Type: application/json", "Content-Length: 99999"]);
    assert_eq!(client.ask(&head).status, 413);
    client.wait_for_cut();
}

#[test]
fn slow_heads_and_bodies_are_cut_and_idle_connections_closed() {
    let body = ["Content-Type: application/json", "Content-Length: 10"];
    let ends = |limits: Limits, request: fn(&Fixture) -> String| {
        let fixture = Fixture::with(limits, |_| text("x"));
        let mut client = fixture.connect();
        client.send(&request(&fixture));
        client.wait_for_end();
        String::from_utf8(client.unread).unwrap()
    };
    let long = Limits { head_time: LONG, body_time: LONG, idle_time: LONG, ..Limits::default() };
    let head = Limits { head_time: SHORT, ..long.clone() };
    assert_eq!(ends(head.clone(), |_| String::new()), "");
    assert_eq!(ends(head.clone(), |_| "GET /x HTTP/1.1\r\nHost".to_owned()), "");
    let of_body = Limits { body_time: SHORT, ..long.clone() };
    assert_eq!(
        ends(of_body, |fixture| fixture
            .head("POST /x", &["Content-Type: application/json", "Content-Length: 10"])
            + "half"),
        ""
    );
    let idle = Limits { idle_time: SHORT, ..long };
    assert!(ends(idle, |fixture| fixture.head("GET /x", &[])).starts_with("HTTP/1.1 200 "));
    // The second head of a connection has a limit, too.
    let fixture = Fixture::with(head, |_| text("x"));
    let first = fixture.head("POST /x", &body).replace(": 10", ": 0");
    let mut client = loop {
        let mut client = fixture.connect();
        // If the first one was too late: another try.
        let _ = client.stream.write_all(first.as_bytes());
        if client.read_more() {
            break client;
        }
    };
    assert_eq!(client.reply(false).status, 200);
    client.send("GET /x HT");
    client.wait_for_end();
}

#[test]
fn half_a_head_that_came_early_is_as_slow_as_any() {
    let limits = Limits { head_time: SHORT, idle_time: LONG, ..Limits::default() };
    let gate = Arc::new(Gate::default());
    let of_application = Arc::clone(&gate);
    let fixture = Fixture::with(limits, move |request| {
        of_application.pass(request.path == "/wait");
        text("x")
    });
    let [wait, ask] = ["GET /wait", "GET /x"].map(|line| fixture.head(line, &[]));
    // If the first head was too late: another try.
    let answered = |requests: &str| loop {
        let mut client = fixture.connect();
        let _ = client.stream.write_all(requests.as_bytes());
        if client.read_more() {
            break client;
        }
    };
    // It came with the head before it.
    answered(&format!("{ask}GET /x HT")).wait_for_end();
    answered(&format!("{ask}{ask}G")).wait_for_end();
    // It came while the one before was answered.
    let mut early = loop {
        let mut client = fixture.connect();
        let inside = *gate.inside.lock().unwrap();
        let _ = client.stream.write_all(wait.as_bytes());
        client.stream.set_read_timeout(Some(SHORT)).unwrap();
        let cut = client.stream.read(&mut [0; 1]);
        if cut.is_err() && *gate.inside.lock().unwrap() > inside {
            client.stream.set_read_timeout(Some(PATIENCE)).unwrap();
            break client;
        }
    };
    early.send("GET /x HT");
    gate.open();
    early.wait_for_end();
    // Nothing came: there is time.
    let mut idle = answered(&ask);
    fixture.connect().wait_for_end();
    assert_eq!(idle.reply(false).status, 200);
    assert_eq!(idle.ask(&ask).status, 200);
}

#[test]
fn an_answer_must_be_read_in_time() {
    let limits = Limits { answer_time: SHORT, event_time: LONG, ..Limits::default() };
    let fixture = Fixture::with(limits, |request| match request.path.as_str() {
        "/stream" => {
            let body = Body::Stream { reader: Box::new(std::io::repeat(b'x')), length: None };
            Response::new(StatusCode::OK, "text/plain", body)
        }
        _ => Response::new(StatusCode::OK, "text/plain", Body::Bytes(vec![b'x'; MUCH])),
    });
    for path in ["GET /bytes", "GET /stream"] {
        let mut client = fixture.connect();
        client.send(&fixture.head(path, &[]));
        // The server cuts it while nothing is read, and a request in between is answered.
        assert_eq!(fixture.ask("GET /login", &[]).status, 403);
        client.wait_for_cut();
    }
}

#[test]
fn an_event_must_be_read_in_time() {
    let idle_time = 5 * SHORT;
    let limits = Limits { answer_time: LONG, event_time: SHORT, idle_time, ..Limits::default() };
    let (fixture, senders) = with_events(limits);
    let mut client = fixture.connect();
    client.send(&fixture.head("GET /events", &[]));
    client.reply_head();
    let sender = receive(&senders);
    // An event may come as late as it likes. After this, more than the time for one has passed.
    let mut idle = fixture.connect();
    assert_eq!(idle.ask(&fixture.head("GET /login", &[])).status, 403);
    idle.wait_for_end();
    assert!(sender.send(event("first")));
    assert_eq!(client.chunk().unwrap(), b"data: first\n\n");
    let much = "x".repeat(MUCH);
    wait_until(|| !sender.send(event(&much)));
}

fn event(data: &str) -> server::Event {
    server::Event { data: data.to_owned(), ..server::Event::default() }
}

/// Returns a server that answers with events, and what fills them.
fn with_events(limits: Limits) -> (Fixture, Receiver<EventSender>) {
    let (senders, made) = channel();
    let senders: Mutex<Sender<EventSender>> = Mutex::new(senders);
    let fixture = Fixture::with(limits, move |_| {
        let (sender, stream) = events(EventOptions::default());
        senders.lock().unwrap().send(sender).unwrap();
        Response::events(stream)
    });
    (fixture, made)
}

#[test]
fn slow_clients_do_not_keep_others_out() {
    let limits = Limits { connections_max: 4, head_time: LONG, body_time: LONG, ..Limits::default() };
    let fixture = Fixture::with(limits, |_| text("x"));
    // These wait for a head, for the rest of one, or for the rest of a body.
    let post = ["Content-Type: application/json", "Content-Length: 10"];
    let mut slow: Vec<Client<TcpStream>> = Vec::new();
    for request in ["", "GET /x HTTP/1.1\r\nHo", &fixture.head("POST /x", &post)] {
        let mut client = fixture.connect();
        client.send(request);
        slow.push(client);
    }
    let mut kept = fixture.connect();
    assert_eq!(kept.ask(&fixture.head("GET /x", &[])).status, 200);
    for client in &mut slow {
        // One of the four gives way to each: the one that has waited longest.
        let mut new = fixture.connect();
        assert_eq!(new.ask(&fixture.head("GET /x", &[])).status, 200);
        client.wait_for_end();
        assert_eq!(kept.ask(&fixture.head("GET /x", &[])).status, 200);
        std::mem::forget(new);
    }
    for _ in 0..100 {
        slow.push(fixture.connect());
        slow.last_mut().unwrap().send("GET /");
        assert_eq!(fixture.ask("GET /x", &[]).status, 200);
    }
}

#[test]
fn who_is_being_answered_is_not_closed_for_others() {
    let limits = Limits { connections_max: 2, answers_max: 2, ..Limits::default() };
    let gate = Arc::new(Gate::default());
    let of_application = Arc::clone(&gate);
    let fixture = Fixture::with(limits, move |request| {
        of_application.pass(request.path == "/wait");
        text("x")
    });
    let mut working = [fixture.connect(), fixture.connect()];
    for client in &mut working {
        client.send(&fixture.head("GET /wait", &[]));
    }
    gate.wait_for(2);
    // There is no room: it waits until one of them is done.
    let mut waiting = fixture.connect();
    waiting.send(&fixture.head("GET /x", &[]));
    gate.open();
    assert_eq!(waiting.reply(false).status, 200);
    // The answered ones may be closed now; their answers were sent before.
    for client in &mut working {
        assert_eq!(client.reply(false).status, 200);
    }
}

#[test]
fn an_answer_that_nobody_logged_in_for_keeps_nobody_out() {
    let limits = Limits { connections_max: 1, answer_time: LONG, ..Limits::default() };
    let fixture = Fixture::with(limits, |request| match request.path.as_str() {
        "/open" => Response::new(StatusCode::OK, "text/plain", Body::Bytes(vec![b'x'; MUCH])),
        _ => text("x"),
    });
    let mut unread = fixture.connect();
    unread.send(&fixture.head_without_token("GET /open", &[]));
    unread.reply_head();
    assert_eq!(fixture.ask("GET /x", &[]).status, 200);
}

/// Holds requests until it is opened.
#[derive(Default)]
struct Gate {
    is_open: AtomicBool,
    inside: Mutex<usize>,
    changed: Condvar,
}

impl Gate {
    fn pass(&self, is_held: bool) {
        let mut inside = self.inside.lock().unwrap();
        *inside += 1;
        self.changed.notify_all();
        while is_held && !self.is_open.load(Ordering::SeqCst) {
            inside = self.changed.wait(inside).unwrap();
        }
    }

    fn wait_for(&self, count: usize) {
        let mut inside = self.inside.lock().unwrap();
        while *inside < count {
            inside = self.changed.wait(inside).unwrap();
        }
    }

    fn open(&self) {
        let _inside = self.inside.lock().unwrap();
        self.is_open.store(true, Ordering::SeqCst);
        self.changed.notify_all();
    }
}

#[test]
fn only_so_many_requests_are_answered_at_once() {
    let gate = Arc::new(Gate::default());
    let running = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let of_application = (Arc::clone(&gate), Arc::clone(&running));
    let limits = Limits { answers_max: 2, answer_wait: LONG, ..Limits::default() };
    let fixture = Fixture::with(limits, move |_| {
        let (gate, running) = &of_application;
        running.1.fetch_max(running.0.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        gate.pass(true);
        running.0.fetch_sub(1, Ordering::SeqCst);
        text("x")
    });
    let mut clients: Vec<Client<TcpStream>> = (0..10).map(|_| fixture.connect()).collect();
    for client in &mut clients {
        client.send(&fixture.head("GET /x", &[]));
    }
    gate.wait_for(2);
    // Everything else goes on.
    assert_eq!(fixture.ask("GET /login", &[]).status, 403);
    gate.open();
    for client in &mut clients {
        assert_eq!(client.reply(false).status, 200);
    }
    assert_eq!(running.1.load(Ordering::SeqCst), 2);
}

#[test]
fn who_waits_too_long_for_others_may_come_again() {
    let gate = Arc::new(Gate::default());
    let of_application = Arc::clone(&gate);
    let limits = Limits { answers_max: 1, answer_wait: SHORT, ..Limits::default() };
    let fixture = Fixture::with(limits, move |_| {
        of_application.pass(true);
        text("x")
    });
    let mut first = fixture.connect();
    first.send(&fixture.head("GET /x", &[]));
    gate.wait_for(1);
    let second = fixture.ask("GET /x", &[]);
    assert_eq!((second.status, second.field("retry-after")), (503, Some("1")));
    gate.open();
    assert_eq!(first.reply(false).status, 200);
    assert_eq!(fixture.ask("GET /x", &[]).status, 200);
}

#[test]
fn only_so_many_event_streams_are_open() {
    let limits = Limits { event_streams_max: 2, answers_max: 1, ..Limits::default() };
    let (fixture, _senders) = with_events(limits);
    let open = || {
        let mut client = fixture.connect();
        client.send(&fixture.head("GET /events", &[]));
        let reply = client.reply_head();
        (client, reply)
    };
    let (first, second, third) = (open(), open(), open());
    assert_eq!((first.1.status, second.1.status, third.1.status), (200, 200, 503));
    assert_eq!(third.1.field("retry-after"), Some("1"));
    drop(first);
    // The server notices on its own that it went away.
    wait_until(|| open().1.status == 200);
}
