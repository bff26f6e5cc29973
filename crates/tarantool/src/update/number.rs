//! Addition, subtraction and bit operations, with Tarantool's rules for the type of the result.
//!
//! Integers stay integers and must fit 64 bits. If either side is a float or double, so is the sum, in 32
//! bits if that loses nothing. If either side is a decimal, so is the sum.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::decimal::Decimal;
use crate::msgpack::{self, Class, Number, Reader, Result as Read};

/// A number that can be added.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Arithmetic {
    Whole(i128),
    Float(f32),
    Double(f64),
    Decimal(Decimal),
}

impl Arithmetic {
    pub(super) fn read(reader: &mut Reader) -> Read<Arithmetic> {
        let damage = reader.damage("a number is expected");
        if reader.peek()? == Class::Extension {
            return match reader.ext()? {
                (1, bytes) => Decimal::unpack(bytes).map(Arithmetic::Decimal).ok_or(damage),
                _ => Err(damage),
            };
        }
        Ok(match reader.number()? {
            Number::Unsigned(number) => Arithmetic::Whole(i128::from(number)),
            Number::Signed(number) => Arithmetic::Whole(i128::from(number)),
            Number::Float(number) => Arithmetic::Float(number),
            Number::Double(number) => Arithmetic::Double(number),
        })
    }

    /// Returns the negated number.
    fn negated(&self) -> Arithmetic {
        match self {
            Arithmetic::Whole(number) => Arithmetic::Whole(number.saturating_neg()),
            Arithmetic::Float(number) => Arithmetic::Float(-number),
            Arithmetic::Double(number) => Arithmetic::Double(-number),
            Arithmetic::Decimal(decimal) => Arithmetic::Decimal(decimal.negated()),
        }
    }

    /// Computes the sum or difference; `code` is + or -.
    pub(super) fn combine(&self, code: u8, other: &Arithmetic) -> Result<Arithmetic, &'static str> {
        if code == b'-' { self.add(&other.negated()) } else { self.add(other) }
    }

    fn add(&self, other: &Arithmetic) -> Result<Arithmetic, &'static str> {
        match (self, other) {
            (Arithmetic::Decimal(_), _) | (_, Arithmetic::Decimal(_)) => {
                let operands = self.as_decimal().zip(other.as_decimal());
                let (one, two) = operands.ok_or("a number has no decimal")?;
                one.add(&two).map(Arithmetic::Decimal).ok_or("a decimal overflows")
            }
            (Arithmetic::Whole(one), Arithmetic::Whole(two)) => {
                let sum = one.saturating_add(*two);
                let range = i128::from(i64::MIN)..=i128::from(u64::MAX);
                if range.contains(&sum) {
                    Ok(Arithmetic::Whole(sum))
                } else {
                    Err("a whole number overflows")
                }
            }
            _ => Ok(shortest(self.as_double() + other.as_double())),
        }
    }

    fn as_double(&self) -> f64 {
        match self {
            Arithmetic::Whole(number) => *number as f64,
            Arithmetic::Float(number) => f64::from(*number),
            Arithmetic::Double(number) => *number,
            Arithmetic::Decimal(_) => f64::NAN,
        }
    }

    /// Returns the number as a decimal. A floating-point number gives 15 digits, because further ones are
    /// mostly noise.
    fn as_decimal(&self) -> Option<Decimal> {
        let number = match self {
            Arithmetic::Decimal(decimal) => return Some(decimal.clone()),
            Arithmetic::Whole(number) => return Some(Decimal::of_whole(*number)),
            Arithmetic::Float(number) => f64::from(*number),
            Arithmetic::Double(number) => *number,
        };
        let digits = format!("{number:.14e}");
        let rounded: f64 = digits.parse().ok().filter(|number: &f64| number.is_finite())?;
        let (_, exponent) = digits.split_once('e')?;
        let is_short = (-4..15).contains(&exponent.parse::<i32>().ok()?);
        let text = if is_short { format!("{rounded}") } else { format!("{rounded:e}") };
        Decimal::of_text(&text).filter(Decimal::fits)
    }

    /// Appends the number as msgpack. A number of 32 bits is widened to 64 bits if its field holds only
    /// those.
    pub(super) fn put(&self, is_double_field: IsDoubleField, out: &mut Vec<u8>) {
        match self {
            Arithmetic::Whole(number) => match u64::try_from(*number) {
                Ok(number) => msgpack::put_uint(out, number),
                Err(_) => msgpack::put_int(out, i64::try_from(*number).unwrap_or(i64::MIN)),
            },
            Arithmetic::Float(number) if is_double_field == IsDoubleField::Yes => {
                msgpack::put_double(out, f64::from(*number));
            }
            Arithmetic::Float(number) => msgpack::put_float(out, *number),
            Arithmetic::Double(number) => msgpack::put_double(out, *number),
            Arithmetic::Decimal(decimal) => {
                let mut packed = Vec::new();
                decimal.pack(&mut packed);
                msgpack::put_ext(out, 1, &packed);
            }
        }
    }
}

/// Whether a field holds only floating-point numbers of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IsDoubleField {
    Yes,
    No,
}

/// Keeps a sum in 32 bits if that loses nothing.
#[expect(clippy::cast_possible_truncation, reason = "what is lost is looked for")]
fn shortest(sum: f64) -> Arithmetic {
    let short = sum as f32;
    let is_same = short.is_finite() && f64::from(short) == sum;
    if is_same { Arithmetic::Float(short) } else { Arithmetic::Double(sum) }
}
