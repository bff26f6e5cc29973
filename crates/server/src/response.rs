//! An answer as the application gives it. Does not know HTTP's syntax.

use crate::events::EventStream;
use hyper::StatusCode;
use std::fmt;
use std::io::Read;

/// An answer.
#[derive(Debug)]
pub struct Response {
    /// The status.
    pub status: StatusCode,
    /// The type of the body. A text that cannot be one, which may come from mail, is sent as
    /// `application/octet-stream`. `None` for answers without a body, and for events, whose type is fixed.
    pub content_type: Option<String>,
    /// Whether the client may keep the answer.
    pub cache: Cache,
    /// What the page may load and do; without one, nothing at all, and it is a page of no origin.
    pub content_security_policy: Option<String>,
    /// Which pages may show the answer in a frame, whatever the policy says.
    pub frames: Frames,
    /// Whether a browser shows the answer or stores it.
    pub disposition: Disposition,
    /// The body.
    pub body: Body,
}

impl Response {
    /// Returns an answer that nobody may keep, with the default policy.
    pub fn new(status: StatusCode, content_type: &str, body: Body) -> Response {
        Response {
            status,
            content_type: Some(content_type.to_owned()),
            cache: Cache::NoStore,
            content_security_policy: None,
            frames: Frames::None,
            disposition: Disposition::Unsaid,
            body,
        }
    }

    /// Returns a stream of events.
    pub fn events(stream: EventStream) -> Response {
        Response { content_type: None, ..Response::new(StatusCode::OK, "", Body::Events(stream)) }
    }
}

/// Whether a client may keep an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cache {
    /// No.
    NoStore,
    /// The browser may keep it for good: this address never gives anything else. Caches that others use may
    /// not.
    Immutable,
}

/// Which pages may show an answer in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frames {
    /// None.
    None,
    /// Those of the server itself.
    SameOrigin,
}

/// What a browser does with an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// What it likes.
    Unsaid,
    /// It shows it.
    Inline,
    /// It stores it in a file; the name, which may come from mail, is a proposal.
    Attachment(String),
}

/// The body of an answer.
pub enum Body {
    /// Bytes.
    Bytes(Vec<u8>),
    /// Bytes that are read while the client takes them.
    Stream {
        /// Gives the bytes. Is read on threads of the server's own, never by two at once. An error cuts the
        /// connection, so that the client sees that something is missing.
        reader: Box<dyn Read + Send>,
        /// How many there are, if that is known.
        length: Option<u64>,
    },
    /// Events, until one side ends them.
    Events(EventStream),
}

impl fmt::Debug for Body {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Body::Bytes(bytes) => write!(out, "Bytes({})", bytes.len()),
            Body::Stream { length, .. } => write!(out, "Stream({length:?})"),
            Body::Events(_) => out.write_str("Events"),
        }
    }
}
