//! A range of rows through a secondary index.
//!
//! Input: a directory. Output: lines. Does not know who measures.

use super::job::tell_line;
use anyhow::{Result, ensure};
use disk::RealDisk;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use store::{Column, Form, Index, IndexKind, Kind, Order, Rows, Schema, Segment, Value, write_segment};
use testkit::Random;

/// Rows of the table.
const ROW_COUNT: u64 = 16_000_000;
/// Rows of the range.
const RANGE_ROWS: u32 = 1_000_000;

fn schema() -> Arc<Schema> {
    let column = |name: &str| Column { name: name.into(), kind: Kind::U64 };
    let by_second =
        Index { name: "by_second".into(), kind: IndexKind::Ordered, unique: true, columns: vec![1] };
    Arc::new(Schema {
        name: "numbers".into(),
        columns: vec![column("first"), column("second"), column("third")],
        primary: vec![0],
        indexes: vec![by_second],
    })
}

/// Returns a number that no other row has, far from its neighbours' ones.
fn second(number: u64) -> u64 {
    // An odd factor gives a bijection of 24 bits. The rows use a part of them.
    number.wrapping_mul(0x9e_3779) & 0xff_ffff
}

/// Measures scans in index order that read one column, and scans that read only row numbers.
pub(super) fn measure(directory: &Path, rounds: usize) -> Result<()> {
    let (schema, path) = (schema(), directory.join("numbers.seg"));
    if !path.exists() {
        let mut rows = Rows::new(&schema);
        for number in 0..ROW_COUNT {
            let third = Random::of(7, 2, number).next_u64();
            rows.push(&[Value::U64(number), Value::U64(second(number)), Value::U64(third)])?;
        }
        write_segment(&RealDisk, &path, &schema, &[&rows], (Order::AsIs, Form::Plain))?;
    }
    let segment = Segment::open(&RealDisk, &path, &schema)?;
    for round in 0..=rounds {
        let begin = Instant::now();
        let from = [Value::U64(1000)];
        let positions = segment.index_range(0, Bound::Included(&from), Bound::Unbounded)?;
        ensure!(positions.end - positions.start >= RANGE_ROWS, "the range is too short");
        let end = positions.start + RANGE_ROWS;
        let rows = segment.rows_at(0, positions.start..end)?;
        let mut sum = 0_u64;
        for row in rows.iter() {
            sum = sum.wrapping_add(u64::from(*row));
        }
        let places = begin.elapsed().as_secs_f64();
        let third = segment.u64s(2, 0..segment.row_count())?;
        for row in rows.iter() {
            sum = sum.wrapping_add(third[*row as usize]);
        }
        let seconds = begin.elapsed().as_secs_f64();
        std::hint::black_box(sum);
        if round > 0 {
            tell_line(
                "1,000,000 of 16,000,000 rows through an ordered index, row numbers",
                "<= 30 ns",
                places,
                RANGE_ROWS.into(),
                "",
            )?;
            tell_line("the same, and a column of each row", "<= 30 ns", seconds, RANGE_ROWS.into(), "")?;
        }
    }
    Ok(())
}
