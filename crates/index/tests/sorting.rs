//! Every sort key, compared with a slow twin.
//!
//! Input: generated mail of all kinds, more than one thread sorts alone. Output: whether the order of hits is
//! that of the plain values.

use crate::support::{Fixture, query};
use index::{Direction, Hit, Mailbox, Message, Order, RecordReader, SortKey, shown_flags};
use mail::ContentFlags;
use query::flags::FLAGS;
use query::fold::fold;
use std::fs;
use testkit::corpus::{CorpusOptions, generate};

const KEYS: [SortKey; 17] = [
    SortKey::Date,
    SortKey::Size,
    SortKey::Subject,
    SortKey::From,
    SortKey::To,
    SortKey::Cc,
    SortKey::Bcc,
    SortKey::List,
    SortKey::Attachment,
    SortKey::MessageId,
    SortKey::Maildir,
    SortKey::Path,
    SortKey::Flags,
    SortKey::Changed,
    SortKey::Priority,
    SortKey::Language,
    SortKey::Arrival,
];

/// The sort key as a text: slow, as docs/OUTPUT.md defines it.
fn key(hit: &Hit, message: &Message, key: SortKey) -> String {
    let people = |list: &[index::Contact]| {
        let name =
            |one: &index::Contact| if one.name.is_empty() { one.address.clone() } else { one.name.clone() };
        fold(&list.iter().map(name).collect::<Vec<_>>().join(", ")).into_owned()
    };
    let first = message.files.first().unwrap();
    match key {
        SortKey::Date | SortKey::Relevance => String::new(),
        SortKey::Arrival => format!("{:020}", hit.number),
        SortKey::Size => format!("{:020}", message.line.size_bytes),
        SortKey::Subject => without_prefixes(&fold(&message.line.subject)),
        SortKey::From => fold(&message.line.from).into_owned(),
        SortKey::To => people(&message.rest.to),
        SortKey::Cc => people(&message.rest.cc),
        SortKey::Bcc => people(&message.rest.bcc),
        SortKey::List => fold(&message.rest.list_id).into_owned(),
        SortKey::Attachment => fold(&message.rest.attachments.join(", ")).into_owned(),
        SortKey::MessageId => message.rest.message_id.clone(),
        SortKey::Maildir => fold(&first.maildir).into_owned(),
        SortKey::Path => first.path.to_str().unwrap().to_owned(),
        SortKey::Flags => {
            let shown: Vec<_> =
                shown_flags(message.files.iter().map(|file| file.flags), message.line.derived).collect();
            FLAGS.iter().map(|info| if shown.contains(&info) { 'a' } else { 'b' }).collect()
        }
        SortKey::Language => message.rest.language.clone(),
        SortKey::Priority => {
            let has = |flag| message.line.derived.contains(flag);
            let place = if has(ContentFlags::LOW) { "c" } else { "b" };
            if has(ContentFlags::HIGH) { "a" } else { place }.to_owned()
        }
        SortKey::Changed => {
            let latest = message.files.iter().map(|file| file.changed_seconds).max();
            format!("{:020}", latest.unwrap())
        }
    }
}

fn without_prefixes(subject: &str) -> String {
    let rest = subject.trim_start();
    let prefix =
        ["re:", "fwd:", "fw:", "aw:", "wg:", "sv:"].into_iter().find(|prefix| rest.starts_with(prefix));
    prefix.map_or_else(|| rest.to_owned(), |prefix| without_prefixes(&rest[prefix.len()..]))
}

fn sorted_slowly(mailbox: &Mailbox, wanted: SortKey, direction: Direction) -> Vec<Hit> {
    let all = mailbox.find(&query(""), &Order::default()).unwrap().list;
    let mut reader = RecordReader::new();
    let mut keyed: Vec<_> = all
        .into_iter()
        .map(|hit| {
            let message = mailbox.message(&hit, &mut reader).unwrap();
            ((key(&hit, &message, wanted), hit.date, message.sha256), hit)
        })
        .collect();
    keyed.sort_by(|a, b| a.0.cmp(&b.0));
    if direction == Direction::Descending {
        keyed.reverse();
    }
    keyed.into_iter().map(|(_, hit)| hit).collect()
}

#[test]
fn every_key_sorts_as_its_values_do() {
    let fixture = Fixture::new();
    generate(&fixture.root().join("mail"), &CorpusOptions { folders: 7, ..CorpusOptions::varied(1200, 5) })
        .unwrap();
    fixture.update();
    let mailbox = fixture.mailbox();
    for key in KEYS {
        for direction in [Direction::Ascending, Direction::Descending] {
            let expected = sorted_slowly(&mailbox, key, direction);
            assert!(expected.len() > 1000);
            let found = |offset, limit| {
                mailbox.find(&query(""), &Order { key, direction, offset, limit }).unwrap().list
            };
            assert!(found(0, None) == expected, "{key:?} {direction:?}");
            assert!(found(5, Some(20)) == expected[5..25], "{key:?} {direction:?}, some");
        }
    }
}

#[test]
fn a_few_hits_are_in_the_same_order_as_all_hits() {
    let fixture = Fixture::new();
    for number in 0..2100 {
        // Two of the rare messages have the same second.
        let second = if number % 1050 == 0 { 7 } else { number % 60 };
        let word = if [0, 40, 1050].contains(&number) { "rare" } else { "common" };
        let content = format!(
            "Date: Mon, 5 Jan 2026 10:00:{second:02} +0000\nSubject: {number}\nMessage-ID: \
             <{number}@x>\n\n{word}\n"
        );
        fixture.put("", "cur", &format!("{number}:2,"), &content);
    }
    fixture.update();
    let (few, all) = (fixture.find("rare"), fixture.find("*"));
    let expected: Vec<&String> = all.iter().filter(|subject| few.contains(subject)).collect();
    assert_eq!((few.iter().collect::<Vec<_>>(), few.len(), all.len()), (expected, 3, 2100));
    // Replaced rows lie in another part, before the rows that came first.
    let content = fs::read_to_string(fixture.root().join("cur/40:2,")).unwrap();
    fixture.put("", "cur", "copy:2,", &format!("Received: by y\n{content}"));
    fixture.put("", "cur", "2100:2,", "Subject: 2100\n\nrare\n");
    fixture.update();
    let mailbox = fixture.mailbox();
    let numbers = |text: &str, direction| -> Vec<u32> {
        let order = Order { key: SortKey::Arrival, direction, ..Order::default() };
        mailbox.find(&query(text), &order).unwrap().list.iter().map(|hit| hit.number).collect()
    };
    for (text, count) in [("rare", 4), ("*", 2101)] {
        let mut found = numbers(text, Direction::Ascending);
        assert!(found.len() == count && found.is_sorted_by(|a, b| a < b), "{text}: {found:?}");
        found.reverse();
        assert_eq!(numbers(text, Direction::Descending), found);
    }
}
