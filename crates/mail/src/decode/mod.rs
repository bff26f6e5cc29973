//! Decoders: transfer encodings, charsets, and the encoded words of header fields.
//!
//! Each takes bytes and returns bytes or text. Damage never stops a decoder; it is reported as a problem.
//! Used by `header`, `mime` and `body`. Does not depend on header fields and parts.

pub(crate) mod base64;
pub(crate) mod charset;
pub(crate) mod encoded_words;
pub(crate) mod stateful;
pub(crate) mod transfer;
pub(crate) mod utf7;
pub(crate) mod uuencode;
