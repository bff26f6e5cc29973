//! The words for values that msgpack has no type for: decimals, UUIDs, times, intervals.
//!
//! Input: the number of an extension's type, and its bytes. Output: what it means, as text. Bytes that do
//! not fit their type have no words; the caller prints them as bytes.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use super::civil;
use crate::decimal::Decimal;
use crate::file::header::uuid_text;
use crate::msgpack::{Reader, put_ext, put_int, put_uint};
use std::io::Write;

/// The numbers of the extensions' types.
const DECIMAL: i8 = 1;
const UUID: i8 = 2;
const DATETIME: i8 = 4;
const INTERVAL: i8 = 6;
/// The units of an interval, by the number of the part.
const UNITS: [&str; 8] = ["years", "months", "weeks", "days", "hours", "minutes", "seconds", "nanoseconds"];
/// What happens to a day that the month of a sum lacks, by number.
const ADJUSTS: [&str; 3] = ["excess", "limit", "snap"];

/// A value of an extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Extension<'a> {
    Decimal(Decimal),
    Uuid([u8; 16]),
    Datetime(Datetime),
    Interval(Interval),
    /// Another type, or bytes that do not fit the type.
    Other(i8, &'a [u8]),
}

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Datetime {
    seconds: i64,
    nanoseconds: u32,
    offset_minutes: i16,
    /// The number of a zone in Tarantool's list; 0 if there is none.
    pub(super) zone: i16,
}

/// A distance in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Interval {
    /// By the order of [`UNITS`].
    parts: [i64; UNITS.len()],
    /// By the order of [`ADJUSTS`].
    adjust: usize,
}

impl<'a> Extension<'a> {
    /// Reads the bytes of an extension.
    pub(super) fn read(number: i8, bytes: &'a [u8]) -> Extension<'a> {
        let known = match number {
            DECIMAL => Decimal::unpack(bytes).map(Extension::Decimal),
            UUID => bytes.try_into().ok().map(Extension::Uuid),
            DATETIME => datetime(bytes).map(Extension::Datetime),
            INTERVAL => interval(bytes).map(Extension::Interval),
            _ => None,
        };
        known.unwrap_or(Extension::Other(number, bytes))
    }

    /// Appends the value as people read it. Returns whether there are words for it.
    pub(super) fn put_words(&self, out: &mut Vec<u8>) -> bool {
        let written = match self {
            Extension::Decimal(decimal) => write!(out, "{decimal}"),
            Extension::Uuid(uuid) => out.write_all(uuid_text(uuid).as_bytes()),
            Extension::Datetime(datetime) => {
                datetime.put(out);
                Ok(())
            }
            Extension::Interval(interval) => out.write_all(interval.words().as_bytes()),
            Extension::Other(..) => return false,
        };
        written.expect("a vector takes all bytes");
        true
    }
}

impl Datetime {
    /// Appends it as text.
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        civil::put_time(self.seconds, self.nanoseconds, self.offset_minutes, out);
    }
}

impl Interval {
    /// Returns the parts that are not 0, each with the name of its unit, then the adjustment.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&'static str, i64)> + '_ {
        UNITS.into_iter().zip(self.parts).filter(|(_, value)| *value != 0)
    }

    /// Returns what happens to a day that the month of a sum lacks, unless that is the usual.
    pub(super) fn adjust(&self) -> Option<&'static str> {
        ADJUSTS.get(self.adjust).copied().filter(|_| self.adjust != 1)
    }

    fn words(&self) -> String {
        let parts: Vec<String> = self.parts().map(|(unit, value)| format!("{value:+} {unit}")).collect();
        if parts.is_empty() { "0 seconds".to_owned() } else { parts.join(", ") }
    }
}

/// Seconds in 8 bytes; then, unless all are 0, nanoseconds in 4, an offset and a zone in 2 each. The lowest
/// byte comes first.
fn datetime(bytes: &[u8]) -> Option<Datetime> {
    let (seconds, rest) = bytes.split_first_chunk::<8>()?;
    let mut datetime =
        Datetime { seconds: i64::from_le_bytes(*seconds), nanoseconds: 0, offset_minutes: 0, zone: 0 };
    if !rest.is_empty() {
        let (nanoseconds, rest) = rest.split_first_chunk::<4>()?;
        let (offset, zone) = rest.split_first_chunk::<2>()?;
        datetime.nanoseconds = u32::from_le_bytes(*nanoseconds);
        datetime.offset_minutes = i16::from_le_bytes(*offset);
        datetime.zone = i16::from_le_bytes(zone.try_into().ok()?);
    }
    let in_day = (-1440..=1440).contains(&datetime.offset_minutes);
    (in_day && civil::put_time(datetime.seconds, datetime.nanoseconds, 0, &mut Vec::new()))
        .then_some(datetime)
}

