//! Tests every distinct word or value of a field.
//!
//! In: segments, how the terms begin, a test. Out: the messages of the terms that it likes. The list of terms is sorted and cut into
//! pieces of about one size, so that all cores take part however the segments are sized.

use crate::set::NumberSet;
use crate::text::fields::{NUMBER, TextField};
use crate::text::reader::insert;
use rayon::prelude::*;
use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;
use tantivy::termdict::TermDictionary;
use tantivy::{DocSet, SegmentReader, TERMINATED};

/// Terms of one piece.
const PIECE_TERM_COUNT: u64 = 1 << 14;

/// A run of a segment's terms.
struct Piece<'a> {
    segment: &'a SegmentReader,
    /// Its first term is not below this.
    from: Vec<u8>,
    /// Its last term is below this, if there is an end.
    below: Option<Vec<u8>>,
}

/// Adds the messages of the terms that begin with `begin` and of which the test likes what follows.
///
/// # Errors
/// What tantivy says of a damaged file.
pub(super) fn find(
    segments: &[SegmentReader],
    field: TextField,
    begin: &str,
    test: impl Fn(&[u8]) -> bool + Clone + Send + Sync,
    found: &mut NumberSet,
) -> tantivy::Result<()> {
    let mut pieces = Vec::new();
    for segment in segments {
        cut(segment, field, begin.as_bytes(), &mut pieces)?;
    }
    if let [piece] = pieces.as_slice() {
        return search(piece, field, begin.len(), &test, found);
    }
    let empty = || NumberSet::new(found.bound());
    let sets = pieces.par_iter().try_fold(empty, |mut set, piece| -> tantivy::Result<NumberSet> {
        // A test of its own: what regular expressions keep in memory is not shared between threads without a price.
        search(piece, field, begin.len(), &test.clone(), &mut set)?;
        Ok(set)
    });
    let all = sets.try_reduce(empty, |mut left, right| {
        left.or(&right);
        Ok(left)
    })?;
    found.or(&all);
    Ok(())
}

/// Cuts the terms that begin with `begin` into pieces.
fn cut<'a>(
    segment: &'a SegmentReader,
    field: TextField,
    begin: &[u8],
    pieces: &mut Vec<Piece<'a>>,
) -> tantivy::Result<()> {
    let inverted = segment.inverted_index(field.field())?;
    let terms = inverted.terms();
    let end = behind(begin);
    let first = ordinal(terms, begin)?;
    let last = match &end {
        Some(end) => ordinal(terms, end)?,
        None => terms.num_terms() as u64,
    };
    let mut from = begin.to_vec();
    let mut next = first.saturating_add(PIECE_TERM_COUNT);
    while next < last {
        let mut below = Vec::new();
        terms.ord_to_term(next, &mut below)?;
        pieces.push(Piece { segment, from: std::mem::replace(&mut from, below.clone()), below: Some(below) });
        next = next.saturating_add(PIECE_TERM_COUNT);
    }
    if first < last {
        pieces.push(Piece { segment, from, below: end });
    }
    Ok(())
}

/// Returns the place of the first term that is not below `key`.
fn ordinal(terms: &TermDictionary, key: &[u8]) -> tantivy::Result<u64> {
    let mut stream = terms.range().ge(key).into_stream()?;
    Ok(if stream.advance() { stream.term_ord() } else { terms.num_terms() as u64 })
}

/// Returns what comes behind everything that begins so; nothing does behind the empty beginning.
pub(super) fn behind(begin: &[u8]) -> Option<Vec<u8>> {
    let mut end = begin.to_vec();
    while let Some(last) = end.pop() {
        if let Some(next) = last.checked_add(1) {
            end.push(next);
            return Some(end);
        }
    }
    None
}

fn search(
    piece: &Piece<'_>,
    field: TextField,
    begin_length: usize,
    test: &impl Fn(&[u8]) -> bool,
    found: &mut NumberSet,
) -> tantivy::Result<()> {
    let inverted = piece.segment.inverted_index(field.field())?;
    let mut range = inverted.terms().range().ge(&piece.from);
    if let Some(below) = &piece.below {
        range = range.lt(below);
    }
    let mut stream = range.into_stream()?;
    let mut liked: Vec<TermInfo> = Vec::new();
    while stream.advance() {
        if stream.key().get(begin_length..).is_some_and(test) {
            liked.push(stream.value().clone());
        }
    }
    // The words of many documents first: once every document is found, the rest of the list says nothing new.
    liked.sort_unstable_by_key(|info| std::cmp::Reverse(info.doc_freq));
    let numbers = piece.segment.fast_fields().u64(NUMBER)?;
    let mut documents = NumberSet::new(piece.segment.max_doc());
    let mut missing = piece.segment.max_doc();
    for info in &liked {
        if missing == 0 {
            break;
        }
        let mut postings = inverted.read_postings_from_terminfo(info, IndexRecordOption::Basic)?;
        while postings.doc() != TERMINATED {
            missing -= u32::from(!documents.contains(postings.doc()));
            documents.insert(postings.doc());
            postings.advance();
        }
    }
    documents.iter().for_each(|document| insert(found, numbers.first(document)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_so_lies_below_what_comes_behind() {
        assert_eq!(behind(b"ab"), Some(b"ac".to_vec()));
        assert_eq!(behind(b"a\xff\xff"), Some(b"b".to_vec()));
        assert_eq!(behind(b""), None);
        assert_eq!(behind(b"\xff"), None);
    }
}
