//! Writes JSON exactly as Go's `encoding/json` does.
//!
//! restic writes all its JSON with that package. A tree that is written in any other way would have another
//! name. Its rules: no spaces; `<`, `>`, `&`, U+2028 and U+2029 are escaped; a byte that is not UTF-8
//! becomes `\ufffd` (`appendString` in <https://go.dev/src/encoding/json/encode.go>); bytes are base64 with
//! padding; times are RFC 3339.

use crate::encoding::decimal::push_decimal;
use crate::encoding::id::Id;
use crate::encoding::time::Time;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Appends JSON to bytes. Adds commas by itself; the caller must end each object and array.
#[derive(Debug)]
pub struct JsonWriter<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> JsonWriter<'a> {
    /// Appends to `out`, whose content counts as JSON that continues here.
    pub fn new(out: &'a mut Vec<u8>) -> JsonWriter<'a> {
        JsonWriter { out }
    }

    /// Begins an object.
    pub fn begin_object(&mut self) {
        self.begin_value();
        self.out.push(b'{');
    }

    /// Ends an object.
    pub fn end_object(&mut self) {
        self.out.push(b'}');
    }

    /// Begins an array.
    pub fn begin_array(&mut self) {
        self.begin_value();
        self.out.push(b'[');
    }

    /// Ends an array.
    pub fn end_array(&mut self) {
        self.out.push(b']');
    }

    /// Writes the name of an object's next value. The name must need no escapes.
    pub fn field(&mut self, name: &str) {
        debug_assert!(name.bytes().all(|byte| PLAIN[usize::from(byte)]), "a field's name needs no escapes");
        self.begin_value();
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
    }

    /// Writes text. Each byte that is not UTF-8 becomes U+FFFD.
    pub fn string(&mut self, text: &[u8]) {
        self.begin_value();
        self.out.push(b'"');
        self.escaped(text);
        self.out.push(b'"');
    }

    /// Writes a number.
    pub fn number(&mut self, number: u64) {
        self.begin_value();
        push_decimal(self.out, number, 1);
    }

    /// Writes a number that may be negative.
    pub fn signed(&mut self, number: i64) {
        self.begin_value();
        if number < 0 {
            self.out.push(b'-');
        }
        push_decimal(self.out, number.unsigned_abs(), 1);
    }

    /// Writes `true` or `false`.
    pub fn boolean(&mut self, value: bool) {
        self.begin_value();
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
    }

    /// Writes `null`.
    pub fn null(&mut self) {
        self.begin_value();
        self.out.extend_from_slice(b"null");
    }

    /// Writes an id.
    pub fn id(&mut self, id: &Id) {
        self.begin_value();
        let mut text = [b'"'; 66];
        // Computed, not looked up: so a processor does many at once.
        let letter = |digit: u8| digit + if digit < 10 { b'0' } else { b'a' - 10 };
        for (letters, byte) in text[1..65].as_chunks_mut().0.iter_mut().zip(id.0) {
            *letters = [letter(byte >> 4), letter(byte & 15)];
        }
        self.out.extend_from_slice(&text);
    }

    /// Writes bytes as base64.
    pub fn base64(&mut self, bytes: &[u8]) {
        self.begin_value();
        self.out.push(b'"');
        let begin = self.out.len();
        self.out.resize(begin + bytes.len().div_ceil(3) * 4, 0);
        STANDARD
            .encode_slice(bytes, &mut self.out[begin..])
            .expect("three bytes become four letters, and there is room for as many");
        self.out.push(b'"');
    }

    /// Writes a time.
    pub fn time(&mut self, time: &Time) {
        self.begin_value();
        self.out.push(b'"');
        time.write(self.out);
        self.out.push(b'"');
    }

    /// Writes an array of text.
    pub fn strings<T: AsRef<[u8]>>(&mut self, texts: &[T]) {
        self.begin_array();
        for text in texts {
            self.string(text.as_ref());
        }
        self.end_array();
    }

    /// Writes a comma if there is a value before this one. After one of these characters there is none; a
    /// text that ends with one of them is closed by a quote.
    fn begin_value(&mut self) {
        if !matches!(self.out.last(), None | Some(b'{' | b'[' | b':')) {
            self.out.push(b',');
        }
    }

    fn escaped(&mut self, text: &[u8]) {
        let mut rest = text;
        loop {
            let plain = rest.iter().position(|&byte| !PLAIN[usize::from(byte)]).unwrap_or(rest.len());
            let (before, behind) = rest.split_at(plain);
            self.out.extend_from_slice(before);
            let Some(&byte) = behind.first() else { return };
            rest = if byte < 0x80 {
                self.escape(byte);
                &behind[1..]
            } else {
                self.beyond_ascii(behind)
            };
        }
    }

    fn escape(&mut self, byte: u8) {
        let short = match byte {
            b'"' | b'\\' => byte,
            0x08 => b'b',
            0x0c => b'f',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            _ => {
                self.out.extend_from_slice(b"\\u00");
                self.out.push(HEXADECIMAL[usize::from(byte >> 4)]);
                self.out.push(HEXADECIMAL[usize::from(byte & 15)]);
                return;
            }
        };
        self.out.extend_from_slice(&[b'\\', short]);
    }

    /// Writes the letters beyond ASCII that `text` begins with, and returns what follows.
    fn beyond_ascii<'t>(&mut self, text: &'t [u8]) -> &'t [u8] {
        let end = text.iter().position(u8::is_ascii).unwrap_or(text.len());
        let (letters, rest) = text.split_at(end);
        for chunk in letters.utf8_chunks() {
            let mut valid = chunk.valid();
            while let Some(place) = valid.find(['\u{2028}', '\u{2029}']) {
                self.out.extend_from_slice(&valid.as_bytes()[..place]);
                let is_first = valid[place..].starts_with('\u{2028}');
                self.out.extend_from_slice(if is_first { b"\\u2028" } else { b"\\u2029" });
                valid = &valid[place + '\u{2028}'.len_utf8()..];
            }
            self.out.extend_from_slice(valid.as_bytes());
            // Go takes a letter that is cut off byte by byte.
            for _ in chunk.invalid() {
                self.out.extend_from_slice(b"\\ufffd");
            }
        }
        rest
    }
}

