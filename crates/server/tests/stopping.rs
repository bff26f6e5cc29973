//! How a server ends: at once, whatever its clients and its application do.

use crate::support::{Client, Fixture, receive, text, wait_until};
use server::{Body, EventOptions, Limits, Response, StatusCode, events};
use std::io::Write;
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

#[test]
fn a_server_ends_with_all_its_connections() {
    let (begun, begins) = channel();
    let begun = Mutex::new(begun);
    let keep = Mutex::new(Vec::new());
    // Whoever ignores that its answer is cancelled would be waited for that long.
    let limits = Limits { stop_time: Duration::from_secs(100_000), ..Limits::default() };
    let fixture = Fixture::with(limits, move |request| {
        begun.lock().unwrap().send(()).unwrap();
        match request.path.as_str() {
            "/wait" => {
                wait_until(|| request.cancel.is_cancelled());
                text("x")
            }
            "/events" => {
                let (sender, stream) = events(EventOptions::default());
                keep.lock().unwrap().push(sender);
                Response::events(stream)
            }
            "/stream" => {
                let body = Body::Stream { reader: Box::new(std::io::repeat(b'x')), length: None };
                Response::new(StatusCode::OK, "text/plain", body)
            }
            _ => text("x"),
        }
    });
    let post = ["Content-Type: application/json", "Content-Length: 10"];
    let asked: Vec<String> =
        ["/wait", "/events", "/stream", "/x"].map(|path| fixture.head(&format!("GET {path}"), &[])).into();
    let held = ["".to_owned(), "GET /x".to_owned(), fixture.head("POST /x", &post)];
    let mut clients: Vec<Client<TcpStream>> = Vec::new();
    for request in asked.iter().chain(&held) {
        let mut client = fixture.connect();
        client.send(request);
        clients.push(client);
    }
    asked.iter().for_each(|_| receive(&begins));
    fixture.handle.stop();
    fixture.join();
    for client in &mut clients {
        client.wait_for_end();
    }
    assert!(TcpStream::connect(fixture.address).is_err(), "nobody listens");
}

#[test]
fn an_application_that_does_not_end_is_left_alone() {
    let (begun, begins) = channel();
    let begun = Mutex::new(begun);
    let limits = Limits { stop_time: Duration::from_millis(10), ..Limits::default() };
    let fixture = Fixture::with(limits, move |_| {
        begun.lock().unwrap().send(()).unwrap();
        loop {
            std::thread::park();
        }
    });
    let mut client = fixture.connect();
    client.send(&fixture.head("GET /x", &[]));
    receive(&begins);
    fixture.handle.stop();
    fixture.join();
    client.wait_for_end();
}

#[test]
fn a_server_that_was_stopped_before_it_ran_ends_at_once() {
    let settings = crate::support::settings();
    let server = server::Server::bind(settings).unwrap();
    server.handle().stop();
    let application = crate::support::Small(Box::new(|_| text("x")));
    server.run(std::sync::Arc::new(application), &work::Cancel::new()).unwrap();
}

#[test]
fn a_cancel_stops_a_server_that_does_something() {
    let fixture = Fixture::new(|_| text("x"));
    assert_eq!(fixture.ask("GET /x", &[]).status, 200);
    let mut client = fixture.connect();
    fixture.cancel.cancel();
    // It wakes up for this, unless it was awake and has ended already.
    let _ = client.stream.write_all(fixture.head("GET /x", &[]).as_bytes());
    fixture.join();
    client.wait_for_end();
}
