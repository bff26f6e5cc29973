//! Exact decimal numbers of any length: packed as Tarantool stores them, parsed, compared, added.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::msgpack::Reader;
use std::cmp::Ordering;
use std::fmt;

/// The digits that a decimal in a tuple may have.
pub(crate) const DIGITS_MAX: i32 = 38;

/// A decimal number. Its digits have no leading and no trailing zeros; 0 has no digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    is_negative: bool,
    /// The position of the first digit: 0 for ones, 1 for tens, -1 for tenths.
    magnitude: i32,
    digits: Vec<u8>,
    /// How many digits are written after the point, including zeros. If negative, how many zeros before the
    /// point are not written.
    scale: i32,
}

impl Decimal {
    fn new(is_negative: bool, all_digits: &[u8], scale: i32) -> Decimal {
        let first = all_digits.iter().position(|&digit| digit != 0).unwrap_or(all_digits.len());
        let last =
            all_digits.iter().rposition(|&digit| digit != 0).map_or(first, |last| last.saturating_add(1));
        let digits = all_digits.get(first..last).unwrap_or_default().to_vec();
        let significant = i32::try_from(all_digits.len().saturating_sub(first)).unwrap_or(i32::MAX);
        let magnitude = significant.saturating_sub(1).saturating_sub(scale);
        let is_zero = digits.is_empty();
        Decimal {
            is_negative: is_negative && !is_zero,
            magnitude: if is_zero { 0 } else { magnitude },
            digits,
            scale,
        }
    }

    /// Parses the content of a msgpack extension: the scale, then two digits per byte, with the sign after
    /// the last digit.
    pub(crate) fn unpack(bytes: &[u8]) -> Option<Decimal> {
        let mut reader = Reader::new(bytes);
        let scale = i32::try_from(reader.int().ok()?).ok()?;
        if scale > DIGITS_MAX || scale <= -DIGITS_MAX {
            return None;
        }
        let mut halves: Vec<u8> = reader.rest().iter().flat_map(|byte| [byte >> 4, byte & 0xf]).collect();
        let sign = halves.pop()?;
        if sign < 10 || halves.iter().any(|&digit| digit > 9) {
            return None;
        }
        Some(Decimal::new(sign == 0xb || sign == 0xd, &halves, scale))
    }

    /// Appends what [`unpack`](Decimal::unpack) reads.
    pub(crate) fn pack(&self, out: &mut Vec<u8>) {
        crate::msgpack::put_int(out, i64::from(self.scale));
        let mut halves = self.written_digits();
        if halves.len().is_multiple_of(2) {
            halves.insert(0, 0);
        }
        halves.push(if self.is_negative { 0xd } else { 0xc });
        out.extend(halves.chunks(2).map(|pair| match pair {
            [high, low] => (high << 4) | low,
            _ => 0,
        }));
    }

    /// Returns the digits from the first one to the last one that is written, at least one.
    fn written_digits(&self) -> Vec<u8> {
        let length = self.magnitude.saturating_add(1).saturating_add(self.scale);
        let length = usize::try_from(length).unwrap_or(0).max(1);
        let mut digits = self.digits.clone();
        if digits.is_empty() {
            return vec![0];
        }
        digits.resize(length.max(digits.len()), 0);
        digits
    }

    pub(crate) fn of_whole(number: i128) -> Decimal {
        let digits: Vec<u8> = number.unsigned_abs().to_string().bytes().map(|byte| byte & 0xf).collect();
        Decimal::new(number < 0, &digits, 0)
    }

