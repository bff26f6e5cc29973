//! Opens S/MIME that needs no key: signed and compressed content (RFC 5652, RFC 3274).
//!
//! In: the decoded content of a part. Out: the MIME entity inside, or why there is none. Signatures are not
//! verified: nothing here says that a message is genuine. This file must not know MIME.
//!
//! Programs that sign while they send write BER, not DER: lengths that come at the end, and strings in
//! pieces.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::convert::Infallible;
use std::io::Read;

use bcder::decode::{Constructed, DecodeError, Source};
use bcder::{Mode, OctetString, Oid, Tag};
use flate2::read::ZlibDecoder;

/// What S/MIME wrapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Opened {
    /// Signed content.
    Signed(Vec<u8>),
    /// Compressed content.
    Compressed(Vec<u8>),
    /// It needs a key.
    Encrypted,
    /// There is none: certificates alone, or a signature of something else.
    Nothing,
    /// Longer than is read.
    TooLong,
    /// It is damaged, or no S/MIME.
    Unreadable,
}

type Decoded<T> = Result<T, DecodeError<Infallible>>;

// Object identifiers, as they are encoded.
const SIGNED_DATA: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02";
const ENVELOPED_DATA: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x07\x03";
const ENCRYPTED_DATA: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x07\x06";
const COMPRESSED_DATA: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x01\x09";
const AUTHENTICATED_ENVELOPED_DATA: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x01\x17";

/// Opens a ContentInfo. Content over `length_max` bytes is left alone.
pub(crate) fn open(bytes: &[u8], length_max: usize) -> Opened {
    let mut found = None;
    // What comes after the content may be damaged or cut: it holds certificates and signatures.
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

/// Reads SignedData and CompressedData alike: a version, algorithms, the content, and what may follow.
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
mod tests;
