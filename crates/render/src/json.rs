//! JSON Lines: one message on one line.
//!
//! Input: records. Output: lines of JSON. Characters that a terminal would act on are written as `\u`
//! escapes, which a JSON parser reads as the same characters. Does not depend on which keys a record has.

use crate::listed::{Listed, Need, Printer};
use crate::record::Record;
use serde::Serialize;

/// Prints JSON Lines.
#[derive(Clone, Copy, Debug)]
pub struct Json;

impl Printer for Json {
    fn need(&self) -> Need {
        Need::ALL
    }

    fn print(&self, listed: &Listed, out: &mut Vec<u8>) {
        line(&Record::from_list(listed), out);
    }
}

/// Appends a record as a line.
pub fn line(record: &Record<'_>, out: &mut Vec<u8>) {
    any_line(record, out);
}

/// Appends anything else as a line.
pub fn any_line(record: &impl Serialize, out: &mut Vec<u8>) {
    printable::json::put(record, out);
    out.push(b'\n');
}
