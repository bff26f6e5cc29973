//! Parquet, row by row.
//!
//! Each row becomes a line of JSON with the names of the columns, and then what JSON Lines become. Decimals
//! keep all digits; dates and times are text; bytes are marked.

use super::rows::{Rows, TakeTuple};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use parquet::basic::{ConvertedType, LogicalType, TimeType, TimeUnit, Type};
use parquet::data_type::Decimal;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use parquet::schema::types::SchemaDescriptor;
use std::borrow::Cow;
use std::fmt::Write;
use std::fs::File;
use std::panic::{self, AssertUnwindSafe};
use tarantool::import::TupleMaker;
use tarantool::text::{put_json_text, time_of_seconds};
use tarantool::uuid_text;

const DAY_SECONDS: f64 = 86_400.0;

/// Gives the tuple of each row.
pub(super) fn each(rows: &Rows, maker: &mut TupleMaker, take: &mut TakeTuple<'_>) -> tarantool::Result<()> {
    let file = File::open(rows.path).map_err(|error| rows.unreadable(error))?;
    let wrong = |what: &dyn std::fmt::Display| rows.error("Parquet", &what.to_string());
    let reader = guarded(|| SerializedFileReader::new(file)).map_err(|what| wrong(&what))?;
    let kinds = kinds(reader.metadata().file_metadata().schema_descr()).map_err(|what| wrong(&what))?;
    let mut iterator = guarded(|| reader.get_row_iter(None)).map_err(|what| wrong(&what))?;
    let mut tuple = Vec::new();
    for number in 1_u64.. {
        let wrong = |what: &str| rows.error(&format!("row {number}"), what);
        let row = guarded(|| iterator.next().transpose()).map_err(|what| wrong(&what))?;
        let Some(row) = row else { break };
        let line = json(&row, &kinds).map_err(|what| wrong(&what))?;
        tuple.clear();
        let made = maker.put_json(&line, &mut tuple);
        made.and_then(|()| take(&tuple)).map_err(|what| wrong(&what))?;
        rows.done()?;
    }
    Ok(())
}

/// Calls the library, which panics at some damaged files. Returns what is wrong.
fn guarded<T, E: std::fmt::Display>(call: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    // What it would print of a panic is of no use to the user.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let outcome = panic::catch_unwind(AssertUnwindSafe(call));
    panic::set_hook(hook);
    match outcome {
        Ok(outcome) => outcome.map_err(|error| error.to_string()),
        Err(_) => Err("the file is damaged".to_owned()),
    }
}

/// What the values of a column are, where the library does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Told,
    /// Nanoseconds since 1970.
    Nanoseconds,
    /// Nanoseconds since midnight.
    NanosecondsOfDay,
    Uuid,
}

/// Returns what the columns are, those within others left out.
///
/// # Errors
/// A column has a type whose values would be changed.
fn kinds(schema: &SchemaDescriptor) -> Result<Vec<Kind>, String> {
    let mut kinds: Vec<(String, Kind)> = Vec::new();
    for column in schema.columns() {
        let path = column.path().parts();
        let refused = |what: &str| Err(format!("column {} has {what}, which is not read", path.join(".")));
        let kind = match (column.physical_type(), column.converted_type(), column.logical_type_ref()) {
            (Type::INT96, ..) => return refused("the type INT96: write it as TIMESTAMP"),
            (_, ConvertedType::INTERVAL, _) => return refused("the type INTERVAL"),
            (_, _, Some(LogicalType::Timestamp(TimeType { unit: TimeUnit::NANOS, .. }))) => Kind::Nanoseconds,
            (_, _, Some(LogicalType::Time(TimeType { unit: TimeUnit::NANOS, .. }))) => Kind::NanosecondsOfDay,
            (_, _, Some(LogicalType::Uuid)) => Kind::Uuid,
            _ => Kind::Told,
        };
        if kind != Kind::Told && path.len() > 1 {
            return refused("nanoseconds or a UUID within another column");
        }
        let name = path.first().cloned().unwrap_or_default();
        if kinds.last().is_none_or(|(last, _)| *last != name) {
            kinds.push((name, kind));
        }
    }
    Ok(kinds.into_iter().map(|(_, kind)| kind).collect())
}

