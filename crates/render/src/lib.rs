//! A message as a record: JSON, S-expressions, plain text, HTML.
//!
//! Input: messages as the index knows them, or as they were just read. Output: text that is safe to print.
//! Front ends share these formats; docs/OUTPUT.md describes them. This crate does not depend on a terminal:
//! colours and columns belong to the front end.

mod flags;
pub mod html;
mod json;
mod links;
mod listed;
pub mod message;
mod record;
mod sexp;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod thread;

pub use flags::{letters as flag_letters, names as flag_names};
pub use json::{Json, any_line as json_line_of, line as json_line};
pub use links::{Link, with_links};
pub use listed::{Listed, Need, Position, Printer};
pub use record::{Attachment, Contact, File, Header, OtherForm, Record, Thread, VERSION, priority};
pub use sexp::{Sexp, line as sexp_line, thread_line as sexp_thread_line};
pub use thread::{Author, ThreadMessage, ThreadSummary};
