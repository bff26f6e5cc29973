//! Segments compared with a twin: what is written can be read, looked up and ranged over.

use crate::segment_support::{
    FORMS, PAYLOADS, Row, any_row, check_answers, key_of, path, read_row, rows_of, schema, twin_of, values,
    write_in, write_sorted,
};
use disk::Disk;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use store::{
    BytesSlice, Codec, Column, ColumnSlice, Error, Form, Index, IndexKind, Kind, Offsets, Order, OwnedValue,
    PayloadReader, RowRef, Rows, Schema, Segment, Source, Value, sort_by_primary, write_segment,
};
use testkit::{Random, SimDisk};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_segment_answers_like_its_twin(
        lists in prop::collection::vec(prop::collection::vec(any_row(), 0..20), 1..4),
        questions in prop::collection::vec(any_row(), 0..8),
    ) {
        let (disk, schema) = (SimDisk::new(1), schema());
        let batches: Vec<Rows> = lists.iter().map(|list| rows_of(&schema, list)).collect();
        let sources: Vec<&dyn Source> = batches.iter().map(|rows| rows as &dyn Source).collect();
        let twin = twin_of(&schema, &lists.concat());
        for form in FORMS {
            let segment = write_in(form, &disk, &schema, &sources);
            disk.remove(path()).unwrap();
            prop_assert!(segment.verify().is_empty(), "{:?}", segment.verify());
            check_answers(&segment, &twin, &questions).unwrap();
            let columns = (0..=PAYLOADS).map(|column| segment.column(column).unwrap());
            let columns: Vec<ColumnSlice> = columns.collect();
            for (number, row) in (0..).zip(&twin) {
                let found: Row =
                    columns.iter().map(|column| column.value(number).unwrap().to_owned()).collect();
                prop_assert_eq!(&found, &row[..=PAYLOADS]);
            }
        }
    }

    #[test]
    fn merged_segments_have_the_live_rows(
        lists in prop::collection::vec(prop::collection::vec(any_row(), 0..20), 3),
        dead in prop::collection::vec(any::<(u8, u8)>(), 0..20),
    ) {
        let (disk, schema) = (SimDisk::new(1), schema());
        let segments: Vec<Segment> = lists.iter().zip(FORMS).map(|(list, form)| {
            let segment = write_in(form, &disk, &schema, &[&rows_of(&schema, list)]);
            disk.remove(path()).unwrap();
            segment
        }).collect();
        let rows = rows_of(&schema, &lists[2]);
        let sources: [&dyn Source; 3] = [&segments[0], &segments[1], &rows];
        let is_live = |place: RowRef| !dead.iter().any(|&(source, row)| {
            (u32::from(source % 3), u32::from(row % 20)) == (place.source, place.row)
        });
        let mut live = Vec::new();
        let mut reader = PayloadReader::new();
        for source in 0..3 {
            for row in 0..sources[source as usize].row_count() {
                if is_live(RowRef { source, row }) {
                    live.push(match source {
                        2 => lists[2][row as usize].clone(),
                        _ => read_row(&segments[source as usize], row, &mut reader).unwrap(),
                    });
                }
            }
        }
        let sorted = sort_by_primary(&schema, &sources, &is_live).unwrap();
        let twin = twin_of(&schema, &live);
        prop_assert_eq!(sorted.replaced as usize, live.len() - twin.len());
        for form in FORMS {
            write_segment(&disk, path(), &schema, &sources, (sorted.order(), form)).unwrap();
            let merged = Segment::open(&disk, path(), &schema).unwrap();
            disk.remove(path()).unwrap();
            prop_assert!(merged.verify().is_empty());
            check_answers(&merged, &twin, &lists[2]).unwrap();
        }
    }
}

