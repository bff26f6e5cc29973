//! Arrow IPC files: the columns as they lie in the memory of programs that compute with them.
//!
//! Input: fields and columns. Output: bytes of the file: the schema, a batch for each group of rows, and at
//! the end where the batches lie. The library describes all of them; the buffers of all kinds of columns
//! are put together here, as its arrays bring the code of all its types with them: 0.25 MB.
//! <https://arrow.apache.org/docs/format/Columnar.html>

use crate::column::{Column, Field, Kind};
use arrow_ipc::convert::IpcSchemaEncoder;
use arrow_ipc::writer::{DictionaryTracker, EncodedData, IpcDataGenerator, IpcWriteOptions, write_message};
use arrow_ipc::{
    Block, Buffer, FieldNode, FooterBuilder, MessageBuilder, MessageHeader, MetadataVersion,
    RecordBatchBuilder,
};
use arrow_schema::{ArrowError, DataType, Schema, TimeUnit};
use flatbuffers::FlatBufferBuilder;
use std::sync::Arc;

const MAGIC: &[u8; 6] = b"ARROW1";
/// Comes before the length of each message. A length of 0 ends them.
const CONTINUED: [u8; 4] = [0xff; 4];
/// Each message and each buffer begins at a multiple of this.
const ALIGNMENT: usize = 64;

/// A file, of which the bytes are elsewhere.
#[derive(Debug)]
pub(crate) struct ArrowFile {
    schema: Schema,
    options: IpcWriteOptions,
    size_bytes: usize,
    blocks: Vec<Block>,
}

impl ArrowFile {
    /// Begins a file.
    pub(crate) fn begin(fields: &[Field], out: &mut Vec<u8>) -> Result<ArrowFile, ArrowError> {
        let fields: Vec<_> = fields.iter().map(|field| described(field.name, field.kind)).collect();
        let schema = Schema::new(fields);
        let options = IpcWriteOptions::try_new(ALIGNMENT, false, MetadataVersion::V5)?;
        let mut dictionaries = DictionaryTracker::new(true);
        let message = IpcDataGenerator::default().schema_to_bytes_with_dictionary_tracker(
            &schema,
            &mut dictionaries,
            &options,
        );
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&[0; ALIGNMENT - MAGIC.len()]);
        let (head_bytes, _) = write_message(out, message, &options)?;
        Ok(ArrowFile { schema, options, size_bytes: ALIGNMENT + head_bytes, blocks: Vec::new() })
    }

    /// Appends a batch.
    pub(crate) fn append(&mut self, batch: EncodedData, out: &mut Vec<u8>) -> Result<(), ArrowError> {
        let (head_bytes, body_bytes) = write_message(out, batch, &self.options)?;
        let short = i32::try_from(head_bytes).expect("a table has few columns");
        self.blocks.push(Block::new(wide(self.size_bytes), short, wide(body_bytes)));
        self.size_bytes += head_bytes + body_bytes;
        Ok(())
    }

    /// Appends the end of the file.
    pub(crate) fn finish(&self, out: &mut Vec<u8>) {
        let mut builder = FlatBufferBuilder::new();
        let dictionaries = builder.create_vector::<Block>(&[]);
        let batches = builder.create_vector(&self.blocks);
        let schema = IpcSchemaEncoder::new().schema_to_fb_offset(&mut builder, &self.schema);
        let mut footer = FooterBuilder::new(&mut builder);
        footer.add_version(MetadataVersion::V5);
        footer.add_schema(schema);
        footer.add_dictionaries(dictionaries);
        footer.add_recordBatches(batches);
        let footer = footer.finish();
        builder.finish(footer, None);
        let footer = builder.finished_data();
        out.extend_from_slice(&CONTINUED);
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(footer);
        let length = u32::try_from(footer.len()).expect("a table has few columns and groups");
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(MAGIC);
    }
}

fn described(name: &str, kind: Kind) -> arrow_schema::Field {
    let data_type = match kind {
        Kind::Text | Kind::OptionalText => DataType::Utf8,
        Kind::Number | Kind::OptionalNumber => DataType::Int64,
        Kind::OptionalDouble => DataType::Float64,
        Kind::OptionalBoolean => DataType::Boolean,
        Kind::OptionalBytes => DataType::Binary,
        Kind::Time => DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
        Kind::Texts => DataType::List(Arc::new(described("element", Kind::Text))),
    };
    arrow_schema::Field::new(name, data_type, kind.is_optional())
}

