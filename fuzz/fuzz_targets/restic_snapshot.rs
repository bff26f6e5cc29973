//! Any bytes are a snapshot or a sentence about what is wrong, and a snapshot that is written again is read
//! as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use restic::Snapshot;

fuzz_target!(|bytes: &[u8]| match Snapshot::from_json(bytes) {
    Ok(snapshot) => assert_eq!(Snapshot::from_json(&snapshot.to_json()), Ok(snapshot)),
    Err(what) => assert!(!what.is_empty()),
});
