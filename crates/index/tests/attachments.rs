//! Text of attachments: new messages get it at once, older ones when it is asked for, each once.
//!
//! Input: messages with parts, and a reader in place of commands. Output: what queries find. Does not depend
//! on how attachments are read.

use crate::support::{Fixture, StopAfter, environment, query, subjects};
use index::{AttachmentReader, AttachmentTexts, AttachmentsRead, Error, Mailbox, UpdateOptions};
use mail::MessageParts;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use testkit::SimDisk;
use work::Silent;

/// Reads parts of the type `a/b`, in which each letter stands for the one before it.
#[derive(Debug)]
struct Reader {
    name: &'static str,
    is_usable: bool,
    /// Parts that were read.
    count: AtomicU64,
}

impl AttachmentReader for Reader {
    fn filters_for(&self, mime: &str) -> Vec<String> {
        if mime == "a/b" { vec![self.name.to_owned()] } else { Vec::new() }
    }

    fn read(&self, parts: &mut MessageParts<'_>, is_stopped: &dyn Fn() -> bool) -> AttachmentTexts {
        let mut read = AttachmentTexts { is_stopped: is_stopped(), ..AttachmentTexts::default() };
        for (number, mime) in parts.types() {
            if !self.is_usable {
                read.unusable = self.filters_for(&mime);
            } else if mime == "a/b" && !read.is_stopped {
                let mut text = String::new();
                let before = |byte: &u8| char::from(if byte.is_ascii_lowercase() { byte - 1 } else { *byte });
                parts.each_block(number, &mut |block| text.extend(block.iter().map(before))).unwrap();
                read.texts.push(text);
                self.count.fetch_add(1, Ordering::Relaxed);
            }
        }
        read
    }
}

fn reader(name: &'static str) -> Arc<Reader> {
    Arc::new(Reader { name, is_usable: true, count: AtomicU64::default() })
}

fn options(reader: &Arc<Reader>) -> UpdateOptions {
    let attachments: Arc<dyn AttachmentReader> = reader.clone();
    UpdateOptions { attachments: Some(attachments), ..UpdateOptions::default() }
}

/// A message with an attachment that says "hidden text" to the reader.
fn message(number: u32) -> String {
    format!(
        "From: ana@example.org\nSubject: s{number:02}\nMessage-ID: <{number}@x>\nX-Spam: yes\n\
         Date: Mon, 2 Jan 2023 10:{:02}:00 +0000\n\
         Content-Type: multipart/mixed; boundary=b\n\n\
         --b\n\nplain\n--b\nContent-Type: a/b\n\nijeefo ufyu\n--b--\n",
        59 - number
    )
}

fn fixture(count: u32) -> Fixture {
    let fixture = Fixture::new();
    for number in 0..count {
        fixture.put("f", "cur", &format!("{number}:2,S"), &message(number));
    }
    fixture.put("f", "cur", "plain:2,S", "Subject: none\nMessage-ID: <n@x>\n\nplain\n");
    fixture
}

fn read(fixture: &Fixture, reader: &Arc<Reader>) -> AttachmentsRead {
    index::read_attachments(&fixture.environment, &options(reader), &Silent).unwrap()
}

#[test]
fn new_messages_have_the_text_of_attachments_at_once() {
    let fixture = fixture(2);
    let reader = reader("f1");
    fixture.update_with(&options(&reader));
    for found in ["embed:hidden", "body:hidden", "hidden", "embed:\"hidden text\""] {
        assert_eq!(fixture.find(found), ["s00", "s01"], "{found}");
    }
    assert_eq!(fixture.find("embed:plain"), [""; 0]);
    // What has read a message is no header field and no word.
    for nothing in ["body:f1", "f1", "embed:f1", "subject:f1"] {
        assert_eq!(fixture.find(nothing), [""; 0], "{nothing}");
    }
    assert_eq!(read(&fixture, &reader), AttachmentsRead::default(), "all is read");
    assert_eq!(reader.count.load(Ordering::Relaxed), 2);
    fixture.check();
}

#[test]
fn messages_that_are_too_large_for_memory_have_it_too() {
    let fixture = Fixture::new();
    let reader = reader("f1");
    let large = |number| message(number).replace("plain", &"word ".repeat(100_000));
    fixture.put("f", "cur", "1:2,S", &large(1));
    let options = UpdateOptions { message_bytes_max: 1000, ..options(&reader) };
    fixture.update_with(&options);
    fixture.put("f", "cur", "2:2,S", &large(2));
    fixture.update();
    assert_eq!(fixture.find("embed:hidden"), ["s01"]);
    assert_eq!(index::read_attachments(&fixture.environment, &options, &Silent).unwrap().messages, 1);
    assert_eq!(fixture.find("embed:hidden"), ["s01", "s02"]);
}

