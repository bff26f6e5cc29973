//! Tests every distinct word or value of a field.
//!
//! Input: segments, a prefix of the terms, a test. Output: the messages of the terms that the test accepts.
//! The sorted list of terms is divided into pieces of similar size, so that all cores take part whatever the
//! sizes of segments. Terms with an empty prefix are tested in the list of words, if there is one.

use crate::set::NumberSet;
use crate::text::directory::TextFiles;
use crate::text::fields::{NUMBER, TextField};
use crate::text::numbers::insert;
use crate::text::words::{self, WORD_COUNT_MIN, WordList, WordTest, word_around};
use rayon::prelude::*;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;
use tantivy::termdict::{TermDictionary, TermStreamer};
use tantivy::{DocSet, SegmentReader, TERMINATED};

/// Terms in one piece.
const PIECE_TERM_COUNT: u64 = 1 << 14;

/// If there are fewer bytes of words than this per accepted word, unpacking tantivy's list is cheaper than
/// looking up each word in it: one look-up unpacks a part of a block of 4 KiB. On real mail, 50 and 4,000
/// made no difference.
const LOOKUP_BYTES: usize = 1000;

/// Where to search for terms.
pub(super) struct Searched<'a> {
    /// The files of the segments.
    pub(super) files: &'a TextFiles,
    /// The segments.
    pub(super) segments: &'a [SegmentReader],
    /// Says whether to end early. It is asked before each piece.
    pub(super) is_cancelled: &'a (dyn Fn() -> bool + Sync),
}

/// A run of a segment's terms.
struct Piece<'a> {
    segment: &'a SegmentReader,
    terms: Terms,
}

/// Where the terms of a piece are tested.
enum Terms {
    /// In tantivy's list: from the first key, up to but excluding the second if there is one.
    Between(Vec<u8>, Option<Vec<u8>>),
    /// In the list of words.
    Listed(Arc<WordList>, words::Piece),
}

/// Adds the messages of the terms that begin with `begin` and whose rest the test accepts.
///
/// # Errors
/// An error of tantivy: a damaged file.
pub(super) fn find(
    searched: &Searched<'_>,
    (field, begin): (TextField, &str),
    test: &impl WordTest,
    found: &mut NumberSet,
) -> tantivy::Result<()> {
    let mut pieces = Vec::new();
    for segment in searched.segments {
        if !begin.is_empty() || !listed(searched.files, segment, field, &mut pieces)? {
            cut(segment, field, begin.as_bytes(), &mut pieces)?;
        }
    }
    if let [piece] = pieces.as_slice() {
        return search(piece, field, begin.len(), test, found);
    }
    let empty = || NumberSet::new(found.bound());
    let sets = pieces.par_iter().try_fold(empty, |mut set, piece| -> tantivy::Result<NumberSet> {
        if (searched.is_cancelled)() {
            return Ok(set);
        }
        // Each piece gets its own clone of the test, as sharing the memory of a regular expression between
        // threads is slow.
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

/// Adds the pieces of the list of words, and returns whether there is a list.
fn listed<'a>(
    files: &TextFiles,
    segment: &'a SegmentReader,
    field: TextField,
    pieces: &mut Vec<Piece<'a>>,
) -> tantivy::Result<bool> {
    if segment.inverted_index(field.field())?.terms().num_terms() < WORD_COUNT_MIN {
        return Ok(false);
    }
    let Some(list) = WordList::open(files, &segment.segment_id().uuid_string())?.map(Arc::new) else {
        return Ok(false);
    };
    let before = pieces.len();
    let of_field = list.pieces(field).cloned();
    pieces.extend(of_field.map(|piece| Piece { segment, terms: Terms::Listed(Arc::clone(&list), piece) }));
    Ok(pieces.len() > before)
}

/// Divides the terms that begin with `begin` into pieces.
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
        let begin = std::mem::replace(&mut from, below.clone());
        pieces.push(Piece { segment, terms: Terms::Between(begin, Some(below)) });
        next = next.saturating_add(PIECE_TERM_COUNT);
    }
    if first < last {
        pieces.push(Piece { segment, terms: Terms::Between(from, end) });
    }
    Ok(())
}

/// Returns the ordinal of the first term that is not below `key`.
fn ordinal(terms: &TermDictionary, key: &[u8]) -> tantivy::Result<u64> {
    // The limit is a hint to read no more than the block of the key and the next one.
    let mut stream = terms.range().ge(key).limit(1).into_stream()?;
    Ok(if stream.advance() { stream.term_ord() } else { terms.num_terms() as u64 })
}

/// Returns the first key after all keys that begin with `begin`. Returns `None` for an empty prefix.
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

/// Visits every term of a field.
///
/// # Errors
/// An error of tantivy: a damaged file.
pub(super) fn each(
    segment: &SegmentReader,
    field: TextField,
    visit: &mut dyn FnMut(&[u8]),
) -> tantivy::Result<()> {
    let inverted = segment.inverted_index(field.field())?;
    let mut stream = inverted.terms().stream()?;
    while stream.advance() {
        visit(stream.key());
    }
    Ok(())
}

fn search(
    piece: &Piece<'_>,
    field: TextField,
    begin_length: usize,
    test: &impl WordTest,
    found: &mut NumberSet,
) -> tantivy::Result<()> {
    let inverted = piece.segment.inverted_index(field.field())?;
    let terms = inverted.terms();
    let mut liked: Vec<TermInfo> = match &piece.terms {
        Terms::Between(from, below) => {
            let mut range = terms.range().ge(from);
            if let Some(below) = below {
                range = range.lt(below);
            }
            let likes = |term: &[u8]| term.get(begin_length..).is_some_and(|rest| test.likes(rest));
            liked_of(range.into_stream()?, likes)
        }
        Terms::Listed(list, part) => listed_infos(terms, &list.words(part)?, test)?,
    };
    // Starts with the words that are in most documents. Once every document is found, the remaining words add
    // nothing.
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

/// Returns tantivy's information about the terms that `likes` accepts.
fn liked_of(mut stream: TermStreamer<'_>, likes: impl Fn(&[u8]) -> bool) -> Vec<TermInfo> {
    let mut liked = Vec::new();
    while stream.advance() {
        if likes(stream.key()) {
            liked.push(stream.value().clone());
        }
    }
    liked
}

/// Returns tantivy's information about the words in a piece of the list that the test accepts.
fn listed_infos(terms: &TermDictionary, words: &[u8], test: &impl WordTest) -> io::Result<Vec<TermInfo>> {
    let mut liked = Vec::new();
    test.find_all(words, &mut |word| liked.push(word));
    if liked.len() * LOOKUP_BYTES < words.len() {
        let info = |word: &Range<usize>| terms.get(words.get(word.clone()).unwrap_or_default()).transpose();
        return liked.iter().filter_map(info).collect();
    }
    let (first, last) = (word_around(words, 0), word_around(words, words.len().saturating_sub(1)));
    let range = terms.range().ge(&words[first]).le(&words[last]);
    Ok(liked_of(range.into_stream()?, |term| test.likes(term)))
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
