//! Segments are compared with those of tantivy's own writer.

use super::*;
use crate::text::directory::TextFiles;
use crate::text::document::Document;
use crate::text::fields::{HEADER_WORDS, ValueField, WORDS, number_field, schema};
use crate::text::parts::PARTS;
use crate::text::words::{self, WORD_COUNT_MIN};
use crate::text::writer::writer_into;
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;
use tantivy::directory::Directory;
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer, TokenizerManager};
use tantivy::{Index, TantivyDocument};

/// Returns tantivy's tokenizers and ours.
fn tokenizers() -> TokenizerManager {
    let manager = TokenizerManager::default();
    manager.register(WORDS, TextAnalyzer::from(WordTokenizer));
    manager.register(HEADER_WORDS, TextAnalyzer::from(HeaderTokenizer));
    manager
}

#[derive(Clone)]
struct WordTokenizer;

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        WordStream { name: "", words: query::words(text), token: Token::default() }
    }
}

/// Tokenizes texts that `header_word` made.
#[derive(Clone)]
struct HeaderTokenizer;

impl Tokenizer for HeaderTokenizer {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        let (name, value) = header_parts(text);
        WordStream { name, words: query::words(value), token: Token::default() }
    }
}

struct WordStream<'a> {
    name: &'a str,
    words: query::Words<'a>,
    token: Token,
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(word) = self.words.next() else { return false };
        self.token.text = format!("{}{}", self.name, word.text);
        self.token.position = word.position as usize;
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

