//! Thrift's compact protocol, in which Parquet writes all that describes values.
//!
//! Input: fields of structures, by their numbers, in ascending order. Output: bytes. Does not know which
//! structures there are. <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A structure to which fields are added.
#[derive(Debug, Default)]
pub(super) struct Fields {
    bytes: Vec<u8>,
    last: u8,
}

impl Fields {
    fn head(&mut self, number: u8, kind: u8) {
        debug_assert!(number > self.last && number - self.last < 16, "field {number}");
        self.bytes.push((number - self.last) << 4 | kind);
        self.last = number;
    }

    /// Adds a number of 32 bits, or a value of an enumeration.
    #[must_use]
    pub(super) fn i32(mut self, number: u8, value: i32) -> Fields {
        self.head(number, I32);
        put_varint(zigzag(value.into()), &mut self.bytes);
        self
    }

    /// Adds a number of 64 bits.
    #[must_use]
    pub(super) fn i64(mut self, number: u8, value: i64) -> Fields {
        self.head(number, I64);
        put_varint(zigzag(value), &mut self.bytes);
        self
    }

    /// Adds a truth value.
    #[must_use]
    pub(super) fn bool(mut self, number: u8, value: bool) -> Fields {
        self.head(number, if value { TRUE } else { FALSE });
        self
    }

    /// Adds bytes or text.
    #[must_use]
    pub(super) fn bytes(mut self, number: u8, value: &[u8]) -> Fields {
        self.head(number, BINARY);
        put_bytes(value, &mut self.bytes);
        self
    }

    /// Adds a structure.
    #[must_use]
    pub(super) fn structure(mut self, number: u8, value: Fields) -> Fields {
        self.head(number, STRUCT);
        self.bytes.extend(value.end());
        self
    }

    /// Adds a list of structures.
    #[must_use]
    pub(super) fn structures(mut self, number: u8, values: Vec<Fields>) -> Fields {
        self.list(number, values.len(), STRUCT);
        values.into_iter().for_each(|value| self.bytes.extend(value.end()));
        self
    }

    /// Adds a list of texts.
    #[must_use]
    pub(super) fn texts(mut self, number: u8, values: &[&str]) -> Fields {
        self.list(number, values.len(), BINARY);
        values.iter().for_each(|value| put_bytes(value.as_bytes(), &mut self.bytes));
        self
    }

    /// Adds a list of numbers.
    #[must_use]
    pub(super) fn i32s(mut self, number: u8, values: &[i32]) -> Fields {
        self.list(number, values.len(), I32);
        values.iter().for_each(|value| put_varint(zigzag((*value).into()), &mut self.bytes));
        self
    }

    fn list(&mut self, number: u8, count: usize, kind: u8) {
        self.head(number, LIST);
        match u8::try_from(count) {
            Ok(count @ 0..15) => self.bytes.push(count << 4 | kind),
            _ => {
                self.bytes.push(0xf0 | kind);
                put_varint(count as u64, &mut self.bytes);
            }
        }
    }

    /// Returns the bytes of the structure.
    pub(super) fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

/// Appends a number in groups of 7 bits, the lowest first.
pub(super) fn put_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(low_byte(value) | 0x80);
        value >>= 7;
    }
    out.push(low_byte(value));
}

fn low_byte(value: u64) -> u8 {
    value.to_le_bytes()[0]
}

fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

fn put_bytes(value: &[u8], out: &mut Vec<u8>) {
    put_varint(value.len() as u64, out);
    out.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_written_as_the_specification_says() {
        let inner = Fields::default().bool(1, true).bool(2, false);
        let fields = Fields::default()
            .i32(1, -1)
            .i64(3, 150)
            .bytes(4, b"ab")
            .structure(5, inner)
            .i32s(6, &[0, 1])
            .texts(7, &["x"]);
        assert_eq!(
            fields.end(),
            [
                0x15, 1, // i32 -1
                0x26, 0xac, 2, // two fields on, i64 150
                0x18, 2, b'a', b'b', // bytes
                0x1c, 0x11, 0x12, 0, // a structure with two truth values
                0x19, 0x25, 0, 2, // a list of two numbers
                0x19, 0x18, 1, b'x', // a list of one text
                0
            ]
        );
    }

    #[test]
    fn long_lists_have_their_length_apart() {
        let fields = Fields::default().i32s(1, &[0; 15]);
        assert_eq!(fields.end()[..3], [0x19, 0xf5, 15]);
        let fields = Fields::default().structures(1, (0..300).map(|_| Fields::default()).collect());
        assert_eq!(fields.end()[..4], [0x19, 0xfc, 0xac, 2]);
    }

    #[test]
    fn numbers_of_any_size_are_written() {
        let written = |value| Fields::default().i64(1, value).end();
        assert_eq!(written(i64::MIN), [&[0x16][..], &[0xff; 9], &[1, 0]].concat());
        assert_eq!(written(i64::MAX), [&[0x16, 0xfe][..], &[0xff; 8], &[1, 0]].concat());
    }
}
