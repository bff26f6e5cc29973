//! The text index: tantivy's segments, written and read through our own directory, and named by the commit
//! that made them.
//!
//! Input: messages with their numbers. Output: sets of message numbers. tantivy keeps no lock, no meta file
//! and no threads here. Only the store's commit says which segments exist, so that text and rows become
//! visible together.

mod directory;
mod document;
mod fields;
mod groups;
mod merge;
mod numbers;
mod open;
mod parts;
mod postings;
mod reader;
mod recipients;
mod small;
mod spool;
mod terms;
mod unread;
mod values;
mod words;
mod writer;

pub(crate) use directory::{TextFiles, file_name, unnamed, verify};
pub(crate) use document::{Document, Documents};
pub(crate) use fields::{TextField, ValueField, header_word};
pub(crate) use merge::{TextMerge, choose, choose_idle, document_count, merge, replace};
pub(crate) use parts::is_ending;
pub(crate) use reader::{Needle, TextReader};
pub use small::TEXT_SLOTS;
pub(crate) use small::{attach, settle, slot_name};
pub(crate) use unread::{Chosen, is_read_by, unread};
pub(crate) use words::{WordTest, test_each, word_around};
pub(crate) use writer::writer;

/// The kind of a sealed file that holds a segment of the text index.
pub const SEALED_KIND: u32 = 0x5458_4554;
