//! Any bytes are a key file or a readable error. A key file that is written and read again is the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use restic::KeyFile;

fuzz_target!(|bytes: &[u8]| match KeyFile::from_json(bytes) {
    Ok(file) => assert_eq!(KeyFile::from_json(&file.to_json()), Ok(file)),
    Err(what) => assert!(!what.is_empty()),
});
