//! Transactions that are told apart, confirmed and rolled back; rows that the snapshot already has; rows that
//! cannot be applied.
//!
//! Input: rows of logs made by hand. Output: failures. Does not depend on how the state is kept.

use crate::support::{Watch, raw_block};
use crate::values::{pack, show};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use store::Value;
use tarantool::apply::{LogFile, apply_log};
use tarantool::space::Spaces;
use tarantool::state::{ApplyError, OnRejectedRow, REJECTED_ROWS_MAX, State};
use tarantool::table::SpaceTable;
use tarantool::{Body, Row, RowKind, VClock, put_body, put_row};

/// A state with space 512 of numbers, space 513 that waits for replicas, and space 514 whose primary key
/// cannot be represented.
pub(crate) fn state(vclock: &str, on_rejected_row: OnRejectedRow) -> State<'static> {
    let mut spaces = Spaces::new();
    for (id, flags) in [(512, "{}"), (513, "{\"is_sync\": true}"), (514, "{}")] {
        spaces.set_space(&pack(&format!("[{id}, 1, \"s{id}\", \"memtx\", 0, {flags}, []]"))).unwrap();
    }
    spaces.set_space(&pack("[515, 1, \"s515\"]")).unwrap();
    spaces.set_index(&pack("[515, 0, \"pk\", \"hash\", {}, [[0, \"unsigned\"], [1, \"string\"]]]")).unwrap();
    for id in [512, 513] {
        spaces.set_index(&pack(&format!("[{id}, 0, \"pk\", \"tree\", {{}}, [[0, \"unsigned\"]]]"))).unwrap();
    }
    let collated =
        "[514, 0, \"pk\", \"tree\", {}, [{\"field\": 0, \"type\": \"string\", \"collation\": 999}]]";
    spaces.set_index(&pack(collated)).unwrap();
    State::new(spaces, VClock::parse(vclock).unwrap(), on_rejected_row)
}

/// Writes rows like `1/7 insert 512 [1, 2]`: replica, number, kind, space and tuple. In a transaction of
/// several rows that starts with row 5, the last row has `5)` after its number and all others have `(5`. `!`
/// marks a row that waits for an answer, `?` one that waits for another transaction.
pub(crate) fn block(text: &str) -> Vec<u8> {
    let mut payload = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (place, rest) = line.split_once(' ').unwrap();
        let (kind, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let flags = if place.contains('!') { 6 } else { u64::from(place.contains('?')) * 2 };
        let (numbers, tsn) = match place.trim_end_matches(['!', '?']).split_once(['(', '<']) {
            Some((numbers, tsn)) => (numbers, Some(tsn.trim_end_matches(')').parse().unwrap())),
            None => (place.trim_end_matches(['!', '?']), None),
        };
        let (replica, lsn) = numbers.split_once('/').unwrap();
        let lsn = lsn.parse().unwrap();
        let (space, value) = rest.split_once(' ').unwrap_or((rest, ""));
        let value = if value.is_empty() || rest.starts_with('{') { Vec::new() } else { pack(value) };
        let mut body = Body { space: space.parse().ok(), index_base: Some(0), ..Body::default() };
        let empty = pack("[]");
        let kind = match kind {
            "insert" => RowKind::Insert,
            "replace" => RowKind::Replace,
            "delete" => RowKind::Delete,
            "update" => RowKind::Update,
            "confirm" => RowKind::Confirm,
            "rollback" => RowKind::Rollback,
            "promote" => RowKind::Promote,
            "nop" => RowKind::Nop,
            "raft" => RowKind::Raft,
            _ => RowKind::Other(99),
        };
        match kind {
            RowKind::Delete => body.key = Some(&value),
            RowKind::Update => (body.key, body.tuple) = (Some(value.as_slice()), Some(empty.as_slice())),
            _ => body.tuple = Some(&value),
        }
        let mut bytes = Vec::new();
        match kind {
            RowKind::Nop => {}
            RowKind::Raft => bytes = pack("{0: 1}"),
            RowKind::Confirm | RowKind::Rollback | RowKind::Promote => bytes = pack(rest),
            _ => put_body(&mut bytes, &body),
        }
        put_row(
            &mut payload,
            &Row {
                kind,
                replica: replica.parse().unwrap(),
                lsn,
                timestamp: 1.5,
                group: 0,
                tsn: tsn.unwrap_or(lsn),
                is_commit: tsn.is_none() || place.ends_with(')'),
                flags,
                body: Body { bytes: &bytes, ..Body::default() },
            },
        );
    }
    payload
}

