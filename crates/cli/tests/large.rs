//! Tests messages too large for memory: they are indexed to their end, shown, and written, with little
//! memory.
//!
//! Input: files of 150 MiB and more, most of it holes, or of a few kilobytes that are compressed. Output:
//! what is found and shown, also with a limit on memory. Does not depend on how they are read.

use crate::support::Home;
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;

/// Memory for all but the program itself, in KiB: what a large message may take besides threads and the
/// output.
const MEMORY: &str = "ulimit -d 98304";
const HOLE_BYTES: u64 = 150 << 20;

const BEGIN: &str = "From: Ana <ana@example.org>\nSubject: Vast\nMessage-ID: <vast@example.org>\n\
    Date: Tue, 5 Mar 2024 15:02:11 +0100\nContent-Type: multipart/mixed; boundary=b\n\n\
    --b\n\nwords before\n--b\nContent-Type: application/x; name=vast.bin\n\n";
const END: &str = "\n--b\nContent-Type: text/plain; name=last.txt\n\nFrom here on words after\n--b--\n";

/// Delivers a message with an attachment that is a hole in its file.
fn deliver(home: &Home) -> PathBuf {
    let path = home.folder("").join("cur/1:2,S");
    let mut file = File::create(&path).unwrap();
    file.write_all(BEGIN.as_bytes()).unwrap();
    file.seek(SeekFrom::Current(HOLE_BYTES.try_into().unwrap())).unwrap();
    file.write_all(END.as_bytes()).unwrap();
    path
}

/// Delivers the same message compressed.
fn deliver_compressed(home: &Home) -> PathBuf {
    let path = home.folder("").join("cur/2:2,S");
    let mut encoder = zstd::Encoder::new(File::create(&path).unwrap(), 1).unwrap();
    encoder.write_all(BEGIN.as_bytes()).unwrap();
    for _ in 0..HOLE_BYTES >> 20 {
        encoder.write_all(&[0; 1 << 20]).unwrap();
    }
    encoder.write_all(END.as_bytes()).unwrap();
    encoder.finish().unwrap();
    path
}

#[test]
fn a_message_larger_than_memory_is_shown_whole() {
    let home = Home::new();
    for path in [deliver(&home), deliver_compressed(&home)] {
        let name = path.to_str().unwrap();
        let shown = home.pneu_after(MEMORY, &["view", "--format", "json", name]);
        assert_eq!((shown.code, shown.err.as_str()), (Some(0), ""), "{name}");
        let json: serde_json::Value = serde_json::from_str(&shown.out).unwrap();
        assert_eq!(json["size"], BEGIN.len() as u64 + HOLE_BYTES + END.len() as u64);
        let text = json["text"].as_str().unwrap();
        assert!(text.contains("words before") && text.contains("words after"), "{text}");
        assert!(
            json.get("problems").is_none_or(|problems| problems.as_array().unwrap().is_empty()),
            "{json}"
        );
        let plain = home.pneu_after(MEMORY, &["view", name]);
        assert!(plain.out.contains("words after") && plain.err.is_empty(), "{plain:?}");
        let page = home.pneu_after(MEMORY, &["view", "--format", "html", name]);
        assert!(page.out.contains("words after") && page.err.is_empty(), "{page:?}");
    }
}

#[test]
fn the_raw_bytes_of_a_large_message_are_written_without_a_word() {
    let home = Home::new();
    let path = deliver(&home);
    let out = home.path().join("raw");
    let setup = format!("{MEMORY}; exec >'{}'", out.display());
    let raw = home.pneu_after(&setup, &["view", "--format", "raw", path.to_str().unwrap()]);
    assert_eq!((raw.code, raw.err.as_str()), (Some(0), ""));
    assert_eq!(fs::metadata(&out).unwrap().len(), fs::metadata(&path).unwrap().len());
}

#[test]
fn the_parts_of_a_large_message_are_saved() {
    let home = Home::new();
    for (number, path) in [deliver(&home), deliver_compressed(&home)].iter().enumerate() {
        let name = path.to_str().unwrap();
        let list = home.pneu_after(MEMORY, &["extract", name]);
        assert_eq!((list.code, list.err.as_str()), (Some(0), ""), "{name}");
        let expected = format!("  2 {HOLE_BYTES:>10} application/x                    vast.bin");
        assert_eq!(list.out.lines().nth(1), Some(&*expected));
        let to = home.path().join(format!("to{number}"));
        fs::create_dir(&to).unwrap();
        let saved = home.pneu_after(MEMORY, &["extract", "--all", "--to", to.to_str().unwrap(), name]);
        assert_eq!((saved.code, saved.err.as_str()), (Some(0), ""), "{name}");
        assert_eq!(fs::metadata(to.join("vast.bin")).unwrap().len(), HOLE_BYTES);
        assert_eq!(fs::read(to.join("last.txt")).unwrap(), b"From here on words after");
        fs::remove_file(to.join("vast.bin")).unwrap();
        let shown = home.pneu_after(MEMORY, &["view", "--part", "3", name]);
        assert_eq!((shown.out.as_str(), shown.err.as_str()), ("From here on words after\n", ""));
    }
}

#[test]
fn a_large_message_is_indexed_to_its_end_and_one_compressed_copy_is_the_same() {
    let home = Home::new();
    deliver(&home);
    deliver_compressed(&home);
    home.first_index();
    assert_eq!(home.good(&["find", "--files", "words after"]).lines().count(), 2);
    assert_eq!(home.good(&["count", "file:last.txt file:vast.bin"]), "1\n");
    assert!(home.good(&["view", "id:vast@example.org"]).ends_with("words after\n"));
    let out = home.path().join("mbox");
    let setup = format!("{MEMORY}; exec >'{}'", out.display());
    let mbox = home.pneu_after(&setup, &["find", "--format", "mbox", "words after"]);
    assert_eq!((mbox.code, mbox.err.as_str()), (Some(0), ""));
    let first_line = "From ana@example.org Tue Mar  5 14:02:11 2024\n".len() as u64;
    // A line that begins with "From " is quoted, and an empty line follows.
    let expected = first_line + BEGIN.len() as u64 + HOLE_BYTES + END.len() as u64 + 2;
    assert_eq!(fs::metadata(&out).unwrap().len(), expected);
}

#[test]
fn too_few_open_files_are_an_error_in_words() {
    let home = Home::indexed();
    fs::remove_dir_all(home.index_directory()).unwrap();
    let run = home.pneu_after("ulimit -n 7", &["index", "--maildir", "Mail"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    for mark in ["Error", "Err(", "{", "Os", "code:"] {
        assert!(!run.err.contains(mark), "{}", run.err);
    }
    assert!(run.err.contains("Too many open files"), "{}", run.err);
}
