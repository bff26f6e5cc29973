//! Mail over HTTP: JMAP for clients, and a page for browsers.
//!
//! Input: a [`pneu::Host`], and requests that passed the gates of `server`. Output: answers. [`Mail`] is what
//! is served; [`run`] also tells clients of commits, whichever process made them. Here only paths, bytes and
//! header fields are known: what a request means, `jmap` and `jmap-mail` know. No sockets, no terminal, no
//! environment.
//!
//! | path | answer |
//! |---|---|
//! | `/` | the page, and its files beside it: `/app.js` and so on |
//! | `/.well-known/jmap`, `/jmap/session` | the session |
//! | `/jmap/api` | the response to a request of JMAP |
//! | `/jmap/download/{accountId}/{blobId}/{name}` | a blob |
//! | `/mail/{emailId}/html`, `/mail/{emailId}/image/{number}` | a message's own HTML, cleaned; its pictures |
//! | `/m/{messageId}`, `/q/{query}` | the page, which opens that message or that search |
//! | `/jmap/eventsource` | events: the new state after each commit |
//!
//! Everything but the page needs a login. Whatever else is asked for is not found.

mod api;
mod application;
mod blocks;
#[cfg(test)]
mod bundle;
mod content_type;
mod download;
mod event_source;
mod files;
mod mail;
mod problem;
mod route;
mod run;
#[cfg(test)]
mod script;
mod session;
mod shown;
mod subscribers;
mod upload;

pub use mail::Mail;
pub use run::run;
