//! Parquet, row by row.
//!
//! Each row becomes a line of JSON with the names of the columns, and then what JSON Lines become. Decimals
//! keep all digits; dates and times are text; bytes are marked.

use super::rows::{Rows, TakeTuple};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use parquet::data_type::Decimal;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use std::fmt::Write;
use std::fs::File;
use tarantool::import::TupleMaker;
use tarantool::text::{put_json_text, time_of_seconds};

const DAY_SECONDS: f64 = 86_400.0;
/// `2024-03-01` of a time.
const DATE_BYTES: usize = 10;

/// Gives the tuple of each row.
pub(super) fn each(rows: &Rows, maker: &mut TupleMaker, take: &mut TakeTuple<'_>) -> tarantool::Result<()> {
    let file = File::open(rows.path).map_err(|error| rows.unreadable(error))?;
    let wrong = |what: &dyn std::fmt::Display| rows.error("Parquet", &what.to_string());
    let reader = SerializedFileReader::new(file).map_err(|error| wrong(&error))?;
    let mut tuple = Vec::new();
    for (number, row) in (1_u64..).zip(reader.get_row_iter(None).map_err(|error| wrong(&error))?) {
        let wrong = |what: &str| rows.error(&format!("row {number}"), what);
        let row = row.map_err(|error| wrong(&error.to_string()))?;
        let line = json(&row).map_err(|what| wrong(&what))?;
        tuple.clear();
        let made = maker.put_json(&line, &mut tuple);
        made.and_then(|()| take(&tuple)).map_err(|what| wrong(&what))?;
        rows.done()?;
    }
    Ok(())
}

/// Returns a row as an object of JSON.
fn json(row: &Row) -> Result<String, String> {
    let mut out = Vec::new();
    put_row(row, &mut out)?;
    String::from_utf8(out).map_err(|_| "a text is not UTF-8".to_owned())
}

fn put_row(row: &Row, out: &mut Vec<u8>) -> Result<(), String> {
    out.push(b'{');
    for (number, (name, field)) in row.get_column_iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        put_json_text(name, out);
        out.push(b':');
        put(field, out)?;
    }
    out.push(b'}');
    Ok(())
}

fn put(field: &Field, out: &mut Vec<u8>) -> Result<(), String> {
    let plain = match field {
        Field::Null => "null".to_owned(),
        Field::Bool(value) => value.to_string(),
        Field::Byte(value) => value.to_string(),
        Field::Short(value) => value.to_string(),
        Field::Int(value) => value.to_string(),
        Field::Long(value) => value.to_string(),
        Field::UByte(value) => value.to_string(),
        Field::UShort(value) => value.to_string(),
        Field::UInt(value) => value.to_string(),
        Field::ULong(value) => value.to_string(),
        Field::Float16(value) => double(f64::from(*value)),
        Field::Float(value) => double(f64::from(*value)),
        Field::Double(value) => double(*value),
        Field::Decimal(value) => format!("{{\"$decimal\":\"{}\"}}", decimal(value)?),
        Field::Date(days) => {
            let text = time(f64::from(*days) * DAY_SECONDS)?;
            format!("\"{}\"", text.get(..DATE_BYTES).unwrap_or(&text))
        }
        Field::TimestampMillis(millis) => exact_time(*millis, 1_000)?,
        Field::TimestampMicros(micros) => exact_time(*micros, 1_000_000)?,
        Field::TimeMillis(millis) => millis.to_string(),
        Field::TimeMicros(micros) => micros.to_string(),
        Field::Bytes(bytes) => format!("{{\"$binary\":\"{}\"}}", STANDARD.encode(bytes.data())),
        Field::Str(text) => {
            put_json_text(text, out);
            return Ok(());
        }
        Field::Group(row) => return put_row(row, out),
        Field::ListInternal(list) => {
            out.push(b'[');
            for (number, element) in list.elements().iter().enumerate() {
                if number > 0 {
                    out.push(b',');
                }
                put(element, out)?;
            }
            out.push(b']');
            return Ok(());
        }
        Field::MapInternal(map) => {
            out.extend_from_slice(b"{\"$map\":[");
            for (number, (key, value)) in map.entries().iter().enumerate() {
                out.extend_from_slice(if number > 0 { b",[" } else { b"[" });
                put(key, out)?;
                out.push(b',');
                put(value, out)?;
                out.push(b']');
            }
            out.extend_from_slice(b"]}");
            return Ok(());
        }
    };
    out.extend_from_slice(plain.as_bytes());
    Ok(())
}

/// Returns a number as `--exact` writes it: JSON has neither infinity nor what is not a number.
fn double(number: f64) -> String {
    if number.is_finite() { format!("{number:?}") } else { format!("{{\"$double\":\"{number}\"}}") }
}

/// Returns all digits of a decimal: a whole number of any length, in big-endian two's complement, and where
/// the point is.
fn decimal(value: &Decimal) -> Result<String, String> {
    let bytes = value.data();
    let too_long = || "a decimal has more than 38 digits".to_owned();
    if bytes.len() > size_of::<i128>() {
        return Err(too_long());
    }
    let is_negative = bytes.first().is_some_and(|byte| byte & 0x80 != 0);
    let mut wide = [if is_negative { 0xff } else { 0 }; size_of::<i128>()];
    wide[size_of::<i128>() - bytes.len()..].copy_from_slice(bytes);
    let mut text = i128::from_be_bytes(wide).to_string();
    if value.scale() != 0 {
        let _ = write!(text, "e{}", -value.scale());
    }
    Ok(text)
}

/// Returns a time in UTC.
fn time(seconds: f64) -> Result<String, String> {
    time_of_seconds(seconds).ok_or_else(|| "a time is too far from 1970".to_owned())
}

/// Returns a time in quotes, with its fraction.
fn exact_time(ticks: i64, per_second: i64) -> Result<String, String> {
    let text = time(ticks.div_euclid(per_second) as f64)?;
    let fraction = ticks.rem_euclid(per_second);
    if fraction == 0 {
        return Ok(format!("\"{text}\""));
    }
    let digits = per_second.ilog10() as usize;
    Ok(format!("\"{}.{fraction:0digits$}Z\"", text.trim_end_matches('Z')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_and_times_keep_all_digits() {
        let of = |number: i128, scale| Decimal::from_bytes(number.to_be_bytes().to_vec().into(), 38, scale);
        assert_eq!(decimal(&of(-150, 2)).unwrap(), "-150e-2");
        assert_eq!(decimal(&Decimal::from_i32(-7, 9, 0)).unwrap(), "-7");
        assert!(decimal(&Decimal::from_bytes(vec![1; 17].into(), 40, 0)).is_err());
        assert_eq!(exact_time(1_709_296_200_050, 1_000).unwrap(), "\"2024-03-01T12:30:00.050Z\"");
        assert_eq!(exact_time(-1, 1_000_000).unwrap(), "\"1969-12-31T23:59:59.999999Z\"");
        assert_eq!(exact_time(0, 1_000).unwrap(), "\"1970-01-01T00:00:00Z\"");
        let mut out = Vec::new();
        put(&Field::Date(-1), &mut out).unwrap();
        assert_eq!(out, b"\"1969-12-31\"");
    }
}
