//! Any bytes are blocks or damage with a place: hopping ends, and what is unpacked had a fitting checksum.
//! Checksums are made to fit, or nothing behind them would be reached.
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
                // A few bytes of a bomb may make gigabytes, which are allowed: too slow here.
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
