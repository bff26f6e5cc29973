//! A message as a record: JSON, S-expressions, plain text, HTML.
//!
//! Input: messages as the index knows them, or as they were just read. Output: text that is safe to print.
//! Front ends share these formats; docs/OUTPUT.md describes them. This crate does not depend on a terminal:
//! colours and columns belong to the front end.

pub mod change;
mod content;
pub mod csv;
mod event;
mod flags;
pub mod html;
mod json;
mod link_list;
mod links;
mod listed;
pub mod mbox;
pub mod message;
pub mod people;
mod position;
mod record;
mod recurrence;
mod sexp;
pub mod stats;
mod stream;
pub mod table;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod thread;

pub use content::Content;
pub use event::Event;
pub use flags::{letters as flag_letters, names as flag_names};
pub use json::{Json, any_line as json_line_of, line as json_line};
pub use link_list::{LinkLine, link_targets};
pub use links::{Link, part_text, with_links};
pub use listed::{Listed, Need, Printer};
pub use position::Position;
pub use record::{Attachment, Contact, File, Header, OtherForm, Record, VERSION, priority};
pub use sexp::{Sexp, line as sexp_line, thread_line as sexp_thread_line};
pub use stream::{ShowThread, TakeBytes, print_messages, print_threads};
pub use thread::{Author, ThreadMessage, ThreadSummary};
