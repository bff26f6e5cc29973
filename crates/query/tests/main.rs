//! Tests of the query language as a whole, one module for each question. Input: the modules. Output: one
//! binary. Knows nothing of the crate's inside.

mod context;
mod dates;
mod docs;
mod errors;
mod limits;
mod manuals;
mod random;
mod syntax;
