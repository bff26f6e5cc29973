//! The differences between two stores: spaces, their definitions, and tuples by primary key.
//!
//! Input: two open stores. Output: a JSON object for each difference, or counts by space (docs/OUTPUT.md).
//! Does not know where the stores came from.
//!
//! From the outside in: `run` pairs the spaces (`pairs`) and tells how their definitions differ. Both tables
//! of a pair are in the order of the same key (`side`), so they are divided into ranges of keys (`ranges`),
//! which all cores compare (`merge`). Neighbouring tuples that are equal are compared as one piece of bytes.
//! `lines` writes what was found.

mod lines;
mod merge;
mod pairs;
mod ranges;
mod run;
mod side;

pub use run::{DiffForm, DiffOptions, DiffTotals, diff};
