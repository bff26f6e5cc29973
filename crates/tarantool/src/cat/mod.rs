//! Prints the rows of single files, in the order of the file.
//!
//! Input: a file under any name, what is wanted of it, and a form. Output: bytes, piece by piece, and the
//! places that are damaged. Nothing is loaded, and nothing is left out silently.
//!
//! `source` opens a file. `walk` finds its blocks and the holes between them. `filter` chooses rows. `rows`
//! writes a row in each form. `print` does it all on several threads, with `worker` for one of them.
//! `definitions` finds the names of fields for a log. `follow` goes on when a log grows.

mod definitions;
mod filter;
mod follow;
mod print;
mod rows;
mod source;
mod summary;
mod walk;
mod worker;

pub use definitions::{definitions_after, definitions_before};
pub use filter::{RowFilter, SpaceChoice};
pub use follow::{Followed, Growing};
pub use print::{Notice, Printer, Totals};
pub use rows::{RowForm, kind_name, kind_named};
pub use source::{RowsFile, logs_of, open_rows};
pub use summary::{ReplicaSummary, SpaceSummary, Summary, summarise};
