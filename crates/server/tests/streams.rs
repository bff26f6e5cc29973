//! Long answers, clients that go away, and applications that fail.

use crate::support::{Fixture, receive, text, wait_until};
use server::{Body, EventOptions, EventSender, Limits, Response, StatusCode, events};
use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use work::Cancel;

fn stream(reader: impl Read + Send + 'static, length: Option<u64>) -> Response {
    Response::new(StatusCode::OK, "text/plain", Body::Stream { reader: Box::new(reader), length })
}

/// Gives what a test sends, and ends when the test does. Says when it is dropped.
struct Given {
    pieces: Receiver<Vec<u8>>,
    dropped: Sender<()>,
}

impl Read for Given {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let piece = self.pieces.recv().unwrap_or_default();
        buffer[..piece.len()].copy_from_slice(&piece);
        Ok(piece.len())
    }
}

impl Drop for Given {
    fn drop(&mut self) {
        let _ = self.dropped.send(());
    }
}

/// Returns a server that answers once with what is given, the request's `cancel`, and news of the reader's
/// end.
fn with_given() -> (Fixture, Sender<Vec<u8>>, Receiver<Cancel>, Receiver<()>) {
    let ((pieces, to_give), (dropped, is_dropped)) = (channel(), channel());
    let (cancels, cancel) = channel();
    let once = Mutex::new(Some((Given { pieces: to_give, dropped }, cancels)));
    let fixture = Fixture::new(move |request| {
        let Some((given, cancels)) = once.lock().unwrap().take() else { return text("x") };
        cancels.send(request.cancel.clone()).unwrap();
        stream(given, None)
    });
    (fixture, pieces, cancel, is_dropped)
}

#[test]
fn pieces_are_sent_as_they_come() {
    let (fixture, pieces, _cancels, dropped) = with_given();
    let mut client = fixture.connect();
    client.send(&fixture.head("GET /x", &[]));
    client.reply_head();
    for piece in [b"one".to_vec(), vec![b'x'; 64 << 10], b"three".to_vec()] {
        pieces.send(piece.clone()).unwrap();
        let mut came = Vec::new();
        while came.len() < piece.len() {
            came.extend(client.chunk().unwrap());
        }
        assert_eq!(came, piece);
    }
    drop(pieces);
    assert_eq!(client.chunk(), None);
    receive(&dropped);
    assert_eq!(client.ask(&fixture.head("GET /x", &[])).text(), "x");
}

#[test]
fn a_known_length_is_said() {
    let fixture = Fixture::new(|request| match request.path.as_str() {
        "/long" => stream(io::repeat(b'x').take(1 << 20), Some(1 << 20)),
        "/short" => stream(&b"abc"[..], Some(4)),
        "/more" => stream(&b"abcde"[..], Some(4)),
        _ => text("x"),
    });
    let mut client = fixture.connect();
    let reply = client.ask(&fixture.head("GET /long", &[]));
    assert_eq!((reply.field("content-length"), reply.body.len()), (Some("1048576"), 1 << 20));
    assert_eq!(client.ask(&fixture.head("GET /x", &[])).text(), "x");
    // A reader that gives less cuts the connection; of one that gives more, the rest is not sent.
    let mut client = fixture.connect();
    client.send(&fixture.head("GET /short", &[]));
    client.wait_for_end();
    assert!(String::from_utf8(client.unread).unwrap().ends_with("\r\n\r\nabc"));
    let mut client = fixture.connect();
    client.send(&fixture.head("GET /more", &["Connection: close"]));
    client.wait_for_end();
    assert!(!String::from_utf8(client.unread).unwrap().contains("abcde"));
}

