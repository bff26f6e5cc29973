//! Encodings of text in mail: charsets, base64, quoted-printable, encoded words.
//!
//! Input: text or bytes. Output: bytes for a header or a body. Does not depend on the content of the text.

use encoding_rs::Encoding;

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Groups of three bytes in a line of base64: 76 characters.
const BASE64_LINE_GROUPS: usize = 19;

/// Bytes of text in one encoded word. With the charset's name and base64 it stays within the 75 allowed
/// characters.
const ENCODED_WORD_BYTES_MAX: usize = 30;

/// Returns the charset `label`, or utf-8 if `text` cannot be written in it.
pub(super) fn fitting(text: &str, label: &'static str) -> &'static str {
    let fits = match label {
        "utf-8" => true,
        "us-ascii" => text.is_ascii(),
        _ => !encoding(label).encode(text).2,
    };
    if fits { label } else { "utf-8" }
}

/// Returns `text` in the charset `label`.
pub(super) fn charset(text: &str, label: &str) -> Vec<u8> {
    if label == "us-ascii" || label == "utf-8" {
        return text.as_bytes().to_vec();
    }
    encoding(label).encode(text).0.into_owned()
}

fn encoding(label: &str) -> &'static Encoding {
    Encoding::for_label(label.as_bytes()).expect("the generator names only known charsets")
}

/// Appends `bytes` in base64, without line ends.
pub(super) fn base64(bytes: &[u8], out: &mut Vec<u8>) {
    for group in bytes.chunks(3) {
        let byte = |place: usize| u32::from(group.get(place).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let letter = BASE64[((bits >> (18 - 6 * place)) & 63) as usize];
            out.push(if place as usize > group.len() { b'=' } else { letter });
        }
    }
}

/// Appends `bytes` in base64, in lines of 76 characters.
pub(super) fn base64_lines(bytes: &[u8], out: &mut Vec<u8>) {
    for line in bytes.chunks(BASE64_LINE_GROUPS * 3) {
        base64(line, out);
        out.push(b'\n');
    }
}

/// Appends `bytes` as quoted-printable with soft line ends.
pub(super) fn quoted_printable(bytes: &[u8], out: &mut Vec<u8>) {
    let mut column = 0;
    for &byte in bytes {
        if byte == b'\n' {
            // Servers may remove a space before a line end.
            if out.last() == Some(&b' ') {
                out.pop();
                out.extend_from_slice(b"=20");
            }
            out.push(b'\n');
            column = 0;
            continue;
        }
        if column >= 72 {
            out.extend_from_slice(b"=\n");
            column = 0;
        }
        if (b' '..=b'~').contains(&byte) && byte != b'=' {
            out.push(byte);
            column += 1;
        } else {
            push_hex(byte, out);
            column += 3;
        }
    }
}

/// Appends `text` for a header: unchanged if it is ASCII, otherwise in encoded words of the charset `label`
/// if it can be written in that.
pub(super) fn header_text(text: &str, label: &'static str, out: &mut Vec<u8>) {
    if text.is_ascii() {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    let label = fitting(text, label);
    let mut rest = text;
    while !rest.is_empty() {
        let mut end = rest.len().min(ENCODED_WORD_BYTES_MAX);
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        let (piece, after) = rest.split_at(end);
        encoded_word(&charset(piece, label), label, out);
        rest = after;
        if !rest.is_empty() {
            out.extend_from_slice(b"\n ");
        }
    }
}

/// Appends one encoded word. Like in mail programs, scripts with few ASCII letters use base64, others the Q
/// form.
fn encoded_word(bytes: &[u8], label: &str, out: &mut Vec<u8>) {
    let plain = bytes.iter().filter(|byte| byte.is_ascii_alphanumeric()).count();
    let quoted = plain * 2 > bytes.len() && !label.starts_with("iso-2022");
    out.extend_from_slice(format!("=?{label}?{}?", if quoted { 'Q' } else { 'B' }).as_bytes());
    if quoted {
        for &byte in bytes {
            match byte {
                b' ' => out.push(b'_'),
                byte if byte.is_ascii_alphanumeric() => out.push(byte),
                byte => push_hex(byte, out),
            }
        }
    } else {
        base64(bytes, out);
    }
    out.extend_from_slice(b"?=");
}

fn push_hex(byte: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(&[b'=', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn base64_of_every_remainder() {
        assert_eq!(text(|out| base64(b"", out)), "");
        assert_eq!(text(|out| base64(b"f", out)), "Zg==");
        assert_eq!(text(|out| base64(b"fo", out)), "Zm8=");
        assert_eq!(text(|out| base64(b"foobar", out)), "Zm9vYmFy");
        let lines = text(|out| base64_lines(&[0; 58], out));
        assert_eq!(lines, format!("{}\nAA==\n", "A".repeat(76)));
    }

    #[test]
    fn quoted_printable_hides_what_could_be_lost() {
        assert_eq!(text(|out| quoted_printable("a=ü \n".as_bytes(), out)), "a=3D=C3=BC=20\n");
        let long = text(|out| quoted_printable(&[b'a'; 200], out));
        assert!(long.lines().all(|line| line.len() <= 76));
        assert_eq!(long.replace("=\n", ""), "a".repeat(200));
    }

    #[test]
    fn header_text_is_encoded_only_where_it_must_be() {
        assert_eq!(text(|out| header_text("plain", "utf-8", out)), "plain");
        assert_eq!(text(|out| header_text("Grün e", "iso-8859-1", out)), "=?iso-8859-1?Q?Gr=FCn_e?=");
        assert_eq!(text(|out| header_text("мир", "koi8-r", out)), "=?koi8-r?B?zcnS?=");
        assert_eq!(text(|out| header_text("мир", "us-ascii", out)), "=?utf-8?B?0LzQuNGA?=");
        let long = text(|out| header_text(&"ж".repeat(40), "utf-8", out));
        assert!(long.lines().all(|line| line.trim().len() <= 75), "{long}");
    }
}
