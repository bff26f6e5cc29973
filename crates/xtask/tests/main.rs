//! The workspace itself, checked by tidy.

mod workspace;
