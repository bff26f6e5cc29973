//! Tests of rows in memory: values that are pushed are read back, and rows that do not fit are refused whole.

use super::*;
use crate::schema::{Codec, Column};
use crate::value::OwnedValue;
use proptest::prelude::*;

fn schema() -> Arc<Schema> {
    let kinds = [
        Kind::U8,
        Kind::U16,
        Kind::U32,
        Kind::U64,
        Kind::I64,
        Kind::Id,
        Kind::Bytes,
        Kind::Payload(Codec::None),
    ];
    let columns = kinds.iter().enumerate().map(|(n, &kind)| Column { name: format!("c{n}"), kind }).collect();
    Arc::new(Schema { name: "t".into(), columns, primary: vec![3], indexes: Vec::new() })
}

fn row() -> impl Strategy<Value = Vec<OwnedValue>> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..200).prop_map(OwnedValue::Bytes);
    (any::<(u8, u16, u32, u64, i64)>(), any::<[u8; 32]>().prop_map(OwnedValue::Id), bytes(), bytes())
        .prop_map(|((a, b, c, d, e), id, bytes, payload)| {
            vec![
                OwnedValue::U8(a),
                OwnedValue::U16(b),
                OwnedValue::U32(c),
                OwnedValue::U64(d),
                OwnedValue::I64(e),
                id,
                bytes,
                payload,
            ]
        })
}

fn rows_of(list: &[Vec<OwnedValue>]) -> Rows {
    let mut rows = Rows::new(&schema());
    for row in list {
        rows.push(&row.iter().map(OwnedValue::as_value).collect::<Vec<_>>()).unwrap();
    }
    rows
}

fn list_of(rows: &Rows) -> Vec<Vec<OwnedValue>> {
    (0..rows.len()).map(|row| (0..8).map(|column| rows.value(column, row).to_owned()).collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn rows_come_back_pushed_appended_and_from_their_bytes(
        list in prop::collection::vec(row(), 0..20), split in 0_usize..20,
    ) {
        let split = split.min(list.len());
        let mut rows = rows_of(&list[..split]);
        rows.append(&rows_of(&list[split..])).unwrap();
        prop_assert_eq!(&list_of(&rows), &list);
        let mut bytes = Vec::new();
        rows.encode(&mut bytes);
        let again = Rows::decode(&schema(), &bytes).unwrap();
        prop_assert_eq!(&list_of(&again), &list);
    }

    #[test]
    fn damaged_bytes_never_panic(
        list in prop::collection::vec(row(), 1..5),
        place in any::<prop::sample::Index>(),
        value in any::<u8>(),
    ) {
        let mut bytes = Vec::new();
        rows_of(&list).encode(&mut bytes);
        prop_assert!(Rows::decode(&schema(), &bytes[..place.index(bytes.len())]).is_err());
        let place = place.index(bytes.len());
        bytes[place] = value;
        if let Ok(rows) = Rows::decode(&schema(), &bytes) {
            list_of(&rows);
        }
    }
}

#[test]
fn rows_that_do_not_fit_are_refused_whole() {
    let mut rows = Rows::new(&schema());
    let id = [7; 32];
    let huge = vec![0; usize::try_from(ROW_BYTES_MAX).unwrap() - 50];
    let mut row = [
        Value::U8(1),
        Value::U16(2),
        Value::U32(3),
        Value::U64(4),
        Value::I64(-5),
        Value::Id(&id),
        Value::Bytes(b""),
        Value::Bytes(&huge),
    ];
    assert!(matches!(rows.push(&row), Err(Error::Limit { what: "bytes in a row", .. })));
    assert!(matches!(rows.push(&row[..7]), Err(Error::Schema { .. })));
    row[7] = Value::U8(1);
    assert!(matches!(rows.push(&row), Err(Error::Schema { .. })));
    assert!(rows.is_empty() && list_of(&rows).is_empty());
    row[7] = Value::Bytes(&huge[5..]);
    rows.push(&row).unwrap();
    assert_eq!(rows.len(), 1);
}

#[test]
fn columns_are_rows_if_they_fit() {
    let column = |name: &str, kind| Column { name: name.into(), kind };
    let schema = Arc::new(Schema {
        name: "t".into(),
        columns: vec![column("a", Kind::U64), column("b", Kind::Bytes)],
        primary: vec![0],
        indexes: Vec::new(),
    });
    let make = |numbers: &[u64], offsets: &[u32], blob: &[u8]| {
        let bytes = Values::Bytes { offsets: offsets.to_vec(), blob: blob.to_vec() };
        Rows::from_columns(&schema, vec![Values::U64(numbers.to_vec()), bytes])
    };
    let rows = make(&[7, 8, 9], &[0, 2, 2, 5], b"abcde").unwrap();
    let found: Vec<_> = (0..rows.len()).map(|row| (rows.u64s(0)[row as usize], rows.bytes(1, row))).collect();
    assert_eq!(found, [(7, &b"ab"[..]), (8, b""), (9, b"cde")]);
    assert!(make(&[], &[0], b"").unwrap().is_empty());
    let refused: [(&[u64], &[u32], &[u8]); 6] = [
        (&[7], &[0, 2, 3], b"abc"),
        (&[7, 8], &[0, 3, 2], b"ab"),
        (&[7], &[1, 2], b"ab"),
        (&[7], &[0, 1], b"ab"),
        (&[7], &[0, 3], b"ab"),
        (&[], &[], b""),
    ];
    for (numbers, offsets, blob) in refused {
        assert!(matches!(make(numbers, offsets, blob), Err(Error::Schema { .. })), "{offsets:?}");
    }
    assert!(Rows::from_columns(&schema, vec![Values::U64(vec![1])]).is_err());
    assert!(Rows::from_columns(&schema, vec![Values::I64(vec![1]), Values::U64(vec![1])]).is_err());
    let huge = vec![0; usize::try_from(ROW_BYTES_MAX).unwrap() - 7];
    let length = u32::try_from(huge.len()).unwrap();
    assert!(matches!(make(&[7], &[0, length], &huge), Err(Error::Limit { what: "bytes in a row", .. })));
    make(&[7], &[0, length - 1], &huge[1..]).unwrap();
}

#[test]
fn a_batch_has_limits() {
    assert!(check_column(COLUMN_BYTES_IN_MEMORY_MAX - 1, 1).is_ok());
    assert!(check_column(COLUMN_BYTES_IN_MEMORY_MAX - 1, 2).is_err());
    assert!(check_rows(ROWS_PER_SEGMENT_MAX - 1, 1).is_ok());
    assert!(check_rows(ROWS_PER_SEGMENT_MAX, 1).is_err());
    let many = u32::MAX.to_le_bytes();
    assert!(Rows::decode(&schema(), &many).is_err());
}
