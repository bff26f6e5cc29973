//! Single values, and keys made of them (docs/FORMAT.md, "Keys").
//!
//! Input: values of a row or of a query. Output: their order; *normalised* keys, which are bytes in the order
//! of the keys; the first 8 bytes of a normalised key as a number (the hint); and its hash. Does not depend
//! on where values are stored.

use crate::schema::Kind;
use std::cmp::Ordering;
use xxhash_rust::xxh3::xxh3_64;

/// One value of a row. Values of one kind have their natural order: numbers by size, bytes from the front.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value<'a> {
    /// Of a [`Kind::U8`] column.
    U8(u8),
    /// Of a [`Kind::U16`] column.
    U16(u16),
    /// Of a [`Kind::U32`] column.
    U32(u32),
    /// Of a [`Kind::U64`] column.
    U64(u64),
    /// Of a [`Kind::I64`] column.
    I64(i64),
    /// Of a [`Kind::Id`] column.
    Id(&'a [u8; 32]),
    /// Of a [`Kind::Bytes`] or [`Kind::Payload`] column.
    Bytes(&'a [u8]),
}

/// A [`Value`] that owns its bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OwnedValue {
    /// Of a [`Kind::U8`] column.
    U8(u8),
    /// Of a [`Kind::U16`] column.
    U16(u16),
    /// Of a [`Kind::U32`] column.
    U32(u32),
    /// Of a [`Kind::U64`] column.
    U64(u64),
    /// Of a [`Kind::I64`] column.
    I64(i64),
    /// Of a [`Kind::Id`] column.
    Id([u8; 32]),
    /// Of a [`Kind::Bytes`] or [`Kind::Payload`] column.
    Bytes(Vec<u8>),
}

impl Value<'_> {
    /// Returns whether a column of `kind` takes this value.
    pub fn fits(self, kind: Kind) -> bool {
        matches!(
            (self, kind),
            (Value::U8(_), Kind::U8)
                | (Value::U16(_), Kind::U16)
                | (Value::U32(_), Kind::U32)
                | (Value::U64(_), Kind::U64)
                | (Value::I64(_), Kind::I64)
                | (Value::Id(_), Kind::Id)
                | (Value::Bytes(_), Kind::Bytes | Kind::Payload(_))
        )
    }

    /// Returns how many bytes the value itself takes.
    pub fn byte_count(self) -> usize {
        match self {
            Value::U8(_) => 1,
            Value::U16(_) => 2,
            Value::U32(_) => 4,
            Value::U64(_) | Value::I64(_) => 8,
            Value::Id(_) => 32,
            Value::Bytes(bytes) => bytes.len(),
        }
    }

    /// Returns a copy that owns its bytes.
    pub fn to_owned(self) -> OwnedValue {
        match self {
            Value::U8(number) => OwnedValue::U8(number),
            Value::U16(number) => OwnedValue::U16(number),
            Value::U32(number) => OwnedValue::U32(number),
            Value::U64(number) => OwnedValue::U64(number),
            Value::I64(number) => OwnedValue::I64(number),
            Value::Id(id) => OwnedValue::Id(*id),
            Value::Bytes(bytes) => OwnedValue::Bytes(bytes.to_vec()),
        }
    }
}

impl OwnedValue {
    /// Returns the value without its ownership.
    pub fn as_value(&self) -> Value<'_> {
        match self {
            OwnedValue::U8(number) => Value::U8(*number),
            OwnedValue::U16(number) => Value::U16(*number),
            OwnedValue::U32(number) => Value::U32(*number),
            OwnedValue::U64(number) => Value::U64(*number),
            OwnedValue::I64(number) => Value::I64(*number),
            OwnedValue::Id(id) => Value::Id(id),
            OwnedValue::Bytes(bytes) => Value::Bytes(bytes),
        }
    }
}

