//! Bodies with one part or many, in every structure that occurs in mail.
//!
//! Input: the text, and the structure. Output: MIME. Does not know who wrote it.

use super::encode::{base64_lines, charset as encoded, fitting, header_text, quoted_printable};
use super::facts::ATTACHMENT_NAME;
use super::shape::{Oddity, Shape, Structure};
use super::text;
use super::words::vocabulary;
use crate::random::Random;

/// The shortest attached file. Most are not much longer.
const ATTACHMENT_BYTES_MIN: u64 = 600;
/// The longest attached file.
const ATTACHMENT_BYTES_MAX: u64 = 900_000;

/// The kinds of files that people attach: ending and type.
const FILE_KINDS: [(&str, &str); 6] = [
    ("pdf", "application/pdf"),
    ("jpg", "image/jpeg"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("zip", "application/zip"),
    ("png", "image/png"),
    ("csv", "text/csv"),
];

/// A text that becomes parts.
struct Written<'a> {
    text: &'a str,
    charset: &'static str,
    /// The charset that the header states, which is not always true.
    label: &'static str,
}

/// Appends the headers of the content, an empty line and the content.
pub(super) fn append(
    shape: &Shape,
    text: &str,
    charset: &'static str,
    random: &mut Random,
    out: &mut Vec<u8>,
) {
    let text = if shape.oddity == Some(Oddity::EmptyBody) { "" } else { text };
    let charset = fitting(text, charset);
    let label = if shape.oddity == Some(Oddity::UnknownCharset) { "x-tube-17" } else { charset };
    let written = &Written { text, charset, label };
    match shape.structure {
        Structure::Plain => plain_part(written, random, out),
        Structure::Html => html_part(written, random, out),
        Structure::Encrypted => multipart("encrypted", shape, random, out, &mut encrypted_parts()),
        structure => {
            let (kind, mut parts) = parts(structure, shape, written);
            multipart(kind, shape, random, out, &mut parts);
        }
    }
    if shape.oddity == Some(Oddity::Nul) {
        out.extend_from_slice(b"zero \0 and \0\0\n");
    }
}

/// Writes one part: headers, empty line, content.
type Part<'a> = Box<dyn FnMut(&mut Random, &mut Vec<u8>) + 'a>;

fn parts<'a>(
    structure: Structure,
    shape: &'a Shape,
    written: &'a Written<'a>,
) -> (&'static str, Vec<Part<'a>>) {
    let plain: Part<'a> = Box::new(move |random, out| plain_part(written, random, out));
    match structure {
        Structure::Alternative => {
            let html: Part<'a> = Box::new(move |random, out| html_part(written, random, out));
            ("alternative", vec![plain, html])
        }
        Structure::Forward => ("mixed", vec![plain, Box::new(move |_, out| forward(shape, out))]),
        Structure::Signed => ("signed", vec![plain, Box::new(signature)]),
        Structure::Invitation => ("alternative", vec![plain, Box::new(move |_, out| invitation(shape, out))]),
        _ => {
            let count =
                1 + usize::from(shape.number.is_multiple_of(4)) + usize::from(shape.number.is_multiple_of(9));
            let mut parts = vec![plain];
            for place in 0..count {
                parts.push(Box::new(move |random, out| attachment(shape, place, random, out)));
            }
            ("mixed", parts)
        }
    }
}

