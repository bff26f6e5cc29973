//! Finds the messages whose attachments a filter has not read yet.
//!
//! Input: a segment, the filters for each MIME type, and the messages that another filter is for. Output:
//! message numbers. The types are terms of the field `mime`; what has read a message is noted in its document
//! (`Document::add_filter`). Must not know how attachments are read.

use crate::attached::partly;
use crate::error::Result;
use crate::set::NumberSet;
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

/// Messages that a filter is for, whatever their types, and the name of that filter.
pub(crate) type Chosen = (String, NumberSet);

/// Returns the numbers of the messages of a segment that have a part of a type, of which `filters_for`
/// returns a filter that has not read them, or that are chosen for one, in order; with each, whether another
/// one of them has, or this one a part.
///
/// # Errors
/// An error of tantivy: a damaged file.
pub(crate) fn unread(
    (disk, path): (&Arc<dyn Disk>, &Path),
    segment: &TextSegment,
    filters_for: &dyn Fn(&str) -> Vec<String>,
    chosen: Option<&Chosen>,
) -> Result<BTreeMap<u32, bool>> {
    let files = TextFiles::new(disk, path).bound_to(std::slice::from_ref(segment));
    let find = || -> tantivy::Result<BTreeMap<u32, bool>> {
        let mut numbers = BTreeMap::new();
        for reader in open_segments(&files, std::slice::from_ref(segment))? {
            numbers.extend(unread_in(&reader, filters_for, chosen)?);
        }
        Ok(numbers)
    };
    let found = find().map_err(|error| files.error(error));
    files.forget();
    found
}

/// Returns whether a filter has read a message of these segments, or a part of one.
///
/// # Errors
/// An error of tantivy: a damaged file.
pub(crate) fn is_read_by(
    (disk, path): (&Arc<dyn Disk>, &Path),
    segments: &[TextSegment],
    filter: &str,
) -> Result<bool> {
    let files = TextFiles::new(disk, path).bound_to(segments);
    let find = || -> tantivy::Result<bool> {
        for reader in open_segments(&files, segments)? {
            let headers = reader.inverted_index(TextField::Header.field())?;
            for name in [filter, &partly(filter)] {
                if headers.get_term_info(&filter_term(name))?.is_some() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    };
    let found = find().map_err(|error| files.error(error));
    files.forget();
    found
}

fn filter_term(filter: &str) -> Term {
    Term::from_field_text(TextField::Header.field(), &header_word(FILTER, filter))
}

fn unread_in(
    reader: &SegmentReader,
    filters_for: &dyn Fn(&str) -> Vec<String>,
    chosen: Option<&Chosen>,
) -> tantivy::Result<BTreeMap<u32, bool>> {
    let mimes = reader.inverted_index(TextField::Mime.field())?;
    let headers = reader.inverted_index(TextField::Header.field())?;
    let mut wanted: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    let mut terms = mimes.terms().stream()?;
    while terms.advance() {
        let Ok(mime) = std::str::from_utf8(terms.key()) else { continue };
        let names = filters_for(mime);
        if !names.is_empty() {
            let documents = documents(&mimes, terms.value())?;
            for filter in names {
                wanted.entry(filter).or_default().extend(&documents);
            }
        }
    }
    let numbers = reader.fast_fields().u64(NUMBER)?;
    let number = |document| numbers.first(document).and_then(|number| u32::try_from(number).ok());
    if let Some((filter, chosen)) = chosen.filter(|(_, chosen)| !chosen.is_empty()) {
        let is_chosen = |document: &u32| number(*document).is_some_and(|number| chosen.contains(number));
        wanted.entry(filter.clone()).or_default().extend((0..reader.max_doc()).filter(is_chosen));
    }
    let (mut left, mut read) = (BTreeSet::new(), BTreeSet::new());
    for (filter, mut wanted) in wanted {
        if let Some(term) = headers.get_term_info(&filter_term(&filter))? {
            for document in documents(&headers, &term)? {
                wanted.remove(&document);
                read.insert(document);
            }
        }
        if let Some(term) = headers.get_term_info(&filter_term(&partly(&filter)))? {
            read.extend(documents(&headers, &term)?);
        }
        left.append(&mut wanted);
    }
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
