//! JSON Lines: one message on one line.
//!
//! In: records. Out: lines of JSON. Characters that a terminal would act on are written as `\u` escapes, which changes nothing for
//! whoever reads JSON. Must not know which keys a record has.

use crate::format::record::Record;
use crate::format::{Listed, Need, Printer};
use crate::sanitise::first_harmful;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;
use std::io::{self, Write};

/// Prints JSON Lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Json;

impl Printer for Json {
    fn need(&self) -> Need {
        Need::ALL
    }

    fn print(&self, listed: &Listed, out: &mut Vec<u8>) {
        line(&Record::from_list(listed), out);
    }
}

/// Appends a record as a line.
pub(crate) fn line(record: &Record<'_>, out: &mut Vec<u8>) {
    any_line(record, out);
}

/// Appends anything else as a line.
pub(crate) fn any_line(record: &impl Serialize, out: &mut Vec<u8>) {
    let mut serializer = Serializer::with_formatter(&mut *out, Harmless);
    record.serialize(&mut serializer).expect("writing to memory does not fail, and all keys are strings");
    out.push(b'\n');
}

/// Writes compact JSON with harmful characters escaped.
pub(crate) struct Harmless;

impl Formatter for Harmless {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, character)) = first_harmful(rest) {
            let (before, behind) = rest.split_at(at);
            write!(writer, "{before}\\u{:04x}", u32::from(character))?;
            rest = &behind[character.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitise::is_harmful;

    fn written(text: &str) -> String {
        let mut out = Vec::new();
        text.serialize(&mut Serializer::with_formatter(&mut out, Harmless)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_character_comes_back_and_none_is_harmful() {
        for character in '\0'..=char::MAX {
            let text = format!("a{character}b");
            let json = written(&text);
            assert!(!json.contains(is_harmful), "{character:?}");
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }

    #[test]
    fn escapes_look_like_those_of_json() {
        assert_eq!(written("a\u{9b}1m\"\n\u{202e}"), "\"a\\u009b1m\\\"\\n\\u202e\"");
    }
}
