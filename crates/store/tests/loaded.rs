//! Rows loaded into memory: what they answer before and after they are sealed, compared with maps.

use crate::support::{
    BY_GROUP, BY_ID, BY_RIGHT, BY_SIZE, Key, Row, TABLES, Twin, check, columns_of, directory, item, key_of,
    link, options, rows_of, schemas, shared, values,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use store::{
    Column, Error, Index, IndexKind, Kind, Loaded, PRIMARY, RowRef, Rows, Schema, Snapshot, Transaction,
    Value, Writer, verify,
};
use testkit::SimDisk;
use testkit::sim_disk::{Acknowledged, crash_at_every_operation, fail_at_every_operation};

/// Rows of one table in batches, the places of dead rows, and the live rows in order of arrival.
#[derive(Default)]
struct Arrived {
    batches: Vec<Vec<Row>>,
    dead: Vec<RowRef>,
    live: Vec<(RowRef, Row)>,
}

impl Arrived {
    /// Adds a row to the last batch. An older row with the same key becomes dead.
    fn put(&mut self, table: usize, row: Row) {
        self.delete(&key_of(table, &row), table);
        if self.batches.is_empty() {
            self.batches.push(Vec::new());
        }
        let source = self.batches.len() - 1;
        let number = |count: usize| u32::try_from(count).unwrap();
        let place = RowRef { source: number(source), row: number(self.batches[source].len()) };
        self.batches[source].push(row.clone());
        self.live.push((place, row));
    }

    fn delete(&mut self, key: &Key, table: usize) {
        if let Some(place) = self.live.iter().position(|(_, row)| key_of(table, row) == *key) {
            self.dead.push(self.live.remove(place).0);
        }
    }

    fn load(&self, table: usize) -> Loaded {
        let batches: Vec<Rows> = self.batches.iter().map(|list| rows_of(table, list)).collect();
        let schema = batches
            .first()
            .map_or_else(|| Arc::new(schemas()[table].clone()), |rows| Arc::clone(rows.schema()));
        Loaded::build(&schema, batches, &self.dead).unwrap()
    }

    fn check(&self, table: usize, indexes: &[&str]) {
        let loaded = self.load(table);
        assert_eq!(loaded.row_count(), self.live.len() as u64);
        assert_eq!(
            loaded.rows().collect::<Vec<_>>(),
            self.live.iter().map(|(place, _)| *place).collect::<Vec<_>>()
        );
        for (place, row) in &self.live {
            assert!(loaded.is_live(*place));
            let found: Row = (0..row.len()).map(|column| loaded.value(column, *place).to_owned()).collect();
            assert_eq!(found, *row);
        }
        assert!(self.dead.iter().all(|place| !loaded.is_live(*place)));
        for name in indexes {
            let schema = loaded.schema();
            let index = schema.index(name).map(|number| &schema.indexes[number]);
            let columns = index.map_or(&schema.primary, |index| &index.columns);
            let mut expected: BTreeMap<Key, Vec<RowRef>> = BTreeMap::new();
            for (place, row) in &self.live {
                expected.entry(columns_of(row, columns)).or_default().push(*place);
            }
            for (key, places) in &expected {
                assert_eq!(&loaded.find(name, &values(key)).unwrap(), places, "{name} {key:?}");
                assert_eq!(loaded.get(name, &values(key)).unwrap().as_ref(), places.last());
            }
            for place in &self.dead {
                let row: Row =
                    (0..schema.columns.len()).map(|column| loaded.value(column, *place).to_owned()).collect();
                let key = columns_of(&row, columns);
                let found = loaded.find(name, &values(&key)).unwrap();
                assert_eq!(found, expected.get(&key).cloned().unwrap_or_default());
            }
            if index.is_none_or(|index| index.kind == IndexKind::Ordered) {
                check_ranges(&loaded, name, &expected);
            } else {
                let error = loaded.range(name, Bound::Unbounded, Bound::Unbounded).err().unwrap();
                assert!(error.to_string().contains("has no order"), "{error}");
            }
        }
    }
}

/// Compares the ranges between all pairs of some keys and their prefixes, forwards and backwards.
fn check_ranges(loaded: &Loaded, name: &str, expected: &BTreeMap<Key, Vec<RowRef>>) {
    let all = loaded.range(name, Bound::Unbounded, Bound::Unbounded).unwrap();
    assert_eq!(all.collect::<Vec<_>>(), expected.values().flatten().copied().collect::<Vec<_>>());
    let step = expected.len().div_ceil(5).max(1);
    let ends: Vec<&Key> = expected.keys().step_by(step).collect();
    for low in &ends {
        for high in &ends {
            for (low_length, high_length) in [(low.len(), high.len()), (1, high.len()), (low.len(), 1)] {
                let (low, high) = (&low[..low_length], &high[..high_length]);
                let (low_values, high_values) = (values(low), values(high));
                let found =
                    loaded.range(name, Bound::Included(&low_values), Bound::Excluded(&high_values)).unwrap();
                let within = expected
                    .iter()
                    .filter(|(key, _)| key[..low_length] >= *low && key[..high_length] < *high);
                let wanted: Vec<RowRef> = within.flat_map(|(_, places)| places).copied().collect();
                let mut backwards: Vec<RowRef> = found.rev().collect();
                backwards.reverse();
                assert_eq!(backwards, wanted, "{name} from {low:?} to before {high:?}");
            }
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Put(usize, Row),
    Delete(usize, Key),
    Batch,
}

fn step() -> impl Strategy<Value = Step> {
    let item = (0_u32..40, 0_u32..6).prop_map(|(number, version)| (0, item(number, version)));
    let link = (0_u64..5, prop::sample::select(vec!["", "a", "a\0", "b", "long enough for a hint"]), 0_u8..3)
        .prop_map(|(left, right, weight)| (1, link(left, right, weight)));
    let put = prop_oneof![3 => item, 2 => link];
    prop_oneof![
        8 => put.clone().prop_map(|(table, row)| Step::Put(table, row)),
        2 => put.prop_map(|(table, row)| Step::Delete(table, key_of(table, &row))),
        1 => Just(Step::Batch),
    ]
}

fn seal(disk: &SimDisk, tables: &[&Loaded]) -> store::Result<Snapshot> {
    let mut writer = Writer::open_or_create(&shared(disk), directory(), &schemas(), options(20))?;
    writer.seal_loaded(tables, vec![("state".into(), b"loaded".to_vec())])?;
    writer.snapshot()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn loaded_rows_answer_as_maps_do_and_are_sealed(
        steps in prop::collection::vec(step(), 0..120), asks_first in any::<bool>(),
    ) {
        let mut arrived = [Arrived::default(), Arrived::default()];
        let mut twin = Twin::default();
        for step in steps {
            match step {
                Step::Put(table, row) => {
                    twin.tables[table].insert(key_of(table, &row), row.clone());
                    arrived[table].put(table, row);
                }
                Step::Delete(table, key) => {
                    twin.tables[table].remove(&key);
                    arrived[table].delete(&key, table);
                }
                Step::Batch => arrived.iter_mut().for_each(|arrived| arrived.batches.push(Vec::new())),
            }
        }
        arrived[0].check(0, &[PRIMARY, BY_ID, BY_GROUP, BY_SIZE]);
        arrived[1].check(1, &[PRIMARY, BY_RIGHT]);
        let tables = [arrived[0].load(0), arrived[1].load(1)];
        if asks_first {
            // The order that this computes is used again.
            let first = tables[1].range(PRIMARY, Bound::Unbounded, Bound::Unbounded).unwrap().next();
            prop_assert_eq!(first.is_some(), tables[1].row_count() > 0);
        }
        twin.attachments.insert("state".into(), b"loaded".to_vec());
        let disk = SimDisk::new(1);
        let snapshot = seal(&disk, &[&tables[0], &tables[1]]).unwrap();
        check(&snapshot, &twin).unwrap();
        let opened = Snapshot::open(&shared(&disk), directory()).unwrap();
        check(&opened, &twin).unwrap();
        prop_assert_eq!(verify(&opened), []);
    }
}

/// A table whose primary key also has a hash index.
fn numbers() -> Arc<Schema> {
    let column = |name: &str, kind| Column { name: name.into(), kind };
    let index = |name: &str, kind, columns: &[u16]| Index {
        name: name.into(),
        kind,
        unique: false,
        columns: columns.to_vec(),
    };
    Arc::new(Schema {
        name: "numbers".into(),
        columns: vec![column("first", Kind::U64), column("second", Kind::U64), column("text", Kind::Bytes)],
        primary: vec![0],
        indexes: vec![index("hashed", IndexKind::Hash, &[0]), index("second", IndexKind::Ordered, &[1])],
    })
}

#[test]
fn many_rows_answer_as_maps_do() {
    // A generator of random-looking numbers that are the same in each run.
    let mut state = 1_u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let schema = numbers();
    let (mut batches, mut firsts, mut seconds) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    for source in 0..30 {
        let mut rows = Rows::new(&schema);
        for row in 0..3000 {
            // Distinct keys that are far apart, and keys that are close together and often equal.
            let (first, second) = (next() << 20 | u64::from(row), next() % 20_000);
            rows.push(&[Value::U64(first), Value::U64(second), Value::Bytes(&first.to_le_bytes())]).unwrap();
            let place = RowRef { source, row };
            firsts.insert(first, place);
            seconds.entry(second).or_insert_with(Vec::new).push(place);
        }
        batches.push(rows);
    }
    let loaded = Loaded::build(&schema, batches, &[]).unwrap();
    let known: Vec<u64> = firsts.keys().copied().collect();
    for _ in 0..300_000 {
        let second = next() % 20_100;
        let found = loaded.find("second", &[Value::U64(second)]).unwrap();
        assert_eq!(found, seconds.get(&second).cloned().unwrap_or_default());
        let first = if next() % 2 == 0 {
            known[usize::try_from(next()).unwrap() % known.len()]
        } else {
            next() << 20
        };
        assert_eq!(loaded.get("hashed", &[Value::U64(first)]).unwrap(), firsts.get(&first).copied());
        assert_eq!(loaded.get(PRIMARY, &[Value::U64(first)]).unwrap(), firsts.get(&first).copied());
    }
    for _ in 0..300 {
        let (low, high) = (next() << 20, next() << 20);
        let ends = (Bound::Excluded(low), Bound::Included(high.max(low)));
        let (low, high) = ([Value::U64(low)], [Value::U64(high.max(low))]);
        let found = loaded.range(PRIMARY, Bound::Excluded(&low), Bound::Included(&high)).unwrap();
        assert!(found.eq(firsts.range(ends).map(|(_, place)| *place)));
    }
}

#[test]
fn the_youngest_row_of_a_key_answers_and_is_sealed() {
    let lists = [vec![item(3, 1), item(1, 1), item(3, 2)], vec![item(2, 1), item(1, 5), item(9, 1)]];
    let schema = Arc::new(schemas()[0].clone());
    let batches: Vec<Rows> = lists.iter().map(|list| rows_of(0, list)).collect();
    let loaded = Loaded::build(&schema, batches, &[RowRef { source: 1, row: 2 }]).unwrap();
    let of = |number: u32| loaded.get(PRIMARY, &[Value::U32(number)]).unwrap();
    assert_eq!(of(3), Some(RowRef { source: 0, row: 2 }));
    assert_eq!(of(1), Some(RowRef { source: 1, row: 1 }));
    assert_eq!(of(9), None);
    let disk = SimDisk::new(1);
    let snapshot = seal(&disk, &[&loaded]).unwrap();
    let mut twin = Twin::default();
    for row in [item(1, 5), item(2, 1), item(3, 2)] {
        twin.tables[0].insert(key_of(0, &row), row);
    }
    check(&snapshot, &twin).unwrap();
    assert_eq!(loaded.into_batches().len(), 2);
}

#[test]
fn invalid_loads_are_refused_and_change_nothing() {
    let schema = Arc::new(schemas()[0].clone());
    let rows = || rows_of(0, &[item(1, 1)]);
    let refused = |result: store::Result<Loaded>| result.unwrap_err().to_string();
    let dead = [RowRef { source: 0, row: 1 }];
    assert_eq!(
        refused(Loaded::new(&schema, vec![rows()], &dead)),
        "table items: there is no row 1 in batch 0"
    );
    let dead = [RowRef { source: 1, row: 0 }];
    assert_eq!(
        refused(Loaded::new(&schema, vec![rows()], &dead)),
        "table items: there is no row 0 in batch 1"
    );
    let other = Arc::new(schemas()[1].clone());
    assert!(refused(Loaded::new(&other, vec![rows()], &[])).contains("for other columns"));
    let loaded = Loaded::new(&schema, vec![rows()], &[]).unwrap();
    assert!(matches!(loaded.get("absent", &[]), Err(Error::Missing { .. })));
    assert!(matches!(loaded.get(PRIMARY, &[]), Err(Error::Schema { .. })));
    assert!(matches!(loaded.find(BY_ID, &[Value::U8(1)]), Err(Error::Schema { .. })));

    let disk = SimDisk::new(1);
    let mut writer = Writer::create(&shared(&disk), directory(), &schemas(), options(20)).unwrap();
    let error = |result: store::Result<store::Version>| result.unwrap_err().to_string();
    assert!(error(writer.seal_loaded(&[&loaded, &loaded], Vec::new())).contains("has rows already"));
    let numbers = Loaded::new(&numbers(), Vec::new(), &[]).unwrap();
    assert_eq!(error(writer.seal_loaded(&[&numbers], Vec::new())), "there is no table named numbers");
    let mut transaction = Transaction::new();
    transaction.put(rows_of(0, &[item(7, 1)]));
    writer.commit(transaction).unwrap();
    let before = writer.version();
    assert!(error(writer.seal_loaded(&[&loaded], Vec::new())).contains("has rows already"));
    assert_eq!(writer.version(), before);
}

#[test]
fn a_crash_or_refusal_during_a_seal_leaves_all_or_nothing() {
    let lists = [vec![item(5, 1), item(2, 1)], vec![item(9, 2), item(5, 3)]];
    let links = [link(3, "b", 1), link(1, "a", 2)];
    let schemas = schemas().into_iter().map(Arc::new).collect::<Vec<_>>();
    let items: Vec<Rows> = lists.iter().map(|list| rows_of(0, list)).collect();
    let items = Arc::new(Loaded::build(&schemas[0], items, &[]).unwrap());
    let links = Arc::new(Loaded::build(&schemas[1], vec![rows_of(1, &links)], &[]).unwrap());
    let mut after = Twin::default();
    for row in [item(2, 1), item(5, 3), item(9, 2)] {
        after.tables[0].insert(key_of(0, &row), row);
    }
    for row in [link(1, "a", 2), link(3, "b", 1)] {
        after.tables[1].insert(key_of(1, &row), row);
    }
    after.attachments.insert("state".into(), b"loaded".to_vec());
    let check_found = move |disk: &SimDisk, is_done: &bool| {
        let writer = Writer::open_or_create(
            &shared(disk),
            directory(),
            &schemas.iter().map(|schema| Schema::clone(schema)).collect::<Vec<_>>(),
            options(20),
        );
        let snapshot = writer.unwrap().snapshot().unwrap();
        let is_whole = snapshot.attachment("state").is_some();
        assert!(is_whole || !is_done, "what was acknowledged is there");
        check(&snapshot, if is_whole { &after } else { &EMPTY }).unwrap();
        assert_eq!(verify(&snapshot), []);
    };
    static EMPTY: Twin = Twin { tables: [BTreeMap::new(), BTreeMap::new()], attachments: BTreeMap::new() };
    let work = move |disk: &SimDisk, ledger: &Acknowledged<bool>| {
        seal(disk, &[&items, &links])?;
        ledger.record(|is_done| *is_done = true);
        Ok::<(), Error>(())
    };
    let runs = crash_at_every_operation(&SimDisk::new(21), false, work.clone(), check_found.clone());
    assert!(runs.operation_count > 20 && runs.checked_count > 60, "{runs:?}");
    fail_at_every_operation(&SimDisk::new(22), false, work, check_found);
}

fn seal_into(disk: &SimDisk, tables: &[&Loaded], note: &str) -> store::Result<()> {
    let note = vec![("state".to_owned(), note.into())];
    Writer::seal_into(&shared(disk), directory(), tables, note, options(20)).map(drop)
}

#[test]
fn a_new_store_has_all_its_rows_or_does_not_exist() {
    let schemas = schemas().into_iter().map(Arc::new).collect::<Vec<_>>();
    let load = |table: usize, row| Loaded::build(&schemas[table], vec![rows_of(table, &[row])], &[]).unwrap();
    let (items, links) = (Arc::new(load(0, item(5, 1))), Arc::new(load(1, link(3, "b", 1))));
    let check_found = {
        let (items, links) = (Arc::clone(&items), Arc::clone(&links));
        move |disk: &SimDisk, is_done: &bool| {
            match Snapshot::open(&shared(disk), directory()) {
                Err(error) if error.is_not_found() => assert!(!is_done, "what was acknowledged is there"),
                other => {
                    let snapshot = other.unwrap();
                    let counts: Vec<u64> = snapshot.tables().iter().map(store::Table::row_count).collect();
                    assert_eq!((counts, snapshot.attachment("state")), (vec![1, 1], Some(&b"both"[..])));
                    assert_eq!(verify(&snapshot), []);
                    let error = seal_into(disk, &[&items, &links], "again").unwrap_err().to_string();
                    assert!(error.contains("has rows already"), "{error}");
                    return;
                }
            }
            // Leftovers of the first attempt do not prevent other tables, and are removed.
            seal_into(disk, &[&links], "one").unwrap();
            let snapshot = Snapshot::open(&shared(disk), directory()).unwrap();
            assert_eq!((snapshot.tables().len(), snapshot.attachment("state")), (1, Some(&b"one"[..])));
            assert_eq!(verify(&snapshot), []);
            // manifest, journal, lock, segment.
            assert_eq!(disk.files().len(), 4, "{:?}", disk.files());
        }
    };
    let work = move |disk: &SimDisk, ledger: &Acknowledged<bool>| {
        seal_into(disk, &[&items, &links], "both")?;
        ledger.record(|is_done| *is_done = true);
        Ok::<(), Error>(())
    };
    let runs = crash_at_every_operation(&SimDisk::new(23), false, work.clone(), check_found.clone());
    assert!(runs.operation_count > 10 && runs.checked_count > 30, "{runs:?}");
    fail_at_every_operation(&SimDisk::new(24), false, work, check_found);
    // An existing empty store accepts only the tables for which it was created.
    let disk = SimDisk::new(25);
    drop(Writer::create(&shared(&disk), directory(), &[Schema::clone(&schemas[1])], options(20)).unwrap());
    let error = seal_into(&disk, &[&load(0, item(5, 1))], "other").unwrap_err().to_string();
    assert!(error.contains("with other columns or indexes"), "{error}");
    seal_into(&disk, &[&load(1, link(3, "b", 1))], "the same").unwrap();
}

#[test]
fn an_empty_load_can_be_sealed() {
    let loaded = Loaded::build(&Arc::new(schemas()[0].clone()), Vec::new(), &[]).unwrap();
    assert_eq!(loaded.get(PRIMARY, &[Value::U32(1)]).unwrap(), None);
    assert_eq!(loaded.find(BY_SIZE, &[Value::I64(1)]).unwrap(), []);
    assert_eq!(loaded.range(BY_GROUP, Bound::Unbounded, Bound::Unbounded).unwrap().count(), 0);
    let snapshot = seal(&SimDisk::new(1), &[&loaded]).unwrap();
    assert_eq!(snapshot.table(TABLES[0]).unwrap().row_count(), 0);
}

/// Repeated keys, in order and not, numbers and text, with and without a hash index over them.
#[test]
fn rows_that_a_later_row_replaces_are_reported() {
    let mut by_hash = schemas()[0].clone();
    by_hash.indexes = vec![Index {
        name: "primary_hash".into(),
        kind: IndexKind::Hash,
        unique: true,
        columns: by_hash.primary.clone(),
    }];
    let texts = ["a", "b", "long enough for a hint, x", "long enough for a hint, y"];
    let mut random = testkit::Random::new(26);
    let mut sizes = std::collections::BTreeSet::new();
    for round in 0..600 {
        let table = round % 2;
        let schema = Arc::new(if round % 4 == 2 { by_hash.clone() } else { schemas()[table].clone() });
        let (row_count, key_count) = (random.below(12), 1 + random.below(40));
        let mut keys: Vec<u64> = (0..row_count).map(|_| random.below(key_count)).collect();
        if random.per_mille(500) {
            keys.sort_unstable();
        }
        let mut batches = vec![Rows::new(&schema)];
        let mut places = Vec::new();
        for (number, key) in (0..).zip(keys) {
            let key = u32::try_from(key).unwrap();
            let row = match table {
                0 => item(key, number),
                _ => link(u64::from(key % 3), texts[(key / 3 % 4) as usize], 1),
            };
            if random.per_mille(200) {
                batches.push(Rows::new(&schema));
            }
            let source = batches.len() - 1;
            let place = RowRef { source: u32::try_from(source).unwrap(), row: batches[source].len() };
            batches[source].push(&values(&row)).unwrap();
            places.push((place, key_of(table, &row)));
        }
        let dead: Vec<RowRef> =
            places.iter().map(|(place, _)| *place).filter(|_| random.per_mille(150)).collect();
        let loaded = Loaded::build(&schema, batches, &dead).unwrap();
        assert_eq!(loaded.dead_rows(), dead);
        places.retain(|(place, _)| !dead.contains(place));
        let is_replaced = |at: usize| places[at + 1..].iter().any(|(_, key)| *key == places[at].1);
        let expected: Vec<RowRef> =
            (0..places.len()).filter(|&at| is_replaced(at)).map(|at| places[at].0).collect();
        assert_eq!(loaded.replaced(), expected, "round {round}");
        sizes.insert((round % 4, expected.len().min(2)));
    }
    assert_eq!(sizes.len(), 12, "each kind of table, with none, one and several");
}
