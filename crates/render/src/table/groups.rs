//! Rows of a table gathered into groups, for formats that are written column by column.
//!
//! Input: rows, in parts that several threads made. Output: bytes of the file, a group at a time. What waits
//! is limited by its rows and by its bytes. Does not know where rows come from.

use super::column::{Column, Value};
use columnar::{Field, TableWriter};
use index::Message;

/// When a group is finished.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// With so many rows: enough to compress well, few enough to wait in memory.
    pub rows: usize,
    /// With so many bytes, even if it has fewer rows.
    pub bytes: usize,
}

impl Limits {
    /// Those of all tables.
    pub(super) const USUAL: Limits = Limits { rows: 32_768, bytes: 64 << 20 };
}

/// Rows, as columns.
pub(super) type Part = Vec<columnar::Column>;

/// Returns a part without rows.
pub(super) fn empty(columns: &[Column]) -> Part {
    columns.iter().map(|column| columnar::Column::new(column.field().kind)).collect()
}

/// Adds a row to a part: a message, with the Message-ID of the first message of its conversation.
pub(super) fn push(part: &mut Part, columns: &[Column], (message, thread): (&Message, &str)) {
    for (values, column) in part.iter_mut().zip(columns) {
        match column.value(message, thread) {
            Value::Text(text) => values.push_text(&text),
            Value::Number(number) => values.push_number(number),
            Value::Time(time) => values.push_time(time.map(jiff::Timestamp::as_millisecond)),
            Value::Texts(texts) => values.push_texts(&texts),
        }
    }
}

/// A file that is written group by group.
pub(super) struct Groups<'a> {
    columns: &'a [Column],
    limits: Limits,
    writer: TableWriter,
    waiting: Part,
    /// The beginning of the file, until the first group is written.
    out: Vec<u8>,
}

impl Groups<'_> {
    /// Begins a file.
    pub(super) fn begin(format: columnar::Format, columns: &[Column], limits: Limits) -> Groups<'_> {
        let fields: Vec<Field> = columns.iter().map(|column| column.field()).collect();
        let mut out = Vec::new();
        let writer = TableWriter::begin(format, &fields, &mut out);
        Groups { columns, limits, writer, waiting: empty(columns), out }
    }

    /// Adds rows. Returns bytes of the file if a group is finished.
    pub(super) fn add(&mut self, part: &Part) -> Option<Vec<u8>> {
        self.waiting.iter_mut().zip(part).for_each(|(column, part)| column.append(part));
        let size_bytes: usize = self.waiting.iter().map(columnar::Column::size_bytes).sum();
        if self.row_count() < self.limits.rows && size_bytes < self.limits.bytes {
            return None;
        }
        self.write_group();
        Some(std::mem::take(&mut self.out))
    }

    /// Returns the rest of the file.
    pub(super) fn finish(mut self) -> Vec<u8> {
        if self.row_count() > 0 {
            self.write_group();
        }
        self.writer.finish(&mut self.out);
        self.out
    }

    fn row_count(&self) -> usize {
        self.waiting.first().map_or(0, columnar::Column::row_count)
    }

    fn write_group(&mut self) {
        let group = std::mem::replace(&mut self.waiting, empty(self.columns));
        self.writer.group(&group, &mut self.out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sample;

    const COLUMNS: [Column; 3] = [Column::MessageId, Column::Date, Column::To];
    const ROW_BYTES: usize = 16 + 8 + 28 + 4 * 3 + 4;

    fn rows(count: usize) -> Part {
        let (message, mut part) = (sample().message, empty(&COLUMNS));
        (0..count).for_each(|_| push(&mut part, &COLUMNS, (&message, "")));
        part
    }

    /// Returns the file of groups with so many rows each.
    fn file(format: columnar::Format, counts: &[usize]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = TableWriter::begin(format, &COLUMNS.map(Column::field), &mut out);
        counts.iter().for_each(|count| writer.group(&rows(*count), &mut out));
        writer.finish(&mut out);
        out
    }

    #[test]
    fn groups_are_finished_when_they_are_full() {
        let by_rows = Limits { rows: 5, bytes: usize::MAX };
        let by_bytes = Limits { rows: usize::MAX, bytes: 3 * ROW_BYTES };
        assert_eq!(rows(1).iter().map(columnar::Column::size_bytes).sum::<usize>(), ROW_BYTES);
        for format in [columnar::Format::Parquet, columnar::Format::Arrow] {
            for (limits, parts, expected) in [
                (by_rows, &[2, 2, 2, 2][..], &[6, 2][..]),
                (by_rows, &[5], &[5]),
                (by_rows, &[0], &[]),
                (by_rows, &[1, 9], &[10]),
                (by_bytes, &[2, 1, 2], &[3, 2]),
                (by_bytes, &[2], &[2]),
                (Limits::USUAL, &[2, 3], &[5]),
            ] {
                let mut groups = Groups::begin(format, &COLUMNS, limits);
                let mut out: Vec<u8> =
                    parts.iter().filter_map(|count| groups.add(&rows(*count))).flatten().collect();
                out.extend(groups.finish());
                assert!(out == file(format, expected), "{format:?} {limits:?} {parts:?}");
            }
        }
    }
}
