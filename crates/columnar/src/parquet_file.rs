//! Apache Parquet: groups of rows, each with a chunk of pages for each column.
//!
//! Input: fields and columns. Output: the schema, and encoded chunks. Does not know where the file goes.

use crate::column::{Column, Field, Kind};
use bytes::Bytes;
use hashbrown::HashSet;
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel};
use parquet::column::page::PageWriter;
use parquet::column::writer::{ColumnCloseResult, ColumnWriterImpl};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr, WriterVersion};
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};
use rayon::prelude::*;
use std::mem;
use std::ops::Range;
use std::sync::Arc;

/// The level of compression: the fastest. Higher ones take several times as long and save a tenth.
const LEVEL: i32 = 1;
/// A dictionary of more bytes takes readers' memory and saves little.
const DICTIONARY_BYTES_MAX: usize = 1 << 20;
/// After so many values it shows whether they repeat.
const DICTIONARY_SAMPLE: usize = 1024;
/// So many rows are handed over at a time: what describes their values stays in the processor's cache.
const ROWS_AT_A_TIME: usize = 1024;

/// The program as the file names it.
const CREATED_BY: &str = concat!("pneu version ", env!("CARGO_PKG_VERSION"));

/// What is the same in all chunks of a table.
#[derive(Debug)]
pub(crate) struct Chunks {
    schema: SchemaDescriptor,
    numbers: WriterPropertiesPtr,
    /// Of texts that repeat, and of others.
    repeating: WriterPropertiesPtr,
    different: WriterPropertiesPtr,
}

/// A column of a group, encoded.
#[derive(Debug)]
pub(crate) struct Chunk {
    /// What the end of the file says of it.
    described: ColumnCloseResult,
    pages: Bytes,
}

impl Chunks {
    pub(crate) fn new(fields: &[Field]) -> Chunks {
        let fields = fields.iter().map(|field| described(*field).map(Arc::new));
        let schema = fields
            .collect::<Result<_>>()
            .and_then(|fields| Type::group_type_builder("schema").with_fields(fields).build());
        let schema = schema.expect("each kind has a type of Parquet");
        Chunks {
            schema: SchemaDescriptor::new(Arc::new(schema)),
            numbers: properties(EnabledStatistics::Chunk, false),
            repeating: properties(EnabledStatistics::None, true),
            different: properties(EnabledStatistics::None, false),
        }
    }

    pub(crate) fn schema(&self) -> TypePtr {
        self.schema.root_schema_ptr()
    }

    /// Returns what the file as a whole has.
    pub(crate) fn properties(&self) -> WriterPropertiesPtr {
        Arc::clone(&self.numbers)
    }

    /// Encodes columns, on all idle processors.
    pub(crate) fn encode(&self, columns: &mut [Column]) -> Vec<Chunk> {
        let numbered = columns.par_iter_mut().enumerate();
        let chunk = |(number, column)| self.chunk(number, column).expect("memory takes what is written");
        numbered.map(chunk).collect()
    }

    fn chunk(&self, number: usize, column: &mut Column) -> Result<Chunk> {
        let mut sink = TrackedWrite::new(Vec::new());
        let pages: Box<dyn PageWriter> = Box::new(SerializedPageWriter::new(&mut sink));
        let descriptor = self.schema.column(number);
        let described = match column.kind {
            Kind::Number | Kind::Time | Kind::OptionalNumber => {
                let properties = Arc::clone(&self.numbers);
                put_numbers(ColumnWriterImpl::<Int64Type>::new(descriptor, properties, pages), column, |it| {
                    it
                })
            }
            Kind::OptionalDouble => {
                let properties = Arc::clone(&self.numbers);
                let value = |bits: i64| f64::from_bits(bits.cast_unsigned());
                put_numbers(ColumnWriterImpl::<DoubleType>::new(descriptor, properties, pages), column, value)
            }
            Kind::OptionalBoolean => {
                let properties = Arc::clone(&self.numbers);
                let value = |number| number != 0;
                put_numbers(ColumnWriterImpl::<BoolType>::new(descriptor, properties, pages), column, value)
            }
            Kind::Text | Kind::Texts | Kind::OptionalText | Kind::OptionalBytes => {
                let properties = if repeats(column) { &self.repeating } else { &self.different };
                put_texts(ColumnWriterImpl::new(descriptor, Arc::clone(properties), pages), column)
            }
        }?;
        Ok(Chunk { described, pages: sink.into_inner()?.into() })
    }
}

/// Appends a group of rows.
pub(crate) fn append(chunks: Vec<Chunk>, mut group: SerializedRowGroupWriter<'_, Vec<u8>>) -> Result<()> {
    chunks.into_iter().try_for_each(|chunk| group.append_column(&chunk.pages, chunk.described))?;
    group.close().map(drop)
}

