//! Opens S/MIME content that needs no key: signed and compressed content (RFC 5652, RFC 3274).
//!
//! Input: the decoded content of a part. Output: the MIME entity inside, or why there is none. Signatures are
//! not verified: nothing here says that a message is genuine. Does not depend on MIME.
//!
//! Programs that sign while they send write BER, not DER: indefinite lengths, and strings in pieces.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::convert::Infallible;
use std::io::Read;

use bcder::decode::{Constructed, DecodeError, Source};
use bcder::{Mode, OctetString, Oid, Tag};
use flate2::read::ZlibDecoder;

/// The result of opening S/MIME content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Opened {
    /// Signed content.
    Signed(Vec<u8>),
    /// Compressed content.
    Compressed(Vec<u8>),
    /// Encrypted content, which needs a key.
    Encrypted,
    /// No content: certificates alone, or a detached signature.
    Nothing,
    /// Content longer than the limit.
    TooLong,
    /// Damaged content, or not S/MIME.
    Unreadable,
}

type Decoded<T> = Result<T, DecodeError<Infallible>>;

// Object identifiers in their encoding.
const SIGNED_DATA: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02";
const ENVELOPED_DATA: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x07\x03";
const ENCRYPTED_DATA: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x07\x06";
const COMPRESSED_DATA: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x01\x09";
const AUTHENTICATED_ENVELOPED_DATA: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x01\x17";

/// Opens a ContentInfo. Content over `length_max` bytes is not read.
pub(crate) fn open(bytes: &[u8], length_max: usize) -> Opened {
    let mut found = None;
    // The bytes after the content may be damaged or missing: they hold certificates and signatures.
    let _ = Mode::Ber.decode(bytes, |cons| content_info(cons, length_max, &mut found));
    found.unwrap_or(Opened::Unreadable)
}

fn content_info<S: Source<Error = Infallible>>(
    cons: &mut Constructed<'_, S>,
    length_max: usize,
    found: &mut Option<Opened>,
) -> Decoded<()> {
    cons.take_sequence(|cons| {
        let kind = Oid::take_from(cons)?;
        match kind.0.as_ref() {
            SIGNED_DATA => wrapped(cons, |content| {
                *found = Some(match content {
                    None => Opened::Nothing,
                    Some(content) if content.len() > length_max => Opened::TooLong,
                    Some(content) => Opened::Signed(joined(&content)),
                });
            }),
            COMPRESSED_DATA => wrapped(cons, |content| {
                *found =
                    Some(content.map_or(Opened::Nothing, |content| inflate(&joined(&content), length_max)));
            }),
            ENVELOPED_DATA | ENCRYPTED_DATA | AUTHENTICATED_ENVELOPED_DATA => {
                *found = Some(Opened::Encrypted);
                cons.skip_all()
            }
            _ => cons.skip_all(),
        }
    })
}

/// Reads SignedData or CompressedData, which are alike here: a version, algorithms, the content, and optional
/// fields.
fn wrapped<S: Source<Error = Infallible>>(
    cons: &mut Constructed<'_, S>,
    take: impl FnOnce(Option<OctetString>),
) -> Decoded<()> {
    cons.take_constructed_if(Tag::CTX_0, |cons| {
        cons.take_sequence(|cons| {
            cons.skip_one()?;
            cons.skip_one()?;
            let content = cons.take_sequence(|cons| {
                Oid::skip_opt_in(cons)?;
                cons.take_opt_constructed_if(Tag::CTX_0, |cons| OctetString::take_from(cons))
            })?;
            take(content);
            cons.skip_all()
        })
    })
}

fn joined(content: &OctetString) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(content.len());
    content.iter().for_each(|piece| bytes.extend_from_slice(piece));
    bytes
}

fn inflate(bytes: &[u8], length_max: usize) -> Opened {
    let mut content = Vec::new();
    let limit = u64::try_from(length_max).unwrap_or(u64::MAX).saturating_add(1);
    match ZlibDecoder::new(bytes).take(limit).read_to_end(&mut content) {
        Ok(_) if content.len() > length_max => Opened::TooLong,
        Ok(_) => Opened::Compressed(content),
        Err(_) => Opened::Unreadable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const DATA: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01";
    const LENGTH_MAX: usize = 1 << 20;

    /// Encodes a value of a definite length.
    fn value(tag: u8, content: &[u8]) -> Vec<u8> {
        let length = u32::try_from(content.len()).unwrap().to_be_bytes();
        [&[tag, 0x84][..], &length, content].concat()
    }

    /// Encodes a value of indefinite length.
    fn open_ended(tag: u8, content: &[u8]) -> Vec<u8> {
        [&[tag, 0x80][..], content, &[0, 0]].concat()
    }

    /// Encodes content as SignedData or a similar structure.
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
                        &[
                            value(2, b"\x01"),
                            value(0x31, b""),
                            value(0x30, &value(6, DATA)),
                            value(0x31, b""),
                        ]
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

    /// The parser does not recurse into the content, which would overflow the stack.
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
        for index in 0..bytes.len() {
            for byte in 0..=255 {
                let mut bytes = bytes.clone();
                bytes[index] = byte;
                opened(&bytes);
            }
        }
    }
}