/// Returns the schema of a table whose rows are quick to make.
fn plain_schema(kinds: &[Kind], primary: &[u16], indexes: &[(IndexKind, bool, &[u16])]) -> Arc<Schema> {
    let columns = kinds.iter().enumerate().map(|(number, &kind)| Column { name: format!("c{number}"), kind });
    let indexes = indexes.iter().enumerate().map(|(number, &(kind, unique, columns))| Index {
        name: format!("i{number}"),
        kind,
        unique,
        columns: columns.to_vec(),
    });
    Arc::new(Schema {
        name: "plain".into(),
        columns: columns.collect(),
        primary: primary.to_vec(),
        indexes: indexes.collect(),
    })
}

fn names(random: &mut Random, row: u32) -> Vec<u8> {
    match row % 4 {
        0 => {
            format!("a long beginning that many names have in common/{:>6}", random.below(5000)).into_bytes()
        }
        1 => vec![b'0'; random.index(40)],
        2 => random.next_u64().to_be_bytes().to_vec(),
        _ => b"the same".to_vec(),
    }
}

/// Enough rows for many parts, blocks and waves, which small tables never reach.
#[test]
fn many_rows_are_sorted_and_found() {
    let schema = plain_schema(
        &[Kind::U64, Kind::Bytes, Kind::Id, Kind::I64],
        &[0],
        &[
            (IndexKind::Ordered, false, &[1]),
            (IndexKind::Ordered, false, &[3, 1]),
            (IndexKind::Hash, true, &[2]),
            (IndexKind::Hash, false, &[1]),
            (IndexKind::Hash, false, &[3]),
        ],
    );
    let mut random = Random::new(7);
    let mut list: Vec<Row> = Vec::new();
    for row in 0..60_000 {
        let mut id = [0; 32];
        random.fill(&mut id);
        list.push(vec![
            OwnedValue::U64(random.next_u64() >> (row % 40)),
            OwnedValue::Bytes(names(&mut random, row)),
            OwnedValue::Id(id),
            OwnedValue::I64(random.below(3000).cast_signed() - 1500),
        ]);
    }
    let disk = SimDisk::new(1);
    let batches = [rows_of(&schema, &list[..25_000]), rows_of(&schema, &list[25_000..])];
    let twin = twin_of(&schema, &list);
    for form in FORMS {
        check_many(&write_in(form, &disk, &schema, &[&batches[0], &batches[1]]), &twin);
        disk.remove(path()).unwrap();
    }
}

fn check_many(segment: &Segment, twin: &[Row]) {
    // `verify` checks that every index has every row, in order, and finds it by its key.
    assert!(segment.verify().is_empty(), "{:?}", segment.verify());
    let mut reader = PayloadReader::new();
    for (number, row) in (0..).zip(twin) {
        let found: Row = (0..4).map(|column| segment.value(column, number).unwrap().to_owned()).collect();
        assert_eq!(&found, row);
        assert_eq!(segment.primary_find(&values(&row[..1])).unwrap(), Some(number));
    }
    assert_eq!(segment.payload(1, 5, &mut reader).unwrap(), segment.bytes(1, 5).unwrap());
    for (index, columns) in [(0, &[1_u16][..]), (1, &[3, 1])] {
        let mut expected: Vec<(Row, u32)> =
            (0..).zip(twin).map(|(number, row)| (key_of(row, columns), number)).collect();
        expected.sort();
        let expected: Vec<u32> = expected.into_iter().map(|(_, number)| number).collect();
        assert_eq!(segment.rows_at(index, 0..segment.row_count()).unwrap(), expected);
    }
    let unknown = [0_u8; 32];
    let mut found = Vec::new();
    segment.find(2, &[Value::Id(&unknown)], &mut found).unwrap();
    segment.find(3, &[Value::Bytes(b"not there")], &mut found).unwrap();
    assert!(found.is_empty());
}

