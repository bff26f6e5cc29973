//! Statistics: fast figures compared with slow ones, and with queries.

use crate::support::{Fixture, query};
use index::{
    Dimension, Duplicates, Figures, Mailbox, Order, OwnAddresses, RecordReader, Replies, Stats, UpdateOptions,
};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::collections::{BTreeMap, BTreeSet};
use testkit::corpus::{CorpusOptions, generate};

fn stats(mailbox: &Mailbox, text: &str, by: Dimension, zone: &TimeZone) -> Stats {
    let found = mailbox.evaluate(&query(text)).unwrap();
    let found = mailbox.distinct(&found, Duplicates::Copies, None).unwrap();
    mailbox.stats(&found, by, zone).unwrap()
}

fn counts(stats: &Stats) -> Vec<(String, u64)> {
    let key = |group: &index::Group| group.key.clone().unwrap_or_default();
    stats.groups.iter().map(|group| (key(group), group.figures.message_count)).collect()
}

/// Counts one message after the other.
fn slow(
    mailbox: &Mailbox,
    text: &str,
    key: impl Fn(&index::Message) -> Vec<String>,
) -> Vec<(String, u64, u64)> {
    let mut groups: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for hit in mailbox.find(&query(text), &Order::default()).unwrap().list {
        let message = mailbox.message(&hit, &mut RecordReader::new()).unwrap();
        let keys: BTreeSet<String> = key(&message).into_iter().collect();
        for key in keys {
            let figures = groups.entry(key).or_default();
            *figures = (figures.0 + 1, figures.1 + message.line.size_bytes);
        }
    }
    groups.into_iter().map(|(key, (count, bytes))| (key, count, bytes)).collect()
}

#[test]
fn figures_are_those_of_counting_one_message_after_the_other() {
    let fixture = Fixture::new();
    let options = CorpusOptions { folders: 5, ..CorpusOptions::varied(400, 3) };
    generate(&fixture.root().join("m"), &options).unwrap();
    // The same messages, as another route brought them: copies.
    fixture.put("other", "cur", "1.x:2,S", &letter("Bo <BO@x.example>", 1, "", ""));
    fixture.put("other", "cur", "2.x:2,S", &format!("X-UID: 7\n{}", letter("Bo <BO@x.example>", 1, "", "")));
    fixture.put("third", "cur", "1.x:2,S", &letter("Bo <BO@x.example>", 1, "", ""));
    fixture.put("third", "cur", "3.x:2,S", "From: nobody@x.example\n\nno date\n");
    fixture.update_with(&UpdateOptions { batch_message_count: 100, ..UpdateOptions::default() });
    let mailbox = fixture.mailbox();
    let zone = TimeZone::get("America/New_York").unwrap();
    let time = |format: &'static str| {
        let zone = zone.clone();
        move |message: &index::Message| {
            let time = message.line.date.map(|date| Timestamp::from_second(date).unwrap());
            let time = time.map(|time| time.to_zoned(zone.clone()).strftime(format).to_string());
            vec![time.unwrap_or_default()]
        }
    };
    let sorted = |stats: &Stats| {
        let mut groups: Vec<_> = (stats.groups.iter())
            .map(|group| {
                (group.key.clone().unwrap_or_default(), group.figures.message_count, group.figures.size_bytes)
            })
            .collect();
        groups.sort();
        groups
    };
    for text in ["", "subject:a* or from:bo", "flag:unread"] {
        for (by, format) in [
            (Dimension::Year, "%Y"),
            (Dimension::Month, "%Y-%m"),
            (Dimension::Hour, "%H"),
            (Dimension::Weekday, "%A"),
        ] {
            let fast = stats(&mailbox, text, by, &zone);
            assert_eq!(sorted(&fast), slow(&mailbox, text, time(format)), "{text} {by:?}");
            assert_eq!(fast.total.message_count, mailbox.count(&query(text)).unwrap());
        }
        let senders = |message: &index::Message| {
            let senders = message.rest.from.iter().map(|from| from.address.to_lowercase());
            senders.filter(|address| !address.is_empty()).collect()
        };
        let fast = stats(&mailbox, text, Dimension::Sender, &zone);
        let fast: Vec<_> = sorted(&fast).into_iter().filter(|(key, ..)| !key.is_empty()).collect();
        let slow_senders = slow(&mailbox, text, senders);
        for group in &slow_senders {
            assert!(fast.contains(group), "{group:?}");
        }
        for (by, field) in [
            (Dimension::Folder, "maildir"),
            (Dimension::List, "list"),
            (Dimension::Type, "mime"),
            (Dimension::Language, "language"),
        ] {
            let fast = stats(&mailbox, text, by, &zone);
            assert!(!fast.groups.is_empty() || !text.is_empty(), "{by:?}");
            for (key, count) in counts(&fast) {
                let asked = format!("({}) and {field}:\"{key}\"", if text.is_empty() { "*" } else { text });
                assert_eq!(count, mailbox.count(&query(&asked)).unwrap(), "{asked}");
            }
        }
    }
    let by_count = stats(&mailbox, "", Dimension::Sender, &zone);
    assert!(by_count.groups.is_sorted_by(|a, b| a.figures.message_count >= b.figures.message_count));
    let by_year = stats(&mailbox, "", Dimension::Year, &zone);
    assert!(by_year.groups.iter().rev().skip(1).is_sorted_by(|a, b| a.key > b.key));
    assert_eq!(by_year.groups.last().unwrap().key, None, "without a date last");
    fixture.check();
}

