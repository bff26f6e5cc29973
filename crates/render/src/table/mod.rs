//! A table of messages, a row each, for programs that compute with tables.
//!
//! Input: what was found, the columns, a format. Output: bytes, in parts, of which few wait at a time. Reads
//! on all processors. Does not depend on where the bytes go.

mod column;
mod groups;
mod lines;

use crate::listed::{Listed, Need};
use crate::stream::{TakeBytes, in_large_parts, in_parts_of_messages};
pub use column::{Column, Value};
use columnar::TableWriter;
use groups::Groups;
use hashbrown::HashMap;
use index::{Hit, Mailbox, Message, RecordReader, Thread};
use std::ops::Range;

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Apache Parquet.
    Parquet,
    /// An Arrow IPC file.
    Arrow,
    /// CSV with a line of names.
    Csv,
    /// An object of JSON on each line.
    Ndjson,
}

/// Appends a row: a message, with the Message-ID of the first message of its conversation.
type ShowRow<'a> = dyn Fn((&Message, &str), &mut Vec<u8>) + Sync + 'a;

/// Message-IDs of messages, by their numbers.
type MessageIds = HashMap<u32, String>;

/// How many Message-IDs a processor reads at a time.
const IDS_READ: usize = 4096;

/// The first message of each conversation, by the numbers of its other messages.
#[derive(Clone, Debug, Default)]
pub struct ThreadStarts(HashMap<u32, Hit>);

impl ThreadStarts {
    /// Takes the conversations of all rows.
    pub fn of(threads: &[Thread]) -> ThreadStarts {
        let mut starts = HashMap::new();
        for thread in threads {
            let Some((first, others)) = thread.entries.split_first() else { continue };
            starts.extend(others.iter().map(|entry| (entry.hit.number, first.hit)));
        }
        ThreadStarts(starts)
    }

    /// Returns the Message-IDs of all first messages. Reads each once, in the order in which they lie.
    fn message_ids<E: From<index::Error>>(&self, mailbox: &Mailbox) -> Result<MessageIds, E> {
        let firsts = in_order_of_arrival(self.0.values().copied().collect());
        let read = |range: Range<usize>, reader: &mut RecordReader| {
            let firsts = firsts.get(range).unwrap_or_default().iter();
            firsts.map(|first| Ok((first.number, mailbox.message_id(first, reader)?))).collect()
        };
        let mut ids = MessageIds::new();
        in_large_parts((firsts.len(), IDS_READ), &read, &mut |part: Vec<(u32, String)>| {
            ids.extend(part);
            Ok::<_, E>(())
        })?;
        Ok(ids)
    }
}

/// Returns messages, each once, in the order in which the index has them. Header records lie in blocks of
/// messages that came one after another: in another order, each message costs the decompression of a block.
fn in_order_of_arrival(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_unstable_by_key(|hit| hit.number);
    hits.dedup_by_key(|hit| hit.number);
    hits
}

/// A table of messages.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    /// Where they are read.
    pub mailbox: &'a Mailbox,
    /// The rows.
    pub hits: &'a [Hit],
    /// Their conversations, for [`Column::Thread`].
    pub starts: &'a ThreadStarts,
    /// What is written of each.
    pub columns: &'a [Column],
}

impl Table<'_> {
    /// Writes the table. Lines are in the order of the messages. Formats that are written column by column
    /// have the messages in the order in which they came, which takes a fifth of the time.
    ///
    /// # Errors
    /// Damage in the store; what `take` returns.
    pub fn write<E: From<index::Error>>(
        &self,
        format: TableFormat,
        take: &mut TakeBytes<'_, E>,
    ) -> Result<(), E> {
        let format = match format {
            TableFormat::Csv => {
                take(&lines::csv_head(self.columns))?;
                return self.write_lines(&|row, out| lines::csv(self.columns, row, out), take);
            }
            TableFormat::Ndjson => {
                return self.write_lines(&|row, out| lines::json(self.columns, row, out), take);
            }
            TableFormat::Parquet => columnar::Format::Parquet,
            TableFormat::Arrow => columnar::Format::Arrow,
        };
        self.write_columns(format, take)
    }

    fn write_lines<E: From<index::Error>>(
        &self,
        show: &ShowRow<'_>,
        take: &mut TakeBytes<'_, E>,
    ) -> Result<(), E> {
        let print = |range: Range<usize>, reader: &mut RecordReader| {
            let mut out = Vec::new();
            self.each(range, &MessageIds::new(), reader, &mut |row| show(row, &mut out))?;
            Ok(out)
        };
        in_parts_of_messages(self.hits.len(), &print, &mut |part| take(&part))
    }

    fn write_columns<E: From<index::Error>>(
        &self,
        format: columnar::Format,
        take: &mut TakeBytes<'_, E>,
    ) -> Result<(), E> {
        let fields: Vec<_> = self.columns.iter().map(|column| column.field()).collect();
        let mut out = Vec::new();
        let mut writer = TableWriter::begin(format, &fields, &mut out);
        let hits = in_order_of_arrival(self.hits.to_vec());
        let ids = self.starts.message_ids::<E>(self.mailbox)?;
        let table = Table { hits: &hits, ..*self };
        let read = |range: Range<usize>, reader: &mut RecordReader| {
            let mut groups = Groups::new(format, self.columns, groups::BYTES_MAX);
            table.each(range, &ids, reader, &mut |row| groups.push(row))?;
            Ok(groups.finish())
        };
        let count = hits.len();
        in_large_parts((count, groups::rows_of_a_group(count)), &read, &mut |groups| -> Result<(), E> {
            for group in groups {
                writer.group(group, &mut out);
                take(&out)?;
                out.clear();
            }
            Ok(())
        })?;
        writer.finish(&mut out);
        take(&out)
    }

    /// Calls `each` with the messages of a range, and the Message-ID of the first message of each one's
    /// conversation. Reads those that are not in `ids`.
    fn each(
        &self,
        range: Range<usize>,
        ids: &MessageIds,
        reader: &mut RecordReader,
        each: &mut dyn FnMut((&Message, &str)),
    ) -> index::Result<()> {
        let need = self.columns.iter().fold(Need::NOTHING, |need, column| need | column.need());
        for hit in self.hits.get(range).unwrap_or_default() {
            let message = Listed::read(self.mailbox, hit, need, reader)?.message;
            let Some(first) = self.starts.0.get(&hit.number) else {
                each((&message, &message.rest.message_id));
                continue;
            };
            match ids.get(&first.number) {
                Some(id) => each((&message, id)),
                None => each((&message, &self.mailbox.message_id(first, reader)?)),
            }
        }
        Ok(())
    }
}
