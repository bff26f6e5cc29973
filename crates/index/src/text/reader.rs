//! Answers questions about text: which messages contain these words.
//!
//! Input: needles of folded words. Output: sets of message numbers. Reads tantivy's segments one by one,
//! without tantivy's reader, which would take a lock and start threads.

use crate::error::Result;
use crate::set::NumberSet;
use crate::state::TextSegment;
use crate::text::directory::TextFiles;
use crate::text::fields::{NUMBER, TextField, ValueField};
use crate::text::numbers::insert;
use crate::text::open::open_segments;
use crate::text::words::{Any, WordTest};
use crate::text::{groups, recipients, terms, values};
use std::sync::OnceLock;
use store::read_together;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{EnableScoring, PhrasePrefixQuery, PhraseQuery, Query};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, SegmentReader, TERMINATED, Term};

/// What to look for in one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Needle {
    /// These words in a row.
    Phrase(Words),
    /// These words in a row, where the last may be the beginning of a word.
    Prefix(Words),
    /// A whole value, as in `list` and `mime`.
    Whole(String),
    /// The beginning of a whole value.
    WholePrefix(String),
}

/// Folded words; never empty.
pub(super) type Words = Vec<String>;

/// The text index in one commit.
pub(crate) struct TextReader {
    files: TextFiles,
    /// The segments in the order of the commit, and those that an older reader has open.
    named: Vec<(TextSegment, Option<SegmentReader>)>,
    /// All of them in the same order, once a query has needed them.
    segments: OnceLock<Vec<SegmentReader>>,
}

impl TextReader {
    /// Maps the files of the segments that a commit names. They are opened when a query needs them: many
    /// commands search no text.
    ///
    /// # Errors
    /// An error of tantivy: a missing file.
    pub(crate) fn open(files: &TextFiles, segments: &[TextSegment]) -> Result<TextReader> {
        let named = segments.iter().map(|segment| (segment.clone(), None)).collect();
        TextReader::mapped(files.bound_to(segments), named)
    }

    /// Maps the files of the segments that a later commit names. Reuses what is open or mapped here.
    ///
    /// # Errors
    /// As [`TextReader::open`].
    pub(crate) fn newer(&self, files: &TextFiles, segments: &[TextSegment]) -> Result<TextReader> {
        let files = files.bound_to(segments);
        let place = |segment| self.named.iter().position(|(known, _)| known == segment);
        let named = segments.iter().map(|segment| {
            let reader = place(segment).and_then(|place| {
                files.share(&self.files, segment);
                self.opened(place)
            });
            (segment.clone(), reader)
        });
        let named = named.collect();
        TextReader::mapped(files, named)
    }

    /// Returns the segments that `older` does not have.
    ///
    /// # Errors
    /// An error of tantivy: a damaged file.
    pub(crate) fn since(&self, older: &TextReader) -> Result<TextReader> {
        // Opened here, they stay open for later queries.
        self.segments()?;
        let is_new = |segment| older.named.iter().all(|(known, _)| known != segment);
        let both = (0..).zip(&self.named).filter(|(_, (segment, _))| is_new(segment));
        let named = both.map(|(place, (segment, _))| (segment.clone(), self.opened(place))).collect();
        Ok(TextReader { files: self.files.clone(), named, segments: OnceLock::new() })
    }

    fn mapped(files: TextFiles, named: Vec<(TextSegment, Option<SegmentReader>)>) -> Result<TextReader> {
        let mapped = named.iter().try_for_each(|(segment, _)| files.map(segment));
        mapped.map_err(|error| files.error(error.into()))?;
        Ok(TextReader { files, named, segments: OnceLock::new() })
    }

    /// Returns the reader of a segment, if it is open.
    fn opened(&self, place: usize) -> Option<SegmentReader> {
        match self.segments.get() {
            Some(segments) => segments.get(place).cloned(),
            None => self.named.get(place).and_then(|(_, reader)| reader.clone()),
        }
    }

