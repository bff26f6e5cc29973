//! Any bytes are a header or damage with a position. A header that was read can be written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tarantool::Header;

fuzz_target!(|bytes: &[u8]| match Header::parse(bytes) {
    Ok((header, length)) => {
        assert!(length <= bytes.len());
        let text = header.text();
        // A program's name can fill the header completely. Zeros written with many digits become shorter.
        assert_eq!(Header::parse(text.as_bytes()), Ok((header, text.len())));
    }
    Err(damage) => assert!(damage.offset <= bytes.len()),
});
