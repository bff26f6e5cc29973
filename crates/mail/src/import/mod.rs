//! Mail in other forms than Maildirs: mbox files, MH folders, message files.
//!
//! Input: files that other programs wrote, untrusted. Output: messages, with what those programs noted about
//! them. Nothing here knows where messages go, except `batch` and `draft`, which store many at once.

pub(crate) mod batch;
pub(crate) mod draft;
pub(crate) mod from_line;
mod gmail_labels;
pub(crate) mod marks;
pub(crate) mod mbox;
pub(crate) mod mh;
pub(crate) mod open;
pub(crate) mod state;
pub(crate) mod tree;
mod window;
