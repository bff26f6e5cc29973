//! The messages of each value of a field.
//!
//! Input: segments, a field. Output: each distinct term or value with the messages that have it. Must not
//! know what is counted.

use crate::text::fields::{NUMBER, TextField, ValueField};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, SegmentReader, TERMINATED};

/// Documents whose values are read before the next look at whether to end early.
const DOCUMENT_COUNT: u32 = 1 << 14;

/// Takes a value that a segment has, and returns the number under which its messages are reported.
pub(super) type Name<'a> = &'a mut dyn FnMut(&str) -> u32;
/// Takes the number of a value, and a message that has it.
pub(super) type Add<'a> = &'a mut dyn FnMut(u32, u32);

/// Visits each term of a field with its messages.
///
/// # Errors
/// An error of tantivy: a damaged file.
pub(super) fn by_term(
    segment: &SegmentReader,
    field: TextField,
    is_cancelled: &dyn Fn() -> bool,
    (name, add): (Name<'_>, Add<'_>),
) -> tantivy::Result<()> {
    let inverted = segment.inverted_index(field.field())?;
    let numbers = segment.fast_fields().u64(NUMBER)?;
    let mut terms = inverted.terms().stream()?;
    while terms.advance() {
        if is_cancelled() {
            break;
        }
        // Terms are made of text.
        let Ok(term) = std::str::from_utf8(terms.key()) else { continue };
        let group = name(term);
        let mut postings = inverted.read_postings_from_terminfo(terms.value(), IndexRecordOption::Basic)?;
        let mut document = postings.doc();
        while document != TERMINATED {
            if let Some(Ok(number)) = numbers.first(document).map(u32::try_from) {
                add(group, number);
            }
            document = postings.advance();
        }
    }
    Ok(())
}

/// Visits each value in a column with its messages.
///
/// # Errors
/// An error of tantivy: a damaged file.
pub(super) fn by_value(
    segment: &SegmentReader,
    field: ValueField,
    is_cancelled: &dyn Fn() -> bool,
    (name, add): (Name<'_>, Add<'_>),
) -> tantivy::Result<()> {
    let Some(column) = segment.fast_fields().str(field.name())? else { return Ok(()) };
    let numbers = segment.fast_fields().u64(NUMBER)?;
    let mut groups = Vec::with_capacity(column.num_terms());
    let mut values = column.dictionary().stream()?;
    while values.advance() {
        groups.push(std::str::from_utf8(values.key()).ok().map(&mut *name));
    }
    for document in 0..segment.max_doc() {
        if document % DOCUMENT_COUNT == 0 && is_cancelled() {
            break;
        }
        let Some(Ok(number)) = numbers.first(document).map(u32::try_from) else { continue };
        for place in column.term_ords(document) {
            let group = usize::try_from(place).ok().and_then(|place| groups.get(place).copied().flatten());
            if let Some(group) = group {
                add(group, number);
            }
        }
    }
    Ok(())
}
