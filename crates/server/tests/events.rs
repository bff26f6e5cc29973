//! Streams of events: what is sent, when, and to whom not.

use crate::support::{Client, Fixture, receive, text, wait_until};
use server::{Event, EventOptions, EventSender, Limits, Ping, Response, events};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use work::Cancel;

fn event(data: &str) -> Event {
    Event { data: data.to_owned(), ..Event::default() }
}

/// A server whose `/events` answers with events, and what fills them.
struct WithEvents {
    fixture: Fixture,
    made: Receiver<(EventSender, Cancel)>,
}

impl WithEvents {
    fn new(limits: Limits, options: EventOptions) -> WithEvents {
        let (senders, made) = channel();
        let senders = Mutex::new(senders);
        let fixture = Fixture::with(limits, move |request| {
            if request.path != "/events" {
                return text("x");
            }
            let (sender, stream) = events(options.clone());
            senders.lock().unwrap().send((sender, request.cancel.clone())).unwrap();
            Response::events(stream)
        });
        WithEvents { fixture, made }
    }

    fn open(&self) -> (Client<TcpStream>, EventSender, Cancel) {
        let mut client = self.fixture.connect();
        client.send(&self.fixture.head("GET /events", &[]));
        let reply = client.reply_head();
        assert_eq!((reply.status, reply.field("content-type")), (200, Some("text/event-stream")));
        let (sender, cancel) = receive(&self.made);
        (client, sender, cancel)
    }
}

fn next(client: &mut Client<TcpStream>) -> Option<String> {
    client.chunk().map(|chunk| String::from_utf8(chunk).unwrap())
}

#[test]
fn events_come_from_any_thread_as_soon_as_they_are_sent() {
    let server = WithEvents::new(Limits::default(), EventOptions::default());
    let (mut client, sender, cancel) = server.open();
    for number in 0..3 {
        let sender = sender.clone();
        let id = Some(number.to_string());
        let event = Event { id, name: Some("state".to_owned()), data: "{\n}".to_owned() };
        std::thread::spawn(move || assert!(sender.send(event))).join().unwrap();
        let expected = format!("id: {number}\nevent: state\ndata: {{\ndata: }}\n\n");
        assert_eq!(next(&mut client), Some(expected));
    }
    assert!(!cancel.is_cancelled());
    // The stream ends with its last sender, and the connection goes on.
    drop(sender);
    assert_eq!(next(&mut client), None);
    assert_eq!(client.ask(&server.fixture.head("GET /x", &[])).text(), "x");
}

#[test]
fn a_stream_ends_after_one_event_if_it_shall() {
    let options = EventOptions { closes_after_event: true, ..EventOptions::default() };
    let server = WithEvents::new(Limits::default(), options);
    let (mut client, sender, _) = server.open();
    assert!(sender.send(event("a")));
    assert_eq!(next(&mut client).as_deref(), Some("data: a\n\n"));
    assert_eq!(next(&mut client), None);
    wait_until(|| !sender.is_open());
}

#[test]
fn signs_of_life_come_by_themselves() {
    let ping = |event| Some(Ping { interval: Duration::ZERO, event });
    let limits = Limits { ping_interval_min: Duration::from_millis(10), ..Limits::default() };
    let options = EventOptions { ping: ping(None), closes_after_event: true };
    let server = WithEvents::new(limits.clone(), options);
    let (mut client, sender, _) = server.open();
    for _ in 0..3 {
        assert_eq!(next(&mut client).as_deref(), Some(": ping\n\n"));
    }
    // They do not count as the one event.
    assert!(sender.send(event("a")));
    while next(&mut client).unwrap() != "data: a\n\n" {}
    assert_eq!(next(&mut client), None);

    let alive = Event { name: Some("ping".to_owned()), ..event("{}") };
    let options = EventOptions { ping: ping(Some(alive)), ..EventOptions::default() };
    let server = WithEvents::new(limits, options.clone());
    let (mut client, _sender, _) = server.open();
    assert_eq!(next(&mut client).as_deref(), Some("event: ping\ndata: {}\n\n"));

    // An interval that a client asks for is not shorter than the limit.
    let limits = Limits { ping_interval_min: Duration::from_secs(100_000), ..Limits::default() };
    let server = WithEvents::new(limits, options);
    let (mut client, sender, _) = server.open();
    for _ in 0..100 {
        assert!(sender.send(event("a")));
        assert_eq!(next(&mut client).as_deref(), Some("data: a\n\n"));
    }
}

#[test]
fn a_slow_reader_gets_the_newest_event_and_no_queue() {
    let server = WithEvents::new(Limits::default(), EventOptions::default());
    let (mut client, sender, _) = server.open();
    // Much more than the buffers of a connection hold.
    const COUNT: usize = 2000;
    let padding = "x".repeat(64 << 10);
    for number in 0..COUNT {
        assert!(sender.send(event(&format!("{number} {padding}"))));
        // Another client gets its turn in between: the server has seen this event.
        if number % 100 == 0 {
            assert_eq!(server.fixture.ask("GET /x", &[]).status, 200);
        }
    }
    assert!(sender.send(event("last")));
    let mut numbers = Vec::new();
    loop {
        let text = next(&mut client).unwrap();
        if text == "data: last\n\n" {
            break;
        }
        numbers.push(text.split(' ').nth(1).unwrap().parse::<usize>().unwrap());
    }
    assert!(numbers.is_sorted_by(|one, two| one < two), "{numbers:?}");
    assert!(numbers.len() < COUNT / 2, "{} events were kept", numbers.len());
}

#[test]
fn who_sends_notices_that_the_client_went_away() {
    let server = WithEvents::new(Limits::default(), EventOptions::default());
    let (client, sender, cancel) = server.open();
    assert!(sender.is_open());
    drop(client);
    wait_until(|| !sender.is_open() && cancel.is_cancelled());
    assert!(!sender.send(event("a")));
}