#[test]
fn older_messages_are_read_once_by_each_filter() {
    let fixture = fixture(3);
    fixture.update_with(&UpdateOptions { headers: vec!["X-Spam".into()], ..UpdateOptions::default() });
    let before = fixture.mailbox();
    let first = reader("f1");
    assert_eq!(read(&fixture, &first), AttachmentsRead { messages: 3, ..AttachmentsRead::default() });
    assert_eq!(fixture.find("embed:hidden"), ["s00", "s01", "s02"]);
    assert_eq!(subjects(&before, "embed:hidden"), [""; 0], "who reads an older state goes on with it");
    assert_eq!(fixture.find_with("X-Spam:yes", &["X-Spam"]).len(), 3, "fields that are known are kept");
    fixture.put("f", "cur", "3:2,S", &message(3));
    fixture.update_with(&options(&first));
    assert_eq!(read(&fixture, &first).messages, 0);
    assert_eq!(first.count.load(Ordering::Relaxed), 4);
    let second = reader("f2");
    assert_eq!(read(&fixture, &second).messages, 4);
    assert_eq!(read(&fixture, &second).messages, 0);
    assert_eq!(fixture.find("embed:hidden").len(), 4);
    fixture.check();
}

#[test]
fn a_filter_that_cannot_be_used_now_reads_them_later() {
    let fixture = fixture(2);
    let unusable = Arc::new(Reader { name: "f1", is_usable: false, count: AtomicU64::default() });
    fixture.update_with(&options(&unusable));
    assert_eq!(read(&fixture, &unusable), AttachmentsRead::default());
    assert_eq!(read(&fixture, &reader("f1")).messages, 2);
    assert_eq!(fixture.find("embed:hidden").len(), 2);
}

#[test]
fn messages_without_a_file_are_left_out() {
    let fixture = fixture(3);
    fixture.update();
    fs::remove_file(fixture.root().join("f/cur/0:2,S")).unwrap();
    fs::write(fixture.root().join("f/cur/1:2,S"), message(7)).unwrap();
    let done = read(&fixture, &reader("f1"));
    assert_eq!((done.messages, done.without_file), (1, 2));
    assert_eq!(fixture.find("embed:hidden"), ["s02"]);
}

#[test]
fn work_that_is_stopped_keeps_what_is_done_and_goes_on_there() {
    let fixture = fixture(40);
    fixture.update();
    let reader = reader("f1");
    let stopped = index::read_attachments(&fixture.environment, &options(&reader), &StopAfter::new(7));
    assert!(matches!(stopped, Err(Error::Interrupted)), "{stopped:?}");
    let done = fixture.find("embed:hidden").len() as u64;
    assert!((7..40).contains(&done), "{done}");
    assert_eq!(reader.count.load(Ordering::Relaxed), done);
    assert_eq!(read(&fixture, &reader).messages, 40 - done);
    assert_eq!(reader.count.load(Ordering::Relaxed), 40, "none is read twice");
    assert_eq!(fixture.find("embed:hidden").len(), 40);
    fixture.check();
}

#[test]
fn a_process_killed_at_any_operation_leaves_the_old_or_the_new_text() {
    let fixture = fixture(3);
    let environment = |disk: &SimDisk| environment(Arc::new(disk.clone()), Path::new("/data"));
    let indexed = SimDisk::new(1);
    index::update(&environment(&indexed), &fixture.roots, &UpdateOptions::default(), &Silent).unwrap();
    let read = |disk: &SimDisk| {
        index::read_attachments(&environment(disk), &options(&reader("f1")), &Silent)
            .map(|read| read.messages)
    };
    let found = |disk: &SimDisk| {
        let damage = index::check(&environment(disk), index::Depth::Deep).unwrap();
        assert!(damage.is_empty(), "{damage:#?}");
        let mailbox = Mailbox::open(&environment(disk)).unwrap();
        assert_eq!(mailbox.count(&query("body:plain")).unwrap(), 4);
        mailbox.count(&query("embed:hidden")).unwrap()
    };
    let whole = indexed.fork();
    let start = whole.operation_count();
    assert_eq!((read(&whole).unwrap(), found(&whole)), (3, 3));
    for number in start..whole.operation_count() {
        let disk = indexed.fork();
        disk.crash_at(number);
        let _ = read(&disk);
        for image in disk.images() {
            let seen = found(&image.disk);
            assert!(matches!(seen, 0 | 3), "crash at {number}, {}: {seen}", image.description);
            assert_eq!(read(&image.disk).unwrap() + seen, 3, "crash at {number}, {}", image.description);
            assert_eq!(found(&image.disk), 3, "crash at {number}, {}", image.description);
        }
    }
}
