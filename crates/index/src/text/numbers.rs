//! The messages of documents.
//!
//! Input: the value of a document in the column of message numbers. Output: a set of messages. Must not know
//! why a document was found.

use crate::set::NumberSet;

/// Adds the message of a document.
pub(super) fn insert(found: &mut NumberSet, number: Option<u64>) {
    if let Some(number) = number.and_then(|number| u32::try_from(number).ok()) {
        found.insert(number);
    }
}
