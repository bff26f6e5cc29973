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

fn bzip2(content: &[u8]) -> Vec<u8> {
    let mut encoder = ::bzip2::write::BzEncoder::new(Vec::new(), ::bzip2::Compression::new(1));
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn xz(content: &[u8]) -> Vec<u8> {
    liblzma::encode_all(content, 0).unwrap()
}

type Pack = fn(&[u8]) -> Vec<u8>;

/// All that can be written here.
fn packers() -> [Pack; 4] {
    [gzip, zstd, xz, bzip2]
}

/// A message as lzip compresses it.
const LZIPPED: [u8; 62] = [
    0x4c, 0x5a, 0x49, 0x50, 0x01, 0x10, 0x00, 0x29, 0x9d, 0x48, 0x46, 0xca, 0x80, 0xef, 0x58, 0x68, 0x59,
    0x9e, 0xb1, 0xdb, 0xc1, 0x47, 0x6b, 0x3a, 0xd6, 0x81, 0x5b, 0x33, 0x47, 0xfe, 0xd6, 0x5e, 0x09, 0x0e,
    0x0e, 0x7d, 0x5f, 0xff, 0xdc, 0x99, 0x00, 0x00, 0x45, 0x7a, 0x08, 0x2c, 0x19, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x3e, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
];

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
    for content in [&b""[..], b"a"] {
        assert_eq!(Compression::of(&xz(content)), Compression::Xz);
        assert_eq!(Compression::of(&bzip2(content)), Compression::Bzip2);
        assert_eq!(
            Compression::of(bzip2(content).get(..Compression::MAGIC_BYTES_MAX).unwrap()),
            Compression::Bzip2
        );
    }
    for (bytes, program) in [
        (&b"\x04\x22\x4d\x18\x64"[..], "lz4"),
        (b"\x1f\x9d\x90", "compress"),
        (b"\x5d\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff", "lzma"),
        (b"\x89LZO\0\r\n\x1a\n", "lzop"),
    ] {
        let compression = Compression::of(bytes);
        assert_eq!(compression, Compression::Unreadable(program));
        let error = unpack(bytes, compression, 100, &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), format!("files made by {program} cannot be read"));
    }
    for plain in [
        &b""[..],
        b"\x1f",
        b"\x1f\x8b",
        b"\x1f\x8b\x07",
        b"\x28\xb5\x2f",
        b"Received: from",
        b"P*M",
        b"BZh9 mail",
        b"LZIP mail",
        b"]\0",
    ] {
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
    assert!(unpacked(&[gzip(b"one"), vec![0; 9], gzip(b"two")].concat(), 9).is_err());
    assert_eq!(unpacked(&[xz(b"one"), xz(b""), xz(b"two"), vec![0; 8]].concat(), 6).unwrap(), whole);
    assert_eq!(unpacked(&[bzip2(b"one"), bzip2(b""), bzip2(b"two")].concat(), 6).unwrap(), whole);
    assert!(unpacked(&[xz(b"one"), b"garbage".to_vec()].concat(), 9).is_err());
    assert!(unpacked(&[bzip2(b"one"), b"garbage".to_vec()].concat(), 9).is_err());
    assert!(unpacked(&[gzip(b"one"), b"garbage".to_vec()].concat(), 9).is_err());
    assert!(unpacked(&[zstd(b"one"), b"garbage".to_vec()].concat(), 9).is_err());
}

#[test]
fn a_bomb_is_cut_at_the_limit() {
    let zeros = vec![0; 64 << 20];
    for packed in packers().map(|pack| pack(&zeros)) {
        let (content, unpacked) = unpacked(&packed, 1_000_000).unwrap();
        assert_eq!((content.len(), unpacked), (1_000_000, Unpacked::Cut));
        assert!(content.capacity() < 8 << 20, "{} bytes taken", content.capacity());
    }
}

#[test]
fn a_file_that_takes_too_much_memory_says_so() {
    let mut large = xz(b"a message");
    // The properties of LZMA2 are the size of its dictionary: 2^(n/2 + 12) for an even n. A checksum of the
    // header follows.
    large[16] = 36;
    let checksum = crc32(&large[12..20]);
    large[20..24].copy_from_slice(&checksum.to_le_bytes());
    let error = unpacked(&large, 1000).unwrap_err();
    assert_eq!(error.to_string(), "unpacking it takes over 128 MiB of memory");
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

#[test]
fn a_file_of_lzip_is_read() {
    assert_eq!(unpacked(&LZIPPED, 100).unwrap(), (b"Subject: packed\n\nby lzip\n".to_vec(), Unpacked::Whole));
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
    for packed in packers().map(|pack| pack(content)) {
        for length in 10..packed.len() {
            assert!(unpacked(&packed[..length], 1000).is_err(), "cut at {length}");
        }
        for index in 10..packed.len() {
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
        for packed in packers().map(|pack| pack(&content)) {
            let (found, how) = unpacked(&packed, limit_bytes).unwrap();
            prop_assert_eq!(&found[..], &content[..content.len().min(limit_bytes)]);
            prop_assert_eq!(how == Unpacked::Cut, content.len() > limit_bytes);
        }
    }

    #[test]
    fn any_bytes_are_content_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for (magic, compression) in [
            (&GZIP_MAGIC[..], Compression::Gzip),
            (&ZSTD_MAGIC[..], Compression::Zstd),
            (&XZ_MAGIC[..], Compression::Xz),
            (&LZIP_MAGIC[..], Compression::Lzip),
            (b"BZh11AY&SY", Compression::Bzip2),
        ] {
            let mut content = Vec::new();
            let _ = unpack(&[magic, &bytes].concat(), compression, 10_000, &mut content);
            prop_assert!(content.len() <= 10_000);
        }
    }
}
