//! The text index: tantivy's segments, written and read through our own directory, named by the commit that made them.
//!
//! In: messages with their numbers. Out: sets of message numbers. tantivy keeps no lock, no meta file and no threads here: which
//! segments exist is known only from the store's commit, so that text and rows become visible together.

mod directory;
mod fields;
mod merge;
mod reader;
mod writer;

pub use directory::{TextFiles, remove_unnamed};
pub use fields::TextField;
pub use merge::{TextMerge, choose, merge};
pub use reader::{Needle, TextReader, Words};
pub use writer::{Document, TextWriter};

/// The kind of a sealed file that holds part of the text index.
pub const SEALED_KIND: u32 = 0x5458_4554;
