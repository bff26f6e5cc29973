//! Compressed contents: whole, joined, cut, flipped, and larger than allowed.
//!
//! Comes in: contents that the tests compress themselves. Goes out: whether they come back, or an error. This file must not know the
//! disk.

use super::*;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use std::io::Write;

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn zstd(content: &[u8]) -> Vec<u8> {
    let mut encoder = ::zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// Unpacks what is recognised as compressed; the content, and how much of it that is.
fn unpacked(packed: &[u8], limit_bytes: usize) -> io::Result<(Vec<u8>, Unpacked)> {
    let compression = Compression::of(packed);
    assert_ne!(compression, Compression::Plain);
    let mut content = Vec::new();
    let unpacked = unpack(packed, compression, limit_bytes, &mut content)?;
    Ok((content, unpacked))
}

#[test]
fn compression_is_told_from_the_first_bytes() {
    assert_eq!(Compression::of(&gzip(b"a")), Compression::Gzip);
    assert_eq!(Compression::of(&zstd(b"a")), Compression::Zstd);
    assert_eq!(Compression::of(b"\x5a\x2a\x4d\x18\0\0\0\0"), Compression::Zstd);
    for plain in [&b""[..], b"\x1f", b"\x1f\x8b", b"\x1f\x8b\x07", b"\x28\xb5\x2f", b"Received: from", b"P*M"]
    {
        assert_eq!(Compression::of(plain), Compression::Plain);
    }
}

#[test]
fn joined_files_are_read_as_one() {
    let whole = (b"onetwo".to_vec(), Unpacked::Whole);
    assert_eq!(unpacked(&[gzip(b"one"), gzip(b""), gzip(b"two")].concat(), 6).unwrap(), whole);
    assert_eq!(unpacked(&[gzip(b"one"), gzip(b"two"), vec![0; 512]].concat(), 6).unwrap(), whole);
    let skipped = b"\x50\x2a\x4d\x18\x03\0\0\0abc".to_vec();
    assert_eq!(unpacked(&[skipped, zstd(b"one"), zstd(b"two")].concat(), 6).unwrap(), whole);
    assert_eq!(
        unpacked(&[gzip(b"one"), gzip(b"two")].concat(), 5).unwrap(),
        (b"onetw".to_vec(), Unpacked::Cut)
    );
    assert!(unpacked(&[gzip(b"one"), b"garbage".to_vec()].concat(), 9).is_err());
    assert!(unpacked(&[zstd(b"one"), b"garbage".to_vec()].concat(), 9).is_err());
}

#[test]
fn a_bomb_is_cut_at_the_limit() {
    let zeros = vec![0; 64 << 20];
    for packed in [gzip(&zeros), zstd(&zeros)] {
        let (content, unpacked) = unpacked(&packed, 1_000_000).unwrap();
        assert_eq!((content.len(), unpacked), (1_000_000, Unpacked::Cut));
        assert!(content.capacity() < 8 << 20, "{} bytes taken", content.capacity());
    }
}

#[test]
fn the_limit_counts_what_is_appended() {
    let mut content = b"before ".to_vec();
    assert_eq!(unpack(&gzip(b"after"), Compression::Gzip, 5, &mut content).unwrap(), Unpacked::Whole);
    assert_eq!(unpack(b"plain", Compression::Plain, 4, &mut content).unwrap(), Unpacked::Cut);
    assert_eq!(content, b"before afterplai");
}

#[test]
fn a_cut_or_flipped_byte_never_passes_for_the_content() {
    let content = b"Subject: a message\n\nof a few words, a few words, a few words\n";
    for packed in [gzip(content), zstd(content)] {
        for length in 4..packed.len() {
            assert!(unpacked(&packed[..length], 1000).is_err(), "cut at {length}");
        }
        for index in 4..packed.len() {
            let mut damaged = packed.clone();
            damaged[index] ^= 0x10;
            // The time and the program's name in a gzip header are not checked; all else is.
            match unpacked(&damaged, 1000) {
                Ok((unpacked, _)) => assert_eq!(unpacked, content, "flipped at {index}"),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
}

proptest! {
    #[test]
    fn contents_come_back(content in proptest::collection::vec(any::<u8>(), 0..3000), limit_bytes in 0_usize..3000) {
        for packed in [gzip(&content), zstd(&content)] {
            let (found, how) = unpacked(&packed, limit_bytes).unwrap();
            prop_assert_eq!(&found[..], &content[..content.len().min(limit_bytes)]);
            prop_assert_eq!(how == Unpacked::Cut, content.len() > limit_bytes);
        }
    }

    #[test]
    fn any_bytes_are_content_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for (magic, compression) in [(&GZIP_MAGIC[..], Compression::Gzip), (&ZSTD_MAGIC[..], Compression::Zstd)] {
            let mut content = Vec::new();
            let _ = unpack(&[magic, &bytes].concat(), compression, 10_000, &mut content);
            prop_assert!(content.len() <= 10_000);
        }
    }
}
