//! Tests that other programs read what is written: DuckDB, polars and Arrow's own library.
//!
//! Input: rows of all kinds. Output: whether each program sees the same rows. Does not know how they are
//! encoded.

use columnar::{Column, Field, Format, Kind, TableWriter};
use serde_json::{Map, Value, json};
use std::fs;
use testkit::{Random, table_rows};

const FIELDS: [Field; 4] = [
    Field { name: "text", kind: Kind::Text },
    Field { name: "number", kind: Kind::Number },
    Field { name: "time", kind: Kind::Time },
    Field { name: "texts", kind: Kind::Texts },
];

/// A row: a value for each field.
type Row = (String, i64, Option<i64>, Vec<String>);

fn written(format: Format, groups: &[Vec<Row>]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = TableWriter::begin(format, &FIELDS, &mut out);
    for rows in groups {
        let mut columns: Vec<Column> = FIELDS.iter().map(|field| Column::new(field.kind)).collect();
        for (text, number, time, texts) in rows {
            columns[0].push_text(text);
            columns[1].push_number(*number);
            columns[2].push_time(*time);
            columns[3].push_texts(texts);
        }
        writer.group(writer.encoder().encode(&mut columns), &mut out);
    }
    writer.finish(&mut out);
    out
}

fn line((text, number, time, texts): &Row) -> Value {
    let values = [json!(text), json!(number), json!(time), json!(texts)];
    let named = FIELDS.iter().map(|field| field.name.to_owned()).zip(values);
    Value::Object(Map::from_iter(named))
}

/// Writes groups in both formats, and compares what each program reads.
fn compare(groups: &[Vec<Row>]) {
    let directory = tempfile::tempdir().expect("there is room");
    let expected: Vec<Value> = groups.iter().flatten().map(line).collect();
    for (format, name) in [(Format::Parquet, "x.parquet"), (Format::Arrow, "x.arrow")] {
        let path = directory.path().join(name);
        fs::write(&path, written(format, groups)).expect("there is room");
        for (reader, rows) in table_rows(&path) {
            let parsed = rows.iter().map(|row| serde_json::from_str(row).expect("rows are JSON"));
            let rows: Vec<Value> = parsed.collect();
            assert_eq!(rows.len(), expected.len(), "{reader} {name}");
            for (row, expected) in rows.iter().zip(&expected) {
                assert_eq!(row, expected, "{reader} {name}");
            }
        }
    }
}

fn row(text: &str, number: i64, time: Option<i64>, texts: &[&str]) -> Row {
    (text.into(), number, time, texts.iter().map(|text| (*text).into()).collect())
}

#[test]
fn unusual_values_come_back() {
    compare(&[
        vec![
            row("", 0, None, &[]),
            row("ä\u{0}\u{1F600}\r\n\u{202e}", i64::MIN, Some(-1), &[""]),
            row("PAR1", i64::MAX, Some(253_402_300_799_000), &["a", "", "a", "ä\u{0}"]),
        ],
        vec![row("one row", -1, Some(0), &["x"])],
        vec![row(&"long".repeat(100_000), 1, None, &["y"; 5_000])],
    ]);
}

#[test]
fn a_table_may_have_no_rows_or_no_values() {
    compare(&[]);
    compare(&[vec![row("", 0, None, &[])]]);
    compare(&[vec![row("", 0, None, &[]); 20]]);
}

#[test]
fn many_rows_come_back_whether_their_values_repeat_or_not() {
    let mut random = Random::new(7);
    let mut groups = Vec::new();
    for (count, different) in [(5_000, 3), (5_000, 300), (5_000, u64::MAX), (9, 4), (2_000, 1)] {
        let mut rows = Vec::new();
        for _ in 0..count {
            let mut word = || format!("w{}", random.below(different));
            let (text, texts) = (word(), [word(), word(), word()]);
            let (texts, number) = (&texts[..random.index(4)], random.below(1 << 40));
            let time = (random.below(5) > 0).then_some(number.cast_signed());
            rows.push((text, number.cast_signed() - (1 << 39), time, texts.to_vec()));
        }
        groups.push(rows);
    }
    compare(&groups);
}

const OPTIONAL: [Field; 5] = [
    Field { name: "number", kind: Kind::OptionalNumber },
    Field { name: "double", kind: Kind::OptionalDouble },
    Field { name: "boolean", kind: Kind::OptionalBoolean },
    Field { name: "text", kind: Kind::OptionalText },
    Field { name: "it's; drop, ä", kind: Kind::OptionalText },
];

/// Columns in which values are missing, in groups that begin with them.
#[test]
fn values_may_be_missing() {
    let directory = tempfile::tempdir().expect("there is room");
    let mut random = Random::new(11);
    let mut expected = Vec::new();
    for (format, name) in [(Format::Parquet, "x.parquet"), (Format::Arrow, "x.arrow")] {
        expected.clear();
        let mut out = Vec::new();
        let mut writer = TableWriter::begin(format, &OPTIONAL, &mut out);
        for count in [1, 9, 3000, 8] {
            let mut columns: Vec<Column> = OPTIONAL.iter().map(|field| Column::new(field.kind)).collect();
            for row in 0..count {
                let mut here = || row > 0 && random.below(3) > 0;
                let present = [here(), here(), here(), here(), here()];
                let number = random.below(1 << 40).cast_signed() - (1 << 39);
                let (double, text) = (number as f64 / 8.0, format!("t{}", number % 50));
                columns[0].push_optional_number(present[0].then_some(number));
                columns[1].push_optional_double(present[1].then_some(double));
                columns[2].push_optional_boolean(present[2].then_some(number % 2 == 0));
                columns[3].push_optional_text(present[3].then_some(&text));
                columns[4].push_optional_text(present[4].then_some(""));
                let values = [
                    json!(present[0].then_some(number)),
                    json!(present[1].then_some(double)),
                    json!(present[2].then_some(number % 2 == 0)),
                    json!(present[3].then_some(&text)),
                    json!(present[4].then_some("")),
                ];
                let named = OPTIONAL.iter().map(|field| field.name.to_owned()).zip(values);
                expected.push(Value::Object(Map::from_iter(named)));
            }
            writer.group(writer.encoder().encode(&mut columns), &mut out);
        }
        writer.finish(&mut out);
        let path = directory.path().join(name);
        fs::write(&path, out).expect("there is room");
        for (reader, rows) in table_rows(&path) {
            let parsed = rows.iter().map(|row| serde_json::from_str(row).expect("rows are JSON"));
            let rows: Vec<Value> = parsed.collect();
            assert_eq!(rows.len(), expected.len(), "{reader} {name}");
            for (row, expected) in rows.iter().zip(&expected) {
                assert_eq!(row, expected, "{reader} {name}");
            }
        }
    }
}
