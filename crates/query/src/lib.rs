//! The query language. In: a query as typed, the time, the headers that the configuration names. Out: a tree of what to
//! look for, or an error that points at the place; and the tokenizer that the text index shares. Must not know: messages,
//! tables, how anything is found.

pub mod ast;
mod date;
pub mod differences;
mod error;
pub mod fields;
pub mod flags;
pub mod fold;
pub mod help;
mod lex;
pub mod limits;
mod near;
mod parse;
mod print;
mod size;
pub mod stem;
mod term;
mod width;
pub mod words;

pub use ast::{Leaf, Matcher, Pattern, Query, Target};
pub use error::{Error, Problem};
pub use fields::{Field, FieldSet};
pub use flags::{FlagName, Priority};
pub use near::nearest;
pub use parse::{Context, parse};
pub use stem::{Family, Languages, Stemming};
pub use words::{Dot, Word, Words, asked_words, words};
