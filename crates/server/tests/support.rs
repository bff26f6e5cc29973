//! A server with a small application, and a client that knows just enough of HTTP.

use server::{
    Access, Address, Application, Body, Limits, Method, Request, Response, Result, Rule, Server, Settings,
    StatusCode,
};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use work::Cancel;

/// How long a client waits before its test fails.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for something that other threads do.
pub(crate) fn wait_until(mut is_done: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_done() {
        assert!(Instant::now() < end, "nothing happens");
        std::thread::yield_now();
    }
}

/// Waits for what another thread sends.
pub(crate) fn receive<T>(receiver: &Receiver<T>) -> T {
    receiver.recv_timeout(PATIENCE).unwrap()
}

type Answer = dyn Fn(&Request) -> Response + Send + Sync;

/// Answers with a function. Paths below `/open` need no login; `/upload` takes any type; `/rule` panics.
pub(crate) struct Small(pub(crate) Box<Answer>);

impl Application for Small {
    fn rule(&self, _method: Method, path: &str) -> Rule {
        assert_ne!(path, "/rule", "a panic of the test");
        let is_open = path == "/" || path.starts_with("/open");
        Rule {
            access: if is_open { Access::Open } else { Access::LoggedIn },
            body_bytes_max: 1000,
            content_types: if path == "/upload" { &["*/*"] } else { &["application/json"] },
        }
    }

    fn answer(&self, request: &Request) -> Response {
        (self.0)(request)
    }
}

pub(crate) fn text(text: &str) -> Response {
    Response::new(StatusCode::OK, "text/plain", Body::Bytes(text.as_bytes().to_vec()))
}

/// A server that runs until this value goes.
pub(crate) struct Fixture {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    pub(crate) handle: server::Handle,
    pub(crate) cancel: Cancel,
    thread: Mutex<Option<JoinHandle<Result<()>>>>,
}

impl Fixture {
    pub(crate) fn new(answer: impl Fn(&Request) -> Response + Send + Sync + 'static) -> Fixture {
        Fixture::with(Limits::default(), answer)
    }

    pub(crate) fn with(
        limits: Limits,
        answer: impl Fn(&Request) -> Response + Send + Sync + 'static,
    ) -> Fixture {
        Fixture::of(Settings { limits, ..settings() }, Small(Box::new(answer)))
    }

    pub(crate) fn of(settings: Settings, application: Small) -> Fixture {
        let server = Server::bind(settings).unwrap();
        let Address::Tcp(address) = *server.address() else { panic!("not an address of TCP") };
        let (token, handle, cancel) = (server.token().text(), server.handle(), Cancel::new());
        let of_thread = cancel.clone();
        let thread = std::thread::spawn(move || server.run(Arc::new(application), &of_thread));
        Fixture { address, token, handle, cancel, thread: Mutex::new(Some(thread)) }
    }

    pub(crate) fn connect(&self) -> Client<TcpStream> {
        // A server on all addresses is reached over this one.
        let address = SocketAddr::new(
            if self.address.ip().is_unspecified() { [127, 0, 0, 1].into() } else { self.address.ip() },
            self.address.port(),
        );
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        Client { stream, unread: Vec::new() }
    }

    /// Returns the value of Host.
    pub(crate) fn host(&self) -> String {
        self.address.to_string()
    }

    /// Returns a request's head, with the token.
    pub(crate) fn head(&self, line: &str, fields: &[&str]) -> String {
        let bearer = format!("Authorization: Bearer {}", self.token);
        let fields: Vec<&str> = [&[bearer.as_str()], fields].concat();
        self.head_without_token(line, &fields)
    }

    pub(crate) fn head_without_token(&self, line: &str, fields: &[&str]) -> String {
        let fields: String = fields.iter().map(|field| format!("{field}\r\n")).collect();
        format!("{line} HTTP/1.1\r\nHost: {}\r\n{fields}\r\n", self.host())
    }

    /// Sends a request with the token over a connection of its own.
    pub(crate) fn ask(&self, line: &str, fields: &[&str]) -> Reply {
        self.connect().ask(&self.head(line, fields))
    }

