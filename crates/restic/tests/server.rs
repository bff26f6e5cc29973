//! A server on the loopback address that sends the responses that a test gives it: those of an object store,
//! or wrong ones.
//!
//! Input: the answer to each request. Output: an address. Does not depend on the content of requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What to do with a connection.
pub(crate) enum Reply {
    /// Read the request, answer with these bytes, close.
    Bytes(Vec<u8>),
    /// Read the request, answer with these bytes, then send nothing but keep the connection open.
    ThenSilence(Vec<u8>),
    /// Read only the head of the request, and keep the connection open.
    Deaf,
}

/// A running server. It ends with the process.
pub(crate) struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts a server. `reply` gets the request's number, counted from 0, and its head.
    pub(crate) fn start(reply: impl Fn(usize, &str) -> Reply + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let reply = Arc::new(reply);
        thread::spawn({
            let requests = Arc::clone(&requests);
            move || {
                for stream in listener.incoming().map_while(Result::ok) {
                    let (requests, reply) = (Arc::clone(&requests), Arc::clone(&reply));
                    thread::spawn(move || answer(stream, &requests, &*reply));
                }
            }
        });
        Server { port, requests }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the first line of each request so far, without the version.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// Returns an answer with a body, as bytes. `headers` are lines.
pub(crate) fn answer_of(status: &str, headers: &[&str], body: &str) -> Vec<u8> {
    let length = format!("Content-Length: {}", body.len());
    let mut lines = vec![format!("HTTP/1.1 {status}")];
    lines.extend(headers.iter().map(ToString::to_string));
    if !headers.iter().any(|header| header.starts_with("Content-Length")) {
        lines.push(length);
    }
    lines.push("Connection: close\r\n\r\n".to_owned());
    (lines.join("\r\n") + body).into_bytes()
}

/// Returns an error response in the format of S3.
pub(crate) fn refusal(status: &str, code: &str, message: &str) -> Reply {
    let xml =
        format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>{message}</Message></Error>");
    Reply::Bytes(answer_of(status, &[], &xml))
}

fn answer(stream: TcpStream, requests: &Mutex<Vec<String>>, reply: &dyn Fn(usize, &str) -> Reply) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap_or(0) == 0 {
            return;
        }
    }
    let line = head.lines().next().unwrap().trim_end_matches(" HTTP/1.1").to_owned();
    let number = {
        let mut requests = requests.lock().unwrap();
        requests.push(line);
        requests.len() - 1
    };
    let (bytes, is_kept) = match reply(number, &head) {
        Reply::Deaf => (Vec::new(), true),
        other => {
            let _ = reader.read_exact(&mut vec![0; body_length(&head)]);
            match other {
                Reply::ThenSilence(bytes) => (bytes, true),
                Reply::Bytes(bytes) => (bytes, false),
                Reply::Deaf => unreachable!("it is above"),
            }
        }
    };
    // The client may have closed the connection.
    let _ = reader.get_mut().write_all(&bytes);
    if is_kept {
        // Keeps the connection open until the test ends.
        thread::park();
    }
}

fn body_length(head: &str) -> usize {
    let length = head
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    length.unwrap_or(0)
}
