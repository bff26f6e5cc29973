//! A server of a small Maildir. Input: messages. Output: what clients are answered.

use pneu::{Host, Root, Settings, Silent, UpdateOptions};
use serde_json::{Value, json};
use serve::Mail;
use server::{Address, Handle, Limits, Server};
use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use tempfile::TempDir;
use work::Cancel;

pub(crate) use testkit::http::{Client, PATIENCE, Reply};

/// A server that runs until this value goes.
pub(crate) struct Fixture {
    pub(crate) directory: TempDir,
    pub(crate) mail: Arc<Mail>,
    pub(crate) handle: Handle,
    /// What was told of errors.
    pub(crate) told: Mutex<Receiver<String>>,
    address: SocketAddr,
    token: String,
    thread: Option<JoinHandle<()>>,
}

impl Fixture {
    /// Serves one message, `one`.
    pub(crate) fn new() -> Fixture {
        Fixture::start(|server, mail, tell| {
            let tell = move |error: pneu::Error| tell.send(error.to_string()).unwrap();
            serve::run(server, &mail, &Cancel::new(), tell)
        })
    }

    /// Serves the same, and nothing waits for commits.
    pub(crate) fn without_events() -> Fixture {
        Fixture::start(|server, mail, _| server.run(mail, &Cancel::new()))
    }

    fn start(
        run: impl FnOnce(Server, Arc<Mail>, Sender<String>) -> server::Result<()> + Send + 'static,
    ) -> Fixture {
        let directory = tempfile::tempdir().unwrap();
        put(&directory, "1:2,", &message("one"));
        let host = Arc::new(Host::new(Settings::new(directory.path().join("data"))));
        update(&directory, &host);
        let mail = Arc::new(Mail::new(host, "ana@example.org", directory.path().join("data/uploads")));
        let server = Server::bind(server::Settings {
            address: Address::Tcp(([127, 0, 0, 1], 0).into()),
            behind_proxy: None,
            token: None,
            limits: Limits::default(),
        })
        .unwrap();
        let Address::Tcp(address) = *server.address() else { panic!("not an address of TCP") };
        let (token, handle) = (server.token().text(), server.handle());
        let (tell, told) = channel();
        let served = Arc::clone(&mail);
        let thread = Some(std::thread::spawn(move || run(server, served, tell).unwrap()));
        Fixture { directory, mail, handle, told: Mutex::new(told), address, token, thread }
    }

    /// Writes a message, and lets another program index it: a host that knows nothing of the server's.
    pub(crate) fn deliver(&self, name: &str, text: &str) {
        put(&self.directory, name, text);
        self.update();
    }

    /// Lets another program bring the index in step with the mail.
    pub(crate) fn update(&self) {
        update(&self.directory, &self.other_host());
    }

    /// Returns a host that knows nothing of the server's.
    pub(crate) fn other_host(&self) -> Host {
        Host::new(Settings::new(self.directory.path().join("data")))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join("mail/cur").join(name)
    }

    pub(crate) fn connect(&self) -> Client<TcpStream> {
        Client::connect(self.address)
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns a request's head, with the token.
    pub(crate) fn head(&self, line: &str, fields: &[&str]) -> String {
        let bearer = format!("Authorization: Bearer {}", self.token);
        self.head_without_token(line, &[&[bearer.as_str()], fields].concat())
    }

    pub(crate) fn head_without_token(&self, line: &str, fields: &[&str]) -> String {
        let fields: String = fields.iter().map(|field| format!("{field}\r\n")).collect();
        format!("{line} HTTP/1.1\r\nHost: {}\r\n{fields}\r\n", self.address)
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.connect().ask(&self.head(&format!("GET {path}"), &[]))
    }

    pub(crate) fn ask_without_token(&self, line: &str, fields: &[&str]) -> Reply {
        self.connect().ask(&self.head_without_token(line, fields))
    }

    /// Sends JSON, or what is none.
    pub(crate) fn post(&self, path: &str, body: &str) -> Reply {
        self.post_as(path, "application/json", body)
    }

    /// Sends text of a type.
    pub(crate) fn post_as(&self, path: &str, media: &str, body: &str) -> Reply {
        self.connect().ask(&(self.post_head(path, media, body.len()) + body))
    }

    /// Returns the head of a POST with so many bytes.
    pub(crate) fn post_head(&self, path: &str, media: &str, length: usize) -> String {
        let (media, length) = (format!("Content-Type: {media}"), format!("Content-Length: {length}"));
        self.head(&format!("POST {path}"), &[&media, &length])
    }

    /// Answers the calls of one request of JMAP.
    pub(crate) fn answers(&self, calls: Value) -> Value {
        let using = ["urn:ietf:params:jmap:core", "urn:ietf:params:jmap:mail"];
        let reply = self.post("/jmap/api", &json!({ "using": using, "methodCalls": calls }).to_string());
        assert_eq!((reply.status, reply.field("content-type")), (200, Some("application/json")));
        json_of(&reply)
    }

    /// Returns the state of emails.
    pub(crate) fn state(&self) -> String {
        let answers = self.answers(json!([["Email/get", { "accountId": "mail", "ids": [] }, "a"]]));
        answers["methodResponses"][0][1]["state"].as_str().unwrap().to_owned()
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.handle.stop();
        if !std::thread::panicking() {
            self.thread.take().unwrap().join().unwrap();
        }
    }
}

fn put(directory: &TempDir, name: &str, text: &str) {
    let folder = directory.path().join("mail");
    for place in ["cur", "new", "tmp"] {
        fs::create_dir_all(folder.join(place)).unwrap();
    }
    fs::write(folder.join("cur").join(name), text).unwrap();
}

fn update(directory: &TempDir, host: &Host) {
    let roots = [Root { name: "mail".to_owned(), path: directory.path().join("mail") }];
    host.update(&roots, &UpdateOptions::default(), &Silent).unwrap();
}

pub(crate) fn json_of(reply: &Reply) -> Value {
    serde_json::from_slice(&reply.body).unwrap()
}

/// Returns a message whose subject and Message-ID are `name`.
pub(crate) fn message(name: &str) -> String {
    format!(
        "From: Ana Ito <ana@example.org>\nTo: bo@example.org\nSubject: {name}\nMessage-ID: <{name}@x>\n\
         Date: 3 Mar 2025 10:00:00 +0000\n\nThis is {name}.\n"
    )
}
