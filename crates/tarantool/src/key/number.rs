//! Numbers of all kinds as bytes in one exact order.
//!
//! Input: integers, doubles, decimals. Output: bytes. Does not know msgpack.
//!
//! The first 8 bytes are the largest double that is not above the number, with its bits turned so that they
//! sort as numbers do. A number that is exactly a double has nothing more. A number between two doubles is
//! followed by its digits: a byte for the position of the first digit, a byte from 1 to 10 for each digit,
//! and a 0; all of them inverted if the number is below 0.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::decimal::{self, Decimal};
use crate::msgpack::Number;
use std::cmp::Ordering;

/// The bit that distinguishes quiet NaNs from signalling ones, which come before them.
const QUIET_BIT: u64 = 1 << 51;

/// Appends the normalised bytes of a number.
pub fn put_number(number: Number, out: &mut Vec<u8>) {
    match number {
        Number::Unsigned(number) => put_whole(i128::from(number), out),
        Number::Signed(number) => put_whole(i128::from(number), out),
        Number::Float(number) => put_double(f64::from(number), out),
        Number::Double(number) => put_double(number, out),
    }
}

/// Appends the normalised bytes of a decimal.
pub(crate) fn put_decimal(decimal: &Decimal, out: &mut Vec<u8>) {
    let nearest: f64 = decimal.to_string().parse().unwrap_or(0.0);
    match compare(nearest, decimal) {
        Ordering::Equal => put_double(nearest, out),
        Ordering::Less => put_between(nearest, decimal, out),
        Ordering::Greater => put_between(nearest.next_down(), decimal, out),
    }
}

/// Appends an integer of at most 64 bits and a sign.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a whole number of 65 bits fits back when it was rounded"
)]
fn put_whole(number: i128, out: &mut Vec<u8>) {
    let nearest = number as f64;
    let back = nearest as i128;
    if back == number {
        put_double(nearest, out);
    } else {
        let below = if back > number { nearest.next_down() } else { nearest };
        put_between(below, &Decimal::of_whole(number), out);
    }
}

fn put_double(number: f64, out: &mut Vec<u8>) {
    let bits = if number.is_nan() {
        u64::from(number.to_bits() & QUIET_BIT != 0)
    } else {
        // Adding 0 turns -0 into 0.
        let bits = (number + 0.0).to_bits();
        if bits >> 63 == 0 { bits ^ (1 << 63) } else { !bits }
    };
    out.extend_from_slice(&bits.to_be_bytes());
}

/// Appends a number that is greater than the double `below` and less than the next double.
fn put_between(below: f64, decimal: &Decimal, out: &mut Vec<u8>) {
    put_double(below, out);
    let turned = if decimal.is_negative() { 0xff } else { 0 };
    // From -38 to 77, so that the sum fits a byte.
    let place = u8::try_from(decimal.magnitude().saturating_add(128)).unwrap_or(u8::MAX);
    out.push(place ^ turned);
    out.extend(decimal.digits().iter().map(|digit| digit.saturating_add(1) ^ turned));
    out.push(turned);
}

/// Compares a double and a decimal exactly.
fn compare(number: f64, decimal: &Decimal) -> Ordering {
    // The smallest decimal is 1e-38, about 2^-126, so a double near it has at most 126 + 53 digits after the
    // point.
    match Decimal::of_text(&format!("{number:.200}")) {
        Some(exact) => decimal::compare(&exact, decimal),
        None => number.partial_cmp(&0.0).unwrap_or(Ordering::Less),
    }
}
