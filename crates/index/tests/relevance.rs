//! Hits in the order of their relevance: rare words, words that occur often, and words of the subject first.

use crate::support::{Fixture, query};
use index::{Direction, Mailbox, Order, RecordReader, SortKey};

fn put(fixture: &Fixture, number: u32, subject: &str, body: &str) {
    let content = format!(
        "From: Ana <ana@example.org>\nSubject: {subject}\nMessage-ID: <m{number}@x>\n\
         Date: Tue, 4 Mar 2025 10:00:{number:02} +0000\n\n{body}\n"
    );
    fixture.put("inbox", "cur", &format!("{number}.x:2,S"), &content);
}

fn subjects(mailbox: &Mailbox, text: &str, order: &Order) -> Vec<String> {
    let hits = mailbox.find(&query(text), order).unwrap();
    let mut reader = RecordReader::new();
    hits.list.iter().map(|hit| mailbox.line(hit, &mut reader).unwrap().subject).collect()
}

#[test]
fn the_most_relevant_come_first() {
    let fixture = Fixture::new();
    put(&fixture, 1, "once", "plum and other words");
    put(&fixture, 2, "often", "plum plum plum plum and other words");
    put(&fixture, 3, "twice", "plum plum");
    put(&fixture, 4, "plum", "nothing");
    put(&fixture, 5, "both", "plum quince and other words");
    put(&fixture, 6, "once, newer", "plum and other words");
    put(&fixture, 7, "row", "sour plum tart");
    for number in 10..30 {
        put(&fixture, number, &format!("filler {number}"), "and other words");
    }
    fixture.update();
    let mailbox = fixture.mailbox();
    let order = Order { key: SortKey::Relevance, ..Order::default() };
    let best = |text: &str| subjects(&mailbox, text, &order);
    // The subject counts three times; equally relevant messages are sorted by date, the newest first.
    assert_eq!(best("plum"), ["plum", "often", "twice", "row", "once, newer", "both", "once"]);
    // The rarer word decides.
    assert_eq!(best("body:plum or body:quince")[..2], ["both", "often"]);
    assert_eq!(best("quince or other")[..2], ["both", "filler 29"]);
    // A phrase counts as one rare word, and so does a word with several ends.
    assert_eq!(best("\"sour plum\" or words")[0], "row");
    assert_eq!(best("quin* or words")[0], "both");
    // What a message must not have, and what is no text, makes no difference.
    let without = best("plum and not subject:plum and date:2025");
    assert_eq!(without, ["often", "twice", "row", "once, newer", "both", "once"]);
    assert_eq!(best("body:plum and not tart")[..2], ["often", "twice"]);

    let some = Order { offset: 1, limit: Some(2), ..order };
    assert_eq!(subjects(&mailbox, "plum", &some), ["often", "twice"]);
    let worst = Order { direction: Direction::Ascending, limit: Some(1), ..order };
    assert_eq!(subjects(&mailbox, "plum", &worst), ["once"]);
    let all = subjects(&mailbox, "", &order);
    assert_eq!(all, subjects(&mailbox, "", &Order::default()), "nothing to be relevant to");
}

#[test]
fn occurrences_count_in_every_segment_of_the_text() {
    let fixture = Fixture::new();
    for number in 0..12 {
        put(&fixture, number, &format!("{number}"), &"plum ".repeat(1 + number as usize * 5 % 12));
        fixture.update();
    }
    let order = Order { key: SortKey::Relevance, ..Order::default() };
    let mut expected: Vec<usize> = (0..12).collect();
    expected.sort_by_key(|number| std::cmp::Reverse(number * 5 % 12));
    let expected: Vec<String> = expected.iter().map(usize::to_string).collect();
    assert_eq!(subjects(&fixture.mailbox(), "plum", &order), expected);
}
