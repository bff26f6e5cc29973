//! Numbers as text, as C and Lua print them.
//!
//! Input: numbers. Output: bytes that are appended to a buffer. Does not know which numbers Lua keeps as
//! objects.

use std::io::Write;

/// Digits that Lua prints.
const DIGITS: usize = 14;
/// Numbers from 10 to the power of this on have an exponent.
const EXPONENT_MIN: i32 = 14;

/// Appends a number as C's `%.14g` does, without its words for what is no number.
pub(super) fn put_finite(number: f64, out: &mut Vec<u8>) {
    let text = format!("{number:.*e}", DIGITS - 1);
    let (mantissa, exponent) = text.split_once('e').expect("it is asked for an exponent");
    let exponent: i32 = exponent.parse().expect("it is a small number");
    if !(-4..EXPONENT_MIN).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        let mantissa = trimmed(mantissa);
        write!(out, "{mantissa}e{sign}{:02}", exponent.abs()).expect("a vector takes all bytes");
    } else {
        let places = usize::try_from(EXPONENT_MIN - 1 - exponent).unwrap_or(0);
        out.extend_from_slice(trimmed(&format!("{number:.places$}")).as_bytes());
    }
}

/// Returns a number without zeros at the end of its fraction.
fn trimmed(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// Returns a floating-point number that is whole as a number of the type that is asked for, if it fits.
pub(super) fn whole<T: std::str::FromStr>(number: f64) -> Option<T> {
    // Every whole number that a double holds is written with all its digits. The sum makes 0 of -0.
    (number.fract() == 0.0).then(|| format!("{:.0}", number + 0.0).parse().ok()).flatten()
}

/// Appends a whole number.
pub(super) fn put_whole(number: i128, out: &mut Vec<u8>) {
    write!(out, "{number}").expect("a vector takes all bytes");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_keep_their_value() {
        assert_eq!(whole::<u32>(-0.0), Some(0));
        assert_eq!(whole::<i128>(1e18), Some(1_000_000_000_000_000_000));
        assert_eq!(whole::<i64>(-9_223_372_036_854_775_808.0), Some(i64::MIN));
        assert_eq!((whole::<u32>(0.5), whole::<u32>(-1.0), whole::<u32>(1e10)), (None, None, None));
        assert_eq!((whole::<u32>(f64::NAN), whole::<u32>(f64::INFINITY)), (None, None));
    }

    #[test]
    fn numbers_look_like_those_of_c() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (1.0 / 3.0, "0.33333333333333"),
            (1e-5, "1e-05"),
            (0.0001, "0.0001"),
            (99_999_999_999_999.0, "99999999999999"),
            (1e14, "1e+14"),
            (99_999_999_999_999.9, "1e+14"),
            (1e100, "1e+100"),
            (-1.5e300, "-1.5e+300"),
            (5e-324, "4.9406564584125e-324"),
            (123_456_789.123_456_79, "123456789.12346"),
            (1_795_842_962.410_4, "1795842962.4104"),
        ] {
            let mut out = Vec::new();
            put_finite(number, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }
}
