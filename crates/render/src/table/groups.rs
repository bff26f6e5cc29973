//! Rows of a table gathered into groups, for formats that are written column by column.
//!
//! Input: rows. Output: groups, encoded by the thread that read their rows. What waits is limited by its rows
//! and by its bytes. Does not know where rows come from, or who puts the groups into a file.

use super::column::{Cell, Column};
use columnar::{EncodedGroup, Encoder};
use index::MessageView;
use jiff::Timestamp;
use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

/// The most rows of a group: enough to compress well, few enough to wait in memory.
const ROWS_MAX: usize = 32_768;
/// With fewer rows, groups are not worth their description at the end of the file.
const ROWS_MIN: usize = 4096;
/// So many groups keep all processors busy.
const GROUPS_WANTED: usize = 8;
/// A group of so many bytes is finished, even if it has fewer rows.
pub(super) const BYTES_MAX: usize = 64 << 20;

/// Returns how many rows the groups of a table have. It does not depend on the number of processors: the same
/// table is the same file everywhere.
pub(super) fn rows_of_a_group(count: usize) -> usize {
    count.div_ceil(GROUPS_WANTED).clamp(ROWS_MIN, ROWS_MAX)
}

/// Memory of groups that are encoded, for those that come after them: a group takes megabytes, and growing
/// and clearing them takes longer than filling them.
#[derive(Default)]
pub(super) struct Spare(Mutex<Vec<Vec<columnar::Column>>>);

impl Spare {
    fn take(&self) -> Option<Vec<columnar::Column>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Keeps memory, unless an unusual group has made it large.
    fn give(&self, columns: Vec<columnar::Column>) {
        if columns.iter().map(columnar::Column::memory_bytes).sum::<usize>() > BYTES_MAX {
            return;
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(columns);
    }
}

/// Rows that become groups.
pub(super) struct Groups<'a> {
    encoder: &'a Encoder,
    columns: &'a [Column],
    bytes_max: usize,
    spare: &'a Spare,
    waiting: Vec<columnar::Column>,
    waiting_bytes: usize,
    finished: Vec<EncodedGroup>,
}

impl<'a> Groups<'a> {
    /// Begins a group. Groups with the same `spare` have the same columns.
    pub(super) fn new(
        (encoder, columns): (&'a Encoder, &'a [Column]),
        bytes_max: usize,
        spare: &'a Spare,
    ) -> Groups<'a> {
        Groups {
            encoder,
            columns,
            bytes_max,
            spare,
            waiting: emptied(columns, spare),
            waiting_bytes: 0,
            finished: Vec::new(),
        }
    }

    /// Adds a row: a message, with the Message-ID of the first message of its conversation.
    pub(super) fn push(&mut self, (message, thread): (&MessageView<'_>, &str)) {
        let mut size_bytes = 0;
        for (values, column) in self.waiting.iter_mut().zip(self.columns) {
            column.put(message, thread, Values(values));
            size_bytes += values.size_bytes();
        }
        self.waiting_bytes = size_bytes;
        if size_bytes >= self.bytes_max {
            self.finish_group();
        }
    }

    /// Returns the groups.
    pub(super) fn finish(mut self) -> Vec<EncodedGroup> {
        if self.waiting_bytes > 0 {
            self.finish_group();
        }
        self.spare.give(self.waiting);
        self.finished
    }

    fn finish_group(&mut self) {
        self.finished.push(self.encoder.encode(&mut self.waiting));
        self.spare.give(std::mem::take(&mut self.waiting));
        self.waiting = emptied(self.columns, self.spare);
        self.waiting_bytes = 0;
    }
}

/// The end of a column that is not full.
struct Values<'a>(&'a mut columnar::Column);

impl Cell for Values<'_> {
    fn text(self, text: &str) {
        self.0.push_text(text);
    }

    fn number(self, number: i64) {
        self.0.push_number(number);
    }

    fn time(self, time: Option<Timestamp>) {
        self.0.push_time(time.map(Timestamp::as_millisecond));
    }

    fn texts<'a>(self, texts: impl Iterator<Item = Cow<'a, str>>) {
        self.0.push_texts(texts);
    }
}

/// Returns columns without rows.
fn emptied(columns: &[Column], spare: &Spare) -> Vec<columnar::Column> {
    let new = || columns.iter().map(|column| columnar::Column::new(column.field().kind)).collect();
    spare.take().unwrap_or_else(new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{as_view, sample};
    use columnar::{Format, TableWriter};

    const COLUMNS: [Column; 3] = [Column::MessageId, Column::Date, Column::To];
    const ROW_BYTES: usize = 16 + 8 + 28 + 4 * 3 + 4;

    fn groups(encoder: &Encoder, row_count: usize, bytes_max: usize) -> Vec<EncodedGroup> {
        let spare = Spare::default();
        // Memory of an earlier group leaves nothing behind.
        let mut before = Groups::new((encoder, &COLUMNS), usize::MAX, &spare);
        as_view(&sample().message, |message| before.push((message, "before")));
        before.finish();
        let mut groups = Groups::new((encoder, &COLUMNS), bytes_max, &spare);
        as_view(&sample().message, |message| (0..row_count).for_each(|_| groups.push((message, ""))));
        groups.finish()
    }

    fn file(format: Format, groups: impl Fn(&Encoder) -> Vec<EncodedGroup>) -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = TableWriter::begin(format, &COLUMNS.map(Column::field), &mut out);
        groups(&writer.encoder()).into_iter().for_each(|group| writer.group(group, &mut out));
        writer.finish(&mut out);
        out
    }

    #[test]
    fn groups_are_finished_when_they_are_full() {
        for format in [Format::Parquet, Format::Arrow] {
            for (bytes_max, row_count, expected) in [
                (usize::MAX, 5, &[5][..]),
                (usize::MAX, 0, &[]),
                (3 * ROW_BYTES, 5, &[3, 2]),
                (3 * ROW_BYTES - 1, 6, &[3, 3]),
                (3 * ROW_BYTES, 2, &[2]),
                (1, 3, &[1, 1, 1]),
            ] {
                let expected = file(format, |encoder| {
                    expected.iter().flat_map(|count| groups(encoder, *count, usize::MAX)).collect()
                });
                let found = file(format, |encoder| groups(encoder, row_count, bytes_max));
                assert!(found == expected, "{format:?} {bytes_max} {row_count}");
            }
        }
    }

    #[test]
    fn large_tables_have_large_groups() {
        let counts = [0, 1, 32_768, 32_769, 80_000, 262_144, 1_370_000];
        assert_eq!(counts.map(rows_of_a_group), [4096, 4096, 4096, 4097, 10_000, 32_768, 32_768]);
    }
}
