//! Arrow IPC files: the columns as they lie in the memory of programs that compute with them.
//!
//! Input: fields and columns. Output: bytes of the file: the schema, a batch for each group of rows, and at
//! the end where the batches lie. <https://arrow.apache.org/docs/format/Columnar.html>

mod flat;

use crate::column::{Column, Field, Kind, length};
use flat::{Flat, Slot};

const MAGIC: &[u8; 6] = b"ARROW1";
/// Comes before the length of each message.
const CONTINUED: [u8; 4] = [0xff; 4];
/// The length of the magic at the beginning, and of each buffer, is a multiple of this.
const ALIGNMENT: usize = 8;

/// Numbers of Arrow's enumerations.
const VERSION_5: i16 = 4;
const HEADER_SCHEMA: u8 = 1;
const HEADER_BATCH: u8 = 3;
const TYPE_INT: u8 = 2;
const TYPE_UTF8: u8 = 5;
const TYPE_TIMESTAMP: u8 = 10;
const TYPE_LIST: u8 = 12;
const MILLISECOND: i16 = 1;

/// Where a batch lies in the file.
#[derive(Debug)]
pub(crate) struct Block {
    offset: u64,
    head_bytes: usize,
    body_bytes: usize,
}

/// Appends the beginning of a file.
pub(crate) fn begin(fields: &[Field], out: &mut Vec<u8>) {
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&[0; ALIGNMENT - MAGIC.len()]);
    put_message((HEADER_SCHEMA, schema(fields)), 0, out);
}

/// A group of rows, encoded.
#[derive(Debug)]
pub(crate) struct Batch {
    head: Vec<u8>,
    body: Vec<u8>,
}

/// Encodes a group of rows.
pub(crate) fn batch(columns: &[Column]) -> Batch {
    let mut body = Body::default();
    columns.iter().for_each(|column| body.put_column(column));
    let row_count = columns.first().map_or(0, |column| column.row_count);
    let header = vec![
        Slot::I64(wide(row_count)),
        Slot::At(Flat::Structures(body.nodes.len() / 16, body.nodes)),
        Slot::At(Flat::Structures(body.buffers.len() / 16, body.buffers)),
    ];
    let mut head = Vec::new();
    put_message((HEADER_BATCH, header), body.bytes.len(), &mut head);
    Batch { head, body: body.bytes }
}

/// Appends a batch, which begins at this offset of the file.
pub(crate) fn append(batch: Batch, offset: u64, out: &mut Vec<u8>) -> Block {
    out.extend_from_slice(&batch.head);
    out.extend_from_slice(&batch.body);
    Block { offset, head_bytes: batch.head.len(), body_bytes: batch.body.len() }
}

/// Appends where the batches lie, and the end of the file.
pub(crate) fn end(fields: &[Field], blocks: &[Block], out: &mut Vec<u8>) {
    out.extend_from_slice(&CONTINUED);
    out.extend_from_slice(&[0; 4]);
    let mut places = Vec::new();
    for block in blocks {
        for number in [block.offset.cast_signed(), wide(block.head_bytes), wide(block.body_bytes)] {
            // The second has 32 bits, and 32 bits of padding.
            places.extend_from_slice(&number.to_le_bytes());
        }
    }
    let footer = flat::bytes(vec![
        Slot::I16(VERSION_5),
        Slot::At(Flat::Table(schema(fields))),
        Slot::At(Flat::Structures(0, Vec::new())),
        Slot::At(Flat::Structures(blocks.len(), places)),
    ]);
    out.extend_from_slice(&footer);
    out.extend_from_slice(&length(footer.len()).to_le_bytes());
    out.extend_from_slice(MAGIC);
}

/// Appends a message without its body.
fn put_message((kind, header): (u8, Vec<Slot>), body_bytes: usize, out: &mut Vec<u8>) {
    let message = flat::bytes(vec![
        Slot::I16(VERSION_5),
        Slot::U8(kind),
        Slot::At(Flat::Table(header)),
        Slot::I64(wide(body_bytes)),
    ]);
    out.extend_from_slice(&CONTINUED);
    out.extend_from_slice(&length(message.len()).to_le_bytes());
    out.extend_from_slice(&message);
}

