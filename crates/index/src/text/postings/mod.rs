//! Collects the words of documents in memory, and writes them as tantivy's inverted index.
//!
//! Input: documents, numbered from 0 in their order. Output: the terms, postings and positions of a segment,
//! byte for byte as tantivy's own writer makes them (`tests`), and the segment's lists of words. Must not
//! know messages, nor columns of values.
//!
//! tantivy looks up one word at a time and appends to the word's own chain of postings: three waits for
//! memory that depend on each other. Here some words at a time are looked up, so that they wait together, and
//! occurrences are appended to a few hundred logs, one for each group of words that begin alike. When the
//! segment is written, one group after the other is sorted in the processor's cache.

mod group;
#[cfg(test)]
mod tests;

use crate::text::fields::{Form, TextField, header_parts};
use crate::text::words::Lists;
use group::{GROUP_COUNT, Group, Occurrence, Sorted, group_of};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use tantivy::Segment;
use tantivy::fieldnorm::FieldNormsSerializer;
use tantivy::index::SegmentComponent;
use tantivy::postings::{FieldSerializer, InvertedIndexSerializer};
use tantivy::tokenizer::MAX_TOKEN_LEN;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// How many words are looked up together: more reads than a core can have under way.
const PENDING_COUNT: usize = 128;

/// The words of some documents.
pub(super) struct Postings {
    fields: Vec<Words>,
    /// Makes hashes that senders of mail cannot foresee. What is written does not depend on it.
    seed: u64,
    pending: Pending,
}

/// The words of one field.
#[derive(Default)]
struct Words {
    /// In the order of their words. None until there is a word.
    groups: Vec<Group>,
    /// How many words there are, repeated ones included.
    count: u64,
    /// The document that was added last, and the position after its last text.
    document: u32,
    end: u32,
}

/// Words that wait to be looked up.
#[derive(Default)]
struct Pending {
    text: Vec<u8>,
    words: Vec<PendingWord>,
}

struct PendingWord {
    /// Where it is in the text.
    start: usize,
    end: usize,
    hash: u32,
    group: usize,
    position: u32,
    /// Where the group has a word with this hash, and that word's number.
    place: Option<usize>,
    number: u32,
}

impl Postings {
    /// Returns postings without documents.
    pub(super) fn new() -> Postings {
        Postings {
            fields: TextField::all().map(|_| Words::default()).collect(),
            seed: RandomState::new().build_hasher().finish(),
            pending: Pending::default(),
        }
    }

    /// Adds a text of a document. Documents are added in the order of their numbers. A phrase never spans two
    /// texts of a field.
    pub(super) fn add(&mut self, document: u32, field: TextField, text: &str) {
        let Postings { fields, seed, pending } = self;
        let words = &mut fields[field as usize];
        words.begin(document);
        let (name, value) = match field.form() {
            Form::Words => ("", text),
            Form::HeaderWords => header_parts(text),
            Form::Whole => {
                pending.text.extend_from_slice(text.as_bytes());
                pending.end_term(0, words.end, *seed);
                words.take(pending, document);
                return;
            }
        };
        let base = words.end;
        let mut found = query::words(value);
        loop {
            let start = pending.text.len();
            pending.text.extend_from_slice(name.as_bytes());
            let Some(position) = found.next_onto(&mut pending.text) else { break };
            let position = base.saturating_add(position);
            pending.end_term(start, position, *seed);
            words.end = words.end.max(position.saturating_add(1));
            if pending.words.len() == PENDING_COUNT {
                words.take(pending, document);
            }
        }
        words.take(pending, document);
        words.end = words.end.saturating_add(1);
    }

    /// Returns how much memory the postings take, with what is needed to write them, in bytes. This looks at
    /// thousands of groups.
    pub(super) fn memory_bytes(&self) -> usize {
        let groups = || self.fields.iter().flat_map(|words| &words.groups);
        let held: usize = groups().map(Group::memory_bytes).sum();
        held + groups().map(Group::sorted_bytes).max().unwrap_or(0)
    }

