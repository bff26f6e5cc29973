//! The recipients of messages from given senders.
//!
//! Input: segments, words of the senders' addresses, a test of senders. Output: each distinct recipient with
//! the messages that name it. The rarest word of an address says which documents are looked at, so that the
//! column of senders is not read as a whole: of 1.37 million messages, a user wrote a few thousand.

use crate::text::fields::{NUMBER, TextField, ValueField};
use crate::text::words::WordTest;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};
use tantivy::columnar::StrColumn;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, SegmentReader, TERMINATED, Term};

/// The columns that name recipients.
const RECEIVED: [ValueField; 3] = [ValueField::To, ValueField::Cc, ValueField::Bcc];
/// Documents that are looked at before the next look at whether to end early.
const DOCUMENT_COUNT: usize = 1 << 12;

/// A recipient, and the numbers of messages that name it.
type Recipient = (String, Vec<u32>);
/// Takes a recipient, and the numbers of messages that name it.
type TakeRecipient<'a> = &'a mut dyn FnMut(&str, &[u32]);

/// Senders that are looked for.
pub(super) struct Senders<'a, T> {
    /// For each of them, words that the text index has for all of its messages. With no words, all messages
    /// are looked at.
    pub(super) words: &'a [Vec<String>],
    /// Accepts the senders' values.
    pub(super) test: &'a T,
}

/// Visits the recipients of the messages with a sender that the test accepts. A recipient is visited once for
/// each segment and column. Segments are read on all cores. If `is_cancelled` returns true, ends early.
///
/// # Errors
/// An error of tantivy: a damaged file.
pub(super) fn find(
    segments: &[SegmentReader],
    wanted: &Senders<'_, impl WordTest>,
    is_cancelled: &(dyn Fn() -> bool + Sync),
    visit: TakeRecipient<'_>,
) -> tantivy::Result<()> {
    let found = segments.par_iter().map(|segment| recipients_of(segment, wanted, is_cancelled));
    for recipients in found.collect::<tantivy::Result<Vec<_>>>()? {
        recipients.iter().for_each(|(value, numbers)| visit(value, numbers));
    }
    Ok(())
}

/// Returns the recipients in one segment.
fn recipients_of(
    segment: &SegmentReader,
    wanted: &Senders<'_, impl WordTest>,
    is_cancelled: &dyn Fn() -> bool,
) -> tantivy::Result<Vec<Recipient>> {
    let mut recipients = Vec::new();
    let Some(senders) = segment.fast_fields().str(ValueField::From.name())? else { return Ok(recipients) };
    let mut documents = Vec::new();
    for words in wanted.words {
        add_candidates(segment, words, &mut documents)?;
    }
    documents.sort_unstable();
    documents.dedup();
    let mut known = HashMap::new();
    let mut sent = Vec::new();
    for (count, document) in documents.into_iter().enumerate() {
        if count % DOCUMENT_COUNT == 0 && is_cancelled() {
            return Ok(recipients);
        }
        if is_sender(&senders, document, wanted.test, &mut known)? {
            sent.push(document);
        }
    }
    for field in RECEIVED {
        add_recipients(segment, field, &sent, &mut recipients)?;
    }
    Ok(recipients)
}

/// Adds the documents that have the rarest of the words as a sender's word. All documents if there is no
/// word.
fn add_candidates(
    segment: &SegmentReader,
    words: &[String],
    documents: &mut Vec<DocId>,
) -> tantivy::Result<()> {
    if words.is_empty() {
        documents.extend(0..segment.max_doc());
        return Ok(());
    }
    let field = TextField::From.field();
    let inverted = segment.inverted_index(field)?;
    let mut rarest = None;
    for word in words {
        let Some(info) = inverted.get_term_info(&Term::from_field_text(field, word))? else { return Ok(()) };
        if rarest.as_ref().is_none_or(|(count, _)| info.doc_freq < *count) {
            rarest = Some((info.doc_freq, info));
        }
    }
    let Some((_, info)) = rarest else { return Ok(()) };
    let mut postings = inverted.read_postings_from_terminfo(&info, IndexRecordOption::Basic)?;
    let mut document = postings.doc();
    while document != TERMINATED {
        documents.push(document);
        document = postings.advance();
    }
    Ok(())
}

/// Returns whether a document has a sender that the test accepts. `known` holds the results so far.
fn is_sender(
    senders: &StrColumn,
    document: DocId,
    test: &impl WordTest,
    known: &mut HashMap<u64, bool>,
) -> tantivy::Result<bool> {
    for place in senders.term_ords(document) {
        let likes = match known.get(&place) {
            Some(likes) => *likes,
            None => {
                let mut value = String::new();
                let likes = senders.ord_to_str(place, &mut value)? && test.likes(value.as_bytes());
                known.insert(place, likes);
                likes
            }
        };
        if likes {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Adds the recipients that a column has for some documents.
fn add_recipients(
    segment: &SegmentReader,
    field: ValueField,
    sent: &[DocId],
    recipients: &mut Vec<Recipient>,
) -> tantivy::Result<()> {
    let Some(column) = segment.fast_fields().str(field.name())? else { return Ok(()) };
    let numbers = segment.fast_fields().u64(NUMBER)?;
    let mut named: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for document in sent {
        let Some(number) = numbers.first(*document).and_then(|number| u32::try_from(number).ok()) else {
            continue;
        };
        for place in column.term_ords(*document) {
            named.entry(place).or_default().push(number);
        }
    }
    let places: Vec<u64> = named.keys().copied().collect();
    let mut lists = named.into_values();
    column.dictionary().sorted_ords_to_term_cb(&places, |value| {
        if let (Some(numbers), Ok(value)) = (lists.next(), std::str::from_utf8(value)) {
            recipients.push((value.to_owned(), numbers));
        }
    })?;
    Ok(())
}
