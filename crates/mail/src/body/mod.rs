//! Reads the contents of all parts of a message: the text that is shown and searched, and the attachments.
//!
//! Used by `message`. Does not depend on the message's own header.

pub(crate) mod alternatives;
pub(crate) mod attachments;
pub(crate) mod html_part;
pub(crate) mod part_text;
pub(crate) mod read;