fn described(field: Field) -> Result<Type> {
    let bytes = |name| Type::primitive_type_builder(name, Physical::BYTE_ARRAY);
    let text = |name, repetition| {
        bytes(name).with_logical_type(Some(LogicalType::String)).with_repetition(repetition).build()
    };
    let of = |physical| Type::primitive_type_builder(field.name, physical);
    let optional = |physical| of(physical).with_repetition(Repetition::OPTIONAL).build();
    let number = of(Physical::INT64);
    match field.kind {
        Kind::Text => text(field.name, Repetition::REQUIRED),
        Kind::OptionalText => text(field.name, Repetition::OPTIONAL),
        Kind::OptionalBytes => optional(Physical::BYTE_ARRAY),
        Kind::OptionalNumber => optional(Physical::INT64),
        Kind::OptionalDouble => optional(Physical::DOUBLE),
        Kind::OptionalBoolean => optional(Physical::BOOLEAN),
        Kind::Number => number.with_repetition(Repetition::REQUIRED).build(),
        Kind::Time => {
            let time = LogicalType::timestamp(true, TimeUnit::MILLIS);
            number.with_logical_type(Some(time)).with_repetition(Repetition::OPTIONAL).build()
        }
        Kind::Texts => {
            let repeated = Type::group_type_builder("list").with_repetition(Repetition::REPEATED);
            let repeated =
                repeated.with_fields(vec![Arc::new(text("element", Repetition::REQUIRED)?)]).build()?;
            let list = Type::group_type_builder(field.name).with_repetition(Repetition::REQUIRED);
            list.with_logical_type(Some(LogicalType::List)).with_fields(vec![Arc::new(repeated)]).build()
        }
    }
}

/// Readers skip groups whose numbers are out of the wanted range. Texts are in no order: groups hold nearly
/// the same ranges, and finding these takes 7 % of the time of encoding.
fn properties(statistics: EnabledStatistics, has_dictionary: bool) -> WriterPropertiesPtr {
    let level = ZstdLevel::try_new(LEVEL).expect("the level is one of zstd's");
    let properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_created_by(CREATED_BY.to_owned())
        .set_compression(Compression::ZSTD(level))
        .set_dictionary_enabled(has_dictionary)
        .set_dictionary_page_size_limit(DICTIONARY_BYTES_MAX)
        .set_statistics_enabled(statistics)
        .set_offset_index_disabled(true);
    Arc::new(properties.build())
}

/// Returns whether texts repeat, as far as the first ones show.
fn repeats(column: &Column) -> bool {
    let sample = column.text_offsets.windows(2).take(DICTIONARY_SAMPLE);
    let count = sample.len();
    let distinct: HashSet<&[u8]> = sample.map(|ends| &column.text[between(ends)]).collect();
    count < DICTIONARY_SAMPLE || distinct.len() <= count / 2
}

fn put_numbers<T: DataType>(
    mut writer: ColumnWriterImpl<'_, T>,
    column: &Column,
    value: impl Fn(i64) -> T::T,
) -> Result<ColumnCloseResult> {
    let levels: Vec<i16> = column.is_present.iter().map(|is_present| i16::from(*is_present)).collect();
    let levels = column.kind.is_optional().then_some(levels.as_slice());
    let values: Vec<T::T> = column.numbers.iter().map(|number| value(*number)).collect();
    writer.write_batch(&values, levels, None)?;
    writer.close()
}

/// Shares the memory of the texts meanwhile.
fn put_texts(
    mut writer: ColumnWriterImpl<'_, ByteArrayType>,
    column: &mut Column,
) -> Result<ColumnCloseResult> {
    let text = Bytes::from(mem::take(&mut column.text));
    let mut values = Vec::new();
    let mut levels = Levels::default();
    for first in (0..column.row_count).step_by(ROWS_AT_A_TIME) {
        let rows = first..column.row_count.min(first + ROWS_AT_A_TIME);
        let (texts, levels) = match column.kind {
            Kind::Texts => {
                let offsets = &column.list_offsets[rows.start..=rows.end];
                levels.set(offsets);
                (between(&[offsets[0], offsets[offsets.len() - 1]]), Some(&levels))
            }
            kind if kind.is_optional() => {
                levels.set_present(&column.is_present[rows.clone()]);
                (rows, Some(&levels))
            }
            _ => (rows, None),
        };
        values.clear();
        let ends = column.text_offsets[texts.start..=texts.end].windows(2).zip(texts);
        // A row without a text has none among the values.
        let ends = ends.filter(|(_, row)| column.is_present.get(*row).copied().unwrap_or(true));
        values.extend(ends.map(|(ends, _)| ByteArray::from(text.slice(between(ends)))));
        let present = levels.map(|levels| levels.is_present.as_slice());
        let continues =
            levels.map(|levels| levels.continues.as_slice()).filter(|_| column.kind == Kind::Texts);
        writer.write_batch(&values, present, continues)?;
    }
    drop(values);
    let closed = writer.close();
    column.text = text.into();
    closed
}

/// Which values of lists are there, and which continue a row.
#[derive(Default)]
struct Levels {
    is_present: Vec<i16>,
    continues: Vec<i16>,
}

impl Levels {
    /// Sets those of rows that may have no value.
    fn set_present(&mut self, is_present: &[bool]) {
        self.is_present.clear();
        self.is_present.extend(is_present.iter().map(|is_present| i16::from(*is_present)));
    }

    /// Sets those of rows with lists between these offsets. An empty list has one value, which is not there.
    fn set(&mut self, offsets: &[i32]) {
        self.is_present.clear();
        self.continues.clear();
        for ends in offsets.windows(2) {
            let count = between(ends).len();
            let entries = self.is_present.len() + count.max(1);
            self.is_present.resize(entries, i16::from(count > 0));
            self.continues.push(0);
            self.continues.resize(entries, 1);
        }
    }
}

/// Returns the range between two offsets.
fn between(offsets: &[i32]) -> Range<usize> {
    let place = |offset: Option<&i32>| {
        usize::try_from(offset.copied().unwrap_or(0)).expect("an offset is not negative")
    };
    place(offsets.first())..place(offsets.last())
}
