//! Values of tuples, compared as Tarantool compares them.
//!
//! Input: msgpack. Output: their order. The classes of values come in the order that an index of scalars has:
//! booleans, numbers, text, bytes, UUIDs, times. Numbers of different kinds are compared exactly.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::decimal::{self, Decimal};
use crate::key::{put_decimal, put_number};
use crate::msgpack::{Class, Number, Reader, Result};
use std::borrow::Cow;
use std::cmp::Ordering;

/// Numbers of msgpack extensions.
const EXT_DECIMAL: i8 = 1;
const EXT_UUID: i8 = 2;
const EXT_DATETIME: i8 = 4;
/// Whole numbers below this are doubles without loss.
const WHOLE_IN_DOUBLE_MAX: u128 = 1 << 53;

/// A value to compare.
#[derive(Clone, Debug)]
pub(super) enum Scalar<'a> {
    /// Nil, or no value at all.
    Null,
    Boolean(bool),
    /// From -2^63 to 2^64 - 1.
    Whole(i128),
    Double(f64),
    Decimal(Cow<'a, Decimal>),
    Text(&'a [u8]),
    Binary(&'a [u8]),
    Uuid(&'a [u8]),
    /// Seconds since 1970, and nanoseconds.
    Time(i64, i32),
    /// A value without an order, as its msgpack: an array, a map, an interval.
    Other(&'a [u8]),
}

impl<'a> Scalar<'a> {
    /// Reads the value at the reader's position; none stands for nil.
    #[inline]
    pub(super) fn read(reader: Option<Reader<'a>>) -> Result<Scalar<'a>> {
        let Some(mut reader) = reader else { return Ok(Scalar::Null) };
        Ok(match reader.peek()? {
            Class::Nil => Scalar::Null,
            Class::Boolean => Scalar::Boolean(reader.boolean()?),
            Class::Unsigned | Class::Signed | Class::Float | Class::Double => match reader.number()? {
                Number::Unsigned(number) => Scalar::Whole(i128::from(number)),
                Number::Signed(number) => Scalar::Whole(i128::from(number)),
                Number::Float(number) => Scalar::Double(f64::from(number)),
                Number::Double(number) => Scalar::Double(number),
            },
            Class::String => Scalar::Text(reader.str()?),
            Class::Binary => Scalar::Binary(reader.bin()?),
            Class::Extension => {
                let (number, bytes) = Reader::ext(&mut reader.clone())?;
                match extension(number, bytes) {
                    Some(scalar) => scalar,
                    None => Scalar::Other(reader.skip()?),
                }
            }
            Class::Array | Class::Map | Class::Never => Scalar::Other(reader.skip()?),
        })
    }

    /// Returns the place of the value's class; none if it has no order.
    fn class(&self) -> Option<u8> {
        Some(match self {
            Scalar::Null | Scalar::Other(_) => return None,
            Scalar::Boolean(_) => 1,
            Scalar::Whole(_) | Scalar::Double(_) | Scalar::Decimal(_) => 2,
            Scalar::Text(_) => 3,
            Scalar::Binary(_) => 4,
            Scalar::Uuid(_) => 5,
            Scalar::Time(..) => 6,
        })
    }
}

fn extension(number: i8, bytes: &[u8]) -> Option<Scalar<'_>> {
    match number {
        EXT_DECIMAL => Decimal::unpack(bytes).map(|decimal| Scalar::Decimal(Cow::Owned(decimal))),
        EXT_UUID if bytes.len() == 16 => Some(Scalar::Uuid(bytes)),
        EXT_DATETIME => {
            let (seconds, rest) = bytes.split_first_chunk::<8>()?;
            let nanoseconds = rest.first_chunk::<4>().map_or(0, |bytes| i32::from_le_bytes(*bytes));
            Some(Scalar::Time(i64::from_le_bytes(*seconds), nanoseconds))
        }
        _ => None,
    }
}

/// Returns whether two values are equal. Nil equals nil only; values without an order are equal if their
/// bytes are.
#[inline]
pub(super) fn are_equal(one: &Scalar, two: &Scalar) -> bool {
    match (one, two) {
        (Scalar::Null, Scalar::Null) => true,
        (Scalar::Other(one), Scalar::Other(two)) => one == two,
        _ => order(one, two) == Some(Ordering::Equal),
    }
}

/// Returns the order of two values; none if one of them has none.
#[inline]
pub(super) fn order(one: &Scalar, two: &Scalar) -> Option<Ordering> {
    let classes = one.class()?.cmp(&two.class()?);
    if classes.is_ne() {
        return Some(classes);
    }
    Some(match (one, two) {
        (Scalar::Boolean(one), Scalar::Boolean(two)) => one.cmp(two),
        (Scalar::Text(one), Scalar::Text(two))
        | (Scalar::Binary(one), Scalar::Binary(two))
        | (Scalar::Uuid(one), Scalar::Uuid(two)) => one.cmp(two),
        (Scalar::Time(one, one_more), Scalar::Time(two, two_more)) => (one, one_more).cmp(&(two, two_more)),
        _ => order_of_numbers(one, two),
    })
}

fn order_of_numbers(one: &Scalar, two: &Scalar) -> Ordering {
    let quick = match (one, two) {
        (Scalar::Whole(one), Scalar::Whole(two)) => Some(one.cmp(two)),
        (Scalar::Double(one), Scalar::Double(two)) => one.partial_cmp(two),
        (Scalar::Whole(one), Scalar::Double(two)) => in_double(*one).and_then(|one| one.partial_cmp(two)),
        (Scalar::Double(one), Scalar::Whole(two)) => in_double(*two).and_then(|two| one.partial_cmp(&two)),
        (Scalar::Decimal(one), Scalar::Decimal(two)) => Some(decimal::compare(one, two)),
        (Scalar::Decimal(one), Scalar::Whole(two)) => Some(decimal::compare(one, &Decimal::of_whole(*two))),
        (Scalar::Whole(one), Scalar::Decimal(two)) => Some(decimal::compare(&Decimal::of_whole(*one), two)),
        _ => None,
    };
    // What is no number, large numbers of different kinds, decimals among doubles.
    quick.unwrap_or_else(|| normalised(one).cmp(&normalised(two)))
}

fn in_double(number: i128) -> Option<f64> {
    (number.unsigned_abs() <= WHOLE_IN_DOUBLE_MAX).then_some(number as f64)
}

/// Returns the bytes of a number in an index.
fn normalised(number: &Scalar) -> Vec<u8> {
    let mut out = Vec::new();
    match number {
        Scalar::Double(number) => put_number(Number::Double(*number), &mut out),
        Scalar::Whole(number) => match (u64::try_from(*number), i64::try_from(*number)) {
            (Ok(number), _) => put_number(Number::Unsigned(number), &mut out),
            (_, Ok(number)) => put_number(Number::Signed(number), &mut out),
            _ => put_decimal(&Decimal::of_whole(*number), &mut out),
        },
        Scalar::Decimal(decimal) => put_decimal(decimal, &mut out),
        _ => {}
    }
    out
}
