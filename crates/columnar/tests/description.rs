//! Tests of what a Parquet file says of itself: its compression, which values repeat, what a group holds.
//!
//! Input: rows. Output: what readers find at the end of the file. Does not know how values are encoded.

use columnar::{Column, Encoder, Field, Format, Kind, TableWriter};
use parquet::basic::{Compression, Encoding};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::statistics::Statistics;

const FIELDS: [Field; 5] = [
    Field { name: "same", kind: Kind::Text },
    Field { name: "different", kind: Kind::Text },
    Field { name: "number", kind: Kind::Number },
    Field { name: "time", kind: Kind::Time },
    Field { name: "texts", kind: Kind::Texts },
];

fn columns(first: i64, row_count: i64) -> Vec<Column> {
    let mut columns = FIELDS.map(|field| Column::new(field.kind)).to_vec();
    fill(&mut columns, (first, row_count));
    columns
}

fn fill(columns: &mut [Column], (first, row_count): (i64, i64)) {
    for row in first..first + row_count {
        columns[0].push_text(["x", "y"][usize::from(row % 2 == 0)]);
        columns[1].push_text(&format!("different {row}"));
        columns[2].push_number(row);
        columns[3].push_time((row % 3 > 0).then_some(-row));
        columns[4].push_texts(["to", "cc"].iter().take(usize::from(row % 4 > 0)));
    }
}

fn table(format: Format, groups: impl Fn(&Encoder) -> Vec<columnar::EncodedGroup>) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = TableWriter::begin(format, &FIELDS, &mut out);
    groups(&writer.encoder()).into_iter().for_each(|group| writer.group(group, &mut out));
    writer.finish(&mut out);
    out
}

fn described(row_counts: &[i64]) -> ParquetMetaData {
    let file = table(Format::Parquet, |encoder| {
        let encode = |count: &i64| encoder.encode(&mut columns(3, *count));
        row_counts.iter().map(encode).collect()
    });
    ParquetMetaDataReader::new()
        .parse_and_finish(&bytes::Bytes::from(file))
        .expect("the end of the file is whole")
}

/// Returns which columns have a dictionary.
fn dictionaries(columns: &[ColumnChunkMetaData]) -> Vec<bool> {
    let has_one = |column: &ColumnChunkMetaData| {
        let says_so = column
            .encodings()
            .any(|encoding| matches!(encoding, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY));
        assert_eq!(says_so, column.dictionary_page_offset().is_some());
        says_so
    };
    columns.iter().map(has_one).collect()
}

#[test]
fn texts_that_repeat_have_a_dictionary() {
    let described = described(&[1023, 1024, 5000]);
    let found: Vec<_> = described.row_groups().iter().map(|group| dictionaries(group.columns())).collect();
    let few = [true, true, false, false, true];
    let many = [true, false, false, false, true];
    assert_eq!(found, [few, many, many], "fewer than 1,024 values do not show whether they repeat");
}

#[test]
fn groups_say_what_they_hold() {
    let described = described(&[10, 6]);
    let file = described.file_metadata();
    assert_eq!(file.num_rows(), 16);
    assert_eq!(file.created_by(), Some(concat!("pneu version ", env!("CARGO_PKG_VERSION"))));
    assert!(file.key_value_metadata().is_none());
    let group = described.row_group(0);
    assert_eq!(group.num_rows(), 10);
    assert!(group.columns().iter().all(|column| matches!(column.compression(), Compression::ZSTD(_))));
    // Rows 3 to 12: those that 3 divides have no time.
    let ranges = [2, 3].map(|number| match group.column(number).statistics().unwrap() {
        Statistics::Int64(found) => {
            (found.min_opt().copied(), found.max_opt().copied(), found.null_count_opt())
        }
        other => panic!("{other:?}"),
    });
    assert_eq!(ranges, [(Some(3), Some(12), Some(0)), (Some(-11), Some(-4), Some(4))]);
    // An empty list is a value that is missing.
    assert_eq!(group.column(4).num_values(), 10);
}

#[test]
fn memory_of_earlier_groups_leaves_nothing_behind() {
    for format in [Format::Parquet, Format::Arrow] {
        let expected = table(format, |encoder| vec![encoder.encode(&mut columns(9, 7))]);
        let found = table(format, |encoder| {
            let mut again = columns(1, 2000);
            encoder.encode(&mut again);
            assert!(again.iter().all(|column| column.row_count() == 0));
            fill(&mut again, (9, 7));
            vec![encoder.encode(&mut again)]
        });
        assert!(found == expected, "{format:?}");
    }
}