    /// Returns the segments, opened.
    ///
    /// # Errors
    /// An error of tantivy: a damaged file.
    fn segments(&self) -> Result<&[SegmentReader]> {
        if let Some(segments) = self.segments.get() {
            return Ok(segments);
        }
        let closed = self.named.iter().filter(|(_, reader)| reader.is_none());
        let closed: Vec<TextSegment> = closed.map(|(segment, _)| segment.clone()).collect();
        let opened = open_segments(&self.files, &closed).map_err(|error| self.files.error(error))?;
        let mut opened = opened.into_iter();
        let all = self.named.iter().filter_map(|(_, reader)| reader.clone().or_else(|| opened.next()));
        Ok(self.segments.get_or_init(|| all.collect()))
    }

    /// Opens all files and keeps them open. Otherwise they are opened when a query needs them.
    ///
    /// # Errors
    /// An error of tantivy: a damaged file.
    pub(crate) fn open_all(&self) -> Result<()> {
        self.segments().map(|_| ())
    }

    /// Adds to `found` the messages that have `needle` in `field`. If `is_cancelled` returns true, ends early
    /// with some of them.
    ///
    /// # Errors
    /// An error of tantivy: a damaged file.
    pub(crate) fn find(
        &self,
        field: TextField,
        needle: &Needle,
        is_cancelled: &(dyn Fn() -> bool + Sync),
        found: &mut NumberSet,
    ) -> Result<()> {
        let segments = self.segments()?;
        read_together(segments, |segment| prepare(segment, field, needle));
        for segment in segments {
            if is_cancelled() {
                break;
            }
            let found = self.find_in(segment, (field, needle), is_cancelled, found);
            found.map_err(|error| self.files.error(error))?;
        }
        Ok(())
    }

    /// Calls `each` with the number of every message that has `word` in `field`, and how often it has it.
    ///
    /// # Errors
    /// An error of tantivy: a damaged file.
    pub(crate) fn frequencies(
        &self,
        field: TextField,
        word: &str,
        each: &mut dyn FnMut(u32, u32),
    ) -> Result<()> {
        let term = Term::from_field_text(field.field(), word);
        let of_segment = |segment: &SegmentReader| -> tantivy::Result<()> {
            let inverted = segment.inverted_index(field.field())?;
            let Some(mut postings) = inverted.read_postings(&term, IndexRecordOption::WithFreqs)? else {
                return Ok(());
            };
            let numbers = segment.fast_fields().u64(NUMBER)?;
            let mut document = postings.doc();
            while document != TERMINATED {
                if let Some(number) = numbers.first(document).and_then(|number| u32::try_from(number).ok()) {
                    each(number, postings.term_freq());
                }
                document = postings.advance();
            }
            Ok(())
        };
        let all = self.segments()?.iter().try_for_each(of_segment);
        all.map_err(|error| self.files.error(error))
    }

    /// Adds the messages of every distinct word or value of a field that begins with `begin` and whose rest
    /// the test accepts. If `is_cancelled` returns true, ends early with some of them.
    ///
    /// # Errors
    /// An error of tantivy: a damaged file.
    pub(crate) fn find_terms(
        &self,
        terms: (TextField, &str),
        test: &impl WordTest,
        is_cancelled: &(dyn Fn() -> bool + Sync),
        found: &mut NumberSet,
    ) -> Result<()> {
        let searched = terms::Searched { files: &self.files, segments: self.segments()?, is_cancelled };
        terms::find(&searched, terms, test, found).map_err(|error| self.files.error(error))
    }

