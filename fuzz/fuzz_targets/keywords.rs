//! Any bytes can be read as a file `dovecot-keywords`. Its names, written to such a file again, stay the
//! same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mail::{KEYWORD_COUNT_MAX, keyword_names};

fuzz_target!(|content: &[u8]| {
    let names = keyword_names(content);
    let mut file = Vec::new();
    for (number, name) in names.split(|byte| *byte == b'\n').enumerate() {
        assert!(number < KEYWORD_COUNT_MAX && name.trim_ascii() == name);
        assert!(name.is_empty() || content.windows(name.len()).any(|part| part == name));
        file.extend_from_slice(format!("{number} ").as_bytes());
        file.extend_from_slice(name);
        file.push(b'\n');
    }
    assert_eq!(keyword_names(&file), names);
});
