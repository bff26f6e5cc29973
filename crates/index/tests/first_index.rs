//! A first index of much mail: what it reads first, and what it leaves if it is stopped.

use crate::support::{Fixture, StopAfter, message};
use index::UpdateOptions;
use std::collections::BTreeSet;

/// Messages whose order among each other does not matter: their files are read as they lie on the disk.
const NEWEST_COUNT: u64 = 512;

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
    let stopped =
        index::update(&fixture.environment, &fixture.roots, &options, &StopAfter::new(NEWEST_COUNT));
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
