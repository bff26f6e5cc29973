//! New messages: each is seen once by what tags them, whatever stops in between and whoever works at the same
//! time.

use crate::support::{Fixture, StopAfter, message, query};
use index::{Arrivals, Environment, Error, Looked, Mailbox, TagChange, UpdateOptions};
use std::sync::Arc;
use testkit::SimDisk;

/// Tags what is new with a number that tells when, and returns how many messages that were.
fn see(environment: &Environment, looked: Looked, tag: &str) -> index::Result<u64> {
    let mailbox = Mailbox::open(environment)?;
    let Some(arrivals) = Arrivals::take(environment, &mailbox, looked)? else { return Ok(0) };
    let new = arrivals.new_messages().clone();
    let change = TagChange { add: [tag.to_owned()].into(), ..TagChange::default() };
    arrivals.commit(environment, &mailbox, &[(new.clone(), change)])?;
    Ok(new.count())
}

fn put(fixture: &Fixture, number: u32) {
    let content = message(&format!("m{number}"), &format!("s{number}"), "x");
    fixture.put("inbox", "cur", &format!("{number}.x:2,S"), &content);
}

fn count(environment: &Environment, text: &str) -> u64 {
    Mailbox::open(environment).unwrap().count(&query(text)).unwrap()
}

#[test]
fn what_a_first_index_finds_is_not_new_until_it_is_whole() {
    let fixture = Fixture::new();
    let environment = &fixture.environment;
    assert!(index::expect_arrivals(environment).unwrap(), "its end has to be noted");
    put(&fixture, 1);
    fixture.update();
    // The pass was interrupted, and something was delivered then.
    assert_eq!(see(environment, Looked::Here, "a").unwrap(), 0);
    assert!(index::expect_arrivals(environment).unwrap());
    put(&fixture, 2);
    fixture.update();
    assert_eq!(see(environment, Looked::Everywhere, "a").unwrap(), 0);
    assert!(!index::expect_arrivals(environment).unwrap());
    put(&fixture, 3);
    fixture.update();
    assert!(index::expect_arrivals(environment).unwrap(), "left from before");
    assert_eq!(see(environment, Looked::Here, "a").unwrap(), 1);
    assert_eq!(see(environment, Looked::Everywhere, "b").unwrap(), 0);
    assert_eq!((count(environment, "tag:a subject:s3"), count(environment, "tag:b")), (1, 0));
}

#[test]
fn what_an_interrupted_first_index_did_not_reach_is_not_new() {
    let fixture = Fixture::new();
    let environment = &fixture.environment;
    for number in 0..600 {
        put(&fixture, number);
    }
    // Nobody expects new messages yet.
    let options = UpdateOptions::default();
    let stopped = index::update(environment, &fixture.roots, &options, &StopAfter::new(100));
    assert!(matches!(stopped, Err(Error::Interrupted)), "{stopped:?}");
    assert!(Mailbox::open(environment).unwrap().count(&query("*")).unwrap() < 600);
    assert!(index::strangers(environment).unwrap().is_empty());
    assert!(index::expect_arrivals(environment).unwrap());
    fixture.update();
    assert_eq!(see(environment, Looked::Everywhere, "a").unwrap(), 0);
    put(&fixture, 600);
    assert!(!index::expect_arrivals(environment).unwrap());
    fixture.update();
    assert_eq!(see(environment, Looked::Here, "a").unwrap(), 1);
    assert_eq!(count(environment, "tag:a subject:s600"), 1);
}

#[test]
fn nothing_is_new_if_nothing_was_expected() {
    let fixture = Fixture::new();
    put(&fixture, 1);
    fixture.update();
    assert_eq!(see(&fixture.environment, Looked::Everywhere, "a").unwrap(), 0);
    put(&fixture, 2);
    fixture.update();
    assert_eq!(see(&fixture.environment, Looked::Everywhere, "a").unwrap(), 1);
    // An index that was made anew has lower numbers.
    std::fs::remove_dir_all(fixture.environment.data.join("index")).unwrap();
    assert!(index::expect_arrivals(&fixture.environment).unwrap());
    fixture.update();
    assert_eq!(see(&fixture.environment, Looked::Everywhere, "b").unwrap(), 0);
}

#[test]
fn a_crash_leaves_new_messages_tagged_and_seen_or_neither() {
    let disk = SimDisk::new(3);
    let fixture = Fixture::on(Arc::new(disk.clone()));
    put(&fixture, 1);
    fixture.update();
    assert!(!index::expect_arrivals(&fixture.environment).unwrap());
    put(&fixture, 2);
    put(&fixture, 3);
    fixture.update();
    let on = |disk: &SimDisk| Environment { disk: Arc::new(disk.clone()), ..fixture.environment.clone() };
    let whole = disk.fork();
    assert_eq!(see(&on(&whole), Looked::Here, "once").unwrap(), 2);
    for number in 0..whole.operation_count() {
        let crashed = disk.fork();
        crashed.crash_at(number);
        let is_done = see(&on(&crashed), Looked::Here, "once").is_ok();
        for image in crashed.images() {
            let after = on(&image.disk);
            let before = count(&after, "tag:once");
            assert!(before == 2 || (before == 0 && !is_done), "crash at {number}, {}", image.description);
            assert_eq!(see(&after, Looked::Here, "again").unwrap(), 2 - before, "crash at {number}");
            assert_eq!(count(&after, "tag:again or tag:once"), 2);
        }
    }
}
