//! The fields of the text index, and the tokenizer that feeds them.
//!
//! In: text. Out: folded words with their positions, the same for indexing and for queries (`query::words`).

use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer, TokenizerManager};

/// A field of the text index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum TextField {
    /// Names and addresses of senders.
    From,
    /// Names and addresses of recipients.
    To,
    /// Those of recipients of a copy.
    Cc,
    /// Those of recipients of a blind copy.
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
    /// Message-IDs that it refers to, whole.
    Reference,
    /// Labels that other programs put into its header, whole.
    Label,
    /// The Message-ID, whole: for patterns; whole ids are found by the table's index.
    MessageId,
}

/// All fields, in the order of the schema; the message number comes before them.
const FIELDS: [(TextField, &str, bool); 12] = [
    (TextField::From, "from", true),
    (TextField::To, "to", true),
    (TextField::Cc, "cc", true),
    (TextField::Bcc, "bcc", true),
    (TextField::Subject, "subject", true),
    (TextField::Body, "body", true),
    (TextField::File, "file", true),
    (TextField::List, "list", false),
    (TextField::Mime, "mime", false),
    (TextField::Reference, "reference", false),
    (TextField::Label, "label", false),
    (TextField::MessageId, "message-id", false),
];

/// The fast field with the message number.
pub(super) const NUMBER: &str = "number";
const WORDS: &str = "words";

impl TextField {
    /// Returns the field's place in the schema.
    pub(crate) fn field(self) -> Field {
        // The message number is field 0.
        Field::from_field_id(self as u32 + 1)
    }
}

/// Returns the field of the message number.
pub(super) fn number_field() -> Field {
    Field::from_field_id(0)
}

/// Returns the text index's schema.
pub(super) fn schema() -> Schema {
    let mut builder = Schema::builder();
    builder.add_u64_field(NUMBER, NumericOptions::from(FAST));
    for (_, name, is_text) in FIELDS {
        let indexing = TextFieldIndexing::default().set_fieldnorms(false);
        let indexing = if is_text {
            indexing.set_tokenizer(WORDS).set_index_option(IndexRecordOption::WithFreqsAndPositions)
        } else {
            indexing.set_tokenizer("raw").set_index_option(IndexRecordOption::Basic)
        };
        builder.add_text_field(name, TextOptions::default().set_indexing_options(indexing));
    }
    builder.build()
}

/// Returns tantivy's tokenizers with ours among them.
pub(super) fn tokenizers() -> TokenizerManager {
    let manager = TokenizerManager::default();
    manager.register(WORDS, TextAnalyzer::from(WordTokenizer));
    manager
}

#[derive(Clone)]
struct WordTokenizer;

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        WordStream { words: query::words(text), token: Token::default() }
    }
}

struct WordStream<'a> {
    words: query::Words<'a>,
    token: Token,
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(position) = self.words.next_into(&mut self.token.text) else { return false };
        self.token.position = position as usize;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
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
        assert_eq!(schema.get_field(NUMBER).unwrap(), number_field());
    }
}
