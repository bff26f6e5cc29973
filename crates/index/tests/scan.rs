//! Reading many messages: each shows what it shows when it is read alone, in any order, with any parts.
//!
//! Input: mail with copies, several files, tags and labels. Output: comparisons. Uses only the public
//! interface of the index.

use crate::support::{Fixture, message, query};
use index::{
    FlagTags, Hit, Mailbox, Meaning, Message, MessageParts, MessageView, Order, OwnAddresses, RecordReader,
    TagChange,
};
use proptest::prelude::*;
use std::fs;

pub(crate) const ALL: MessageParts = MessageParts { line: true, rest: true, tags: true, files: true };

/// Fails unless some messages show the same when they are read together.
pub(crate) fn shows_the_same(mailbox: &Mailbox, hits: &[Hit], parts: MessageParts, count: usize) {
    let mut reader = RecordReader::new();
    let mut alone = hits.iter().map(|hit| mailbox.message(hit, &mut reader).unwrap());
    let mut left = hits.iter();
    let scan = mailbox.scan(parts, count).unwrap();
    scan.read(hits, &mut RecordReader::new(), &mut |view| {
        assert_eq!(Some(view.number), left.next().map(|hit| hit.number));
        compare(view, &alone.next().unwrap(), parts);
    })
    .unwrap();
    assert_eq!(left.next().map(|hit| hit.number), None);
}

fn compare(view: &MessageView<'_>, alone: &Message, parts: MessageParts) {
    let Message { sha256, line, rest, tags, files } = alone;
    assert_eq!(view.date, line.date);
    if parts.line {
        let shown = (view.size_bytes, view.derived, view.from, view.subject);
        assert_eq!(shown, (line.size_bytes, line.derived, line.from.as_str(), line.subject.as_str()));
    }
    if parts.rest {
        assert_eq!((&view.sha256, &format!("{:?}", view.rest.to_rest())), (sha256, &format!("{rest:?}")));
    }
    if parts.tags {
        assert_eq!(view.tags, tags);
    }
    if parts.files {
        let found = view.files.iter().map(|file| (file.maildir(), file.path(), file.flags));
        let expected = files
            .iter()
            .map(|file| (file.maildir.as_str(), file.path.to_string_lossy().into_owned(), file.flags));
        assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }
}

/// Forty messages from three passes: some are copies, some have several files, tags or labels, some are gone.
fn fixture() -> Fixture {
    let fixture = Fixture::new();
    let tag = |names: &[&str], text: &str| {
        let mailbox = fixture.mailbox();
        let found = mailbox.evaluate(&query(text)).unwrap();
        let add = names.iter().map(|name| (*name).to_owned()).collect();
        index::change_tags(&fixture.environment, &mailbox, &found, &TagChange { add, ..Default::default() })
            .unwrap();
    };
    let content = |number: usize| {
        let text = message(&format!("m{number}"), &format!("subject {number}"), &format!("words {number}"));
        match number % 7 {
            0 => format!("X-Label: alpha, flagged, beta\n{text}"),
            1 => text.replace("Bo <bo@example.org>", "Group: bo@example.org, Me <me@example.org>;"),
            2 => format!("References: <m1@example.org> <m2@example.org>\nX-Priority: 1\n{text}"),
            _ => text,
        }
    };
    for pass in 0..3 {
        for number in (pass..40).step_by(3) {
            let flags = ["S", "", "FS", "R"][number % 4];
            let name = format!("{number}.x:2,{flags}");
            fixture.put(["a", "a-b", "a/b"][number % 3], "cur", &name, &content(number));
            if number % 5 == 0 {
                let received = format!("Received: by list\nList-Id: <l.x>\n{}", content(number));
                fixture.put("list", "new", &format!("{number}.l"), &received);
                fixture.put("a", "cur", &format!("{number}.again:2,F"), &content(number));
            }
        }
        fixture.update();
    }
    tag(&["work", "unread", "zz"], "subject:3");
    tag(&["work"], "subject:9 or subject:10 or subject:39");
    fs::remove_file(fixture.root().join("a-b/cur/13.x:2,")).unwrap();
    fs::remove_file(fixture.root().join("a/cur/9.x:2,")).unwrap();
    // Has the tags of the content before it, whose Message-ID it has.
    fixture.put("a", "cur", "9.y:2,S", &content(9).replace("words", "other words"));
    fs::write(fixture.root().join("a/cur/odd\u{fffd}.z:2,S"), message("odd", "odd", "x")).unwrap();
    fixture.update();
    fixture
}

fn mailboxes(fixture: &Fixture) -> Vec<Mailbox> {
    let meaning = Meaning { flag_tags: FlagTags::Derived, ..Meaning::default() };
    let own = OwnAddresses::new(&["me@example.org".to_owned()]);
    let plain = fixture.mailbox();
    vec![plain.clone(), plain.clone().with_meaning(meaning).with_own_addresses(own)]
}

fn all(mailbox: &Mailbox) -> Vec<Hit> {
    mailbox.find(&query(""), &Order::default()).unwrap().list
}

#[test]
fn messages_read_together_show_what_they_show_alone() {
    let fixture = fixture();
    let mailboxes = mailboxes(&fixture);
    let part = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let parts = part.prop_map(|(line, rest, tags, files)| MessageParts { line, rest, tags, files });
    let hits = all(&mailboxes[0]);
    // 13 is gone, and copies are one message.
    assert_eq!(hits.len(), 40);
    let copies = hits.iter().filter(|hit| mailboxes[0].copies_of_hit(hit).unwrap().len() > 1);
    assert_eq!(copies.count(), 8);
    let mut by_number = hits.clone();
    by_number.sort_by_key(|hit| hit.number);
    for mailbox in &mailboxes {
        for hits in [&hits, &by_number] {
            shows_the_same(mailbox, hits, ALL, 0);
            shows_the_same(mailbox, hits, ALL, usize::MAX);
        }
    }
    fixture.put("a", "cur", "later:2,", &message("later", "later", "x"));
    fs::remove_file(fixture.root().join("a/cur/0.x:2,S")).unwrap();
    fixture.update();
    for mailbox in &self::mailboxes(&fixture) {
        shows_the_same(mailbox, &hits, ALL, 0);
    }
    let chosen = proptest::sample::subsequence(by_number, 0..=hits.len());
    let chosen = (chosen.clone(), chosen.prop_shuffle()).prop_map(|(mut some, others)| {
        some.extend(others);
        some
    });
    let count = prop_oneof![Just(0), Just(usize::MAX)];
    proptest!(|(hits in chosen, parts in parts, count in count)| {
        for mailbox in &mailboxes {
            shows_the_same(mailbox, &hits, parts, count);
        }
    });
}
