//! One column of a group of rows, in memory.
//!
//! Input: values, row by row. Output: the values, as both formats need them: numbers, the bytes of all texts
//! and where each ends, and how many texts each row has. Does not know the formats.

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A text in each row.
    Text,
    /// A whole number in each row.
    Number,
    /// A time in milliseconds since 1970, in UTC, or none.
    Time,
    /// Any number of texts in each row.
    Texts,
}

/// How many bytes the length of a text takes.
const LENGTH_BYTES: usize = size_of::<u32>();

/// A column's name and kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name.
    pub name: &'static str,
    /// The kind.
    pub kind: Kind,
}

/// The values of a column in some rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub(crate) kind: Kind,
    pub(crate) row_count: usize,
    /// Of the kinds number and time. A row without a time has none here.
    pub(crate) numbers: Vec<i64>,
    /// Of the kind time: whether each row has one.
    pub(crate) is_present: Vec<bool>,
    /// Of the kind texts: how many each row has.
    pub(crate) counts: Vec<u32>,
    /// All texts, one after the other, each after its length in bytes as a `u32`: as Parquet has them.
    pub(crate) texts: Vec<u8>,
    /// How many texts there are.
    pub(crate) text_count: usize,
}

impl Column {
    /// Returns a column without rows.
    pub fn new(kind: Kind) -> Column {
        Column {
            kind,
            row_count: 0,
            numbers: Vec::new(),
            is_present: Vec::new(),
            counts: Vec::new(),
            texts: Vec::new(),
            text_count: 0,
        }
    }

    /// Removes all rows, and keeps their memory for others.
    pub fn clear(&mut self) {
        self.row_count = 0;
        self.numbers.clear();
        self.is_present.clear();
        self.counts.clear();
        self.texts.clear();
        self.text_count = 0;
    }

    /// Returns how many bytes its memory takes.
    pub fn memory_bytes(&self) -> usize {
        let levels = self.is_present.capacity() + 4 * self.counts.capacity();
        self.texts.capacity() + 8 * self.numbers.capacity() + levels
    }

    /// Adds a row with a text.
    pub fn push_text(&mut self, text: &str) {
        debug_assert_eq!(self.kind, Kind::Text);
        self.put(text);
        self.row_count += 1;
    }

    /// Adds a row with a number.
    pub fn push_number(&mut self, number: i64) {
        debug_assert_eq!(self.kind, Kind::Number);
        self.numbers.push(number);
        self.row_count += 1;
    }

    /// Adds a row with a time in milliseconds since 1970, or with none.
    pub fn push_time(&mut self, time_ms: Option<i64>) {
        debug_assert_eq!(self.kind, Kind::Time);
        self.numbers.extend(time_ms);
        self.is_present.push(time_ms.is_some());
        self.row_count += 1;
    }

    /// Adds a row with several texts.
    pub fn push_texts<T: AsRef<str>>(&mut self, texts: impl IntoIterator<Item = T>) {
        debug_assert_eq!(self.kind, Kind::Texts);
        let before = self.text_count;
        texts.into_iter().for_each(|text| self.put(text.as_ref()));
        self.counts.push(length(self.text_count - before));
        self.row_count += 1;
    }

    /// Returns the number of rows.
    pub fn row_count(&self) -> usize {
        self.row_count
    }

    /// Returns how many bytes its values take.
    pub fn size_bytes(&self) -> usize {
        self.texts.len() + 8 * self.numbers.len() + 4 * self.counts.len()
    }

    fn put(&mut self, text: &str) {
        self.texts.reserve(LENGTH_BYTES + text.len());
        self.texts.extend_from_slice(&length(text.len()).to_le_bytes());
        self.texts.extend_from_slice(text.as_bytes());
        self.text_count += 1;
    }

    /// Returns the texts, of all rows.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.texts.as_slice();
        std::iter::from_fn(move || {
            let (length, after) = rest.split_first_chunk::<LENGTH_BYTES>()?;
            let (text, after) = after.split_at(u32::from_le_bytes(*length) as usize);
            rest = after;
            Some(text)
        })
    }
}

/// Returns a length as both formats have it.
pub(crate) fn length(length: usize) -> u32 {
    u32::try_from(length).expect("a group is finished long before it holds 4 GiB")
}
