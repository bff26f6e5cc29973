//! A first index of much mail: what it reads first, and what it leaves if it is stopped.

use crate::support::{Fixture, message};
use index::UpdateOptions;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Messages whose order among each other does not matter: their files are read as they lie on the disk.
const NEWEST_COUNT: u64 = 512;

/// Stops the pass when the newest messages are read.
#[derive(Default)]
struct StopAfter {
    is_reading: AtomicBool,
    count: AtomicU64,
}

impl work::Progress for StopAfter {
    fn stage(&self, stage: work::Stage) {
        self.is_reading.store(stage == work::Stage::Read, Ordering::Relaxed);
    }

    fn add(&self, items: u64, _bytes: u64) {
        if self.is_reading.load(Ordering::Relaxed) {
            self.count.fetch_add(items, Ordering::Relaxed);
        }
    }

    fn is_cancelled(&self) -> bool {
        self.count.load(Ordering::Relaxed) >= NEWEST_COUNT
    }
}

#[test]
fn a_first_index_that_is_stopped_has_the_newest_mail_and_the_roots() {
    let fixture = Fixture::new();
    let all_count = 3 * NEWEST_COUNT;
    for number in 0..all_count {
        // The folders do not follow the dates.
        let (folder, name) = (format!("f{}", number % 3), format!("{}.x:2,S", 1_700_000_000 + number));
        fixture.put(&folder, "cur", &name, &message(&number.to_string(), &format!("s{number:04}"), "word"));
    }
    let options = UpdateOptions::default();
    let stopped = index::update(&fixture.environment, &fixture.roots, &options, &StopAfter::default());
    assert!(matches!(stopped, Err(index::Error::Interrupted)));
    assert_eq!(index::roots(&fixture.environment).unwrap(), fixture.roots);
    let found: BTreeSet<String> = fixture.dump().into_values().map(|(subject, ..)| subject).collect();
    let newest = (all_count - NEWEST_COUNT..all_count).map(|number| format!("s{number:04}"));
    assert!(newest.into_iter().all(|subject| found.contains(&subject)), "{found:?}");
    let count = found.len() as u64;
    assert!((NEWEST_COUNT..all_count).contains(&count), "{count}");
    assert_eq!(fixture.update().added, all_count - count);
    fixture.check();
}
