//! Any bytes are rows or damage with a position. A row that was read can be written and read again as the
//! same row.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tarantool::msgpack::Reader;
use tarantool::{put_row, rows};

fuzz_target!(|bytes: &[u8]| {
    let mut walk = rows(bytes);
    while let Some(row) = walk.next() {
        let Ok(row) = row else {
            assert!(walk.next().is_none(), "after damage there is nothing more");
            break;
        };
        for value in [row.body.key, row.body.tuple, row.body.ops].into_iter().flatten() {
            assert_eq!(Reader::new(value).skip(), Ok(value), "a whole value");
        }
        // A time of NaN does not equal itself. The commit flag of a transaction with one row is not written.
        if row.timestamp.is_nan() || row.flags & 1 != 0 || row.timestamp == 0.0 {
            continue;
        }
        let mut again = Vec::new();
        put_row(&mut again, &row);
        let mut found = rows(&again);
        assert_eq!(found.next(), Some(Ok(row)));
        assert!(found.next().is_none());
    }
});