/// Applies blocks and shows the rows of each space, and the messages.
pub(crate) fn after(state: State, blocks: &[&str]) -> String {
    let mut state = state;
    for text in blocks {
        if let Err(trouble) = state.apply(&block(text)) {
            return match trouble {
                ApplyError::Rejected(rejected_row) => {
                    format!("row {}: {}", rejected_row.lsn, rejected_row.what)
                }
                ApplyError::Damage(damage) => damage.what.to_owned(),
            };
        }
    }
    let finished = match state.finish() {
        Ok(finished) => finished,
        Err(rejected_row) => return format!("row {}: {}", rejected_row.lsn, rejected_row.what),
    };
    let mut lines = Vec::new();
    for space in finished.spaces.iter().filter(|space| space.space.id >= 512) {
        let loaded = store::Loaded::new(&space.table.schema, space.batches.clone(), &space.dead).unwrap();
        let column = space.table.shape.tuple_column();
        let shown = loaded.rows().map(|row| match loaded.value(column, row) {
            Value::Bytes(tuple) => show(tuple),
            other => panic!("{other:?}"),
        });
        let shown: Vec<String> = shown.collect();
        if !shown.is_empty() {
            lines.push(format!("{}: {}", space.space.id, shown.join(" ")));
        }
    }
    lines.push(format!("{{{}}}", finished.vclock));
    lines.extend(finished.remarks);
    lines.extend(finished.left_out);
    lines.extend(
        finished
            .rejected
            .iter()
            .map(|rejected_row| format!("row {}: {}", rejected_row.lsn, rejected_row.what)),
    );
    lines.join("; ")
}

fn strict(blocks: &[&str]) -> String {
    after(state("{}", OnRejectedRow::Refuse), blocks)
}

