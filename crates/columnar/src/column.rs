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
    /// Of the kind texts: how many texts there are up to each row. The first is 0.
    pub(crate) list_offsets: Vec<i32>,
    /// All texts, one after the other.
    pub(crate) text: Vec<u8>,
    /// Where each text ends. The first is 0.
    pub(crate) text_offsets: Vec<i32>,
}

impl Column {
    /// Returns a column without rows.
    pub fn new(kind: Kind) -> Column {
        Column {
            kind,
            row_count: 0,
            numbers: Vec::new(),
            is_present: Vec::new(),
            list_offsets: vec![0],
            text: Vec::new(),
            text_offsets: vec![0],
        }
    }

    /// Removes all rows, and keeps their memory for others.
    pub fn clear(&mut self) {
        self.row_count = 0;
        self.numbers.clear();
        self.is_present.clear();
        self.text.clear();
        for offsets in [&mut self.list_offsets, &mut self.text_offsets] {
            offsets.clear();
            offsets.push(0);
        }
    }

    /// Returns how many bytes its memory takes.
    pub fn memory_bytes(&self) -> usize {
        let offsets = self.list_offsets.capacity() + self.text_offsets.capacity();
        self.text.capacity() + 8 * self.numbers.capacity() + self.is_present.capacity() + 4 * offsets
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
        texts.into_iter().for_each(|text| self.put(text.as_ref()));
        self.list_offsets.push(offset(self.text_count()));
        self.row_count += 1;
    }

    /// Returns the number of rows.
    pub fn row_count(&self) -> usize {
        self.row_count
    }

    /// Returns how many bytes its values take.
    pub fn size_bytes(&self) -> usize {
        let list_count = self.list_offsets.len() - 1;
        self.text.len() + 8 * self.numbers.len() + 4 * (self.text_count() + list_count)
    }

    fn put(&mut self, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
        self.text_offsets.push(offset(self.text.len()));
    }

    /// Returns how many texts there are, of all rows.
    pub(crate) fn text_count(&self) -> usize {
        self.text_offsets.len() - 1
    }
}

/// Returns an offset as both formats have it.
fn offset(offset: usize) -> i32 {
    i32::try_from(offset).expect("a group is finished long before it holds 2 GiB")
}
