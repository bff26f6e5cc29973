//! Values that are written in an expression.
//!
//! A value takes the form that fits what it is compared with: `0.1` is a double beside doubles and a decimal
//! beside decimals, as both are printed so; text is a UUID beside UUIDs, a time beside times, and the
//! hexadecimal digits of bytes beside bytes.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::scalar::Scalar;
use crate::decimal::Decimal;
use crate::file::header::parse_uuid;
use crate::text::exact_time_of_text;
use std::borrow::Cow;

/// A value that is written in an expression.
#[derive(Clone, Debug)]
pub(super) enum Literal {
    Null,
    Boolean(bool),
    /// A whole number, to be compared exactly with all others.
    Whole(i128),
    /// A number with a point or an exponent.
    Fraction {
        /// As a double.
        double: f64,
        /// Exactly; none if it has too many digits or is too large.
        decimal: Option<Decimal>,
    },
    Text(TextLiteral),
}

/// Text, and what else it may stand for.
#[derive(Clone, Debug)]
pub(super) struct TextLiteral {
    pub(super) text: String,
    uuid: Option<[u8; 16]>,
    time: Option<(i64, i32)>,
    bytes: Option<Vec<u8>>,
}

impl Literal {
    /// Reads a number.
    pub(super) fn number(text: &str) -> Option<Literal> {
        let decimal = Decimal::of_text(text)?;
        let is_whole = !text.contains(['.', 'e', 'E']);
        let range = i128::from(i64::MIN)..=i128::from(u64::MAX);
        if let Some(number) = text.parse().ok().filter(|number| is_whole && range.contains(number)) {
            return Some(Literal::Whole(number));
        }
        let double: f64 = text.parse().ok()?;
        let decimal = Some(decimal).filter(Decimal::fits);
        (decimal.is_some() || double.is_finite()).then_some(Literal::Fraction { double, decimal })
    }

    /// Takes text.
    pub(super) fn text(text: String) -> Literal {
        let (uuid, time, bytes) = (parse_uuid(&text), time(&text), hexadecimal(&text));
        Literal::Text(TextLiteral { text, uuid, time, bytes })
    }

    /// Returns the value in the form that fits `other`.
    #[inline]
    pub(super) fn beside(&self, other: &Scalar) -> Scalar<'_> {
        match self {
            Literal::Null => Scalar::Null,
            Literal::Boolean(value) => Scalar::Boolean(*value),
            Literal::Whole(number) => Scalar::Whole(*number),
            Literal::Fraction { double, decimal } => match decimal {
                Some(decimal) if !matches!(other, Scalar::Double(_)) => {
                    Scalar::Decimal(Cow::Borrowed(decimal))
                }
                _ => Scalar::Double(*double),
            },
            Literal::Text(text) => text.beside(other),
        }
    }
}

impl TextLiteral {
    fn beside(&self, other: &Scalar) -> Scalar<'_> {
        match (other, &self.uuid, self.time, &self.bytes) {
            (Scalar::Uuid(_), Some(uuid), ..) => Scalar::Uuid(uuid),
            (Scalar::Time(..), _, Some((seconds, nanoseconds)), _) => Scalar::Time(seconds, nanoseconds),
            (Scalar::Binary(_), _, _, Some(bytes)) => Scalar::Binary(bytes),
            _ => Scalar::Text(self.text.as_bytes()),
        }
    }
}

/// Reads a time to the nanosecond: a fraction of a second in a double would be rounded.
fn time(text: &str) -> Option<(i64, i32)> {
    let (seconds, nanoseconds, _) = exact_time_of_text(text)?;
    Some((seconds, nanoseconds.cast_signed()))
}

fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let is_hexadecimal = text.len().is_multiple_of(2) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    is_hexadecimal.then(|| text.as_bytes().chunks(2).map(byte).collect()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_or_finite() {
        assert!(matches!(Literal::number("18446744073709551615"), Some(Literal::Whole(_))));
        assert!(matches!(
            Literal::number("18446744073709551616"),
            Some(Literal::Fraction { decimal: Some(_), .. })
        ));
        assert!(matches!(Literal::number("1e300"), Some(Literal::Fraction { decimal: None, .. })));
        for text in ["1e999", "1.2.3", "1x", "-", "."] {
            assert!(Literal::number(text).is_none(), "{text}");
        }
    }
}