fn multipart(kind: &str, shape: &Shape, random: &mut Random, out: &mut Vec<u8>, parts: &mut [Part<'_>]) {
    let boundary = format!("=_{:016x}", random.next_u64());
    let protocol = match kind {
        "signed" => "; micalg=pgp-sha512;\n protocol=\"application/pgp-signature\"",
        "encrypted" => ";\n protocol=\"application/pgp-encrypted\"",
        _ => "",
    };
    let head = format!("Content-Type: multipart/{kind}{protocol};\n boundary=\"{boundary}\"\n\n");
    out.extend_from_slice(head.as_bytes());
    for part in parts {
        out.extend_from_slice(format!("--{boundary}\n").as_bytes());
        part(random, out);
        out.push(b'\n');
    }
    if shape.oddity != Some(Oddity::OpenBoundary) {
        out.extend_from_slice(format!("--{boundary}--\n").as_bytes());
    }
}

fn plain_part(written: &Written<'_>, random: &mut Random, out: &mut Vec<u8>) {
    text_part("plain", written.text, written, random, out);
}

fn html_part(written: &Written<'_>, random: &mut Random, out: &mut Vec<u8>) {
    text_part("html", &text::html(written.text), written, random, out);
}

fn text_part(kind: &str, text: &str, written: &Written<'_>, random: &mut Random, out: &mut Vec<u8>) {
    let bytes = encoded(text, written.charset);
    let transfer = match random.below(10) {
        _ if written.charset == "us-ascii" || written.charset == "iso-2022-jp" => "7bit",
        0..4 => "8bit",
        4..8 => "quoted-printable",
        _ => "base64",
    };
    let head = format!(
        "Content-Type: text/{kind}; charset={}\nContent-Transfer-Encoding: {transfer}\n\n",
        written.label
    );
    out.extend_from_slice(head.as_bytes());
    match transfer {
        "quoted-printable" => quoted_printable(&bytes, out),
        "base64" => base64_lines(&bytes, out),
        _ => out.extend_from_slice(&bytes),
    }
}

fn attachment(shape: &Shape, place: usize, random: &mut Random, out: &mut Vec<u8>) {
    let (ending, mime) = *random.pick(&FILE_KINDS);
    let words = vocabulary(shape.language);
    let name = if shape.marks.attachment && place == 0 {
        ATTACHMENT_NAME.to_owned()
    } else {
        format!("{}-{}.{ending}", words.word(random), words.rare_word(random))
    };
    out.extend_from_slice(
        format!("Content-Type: {mime}\nContent-Disposition: attachment;\n filename").as_bytes(),
    );
    if name.is_ascii() {
        out.extend_from_slice(format!("=\"{name}\"").as_bytes());
    } else if random.per_mille(500) {
        // RFC 2231.
        out.extend_from_slice(b"*=utf-8''");
        for byte in name.bytes() {
            out.extend_from_slice(format!("%{byte:02X}").as_bytes());
        }
    } else {
        out.extend_from_slice(b"=\"");
        header_text(&name, "utf-8", out);
        out.push(b'"');
    }
    out.extend_from_slice(b"\nContent-Transfer-Encoding: base64\n\n");
    let mut bytes = vec![0; attachment_bytes(random)];
    random.fill(&mut bytes);
    base64_lines(&bytes, out);
}

/// Each doubling of the size is about equally likely. Large sizes are rarer at the end.
fn attachment_bytes(random: &mut Random) -> usize {
    let doublings = random.below(9).min(random.below(10));
    let bytes = random.between(ATTACHMENT_BYTES_MIN, ATTACHMENT_BYTES_MIN * 2) << doublings;
    usize::try_from(bytes.min(ATTACHMENT_BYTES_MAX)).expect("below the limit")
}

fn forward(shape: &Shape, out: &mut Vec<u8>) {
    let head = format!(
        "Content-Type: message/rfc822\nContent-Disposition: inline\n\nFrom: Someone Else \
         <else@tube.example>\n\
         To: robin@tube.example\nSubject: Forwarded {0}\nMessage-ID: <inner.{0}@tube.example>\n\
         Content-Type: text/plain; charset=utf-8\n\nInner message {0}.\n",
        shape.number
    );
    out.extend_from_slice(head.as_bytes());
}

fn signature(random: &mut Random, out: &mut Vec<u8>) {
    out.extend_from_slice(b"Content-Type: application/pgp-signature; name=signature.asc\n\n");
    armour("SIGNATURE", 300, random, out);
}

fn encrypted_parts() -> [Part<'static>; 2] {
    [
        Box::new(|_, out| out.extend_from_slice(b"Content-Type: application/pgp-encrypted\n\nVersion: 1\n")),
        Box::new(|random, out| {
            out.extend_from_slice(b"Content-Type: application/octet-stream; name=encrypted.asc\n\n");
            armour("MESSAGE", 3000, random, out);
        }),
    ]
}

fn armour(kind: &str, bytes: usize, random: &mut Random, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("-----BEGIN PGP {kind}-----\n\n").as_bytes());
    let mut noise = vec![0; bytes];
    random.fill(&mut noise);
    base64_lines(&noise, out);
    out.extend_from_slice(format!("-----END PGP {kind}-----\n").as_bytes());
}

fn invitation(shape: &Shape, out: &mut Vec<u8>) {
    let body = format!(
        "Content-Type: text/calendar; charset=utf-8; method=REQUEST\n\nBEGIN:VCALENDAR\nVERSION:2.0\n\
         METHOD:REQUEST\nBEGIN:VEVENT\nUID:{0}@tube.example\nSUMMARY:Meeting {0}\nDTSTART:20240105T100000Z\n\
         END:VEVENT\nEND:VCALENDAR\n",
        shape.number
    );
    out.extend_from_slice(body.as_bytes());
}
