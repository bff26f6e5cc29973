//! Tests that memory grows with the rows of a space, and not with the number of changes.

use super::*;
use crate::msgpack::{put_array_len, put_map_len, put_str, put_uint};
use crate::space::Spaces;
use std::collections::BTreeMap;
use testkit::Random;

/// Returns a space of tuples whose first field is a number and the key.
fn space() -> Space {
    let mut spaces = Spaces::new();
    let begin = |first: u64, second: u64, names: [&str; 2], length| {
        let mut out = Vec::new();
        put_array_len(&mut out, length);
        put_uint(&mut out, first);
        put_uint(&mut out, second);
        names.iter().for_each(|name| put_str(&mut out, name.as_bytes()));
        out
    };
    let mut definition = begin(512, 1, ["s", "memtx"], 7);
    put_uint(&mut definition, 0);
    put_map_len(&mut definition, 0);
    put_array_len(&mut definition, 0);
    spaces.set_space(&definition).expect("it is one");
    let mut index = begin(512, 0, ["pk", "tree"], 6);
    put_map_len(&mut index, 0);
    put_array_len(&mut index, 1);
    put_array_len(&mut index, 2);
    put_uint(&mut index, 0);
    put_str(&mut index, b"unsigned");
    spaces.set_index(&index).expect("it is one");
    spaces.get(512).ok().flatten().expect("it is defined")
}

fn tuple(key: u64, length: usize) -> Vec<u8> {
    let mut out = Vec::new();
    put_array_len(&mut out, 2);
    put_uint(&mut out, key);
    put_str(&mut out, &vec![b'x'; length]);
    out
}

#[test]
fn memory_grows_with_the_rows_and_not_with_what_is_done_to_them() {
    const KEYS: u64 = 60;
    let table = SpaceTable::new(&space());
    let mut twin = BTreeMap::new();
    let mut base = Rows::new(&table.schema);
    for key in 0..KEYS / 2 {
        base.push(&[Value::U64(key), Value::Bytes(&tuple(key, 1))]).unwrap();
        twin.insert(key, tuple(key, 1));
    }
    let base = Loaded::new(&table.schema, vec![base], &[]).unwrap();
    let mut rows = SpaceRows::new(space(), Some(base));
    (rows.dead_bytes_min, rows.count_at_bytes) = (5000, 5000);
    let mut random = Random::new(26);
    let (mut put_bytes, mut bytes_max) = (0, 0);
    for _ in 0..30_000 {
        let key = random.below(KEYS);
        let new = tuple(key, random.index(300));
        if random.per_mille(200) {
            rows.delete(&[OwnedValue::U64(key)]);
            twin.remove(&key);
            continue;
        }
        put_bytes += new.len();
        if random.per_mille(500) {
            rows.put(&new, Before::Perhaps).unwrap();
        } else {
            rows.settle();
            match rows.find(&[OwnedValue::U64(key)]) {
                Some(found) => {
                    assert_eq!(Some(rows.tuple(found)), twin.get(&key).map(Vec::as_slice));
                    rows.replace(found, &new).unwrap();
                }
                None => rows.put(&new, Before::Nothing).unwrap(),
            }
        }
        twin.insert(key, new);
        bytes_max = bytes_max.max(rows.put.bytes());
    }
    let live_bytes_max = 60 * 350;
    assert!(bytes_max < 3 * live_bytes_max + 3 * 5000 && put_bytes > 3_000_000, "{bytes_max} of {put_bytes}");
    assert_eq!(rows.row_count(), twin.len() as u64);
    let finished = rows.finish().unwrap();
    let loaded = Loaded::new(&finished.table.schema, finished.batches, &finished.dead).unwrap();
    let found: Vec<Vec<u8>> = loaded.rows().map(|row| tuple_of(&loaded, row).to_vec()).collect();
    let found: BTreeMap<u64, Vec<u8>> = found.into_iter().map(|tuple| (key_of(&tuple), tuple)).collect();
    assert_eq!(loaded.row_count(), twin.len() as u64);
    assert_eq!(found, twin);
}

fn key_of(tuple: &[u8]) -> u64 {
    let mut reader = Reader::new(tuple);
    reader.array_len().and_then(|_| reader.uint()).expect("its first field is a number")
}