    fn find_in(
        &self,
        segment: &SegmentReader,
        (field, needle): (TextField, &Needle),
        is_cancelled: &(dyn Fn() -> bool + Sync),
        found: &mut NumberSet,
    ) -> tantivy::Result<()> {
        match needle {
            Needle::Phrase(words) if words.len() == 1 => {
                word(segment, field, words.first().map_or("", String::as_str), found)
            }
            Needle::Phrase(words) => query(segment, &PhraseQuery::new(terms(field, words)), found),
            Needle::Prefix(words) if words.len() == 1 => {
                let begin = words.first().map_or("", String::as_str);
                self.begun(segment, (field, begin), is_cancelled, found)
            }
            Needle::Prefix(words) => phrase_prefix(segment, field, words, found),
            Needle::Whole(value) => word(segment, field, value, found),
            Needle::WholePrefix(begin) => self.begun(segment, (field, begin), is_cancelled, found),
        }
    }

    fn begun(
        &self,
        segment: &SegmentReader,
        (field, begin): (TextField, &str),
        is_cancelled: &(dyn Fn() -> bool + Sync),
        found: &mut NumberSet,
    ) -> tantivy::Result<()> {
        let segments = std::slice::from_ref(segment);
        let searched = terms::Searched { files: &self.files, segments, is_cancelled };
        terms::find(&searched, (field, begin), &Any, found)
    }

    /// Adds the messages of every distinct value in a column that begins with `begin` and whose rest the test
    /// accepts. If `is_cancelled` returns true, ends early with some of them.
    ///
    /// # Errors
    /// An error of tantivy: a damaged file.
    pub(crate) fn find_values(
        &self,
        values: (ValueField, &str),
        test: &impl WordTest,
        is_cancelled: &(dyn Fn() -> bool + Sync),
        found: &mut NumberSet,
    ) -> Result<()> {
        values::find(self.segments()?, values, test, is_cancelled, found)
            .map_err(|error| self.files.error(error))
    }

    /// Visits the recipients of the messages with a sender that the test accepts, each with the numbers of
    /// messages that name it. A recipient may be visited several times. `words` has for each sender some
    /// words that all its messages have. If `is_cancelled` returns true, ends early.
    ///
    /// # Errors
    /// An error of tantivy: a damaged file.
    pub(crate) fn recipients(
        &self,
        (words, test): (&[Vec<String>], &impl WordTest),
        is_cancelled: &(dyn Fn() -> bool + Sync),
        visit: &mut dyn FnMut(&str, &[u32]),
    ) -> Result<()> {
        let senders = recipients::Senders { words, test };
        recipients::find(self.segments()?, &senders, is_cancelled, visit)
            .map_err(|error| self.files.error(error))
    }

    /// Visits every distinct word or value of a field, once for each segment that has it.
    ///
    /// # Errors
    /// An error of tantivy: a damaged file.
    pub(crate) fn each_term(&self, field: TextField, visit: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.segments()?
            .iter()
            .try_for_each(|segment| terms::each(segment, field, visit))
            .map_err(|error| self.files.error(error))
    }

    /// Visits the messages of each term of a field: `name` gets a term and returns a number, and `add` gets
    /// that number with each message. If `is_cancelled` returns true, ends early.
    ///
    /// # Errors
    /// An error of tantivy: a damaged file.
    pub(crate) fn group_by_term(
        &self,
        field: TextField,
        is_cancelled: &dyn Fn() -> bool,
        (name, add): (groups::Name<'_>, groups::Add<'_>),
    ) -> Result<()> {
        self.segments()?
            .iter()
            .try_for_each(|segment| groups::by_term(segment, field, is_cancelled, (name, add)))
            .map_err(|error| self.files.error(error))
    }

    /// Visits the messages of each value in a column, as [`TextReader::group_by_term`] does.
    ///
    /// # Errors
    /// An error of tantivy: a damaged file.
    pub(crate) fn group_by_value(
        &self,
        field: ValueField,
        is_cancelled: &dyn Fn() -> bool,
        (name, add): (groups::Name<'_>, groups::Add<'_>),
    ) -> Result<()> {
        self.segments()?
            .iter()
            .try_for_each(|segment| groups::by_value(segment, field, is_cancelled, (name, add)))
            .map_err(|error| self.files.error(error))
    }

