//! A client that knows just enough of HTTP to test a server.
//!
//! Input: requests as text. Output: answers. A client that hears nothing for a minute fails its test. Does
//! not know what is asked.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a client waits before its test fails.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for something that others do.
pub fn wait_until(mut is_done: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_done() {
        assert!(Instant::now() < end, "nothing happens");
        std::thread::yield_now();
    }
}

/// A client on a stream.
#[derive(Debug)]
pub struct Client<S> {
    /// The stream.
    pub stream: S,
    /// What was read from it and belongs to no answer yet.
    pub unread: Vec<u8>,
}

impl Client<TcpStream> {
    /// Connects over TCP.
    pub fn connect(address: SocketAddr) -> Client<TcpStream> {
        let stream = TcpStream::connect(address).expect("somebody listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("it is a socket");
        stream.set_write_timeout(Some(PATIENCE)).expect("it is a socket");
        Client { stream, unread: Vec::new() }
    }
}

impl Client<UnixStream> {
    /// Connects to a socket in the file system.
    pub fn connect_to_file(path: &Path) -> Client<UnixStream> {
        let stream = UnixStream::connect(path).expect("somebody listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("it is a socket");
        stream.set_write_timeout(Some(PATIENCE)).expect("it is a socket");
        Client { stream, unread: Vec::new() }
    }
}

impl<S: Read + Write> Client<S> {
    /// Sends text as it is.
    pub fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).expect("the server reads");
    }

    /// Sends a request, and reads the answer.
    pub fn ask(&mut self, text: &str) -> Reply {
        self.send(text);
        let is_head = text.starts_with("HEAD");
        self.reply(is_head)
    }

    /// Reads an answer.
    pub fn reply(&mut self, is_head: bool) -> Reply {
        let mut reply = self.reply_head();
        if is_head {
            return reply;
        }
        if let Some(length) = reply.field("content-length") {
            let length: usize = length.parse().expect("a length");
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

    /// Reads the head of an answer.
    pub fn reply_head(&mut self) -> Reply {
        let head = self.until("\r\n\r\n");
        let (line, fields) = head.split_once("\r\n").unwrap_or((&head, ""));
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let fields = fields.lines().filter_map(|line| line.split_once(": "));
        let fields = fields.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
        Reply { status, fields, body: Vec::new() }
    }

    /// Reads a chunk, `None` for the last one. Fails if the stream ends before that.
    pub fn chunk(&mut self) -> Option<Vec<u8>> {
        let size = usize::from_str_radix(&self.until("\r\n"), 16).expect("a length");
        while self.unread.len() < size + 2 {
            assert!(self.read_more(), "a chunk is cut");
        }
        let chunk = self.unread.drain(..size).collect();
        self.unread.drain(..2);
        (size > 0).then_some(chunk)
    }

    /// Reads until `end`, which is left out.
    pub fn until(&mut self, end: &str) -> String {
        loop {
            let found = self.unread.windows(end.len()).position(|window| window == end.as_bytes());
            if let Some(place) = found {
                let text = String::from_utf8(self.unread.drain(..place).collect()).expect("text");
                self.unread.drain(..end.len());
                return text;
            }
            let more = self.read_more();
            assert!(more, "the answer is cut: {:?}", String::from_utf8_lossy(&self.unread));
        }
    }

    /// Waits until the server closes the connection.
    pub fn wait_for_end(&mut self) {
        while self.read_more() {}
    }

    /// Waits until the server closes the connection, without reading what it sent.
    pub fn wait_for_cut(&mut self) {
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
    pub fn read_more(&mut self) -> bool {
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
pub struct Reply {
    /// Its status.
    pub status: u16,
    /// Its header fields, with names in lower case.
    pub fields: Vec<(String, String)>,
    /// Its body, without chunks.
    pub body: Vec<u8>,
}

impl Reply {
    /// Returns the first header field of a name.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// Returns the body as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }
}