#[test]
fn the_bytes_do_not_depend_on_the_number_of_threads() {
    let schema = schema();
    let mut random = Random::new(3);
    let list: Vec<Row> = (0..20_000)
        .map(|row| {
            let mut id = [0; 32];
            random.fill(&mut id);
            let payload = || OwnedValue::Bytes(format!("payload {} of {row}", row % 100).into_bytes());
            let mut row = vec![
                OwnedValue::U32(row % 1000),
                OwnedValue::Bytes(names(&mut random, row)),
                OwnedValue::I64(i64::from(row) - 7),
                OwnedValue::Id(id),
                OwnedValue::U8(3),
                OwnedValue::U16(4),
                OwnedValue::U64(5),
            ];
            row.extend(std::iter::repeat_with(payload).take(7));
            row
        })
        .collect();
    let rows = rows_of(&schema, &list);
    let bytes_with = |threads: usize, form| {
        let disk = SimDisk::new(1);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| write_in(form, &disk, &schema, &[&rows]));
        disk.read(path()).unwrap()
    };
    for form in FORMS {
        let one = bytes_with(1, form);
        assert!(one == bytes_with(2, form) && one == bytes_with(7, form));
    }
}

#[test]
fn rows_in_order_need_no_list() {
    let schema = plain_schema(&[Kind::U32, Kind::Bytes], &[0, 1], &[(IndexKind::Ordered, false, &[1])]);
    let list: Vec<Row> = (0..1000_u32)
        .map(|n| vec![OwnedValue::U32(n / 7), OwnedValue::Bytes(vec![u8::try_from(n % 7).unwrap()])])
        .collect();
    let batches = [rows_of(&schema, &list[..400]), rows_of(&schema, []), rows_of(&schema, &list[400..])];
    let sources: [&dyn Source; 3] = [&batches[0], &batches[1], &batches[2]];
    let sorted = sort_by_primary(&schema, &sources, &|_| true).unwrap();
    assert!(sorted.rows.is_none() && sorted.replaced == 0);
    let disk = SimDisk::new(1);
    let segment = write_sorted(&disk, &schema, &sources);
    assert_eq!(segment.u32s(0, 0..1000).unwrap(), (0..1000).map(|n| n / 7).collect::<Vec<u32>>());
    assert!(segment.verify().is_empty());
}

#[test]
fn no_rows_and_one_row_make_segments() {
    let (disk, schema) = (SimDisk::new(1), schema());
    let empty = write_sorted(&disk, &schema, &[]);
    let tree = any_row().new_tree(&mut TestRunner::deterministic());
    let row: Row = tree.unwrap().current();
    check_answers(&empty, &[], std::slice::from_ref(&row)).unwrap();
    assert!(empty.verify().is_empty());
    disk.remove(path()).unwrap();
    let one = write_sorted(&disk, &schema, &[&rows_of(&schema, [&row])]);
    check_answers(&one, std::slice::from_ref(&row), &[]).unwrap();
    assert!(one.verify().is_empty());
}

#[test]
#[should_panic(expected = "strict primary-key order")]
fn an_invalid_order_is_refused() {
    let schema = plain_schema(&[Kind::U32], &[0], &[]);
    let rows = rows_of(&schema, &[vec![OwnedValue::U32(1)], vec![OwnedValue::U32(1)]]);
    let _ = write_segment(&SimDisk::new(1), path(), &schema, &[&rows], (Order::AsIs, Form::Plain));
}

/// A source that states a row count and nothing else.
struct Many(u32);

impl Source for Many {
    fn row_count(&self) -> u32 {
        self.0
    }

    fn column(&self, _: usize) -> store::Result<ColumnSlice<'_>> {
        unreachable!("it is refused before it is read")
    }

    fn value(&self, _: usize, _: u32) -> store::Result<Value<'_>> {
        unreachable!("it is refused before it is read")
    }

    fn payload<'a>(&'a self, _: usize, _: u32, _: &'a mut PayloadReader) -> store::Result<&'a [u8]> {
        unreachable!("it is refused before it is read")
    }
}

