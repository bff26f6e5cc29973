//! Shared by the tests of segments: a table with a column of every kind and every codec, and its twin, a list
//! of rows.

use proptest::prelude::*;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use store::{
    Codec, Column, ColumnSlice, Form, Index, IndexKind, Kind, OwnedValue, PayloadReader, Rows, Schema,
    Segment, Source, Value, compare_prefix, sort_by_primary, write_segment,
};
use testkit::SimDisk;

/// All forms of numbers.
pub(crate) const FORMS: [Form; 2] = [Form::Plain, Form::Packed];

pub(crate) type Row = Vec<OwnedValue>;

/// The number of the first payload column.
pub(crate) const PAYLOADS: usize = 7;

/// Where the tests put their file.
pub(crate) fn path() -> &'static Path {
    Path::new("/table.segment")
}

pub(crate) fn schema() -> Arc<Schema> {
    let column = |name: &str, kind| Column { name: name.into(), kind };
    let index = |name: &str, kind, unique, columns: &[u16]| Index {
        name: name.into(),
        kind,
        unique,
        columns: columns.to_vec(),
    };
    let dictionary =
        |block_bytes| Kind::Payload(Codec::ZstdDictionary { level: 3, dictionary_bytes: 1024, block_bytes });
    Arc::new(Schema {
        name: "all_kinds".into(),
        columns: vec![
            column("u32", Kind::U32),
            column("bytes", Kind::Bytes),
            column("i64", Kind::I64),
            column("id", Kind::Id),
            column("u8", Kind::U8),
            column("u16", Kind::U16),
            column("u64", Kind::U64),
            column("none", Kind::Payload(Codec::None)),
            column("lz4", Kind::Payload(Codec::Lz4 { block_bytes: 0 })),
            column("lz4_blocks", Kind::Payload(Codec::Lz4 { block_bytes: 64 })),
            column("zstd", Kind::Payload(Codec::Zstd { level: 3, block_bytes: 0 })),
            column("zstd_blocks", Kind::Payload(Codec::Zstd { level: 1, block_bytes: 300 })),
            column("dictionary", dictionary(0)),
            column("dictionary_blocks", dictionary(200)),
        ],
        primary: vec![0, 1],
        indexes: vec![
            index("id", IndexKind::Hash, true, &[3]),
            index("u8", IndexKind::Hash, false, &[4]),
            index("i64_bytes", IndexKind::Hash, false, &[2, 1]),
            index("wrongly_unique", IndexKind::Hash, true, &[1]),
            index("i64", IndexKind::Ordered, false, &[2]),
            index("u8_bytes", IndexKind::Ordered, false, &[4, 1]),
            index("bytes_u16", IndexKind::Ordered, false, &[1, 5]),
            index("ids", IndexKind::Ordered, true, &[3]),
            index("bytes", IndexKind::Ordered, false, &[1]),
        ],
    })
}

/// Few distinct values, so that keys are often equal or share a beginning; also zeros, 0xff and negative
/// numbers.
pub(crate) fn any_row() -> impl Strategy<Value = Row> {
    let key_bytes = prop_oneof![
        prop::collection::vec(prop_oneof![Just(0_u8), Just(0xff), Just(b'a')], 0..4),
        prop::collection::vec(Just(b'x'), 7..20),
        (0_u8..3).prop_map(|last| [b"a common beginning of keys".as_slice(), &[last]].concat()),
    ];
    let text = || "[ab ]{0,40}".prop_map(|text| OwnedValue::Bytes(text.into_bytes()));
    let numbers = (
        0_u32..6,
        prop_oneof![-2_i64..3, Just(i64::MIN), Just(i64::MAX)],
        0_u8..3,
        any::<u16>(),
        any::<u64>(),
    );
    let payloads = [text(), text(), text(), text(), text(), text(), text()];
    (numbers, key_bytes, prop::array::uniform32(0_u8..2), payloads).prop_map(
        |((a, c, e, f, g), b, id, payloads)| {
            let mut row = vec![
                OwnedValue::U32(a),
                OwnedValue::Bytes(b),
                OwnedValue::I64(c),
                OwnedValue::Id(id),
                OwnedValue::U8(e),
                OwnedValue::U16(f),
                OwnedValue::U64(g),
            ];
            row.extend(payloads);
            row
        },
    )
}

