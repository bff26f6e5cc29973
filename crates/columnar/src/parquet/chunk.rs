//! The values of one column of a group of rows, as pages.
//!
//! Input: a column. Output: a data page, with a dictionary page before it if values repeat, both compressed,
//! and what the end of the file says of them. <https://parquet.apache.org/docs/file-format/data-pages/>

use super::hybrid;
use super::thrift::Fields;
use crate::column::{Column, Kind, length};
use hashbrown::HashMap;
use zstd::bulk::Compressor;
use zstd::zstd_safe::compress_bound;

/// The level of compression: the fastest. Higher ones take several times as long and save a tenth.
const LEVEL: i32 = 1;
/// A dictionary of more bytes takes readers' memory and saves little.
const DICTIONARY_BYTES_MAX: usize = 1 << 20;
/// After so many values it shows whether they repeat.
const DICTIONARY_SAMPLE: usize = 1024;

/// Numbers of Parquet's enumerations.
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const RLE_DICTIONARY: i32 = 8;
const DATA_PAGE: i32 = 0;
const DICTIONARY_PAGE: i32 = 2;

/// A column of a group, encoded.
#[derive(Debug)]
pub(crate) struct Chunk {
    /// Its pages.
    pub(super) pages: Vec<u8>,
    /// How long the dictionary page is, which comes first, or 0.
    pub(super) dictionary_bytes: usize,
    /// How long the pages were, had they not been compressed.
    pub(super) uncompressed_bytes: usize,
    /// How its values are encoded.
    pub(super) encodings: Vec<i32>,
    /// Number of values, including those that are missing.
    pub(super) value_count: usize,
    /// Number of rows without a value.
    pub(super) null_count: usize,
    /// The lowest and the highest number, if it has numbers.
    pub(super) range: Option<(i64, i64)>,
}

/// More memory than this is not kept for other columns.
const KEPT_BYTES_MAX: usize = 8 << 20;

/// Encodes columns, one after the other, in the same memory: touching new memory takes as long as compressing
/// what it holds.
pub(crate) struct Encoder {
    compressor: Compressor<'static>,
    /// A data page, and a dictionary page, before they are compressed.
    content: Vec<u8>,
    plain: Vec<u8>,
    /// A page after that.
    compressed: Vec<u8>,
}

impl Default for Encoder {
    fn default() -> Encoder {
        Encoder {
            compressor: Compressor::new(LEVEL).expect("making a compressor fails only without memory"),
            content: Vec::new(),
            plain: Vec::new(),
            compressed: Vec::new(),
        }
    }
}

/// Encodes a column.
pub(crate) fn chunk(encoder: &mut Encoder, column: &Column) -> Chunk {
    let Encoder { compressor, content, plain, compressed } = encoder;
    for memory in [&mut *content, plain, compressed] {
        memory.clear();
        memory.shrink_to(KEPT_BYTES_MAX);
    }
    let value_count = put_levels(column, content);
    let mut pages = Pages { compressor, compressed, bytes: Vec::new(), uncompressed_bytes: 0 };
    let dictionary = dictionary(column);
    let encoding = match &dictionary {
        Some(Dictionary { values, places }) => {
            let head = Fields::default().i32(1, number(values.len())).i32(2, PLAIN);
            values.iter().for_each(|text| put_plain(text, plain));
            pages.put(DICTIONARY_PAGE, (7, head), plain);
            let bits = hybrid::bits(length(values.len() - 1));
            content.push(bits);
            hybrid::put(places, bits, content);
            RLE_DICTIONARY
        }
        None => {
            column.numbers.iter().for_each(|number| content.extend_from_slice(&number.to_le_bytes()));
            content.extend_from_slice(&column.texts);
            PLAIN
        }
    };
    let dictionary_bytes = pages.bytes.len();
    let head = Fields::default().i32(1, number(value_count)).i32(2, encoding).i32(3, RLE).i32(4, RLE);
    pages.put(DATA_PAGE, (5, head), content);
    let mut encodings = vec![PLAIN, RLE];
    encodings.extend(dictionary.is_some().then_some(RLE_DICTIONARY));
    let numbers = &column.numbers;
    Chunk {
        pages: pages.bytes,
        dictionary_bytes,
        uncompressed_bytes: pages.uncompressed_bytes,
        encodings,
        value_count,
        null_count: column.is_present.iter().filter(|is_present| !**is_present).count(),
        range: numbers.iter().min().copied().zip(numbers.iter().max().copied()),
    }
}

/// Appends the levels: which rows have a value, and which values continue a row. Returns how many values
/// there are, including those that are missing.
fn put_levels(column: &Column, out: &mut Vec<u8>) -> usize {
    match column.kind {
        Kind::Text | Kind::Number => column.row_count,
        Kind::Time => {
            let present: Vec<u32> =
                column.is_present.iter().map(|is_present| u32::from(*is_present)).collect();
            put_level(&present, out);
            present.len()
        }
        Kind::Texts => {
            let (mut continued, mut present) = (Vec::new(), Vec::new());
            for count in &column.counts {
                let entries = (*count).max(1) as usize;
                continued.push(0);
                continued.resize(continued.len() + entries - 1, 1);
                present.resize(present.len() + entries, u32::from(*count > 0));
            }
            put_level(&continued, out);
            put_level(&present, out);
            present.len()
        }
    }
}