#[test]
fn a_reader_is_read_only_as_fast_as_the_client_reads() {
    let count = Arc::new(Mutex::new(0));
    let of_reader = Arc::clone(&count);
    let fixture = Fixture::new(move |request| match request.path.as_str() {
        "/stream" => stream(Counting(Arc::clone(&of_reader)), None),
        _ => text("x"),
    });
    let mut client = fixture.connect();
    client.send(&fixture.head("GET /stream", &[]));
    client.reply_head();
    // Wait until it is read no further: the buffers of the connection are full.
    let mut before = 0;
    loop {
        for _ in 0..100 {
            assert_eq!(fixture.ask("GET /x", &[]).status, 200);
        }
        let now = *count.lock().unwrap();
        assert!(now < 1 << 30, "nobody reads it");
        if now > 0 && now == before {
            break;
        }
        before = now;
    }
    let mut read = 0;
    while read <= before {
        read += client.chunk().unwrap().len();
    }
}

/// Counts the bytes that are read; there is no end.
struct Counting(Arc<Mutex<usize>>);

impl Read for Counting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        *self.0.lock().unwrap() += buffer.len();
        Ok(buffer.len())
    }
}

#[test]
fn a_client_that_goes_away_cancels_its_stream() {
    let (fixture, pieces, cancels, dropped) = with_given();
    let mut client = fixture.connect();
    client.send(&fixture.head("GET /x", &[]));
    client.reply_head();
    pieces.send(b"one".to_vec()).unwrap();
    assert_eq!(client.chunk().unwrap(), b"one");
    let cancel = receive(&cancels);
    assert!(!cancel.is_cancelled());
    drop(client);
    wait_until(|| cancel.is_cancelled());
    // The reader goes when it has done what it does.
    drop(pieces);
    receive(&dropped);
}

#[test]
fn a_client_that_goes_away_cancels_its_answer() {
    let (begun, begins) = channel();
    let begun = Mutex::new(begun);
    let (ended, ends) = channel();
    let ended = Mutex::new(ended);
    let fixture = Fixture::new(move |request| {
        if request.path == "/wait" {
            begun.lock().unwrap().send(()).unwrap();
            wait_until(|| request.cancel.is_cancelled());
            ended.lock().unwrap().send(()).unwrap();
        }
        text("x")
    });
    let mut client = fixture.connect();
    client.send(&fixture.head("GET /wait", &[]));
    receive(&begins);
    drop(client);
    receive(&ends);
    assert_eq!(fixture.ask("GET /x", &[]).status, 200);
}

#[test]
fn a_client_that_sent_more_and_goes_away_is_noticed() {
    let (begun, begins) = channel();
    let begun = Mutex::new(begun);
    let (senders, made) = channel();
    let senders = Mutex::new(senders);
    let fixture = Fixture::new(move |request| match request.path.as_str() {
        "/events" => {
            let (sender, stream) = events(EventOptions::default());
            senders.lock().unwrap().send(sender).unwrap();
            Response::events(stream)
        }
        _ => {
            begun.lock().unwrap().send(request.cancel.clone()).unwrap();
            wait_until(|| request.cancel.is_cancelled());
            text("x")
        }
    });
    // Some of the next request, or more than is read before its turn.
    for more in ["G".to_owned(), "GET /x".repeat(5000)] {
        let mut client = fixture.connect();
        client.send(&(fixture.head("GET /wait", &[]) + &more));
        let cancel: Cancel = receive(&begins);
        assert!(!cancel.is_cancelled());
        drop(client);
        wait_until(|| cancel.is_cancelled());
        let mut client = fixture.connect();
        client.send(&fixture.head("GET /events", &[]));
        client.reply_head();
        client.send(&more);
        let sender: EventSender = receive(&made);
        assert!(sender.is_open());
        drop(client);
        wait_until(|| !sender.is_open());
    }
}

#[test]
fn readers_that_wait_keep_no_answer_waiting() {
    let (hold, held) = channel::<()>();
    let held = Arc::new(Mutex::new(held));
    let limits = Limits { answers_max: 1, ..Limits::default() };
    let fixture = Fixture::with(limits, move |request| match request.path.as_str() {
        "/stream" => stream(Held(Arc::clone(&held)), None),
        _ => text("x"),
    });
    let mut clients = Vec::new();
    for _ in 0..20 {
        let mut client = fixture.connect();
        client.send(&fixture.head("GET /stream", &[]));
        client.reply_head();
        clients.push(client);
    }
    assert_eq!(fixture.ask("GET /x", &[]).status, 200);
    drop(hold);
    for client in &mut clients {
        assert_eq!(client.chunk(), None);
    }
}