pub(crate) fn values(row: &[OwnedValue]) -> Vec<Value<'_>> {
    row.iter().map(OwnedValue::as_value).collect()
}

pub(crate) fn rows_of<'a>(schema: &Arc<Schema>, list: impl IntoIterator<Item = &'a Row>) -> Rows {
    let mut rows = Rows::new(schema);
    for row in list {
        rows.push(&values(row)).unwrap();
    }
    rows
}

/// Writes the rows of all sources in key order to [`path`].
pub(crate) fn write_sorted(disk: &SimDisk, schema: &Arc<Schema>, sources: &[&dyn Source]) -> Segment {
    write_in(Form::Plain, disk, schema, sources)
}

/// Does the same with numbers in a form.
pub(crate) fn write_in(form: Form, disk: &SimDisk, schema: &Arc<Schema>, sources: &[&dyn Source]) -> Segment {
    let sorted = sort_by_primary(schema, sources, &|_| true).unwrap();
    let written = write_segment(disk, path(), schema, sources, (sorted.order(), form)).unwrap();
    let segment = Segment::open(disk, path(), schema).unwrap();
    assert_eq!((written.row_count, written.file_bytes), (segment.row_count(), segment.file_bytes()));
    segment
}

pub(crate) fn key_of(row: &Row, columns: &[u16]) -> Row {
    columns.iter().map(|&column| row[usize::from(column)].clone()).collect()
}

/// Returns the rows that the segment must have: the last row of each key, in key order.
pub(crate) fn twin_of(schema: &Schema, list: &[Row]) -> Vec<Row> {
    let mut by_key = std::collections::BTreeMap::new();
    for row in list {
        by_key.insert(key_of(row, &schema.primary), row.clone());
    }
    by_key.into_values().collect()
}

pub(crate) fn read_row(segment: &Segment, row: u32, reader: &mut PayloadReader) -> store::Result<Row> {
    (0..segment.schema().columns.len())
        .map(|column| {
            if column < PAYLOADS {
                return Ok(segment.value(column, row)?.to_owned());
            }
            Ok(OwnedValue::Bytes(segment.payload(column, row, reader)?.to_vec()))
        })
        .collect()
}

/// Returns whether a key is in a range whose ends may be prefixes. A prefix means all keys that begin with
/// it.
fn in_range(key: &[Value], from: Bound<&[Value]>, to: Bound<&[Value]>) -> bool {
    let against = |bound: &[Value]| compare_prefix(key.iter().copied(), bound);
    let after_start = match from {
        Bound::Unbounded => true,
        Bound::Included(bound) => against(bound).is_ge(),
        Bound::Excluded(bound) => against(bound).is_gt(),
    };
    after_start
        && match to {
            Bound::Unbounded => true,
            Bound::Included(bound) => against(bound).is_le(),
            Bound::Excluded(bound) => against(bound).is_lt(),
        }
}

/// Returns the numbers of the twin's rows whose keys are in a range, ordered by key, then by row.
pub(crate) fn twin_range(
    twin: &[Row],
    columns: &[u16],
    from: Bound<&[Value]>,
    to: Bound<&[Value]>,
) -> Vec<u32> {
    let mut found: Vec<(Row, u32)> = (0..)
        .zip(twin)
        .map(|(number, row)| (key_of(row, columns), number))
        .filter(|(key, _)| in_range(&values(key), from, to))
        .collect();
    found.sort();
    found.into_iter().map(|(_, number)| number).collect()
}

pub(crate) fn twin_find(twin: &[Row], columns: &[u16], key: &[Value]) -> Vec<u32> {
    let has_key = |row: &Row| compare_prefix(values(&key_of(row, columns)), key).is_eq();
    (0..).zip(twin).filter(|(_, row)| has_key(row)).map(|(number, _)| number).collect()
}

