//! Absent messages. Queries find them if the scope includes them and the archive holds them. Handles always
//! name them.

use crate::support::{Fixture, message, query};
use index::{Archive, Error, Mailbox, Order, RecordReader, Scope, TagChange, ThreadOrder};
use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Holds every message except those with these ids, and counts how often it is asked.
struct HoldsBut(BTreeSet<[u8; 32]>, AtomicUsize);

impl Archive for HoldsBut {
    fn holds(&self, sha256: &[[u8; 32]]) -> index::Result<Vec<bool>> {
        self.1.fetch_add(1, Ordering::Relaxed);
        Ok(sha256.iter().map(|id| !self.0.contains(id)).collect())
    }
}

fn all() -> HoldsBut {
    HoldsBut(BTreeSet::new(), AtomicUsize::new(0))
}

/// Messages one to four, each an answer to the one before. The first two have a tag; two and three are gone.
fn filled() -> Fixture {
    let fixture = Fixture::new();
    for (number, subject) in ["one", "two", "three", "four"].iter().enumerate() {
        let references =
            if number == 0 { String::new() } else { format!("References: <m{}@example.org>\n", number - 1) };
        let content = references + &message(&format!("m{number}"), subject, "some words");
        let flags = if number % 2 == 0 { "S" } else { "" };
        fixture.put("inbox", "cur", &format!("{number}.x:2,{flags}"), &content);
    }
    fixture.update();
    let mailbox = fixture.mailbox();
    let found = mailbox.evaluate(&query("subject:one or subject:two")).unwrap();
    let change = TagChange { add: ["work".to_owned()].into(), remove: BTreeSet::new() };
    index::change_tags(&fixture.environment, &mailbox, &found, &change).unwrap();
    fs::remove_file(fixture.root().join("inbox/cur/1.x:2,")).unwrap();
    fs::remove_file(fixture.root().join("inbox/cur/2.x:2,S")).unwrap();
    fixture.update();
    fixture
}

/// Returns subjects in order. Absent messages are in brackets.
fn found(mailbox: &Mailbox, text: &str) -> String {
    let hits = mailbox.find(&query(text), &Order::default()).unwrap();
    let mut reader = RecordReader::new();
    let mut list: Vec<String> = hits
        .list
        .iter()
        .map(|hit| {
            let subject = mailbox.line(hit, &mut reader).unwrap().subject;
            if mailbox.is_absent(hit).unwrap() { format!("[{subject}]") } else { subject }
        })
        .collect();
    assert_eq!(mailbox.count(&query(text)).unwrap(), list.len() as u64);
    list.sort();
    list.join(" ")
}

#[test]
fn absent_messages_match_if_the_scope_includes_them() {
    let fixture = filled();
    let mailbox = fixture.mailbox().with_scope(Scope::WithAbsent(&all())).unwrap();
    for (text, expected) in [
        ("", "[three] [two] four one"),
        ("subject:two", "[two]"),
        ("words and not subject:one", "[three] [two] four"),
        ("tag:work", "[two] one"),
        ("size:1..", "[three] [two] four one"),
        ("thread:m0@example.org", "[three] [two] four one"),
        // Absent messages have no files, so no term about files matches them.
        ("flag:seen", "one"),
        ("flag:unread", "four"),
        ("maildir:/inbox", "four one"),
        ("not maildir:/inbox", "[three] [two]"),
        ("path:inbox/**", "four one"),
        ("changed:2000..", "four one"),
        ("not flag:seen", "[three] [two] four"),
    ] {
        assert_eq!(found(&mailbox, text), expected, "{text}");
    }
    let mailbox = mailbox.with_scope(Scope::Present).unwrap();
    assert_eq!(found(&mailbox, ""), "four one");
    assert_eq!(found(&mailbox, "tag:work"), "one");
}

#[test]
fn threads_are_whole_if_the_scope_includes_absent_messages() {
    let fixture = filled();
    for (scope, expected) in [(Scope::Present, 2), (Scope::WithAbsent(&all()), 4)] {
        let mailbox = fixture.mailbox().with_scope(scope).unwrap();
        let one = mailbox.evaluate(&query("subject:one")).unwrap();
        let threads = mailbox.threads(&one, &ThreadOrder::default()).unwrap();
        assert_eq!(threads.list.iter().map(|thread| thread.entries.len()).collect::<Vec<_>>(), [expected]);
        assert_eq!(mailbox.with_related(&one).unwrap().count(), expected as u64);
    }
}

#[test]
fn messages_that_no_archive_holds_are_not_found() {
    let fixture = filled();
    let mailbox = fixture.mailbox();
    let hit = mailbox.resolve("id:m1@example.org").unwrap()[0];
    let two = mailbox.message(&hit, &mut RecordReader::new()).unwrap().sha256;
    let holder = HoldsBut([two].into(), AtomicUsize::new(0));
    let mailbox = mailbox.with_scope(Scope::WithAbsent(&holder)).unwrap();
    assert_eq!(found(&mailbox, ""), "[three] four one");
    assert_eq!(holder.1.into_inner(), 1, "asked once, of all at once");

    struct Unreachable;
    impl Archive for Unreachable {
        fn holds(&self, _sha256: &[[u8; 32]]) -> index::Result<Vec<bool>> {
            Err(Error::archive("it is on fire"))
        }
    }
    let failed = fixture.mailbox().with_scope(Scope::WithAbsent(&Unreachable)).map(|_| ()).unwrap_err();
    assert_eq!(failed.to_string(), "it is on fire");
}

#[test]
fn the_copy_with_a_file_is_shown_and_no_copy_is_absent() {
    let fixture = Fixture::new();
    let content = message("m", "same", "words");
    // The older copy came first and is gone.
    fixture.put("inbox", "cur", "1.x:2,S", &content);
    fixture.put("inbox", "cur", "2.x:2,", &format!("X-TUID: abc\n{content}"));
    fixture.update();
    for (gone, kept) in [("1.x:2,S", "2.x:2,"), ("2.x:2,", "1.x:2,S")] {
        let content = fs::read(fixture.root().join("inbox/cur").join(gone)).unwrap();
        fs::remove_file(fixture.root().join("inbox/cur").join(gone)).unwrap();
        fixture.update();
        let mailbox = fixture.mailbox().with_scope(Scope::WithAbsent(&all())).unwrap();
        assert_eq!(found(&mailbox, "words"), "same");
        let hits = mailbox.find(&query("words"), &Order::default()).unwrap();
        let shown = mailbox.message(&hits.list[0], &mut RecordReader::new()).unwrap();
        let own = fs::read(fixture.root().join("inbox/cur").join(kept)).unwrap();
        assert_eq!(shown.line.size_bytes, own.len() as u64, "the one with the file");
        assert_eq!(found(&mailbox, "flag:unread"), if kept == "2.x:2," { "same" } else { "" });
        fixture.put("inbox", "cur", gone, &String::from_utf8(content).unwrap());
        fixture.update();
    }
}

#[test]
fn handles_name_absent_messages() {
    let fixture = filled();
    let mailbox = fixture.mailbox();
    let hit = mailbox.resolve("id:m1@example.org").unwrap()[0];
    let message = mailbox.message(&hit, &mut RecordReader::new()).unwrap();
    assert!(mailbox.is_absent(&hit).unwrap() && message.files.is_empty());
    let digits: String = message.sha256.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(mailbox.resolve(&digits[..10]).unwrap(), [hit]);
    let present = mailbox.resolve("id:m0@example.org").unwrap()[0];
    assert!(!mailbox.is_absent(&present).unwrap());
}
