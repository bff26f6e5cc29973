//! The fields of the text index, how their text becomes terms, and tantivy's schema of them.
//!
//! Besides the words of a header field, a column has its whole decoded values, with a sorted list of the
//! distinct ones. Regular expressions are matched against that list, which is read at memory speed, and not
//! against each message. Must not know how terms are made or found.

use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};

/// A field of the text index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum TextField {
    /// Names and addresses of senders.
    From,
    /// Names and addresses of recipients.
    To,
    /// Names and addresses of recipients of a copy.
    Cc,
    /// Names and addresses of recipients of a blind copy.
    Bcc,
    /// The subject.
    Subject,
    /// The text of the body.
    Body,
    /// Names of attachments.
    File,
    /// The mailing list's id, whole.
    List,
    /// MIME types, whole.
    Mime,
    /// Message-IDs that the message refers to, whole.
    Reference,
    /// Labels that other programs wrote into its header, whole.
    Label,
    /// The Message-ID, whole, for patterns. The table's index finds complete ids.
    MessageId,
    /// The text of attached messages and of attached text files.
    Embed,
    /// Words of header fields that the configuration names, each after the field's name (`header_word`).
    Header,
    /// The language of the text, whole.
    Language,
    /// Kinds of problems of the message and their groups, whole.
    Problem,
}

/// A column of whole values: the decoded values of one header field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum ValueField {
    /// Senders, each as `Name <address>`.
    From,
    /// Recipients.
    To,
    /// Recipients of a copy.
    Cc,
    /// Recipients of a blind copy.
    Bcc,
    /// The subject.
    Subject,
    /// Names of attachments.
    File,
    /// Header fields that the configuration names, each after its name (`header_word`).
    Header,
}

/// How a field's text becomes terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Words with their positions.
    Words,
    /// Words, each after the name of its header field.
    HeaderWords,
    /// One term.
    Whole,
}

/// All fields, in the order of the schema; the message number comes before them.
const FIELDS: [(TextField, &str, Form); 16] = [
    (TextField::From, "from", Form::Words),
    (TextField::To, "to", Form::Words),
    (TextField::Cc, "cc", Form::Words),
    (TextField::Bcc, "bcc", Form::Words),
    (TextField::Subject, "subject", Form::Words),
    (TextField::Body, "body", Form::Words),
    (TextField::File, "file", Form::Words),
    (TextField::List, "list", Form::Whole),
    (TextField::Mime, "mime", Form::Whole),
    (TextField::Reference, "reference", Form::Whole),
    (TextField::Label, "label", Form::Whole),
    (TextField::MessageId, "message-id", Form::Whole),
    (TextField::Embed, "embed", Form::Words),
    (TextField::Header, "header", Form::HeaderWords),
    (TextField::Language, "language", Form::Whole),
    (TextField::Problem, "problem", Form::Whole),
];

/// All columns of values, in the order of the schema; they come last.
const VALUES: [(ValueField, &str); 7] = [
    (ValueField::From, "from-value"),
    (ValueField::To, "to-value"),
    (ValueField::Cc, "cc-value"),
    (ValueField::Bcc, "bcc-value"),
    (ValueField::Subject, "subject-value"),
    (ValueField::File, "file-value"),
    (ValueField::Header, "header-value"),
];

/// The fast field with the message number.
pub(super) const NUMBER: &str = "number";
/// The names of tokenizers. Nothing looks them up: `postings` makes the terms.
pub(super) const WORDS: &str = "words";
pub(super) const HEADER_WORDS: &str = "header-words";
const RAW: &str = "raw";
/// Separates the name of a header field from a word or value of it; neither contains it.
const HEADER_SEPARATOR: char = '\0';
/// Stands where the name of a header field stands, before the names of the filters that have read a message's
/// attachments. No header field has this name, so no query finds it.
pub(super) const FILTER: &str = "(filter)";

impl TextField {
    /// Returns all fields.
    pub(super) fn all() -> impl Iterator<Item = TextField> {
        FIELDS.iter().map(|(field, ..)| *field)
    }

    /// Returns how the field's text becomes terms.
    pub(super) fn form(self) -> Form {
        FIELDS[self as usize].2
    }

    /// Returns the field's place in the schema.
    pub(super) fn field(self) -> Field {
        // The message number is field 0.
        Field::from_field_id(self as u32 + 1)
    }
}

impl ValueField {
    /// Returns the column's place in the schema.
    pub(super) fn field(self) -> Field {
        // The columns come after the last field of text.
        Field::from_field_id(TextField::Problem as u32 + 2 + self as u32)
    }

    /// Returns the column's name.
    pub(super) fn name(self) -> &'static str {
        VALUES[self as usize].1
    }
}

/// Returns the term of a word or value of a header field: the field's name in lower case, then the word. With
/// an empty word, returns the prefix of all the field's terms.
pub(crate) fn header_word(name: &str, word: &str) -> String {
    format!("{}{HEADER_SEPARATOR}{word}", name.to_ascii_lowercase())
}

/// Divides what `header_word` made: the name of the field with the separator, and the words.
pub(super) fn header_parts(text: &str) -> (&str, &str) {
    text.split_at(text.find(HEADER_SEPARATOR).map_or(0, |place| place + HEADER_SEPARATOR.len_utf8()))
}

/// Returns the field of the message number.
pub(super) fn number_field() -> Field {
    Field::from_field_id(0)
}

/// Returns the text index's schema.
pub(super) fn schema() -> Schema {
    let mut builder = Schema::builder();
    builder.add_u64_field(NUMBER, NumericOptions::from(FAST));
    for (_, name, form) in FIELDS {
        let indexing = TextFieldIndexing::default().set_fieldnorms(false);
        let indexing = match form {
            Form::Words => {
                indexing.set_tokenizer(WORDS).set_index_option(IndexRecordOption::WithFreqsAndPositions)
            }
            Form::HeaderWords => indexing
                .set_tokenizer(HEADER_WORDS)
                .set_index_option(IndexRecordOption::WithFreqsAndPositions),
            Form::Whole => indexing.set_tokenizer(RAW).set_index_option(IndexRecordOption::Basic),
        };
        builder.add_text_field(name, TextOptions::default().set_indexing_options(indexing));
    }
    for (_, name) in VALUES {
        builder.add_text_field(name, TextOptions::default().set_fast(RAW));
    }
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_where_the_schema_has_them() {
        let schema = schema();
        for (field, name, _) in FIELDS {
            assert_eq!(schema.get_field(name).unwrap(), field.field());
        }
        for (field, name) in VALUES {
            assert_eq!((schema.get_field(name).unwrap(), name), (field.field(), field.name()));
        }
        assert_eq!(schema.get_field(NUMBER).unwrap(), number_field());
    }
}
