//! Random rows of logs: changed bytes never cause a panic, and many keys end as in a map.
//!
//! Input: random rows. Output: failures. Does not depend on how the state is kept.

use crate::state::{after, block, state};
use crate::values::{pack, show};
use store::Value;
use tarantool::state::OnRejectedRow;
use tarantool::{Body, Row, RowKind, put_body, put_row};

/// Returns rows of every kind: definitions, updates with all operations, upserts, a transaction, verdicts.
fn all_kinds() -> Vec<u8> {
    let mut payload = block(
        "1/1 insert 280 [600, 1, \"new\", \"memtx\", 0, {\"group_id\": 1}, [{\"name\": \"a\", \"type\": \
         \"unsigned\"}]]
         1/2 insert 288 [600, 0, \"pk\", \"tree\", {\"unique\": true}, [[0, \"unsigned\"]]]
         1/3 insert 288 [600, 1, \"x\", \"tree\", {}, [{\"field\": 2, \"type\": \"scalar\", \"is_nullable\": \
         true, \"path\": \"p[1]\"}]]
         1/4 insert 600 [1, 2, {\"p\": [1.5, \"x\"]}, \"text\"]
         1/5<5 insert 600 [2, 2, nil]
         1/6<5) delete 600 [2]
         1/7 insert 330 [512, 1]
         1/8! insert 513 [1]
         1/9 confirm {2: 1, 3: 8}
         1/10 delete 288 [600, 1]",
    );
    let operations = pack(
        "[[\"+\", 1, 1], [\"=\", \"[3].p[1]\", [1]], [\":\", 3, 1, 1, \"y\"], [\"!\", -1, 7], [\"^\", 4, 1], \
         [\"!\", -1, 8], [\"#\", 5, 1]]",
    );
    let (key, tuple) = (pack("[1]"), pack("[1, 2, {}]"));
    let update = Body { key: Some(&key), tuple: Some(&operations), ..Body::default() };
    let upsert = Body { tuple: Some(&tuple), ops: Some(&operations), ..Body::default() };
    for (lsn, kind, body) in [(11, RowKind::Update, update), (12, RowKind::Upsert, upsert)] {
        let mut bytes = Vec::new();
        put_body(&mut bytes, &Body { space: Some(600), index_base: Some(0), ..body });
        let body = Body { bytes: &bytes, ..Body::default() };
        let row = Row {
            kind,
            replica: 1,
            lsn,
            timestamp: 1.5,
            group: 0,
            tsn: lsn,
            is_commit: true,
            flags: 0,
            body,
        };
        put_row(&mut payload, &row);
    }
    payload
}

#[test]
fn changed_bytes_never_panic() {
    let payload = all_kinds();
    let mut whole = state("{}", OnRejectedRow::Refuse);
    whole.apply(&payload).unwrap();
    assert_eq!(after(whole, &[]), "513: [1]; 600: [1, 4, {\"p\": [[1], \"x\"]}, \"tyxt\", 7, 8]; {1: 12}");
    let mut random = testkit::Random::new(26);
    let mut outcomes = std::collections::BTreeSet::new();
    for _ in 0..20_000 {
        let mut changed = payload.clone();
        for _ in 0..=random.below(2) {
            let place = random.index(changed.len());
            changed[place] = *random
                .pick(&[0, 1, 0x7f, 0x80, 0x90, 0x9f, 0xa1, 0xc0, 0xc1, 0xcb, 0xcf, 0xd3, 0xdd, 0xdf, 0xff]);
        }
        let mut state = state("{}", OnRejectedRow::LeaveOut);
        let applied = state.apply(&changed);
        outcomes.insert((applied.is_ok(), state.finish().is_ok_and(|finished| finished.rejected.is_empty())));
    }
    assert_eq!(outcomes.len(), 4);
}

#[test]
fn many_keys_end_as_in_a_map() {
    let mut random = testkit::Random::new(26);
    let mut twin = std::collections::BTreeMap::new();
    let mut state = state("{}", OnRejectedRow::Refuse);
    for lsn in 1..400_000_u32 {
        let key = random.below(30_000);
        let line = if random.per_mille(300) {
            twin.remove(&key);
            format!("1/{lsn} delete 512 [{key}]")
        } else {
            twin.insert(key, lsn);
            format!("1/{lsn} replace 512 [{key}, {lsn}]")
        };
        state.apply(&block(&line)).unwrap();
    }
    let finished = state.finish().unwrap();
    let space = finished.spaces.iter().find(|space| space.space.id == 512).unwrap();
    assert!(space.batches.len() > 1);
    let loaded = store::Loaded::new(&space.table.schema, space.batches.clone(), &space.dead).unwrap();
    let mut rows: Vec<String> = loaded
        .rows()
        .map(|row| match loaded.value(1, row) {
            Value::Bytes(tuple) => show(tuple),
            other => panic!("{other:?}"),
        })
        .collect();
    let mut expected: Vec<String> = twin.iter().map(|(key, lsn)| format!("[{key}, {lsn}]")).collect();
    rows.sort();
    expected.sort();
    assert_eq!(rows, expected);
}
