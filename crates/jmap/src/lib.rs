//! JMAP without its data types: the protocol of RFC 8620.
//!
//! Input: bytes of a request, and a server's [`Methods`]. Output: the response. [`Request::read`] reads and
//! [`run`] answers; in between, methods take their arguments with [`GetArguments`] and its siblings, and
//! answer with [`GetResponse`] and its siblings. The crate knows nothing of mail, HTTP, sockets, disks or
//! clocks.
//!
//! ```
//! use jmap::{Answer, Arguments, CORE, Context, Limits, MethodError, Methods, Request, run};
//!
//! struct Nothing;
//!
//! impl Methods for Nothing {
//!     fn capability(&self, _name: &str) -> Option<&str> {
//!         None
//!     }
//!     fn call(&mut self, _: &str, _: Arguments, _: &mut Context<'_>) -> Result<Vec<Answer>, MethodError> {
//!         unreachable!("no method has a capability")
//!     }
//!     fn session_state(&self) -> String {
//!         "s1".to_owned()
//!     }
//! }
//!
//! let limits = Limits::default();
//! let bytes = br#"{"using":["urn:ietf:params:jmap:core"],"methodCalls":[["Core/echo",{"a":1},"c"]]}"#;
//! let request = Request::read(bytes, &limits, &[CORE])?;
//! let response = run(request, &limits, &mut Nothing).into_bytes();
//! assert_eq!(response, br#"{"methodResponses":[["Core/echo",{"a":1},"c"]],"sessionState":"s1"}"#);
//! # Ok::<(), jmap::RequestError>(())
//! ```

mod arguments;
mod context;
mod created;
mod date;
mod error;
mod i_json;
mod id;
mod limits;
mod memory;
mod pointer;
mod reference;
mod request;
mod run;
mod standard;

pub use arguments::{Arguments, INT_MAX};
pub use context::Context;
pub use created::{CreatedIds, Unresolved, creation_order};
pub use date::Date;
pub use error::{MethodError, MethodErrorKind, RequestError};
pub use i_json::bytes;
pub use id::{ID_BYTES_MAX, Id, IdReference};
pub use limits::{CORE, JSON_DEPTH_MAX, Limits};
pub use request::{Invocation, Request};
pub use run::{Answer, Methods, Response, run};
pub use standard::*;