/// Compares every answer of a segment with the twin. `questions` are rows whose keys are looked up.
pub(crate) fn check_answers(segment: &Segment, twin: &[Row], questions: &[Row]) -> store::Result<()> {
    let schema = Arc::clone(segment.schema());
    assert_eq!(segment.row_count() as usize, twin.len());
    let mut reader = PayloadReader::with_cache(500);
    for (number, row) in (0..).zip(twin) {
        assert_eq!(&read_row(segment, number, &mut reader)?, row, "row {number}");
    }
    for question in twin.iter().chain(questions) {
        check_primary(segment, twin, &key_of(question, &schema.primary))?;
        for (number, index) in schema.indexes.iter().enumerate() {
            let key = key_of(question, &index.columns);
            let mut found = Vec::new();
            segment.find(number, &values(&key), &mut found)?;
            assert_eq!(found, twin_find(twin, &index.columns, &values(&key)), "{} {key:?}", index.name);
        }
    }
    check_ranges(segment, twin, questions)?;
    check_batch(segment, twin, questions)
}

fn check_primary(segment: &Segment, twin: &[Row], key: &Row) -> store::Result<()> {
    let primary = &segment.schema().primary;
    let expected = twin_find(twin, primary, &values(key));
    assert_eq!(segment.primary_find(&values(key))?, expected.first().copied());
    for length in 0..=key.len() {
        let prefix = &values(key)[..length];
        let rows: Vec<u32> =
            segment.primary_range(Bound::Included(prefix), Bound::Included(prefix))?.collect();
        assert_eq!(rows, twin_find(twin, primary, prefix));
    }
    Ok(())
}

/// Reads every kind of range between neighbouring questions, with whole keys and with prefixes.
fn check_ranges(segment: &Segment, twin: &[Row], questions: &[Row]) -> store::Result<()> {
    let schema = segment.schema();
    for pair in questions.windows(2) {
        for (number, columns) in std::iter::once((None, &schema.primary))
            .chain(schema.indexes.iter().enumerate().map(|(number, index)| (Some(number), &index.columns)))
        {
            if number.is_some_and(|number| schema.indexes[number].kind == IndexKind::Hash) {
                continue;
            }
            let keys = (key_of(&pair[0], columns), key_of(&pair[1], columns));
            let (one, two) = (values(&keys.0), values(&keys.1));
            for (from, to) in bounds(&one, &two) {
                let found: Vec<u32> = match number {
                    None => segment.primary_range(from, to)?.collect(),
                    Some(number) => {
                        let positions = segment.index_range(number, from, to)?;
                        segment.rows_at(number, positions)?.to_vec()
                    }
                };
                assert_eq!(found, twin_range(twin, columns, from, to), "{number:?} {from:?} {to:?}");
            }
        }
    }
    Ok(())
}

type Range<'a> = (Bound<&'a [Value<'a>]>, Bound<&'a [Value<'a>]>);

fn bounds<'a>(one: &'a [Value<'a>], two: &'a [Value<'a>]) -> Vec<Range<'a>> {
    let ends = |key: &'a [Value<'a>]| {
        [
            Bound::Unbounded,
            Bound::Included(key),
            Bound::Excluded(key),
            Bound::Included(&key[..1]),
            Bound::Excluded(&key[..1]),
        ]
    };
    ends(one).into_iter().flat_map(|from| ends(two).map(|to| (from, to))).collect()
}

fn check_batch(segment: &Segment, twin: &[Row], questions: &[Row]) -> store::Result<()> {
    let schema = segment.schema();
    let asked = rows_of(schema, questions.iter().chain(twin));
    for (number, index) in schema.indexes.iter().enumerate() {
        let columns: Vec<ColumnSlice> =
            index.columns.iter().map(|&column| asked.column(usize::from(column))).collect();
        let mut found = Vec::new();
        if index.kind == IndexKind::Ordered {
            assert!(segment.find_batch(number, &columns, &mut found).is_err());
            continue;
        }
        segment.find_batch(number, &columns, &mut found)?;
        let expected: Vec<(u32, u32)> = (0..)
            .zip(questions.iter().chain(twin))
            .flat_map(|(question, row)| {
                let key = key_of(row, &index.columns);
                twin_find(twin, &index.columns, &values(&key)).into_iter().map(move |row| (question, row))
            })
            .collect();
        assert_eq!(found, expected, "{}", index.name);
    }
    Ok(())
}