/// Encodes a group of rows.
pub(crate) fn batch(columns: &[Column]) -> EncodedData {
    let mut body = Body::default();
    columns.iter().for_each(|column| body.put_column(column));
    let mut builder = FlatBufferBuilder::new();
    let nodes = builder.create_vector(&body.nodes);
    let buffers = builder.create_vector(&body.buffers);
    let mut batch = RecordBatchBuilder::new(&mut builder);
    batch.add_length(wide(columns.first().map_or(0, Column::row_count)));
    batch.add_nodes(nodes);
    batch.add_buffers(buffers);
    let batch = batch.finish();
    let mut message = MessageBuilder::new(&mut builder);
    message.add_version(MetadataVersion::V5);
    message.add_header_type(MessageHeader::RecordBatch);
    message.add_bodyLength(wide(body.bytes.len()));
    message.add_header(batch.as_union_value());
    let message = message.finish();
    builder.finish(message, None);
    EncodedData { ipc_message: builder.finished_data().to_vec(), arrow_data: body.bytes }
}

/// The values of a batch, with their description.
#[derive(Default)]
struct Body {
    bytes: Vec<u8>,
    /// For each column, and each list's texts: how many values, and how many are missing.
    nodes: Vec<FieldNode>,
    /// Where each buffer is, and how long.
    buffers: Vec<Buffer>,
}

impl Body {
    fn put_column(&mut self, column: &Column) {
        match column.kind {
            Kind::Number => {
                self.node(column.row_count, 0);
                self.absent();
                self.buffer(|out| put_numbers(column.numbers.iter().copied(), out));
            }
            // The bits of a number with a point are what its values are made of.
            Kind::Time | Kind::OptionalNumber | Kind::OptionalDouble => {
                self.presence(column);
                let mut next = values_of(column);
                self.buffer(|out| put_numbers(column.is_present.iter().map(&mut next), out));
            }
            Kind::OptionalBoolean => {
                self.presence(column);
                let mut next = values_of(column);
                let values: Vec<bool> = column.is_present.iter().map(|present| next(present) != 0).collect();
                self.buffer(|out| put_bits(&values, out));
            }
            Kind::Text => self.put_texts(column),
            Kind::OptionalText | Kind::OptionalBytes => {
                self.presence(column);
                self.put_text_buffers(column);
            }
            Kind::Texts => {
                self.node(column.row_count, 0);
                self.absent();
                self.offsets(&column.list_offsets);
                self.put_texts(column);
            }
        }
    }

    /// Adds which rows have a value.
    fn presence(&mut self, column: &Column) {
        self.node(column.row_count, column.missing_count());
        self.buffer(|out| put_bits(&column.is_present, out));
    }

    fn put_texts(&mut self, column: &Column) {
        self.node(column.text_count(), 0);
        self.absent();
        self.put_text_buffers(column);
    }

    fn put_text_buffers(&mut self, column: &Column) {
        self.offsets(&column.text_offsets);
        self.buffer(|out| out.extend_from_slice(&column.text));
    }

    fn node(&mut self, count: usize, missing: usize) {
        self.nodes.push(FieldNode::new(wide(count), wide(missing)));
    }

    /// Adds an empty buffer: no value is missing.
    fn absent(&mut self) {
        self.buffer(|_| ());
    }

    fn offsets(&mut self, offsets: &[i32]) {
        self.buffer(|out| offsets.iter().for_each(|offset| out.extend_from_slice(&offset.to_le_bytes())));
    }

    fn buffer(&mut self, fill: impl FnOnce(&mut Vec<u8>)) {
        let at = self.bytes.len();
        fill(&mut self.bytes);
        self.buffers.push(Buffer::new(wide(at), wide(self.bytes.len() - at)));
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
    }
}

/// Returns the values of a column, row by row; 0 where a row has none.
fn values_of(column: &Column) -> impl FnMut(&bool) -> i64 {
    let mut numbers = column.numbers.iter().copied();
    move |is_present| if *is_present { numbers.next().unwrap_or(0) } else { 0 }
}

/// Appends a bit for each value, the first one lowest.
fn put_bits(values: &[bool], out: &mut Vec<u8>) {
    let byte = |group: &[bool]| group.iter().rev().fold(0_u8, |bits, value| bits << 1 | u8::from(*value));
    out.extend(values.chunks(8).map(byte));
}

fn put_numbers(numbers: impl Iterator<Item = i64>, out: &mut Vec<u8>) {
    numbers.for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
}

fn wide(count: usize) -> i64 {
    i64::try_from(count).expect("no file has 2^63 bytes")
}
