//! Any bytes are a header or damage with a place, and a header that was read is written so that it is read
//! again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tarantool::Header;

fuzz_target!(|bytes: &[u8]| match Header::parse(bytes) {
    Ok((header, length)) => {
        assert!(length <= bytes.len());
        let text = header.text();
        // A program's name can fill the header up, and zeros written with many digits are shorter afterwards.
        assert_eq!(Header::parse(text.as_bytes()), Ok((header, text.len())));
    }
    Err(damage) => assert!(damage.offset <= bytes.len()),
});
