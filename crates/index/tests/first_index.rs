//! A first index of much mail: what it reads first, and what it leaves if it is stopped.

use crate::support::{Fixture, message};
use index::UpdateOptions;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Stops the pass when some messages are read.
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
        self.count.load(Ordering::Relaxed) >= 70
    }
}

#[test]
fn a_first_index_that_is_stopped_has_the_newest_mail_and_the_roots() {
    let fixture = Fixture::new();
    for number in 0..200 {
        // The folders do not follow the dates.
        let (folder, name) = (format!("f{}", number % 3), format!("{}.x:2,S", 1_700_000_000 + number));
        fixture.put(&folder, "cur", &name, &message(&number.to_string(), &format!("s{number:03}"), "word"));
    }
    let options = UpdateOptions::default();
    let stopped = index::update(&fixture.environment, &fixture.roots, &options, &StopAfter::default());
    assert!(matches!(stopped, Err(index::Error::Interrupted)));
    assert_eq!(index::roots(&fixture.environment).unwrap(), fixture.roots);
    let found: Vec<String> = fixture.dump().into_values().map(|(subject, ..)| subject).collect();
    let newest: Vec<String> = (200 - found.len()..200).map(|number| format!("s{number:03}")).collect();
    let mut sorted = found.clone();
    sorted.sort();
    assert_eq!(sorted, newest);
    assert!((70..200).contains(&found.len()), "{}", found.len());
    assert_eq!(fixture.update().added, 200 - found.len() as u64);
    fixture.check();
}