    /// Returns the message number of every document, including documents of messages without a row.
    ///
    /// # Errors
    /// An error of tantivy: a damaged file.
    pub(crate) fn numbers(&self) -> Result<Vec<u32>> {
        let mut all = Vec::new();
        for segment in self.segments()? {
            let numbers = segment.fast_fields().u64(NUMBER).map_err(|error| self.files.error(error))?;
            let documents = 0..segment.max_doc();
            all.extend(documents.filter_map(|document| u32::try_from(numbers.first(document)?).ok()));
        }
        Ok(all)
    }
}

/// Reads what a search for a needle begins with, in one segment.
fn prepare(segment: &SegmentReader, field: TextField, needle: &Needle) -> tantivy::Result<()> {
    let (words, option) = match needle {
        Needle::Phrase(words) if words.len() > 1 => {
            (words.as_slice(), IndexRecordOption::WithFreqsAndPositions)
        }
        Needle::Phrase(words) => (words.as_slice(), IndexRecordOption::Basic),
        Needle::Whole(value) => (std::slice::from_ref(value), IndexRecordOption::Basic),
        // Which words begin so is not known yet.
        Needle::Prefix(_) | Needle::WholePrefix(_) => (&[][..], IndexRecordOption::Basic),
    };
    let inverted = segment.inverted_index(field.field())?;
    for term in terms(field, words) {
        if inverted.read_postings(&term, option)?.is_none() {
            return Ok(());
        }
    }
    segment.fast_fields().u64(NUMBER).map(|_| ())
}

fn terms(field: TextField, words: &[String]) -> Vec<Term> {
    words.iter().map(|word| Term::from_field_text(field.field(), word)).collect()
}

fn word(segment: &SegmentReader, field: TextField, word: &str, found: &mut NumberSet) -> tantivy::Result<()> {
    let inverted = segment.inverted_index(field.field())?;
    let term = Term::from_field_text(field.field(), word);
    match inverted.read_postings(&term, IndexRecordOption::Basic)? {
        Some(postings) => collect(segment, postings, found),
        None => Ok(()),
    }
}

fn phrase_prefix(
    segment: &SegmentReader,
    field: TextField,
    words: &[String],
    found: &mut NumberSet,
) -> tantivy::Result<()> {
    let Some(last) = words.last() else { return Ok(()) };
    // tantivy allocates room for as many words as the limit allows, so the limit is their exact number.
    let inverted = segment.inverted_index(field.field())?;
    let mut range = inverted.terms().range().ge(last);
    if let Some(end) = terms::behind(last.as_bytes()) {
        range = range.lt(end);
    }
    let mut stream = range.into_stream()?;
    let mut count = 0;
    while stream.advance() && stream.key().starts_with(last.as_bytes()) {
        count += 1;
    }
    if count == 0 {
        return Ok(());
    }
    let mut phrase = PhrasePrefixQuery::new(terms(field, words));
    phrase.set_max_expansions(count);
    query(segment, &phrase, found)
}

fn collect(
    segment: &SegmentReader,
    mut postings: SegmentPostings,
    found: &mut NumberSet,
) -> tantivy::Result<()> {
    let numbers = segment.fast_fields().u64(NUMBER)?;
    let mut document = postings.doc();
    while document != TERMINATED {
        insert(found, numbers.first(document));
        document = postings.advance();
    }
    Ok(())
}

fn query(segment: &SegmentReader, query: &dyn Query, found: &mut NumberSet) -> tantivy::Result<()> {
    let numbers = segment.fast_fields().u64(NUMBER)?;
    let weight = query.weight(EnableScoring::disabled_from_schema(segment.schema()))?;
    weight.for_each_no_score(segment, &mut |documents| {
        documents.iter().for_each(|document| insert(found, numbers.first(*document)));
    })
}
