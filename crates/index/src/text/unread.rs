//! Finds the messages whose attachments a filter has not read yet.
//!
//! Input: a segment, and the filters for each MIME type. Output: message numbers. The types are terms of the
//! field `mime`; what has read a message is noted in its document (`Document::add_filter`). Must not know how
//! attachments are read.

use crate::error::Result;
use crate::state::TextSegment;
use crate::text::directory::TextFiles;
use crate::text::fields::{FILTER, NUMBER, TextField, header_word};
use crate::text::open::open_segments;
use disk::Disk;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, InvertedIndexReader, SegmentReader, TERMINATED, Term};

/// Returns the numbers of the messages of a segment that have a part of a type, of which `filters_for`
/// returns a filter that has not read them, in order; with each, whether another one of them has.
///
/// # Errors
/// An error of tantivy: a damaged file.
pub(crate) fn unread(
    (disk, path): (&Arc<dyn Disk>, &Path),
    segment: &TextSegment,
    filters_for: &dyn Fn(&str) -> Vec<String>,
) -> Result<BTreeMap<u32, bool>> {
    let files = TextFiles::new(disk, path).bound_to(std::slice::from_ref(segment));
    let find = || -> tantivy::Result<BTreeMap<u32, bool>> {
        let mut numbers = BTreeMap::new();
        for reader in open_segments(&files, std::slice::from_ref(segment))? {
            numbers.extend(unread_in(&reader, filters_for)?);
        }
        Ok(numbers)
    };
    let found = find().map_err(|error| files.error(error));
    files.forget();
    found
}

fn unread_in(
    reader: &SegmentReader,
    filters_for: &dyn Fn(&str) -> Vec<String>,
) -> tantivy::Result<BTreeMap<u32, bool>> {
    let mimes = reader.inverted_index(TextField::Mime.field())?;
    let headers = reader.inverted_index(TextField::Header.field())?;
    let mut wanted: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    let mut terms = mimes.terms().stream()?;
    while terms.advance() {
        let Ok(mime) = std::str::from_utf8(terms.key()) else { continue };
        let filters = filters_for(mime);
        if !filters.is_empty() {
            let documents = documents(&mimes, terms.value())?;
            for filter in filters {
                wanted.entry(filter).or_default().extend(&documents);
            }
        }
    }
    let (mut left, mut read) = (BTreeSet::new(), BTreeSet::new());
    for (filter, mut wanted) in wanted {
        let term = Term::from_field_text(TextField::Header.field(), &header_word(FILTER, &filter));
        if let Some(term) = headers.get_term_info(&term)? {
            for document in documents(&headers, &term)? {
                wanted.remove(&document);
                read.insert(document);
            }
        }
        left.append(&mut wanted);
    }
    let numbers = reader.fast_fields().u64(NUMBER)?;
    let number = |document| numbers.first(document).and_then(|number| u32::try_from(number).ok());
    Ok(left.into_iter().filter_map(|document| Some((number(document)?, read.contains(&document)))).collect())
}

/// Returns the documents of a term.
fn documents(inverted: &InvertedIndexReader, term: &TermInfo) -> tantivy::Result<Vec<u32>> {
    let mut postings = inverted.read_postings_from_terminfo(term, IndexRecordOption::Basic)?;
    let mut found = Vec::new();
    while postings.doc() != TERMINATED {
        found.push(postings.doc());
        postings.advance();
    }
    Ok(found)
}
