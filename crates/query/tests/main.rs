//! Tests of the query language as a whole, one module for each question. In: the modules. Out: one binary. Must not know:
//! the crate's inside.

mod context;
mod dates;
mod docs;
mod errors;
mod limits;
mod manuals;
mod random;
mod syntax;
