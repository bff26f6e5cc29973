//! Any bytes are blocks or damage with a position: the walk over blocks ends, and unpacked blocks have
//! correct checksums. The target corrects checksums, because otherwise nothing under them would be tested.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tarantool::{HEAD_BYTES, Step, Unpacker, checksum, read_head, rows};

fuzz_target!(|bytes: &[u8]| {
    let mut unpacker = Unpacker::default();
    let mut at = 0;
    let end = loop {
        match read_head(bytes, at) {
            Ok(Step::Block(mut place)) => {
                assert!(place.payload.start == at + HEAD_BYTES && place.payload.end <= bytes.len());
                at = place.payload.end;
                let fits = checksum(&bytes[place.payload.clone()]) == place.checksum;
                assert!(fits || unpacker.unpack(bytes, &place).is_err());
                place.checksum = checksum(&bytes[place.payload.clone()]);
                // A few bytes may decompress to gigabytes. That is allowed, but too slow here.
                if place.is_compressed && place.payload.len() > 4096 {
                    continue;
                }
                if let Ok(payload) = unpacker.unpack(bytes, &place) {
                    rows(payload).for_each(drop);
                }
            }
            Ok(step) => break Ok(step),
            Err(damage) => break Err(damage),
        }
    };
    match end {
        Ok(Step::Eof) => assert_eq!(at + 4, bytes.len()),
        Ok(_) => assert_eq!(at, bytes.len()),
        Err(damage) => assert_eq!(damage.offset, at),
    }
});
