//! Applying any rows ends, with any definitions, updates and keys in them. A state that leaves out
//! inapplicable rows finds every row that it counts.
#![no_main]

use libfuzzer_sys::fuzz_target;
use store::Loaded;
use tarantool::VClock;
use tarantool::space::Spaces;
use tarantool::state::{OnRejectedRow, State};

fuzz_target!(|bytes: &[u8]| {
    let mut spaces = Spaces::new();
    // [512, 1, "s"], and [512, 0, "p", "tree", {}, [[0, "unsigned"]]].
    spaces.set_space(b"\x93\xcd\x02\x00\x01\xa1s").expect("it is a definition");
    spaces
        .set_index(b"\x96\xcd\x02\x00\x00\xa1p\xa4tree\x80\x91\x92\x00\xa8unsigned")
        .expect("it is a definition");
    let mut state = State::new(spaces, VClock::default(), OnRejectedRow::LeaveOut);
    // Damage ends a block, but another block may follow.
    for block in bytes.chunks(512) {
        let _ = state.apply(block);
    }
    let Ok(finished) = state.finish() else { return };
    for space in finished.spaces {
        // If the store does not accept a schema, the store reports it.
        if let Ok(loaded) = Loaded::build(&space.table.schema, space.batches, &space.dead) {
            assert_eq!(loaded.rows().count() as u64, loaded.row_count());
        }
    }
});
