//! Any bytes are a snapshot or a readable error. A snapshot that is written and read again is the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use restic::Snapshot;

fuzz_target!(|bytes: &[u8]| match Snapshot::from_json(bytes) {
    Ok(snapshot) => assert_eq!(Snapshot::from_json(&snapshot.to_json()), Ok(snapshot)),
    Err(what) => assert!(!what.is_empty()),
});