#[test]
fn too_many_rows_are_refused() {
    let schema = plain_schema(&[Kind::U32], &[0], &[]);
    let disk = SimDisk::new(1);
    let many = Many(store::limits::ROWS_PER_SEGMENT_MAX + 1);
    let refused = write_segment(&disk, path(), &schema, &[&many], (Order::AsIs, Form::Plain));
    assert!(matches!(refused, Err(Error::Limit { what: "rows in a segment", .. })), "{refused:?}");
    let three: [&dyn Source; 3] = [&many, &many, &many];
    let refused = write_segment(&disk, path(), &schema, &three, (Order::AsIs, Form::Plain));
    assert!(matches!(refused, Err(Error::Limit { what: "rows to put in order", .. })), "{refused:?}");
}

/// A source with two rows of bytes. The second points outside the bytes.
struct Broken;

impl Source for Broken {
    fn row_count(&self) -> u32 {
        2
    }

    fn column(&self, _: usize) -> store::Result<ColumnSlice<'_>> {
        let offsets = Offsets::Small([0, 2, 9][..].into());
        Ok(ColumnSlice::Bytes(BytesSlice { offsets, blob: b"abc" }))
    }

    fn value(&self, _: usize, row: u32) -> store::Result<Value<'_>> {
        if row == 0 { Ok(Value::Bytes(b"ab")) } else { Err(Error::Missing { what: "row", name: "1".into() }) }
    }

    fn payload<'a>(&'a self, _: usize, _: u32, _: &'a mut PayloadReader) -> store::Result<&'a [u8]> {
        unreachable!("bytes are no payload")
    }
}

#[test]
fn a_damaged_source_is_an_error_everywhere() {
    let bytes = &[Kind::Bytes][..];
    let schema = plain_schema(bytes, &[0], &[]);
    let sorted = sort_by_primary(&schema, &[&Broken], &|_| true);
    assert!(matches!(sorted, Err(Error::Missing { .. })), "{sorted:?}");
    let order = [RowRef { source: 0, row: 1 }, RowRef { source: 0, row: 0 }];
    for order in [Order::AsIs, Order::Chosen(&order)] {
        let written = write_segment(&SimDisk::new(1), path(), &schema, &[&Broken], (order, Form::Plain));
        assert!(matches!(written, Err(Error::Missing { .. })), "{written:?}");
    }
}

#[test]
fn invalid_queries_are_errors() {
    let (disk, schema) = (SimDisk::new(1), schema());
    let segment = write_sorted(&disk, &schema, &[]);
    let key = [Value::U32(1), Value::Bytes(b"x"), Value::U8(1)];
    let mut found = Vec::new();
    let refused: [store::Result<()>; 11] = [
        segment.u32s(1, 0..0).map(drop),
        segment.u32s(0, 0..1).map(drop),
        segment.u8s(99, 0..0).map(drop),
        segment.value(0, 0).map(drop),
        segment.bytes(0, 0).map(drop),
        segment.column(8).map(drop),
        segment.primary_find(&key[..1]).map(drop),
        segment.primary_range(Bound::Included(&key), Bound::Unbounded).map(drop),
        segment.index_range(0, Bound::Unbounded, Bound::Unbounded).map(drop),
        segment.find(0, &key[..1], &mut found),
        segment.find(99, &key[..1], &mut found),
    ];
    for (number, refused) in refused.into_iter().enumerate() {
        assert!(matches!(refused, Err(Error::Schema { .. })), "{number}: {refused:?}");
    }
    let other = plain_schema(&[Kind::U32], &[0], &[]);
    let refused = Segment::open(&disk, path(), &other).unwrap_err();
    assert!(matches!(refused, Error::Schema { .. }), "{refused}");
    let missing = Segment::open(&disk, Path::new("/nowhere"), &schema).unwrap_err();
    assert!(missing.is_not_found());
}

