//! Chooses what answers each leaf of a query, before anything is looked up.
//!
//! Input: a leaf. Output: answers to be carried out, or an error that points at the leaf. All errors of a
//! query are found here, so that they do not depend on which leaf is looked up first.

use crate::error::{Error, Result};
use crate::remedy::Remedy;
use crate::search::answer::files::WantedFolders;
use crate::search::answer::pattern::{self, Spelling, Wanted, unanswerable};
use crate::search::mailbox::Mailbox;
use crate::text::{Needle, TextField, ValueField, header_word};
use query::fields::{Kind, RegexScope};
use query::fold::fold;
use query::{Family, Field, FieldSet, FlagName, Leaf, Matcher, Pattern, Priority, Target};
use std::ops::Range;

/// The message if no address of the user is configured.
const OWN_ADDRESSES_UNKNOWN: &str = "your addresses are not known";

/// One source of a set of messages. A leaf has one for each of its fields, and matches a message that any of
/// them finds.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    /// Dates in a column, inclusive.
    Dates(Option<i64>, Option<i64>),
    /// Sizes in a column, inclusive.
    Sizes(Option<u64>, Option<u64>),
    /// Times of change in a column of files, inclusive.
    Changed(Option<i64>, Option<i64>),
    /// A flag, in a column of files or of messages.
    Flag(FlagName),
    /// A priority, in a column of messages.
    Priority(Priority),
    /// A whole Message-ID, found by the table's index.
    MessageId(String),
    /// The thread of a Message-ID.
    Thread(String),
    /// The threads of the messages that an answer finds.
    ThreadsOf(Box<Answer>),
    /// Tags of the user, by their folded names.
    Tagged(Wanted),
    /// Keywords by their names, in a column of files.
    Keyword(Wanted),
    /// Folders by their names.
    Maildir(WantedFolders),
    /// A file, a folder, or a folder's `cur` or `new`.
    Path(String),
    /// Everything below this directory.
    Below(String),
    /// Paths of files, one by one.
    Paths(Wanted),
    /// Words or values that are terms of the text index.
    Text(TextField, Needle),
    /// Every distinct word or value of a field that begins with this; the rest is tested.
    Terms(TextField, String, Wanted),
    /// Every distinct decoded value of a header field that begins with this; the rest is tested.
    Values(ValueField, String, Wanted),
}

/// Returns the answers for a leaf.
///
/// # Errors
/// [`Error::Query`] if there is none: an invalid regular expression, a header that is not indexed.
pub(super) fn answers(mailbox: &Mailbox, leaf: &Leaf) -> Result<Vec<Answer>> {
    match &leaf.target {
        Target::Header(name) => Ok(vec![header(mailbox, leaf, name)?]),
        Target::Fields(fields) => match &leaf.matcher {
            Matcher::DateRange { from, to } => Ok(vec![dates(leaf, *fields, *from, *to)?]),
            Matcher::SizeRange { from, to } => Ok(vec![Answer::Sizes(*from, *to)]),
            Matcher::Flag(FlagName::Personal) if mailbox.own_addresses().is_empty() => Err(Error::Query {
                span: leaf.span.clone(),
                what: OWN_ADDRESSES_UNKNOWN.to_owned(),
                remedy: Some(Remedy::NameOwnAddresses),
            }),
            Matcher::Flag(flag) => Ok(vec![Answer::Flag(*flag)]),
            Matcher::Priority(priority) => Ok(vec![Answer::Priority(*priority)]),
            _ if fields.contains(Field::Tag) => tag(mailbox, leaf),
            _ => fields.iter().map(|field| one(mailbox, leaf, field)).collect(),
        },
    }
}

/// Returns the answers for tags: the user's tags, and the labels in the message itself. The name of a tag
/// that stands for a flag means the flag alone.
fn tag(mailbox: &Mailbox, leaf: &Leaf) -> Result<Vec<Answer>> {
    let wanted = pattern::wanted(leaf, Spelling::Folded, |_| false)?;
    let flag_tags = mailbox.meaning().flag_tags.all().iter();
    let flags = flag_tags.filter(|tag| wanted.is_match(tag.name.as_bytes()));
    let flags = flags.filter_map(|tag| FlagName::from_name(tag.name)).map(Answer::Flag);
    let mut answers: Vec<Answer> = flags.collect();
    if answers.is_empty() || !matches!(wanted, Wanted::Whole(_)) {
        answers.extend([Answer::Tagged(wanted), text(leaf, Field::Tag)?]);
    }
    Ok(answers)
}

fn dates(leaf: &Leaf, fields: FieldSet, from: Option<i64>, to: Option<i64>) -> Result<Answer> {
    if fields.contains(Field::Date) {
        Ok(Answer::Dates(from, to))
    } else if fields.contains(Field::Changed) {
        Ok(Answer::Changed(from, to))
    } else {
        Err(unanswerable(leaf, "this date"))
    }
}

