//! Who may talk to a program over HTTP, and how much.
//!
//! Input: an address, limits, and an [`Application`]. Output: its answers, sent to those who may have them.
//! Knows sockets, HTTP/1.1, logins and limits. Does not know what the application answers: no mail, no JMAP,
//! no page, and of the disk only the socket's directory and the file that opens a browser.
//!
//! A request passes these gates in order. Each of them works on the head alone, before a body is read:
//!
//! 1. `limits`: the head is short, and arrives in time.
//! 2. `allowed`: the request was sent to one of the server's own names, by no page of another site.
//! 3. The application's [`Rule`] for the path: who may ask, and how large a body may be, of which type.
//! 4. `login`: the request has the token, or the cookie of a browser that logged in; `peer`: a cookie comes
//!    from a program of the user.
//!
//! All sockets are on one thread, which never waits for the application. The application answers on threads
//! of its own, and each answer that can be long is read piece by piece, as the client takes it.

mod allowed;
mod answer;
mod application;
mod body;
mod browser_file;
mod client;
mod connection;
mod error;
mod events;
mod head;
mod headers;
mod limits;
mod listen;
mod login;
mod pace;
mod peer;
mod registry;
mod response;
mod server;
mod shared;
mod socket_file;
#[cfg(feature = "testing")]
pub mod testing;
mod token;

pub use application::{Access, Application, Method, Request, Rule};
pub use browser_file::write as write_browser_file;
pub use client::new_login;
pub use error::{Error, Result};
pub use events::{Event, EventOptions, EventSender, EventStream, Ping, events};
pub use head::percent_decoded;
pub use hyper::StatusCode;
pub use limits::Limits;
pub use listen::Address;
pub use login::Login;
pub use response::{Body, Cache, Disposition, Frames, Response};
pub use server::{Handle, Server, Settings};
pub use token::Secret;
