//! Readers beside a writer are never blocked, never get an error and never see half a commit, also where they
//! have no permission to write.

use crate::support::{Fixture, message, query, subjects};
use index::{Mailbox, Order, RecordReader, UpdateOptions};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Messages come in pairs with a word of their own, both in one directory and one commit. A reader that sees
/// one must also see the other, by text and by rows.
#[test]
fn readers_in_a_loop_never_see_half_a_commit() {
    let fixture = Fixture::new();
    fixture.put("f", "cur", "0.x", &message("zero", "start", "start"));
    fixture.update();
    let done = AtomicBool::new(false);
    let reads = AtomicU64::new(0);
    let rounds = 40;
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    look(&fixture);
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for round in 0..rounds {
            for half in ["left", "right"] {
                let content = message(
                    &format!("{round}{half}"),
                    &format!("pair{round}"),
                    &format!("pair{round} {half}"),
                );
                fixture.put("f", "cur", &format!("{round}.{half}:2,S"), &content);
            }
            fixture.update_with(&UpdateOptions { batch_message_count: 64, ..UpdateOptions::default() });
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(reads.load(Ordering::Relaxed) > 0);
    assert_eq!(fixture.find("body:left").len(), rounds);
    fixture.check();
}

fn look(fixture: &Fixture) {
    let mailbox = Mailbox::open(&fixture.environment).expect("a reader always opens");
    let left: Vec<String> = subjects(&mailbox, "body:left");
    let right: Vec<String> = subjects(&mailbox, "body:right");
    let set = |list: &[String]| list.iter().cloned().collect::<BTreeSet<_>>();
    assert_eq!(set(&left), set(&right), "text of one commit comes together");
    let all = mailbox.find(&query("subject:pair*"), &Order::default()).expect("a query is answered");
    assert_eq!(all.list.len(), left.len() + right.len(), "rows and text of one commit come together");
    let mut reader = RecordReader::new();
    for hit in &all.list {
        assert!(!mailbox.message(hit, &mut reader).expect("a message is read").files.is_empty());
    }
}

#[test]
fn a_mailbox_that_is_open_stays_as_it_was() {
    let fixture = Fixture::new();
    fixture.put("f", "cur", "1.x:2,S", &message("a", "first", "word"));
    fixture.update();
    let mailbox = fixture.mailbox();
    for number in 2..30 {
        fixture.put("f", "cur", &format!("{number}.x:2,S"), &message(&number.to_string(), "later", "word"));
        fixture.update();
    }
    assert_eq!(subjects(&mailbox, "word"), ["first"]);
    assert_eq!(fixture.find("word").len(), 29);
}
