//! A table of messages, a row each, for programs that compute with tables.
//!
//! Input: what was found, the columns, a format. Output: bytes, in parts, of which few wait at a time. Reads
//! on all processors. Does not depend on where the bytes go.

mod column;
mod groups;
mod lines;

use crate::stream::{TakeBytes, in_large_parts, in_parts_of_messages};
pub use column::{Cell, Column};
use columnar::TableWriter;
use groups::{Groups, Spare};
use hashbrown::HashMap;
use index::{Hit, Mailbox, MessageParts, MessageScan, MessageView, RecordReader, ThreadStarts};
use std::borrow::Cow;
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
type ShowRow<'a> = dyn Fn((&MessageView<'_>, &str), &mut Vec<u8>) + Sync + 'a;

/// Message-IDs of first messages of conversations, by their places in [`ThreadStarts::firsts`].
type MessageIds = HashMap<usize, String>;

/// How many Message-IDs a processor reads at a time.
const IDS_READ: usize = 4096;

/// Returns messages, each once, in the order in which the index has them. Header records lie in blocks of
/// messages that came one after another: in another order, each message costs the decompression of a block.
fn in_order_of_arrival(hits: &[Hit]) -> Cow<'_, [Hit]> {
    if hits.is_sorted_by(|a, b| a.number < b.number) {
        return Cow::Borrowed(hits);
    }
    let mut hits = hits.to_vec();
    hits.sort_by_key(|hit| hit.number);
    hits.dedup_by_key(|hit| hit.number);
    Cow::Owned(hits)
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
        let scan = self.scan()?;
        let print = |range: Range<usize>, reader: &mut RecordReader| {
            let hits = self.hits.get(range).unwrap_or_default();
            let mut ids = MessageIds::new();
            let mut walk = self.starts.walk();
            for place in hits.iter().filter_map(|hit| walk.place_of_first(hit.number)) {
                if let Some(first) = self.starts.firsts().get(place)
                    && !ids.contains_key(&place)
                {
                    ids.insert(place, self.mailbox.message_id(first, reader)?);
                }
            }
            let mut out = Vec::new();
            let id = |place: usize| ids.get(&place).map(String::as_str);
            self.each((&scan, &id), hits, reader, &mut |row| show(row, &mut out))?;
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
        let hits = in_order_of_arrival(self.hits);
        let ids = self.all_ids::<E>()?;
        let id = |place: usize| ids.get(place).map(String::as_str);
        let (scan, spare, encoder) = (self.scan()?, Spare::default(), writer.encoder());
        let read = |range: Range<usize>, reader: &mut RecordReader| {
            let mut groups = Groups::new((&encoder, self.columns), groups::BYTES_MAX, &spare);
            let hits = hits.get(range).unwrap_or_default();
            self.each((&scan, &id), hits, reader, &mut |row| groups.push(row))?;
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

    /// Prepares to read what the columns need.
    fn scan(&self) -> index::Result<MessageScan<'_>> {
        let none = MessageParts::default();
        let parts = self.columns.iter().fold(none, |parts, column| parts | column.parts());
        self.mailbox.scan(parts, self.hits.len())
    }

    /// Returns the Message-IDs of the first messages of conversations, by their places. Reads each once, in
    /// the order in which they lie.
    fn all_ids<E: From<index::Error>>(&self) -> Result<Vec<String>, E> {
        let firsts = self.starts.firsts();
        let parts = MessageParts { rest: true, ..MessageParts::default() };
        let scan = self.mailbox.scan(parts, firsts.len())?;
        let read = |range: Range<usize>, reader: &mut RecordReader| {
            let mut ids = Vec::with_capacity(range.len());
            let firsts = firsts.get(range).unwrap_or_default();
            scan.read(firsts, reader, &mut |message| ids.push(message.rest.message_id.to_owned()))?;
            Ok(ids)
        };
        let mut ids = Vec::with_capacity(firsts.len());
        in_large_parts((firsts.len(), IDS_READ), &read, &mut |part: Vec<String>| {
            ids.extend(part);
            Ok::<_, E>(())
        })?;
        Ok(ids)
    }

    /// Calls `each` with some messages, and with the Message-ID of the first message of each one's
    /// conversation. `id` returns the Message-ID of a first message by its place.
    fn each<'a>(
        &self,
        (scan, id): (&MessageScan<'_>, &dyn Fn(usize) -> Option<&'a str>),
        hits: &[Hit],
        reader: &mut RecordReader,
        each: &mut dyn FnMut((&MessageView<'_>, &str)),
    ) -> index::Result<()> {
        let mut walk = self.starts.walk();
        scan.read(hits, reader, &mut |message| {
            let first = walk.place_of_first(message.number);
            let id = first.map(|place| id(place).expect("the Message-IDs of first messages were read"));
            each((message, id.unwrap_or(message.rest.message_id)));
        })
    }
}
