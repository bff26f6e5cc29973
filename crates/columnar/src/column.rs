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
    /// A whole number in each row, or none.
    OptionalNumber,
    /// A number with a point in each row, or none.
    OptionalDouble,
    /// True or false in each row, or none.
    OptionalBoolean,
    /// A text in each row, or none.
    OptionalText,
    /// Bytes in each row, or none.
    OptionalBytes,
}

impl Kind {
    /// Returns whether a row may have no value.
    pub(crate) fn is_optional(self) -> bool {
        !matches!(self, Kind::Text | Kind::Number | Kind::Texts)
    }
}

/// A column's name and kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// The name.
    pub name: &'a str,
    /// The kind.
    pub kind: Kind,
}

/// The values of a column in some rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub(crate) kind: Kind,
    pub(crate) row_count: usize,
    /// Of the kinds with numbers, and with true and false. A number with a point has its bits here. A row
    /// without a value has none here.
    pub(crate) numbers: Vec<i64>,
    /// Of the kinds whose rows may have no value: whether each row has one.
    pub(crate) is_present: Vec<bool>,
    /// Of the kind texts: how many texts there are up to each row. The first is 0.
    pub(crate) list_offsets: Vec<i32>,
    /// All texts, one after the other.
    pub(crate) text: Vec<u8>,
    /// Where each text ends. The first is 0. A row without a text has an empty one here.
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
        self.put_optional(time_ms);
    }

    /// Adds a row with a whole number, or with none.
    pub fn push_optional_number(&mut self, number: Option<i64>) {
        debug_assert_eq!(self.kind, Kind::OptionalNumber);
        self.put_optional(number);
    }

    /// Adds a row with a number with a point, or with none.
    pub fn push_optional_double(&mut self, number: Option<f64>) {
        debug_assert_eq!(self.kind, Kind::OptionalDouble);
        self.put_optional(number.map(|number| number.to_bits().cast_signed()));
    }

    /// Adds a row with true or false, or with none.
    pub fn push_optional_boolean(&mut self, value: Option<bool>) {
        debug_assert_eq!(self.kind, Kind::OptionalBoolean);
        self.put_optional(value.map(i64::from));
    }

    /// Adds a row with a text, or with none.
    pub fn push_optional_text(&mut self, text: Option<&str>) {
        debug_assert_eq!(self.kind, Kind::OptionalText);
        self.put_optional_bytes(text.map(str::as_bytes));
    }

    /// Adds a row with bytes, or with none.
    pub fn push_optional_bytes(&mut self, bytes: Option<&[u8]>) {
        debug_assert_eq!(self.kind, Kind::OptionalBytes);
        self.put_optional_bytes(bytes);
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

    fn put_optional(&mut self, number: Option<i64>) {
        self.numbers.extend(number);
        self.is_present.push(number.is_some());
        self.row_count += 1;
    }

    fn put_optional_bytes(&mut self, bytes: Option<&[u8]>) {
        self.put_bytes(bytes.unwrap_or_default());
        self.is_present.push(bytes.is_some());
        self.row_count += 1;
    }

    fn put(&mut self, text: &str) {
        self.put_bytes(text.as_bytes());
    }

    fn put_bytes(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
        self.text_offsets.push(offset(self.text.len()));
    }

    /// Returns how many rows have no value.
    pub(crate) fn missing_count(&self) -> usize {
        self.is_present.iter().filter(|is_present| !**is_present).count()
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