/// Returns a row as an object of JSON.
fn json(row: &Row, kinds: &[Kind]) -> Result<String, String> {
    let mut out = vec![b'{'];
    for (number, (name, field)) in row.get_column_iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        put_json_text(name, &mut out);
        out.push(b':');
        let special = match (kinds.get(number), field) {
            (Some(Kind::Nanoseconds), Field::Long(nanoseconds)) => exact_time(*nanoseconds, 1_000_000_000)?,
            (Some(Kind::NanosecondsOfDay), Field::Long(nanoseconds)) => of_day(*nanoseconds, 1_000_000_000)?,
            (Some(Kind::Uuid), Field::Bytes(bytes)) => match bytes.data().try_into() {
                Ok(uuid) => format!("\"{}\"", uuid_text(uuid)),
                Err(_) => return Err("a UUID has not 16 bytes".to_owned()),
            },
            _ => {
                put(field, &mut out)?;
                continue;
            }
        };
        out.extend_from_slice(special.as_bytes());
    }
    out.push(b'}');
    String::from_utf8(out).map_err(|_| "a text is not UTF-8".to_owned())
}

/// Appends a map of pairs. Its keys are no tags, whatever they are.
fn put_pairs<'p>(
    pairs: impl Iterator<Item = (Cow<'p, Field>, &'p Field)>,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    out.extend_from_slice(b"{\"$map\":[");
    for (number, (key, value)) in pairs.enumerate() {
        out.extend_from_slice(if number > 0 { b",[" } else { b"[" });
        put(&key, out)?;
        out.push(b',');
        put(value, out)?;
        out.push(b']');
    }
    out.extend_from_slice(b"]}");
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
            format!("\"{}\"", text.split('T').next().unwrap_or(&text))
        }
        Field::TimestampMillis(millis) => exact_time(*millis, 1_000)?,
        Field::TimestampMicros(micros) => exact_time(*micros, 1_000_000)?,
        Field::TimeMillis(millis) => of_day(i64::from(*millis), 1_000)?,
        Field::TimeMicros(micros) => of_day(*micros, 1_000_000)?,
        Field::Bytes(bytes) => format!("{{\"$binary\":\"{}\"}}", STANDARD.encode(bytes.data())),
        Field::Str(text) => {
            put_json_text(text, out);
            return Ok(());
        }
        Field::Group(row) => {
            let pairs = row.get_column_iter();
            return put_pairs(pairs.map(|(name, value)| (Cow::Owned(Field::Str(name.clone())), value)), out);
        }
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
            return put_pairs(map.entries().iter().map(|(key, value)| (Cow::Borrowed(key), value)), out);
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

/// Returns a time of day in quotes: `12:30:00.5`.
fn of_day(ticks: i64, per_second: i64) -> Result<String, String> {
    let text = exact_time(ticks, per_second)?;
    let (_, time) = text.split_once('T').ok_or("a time of day is too far from midnight")?;
    Ok(format!("\"{}\"", time.trim_end_matches(['"', 'Z'])))
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
        out.clear();
        put(&Field::Date(2_932_897), &mut out).unwrap();
        assert_eq!(out, b"\"10000-01-01\"");
        assert_eq!(of_day(45_000_500, 1_000).unwrap(), "\"12:30:00.500\"");
    }

    #[test]
    fn what_panics_is_damage() {
        assert_eq!(
            guarded(|| -> Result<(), String> { panic!("odd") }),
            Err("the file is damaged".to_owned())
        );
        assert_eq!(guarded(|| Ok::<_, String>(7)), Ok(7));
    }
}
