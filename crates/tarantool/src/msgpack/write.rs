//! Writes msgpack, each number and length in its shortest form. Appends to the bytes that are there.
#![expect(clippy::cast_possible_truncation, reason = "each arm of each match holds only numbers that fit")]

/// The greatest length that can be encoded, in bytes or values.
const LENGTH_MAX: &str = "no text, bytes, array or map has 2^32 parts: rows are limited to less";

/// Appends a whole number from 0.
#[inline]
pub fn put_uint(out: &mut Vec<u8>, number: u64) {
    match number {
        0..=0x7f => out.push(number as u8),
        0x80..=0xff => out.extend_from_slice(&[0xcc, number as u8]),
        0x100..=0xffff => tagged(out, 0xcd, (number as u16).to_be_bytes()),
        0x1_0000..=0xffff_ffff => tagged(out, 0xce, (number as u32).to_be_bytes()),
        _ => tagged(out, 0xcf, number.to_be_bytes()),
    }
}

/// Appends an integer. Integers from 0 on are written without a sign.
pub fn put_int(out: &mut Vec<u8>, number: i64) {
    match number {
        0.. => put_uint(out, number.unsigned_abs()),
        -0x20..=-1 => out.push(number as i8 as u8),
        -0x80..=-0x21 => out.extend_from_slice(&[0xd0, number as i8 as u8]),
        -0x8000..=-0x81 => tagged(out, 0xd1, (number as i16).to_be_bytes()),
        -0x8000_0000..=-0x8001 => tagged(out, 0xd2, (number as i32).to_be_bytes()),
        _ => tagged(out, 0xd3, number.to_be_bytes()),
    }
}

/// Appends a floating-point number of 32 bits.
pub fn put_float(out: &mut Vec<u8>, number: f32) {
    tagged(out, 0xca, number.to_be_bytes());
}

/// Appends a floating-point number of 64 bits.
#[inline]
pub fn put_double(out: &mut Vec<u8>, number: f64) {
    tagged(out, 0xcb, number.to_be_bytes());
}

/// Appends true or false.
pub fn put_boolean(out: &mut Vec<u8>, value: bool) {
    out.push(if value { 0xc3 } else { 0xc2 });
}

/// Appends nil.
pub fn put_nil(out: &mut Vec<u8>) {
    out.push(0xc0);
}

/// Appends text.
///
/// # Panics
/// If it has 4 GiB.
pub fn put_str(out: &mut Vec<u8>, text: &[u8]) {
    match text.len() {
        length @ 0..=0x1f => out.push(0xa0 | length as u8),
        length => put_length(out, [Some(0xd9), Some(0xda), Some(0xdb)], length),
    }
    out.extend_from_slice(text);
}

/// Appends bytes.
///
/// # Panics
/// If there are 4 GiB.
pub fn put_bin(out: &mut Vec<u8>, bytes: &[u8]) {
    put_length(out, [Some(0xc4), Some(0xc5), Some(0xc6)], bytes.len());
    out.extend_from_slice(bytes);
}

/// Appends an extension: the number of its type, and its bytes.
///
/// # Panics
/// If there are 4 GiB.
pub fn put_ext(out: &mut Vec<u8>, number: i8, bytes: &[u8]) {
    match bytes.len() {
        1 => out.push(0xd4),
        2 => out.push(0xd5),
        4 => out.push(0xd6),
        8 => out.push(0xd7),
        16 => out.push(0xd8),
        length => put_length(out, [Some(0xc7), Some(0xc8), Some(0xc9)], length),
    }
    out.extend_from_slice(&number.to_be_bytes());
    out.extend_from_slice(bytes);
}

/// Appends the length of an array. The caller appends the values.
#[inline]
pub fn put_array_len(out: &mut Vec<u8>, length: u32) {
    match length {
        0..=0x0f => out.push(0x90 | length as u8),
        _ => put_length(out, [None, Some(0xdc), Some(0xdd)], length as usize),
    }
}

/// Appends the length of a map. The caller appends the keys and values.
#[inline]
pub fn put_map_len(out: &mut Vec<u8>, length: u32) {
    match length {
        0..=0x0f => out.push(0x80 | length as u8),
        _ => put_length(out, [None, Some(0xde), Some(0xdf)], length as usize),
    }
}

/// Appends a length of 8, 16 or 32 bits, each with its own first byte. Some kinds of values lack the 8-bit
/// form.
fn put_length(out: &mut Vec<u8>, markers: [Option<u8>; 3], length: usize) {
    let length = u32::try_from(length).expect(LENGTH_MAX);
    match (markers, length) {
        ([Some(marker), ..], 0..=0xff) => out.extend_from_slice(&[marker, length as u8]),
        ([_, Some(marker), _], 0..=0xffff) => tagged(out, marker, (length as u16).to_be_bytes()),
        ([.., Some(marker)], _) => tagged(out, marker, length.to_be_bytes()),
        _ => unreachable!("every kind of value has a length of 32 bits"),
    }
}

#[inline]
fn tagged<const N: usize>(out: &mut Vec<u8>, marker: u8, bytes: [u8; N]) {
    out.push(marker);
    out.extend_from_slice(&bytes);
}
