//! Evaluates a query as set algebra over message numbers.
//!
//! In: the tree of a query. Out: the set of messages that match. Every leaf gives a set from the text index or from a column scan;
//! an absent message is in none.

use crate::error::{Error, Result};
use crate::search::pattern::{self, Spelling};
use crate::search::{Mailbox, files, values};
use crate::set::NumberSet;
use crate::tables::{absent, messages};
use crate::text::{Needle, TextField};
use query::{Field, FieldSet, Leaf, Matcher, Pattern, Query, Target};

/// Returns the messages that match.
pub(super) fn evaluate(mailbox: &Mailbox, query: &Query) -> Result<NumberSet> {
    let live = mailbox.live()?;
    let mut found = part(mailbox, query, live)?;
    found.and(live);
    Ok(found)
}

/// Returns the messages that have a row and at least one file.
pub(super) fn live(mailbox: &Mailbox) -> Result<NumberSet> {
    let table = mailbox.snapshot.table(messages::TABLE)?;
    let mut live = if table.row_count() == u64::from(mailbox.bound()) {
        NumberSet::full(mailbox.bound())
    } else {
        let mut live = mailbox.empty();
        for part in table.parts() {
            let numbers = part.u32s(messages::NUMBER, 0..part.row_count())?;
            (0u32..)
                .zip(numbers)
                .filter(|(row, _)| !part.is_dead(*row))
                .for_each(|(_, number)| live.insert(*number));
        }
        live
    };
    for part in mailbox.snapshot.table(absent::TABLE)?.parts() {
        let numbers = part.u32s(absent::MESSAGE, 0..part.row_count())?;
        (0u32..)
            .zip(numbers)
            .filter(|(row, _)| !part.is_dead(*row))
            .for_each(|(_, number)| live.remove(*number));
    }
    Ok(live)
}

fn part(mailbox: &Mailbox, query: &Query, live: &NumberSet) -> Result<NumberSet> {
    match query {
        Query::All => Ok(live.clone()),
        Query::And(children) => combine(mailbox, children, live, NumberSet::and),
        Query::Or(children) => combine(mailbox, children, live, NumberSet::or),
        Query::Xor(children) => combine(mailbox, children, live, NumberSet::xor),
        Query::Not(child) => {
            let mut rest = live.clone();
            rest.minus(&part(mailbox, child, live)?);
            Ok(rest)
        }
        Query::Leaf(leaf) => self::leaf(mailbox, leaf),
    }
}

fn combine(
    mailbox: &Mailbox,
    children: &[Query],
    live: &NumberSet,
    operation: fn(&mut NumberSet, &NumberSet),
) -> Result<NumberSet> {
    let mut children = children.iter();
    let Some(first) = children.next() else { return Ok(live.clone()) };
    let mut found = part(mailbox, first, live)?;
    for child in children {
        operation(&mut found, &part(mailbox, child, live)?);
    }
    Ok(found)
}

fn leaf(mailbox: &Mailbox, leaf: &Leaf) -> Result<NumberSet> {
    let Target::Fields(fields) = &leaf.target else {
        return Err(unanswerable(leaf, "headers that the configuration names"));
    };
    let mut found = mailbox.empty();
    match &leaf.matcher {
        Matcher::DateRange { from, to } => dates(mailbox, leaf, *fields, (*from, *to), &mut found)?,
        Matcher::SizeRange { from, to } => values::sizes(mailbox, (*from, *to), &mut found)?,
        Matcher::Flag(flag) => return files::flag(mailbox, *flag),
        Matcher::Priority(_) => return Err(unanswerable(leaf, "priorities")),
        matcher => {
            for field in fields.iter() {
                field_leaf(mailbox, leaf, field, matcher, &mut found)?;
            }
        }
    }
    Ok(found)
}

fn dates(
    mailbox: &Mailbox,
    leaf: &Leaf,
    fields: FieldSet,
    range: (Option<i64>, Option<i64>),
    found: &mut NumberSet,
) -> Result<()> {
    if fields.contains(Field::Date) {
        values::dates(mailbox, range, found)
    } else if fields.contains(Field::Changed) {
        files::changed(mailbox, range, found)
    } else {
        Err(unanswerable(leaf, "this date"))
    }
}

fn field_leaf(
    mailbox: &Mailbox,
    leaf: &Leaf,
    field: Field,
    matcher: &Matcher,
    found: &mut NumberSet,
) -> Result<()> {
    match (field, matcher) {
        (Field::Maildir, _) => files::maildir(mailbox, leaf, found),
        (Field::Path, _) => files::path(mailbox, leaf, found),
        (Field::MessageId, Matcher::Value(Pattern::Whole(id))) => values::message_id(mailbox, id, found),
        (Field::Tag, _) => {
            mailbox.tagged(pattern::wanted(leaf, Spelling::Folded, |_| false)?, found)?;
            by_word(mailbox, leaf, (field, TextField::Label), found)
        }
        (Field::Thread, Matcher::Value(Pattern::Whole(id))) => {
            found.or(&mailbox.thread_of_id(id)?);
            Ok(())
        }
        (Field::Thread, matcher) => {
            // The threads of all messages whose Message-ID looks so.
            let mut named = mailbox.empty();
            field_leaf(mailbox, leaf, Field::MessageId, matcher, &mut named)?;
            found.or(&mailbox.with_related(&named)?);
            Ok(())
        }
        (field, matcher) => {
            let Some(text) = text_field(field) else { return Err(unanswerable(leaf, field.info().name)) };
            let needle = match matcher {
                Matcher::Words(words) => Needle::Phrase(words.clone()),
                Matcher::Prefix { before, last } => {
                    Needle::Prefix(before.iter().cloned().chain([last.clone()]).collect())
                }
                Matcher::Value(Pattern::Whole(value)) => Needle::Whole(spelling(field).apply(value)),
                Matcher::Value(Pattern::Start(value)) => Needle::WholePrefix(spelling(field).apply(value)),
                _ => return by_word(mailbox, leaf, (field, text), found),
            };
            mailbox.text.find(text, &needle, found).map_err(|error| mailbox.text_error(error))
        }
    }
}

/// Answers what needs a look at every distinct word or value.
fn by_word(
    mailbox: &Mailbox,
    leaf: &Leaf,
    (field, text): (Field, TextField),
    found: &mut NumberSet,
) -> Result<()> {
    let wanted = pattern::wanted(leaf, spelling(field), |_| false)?;
    mailbox.text.find_words(text, wanted, found).map_err(|error| mailbox.text_error(error))
}

/// Ids are compared byte by byte, everything else folded.
fn spelling(field: Field) -> Spelling {
    if field.kind() == query::fields::Kind::Id { Spelling::Exact } else { Spelling::Folded }
}

fn text_field(field: Field) -> Option<TextField> {
    Some(match field {
        Field::From => TextField::From,
        Field::To => TextField::To,
        Field::Cc => TextField::Cc,
        Field::Bcc => TextField::Bcc,
        Field::Subject => TextField::Subject,
        Field::Body => TextField::Body,
        Field::File => TextField::File,
        Field::List => TextField::List,
        Field::Mime => TextField::Mime,
        Field::Reference => TextField::Reference,
        Field::Tag => TextField::Label,
        Field::MessageId => TextField::MessageId,
        _ => return None,
    })
}

/// Returns the error for a leaf that has no answer yet.
pub(super) fn unanswerable(leaf: &Leaf, what: &str) -> Error {
    Error::Query { span: leaf.span.clone(), what: format!("{what} cannot be searched") }
}
