//! A message as the text index sees it, and a trait for what takes such documents.
//!
//! The pass knows only these types, so another search engine can replace tantivy's writer.

use crate::error::Result;
use crate::state::TextSegment;
use crate::text::fields::{FILTER, TextField, ValueField, header_word};
use query::fold::fold;
use std::borrow::Cow;

/// Longest whole value in bytes.
const WHOLE_BYTES_MAX: usize = 1024;
/// How much of a value regular expressions see, in bytes. A longer value is cut at a character boundary.
const VALUE_BYTES_MAX: usize = 1024;

/// Takes documents. Each thread has its own.
pub(crate) trait Documents: Send {
    /// Adds a document.
    ///
    /// # Errors
    /// A full disk.
    fn add(&mut self, document: &Document<'_>) -> Result<()>;

    /// Writes what was added, and returns what the commit has to name. The caller still has to sync the
    /// directory.
    ///
    /// # Errors
    /// A full disk.
    fn finish(self: Box<Self>) -> Result<Vec<TextSegment>>;
}

/// The text of a message, by field.
pub(crate) struct Document<'a> {
    /// The message's number.
    pub(super) number: u32,
    /// Texts in their order. A phrase never spans two texts of one field.
    pub(super) texts: Vec<(TextField, Cow<'a, str>)>,
    /// Values for columns.
    pub(super) values: Vec<(ValueField, Cow<'a, str>)>,
}

impl<'a> Document<'a> {
    /// Returns an empty document for message `number`.
    pub(crate) fn new(number: u32) -> Document<'a> {
        Document { number, texts: Vec::new(), values: Vec::new() }
    }

    /// Adds text to a field.
    pub(crate) fn add(&mut self, field: TextField, text: impl Into<Cow<'a, str>>) {
        let text = text.into();
        if !text.is_empty() {
            self.texts.push((field, text));
        }
    }

    /// Adds a value to a column, unchanged. A long one is cut.
    pub(crate) fn add_value(&mut self, field: ValueField, value: impl Into<Cow<'a, str>>) {
        let value = value.into();
        let end = value.floor_char_boundary(VALUE_BYTES_MAX);
        let kept = match value {
            Cow::Borrowed(value) => Cow::Borrowed(value.get(..end).unwrap_or(value)),
            Cow::Owned(mut value) => {
                value.truncate(end);
                Cow::Owned(value)
            }
        };
        if !kept.is_empty() {
            self.values.push((field, kept));
        }
    }

    /// Adds a header field that the configuration names: its words and its value.
    pub(crate) fn add_header(&mut self, name: &str, value: &str) {
        self.add(TextField::Header, header_word(name, value));
        self.add_value(ValueField::Header, header_word(name, value));
    }

    /// Notes that this filter has read the message's attachments.
    pub(crate) fn add_filter(&mut self, name: &str) {
        self.add(TextField::Header, header_word(FILTER, name));
    }

    /// Adds a whole value, folded. Leaves it out if it is too long for a term.
    pub(crate) fn add_whole(&mut self, field: TextField, value: &'a str) {
        self.add_exact(field, fold(value));
    }

    /// Adds a whole value, unchanged. Leaves it out if it is too long for a term.
    pub(crate) fn add_exact(&mut self, field: TextField, value: impl Into<Cow<'a, str>>) {
        let value = value.into();
        if value.len() <= WHOLE_BYTES_MAX {
            self.add(field, value);
        }
    }
}
