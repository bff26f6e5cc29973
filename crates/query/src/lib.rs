//! The query language of pneu: parses what a user typed into a tree of what to look for.
//!
//! Input: a query, the current time, and the headers and saved queries that the configuration names. Output:
//! a [`Query`], or an [`Error`] that points at the mistake. The crate also holds the tokenizer ([`words()`])
//! that a text index must share with the language. It knows nothing of messages, tables, or how anything is
//! found: to answer a query, walk its tree.
//!
//! ```
//! use query::{Context, Field, Languages, Query, Stemming, Target, parse};
//! use query::stem::StemScope;
//!
//! let context = Context {
//!     now: "2024-03-15T12:30:45+01:00[Europe/Berlin]".parse()?,
//!     headers: Vec::new(),
//!     queries: [("mine".to_owned(), "to:ada@example.org".to_owned())].into(),
//!     stemming: Stemming { languages: Languages::default(), scope: StemScope::Marked },
//! };
//!
//! let parsed = parse("query:mine Subject:\"Über uns\" -flag:seen", &context)?;
//! assert_eq!(parsed.to_string(), "to:\"ada example org\" and subject:\"uber uns\" and not flag:seen");
//!
//! let Query::And(children) = &parsed else { unreachable!() };
//! let Query::Leaf(leaf) = &children[1] else { unreachable!() };
//! assert!(matches!(leaf.target, Target::Fields(fields) if fields.contains(Field::Subject)));
//!
//! let error = parse("subjct:hello", &context).unwrap_err();
//! assert!(error.to_string().contains("did you mean \"subject:\"?"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The syntax is described in `docs/query.md`; [`fields`] and [`flags`] are its tables, and [`limits`] says
//! how long and how deep a query may be.

pub mod ast;
pub mod complete;
mod cursor;
pub mod differences;
mod error;
pub mod fields;
pub mod flags;
pub mod fold;
mod foreign;
pub mod help;
pub mod limits;
mod near;
mod parse;
mod pointed;
mod print;
pub mod stem;
pub mod suggest;
pub mod words;

pub use ast::{Leaf, Matcher, Pattern, Query, Target};
pub use error::{Error, Problem};
pub use fields::{Field, FieldSet};
pub use flags::{FlagName, Priority};
pub use near::nearest;
pub use parse::{Context, parse};
pub use pointed::pointed;
pub use stem::{Family, Languages, Stemming};
pub use words::{Dot, Word, Words, asked_words, words};