/// Appends levels of one bit after their length.
fn put_level(level: &[u32], out: &mut Vec<u8>) {
    let mut bytes = Vec::new();
    hybrid::put(level, 1, &mut bytes);
    out.extend_from_slice(&length(bytes.len()).to_le_bytes());
    out.append(&mut bytes);
}

/// The distinct values of a column, and which each value is.
struct Dictionary<'a> {
    values: Vec<&'a [u8]>,
    places: Vec<u32>,
}

/// Returns the dictionary of a column of texts, unless its values hardly repeat.
fn dictionary(column: &Column) -> Option<Dictionary<'_>> {
    if column.texts.is_empty() {
        return None;
    }
    let mut known: HashMap<&[u8], u32> = HashMap::new();
    let (mut values, mut places, mut size_bytes) = (Vec::new(), Vec::new(), 0);
    for text in column.texts() {
        let place = *known.entry(text).or_insert_with(|| {
            size_bytes += 4 + text.len();
            values.push(text);
            length(values.len() - 1)
        });
        places.push(place);
        let is_unlike = places.len() >= DICTIONARY_SAMPLE && values.len() > places.len() / 2;
        if is_unlike || size_bytes > DICTIONARY_BYTES_MAX {
            return None;
        }
    }
    Some(Dictionary { values, places })
}

/// Appends a text after its length.
fn put_plain(text: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&length(text.len()).to_le_bytes());
    out.extend_from_slice(text);
}

/// Pages, one after the other.
struct Pages<'a> {
    compressor: &'a mut Compressor<'static>,
    compressed: &'a mut Vec<u8>,
    bytes: Vec<u8>,
    uncompressed_bytes: usize,
}

impl Pages<'_> {
    /// Appends a page: its header, with what is special to its kind as the field of this number, and its
    /// content.
    fn put(&mut self, kind: i32, (field, special): (u8, Fields), content: &[u8]) {
        self.compressed.reserve(compress_bound(content.len()).saturating_sub(self.compressed.len()));
        let compressed = self.compressor.compress_to_buffer(content, self.compressed);
        compressed.expect("compressing into enough memory does not fail");
        let header = Fields::default()
            .i32(1, kind)
            .i32(2, number(content.len()))
            .i32(3, number(self.compressed.len()))
            .structure(field, special)
            .end();
        self.uncompressed_bytes += header.len() + content.len();
        self.bytes.reserve_exact(header.len() + self.compressed.len());
        self.bytes.extend_from_slice(&header);
        self.bytes.extend_from_slice(self.compressed);
    }
}

/// Returns a number as headers of pages have it.
fn number(count: usize) -> i32 {
    i32::try_from(count).expect("a group is finished long before a page holds 2 GiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(list: &[&str]) -> Column {
        let mut column = Column::new(Kind::Text);
        list.iter().for_each(|text| column.push_text(text));
        column
    }

    #[test]
    fn values_that_repeat_have_a_dictionary() {
        let column = texts(&["a", "b", "a", "a"]);
        let found = dictionary(&column).unwrap();
        assert_eq!((found.values, found.places), (vec![&b"a"[..], b"b"], vec![0, 1, 0, 0]));
        assert!(dictionary(&Column::new(Kind::Text)).is_none());
    }

    #[test]
    fn values_that_do_not_repeat_or_are_large_have_none() {
        let different: Vec<String> = (0..DICTIONARY_SAMPLE).map(|number| number.to_string()).collect();
        let different: Vec<&str> = different.iter().map(String::as_str).collect();
        assert!(dictionary(&texts(&different)).is_none());
        assert!(dictionary(&texts(&different[1..])).is_some(), "too few to know");
        let large = "x".repeat(DICTIONARY_BYTES_MAX);
        assert!(dictionary(&texts(&[&large, &large])).is_none());
    }

    #[test]
    fn levels_say_which_rows_have_how_many_values() {
        let mut column = Column::new(Kind::Texts);
        column.push_texts(["a", "b"]);
        column.push_texts::<&str>([]);
        column.push_texts(["c"]);
        let mut out = Vec::new();
        assert_eq!(put_levels(&column, &mut out), 4);
        // Four levels of one bit each, packed: the second continues a row; all but the third have a value.
        assert_eq!(out, [2, 0, 0, 0, 3, 0b0010, 2, 0, 0, 0, 3, 0b1011]);
        let mut column = Column::new(Kind::Time);
        column.push_time(None);
        column.push_time(Some(5));
        let mut out = Vec::new();
        assert_eq!((put_levels(&column, &mut out), out), (2, vec![2, 0, 0, 0, 3, 0b10]));
        let chunk = chunk(&mut Encoder::default(), &column);
        assert_eq!((chunk.null_count, chunk.range), (1, Some((5, 5))));
    }
}
