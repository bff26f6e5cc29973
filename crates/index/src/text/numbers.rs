//! The messages of documents.
//!
//! In: what the column of message numbers has for a document. Out: a set of messages. Must not know why a
//! document was found.

use crate::set::NumberSet;

/// Adds the message with the number that a document has.
pub(super) fn insert(found: &mut NumberSet, number: Option<u64>) {
    if let Some(number) = number.and_then(|number| u32::try_from(number).ok()) {
        found.insert(number);
    }
}
