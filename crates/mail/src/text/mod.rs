//! Turns decoded text into what a person reads: HTML to text, its links, the snippet, the language.
//!
//! Used by `body` and `message`. Does not depend on MIME.

pub(crate) mod cut;
pub(crate) mod entities;
pub(crate) mod hidden;
pub(crate) mod html;
pub(crate) mod language;
pub(crate) mod links;
pub(crate) mod snippet;
