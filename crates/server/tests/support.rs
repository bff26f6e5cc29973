//! A server with a small application.

use server::{
    Access, Address, Application, Body, Limits, Method, Request, Response, Result, Rule, Server, Settings,
    StatusCode,
};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use work::Cancel;

pub(crate) use testkit::http::{Client, PATIENCE, Reply, wait_until};

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
        Client::connect(address)
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
