//! An object store on the loopback address that fails when a test wants it to.
//!
//! Input: S3 requests, and which of them fail in which way. Output: objects, lists, or the failure. It does
//! not check signatures. Does not know what is stored.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is executed and answered.
    Answer,
    /// It is refused like by an overloaded server: 503.
    Busy,
    /// It is refused permanently: 403.
    Deny,
    /// It is executed, and the connection ends before the answer.
    Reset,
    /// It is executed but never answered, and the connection stays open.
    Hang,
    /// It is executed, and a bit of the answer flips during the transfer.
    Flip,
}

/// Decides about a request. See [`ObjectServer::decide`].
type Decide = dyn Fn(usize, &str, &str) -> Fate + Send + Sync;

/// A running server. It ends with the process.
#[derive(Debug)]
pub struct ObjectServer {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    objects: Mutex<BTreeMap<String, Vec<u8>>>,
    requests: Mutex<Vec<String>>,
    decide: Mutex<Option<Arc<Decide>>>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Shared({} objects)", locked(&self.objects).len())
    }
}

impl ObjectServer {
    /// Starts a server without objects that does not fail.
    ///
    /// # Panics
    /// If the machine has no loopback address.
    pub fn start() -> ObjectServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a loopback address");
        let port = listener.local_addr().expect("it was bound").port();
        let shared = Arc::new(Shared::default());
        let for_all = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&for_all);
                // A client may disconnect at any time.
                thread::spawn(move || while answer(&stream, &shared).is_some() {});
            }
        });
        ObjectServer { port, shared }
    }

    /// Returns the address of a repository there, in the form that restic and pneu accept.
    pub fn address(&self) -> String {
        format!("s3:http://127.0.0.1:{}/bucket/mail", self.port)
    }

    /// Lets `decide` choose from now on which requests fail. It gets the number of each request from 0, its
    /// method, and the name of the object or the prefix of a list.
    pub fn decide(&self, decide: impl Fn(usize, &str, &str) -> Fate + Send + Sync + 'static) {
        *locked(&self.shared.decide) = Some(Arc::new(decide));
        locked(&self.shared.requests).clear();
    }

    /// Returns the method and the name of each request since the last call of [`ObjectServer::decide`].
    pub fn requests(&self) -> Vec<String> {
        locked(&self.shared.requests).clone()
    }

    /// Returns all objects.
    pub fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        locked(&self.shared.objects).clone()
    }
}

/// A test that failed while it held the lock has already reported that.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A request: its method, the object's name within the bucket, its query, its range, its body and whether
/// that has a length.
struct Request {
    method: String,
    name: String,
    query: String,
    range: Option<(usize, usize)>,
    /// Whether it states the length of its body.
    has_length: bool,
    body: Vec<u8>,
}

/// Reads one request and answers it. Returns `None` when the connection has ended.
fn answer(stream: &TcpStream, shared: &Shared) -> Option<()> {
    let request = read(&mut BufReader::new(stream))?;
    let is_list = request.name.is_empty() && request.query.contains("list-type=2");
    let prefix = parameter(&request.query, "prefix");
    let what = if is_list { &prefix } else { &request.name };
    let number = {
        let mut requests = locked(&shared.requests);
        requests.push(format!("{} {what}", request.method));
        requests.len() - 1
    };
    let decide = locked(&shared.decide).clone();
    let is_head = request.method == "HEAD";
    let fate = decide.map_or(Fate::Answer, |decide| decide(number, &request.method, what));
    let mut stream = stream;
    let reply = match fate {
        Fate::Busy => refusal("503 Service Unavailable", "SlowDown", "Please reduce your request rate."),
        Fate::Deny => refusal("403 Forbidden", "AccessDenied", "Not for you."),
        // Some servers do this, too, and put other elements in between.
        _ if request.method == "PUT" && !request.has_length => {
            refusal("411 Length Required", "MissingContentLength", "How long is it?")
        }
        Fate::Answer | Fate::Reset | Fate::Hang | Fate::Flip if is_list => list(shared, &prefix),
        Fate::Answer | Fate::Reset | Fate::Hang | Fate::Flip => carry_out(shared, request),
    };
    match fate {
        Fate::Reset => None,
        Fate::Hang => {
            // Keeps the connection open until the test ends.
            thread::park();
            None
        }
        // An answer without a body has only a head.
        _ if is_head => {
            stream.write_all(&reply[..reply.windows(4).position(|end| end == b"\r\n\r\n")? + 4]).ok()
        }
        Fate::Flip => stream.write_all(&flipped(reply)).ok(),
        _ => stream.write_all(&reply).ok(),
    }
}