    pub(crate) fn ask_without_token(&self, line: &str, fields: &[&str]) -> Reply {
        self.connect().ask(&self.head_without_token(line, fields))
    }

    /// Waits for the server's end.
    pub(crate) fn join(&self) {
        if let Some(thread) = self.thread.lock().unwrap().take() {
            thread.join().unwrap().unwrap();
        }
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.handle.stop();
        if !std::thread::panicking() {
            self.join();
        }
    }
}

pub(crate) fn settings() -> Settings {
    Settings {
        address: Address::Tcp(([127, 0, 0, 1], 0).into()),
        behind_proxy: None,
        token: None,
        limits: Limits::default(),
    }
}

/// A client on a stream.
pub(crate) struct Client<S> {
    pub(crate) stream: S,
    pub(crate) unread: Vec<u8>,
}

impl<S: Read + Write> Client<S> {
    pub(crate) fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).unwrap();
    }

    pub(crate) fn ask(&mut self, text: &str) -> Reply {
        self.send(text);
        let is_head = text.starts_with("HEAD");
        self.reply(is_head)
    }

    /// Reads an answer.
    pub(crate) fn reply(&mut self, is_head: bool) -> Reply {
        let mut reply = self.reply_head();
        if is_head {
            return reply;
        }
        if let Some(length) = reply.field("content-length") {
            let length: usize = length.parse().unwrap();
            while self.unread.len() < length {
                assert!(self.read_more(), "the body is cut after {} of {length} bytes", self.unread.len());
            }
            reply.body = self.unread.drain(..length).collect();
        } else if reply.field("transfer-encoding") == Some("chunked") {
            while let Some(chunk) = self.chunk() {
                reply.body.extend(chunk);
            }
        }
        reply
    }

    pub(crate) fn reply_head(&mut self) -> Reply {
        let head = self.until("\r\n\r\n");
        let (line, fields) = head.split_once("\r\n").unwrap_or((&head, ""));
        let status = line.split(' ').nth(1).unwrap().parse().unwrap();
        let fields = fields.lines().filter_map(|line| line.split_once(": "));
        let fields = fields.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
        Reply { status, fields, body: Vec::new() }
    }

    /// Reads a chunk, `None` for the last one. Fails if the stream ends before that.
    pub(crate) fn chunk(&mut self) -> Option<Vec<u8>> {
        let size = usize::from_str_radix(&self.until("\r\n"), 16).unwrap();
        while self.unread.len() < size + 2 {
            assert!(self.read_more(), "a chunk is cut");
        }
        let chunk = self.unread.drain(..size).collect();
        self.unread.drain(..2);
        (size > 0).then_some(chunk)
    }

    /// Reads until `end`, which is left out.
    pub(crate) fn until(&mut self, end: &str) -> String {
        loop {
            let found = self.unread.windows(end.len()).position(|window| window == end.as_bytes());
            if let Some(place) = found {
                let text = String::from_utf8(self.unread.drain(..place).collect()).unwrap();
                self.unread.drain(..end.len());
                return text;
            }
            let more = self.read_more();
            assert!(more, "the answer is cut: {:?}", String::from_utf8_lossy(&self.unread));
        }
    }

    /// Waits until the server closes the connection.
    pub(crate) fn wait_for_end(&mut self) {
        while self.read_more() {}
    }

    /// Waits until the server closes the connection, without reading what it sent.
    pub(crate) fn wait_for_cut(&mut self) {
        let end = Instant::now() + PATIENCE;
        loop {
            assert!(Instant::now() < end, "it is not cut");
            match self.stream.write(b"x") {
                Ok(_) => {}
                Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => {
                    return;
                }
                Err(error) => panic!("it is not cut: {error}"),
            }
        }
    }

    /// Returns whether there was more.
    pub(crate) fn read_more(&mut self) -> bool {
        let mut buffer = [0; 64 << 10];
        match self.stream.read(&mut buffer) {
            Ok(count) => {
                self.unread.extend_from_slice(&buffer[..count]);
                count > 0
            }
            Err(error) if error.kind() == ErrorKind::ConnectionReset => false,
            Err(error) => panic!("{error}"),
        }
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}