/// The number of parts, then the number of each part and its value. Parts that are 0 are missing.
fn interval(bytes: &[u8]) -> Option<Interval> {
    let (&count, rest) = bytes.split_first()?;
    let mut reader = Reader::new(rest);
    let mut interval = Interval::default();
    for _ in 0..count {
        let number = usize::try_from(reader.uint().ok()?).ok()?;
        let value = i64::try_from(reader.int().ok()?).ok()?;
        match interval.parts.get_mut(number) {
            Some(part) => *part = value,
            None if number == UNITS.len() => {
                interval.adjust = usize::try_from(value).ok().filter(|&adjust| adjust < ADJUSTS.len())?;
            }
            None => return None,
        }
    }
    reader.is_empty().then_some(interval)
}

/// Appends a time that is written as text, with the number of a named zone, as an extension. Returns `None`
/// if it is no time.
pub(crate) fn put_datetime(text: &str, zone: i16, out: &mut Vec<u8>) -> Option<()> {
    let (seconds, nanoseconds, offset_minutes) = civil::exact_time_of_text(text)?;
    let mut bytes = seconds.to_le_bytes().to_vec();
    if (nanoseconds, offset_minutes, zone) != (0, 0, 0) {
        bytes.extend(nanoseconds.to_le_bytes());
        bytes.extend(offset_minutes.to_le_bytes());
        bytes.extend(zone.to_le_bytes());
    }
    datetime(&bytes)?;
    put_ext(out, DATETIME, &bytes);
    Some(())
}

/// Appends an interval from the object with its parts, as `--exact` writes it. Returns `None` if it is none.
pub(crate) fn put_interval(json: &str, out: &mut Vec<u8>) -> Option<()> {
    let parts: serde_json::Map<String, serde_json::Value> = serde_json::from_str(json).ok()?;
    let (mut bytes, mut has_adjust) = (Vec::new(), false);
    for (name, value) in &parts {
        let number = UNITS.iter().position(|unit| unit == name);
        let (number, value) = match number {
            Some(number) => (number, value.as_i64()?),
            None if name == "adjust" => {
                has_adjust = true;
                let adjust = ADJUSTS.iter().position(|adjust| value.as_str() == Some(adjust))?;
                (UNITS.len(), i64::try_from(adjust).ok()?)
            }
            None => return None,
        };
        put_uint(&mut bytes, number as u64);
        put_int(&mut bytes, value);
    }
    let mut count = u8::try_from(parts.len()).ok()?;
    if !has_adjust {
        // The usual one is written, too, as Tarantool does.
        put_uint(&mut bytes, UNITS.len() as u64);
        put_int(&mut bytes, 1);
        count = count.saturating_add(1);
    }
    bytes.insert(0, count);
    put_ext(out, INTERVAL, &bytes);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(number: i8, bytes: &[u8]) -> Option<String> {
        let mut out = Vec::new();
        Extension::read(number, bytes).put_words(&mut out).then(|| String::from_utf8(out).unwrap())
    }

    #[test]
    fn known_values_have_words_and_others_none() {
        assert_eq!(words(1, &[2, 0x12, 0x3c]).unwrap(), "1.23");
        assert_eq!(words(2, &[0x11; 16]).unwrap(), "11111111-1111-1111-1111-111111111111");
        let mut time = 1_709_296_200_i64.to_le_bytes().to_vec();
        assert_eq!(words(4, &time).unwrap(), "2024-03-01T12:30:00Z");
        time.extend([0, 101, 205, 29, 180, 0, 7, 0]);
        assert_eq!(words(4, &time).unwrap(), "2024-03-01T15:30:00.5+0300");
        assert_eq!(words(6, &[3, 0, 1, 4, 0xfd, 8, 1]).unwrap(), "+1 years, -3 hours");
        assert_eq!(words(6, &[0]).unwrap(), "0 seconds");
        for (number, bytes) in [
            (1, &[] as &[u8]),
            (2, &[1; 15]),
            (4, &[0; 7]),
            (4, &[0; 9]),
            (4, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
            (6, &[]),
            (6, &[1, 9, 1]),
            (6, &[1, 8, 7]),
            (6, &[1, 0, 1, 1]),
            (6, &[2, 0, 1]),
            (3, &[0]),
        ] {
            assert_eq!(words(number, bytes), None, "{number} {bytes:?}");
        }
    }
}
