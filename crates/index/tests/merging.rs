//! Merges on their own: beside passes that leave them to others, and more of them when there is time.

use crate::support::{Fixture, environment, message, query};
use index::{Environment, Mailbox, Merging, UpdateOptions};
use std::path::Path;
use std::sync::Arc;
use store::Snapshot;
use testkit::SimDisk;
use testkit::sim_disk::interrupt_at_every_operation;
use work::{Cancel, Progress, Silent};

/// Enough messages to fill the journal.
const LEFT: u32 = 14;
/// Enough for a merge of text.
const FEW: u32 = 5;

fn put(fixture: &Fixture, number: u32) {
    // Long enough that some of these fill the journal.
    let words: Vec<String> = (0..500).map(|word| format!("w{number}x{word}")).collect();
    let content = message(&format!("m{number}"), &format!("s{number}"), &words.join(" "));
    fixture.put("inbox", "cur", &format!("{number}.x:2,S"), &content);
}

fn on(disk: &SimDisk, seed: u64) -> Environment {
    let environment = environment(Arc::new(disk.clone()), Path::new("/data"));
    Environment { text_slots: index::TEXT_SLOTS, seed, ..environment }
}

/// Updates without merges.
fn update(environment: &Environment, fixture: &Fixture) {
    let options = UpdateOptions { merges: false, ..UpdateOptions::default() };
    index::update(environment, &fixture.roots, &options, &Silent).unwrap();
}

/// Adds messages one by one, without merges.
fn filled(disk: &SimDisk, count: u32) -> Fixture {
    let fixture = Fixture::new();
    for number in 0..count {
        put(&fixture, number);
        update(&on(disk, u64::from(number)), &fixture);
    }
    fixture
}

fn merge(environment: &Environment, merging: Merging, observer: &dyn Progress) {
    index::merge(environment, merging, observer).unwrap();
}

/// Returns how many segments there are, of text and of rows.
fn segments(environment: &Environment) -> (u64, usize) {
    let snapshot = Snapshot::open(&environment.disk, &environment.index_directory()).unwrap();
    // Beside segments, each table has the rows of the journal.
    let of_rows = snapshot.tables().iter().map(|table| table.parts().len() - 1).sum();
    (Mailbox::open(environment).unwrap().counts().unwrap().text_segments, of_rows)
}

fn journal_bytes(environment: &Environment) -> u64 {
    Snapshot::open(&environment.disk, &environment.index_directory()).unwrap().journal_bytes()
}

/// Fails unless all of these messages, and no others, are found and whole.
fn check(environment: &Environment, count: u32) {
    let mailbox = Mailbox::open(environment).unwrap();
    assert_eq!(mailbox.counts().unwrap().messages, u64::from(count));
    for number in 0..count {
        assert_eq!(mailbox.count(&query(&format!("w{number}x7 w{number}x199"))).unwrap(), 1, "{number}");
    }
    let damage = index::check(environment, index::Depth::Deep).unwrap();
    assert!(damage.is_empty(), "{damage:#?}");
}

#[test]
fn passes_leave_merges_to_others_if_they_are_told_to() {
    let disk = SimDisk::new(1);
    let fixture = filled(&disk, LEFT);
    let environment = on(&disk, 99);
    assert_eq!(segments(&environment).0, u64::from(LEFT));
    merge(&environment, Merging::Due { new_count: u64::from(LEFT) }, &Silent);
    let (text, _) = segments(&environment);
    assert!(text < 8, "{text}");
    check(&environment, LEFT);
    drop(fixture);
}

/// More tables than large merges that a pass does.
#[test]
fn segments_of_few_rows_are_merged_in_all_tables() {
    let disk = SimDisk::new(1);
    let fixture = Fixture::new();
    for number in 0..FEW {
        // A folder and a sender of its own.
        let text =
            message(&format!("m{number}"), &format!("s{number}"), &format!("w{number}x7 w{number}x199"));
        let text = text.replace("ana@", &format!("ana{number}@"));
        fixture.put(&format!("f{number}"), "cur", &format!("{number}.x:2,S"), &text);
        let environment = on(&disk, u64::from(number));
        update(&environment, &fixture);
        // What the journal has becomes a segment of each table.
        let options = store::Options { seed: u64::from(number), ..store::Options::default() };
        let directory = environment.index_directory();
        store::Writer::open(&environment.disk, &directory, options).unwrap().flush().unwrap();
    }
    let environment = on(&disk, 99);
    assert!(segments(&environment).1 >= 6 * FEW as usize, "{:?}", segments(&environment));
    merge(&environment, Merging::Due { new_count: u64::from(FEW) }, &Silent);
    let snapshot = Snapshot::open(&environment.disk, &environment.index_directory()).unwrap();
    for table in snapshot.tables() {
        // The rows in memory, what was merged, and a segment that is of another size.
        assert!(table.parts().len() <= 3, "{}: {} parts", table.schema().name, table.parts().len());
    }
    check(&environment, FEW);
}

#[test]
fn with_time_one_segment_of_each_kind_stays() {
    let disk = SimDisk::new(1);
    let fixture = filled(&disk, LEFT);
    let environment = on(&disk, 99);
    assert!(journal_bytes(&environment) > 1 << 16, "{}", journal_bytes(&environment));
    merge(&environment, Merging::Idle, &Silent);
    let tables = Snapshot::open(&environment.disk, &environment.index_directory()).unwrap().tables().len();
    let (text, rows) = segments(&environment);
    assert!(text == 1 && rows <= tables, "{text} of text, {rows} of rows of {tables} tables");
    assert!(journal_bytes(&environment) < 1 << 12);
    check(&environment, LEFT);
    // There is nothing left to do, and a message that comes alone is left where it is.
    let merged = disk.files().len();
    merge(&environment, Merging::Idle, &Silent);
    put(&fixture, LEFT);
    update(&environment, &fixture);
    let journal = journal_bytes(&environment);
    merge(&environment, Merging::Idle, &Silent);
    assert_eq!((journal_bytes(&environment), disk.files().len()), (journal, merged));
    assert_eq!(segments(&environment), (2, rows));
    check(&environment, LEFT + 1);
}

#[test]
fn idle_merges_stop_when_they_are_told_to() {
    let disk = SimDisk::new(1);
    let _fixture = filled(&disk, LEFT);
    let (environment, cancel) = (on(&disk, 99), Cancel::new());
    cancel.cancel();
    let before = segments(&environment).0;
    let _ = index::merge(&environment, Merging::Idle, &cancel);
    assert_eq!(segments(&environment).0, before);
    check(&environment, LEFT);
}

#[test]
fn a_pass_beside_idle_merges_loses_nothing() {
    let base = SimDisk::new(1);
    let fixture = Arc::new(filled(&base, FEW));
    put(&fixture, FEW);
    let pass = {
        let fixture = Arc::clone(&fixture);
        move |disk: &SimDisk| {
            let options = UpdateOptions { merges: false, ..UpdateOptions::default() };
            // Where the other one has the lock of writers, it could only wait for that, and gives up.
            let environment = on(disk, 50);
            environment.context.cancel.cancel();
            let _ = index::update(&environment, &fixture.roots, &options, &Silent);
        }
    };
    let work = |disk: &SimDisk| {
        let environment = on(disk, 99);
        let _ = index::merge(&environment, Merging::Idle, &Silent);
        update(&on(&disk.fork(), 51), &fixture);
        let after = disk.fork();
        update(&on(&after, 51), &fixture);
        check(&on(&after, 52), FEW + 1);
    };
    assert!(interrupt_at_every_operation(&base, work, pass).checked_count > 20);
}
