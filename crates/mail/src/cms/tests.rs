//! S/MIME by hand, as every program writes it. What programs wrote themselves is in `testdata/mail`.
//!
//! Comes in: encodings built here. Goes out: whether the content is found. This file must not know MIME.

use super::*;
use std::io::Write;

const DATA: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01";
const LENGTH_MAX: usize = 1 << 20;

/// Encodes a value of a definite length.
fn value(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap().to_be_bytes();
    [&[tag, 0x84][..], &length, content].concat()
}

/// Encodes a value whose length comes at its end.
fn open_ended(tag: u8, content: &[u8]) -> Vec<u8> {
    [&[tag, 0x80][..], content, &[0, 0]].concat()
}

/// Encodes SignedData and its like around a content.
fn wrap(kind: &[u8], content: &[u8], constructed: fn(u8, &[u8]) -> Vec<u8>) -> Vec<u8> {
    let inner = [value(6, DATA), constructed(0xa0, content)].concat();
    let signed =
        [value(2, b"\x01"), constructed(0x31, b""), constructed(0x30, &inner), constructed(0x31, b"")];
    let explicit = constructed(0xa0, &constructed(0x30, &signed.concat()));
    constructed(0x30, &[value(6, kind), explicit].concat())
}

fn opened(bytes: &[u8]) -> Opened {
    open(bytes, LENGTH_MAX)
}

fn signed(text: &str) -> Opened {
    Opened::Signed(text.as_bytes().to_vec())
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn signed_content_is_found_in_every_encoding() {
    for constructed in [value, open_ended] {
        assert_eq!(opened(&wrap(SIGNED_DATA, &value(4, b"text"), constructed)), signed("text"));
        let pieces = [value(4, b"te"), value(4, b""), value(4, b"xt")].concat();
        assert_eq!(opened(&wrap(SIGNED_DATA, &constructed(0x24, &pieces), constructed)), signed("text"));
        let deeper = [constructed(0x24, &pieces), value(4, b"s")].concat();
        assert_eq!(opened(&wrap(SIGNED_DATA, &constructed(0x24, &deeper), constructed)), signed("texts"));
        assert_eq!(opened(&wrap(SIGNED_DATA, &value(4, b""), constructed)), signed(""));
    }
}

#[test]
fn content_counts_though_what_follows_it_is_damaged() {
    let bytes = wrap(SIGNED_DATA, &value(4, b"text"), open_ended);
    assert_eq!(opened(&[&bytes[..], b"rubbish"].concat()), signed("text"));
    for cut in 0..bytes.len() {
        assert!([signed("text"), Opened::Unreadable].contains(&opened(&bytes[..cut])), "{cut}");
    }
    assert_eq!(opened(&bytes[..bytes.len() - 8]), signed("text"));
}

#[test]
fn what_holds_no_content_is_told_apart() {
    let detached = value(
        0x30,
        &[
            value(6, SIGNED_DATA),
            value(
                0xa0,
                &value(
                    0x30,
                    &[value(2, b"\x01"), value(0x31, b""), value(0x30, &value(6, DATA)), value(0x31, b"")]
                        .concat(),
                ),
            ),
        ]
        .concat(),
    );
    assert_eq!(opened(&detached), Opened::Nothing);
    for kind in [ENVELOPED_DATA, ENCRYPTED_DATA, AUTHENTICATED_ENVELOPED_DATA] {
        assert_eq!(opened(&wrap(kind, &value(4, b"?"), value)), Opened::Encrypted);
    }
    for bytes in
        [&b""[..], b"text", b"\x30", b"\x30\x80", b"\x30\x84\xff\xff\xff\xff", &wrap(DATA, b"", value)]
    {
        assert_eq!(opened(bytes), Opened::Unreadable, "{bytes:?}");
    }
}

#[test]
fn compressed_content_is_found() {
    let bytes = wrap(COMPRESSED_DATA, &value(4, &zlib(b"text")), value);
    assert_eq!(opened(&bytes), Opened::Compressed(b"text".to_vec()));
    assert_eq!(opened(&wrap(COMPRESSED_DATA, &value(4, b"no zlib"), value)), Opened::Unreadable);
}

#[test]
fn length_has_a_limit() {
    let bytes = wrap(SIGNED_DATA, &value(4, b"text"), value);
    assert_eq!((open(&bytes, 4), open(&bytes, 3)), (signed("text"), Opened::TooLong));
    let bomb = wrap(COMPRESSED_DATA, &value(4, &zlib(&vec![b' '; 10 * LENGTH_MAX])), value);
    assert!(bomb.len() < LENGTH_MAX / 50);
    assert_eq!(opened(&bomb), Opened::TooLong);
}

/// Nothing here calls itself for what lies within: a stack would not hold it.
#[test]
fn depth_costs_nothing() {
    let deep =
        |begin: &[u8], end: &[u8]| [begin.repeat(100_000), value(4, b"x"), end.repeat(100_000)].concat();
    assert_eq!(opened(&wrap(SIGNED_DATA, &deep(b"\x24\x80", b"\0\0"), open_ended)), signed("x"));
    opened(&wrap(SIGNED_DATA, &deep(b"\x24\x80", b""), open_ended));
    opened(&deep(b"\x30\x80", b"\0\0"));
    opened(&deep(b"\xa0\x80", b""));
    let after = [wrap(SIGNED_DATA, &value(4, b"x"), value), deep(b"\x31\x80", b"\0\0")].concat();
    assert_eq!(opened(&after), signed("x"));
}

#[test]
fn flipped_bytes_never_panic() {
    let bytes =
        wrap(SIGNED_DATA, &open_ended(0x24, &[value(4, b"te"), value(4, b"xt")].concat()), open_ended);
    for place in 0..bytes.len() {
        for byte in 0..=255 {
            let mut bytes = bytes.clone();
            bytes[place] = byte;
            opened(&bytes);
        }
    }
}