const HEXADECIMAL: [u8; 16] = *b"0123456789abcdef";

/// The bytes that need no escape in text.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = b' ';
    while byte < 0x80 {
        plain[byte as usize] = !matches!(byte, b'"' | b'\\' | b'<' | b'>' | b'&');
        byte += 1;
    }
    plain
};

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut JsonWriter<'_>)) -> String {
        let mut out = Vec::new();
        write(&mut JsonWriter::new(&mut out));
        String::from_utf8(out).unwrap()
    }

    /// Made with Go 1.26: `json.Marshal(string)`.
    #[test]
    fn text_is_escaped_as_by_go() {
        let cases: [(&[u8], &str); 12] = [
            (b"plain", r#""plain""#),
            (b"", r#""""#),
            (b"<a href=\"x\">&amp;\\</a>", r#""\u003ca href=\"x\"\u003e\u0026amp;\\\u003c/a\u003e""#),
            (b"\x00\x01\x08\t\n\x0b\x0c\r\x1f\x7f", "\"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f\x7f\""),
            (
                "grüße \u{2028}\u{2029} \u{2027} \u{202a} 📮".as_bytes(),
                "\"grüße \\u2028\\u2029 \u{2027} \u{202a} 📮\"",
            ),
            (b"\xff", r#""\ufffd""#),
            (b"a\xe2\x82b", r#""a\ufffd\ufffdb""#),
            (b"\xf0\x9f\x93", r#""\ufffd\ufffd\ufffd""#),
            (b"\xc0\xaf\xed\xa0\x80z", r#""\ufffd\ufffd\ufffd\ufffd\ufffdz""#),
            (b"\xe2\x80\xa8", r#""\u2028""#),
            (b"\xe2\x80", r#""\ufffd\ufffd""#),
            (b"{[:,", r#""{[:,""#),
        ];
        for (text, wanted) in cases {
            assert_eq!(written(|json| json.string(text)), wanted, "{text:?}");
        }
    }

    #[test]
    fn every_letter_is_read_again_by_a_stranger() {
        let all: String = (0..=u32::from(char::MAX)).filter_map(char::from_u32).collect();
        let json = written(|json| json.string(all.as_bytes()));
        assert!(serde_json::from_str::<String>(&json).unwrap() == all);
    }

    /// Made with Go 1.26: `json.Marshal([]byte)`.
    #[test]
    fn bytes_are_base64() {
        let cases: [(&[u8], &str); 5] = [
            (&[], r#""""#),
            (&[0], r#""AA==""#),
            (&[1, 2], r#""AQI=""#),
            (&[250, 251, 252], r#""+vv8""#),
            (&[255, 254, 253, 252], r#""//79/A==""#),
        ];
        for (bytes, wanted) in cases {
            assert_eq!(written(|json| json.base64(bytes)), wanted);
        }
    }

    #[test]
    fn numbers_have_all_their_digits() {
        for number in [0, 9, 10, 99, 100, 12_345, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            assert_eq!(written(|json| json.number(number)), number.to_string());
        }
        for number in [0, 1, -1, i64::MAX, i64::MIN] {
            assert_eq!(written(|json| json.signed(number)), number.to_string());
        }
    }

    #[test]
    fn commas_come_by_themselves() {
        let json = written(|json| {
            json.begin_object();
            json.field("text");
            json.string(b":");
            json.field("list");
            json.strings(&["{", "["]);
            json.field("empty");
            json.strings::<&str>(&[]);
            json.field("rest");
            json.begin_array();
            json.begin_object();
            json.end_object();
            json.begin_object();
            json.field("id");
            json.id(&Id([0xa5; Id::BYTES]));
            json.field("when");
            json.time(&Time::new(0, 5, 0));
            json.end_object();
            json.null();
            json.boolean(true);
            json.boolean(false);
            json.number(1);
            json.signed(-2);
            json.end_array();
            json.end_object();
        });
        let id = "a5".repeat(32);
        assert_eq!(
            json,
            format!(
                r#"{{"text":":","list":["{{","["],"empty":[],"rest":[{{}},{{"id":"{id}","when":"1970-01-01T00:00:00.000000005Z"}},null,true,false,1,-2]}}"#
            )
        );
    }
}