    /// Reads text like `-12.50` or `1.5e-7`.
    pub(crate) fn of_text(text: &str) -> Option<Decimal> {
        let (is_negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (text, exponent) = match text.split_once(['e', 'E']) {
            Some((text, exponent)) => (text, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let bytes = whole.bytes().chain(fraction.bytes());
        let digits: Option<Vec<u8>> = bytes.map(|byte| byte.is_ascii_digit().then_some(byte & 0xf)).collect();
        let digits = digits.filter(|digits| !digits.is_empty())?;
        let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        Some(Decimal::new(is_negative, &digits, scale))
    }

    /// Returns text from which [`of_text`](Decimal::of_text) makes the same decimal, with the same scale.
    pub(crate) fn exact(&self) -> String {
        if self.scale >= 0 {
            return self.to_string();
        }
        let sign = if self.is_negative { "-" } else { "" };
        let digits: String = self.written_digits().iter().map(|digit| char::from(b'0' | digit)).collect();
        format!("{sign}{digits}e{}", self.scale.unsigned_abs())
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.is_negative
    }

    /// Returns the position of the first digit.
    pub(crate) fn magnitude(&self) -> i32 {
        self.magnitude
    }

    /// Returns the digits without leading and trailing zeros.
    pub(crate) fn digits(&self) -> &[u8] {
        &self.digits
    }

    /// Returns whether a tuple can hold the number.
    pub(crate) fn fits(&self) -> bool {
        let scales = 1 - DIGITS_MAX..=DIGITS_MAX;
        // Counted last: there may be very many zeros.
        let has_few_digits = || self.written_digits().len() <= DIGITS_MAX as usize;
        scales.contains(&self.scale) && self.magnitude < DIGITS_MAX && has_few_digits()
    }

    pub(crate) fn negated(&self) -> Decimal {
        Decimal { is_negative: !self.is_negative && !self.digits.is_empty(), ..self.clone() }
    }

    /// Adds two decimals. The sum has as many digits after the point as the longer one. Returns `None` if the
    /// sum has more digits than a tuple can hold.
    pub(crate) fn add(&self, other: &Decimal) -> Option<Decimal> {
        let scale = self.scale.max(other.scale);
        let (ours, theirs) = (self.scaled(scale)?, other.scaled(scale)?);
        let sum = ours.checked_add(theirs)?;
        let digits: Vec<u8> = sum.unsigned_abs().to_string().bytes().map(|byte| byte & 0xf).collect();
        Some(Decimal::new(sum < 0, &digits, scale)).filter(Decimal::fits)
    }

    /// Returns the number times 10^scale.
    fn scaled(&self, scale: i32) -> Option<i128> {
        let length = self.magnitude.checked_add(1)?.checked_add(scale)?;
        let count = i32::try_from(self.digits.len()).ok()?;
        let zeros = u32::try_from(length.checked_sub(count)?.max(0)).ok()?;
        let mut value = 0_i128;
        for &digit in &self.digits {
            value = value.checked_mul(10)?.checked_add(i128::from(digit))?;
        }
        let value = value.checked_mul(10_i128.checked_pow(zeros)?)?;
        if self.is_negative { value.checked_neg() } else { Some(value) }
    }
}

/// By value: 1.0 equals 1 here, although they are different decimals.
pub(crate) fn compare(one: &Decimal, two: &Decimal) -> Ordering {
    let sign = |decimal: &Decimal| match (decimal.is_negative, decimal.digits.is_empty()) {
        (_, true) => 0,
        (true, false) => -1,
        (false, false) => 1,
    };
    let size = one.magnitude.cmp(&two.magnitude).then_with(|| one.digits.cmp(&two.digits));
    match (sign(one).cmp(&sign(two)), one.is_negative) {
        (Ordering::Equal, true) => size.reverse(),
        (Ordering::Equal, false) => size,
        (unequal, _) => unequal,
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_negative {
            formatter.write_str("-")?;
        }
        let digits: String = self.written_digits().iter().map(|digit| char::from(b'0' | digit)).collect();
        let before = i32::try_from(digits.len()).unwrap_or(i32::MAX).saturating_sub(self.scale);
        match usize::try_from(before) {
            Ok(before) if before > 0 && before < digits.len() => {
                let (whole, fraction) = digits.split_at(before);
                write!(formatter, "{whole}.{fraction}")
            }
            Ok(before) if before > 0 => {
                formatter.write_str(&digits)?;
                write_zeros(before.saturating_sub(digits.len()), formatter)
            }
            _ => {
                formatter.write_str("0.")?;
                write_zeros(usize::try_from(before.saturating_neg()).unwrap_or(0), formatter)?;
                formatter.write_str(&digits)
            }
        }
    }
}

/// Writes zeros, which may be more than a width of the formatter can be.
fn write_zeros(count: usize, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    (0..count).try_for_each(|_| formatter.write_str("0"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_comes_back_as_it_was() {
        for text in
            ["0", "1", "-1", "10", "0.5", "-12.50", "0.000", "100000", "0.0012", "99999999999999999999.9"]
        {
            let decimal = Decimal::of_text(text).unwrap();
            assert_eq!(decimal.to_string(), text);
        }
        for (text, shown) in [("1e3", "1000"), ("-1.5E-3", "-0.0015"), ("00012.0", "12.0"), ("-0", "0")] {
            assert_eq!(Decimal::of_text(text).unwrap().to_string(), shown);
        }
        for (text, length) in [("1e70000", 70_001), ("0e70000", 70_001), ("-1e-70000", 70_003)] {
            let decimal = Decimal::of_text(text).unwrap();
            assert_eq!((decimal.to_string().len(), decimal.fits()), (length, false), "{text}");
        }
        for text in ["", "-", ".", "1.2.3", "1e", "--1", "1e99999999999", "½"] {
            assert!(Decimal::of_text(text).is_none(), "{text}");
        }
    }

    #[test]
    fn exact_text_keeps_the_scale() {
        for (packed, exact) in [
            (&[0xfe_u8, 0x12, 0x3c][..], "123e2"),
            (&[0xe2, 0x1d][..], "-1e30"),
            (&[2, 0x12, 0x3c][..], "1.23"),
            (&[2, 0x01, 0x0c][..], "0.10"),
        ] {
            let decimal = Decimal::unpack(packed).unwrap();
            assert_eq!(decimal.exact(), exact);
            let mut again = Vec::new();
            Decimal::of_text(exact).unwrap().pack(&mut again);
            assert_eq!(Decimal::unpack(&again), Some(decimal), "{exact}");
        }
    }

    #[test]
    fn order_is_that_of_the_values() {
        let sorted = ["-100", "-1.5", "-1", "-0.01", "0", "0.01", "0.1", "1", "1.5", "15", "100"];
        for (place, one) in sorted.iter().enumerate() {
            for (other_place, other) in sorted.iter().enumerate() {
                let (one, other) = (Decimal::of_text(one).unwrap(), Decimal::of_text(other).unwrap());
                assert_eq!(compare(&one, &other), place.cmp(&other_place));
            }
        }
        let (one, same) = (Decimal::of_text("1.0").unwrap(), Decimal::of_text("1").unwrap());
        assert_eq!(compare(&one, &same), Ordering::Equal);
    }

    #[test]
    fn what_is_no_decimal_is_refused() {
        assert_eq!(Decimal::unpack(&[2, 0x12, 0x3c]).unwrap().to_string(), "1.23");
        assert_eq!(Decimal::unpack(&[0xfe, 0x7d]).unwrap().to_string(), "-700");
        for bytes in [
            &[] as &[u8],
            &[2],
            &[2, 0x12],
            &[2, 0xa2, 0x3c],
            &[39, 0x1c],
            &[0xc0, 0x1c],
            &[0xd0, 0xd9, 0x1c],
        ] {
            assert!(Decimal::unpack(bytes).is_none(), "{bytes:?}");
        }
    }
}
