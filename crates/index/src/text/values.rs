//! Tests every distinct value of a header field.
//!
//! Input: segments, a prefix of the values, a test. Output: the messages of the values that the test accepts.
//! A column has a sorted list of its distinct values, each stored as its difference from the one before it,
//! and for each message the positions of its values in that list. The list is tested once, then positions are
//! compared.

use crate::set::NumberSet;
use crate::text::fields::{NUMBER, ValueField};
use crate::text::numbers::insert;
use crate::text::terms::behind;
use crate::text::words::WordTest;
use rayon::prelude::*;
use tantivy::SegmentReader;
use tantivy::columnar::StrColumn;

/// Values in one piece.
const PIECE_VALUE_COUNT: usize = 1 << 13;

/// Documents whose values are compared before the next look at whether to end early.
const DOCUMENT_COUNT: u32 = 1 << 14;

/// Adds the messages of the values that begin with `begin` and whose rest the test accepts. If `is_cancelled`
/// returns true, ends early with some of them.
///
/// # Errors
/// An error of tantivy: a damaged file.
pub(super) fn find(
    segments: &[SegmentReader],
    (field, begin): (ValueField, &str),
    test: &impl WordTest,
    is_cancelled: &(dyn Fn() -> bool + Sync),
    found: &mut NumberSet,
) -> tantivy::Result<()> {
    for segment in segments {
        let Some(column) = segment.fast_fields().str(field.name())? else { continue };
        let liked = liked(&column, begin.as_bytes(), test, is_cancelled)?;
        if liked.is_empty() {
            continue;
        }
        let numbers = segment.fast_fields().u64(NUMBER)?;
        for document in 0..segment.max_doc() {
            if document % DOCUMENT_COUNT == 0 && is_cancelled() {
                return Ok(());
            }
            // Message numbers and positions in the list of values come from two columns of one segment.
            if column
                .term_ords(document)
                .any(|place| u32::try_from(place).is_ok_and(|place| liked.contains(place)))
            {
                insert(found, numbers.first(document));
            }
        }
    }
    Ok(())
}

/// Returns the positions of the values that the test accepts.
fn liked(
    column: &StrColumn,
    begin: &[u8],
    test: &impl WordTest,
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> tantivy::Result<NumberSet> {
    let count = column.num_terms();
    let bound = u32::try_from(count).unwrap_or(u32::MAX);
    let empty = || NumberSet::new(bound);
    let starts: Vec<usize> = (0..count).step_by(PIECE_VALUE_COUNT).collect();
    let sets = starts.par_iter().try_fold(empty, |mut set, start| -> tantivy::Result<NumberSet> {
        if is_cancelled() {
            return Ok(set);
        }
        piece(column, (*start, begin), &test.clone(), &mut set)?;
        Ok(set)
    });
    sets.try_reduce(empty, |mut left, right| {
        left.or(&right);
        Ok(left)
    })
}

fn piece(
    column: &StrColumn,
    (start, begin): (usize, &[u8]),
    test: &impl WordTest,
    liked: &mut NumberSet,
) -> tantivy::Result<()> {
    let dictionary = column.dictionary();
    let mut first = Vec::new();
    dictionary.ord_to_term(start as u64, &mut first)?;
    if behind(begin).is_some_and(|end| first >= end) {
        return Ok(());
    }
    let mut stream = dictionary.range().ge(&first).limit(PIECE_VALUE_COUNT as u64).into_stream()?;
    for place in start..start.saturating_add(PIECE_VALUE_COUNT) {
        if !stream.advance() {
            break;
        }
        if let (Some(value), Ok(place)) = (stream.key().strip_prefix(begin), u32::try_from(place))
            && test.likes(value)
        {
            liked.insert(place);
        }
    }
    Ok(())
}