/// Appends the normalised bytes of `key` to `out`: a whole key of `column_count` columns, or its first values
/// (a prefix).
///
/// Byte order is key order, and the bytes of a prefix begin the bytes of every key that begins with it.
/// Numbers are big-endian, signed ones with their sign bit flipped; bytes that are not the last column have
/// 00 written as 00 ff, and end with 00 00.
#[inline]
pub fn normalise(key: &[Value], column_count: usize, out: &mut Vec<u8>) {
    for (position, value) in key.iter().enumerate() {
        match *value {
            Value::U8(number) => out.push(number),
            Value::U16(number) => out.extend_from_slice(&number.to_be_bytes()),
            Value::U32(number) => out.extend_from_slice(&number.to_be_bytes()),
            Value::U64(number) => out.extend_from_slice(&number.to_be_bytes()),
            Value::I64(number) => out.extend_from_slice(&order_i64(number).to_be_bytes()),
            Value::Id(id) => out.extend_from_slice(id),
            Value::Bytes(bytes) if position + 1 == column_count => out.extend_from_slice(bytes),
            Value::Bytes(bytes) => {
                for &byte in bytes {
                    out.push(byte);
                    if byte == 0 {
                        out.push(0xff);
                    }
                }
                out.extend_from_slice(&[0, 0]);
            }
        }
    }
}

/// Returns a number whose unsigned order is the signed order of `number`.
#[inline]
pub fn order_i64(number: i64) -> u64 {
    number.cast_unsigned() ^ (1 << 63)
}

/// Returns the hint of a key: its first 8 normalised bytes as a big-endian number. A shorter key is padded
/// with zeros.
///
/// If two keys are in order, their hints are in the same order, or equal.
#[inline]
pub fn hint(normalised: &[u8]) -> u64 {
    match normalised.first_chunk::<8>() {
        Some(first) => u64::from_be_bytes(*first),
        None => short_hint(normalised, 0),
    }
}

/// Returns the largest hint of all keys that begin with `prefix`.
#[inline]
pub fn hint_last(prefix: &[u8]) -> u64 {
    match prefix.first_chunk::<8>() {
        Some(first) => u64::from_be_bytes(*first),
        None => short_hint(prefix, 0xff),
    }
}

fn short_hint(normalised: &[u8], fill: u8) -> u64 {
    let mut first = [fill; 8];
    for (to, from) in first.iter_mut().zip(normalised) {
        *to = *from;
    }
    u64::from_be_bytes(first)
}

/// Returns the smallest and the largest hint of all keys of `column_count` columns that begin with these
/// values.
#[inline]
pub(crate) fn hint_range(key: &[Value], column_count: usize) -> (u64, u64) {
    if let [value] = key
        && let Some(free_bits) = free_bits(*value)
    {
        let low = hint_of(*value);
        return (low, low | ((1 << free_bits) - 1));
    }
    let mut normalised = Vec::with_capacity(64);
    normalise(key, column_count, &mut normalised);
    (hint(&normalised), hint_last(&normalised))
}

/// Returns how many bits of a hint come after a value of fixed width.
fn free_bits(value: Value) -> Option<u32> {
    match value {
        Value::U8(_) => Some(56),
        Value::U16(_) => Some(48),
        Value::U32(_) => Some(32),
        Value::U64(_) | Value::I64(_) | Value::Id(_) => Some(0),
        Value::Bytes(_) => None,
    }
}

/// Returns the hash of a whole key's normalised bytes, as hash indexes use it.
#[inline]
pub fn hash(normalised: &[u8]) -> u64 {
    xxh3_64(normalised)
}

/// Returns the hash of a whole key.
#[inline]
pub fn hash_key(key: &[Value]) -> u64 {
    match key {
        [Value::Id(id)] => hash(*id),
        [Value::Bytes(bytes)] => hash(bytes),
        [Value::U32(number)] => hash(&number.to_be_bytes()),
        [Value::U64(number)] => hash(&number.to_be_bytes()),
        _ => {
            let mut normalised = Vec::with_capacity(64);
            normalise(key, key.len(), &mut normalised);
            hash(&normalised)
        }
    }
}

/// Returns the hint of a key that is one value.
#[inline]
pub fn hint_of(value: Value) -> u64 {
    match value {
        Value::U8(number) => u64::from(number) << 56,
        Value::U16(number) => u64::from(number) << 48,
        Value::U32(number) => u64::from(number) << 32,
        Value::U64(number) => number,
        Value::I64(number) => order_i64(number),
        Value::Id(id) => hint(id),
        Value::Bytes(bytes) => hint(bytes),
    }
}

