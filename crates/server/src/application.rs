//! What is served: the interface between the server and the program. Does not know sockets.

use crate::response::Response;
use hyper::StatusCode;
use std::fmt;
use work::Cancel;

/// What is served.
pub trait Application: Send + Sync + 'static {
    /// Returns what a request to `path` needs. Is asked before the request's body is read, on the thread of
    /// all sockets: it must not wait for anything. `path` is as in [`Request::path`].
    fn rule(&self, method: Method, path: &str) -> Rule;

    /// Answers a request that fulfils its rule. Is called on a thread of the server's own, and may wait. A
    /// panic is answered with 500, and ends nothing else.
    fn answer(&self, request: &Request) -> Response;

    /// Returns the body of an answer to a request that the server itself refuses, and its content type, in
    /// the form that clients of `path` expect. `None` stands for the reason as a line of text. Must not
    /// wait.
    fn refusal(&self, path: &str, status: StatusCode, reason: &str) -> Option<(&'static str, Vec<u8>)> {
        let _ = (path, status, reason);
        None
    }
}

/// What a request needs before it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Who may ask.
    pub access: Access,
    /// How large the body of a POST may be. The body of a request that needs no login must be empty.
    pub body_bytes_max: usize,
    /// The content types that a POST may have, such as `application/json`, in lower case; `*/*` allows all.
    /// A page of another site can send the types of forms without asking, so allow those only where nothing
    /// changes.
    pub content_types: &'static [&'static str],
}

/// Who may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everybody: files of the page, which hold no secret. A link of another site may lead there. The page at
    /// `/` must be open: a browser that has just logged in arrives there without its cookie, because another
    /// site, or a file, sent it.
    Open,
    /// Those who logged in.
    LoggedIn,
}

/// What a request wants. HEAD is answered like GET, without the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// To read.
    Get,
    /// To send something.
    Post,
}

/// A request that has passed all gates.
#[derive(Clone)]
pub struct Request {
    /// What it wants.
    pub method: Method,
    /// The path, as the client sent it: beginning with `/`, ASCII, percent-encoded. Compare it as it is; use
    /// [`percent_decoded`](crate::percent_decoded) for a part between slashes.
    pub path: String,
    /// The names and values after `?`, decoded.
    pub query: Vec<(String, String)>,
    /// The content type of the body, with its parameters.
    pub content_type: Option<String>,
    /// The last event that an event stream of this client got before its connection broke.
    pub last_event_id: Option<String>,
    /// The server's own address as this client sees it, for absolute addresses in answers: scheme, host and
    /// port, without a slash at the end.
    pub origin: String,
    /// The body.
    pub body: Vec<u8>,
    /// Says whether nobody waits for the answer: the client went away, or the server stops. It is also set
    /// after an answer is complete.
    pub cancel: Cancel,
}

/// Shows neither query nor body, which are private.
impl fmt::Debug for Request {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.debug_struct("Request")
            .field("method", &self.method)
            .field("path", &self.path)
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}