fn schema(fields: &[Field]) -> Vec<Slot> {
    let fields = fields.iter().map(|field| described(field.name, field.kind)).collect();
    vec![Slot::Absent, Slot::At(Flat::Tables(fields))]
}

fn described(name: &'static str, kind: Kind) -> Vec<Slot> {
    let (number, details, children) = match kind {
        Kind::Text => (TYPE_UTF8, Vec::new(), Vec::new()),
        Kind::Number => (TYPE_INT, vec![Slot::I32(64), Slot::U8(1)], Vec::new()),
        Kind::Time => (TYPE_TIMESTAMP, vec![Slot::I16(MILLISECOND), Slot::At(Flat::Text("UTC"))], Vec::new()),
        Kind::Texts => (TYPE_LIST, Vec::new(), vec![described("element", Kind::Text)]),
    };
    vec![
        Slot::At(Flat::Text(name)),
        Slot::U8(u8::from(kind == Kind::Time)),
        Slot::U8(number),
        Slot::At(Flat::Table(details)),
        Slot::Absent,
        Slot::At(Flat::Tables(children)),
    ]
}

/// The values of a batch, with their description.
#[derive(Default)]
struct Body {
    bytes: Vec<u8>,
    /// For each column, and each list's texts: how many values, and how many are missing.
    nodes: Vec<u8>,
    /// Where each buffer is, and how long.
    buffers: Vec<u8>,
}

impl Body {
    fn put_column(&mut self, column: &Column) {
        match column.kind {
            Kind::Number => {
                self.node(column.row_count, 0);
                self.buffer(|_| ());
                self.buffer(|out| put_numbers(column.numbers.iter().copied(), out));
            }
            Kind::Time => self.put_times(column),
            Kind::Text => self.put_texts(column),
            Kind::Texts => {
                self.node(column.row_count, 0);
                self.buffer(|_| ());
                self.ends(column.counts.iter().copied());
                self.put_texts(column);
            }
        }
    }

    fn put_times(&mut self, column: &Column) {
        let missing = column.row_count - column.numbers.len();
        self.node(column.row_count, missing);
        let bits = |group: &[bool]| {
            group.iter().rev().fold(0_u8, |bits, is_present| bits << 1 | u8::from(*is_present))
        };
        self.buffer(|out| out.extend(column.is_present.chunks(8).map(bits)));
        let mut numbers = column.numbers.iter().copied();
        let mut next = |is_present: &bool| if *is_present { numbers.next().unwrap_or(0) } else { 0 };
        self.buffer(|out| put_numbers(column.is_present.iter().map(&mut next), out));
    }

    fn put_texts(&mut self, column: &Column) {
        self.node(column.text_count, 0);
        self.buffer(|_| ());
        self.ends(column.texts().map(|text| length(text.len())));
        self.buffer(|out| column.texts().for_each(|text| out.extend_from_slice(text)));
    }

    /// Adds where each value begins, and where the last one ends.
    fn ends(&mut self, lengths: impl Iterator<Item = u32>) {
        self.buffer(|out| {
            let mut at = 0_u32;
            out.extend_from_slice(&at.to_le_bytes());
            for length in lengths {
                at += length;
                out.extend_from_slice(&at.to_le_bytes());
            }
        });
    }

    fn node(&mut self, count: usize, missing: usize) {
        self.nodes.extend_from_slice(&wide(count).to_le_bytes());
        self.nodes.extend_from_slice(&wide(missing).to_le_bytes());
    }

    fn buffer(&mut self, fill: impl FnOnce(&mut Vec<u8>)) {
        let at = self.bytes.len();
        fill(&mut self.bytes);
        self.buffers.extend_from_slice(&wide(at).to_le_bytes());
        self.buffers.extend_from_slice(&wide(self.bytes.len() - at).to_le_bytes());
        self.bytes.resize(self.bytes.len().next_multiple_of(ALIGNMENT), 0);
    }
}

fn put_numbers(numbers: impl Iterator<Item = i64>, out: &mut Vec<u8>) {
    numbers.for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
}

fn wide(count: usize) -> i64 {
    i64::try_from(count).expect("no file has 2^63 bytes")
}