fn letter(from: &str, hour: u32, id: &str, answers: &str) -> String {
    let id = if id.is_empty() { String::new() } else { format!("Message-ID: <{id}@x>\n") };
    let answers = if answers.is_empty() { String::new() } else { format!("In-Reply-To: <{answers}@x>\n") };
    format!(
        "From: {from}\nDate: 3 Mar 2025 {hour:02}:00:00 +0000\n{id}{answers}Subject: s\n\n{from} {hour}\n"
    )
}

#[test]
fn replies_are_timed_from_the_message_that_they_answer() {
    let fixture = Fixture::new();
    let letters = [
        letter("bo@example.org", 1, "1", ""),
        letter("Ana <ANA@example.org>", 3, "2", "1"),
        letter("cy@example.org", 10, "3", "2"),
        letter("bo@example.org", 12, "4", "3"),
        letter("ana@example.org", 13, "5", "2"),
        letter("bo@example.org", 4, "6", "2"),
        // Older than what it answers, and an answer to nothing that is known.
        letter("ana@example.org", 0, "7", "1"),
        letter("ana@example.org", 5, "8", "unknown"),
    ];
    for (number, letter) in letters.iter().enumerate() {
        fixture.put("a", "cur", &format!("{number}.x:2,S"), letter);
    }
    fixture.update();
    let own = OwnAddresses::new(&["ana@example.org".to_owned()]);
    let mailbox = fixture.mailbox().with_own_addresses(own);
    let hour = |hours: u64| hours * 3600;
    let total = stats(&mailbox, "", Dimension::Year, &TimeZone::UTC).total;
    assert_eq!(total.own_replies, Replies { count: 1, median_seconds: Some(hour(2)) });
    assert_eq!(total.other_replies, Replies { count: 2, median_seconds: Some(hour(1)) });
    assert_eq!((total.message_count, total.thread_count), (8, 2));
    // They count in the group of the reply, whether or not the query matches what it answers.
    let mine = stats(&mailbox, "from:cy", Dimension::Hour, &TimeZone::UTC);
    assert_eq!(counts(&mine), [("10".to_owned(), 1)]);
    assert_eq!(mine.groups[0].figures.other_replies, Replies { count: 1, median_seconds: Some(hour(7)) });
    let unknown = stats(&fixture.mailbox(), "", Dimension::Year, &TimeZone::UTC).total;
    assert_eq!((unknown.own_replies, unknown.other_replies), (Replies::default(), Replies::default()));
    assert_eq!(
        stats(&mailbox, "nothing", Dimension::Sender, &TimeZone::UTC),
        Stats { total: Figures::default(), groups: Vec::new() }
    );
}

#[test]
fn the_latest_times_and_the_largest_groups_are_kept() {
    let group = |key: &str| index::Group { key: Some(key.to_owned()), figures: Figures::default() };
    let all = Stats { total: Figures::default(), groups: ["a", "b", "c"].map(group).into() };
    for (by, expected) in [(Dimension::Year, "b c"), (Dimension::Sender, "a b")] {
        let mut few = all.clone();
        few.keep(by, 2);
        let keys: Vec<&str> = few.groups.iter().filter_map(|group| group.key.as_deref()).collect();
        assert_eq!(keys.join(" "), expected);
        few.keep(by, 9);
        assert_eq!(few.groups.len(), 2);
    }
}
