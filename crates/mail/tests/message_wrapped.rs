//! Messages nested beyond every limit: forms in alternatives, and S/MIME.
//!
//! Each must be cut at its limit, with a problem. No test measures time.

use crate::message::parsed;
use mail::{Problem, limits};
use std::io::Write;

const SIGNED_DATA: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02";
const COMPRESSED_DATA: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x01\x09";

fn alternative(plain: &str, html: &str) -> String {
    format!(
        "Content-Type: multipart/alternative; boundary=a\n\n--a\n\n{plain}\n\
         --a\nContent-Type: text/html\n\n{html}\n--a--\n"
    )
}

/// Returns `count` words of ten letters, none twice.
fn words(begin: char, count: usize) -> String {
    (0..count).map(|number| format!("{begin}{number:09}<br>\n")).collect()
}

/// Encodes a value in DER.
fn value(tag: u8, content: &[u8]) -> Vec<u8> {
    [&[tag, 0x84][..], &u32::try_from(content.len()).unwrap().to_be_bytes(), content].concat()
}

/// Returns a message that S/MIME wraps around a content.
fn wrapped(kind: &[u8], content: &[u8]) -> Vec<u8> {
    let inner = [value(6, b"\x2a"), value(0xa0, &value(4, content))].concat();
    let fields = [value(2, b"\x01"), value(0x31, b""), value(0x30, &inner), value(0x31, b"")].concat();
    let info = value(0x30, &[value(6, kind), value(0xa0, &value(0x30, &fields))].concat());
    [b"Content-Type: application/pkcs7-mime\nContent-Transfer-Encoding: binary\n\n", &info[..]].concat()
}

#[test]
fn all_forms_together_have_the_limit_of_a_text() {
    let (plain, html) = (words('a', 100_000).replace("<br>", ""), words('b', 100_000));
    let message = parsed(alternative(&plain, &html));
    let form = &message.other_forms[0];
    assert_eq!((message.text.len(), message.other_forms.len()), (1_099_999, 1));
    assert!(message.text.len() + form.text.len() <= limits::TEXT_BYTES_MAX);
    assert!(message.text.len() + form.text.len() > limits::TEXT_BYTES_MAX - 20, "{}", form.text.len());
    assert_eq!(message.problems.iter().filter(|problem| **problem == Problem::TextCut).count(), 1);
    let message = parsed(alternative(&plain, &words('b', 80_000)));
    assert!(!message.problems.contains(&Problem::TextCut));
}

#[test]
fn forms_over_the_limit_are_left_out() {
    let piece = |number: usize| format!("--b\n{}", alternative("text", &format!("<p>word{number}")));
    let pieces: String = (0..limits::FORM_COUNT_MAX + 5).map(piece).collect();
    let message = parsed(format!("Content-Type: multipart/mixed; boundary=b\n\n{pieces}--b--\n"));
    assert_eq!(message.other_forms.len(), limits::FORM_COUNT_MAX);
    assert!(message.problems.contains(&Problem::TextCut));
}

/// Each alternative compares its HTML.
#[test]
fn alternatives_in_alternatives_are_compared_once() {
    let html = format!("Content-Type: text/html\n\n{}\n", "<i>".repeat(1 << 20));
    let message = (0..limits::MIME_DEPTH_MAX).fold(html, |inner, depth| {
        format!(
            "Content-Type: multipart/alternative; boundary=b{depth}\n\n\
             --b{depth}\n\nx\n--b{depth}\n{inner}--b{depth}--\n"
        )
    });
    assert!(parsed(message).text.starts_with('x'));
}

#[test]
fn signed_content_in_signed_content_has_the_limits_of_all_parts() {
    let nested = |count: usize| {
        (0..count)
            .fold(b"Content-Type: text/plain\n\nneedle\n".to_vec(), |inner, _| wrapped(SIGNED_DATA, &inner))
    };
    for (depth, is_found) in [(1, true), (limits::MIME_DEPTH_MAX, true), (limits::MIME_DEPTH_MAX + 1, false)]
    {
        let message = parsed(nested(depth));
        assert_eq!(message.text == "needle", is_found, "{depth}");
        assert_eq!(message.problems.contains(&Problem::SmimeCut), !is_found, "{depth}");
    }
    let parts = "--b\n\nx\n".repeat(limits::PART_COUNT_MAX);
    let many = format!("Content-Type: multipart/mixed; boundary=b\n\n{parts}--b--\n");
    let message = parsed(wrapped(SIGNED_DATA, many.as_bytes()));
    assert_eq!(message.text.lines().filter(|line| *line == "x").count(), limits::PART_COUNT_MAX - 2);
}

#[test]
fn what_comes_out_has_a_limit() {
    let large = [b"Content-Type: a/b\n\n".to_vec(), vec![b'x'; limits::SMIME_BYTES_MAX / 2]].concat();
    let message = parsed(wrapped(SIGNED_DATA, &wrapped(SIGNED_DATA, &large)));
    assert_eq!(message.mime_types, ["application/pkcs7-mime"]);
    assert!(message.problems.contains(&Problem::SmimeCut));
    assert_eq!(parsed(wrapped(SIGNED_DATA, &large)).mime_types, ["application/pkcs7-mime", "a/b"]);
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&vec![b' '; limits::SMIME_BYTES_MAX + 1]).unwrap();
    let message = parsed(wrapped(COMPRESSED_DATA, &encoder.finish().unwrap()));
    assert_eq!((message.text.as_str(), message.problems.contains(&Problem::SmimeCut)), ("", true));
}