/// Values larger than one wave of writing, and empty ones.
#[test]
fn large_values_come_back() {
    let payload = |codec| Kind::Payload(codec);
    let schema = plain_schema(
        &[
            Kind::U32,
            Kind::Bytes,
            payload(Codec::Lz4 { block_bytes: 4096 }),
            payload(Codec::Zstd { level: 1, block_bytes: 0 }),
            payload(Codec::Zstd { level: 1, block_bytes: 1 << 20 }),
        ],
        &[0],
        &[],
    );
    let mut list = Vec::new();
    for number in (0..9_u32).rev() {
        let value =
            OwnedValue::Bytes(vec![b'a'; [0, 3_000_000, 70_000][number as usize % 3] + number as usize]);
        list.push(vec![OwnedValue::U32(number), value.clone(), value.clone(), value.clone(), value]);
    }
    let disk = SimDisk::new(1);
    let segment = write_sorted(&disk, &schema, &[&rows_of(&schema, &list)]);
    assert!(segment.verify().is_empty());
    let mut reader = PayloadReader::new();
    for row in &list {
        let OwnedValue::U32(number) = row[0] else { unreachable!() };
        for (column, value) in row.iter().enumerate().skip(1) {
            let found = segment.payload(column, number, &mut reader).unwrap();
            assert!(Value::Bytes(found) == value.as_value(), "column {column} of row {number}");
        }
    }
}

/// Rows of which each column can be packed, but for random numbers.
#[test]
fn packed_columns_are_smaller_and_equal() {
    let kinds = [Kind::U32, Kind::U8, Kind::U16, Kind::U64, Kind::I64, Kind::U64, Kind::Bytes];
    let indexes = [(IndexKind::Ordered, false, &[3_u16][..]), (IndexKind::Ordered, false, &[4])];
    let schema = plain_schema(&kinds, &[0], &indexes);
    let mut random = Random::new(9);
    // More rows than are packed at a time.
    let row = |n: u32, random: &mut Random| {
        vec![
            OwnedValue::U32(if n.is_multiple_of(50) { u32::MAX - n } else { n }),
            OwnedValue::U8(255 - u8::try_from(n % 3).unwrap()),
            OwnedValue::U16(40_000 + u16::try_from(n % 700).unwrap()),
            OwnedValue::U64(u64::MAX / 2 + u64::from(n % 1000)),
            OwnedValue::I64(if n == 70_000 { i64::MIN } else { 500 - i64::from(n) }),
            OwnedValue::U64(random.next_u64()),
            OwnedValue::Bytes(vec![b'x'; n as usize % 5]),
        ]
    };
    let list: Vec<Row> = (0..140_000).map(|n| row(n, &mut random)).collect();
    let (disk, twin) = (SimDisk::new(1), twin_of(&schema, &list));
    let plain = write_sorted(&disk, &schema, &[&rows_of(&schema, &list)]);
    disk.remove(path()).unwrap();
    let packed = write_in(Form::Packed, &disk, &schema, &[&plain]);
    assert!(packed.verify().is_empty(), "{:?}", packed.verify());
    assert!(packed.file_bytes() < plain.file_bytes() / 2, "{packed:?} {plain:?}");
    for (number, row) in (0..).zip(&twin) {
        let found: Row = (0..7).map(|column| packed.value(column, number).unwrap().to_owned()).collect();
        assert_eq!(&found, row);
    }
    for range in [0..140_000, 5..6, 255..257, 65_500..65_600, 139_999..140_000, 7..7] {
        assert_eq!(packed.u8s(1, range.clone()).unwrap(), plain.u8s(1, range.clone()).unwrap());
        assert_eq!(packed.i64s(4, range.clone()).unwrap(), plain.i64s(4, range.clone()).unwrap());
        assert_eq!(packed.rows_at(0, range.clone()).unwrap(), plain.rows_at(0, range.clone()).unwrap());
        assert_eq!(packed.rows_at(1, range.clone()).unwrap(), plain.rows_at(1, range).unwrap());
    }
    assert!(packed.u8s(1, 0..140_001).is_err() && packed.value(1, 140_000).is_err());
}