#[test]
fn rows_come_and_go() {
    let rows = "
        1/1 insert 512 [1, \"a\"]
        1/2 insert 512 [2, \"b\"]
        1/3 nop
        1/4 replace 512 [1, \"c\"]
        1/5 delete 512 [2]
        1/6 delete 512 [9]
        1/7 update 512 [9]
        1/10 update 512 [2]
        1/11 raft
        1/12 insert 512 [2, \"d\"]
        1/13 delete 512 [2]
        1/14 update 512 [2]";
    let elections = "1 row tells of elections (terms, votes, leaders) and is not kept: what is exported \
        begins without, as a new instance does";
    assert_eq!(strict(&[rows]), format!("512: [1, \"c\"]; {{1: 14}}; {elections}"));
}

#[test]
fn rows_in_the_snapshot_are_skipped() {
    let rows = "
        1/4 insert 512 [4]
        1/5 insert 512 [5]
        2/1 insert 512 [21]
        2/2 insert 512 [22]
        0/1 insert 512 [1]";
    assert_eq!(
        after(state("{1: 4, 2: 1}", OnRejectedRow::Refuse), &[rows]),
        "512: [5] [22] [1]; {0: 1, 1: 5, 2: 2}"
    );
}

#[test]
fn only_whole_transactions_count() {
    let first = "
        1/1<1 insert 512 [1]
        1/2<1 insert 512 [2]";
    let last = "
        1/3<1) delete 512 [1]
        1/4 insert 512 [4]";
    assert_eq!(strict(&[first, last]), "512: [2] [4]; {1: 4}");
    assert_eq!(strict(&[first]), "row 1: its transaction has no end");
    let other = "1/3 insert 512 [3]";
    let end = "its transaction has no end";
    assert_eq!(
        after(state("{}", OnRejectedRow::LeaveOut), &[first]),
        format!("{{}}; row 1: {end}; row 2: {end}")
    );
    assert_eq!(strict(&[first, other]), format!("row 1: {end}"));
    let lenient = after(state("{}", OnRejectedRow::LeaveOut), &[first, other]);
    assert_eq!(lenient, format!("512: [3]; {{1: 3}}; row 1: {end}; row 2: {end}"));
}

/// Versions 2.8 to 2.10 of Tarantool wrote such logs.
#[test]
fn interleaved_transactions_are_told_apart_in_salvage() {
    let mixed = "
        1/1<1 replace 512 [1, 1]
        2/50<50 replace 512 [1, 2]
        1/2<1 replace 512 [2, 1]
        2/51<50 replace 512 [2, 2]
        1/3<1) replace 512 [3, 1]
        2/52<50) replace 512 [3, 2]";
    let lenient = |blocks: &[&str]| after(state("{}", OnRejectedRow::LeaveOut), blocks);
    assert_eq!(strict(&[mixed]), "row 1: its transaction has no end");
    assert_eq!(lenient(&[mixed]), "512: [1, 2] [2, 2] [3, 2]; {1: 3, 2: 52}");
    let lines: Vec<&str> = mixed.trim().lines().collect();
    assert_eq!(lenient(&lines), "512: [1, 2] [2, 2] [3, 2]; {1: 3, 2: 52}", "each row in a block of its own");
    let without = |number: usize| {
        let left: Vec<&str> =
            lines.iter().enumerate().filter(|(line, _)| *line != number).map(|(_, line)| *line).collect();
        lenient(&[&left.join("\n")])
    };
    let missing = "rows of its transaction before it are missing";
    let other = "another row of its transaction does not fit";
    let first = "512: [1, 1] [2, 1] [3, 1]; {1: 3, 2: 52}";
    assert_eq!(without(1), format!("{first}; row 51: {other}; row 52: {missing}"));
    assert_eq!(without(3), format!("{first}; row 50: {other}; row 52: {missing}"));
    let end = "its transaction has no end";
    assert_eq!(without(5), format!("512: [1, 1] [2, 1] [3, 1]; {{1: 3}}; row 50: {end}; row 51: {end}"));
}

#[test]
fn a_transaction_with_an_inapplicable_row_is_left_out_completely() {
    let before = "
        1/1 insert 512 [1, \"before\"]
        1/2 insert 512 [2, \"before\"]";
    let bad = "
        1/3<3 replace 512 [1, \"after\"]
        1/4<3 delete 512 [2]
        1/5<3 insert 512 [3, \"new\"]
        1/6<3) replace 999 [1]
        1/7 insert 512 [4]";
    let other = "another row of its transaction does not fit";
    let rows = after(state("{}", OnRejectedRow::LeaveOut), &[before, bad]);
    let lines = format!("row 3: {other}; row 4: {other}; row 5: {other}; row 6: there is no space 999");
    assert!(rows.ends_with(&format!("{{1: 7}}; {lines}")), "{rows}");
    for tuple in ["[1, \"before\"]", "[2, \"before\"]", "[4]"] {
        assert!(rows.contains(tuple), "{rows}");
    }
    assert!(!rows.contains("after") && !rows.contains("new"), "{rows}");
}

#[test]
fn synchronous_transactions_wait_for_a_verdict() {
    let rows = "
        1/1 insert 513 [1]
        1/2! insert 512 [2]
        1/3? insert 512 [3]
        1/4! insert 512 [4]";
    let confirm = |lsn| format!("1/5 confirm {{2: 1, 3: {lsn}}}");
    let rollback = |lsn| format!("1/6 rollback {{2: 1, 3: {lsn}}}");
    let waiting = "1 synchronous transactions were neither confirmed nor rolled back: they count, as in \
        Tarantool's memory";
    assert_eq!(strict(&[rows, &confirm(4)]), "512: [2] [3] [4]; 513: [1]; {1: 5}");
    assert_eq!(strict(&[rows, &confirm(2)]), format!("512: [2] [3] [4]; 513: [1]; {{1: 5}}; {waiting}"));
    // A transaction that waits only for others counts as soon as none before it waits. If one of those is
    // rolled back, so is this one.
    assert_eq!(strict(&[rows, &confirm(2), &rollback(3)]), "512: [2] [3]; 513: [1]; {1: 6}");
    assert_eq!(strict(&[rows, &rollback(2)]), format!("513: [1]; {{1: 6}}; {waiting}"));
    assert_eq!(strict(&[rows, &rollback(1)]), "{1: 6}");
    assert_eq!(
        strict(&[rows, "2/1 promote {2: 1, 3: 1, 83: 2}", "1/7 insert 512 [7]"]),
        "512: [7]; 513: [1]; {1: 7, 2: 1}; 1 row tells of elections (terms, votes, leaders) and is not kept: \
         what is exported begins without, as a new instance does"
    );
}

#[test]
fn inapplicable_rows_are_reported() {
    assert_eq!(strict(&["1/1 insert 600 [1]"]), "row 1: there is no space 600");
    assert_eq!(strict(&["1/1 insert 512 [\"x\"]"]), "row 1: a number without a sign is expected");
    assert_eq!(strict(&["1/1 other 512 [1]"]), "row 1: rows of kind 99 cannot be carried out");
    assert_eq!(
        strict(&["1/1 delete 512 [1, 2]"]),
        "row 1: a key has another number of parts than the primary key"
    );
    let lenient = after(state("{}", OnRejectedRow::LeaveOut), &["1/1 insert 600 [1]", "1/2 insert 512 [2]"]);
    assert_eq!(lenient, "512: [2]; {1: 2}; row 1: there is no space 600");
    let halves = ["1/1 insert 515 [1, 2]", "1/2 insert 515 [1, \"x\", 7]", "1/3 replace 515 [1, \"x\", 8]"];
    let lenient = after(state("{}", OnRejectedRow::LeaveOut), &halves);
    assert_eq!(lenient, "515: [1, \"x\", 8]; {1: 3}; row 1: text is expected");
    assert_eq!(
        strict(&["1/1 insert 514 [\"b\"]", "1/2 insert 514 [\"a\"]", "1/3 delete 514 [\"A\"]"]),
        "514: [\"b\"] [\"a\"]; {1: 3}; space s514 (514): index pk has the collation 999, which is not \
         defined: its rows are kept in the order they came in; space s514 (514): 1 changes in the logs left \
         the old tuples as they were, because its primary key cannot be represented"
    );
}

/// If very many rows cannot be applied, only the first are named.
#[test]
fn only_the_first_of_very_many_inapplicable_rows_are_named() {
    let mut state = state("{}", OnRejectedRow::LeaveOut);
    for lsn in 1..=REJECTED_ROWS_MAX + 7 {
        state.apply(&block(&format!("1/{lsn} insert 600 [1]"))).unwrap();
    }
    let finished = state.finish().unwrap();
    assert_eq!(finished.rejected.len(), REJECTED_ROWS_MAX);
    assert_eq!(finished.left_out, ["7 more rows of the logs that do not fit those before them"]);
}

#[test]
fn no_operation_changes_a_primary_key() {
    let row = |kind, body: Body| {
        let mut bytes = Vec::new();
        put_body(&mut bytes, &Body { space: Some(512), ..body });
        let mut payload = block("1/1 insert 512 [1, 1]");
        let body = Body { bytes: &bytes, ..Body::default() };
        let head = Row {
            kind,
            replica: 1,
            lsn: 2,
            timestamp: 1.5,
            group: 0,
            tsn: 2,
            is_commit: true,
            flags: 0,
            body,
        };
        put_row(&mut payload, &head);
        let mut state = state("{}", OnRejectedRow::Refuse);
        state.apply(&payload).map(|()| after(state, &[]))
    };
    let (key, tuple, operations) = (pack("[1]"), pack("[1, 9]"), pack("[[\"=\", 0, 2]]"));
    let upsert = Body { tuple: Some(&tuple), ops: Some(&operations), ..Body::default() };
    assert_eq!(row(RowKind::Upsert, upsert), Ok("512: [1, 1]; {1: 2}".to_owned()));
    let update = Body { key: Some(&key), tuple: Some(&operations), ..Body::default() };
    let rejected_row =
        tarantool::state::RejectedRow { lsn: 2, what: "an update changes the primary key".to_owned() };
    assert_eq!(row(RowKind::Update, update), Err(ApplyError::Rejected(rejected_row)));
}

#[test]
fn an_insert_may_replace_if_rows_are_missing() {
    let mut state = state("{1: 4}", OnRejectedRow::LeaveOut);
    let schema = SpaceTable::new(&state.spaces().get(512).unwrap().unwrap()).schema;
    let mut rows = store::Rows::new(&schema);
    for number in [1, 2] {
        rows.push(&[Value::U64(number), Value::Bytes(&pack(&format!("[{number}]")))]).unwrap();
    }
    let other = store::Loaded::new(&schema, vec![rows.clone()], &[]).unwrap();
    assert!(state.set_base(513, other).is_err_and(|what| what.contains("another table")));
    state.set_base(512, store::Loaded::new(&schema, vec![rows], &[]).unwrap()).unwrap();
    assert_eq!(after(state, &["1/9 insert 512 [2, \"new\"]"]), "512: [1] [2, \"new\"]; {1: 9}");
}

#[test]
fn errors_name_the_position_of_damage_in_a_log() {
    for thread_count in [1, 2] {
        let mut bytes = b"behind the header".to_vec();
        let mut places = Vec::new();
        for text in ["1/1 insert 512 [1]", "1/2 insert 512 [2]", "1/3 insert 512 [\"x\"]"] {
            let start = bytes.len();
            bytes.extend_from_slice(&raw_block(tarantool::PLAIN, &block(text)));
            let Ok(tarantool::Step::Block(place)) = tarantool::read_head(&bytes, start) else {
                panic!("no block")
            };
            places.push(place);
        }
        let apply = |bytes: &[u8], places: &[tarantool::BlockPlace]| {
            let mut state = state("{}", OnRejectedRow::Refuse);
            let done = AtomicU64::new(0);
            let log = LogFile { path: Path::new("1.xlog"), bytes, end: None };
            let progress = Watch(|stored| {
                done.fetch_add(stored, Ordering::Relaxed);
            });
            let result = apply_log(log, places.iter().cloned(), &mut state, thread_count, &progress);
            (result.map_err(|error| error.to_string()), done.load(Ordering::Relaxed), after(state, &[]))
        };
        let stored: u64 = places[..2].iter().map(|place| place.payload.len() as u64).sum();
        assert_eq!(apply(&bytes, &places[..2]), (Ok(()), stored, "512: [1] [2]; {1: 2}".to_owned()));
        assert_eq!(apply(&bytes, &[]), (Ok(()), 0, "{}".to_owned()));
        let rejected_row = Err("1.xlog: row 3: a number without a sign is expected".to_owned());
        assert_eq!(apply(&bytes, &places), (rejected_row, 0, "512: [1] [2]; {1: 3}".to_owned()));
        let last = places[1].payload.end - 1;
        bytes[last] ^= 1;
        let damage =
            format!("1.xlog is damaged at byte {}: a block's checksum does not fit", places[1].offset);
        assert_eq!(apply(&bytes, &places), (Err(damage), 0, "512: [1]; {1: 1}".to_owned()));
        // The block is sound, but its content is not rows.
        let start = places[1].offset;
        bytes.truncate(start);
        bytes.extend_from_slice(&raw_block(tarantool::PLAIN, b"\xc1"));
        let Ok(tarantool::Step::Block(place)) = tarantool::read_head(&bytes, start) else {
            panic!("no block")
        };
        let damage = format!("1.xlog is damaged at byte {start}: a map is expected");
        assert_eq!(
            apply(&bytes, &[places[0].clone(), place]),
            (Err(damage), 0, "512: [1]; {1: 1}".to_owned())
        );
    }
}

/// A transaction with more rows than one piece holds, and as many rows before and after it.
#[test]
fn a_block_applied_in_parts_gives_the_same_as_at_once() {
    for thread_count in [1, 2] {
        let line = |lsn: u32| match lsn {
            20_001..40_000 => format!("1/{lsn}<20001 replace 512 [{}, {lsn}]", lsn % 9000),
            40_000 => "1/40000<20001) delete 512 [7]".to_owned(),
            _ => format!("1/{lsn} replace 512 [{}, {lsn}]", lsn % 9000),
        };
        let lines: Vec<String> = (1..=60_000).map(line).collect();
        let payload = block(&lines.join("\n"));
        let mut at_once = state("{}", OnRejectedRow::Refuse);
        at_once.apply(&payload).unwrap();
        let bytes = raw_block(tarantool::COMPRESSED, &payload);
        let Ok(tarantool::Step::Block(place)) = tarantool::read_head(&bytes, 0) else { panic!("no block") };
        let stored_bytes = place.payload.len() as u64;
        let told = Mutex::new(Vec::new());
        let mut in_parts = state("{}", OnRejectedRow::Refuse);
        let log = LogFile { path: Path::new("1.xlog"), bytes: &bytes, end: None };
        let progress = Watch(|stored| told.lock().unwrap().push(stored));
        apply_log(log, std::iter::once(place), &mut in_parts, thread_count, &progress).unwrap();
        assert_eq!(after(in_parts, &[]), after(at_once, &[]));
        let told = told.into_inner().unwrap();
        assert!(told.len() > 3 && told.iter().sum::<u64>() == stored_bytes, "{told:?} of {stored_bytes}");
    }
}