/// Compares the first values of a row's key, as many as `key` has, with `key`.
pub fn compare_prefix<'a>(row: impl IntoIterator<Item = Value<'a>>, key: &[Value]) -> Ordering {
    for (ours, theirs) in row.into_iter().zip(key) {
        match ours.cmp(theirs) {
            Ordering::Equal => {}
            unequal => return unequal,
        }
    }
    Ordering::Equal
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn value(kind: u8) -> BoxedStrategy<OwnedValue> {
        match kind {
            0 => any::<u8>().prop_map(OwnedValue::U8).boxed(),
            1 => any::<u16>().prop_map(OwnedValue::U16).boxed(),
            2 => any::<u32>().prop_map(OwnedValue::U32).boxed(),
            3 => any::<u64>().prop_map(OwnedValue::U64).boxed(),
            4 => any::<i64>().prop_map(OwnedValue::I64).boxed(),
            5 => prop::array::uniform32(0_u8..3).prop_map(OwnedValue::Id).boxed(),
            _ => prop::collection::vec(prop_oneof![Just(0_u8), Just(1), Just(0xff)], 0..6)
                .prop_map(OwnedValue::Bytes)
                .boxed(),
        }
    }

    fn two_keys() -> impl Strategy<Value = (Vec<OwnedValue>, Vec<OwnedValue>)> {
        prop::collection::vec(0_u8..8, 1..4).prop_flat_map(|kinds| {
            let key = || kinds.iter().map(|&kind| value(kind)).collect::<Vec<_>>();
            (key(), key(), 0..=kinds.len()).prop_map(|(first, mut second, shared)| {
                second[..shared].clone_from_slice(&first[..shared]);
                (first, second)
            })
        })
    }

    fn normalised(key: &[OwnedValue], length: usize) -> Vec<u8> {
        let values: Vec<Value> = key.iter().take(length).map(OwnedValue::as_value).collect();
        let mut out = Vec::new();
        normalise(&values, key.len(), &mut out);
        out
    }

    proptest! {
        #[test]
        fn byte_order_is_key_order((first, second) in two_keys()) {
            let (one, two) = (normalised(&first, first.len()), normalised(&second, second.len()));
            prop_assert_eq!(one.cmp(&two), first.cmp(&second));
            if let [value] = first.as_slice() {
                prop_assert_eq!(hint_of(value.as_value()), hint(&one));
            }
            let key: Vec<Value> = first.iter().map(OwnedValue::as_value).collect();
            prop_assert_eq!(hash_key(&key), hash(&one));
            let hints = hint(&one).cmp(&hint(&two));
            prop_assert!(hints == first.cmp(&second) || hints == Ordering::Equal && first != second);
        }

        #[test]
        fn a_prefix_begins_exactly_the_keys_that_begin_with_it(
            (first, second) in two_keys(), length in 0_usize..3,
        ) {
            // A complete key that ends in bytes is not a prefix, but longer bytes would begin with it.
            let length = length.min(first.len() - 1);
            let prefix = normalised(&first, length);
            let key = normalised(&second, second.len());
            prop_assert_eq!(key.starts_with(&prefix), first[..length] == second[..length]);
            let values: Vec<Value> = first[..length].iter().map(OwnedValue::as_value).collect();
            let (low, high) = hint_range(&values, first.len());
            prop_assert_eq!((low, high), (hint(&prefix), hint_last(&prefix)));
            if key.starts_with(&prefix) {
                prop_assert!((low..=high).contains(&hint(&key)));
            }
        }
    }

    #[test]
    fn normalised_bytes_are_what_the_format_says() {
        let key = [Value::I64(-1), Value::Bytes(b"a\0b"), Value::U16(258), Value::Bytes(b"\0")];
        let mut out = Vec::new();
        normalise(&key, 4, &mut out);
        let expected = b"\x7f\xff\xff\xff\xff\xff\xff\xff" // -1
            .iter()
            .chain(b"a\0\xffb\0\0")
            .chain(b"\x01\x02")
            .chain(b"\0");
        assert_eq!(out, expected.copied().collect::<Vec<u8>>());
        assert_eq!(hint(&out), 0x7fff_ffff_ffff_ffff);
        assert_eq!((hint(b"ab"), hint_last(b"ab")), (0x6162_0000_0000_0000, 0x6162_ffff_ffff_ffff));
    }
}