    /// Writes the files of a segment.
    ///
    /// # Errors
    /// A full disk.
    pub(super) fn write(self, segment: &Segment, lists: &mut Lists<'_>) -> tantivy::Result<()> {
        // No field has norms, and yet tantivy expects the file.
        FieldNormsSerializer::from_write(segment.open_write(SegmentComponent::FieldNorms)?)?.close()?;
        let mut serializer = InvertedIndexSerializer::open(segment)?;
        let (mut sorted, mut deltas) = (Sorted::default(), Vec::new());
        for (field, words) in TextField::all().zip(self.fields).filter(|(_, words)| words.count > 0) {
            lists.begin(field, words.groups.iter().map(Group::word_count).sum())?;
            let mut out = serializer.new_field(field.field(), words.count, None)?;
            // Each group is freed when it is written.
            for group in words.groups {
                sorted.sort(&group);
                for (word, occurrences) in sorted.words(&group) {
                    write_term(&mut out, field.form(), word, (occurrences, &mut deltas))?;
                    lists.push(word)?;
                }
            }
            out.close()?;
            lists.end();
        }
        Ok(serializer.close()?)
    }
}

impl Words {
    /// Begins a text of a document.
    fn begin(&mut self, document: u32) {
        if self.document != document {
            (self.document, self.end) = (document, 0);
        }
        if self.groups.is_empty() {
            self.groups.resize_with(GROUP_COUNT, Group::default);
        }
    }

    /// Takes all pending words. Each of the first two rounds reads memory that is most likely not in a cache,
    /// and no read waits for another one.
    fn take(&mut self, pending: &mut Pending, document: u32) {
        for word in &mut pending.words {
            word.place = self.groups[word.group].place(word.hash);
        }
        for word in &mut pending.words {
            word.number = word.place.map_or(0, |place| self.groups[word.group].number_at(place));
        }
        for word in &pending.words {
            let group = &mut self.groups[word.group];
            let text = &pending.text[word.start..word.end];
            let number = match word.place {
                Some(place) if group.word_at(place) == text => word.number,
                _ => group.number_of(text, word.hash),
            };
            group.note(number, Occurrence { document, position: word.position });
        }
        self.count += pending.words.len() as u64;
        pending.text.clear();
        pending.words.clear();
    }
}

impl Pending {
    /// Ends a term that begins at `start`. Leaves it out if it is too long for tantivy.
    fn end_term(&mut self, start: usize, position: u32, seed: u64) {
        let term = &self.text[start..];
        if term.len() > MAX_TOKEN_LEN {
            self.text.truncate(start);
            return;
        }
        // Half of the bits are enough to tell words apart.
        let hash = (xxh3_64_with_seed(term, seed) >> 32) as u32;
        let group = group_of(term);
        let end = self.text.len();
        self.words.push(PendingWord { start, end, hash, group, position, place: None, number: 0 });
    }
}

/// Writes a term with its occurrences, which are in order.
fn write_term(
    out: &mut FieldSerializer<'_>,
    form: Form,
    term: &[u8],
    (occurrences, deltas): (&[Occurrence], &mut Vec<u32>),
) -> io::Result<()> {
    let documents = || occurrences.chunk_by(|one, next| one.document == next.document);
    match form {
        Form::Words | Form::HeaderWords => {
            out.new_term(term, counted(documents().count()), true)?;
            for in_document in documents() {
                deltas.clear();
                let mut last = 0;
                for occurrence in in_document {
                    deltas.push(occurrence.position - last);
                    last = occurrence.position;
                }
                out.write_doc(in_document[0].document, counted(deltas.len()), deltas);
            }
        }
        Form::Whole => {
            out.new_term(term, 0, false)?;
            documents().for_each(|in_document| out.write_doc(in_document[0].document, 0, &[]));
        }
    }
    out.close_term()
}

fn counted(occurrences: usize) -> u32 {
    u32::try_from(occurrences).expect("memory holds fewer")
}