fn one(mailbox: &Mailbox, leaf: &Leaf, field: Field) -> Result<Answer> {
    match (field, &leaf.matcher) {
        (Field::Maildir, _) => Ok(Answer::Maildir(WantedFolders::new(mailbox, leaf)?)),
        (Field::Path, Matcher::Value(Pattern::Whole(path))) => Ok(Answer::Path(path.clone())),
        (Field::Path, Matcher::Value(Pattern::Below(path))) => Ok(Answer::Below(path.clone())),
        (Field::Path, _) => Ok(Answer::Paths(pattern::wanted(leaf, Spelling::Folded, |_| false)?)),
        (Field::MessageId, Matcher::Value(Pattern::Whole(id))) => Ok(Answer::MessageId(id.clone())),
        (Field::Thread, Matcher::Value(Pattern::Whole(id))) => Ok(Answer::Thread(id.clone())),
        (Field::Thread, _) => Ok(Answer::ThreadsOf(Box::new(text(leaf, Field::MessageId)?))),
        (Field::Keyword, _) => Ok(Answer::Keyword(pattern::wanted(leaf, Spelling::Folded, |_| false)?)),
        (Field::Problem, Matcher::Value(Pattern::Whole(kind))) if !mail::is_problem_kind(&fold(kind)) => {
            let what = format!("problem: takes {}; or * for any", mail::problem_groups().join(", "));
            Err(Error::Query { span: leaf.span.clone(), what, remedy: None })
        }
        (field, _) => text(leaf, field),
    }
}

/// Returns the answer of the text index.
fn text(leaf: &Leaf, field: Field) -> Result<Answer> {
    let Some(text) = text_field(field) else { return Err(unanswerable(leaf, field.info().name)) };
    if let (Matcher::Regex(_), RegexScope::Value, Some(values)) =
        (&leaf.matcher, field.regex_scope(), value_field(field))
    {
        return Ok(Answer::Values(values, String::new(), pattern::wanted(leaf, Spelling::Exact, |_| false)?));
    }
    // Ids are compared byte by byte, everything else folded.
    let spelling = if field.kind() == Kind::Id { Spelling::Exact } else { Spelling::Folded };
    Ok(match &leaf.matcher {
        Matcher::Words(words) => Answer::Text(text, Needle::Phrase(words.clone())),
        Matcher::Prefix { before, last } => {
            Answer::Text(text, Needle::Prefix(before.iter().cloned().chain([last.clone()]).collect()))
        }
        Matcher::Stem { word, languages } => {
            let family = Family::new(word, *languages);
            Answer::Terms(text, family.begin().to_owned(), Wanted::Stem(Box::new(family)))
        }
        Matcher::Value(Pattern::Whole(value)) => Answer::Text(text, Needle::Whole(spelling.apply(value))),
        Matcher::Value(Pattern::Start(value)) => {
            Answer::Text(text, Needle::WholePrefix(spelling.apply(value)))
        }
        _ => Answer::Terms(text, String::new(), pattern::wanted(leaf, spelling, |_| false)?.for_many()),
    })
}

/// Returns the answer for a header field that the configuration names. In the text index, its words and
/// values follow its name.
fn header(mailbox: &Mailbox, leaf: &Leaf, name: &str) -> Result<Answer> {
    if !mailbox.is_header_indexed(name) {
        return Err(Error::Query {
            span: name_span(leaf, name),
            what: format!("header {name} is configured but not indexed yet"),
            remedy: Some(Remedy::AddHeaders),
        });
    }
    let named = |word: &String| header_word(name, word);
    let begin = header_word(name, "");
    Ok(match &leaf.matcher {
        Matcher::Words(words) => {
            Answer::Text(TextField::Header, Needle::Phrase(words.iter().map(named).collect()))
        }
        Matcher::Prefix { before, last } => {
            Answer::Text(TextField::Header, Needle::Prefix(before.iter().chain([last]).map(named).collect()))
        }
        Matcher::Stem { word, languages } => {
            let family = Family::new(word, *languages);
            let begin = header_word(name, family.begin());
            Answer::Terms(TextField::Header, begin, Wanted::Stem(Box::new(family)))
        }
        Matcher::Regex(_) => {
            Answer::Values(ValueField::Header, begin, pattern::wanted(leaf, Spelling::Exact, |_| false)?)
        }
        _ => Answer::Terms(TextField::Header, begin, pattern::wanted(leaf, Spelling::Folded, |_| false)?),
    })
}

/// Returns the place of a header's name in the query.
fn name_span(leaf: &Leaf, name: &str) -> Range<usize> {
    let end = leaf.span.start.saturating_add(name.len()).min(leaf.span.end);
    leaf.span.start..end
}

fn text_field(field: Field) -> Option<TextField> {
    Some(match field {
        Field::From => TextField::From,
        Field::To => TextField::To,
        Field::Cc => TextField::Cc,
        Field::Bcc => TextField::Bcc,
        Field::Subject => TextField::Subject,
        Field::Body => TextField::Body,
        Field::Embed => TextField::Embed,
        Field::File => TextField::File,
        Field::List => TextField::List,
        Field::Mime => TextField::Mime,
        Field::Language => TextField::Language,
        Field::Problem => TextField::Problem,
        Field::Reference => TextField::Reference,
        Field::Tag => TextField::Label,
        Field::MessageId => TextField::MessageId,
        _ => return None,
    })
}

/// Returns the column of a field's decoded values, if the field is also split into words.
fn value_field(field: Field) -> Option<ValueField> {
    Some(match field {
        Field::From => ValueField::From,
        Field::To => ValueField::To,
        Field::Cc => ValueField::Cc,
        Field::Bcc => ValueField::Bcc,
        Field::Subject => ValueField::Subject,
        Field::File => ValueField::File,
        _ => return None,
    })
}