/// A reader that waits until its test lets go.
struct Held(Arc<Mutex<Receiver<()>>>);

impl Read for Held {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        let _ = self.0.lock().unwrap().recv();
        Ok(0)
    }
}

#[test]
fn a_failure_of_the_application_ends_one_answer() {
    let fixture = Fixture::new(|request| match request.path.as_str() {
        "/panic" => panic!("a panic of the test"),
        "/reader" => stream(b"abc".chain(Broken(false)), None),
        "/reader-panic" => stream(b"abc".chain(Broken(true)), None),
        _ => text("x"),
    });
    let mut client = fixture.connect();
    for _ in 0..20 {
        assert_eq!(client.ask(&fixture.head("GET /panic", &[])).status, 500);
        assert_eq!(client.ask(&fixture.head("GET /rule", &[])).status, 500);
        assert_eq!(client.ask(&fixture.head("GET /x", &[])).status, 200);
    }
    for path in ["GET /reader", "GET /reader-panic"] {
        for _ in 0..20 {
            let mut client = fixture.connect();
            client.send(&fixture.head(path, &[]));
            client.wait_for_end();
            let text = String::from_utf8(client.unread).unwrap();
            assert!(text.ends_with("3\r\nabc\r\n"), "the end is not said: {text:?}");
        }
        assert_eq!(fixture.ask("GET /x", &[]).status, 200);
    }
}

/// A reader that fails, or panics.
struct Broken(bool);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        assert!(!self.0, "a panic of the test");
        Err(io::Error::other("broken"))
    }
}

#[test]
fn a_connection_answers_many_requests_in_order() {
    let fixture = Fixture::new(|request| text(&request.path));
    let mut client = fixture.connect();
    let requests: String = (0..50).map(|number| fixture.head(&format!("GET /{number}"), &[])).collect();
    client.stream.write_all(requests.as_bytes()).unwrap();
    for number in 0..50 {
        assert_eq!(client.reply(false).text(), format!("/{number}"));
    }
    let last = client.ask(&fixture.head("GET /last", &["Connection: close"]));
    assert_eq!((last.text(), last.field("connection")), ("/last", Some("close")));
    client.wait_for_end();
}

#[test]
fn the_last_answer_of_a_connection_is_sent_whole() {
    const MUCH: usize = 64 << 20;
    let fixture = Fixture::new(|request| match request.path.as_str() {
        "/stream" => stream(io::repeat(b'x').take(MUCH as u64), None),
        _ => Response::new(StatusCode::OK, "text/plain", Body::Bytes(vec![b'x'; MUCH])),
    });
    for path in ["GET /bytes", "GET /stream"] {
        let mut client = fixture.connect();
        client.send(&fixture.head(path, &["Connection: close"]));
        client.reply_head();
        // The buffers are full by now, and the server waits.
        assert_eq!(fixture.ask("GET /login", &[]).status, 403);
        client.wait_for_end();
        assert!(client.unread.len() >= MUCH, "{path}: {}", client.unread.len());
    }
}

#[test]
fn a_refusal_comes_after_the_answer_before_it() {
    const MUCH: usize = 64 << 20;
    let fixture = Fixture::new(|_| Response::new(StatusCode::OK, "a/b", Body::Bytes(vec![b'x'; MUCH])));
    let mut client = fixture.connect();
    let post = ["Content-Type: application/json", "Content-Length: 99999"];
    client.send(&(fixture.head("GET /x", &[]) + &fixture.head("POST /x", &post)));
    assert_eq!(fixture.ask("GET /login", &[]).status, 403);
    assert_eq!(client.reply(false).body.len(), MUCH);
    assert_eq!(client.reply(false).status, 413);
}
