//! Reading message files: plain, compressed, damaged, too large, and what is no file.
//!
//! Input: files made for the tests. Output: their contents, or the error message.

use crate::privileges::{permit, without_privileges};
use flate2::write::GzEncoder;
use mail::{Compression, Error, FileContent, read_message, read_message_into, stat_file};
use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const LIMIT: usize = 1 << 20;

/// Writes a file in a temporary directory, which is removed when the first value is dropped.
fn file(bytes: &[u8]) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("1204680122.27448_1.coyote:2,S");
    fs::write(&path, bytes).unwrap();
    (directory, path)
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn zstd(content: &[u8]) -> Vec<u8> {
    zstd::encode_all(content, 3).unwrap()
}

fn xz(content: &[u8]) -> Vec<u8> {
    liblzma::encode_all(content, 0).unwrap()
}

fn bzip2(content: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(1));
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// Bytes that no program can compress.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let step = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..length).map(step).collect()
}

#[test]
fn plain_and_compressed_files_give_the_message() {
    let message = b"Subject: one\n\nbody\n".repeat(100);
    for (bytes, compression) in [
        (message.clone(), Compression::Plain),
        (gzip(&message), Compression::Gzip),
        (zstd(&message), Compression::Zstd),
        (xz(&message), Compression::Xz),
        (bzip2(&message), Compression::Bzip2),
    ] {
        let (_directory, path) = file(&bytes);
        let content = read_message(&path, LIMIT).unwrap();
        assert_eq!(content.bytes, message);
        assert_eq!((content.compression, content.truncated), (compression, false));
        assert_eq!(content.stat, stat_file(&path).unwrap());
        assert_eq!(content.stat.size_bytes, bytes.len() as u64);
    }
}

#[test]
fn an_empty_file_is_an_empty_message() {
    for bytes in [vec![], gzip(b""), zstd(b""), xz(b""), bzip2(b"")] {
        let (_directory, path) = file(&bytes);
        let content = read_message(&path, LIMIT).unwrap();
        assert!(content.bytes.is_empty() && !content.truncated);
    }
}

#[test]
fn a_message_is_cut_at_the_limit() {
    let message = noise(5000);
    let packed = [message.clone(), gzip(&message), zstd(&message), xz(&message), bzip2(&message)];
    for bytes in &packed {
        let (_directory, path) = file(bytes);
        // At the limit, and beyond it by one; a compressed file must fit as well as its content.
        for limit_bytes in [0, 1, 4999, 5000, bytes.len()] {
            let content = read_message(&path, limit_bytes).unwrap();
            let is_short = bytes.len() > limit_bytes;
            assert_eq!(content.truncated, is_short, "{limit_bytes} of {}", bytes.len());
            if is_short {
                assert!(content.bytes.len() <= limit_bytes);
            } else {
                assert_eq!(content.bytes, message);
            }
        }
        // A block of bzip2 is there whole or not at all.
        if !bytes.starts_with(b"BZh") {
            assert!(read_message(&path, 4999).unwrap().bytes.len() > 4900, "what fits is there");
        }
    }
    // Cut between two members, where what is left looks whole.
    let first = gzip(&message);
    let (_directory, path) = file(&[first.clone(), gzip(b"more")].concat());
    let content = read_message(&path, first.len()).unwrap();
    assert_eq!((content.bytes == message, content.truncated), (true, true));
    let (_directory, path) = file(&zstd(&vec![b' '; 10 * LIMIT]));
    let content = read_message(&path, LIMIT).unwrap();
    assert_eq!((content.bytes.len(), content.truncated), (LIMIT, true));
}

#[test]
fn a_damaged_compressed_file_is_named() {
    // Long enough that the decompressor gives something before it meets the damage.
    let message = noise(300_000);
    for mut bytes in [gzip(&message), zstd(&message), xz(&message), bzip2(&message)] {
        bytes.truncate(bytes.len() / 2);
        let (_directory, path) = file(&bytes);
        let mut content = FileContent::default();
        let error = read_message_into(&path, LIMIT, &mut content).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }) && error.path() == path);
        assert!(
            error.to_string().starts_with(&format!("{} is a damaged compressed file: ", path.display())),
            "{error}"
        );
        assert!(content.bytes.is_empty(), "half a message passes for one");
        fs::write(&path, b"another").unwrap();
        read_message_into(&path, LIMIT, &mut content).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(read_message_into(&path, LIMIT, &mut content).unwrap_err().is_not_found());
        assert!(content.bytes.is_empty(), "the message before passes for one");
    }
}

#[test]
fn a_compression_that_cannot_be_read_is_named() {
    let (_directory, path) = file(b"\x04\x22\x4d\x18\x64\x40\xa7");
    let error = read_message(&path, LIMIT).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{} was compressed by lz4, which cannot be read; \
             unpack it, or compress it by gzip, zstd, xz or bzip2",
            path.display()
        )
    );
    assert!(!error.reason().contains(&*path.to_string_lossy()) && error.path() == path);
}

#[test]
fn memory_is_used_again_and_nothing_of_the_message_before_stays() {
    let long = b"Subject: long\n\n".repeat(1000);
    let mut content = FileContent::default();
    for bytes in [long.clone(), gzip(b"short"), b"short".to_vec(), zstd(&long), gzip(&long[..100]), vec![]] {
        let (_directory, path) = file(&bytes);
        let fresh = read_message(&path, 2000).unwrap();
        read_message_into(&path, 2000, &mut content).unwrap();
        assert_eq!(content.bytes, fresh.bytes);
        assert_eq!(content.compression, fresh.compression);
        assert_eq!((content.stat, content.truncated), (fresh.stat, fresh.truncated));
    }
}

#[test]
fn what_is_no_file_is_refused_at_once() {
    let (directory, path) = file(b"message");
    assert!(matches!(read_message(directory.path(), LIMIT), Err(Error::NotAFile { .. })));
    let pipe = directory.path().join("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let error = read_message(&pipe, LIMIT).unwrap_err();
    assert_eq!(error.to_string(), format!("{} is not a file", pipe.display()));
    let link = directory.path().join("link");
    symlink(&path, &link).unwrap();
    assert_eq!(read_message(&link, LIMIT).unwrap().bytes, b"message");
    let missing = directory.path().join("missing");
    let error = read_message(&missing, LIMIT).unwrap_err();
    assert!(error.is_not_found());
    assert_eq!(
        error.to_string(),
        format!("cannot open {}: No such file or directory (os error 2)", missing.display())
    );
}

#[test]
fn names_are_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let path = mail::join(directory.path(), b"1\n\xff.host:2,S");
    fs::write(&path, b"message").unwrap();
    assert_eq!(read_message(&path, LIMIT).unwrap().bytes, b"message");
}

#[test]
fn an_unreadable_file_is_an_error() {
    without_privileges("read::an_unreadable_file_is_an_error", || {
        let (_directory, path) = file(b"message");
        permit(&path, 0);
        let error = read_message(&path, LIMIT).unwrap_err();
        assert!(error.to_string().contains("Permission denied"), "{error}");
    });
}

#[test]
fn a_file_whose_size_is_a_lie_is_no_content() {
    // The kernel reports 0 bytes for many files under /proc, as do a few file systems.
    let error = read_message(Path::new("/proc/self/status"), LIMIT).unwrap_err();
    assert!(matches!(error, Error::Changed { .. }), "{error}");
}