/// The parts of a segment, with their endings.
type Contents = Vec<(&'static str, Vec<u8>)>;

/// Writes documents with tantivy's own writer. Returns the parts of the segment.
fn written_by_tantivy(files: &TextFiles, documents: &[Document<'_>]) -> Contents {
    let index = Index::builder().schema(schema()).tokenizers(tokenizers());
    let mut writer = index.single_segment_index_writer(files.clone(), 50 << 20).unwrap();
    for document in documents {
        let mut made = TantivyDocument::new();
        made.add_u64(number_field(), u64::from(document.number));
        document.texts.iter().for_each(|(field, text)| made.add_text(field.field(), text));
        document.values.iter().for_each(|(field, value)| made.add_text(field.field(), value));
        writer.add_document(made).unwrap();
    }
    let index = writer.finalize().unwrap();
    words::write(files, &index).unwrap();
    let [meta] = index.searchable_segment_metas().unwrap().try_into().unwrap();
    contents(files, &meta.id().uuid_string())
}

fn contents(files: &TextFiles, segment: &str) -> Contents {
    let read = |end: &'static str| {
        let part = files.get_file_handle(Path::new(&format!("{segment}.{end}"))).ok()?;
        Some((end, part.read_bytes(0..part.len()).unwrap().to_vec()))
    };
    PARTS.into_iter().filter_map(read).collect()
}

/// Asserts that both writers make the same parts of some documents. Returns the endings of these parts.
fn assert_same(documents: &[Document<'_>]) -> Vec<&'static str> {
    let place = tempfile::tempdir().unwrap();
    let disk: Arc<dyn disk::Disk> = Arc::new(disk::RealDisk);
    let files = || TextFiles::new(&disk, place.path());
    let written = |files: TextFiles| {
        let mut ours = writer_into(files.clone(), usize::MAX);
        documents.iter().for_each(|document| ours.add(document).unwrap());
        let [ours] = ours.finish().unwrap().try_into().unwrap();
        assert_eq!(ours.document_count as usize, documents.len());
        files.map(&ours).unwrap();
        contents(&files, &ours.id)
    };
    let ours = written(files());
    assert!(ours == written(files().spilling()), "parts that were in files differ");
    let theirs = written_by_tantivy(&files(), documents);
    for ((end, ours), (theirs_end, theirs)) in ours.iter().zip(&theirs) {
        assert_eq!(end, theirs_end);
        assert!(ours == theirs, "the parts .{end} differ");
    }
    assert_eq!(ours.len(), theirs.len());
    ours.into_iter().map(|(end, _)| end).collect()
}

#[test]
fn segments_are_those_of_tantivy() {
    let bodies = [
        "The quick brown fox, the lazy dog. THE END of C++ and .NET",
        "Zwölf Boxkämpfer jagen Viktor quer über den Sylter Deich",
        "съешь же ещё этих мягких французских булок, да выпей чаю",
        "日本語のテスト and 한국어 mixed with latin",
        "\u{10400}\u{10401} 𝔘nicode ~{|}~ :;<=>?@[\\]^_` 0123 9z a az zz zzzz é ÿ",
        "",
        "...",
    ];
    let ids: Vec<String> = (0..400).map(|number| format!("id-{number}@example.org")).collect();
    let documents = (0u32..).zip(&ids).map(|(number, id)| {
        let mut document = Document::new(number * 3 + 1);
        let body = bodies[number as usize % bodies.len()];
        document.add(TextField::Body, body);
        document.add(TextField::Subject, "common subject");
        // Fields come in any order, and a field several times.
        document.add(TextField::From, "Ada Lovelace");
        document.add(TextField::Body, "...");
        document.add(TextField::Body, body.repeat(number as usize % 5));
        document.add(TextField::From, "ada@example.org");
        document.add_header("X-Spam", "yes no yes");
        document.add_header("Éa", body);
        document.add_whole(TextField::Mime, "text/plain");
        document.add_whole(TextField::Mime, "text/plain");
        document.add_whole(TextField::Label, body);
        document.add_exact(TextField::Reference, "parent");
        document.add_exact(TextField::MessageId, id);
        document.add_value(ValueField::Subject, "common subject");
        document.add_value(ValueField::From, id);
        document
    });
    let documents: Vec<Document<'_>> = documents.collect();
    assert_same(&documents);
    assert_same(&documents[..1]);
    assert_same(&[Document::new(7)]);
}

#[test]
fn lists_of_words_are_those_of_the_term_lists() {
    let word = |number: usize| format!("{number:x} w{number}");
    let many: String = (0..WORD_COUNT_MIN).map(word).collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = (0..WORD_COUNT_MIN).map(|number| format!("{number}\n")).collect();
    let mut documents = vec![Document::new(0), Document::new(1)];
    documents[0].add(TextField::Body, &*many);
    documents[1].add(TextField::Subject, &*many);
    documents[1].add_header("x", &many);
    lines.iter().for_each(|line| documents[1].add_whole(TextField::Label, line));
    assert!(assert_same(&documents).contains(&"words"));
}

#[test]
fn words_with_the_same_hash_are_told_apart() {
    let mut words = Words::default();
    let mut pending = Pending::default();
    words.begin(0);
    for (position, word) in (0..).zip(["ab", "ac", "ab", "ad", "ac", "ab"]) {
        pending.text.extend_from_slice(word.as_bytes());
        pending.end_term(0, position, 0);
        pending.words.iter_mut().for_each(|word| word.hash = 7);
        words.take(&mut pending, 0);
    }
    let group = &words.groups[group_of(b"ab")];
    let mut sorted = Sorted::default();
    sorted.sort(group);
    let found: Vec<(&[u8], Vec<u32>)> = sorted
        .words(group)
        .map(|(word, occurrences)| (word, occurrences.iter().map(|found| found.position).collect()))
        .collect();
    assert_eq!(found, [(&b"ab"[..], vec![0, 2, 5]), (b"ac", vec![1, 4]), (b"ad", vec![3])]);
}

fn random_text() -> impl Strategy<Value = String> {
    let word = prop_oneof!["[a-c]{1,3}", "[0-9.+#]{1,4}", "\\PC{1,6}", "[а-в日本한é]{1,4}", "[a-z]{60,70}"];
    proptest::collection::vec(word, 0..40).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_segments_are_those_of_tantivy(
        texts in proptest::collection::vec((0..16usize, random_text(), any::<bool>()), 1..60),
    ) {
        let mut documents = vec![Document::new(0)];
        for (number, (field, text, begins)) in (1..).zip(&texts) {
            if *begins {
                documents.push(Document::new(number));
            }
            let field = TextField::all().nth(*field).unwrap();
            let document = documents.last_mut().unwrap();
            match field.form() {
                Form::Words => document.add(field, text.as_str()),
                Form::HeaderWords => document.add_header("subject", text),
                Form::Whole => document.add_exact(field, text.as_str()),
            }
        }
        assert_same(&documents);
    }

    #[test]
    fn groups_are_in_the_order_of_words(mut words in proptest::collection::vec("\\PC{0,3}", 2..200)) {
        let bounds = ["", "a", "z", "~", "9", ":", "\u{7f}", "\u{80}", "\u{7ff}", "\u{800}"];
        words.extend(bounds.map(str::to_owned));
        words.sort();
        let groups: Vec<usize> = words.iter().map(|word| group_of(word.as_bytes())).collect();
        prop_assert!(groups.is_sorted() && groups.iter().all(|group| *group < GROUP_COUNT));
    }
}