/// Flips a bit in the middle of a reply's body, if it has one.
fn flipped(mut reply: Vec<u8>) -> Vec<u8> {
    let body = reply.windows(4).position(|end| end == b"\r\n\r\n").map_or(reply.len(), |end| end + 4);
    let middle = body + (reply.len() - body) / 2;
    if let Some(byte) = reply.get_mut(middle) {
        *byte ^= 8;
    }
    reply
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let mut words = head.lines().next()?.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let name = path.trim_start_matches('/').split_once('/').map_or("", |(_, name)| name).to_owned();
    let header = |wanted: &str| {
        head.lines()
            .filter_map(|line| line.split_once(": "))
            .find_map(|(name, value)| name.eq_ignore_ascii_case(wanted).then(|| value.to_owned()))
    };
    let range = header("range").and_then(|range| {
        let (begin, end) = range.strip_prefix("bytes=")?.split_once('-')?;
        Some((begin.parse().ok()?, end.parse().ok()?))
    });
    if header("expect").is_some() {
        return None;
    }
    let length = header("content-length").and_then(|length| length.parse().ok());
    let has_length = length.is_some();
    let length = length.unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { method, name, query: query.to_owned(), range, has_length, body })
}

/// Returns the value of a parameter; empty if it is not there.
fn parameter(query: &str, name: &str) -> String {
    let value = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    value.unwrap_or_default().replace("%2F", "/")
}

fn carry_out(shared: &Shared, request: Request) -> Vec<u8> {
    let mut objects = locked(&shared.objects);
    match (request.method.as_str(), objects.get(&request.name)) {
        ("PUT", _) => {
            objects.insert(request.name, request.body);
            reply("200 OK", &["ETag: \"1\""], b"")
        }
        ("DELETE", _) => {
            objects.remove(&request.name);
            reply("204 No Content", &[], b"")
        }
        ("HEAD", Some(bytes)) => {
            let length = format!("Content-Length: {}", bytes.len());
            reply("200 OK", &[&length, MODIFIED, "ETag: \"1\""], b"")
        }
        ("HEAD", None) => reply("404 Not Found", &["Content-Length: 0"], b""),
        ("GET", Some(bytes)) => match request.range {
            None => reply("200 OK", &[MODIFIED, "ETag: \"1\""], bytes),
            Some((begin, last)) => match bytes.get(begin..bytes.len().min(last + 1)) {
                Some(part) if !part.is_empty() => {
                    let range =
                        format!("Content-Range: bytes {begin}-{}/{}", begin + part.len() - 1, bytes.len());
                    reply("206 Partial Content", &[&range, MODIFIED, "ETag: \"1\""], part)
                }
                _ => refusal("416 Range Not Satisfiable", "InvalidRange", "There is less."),
            },
        },
        _ => refusal("404 Not Found", "NoSuchKey", "There is no such object."),
    }
}

const MODIFIED: &str = "Last-Modified: Sat, 21 Nov 2026 10:00:00 GMT";

fn list(shared: &Shared, prefix: &str) -> Vec<u8> {
    let objects = locked(&shared.objects);
    let contents = objects.iter().filter(|(name, _)| name.starts_with(prefix)).map(|(name, bytes)| {
        format!(
            "<Contents><Key>{name}</Key><Size>{}</Size><LastModified>2026-11-21T10:00:00.000Z</LastModified></Contents>",
            bytes.len()
        )
    });
    let xml = format!(
        "<ListBucketResult><IsTruncated>false</IsTruncated>{}</ListBucketResult>",
        contents.collect::<String>()
    );
    reply("200 OK", &[], xml.as_bytes())
}

fn refusal(status: &str, code: &str, message: &str) -> Vec<u8> {
    reply(status, &[], format!("<Error><Code>{code}</Code><Message>{message}</Message></Error>").as_bytes())
}

/// Returns an answer as bytes. `headers` are lines.
fn reply(status: &str, headers: &[&str], body: &[u8]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status}\r\n");
    if !headers.iter().any(|header| header.starts_with("Content-Length")) {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    for header in headers {
        head.push_str(&format!("{header}\r\n"));
    }
    head.push_str("\r\n");
    [head.as_bytes(), body].concat()
}
