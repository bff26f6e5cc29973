//! Text of attachments: a pass never waits for it, and it is added after that, to each message once.
//!
//! Input: messages with parts, and a reader in place of commands. Output: what queries find. Does not depend
//! on how attachments are read.

use crate::support::{Fixture, StopAfter, environment, query, subjects};
use index::{
    Arrivals, AttachmentReader, AttachmentTexts, AttachmentsRead, Error, Happened, Look, Looked, Mailbox,
    UpdateOptions,
};
use mail::MessageParts;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use testkit::SimDisk;
use work::{Progress, Silent};

/// Reads parts of the type `a/b`, in which each letter stands for the one before it.
struct Reader {
    name: &'static str,
    is_usable: bool,
    /// Parts that were read.
    count: AtomicU64,
    /// How often it was asked which filters are for a type.
    asked_count: AtomicU64,
    /// Is called while a message is read, with the count of those before it.
    meanwhile: Box<dyn Fn(u64) + Send + Sync>,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.write_str(self.name)
    }
}

impl AttachmentReader for Reader {
    fn filters(&self) -> Vec<String> {
        vec![self.name.to_owned()]
    }

    fn filters_for(&self, mime: &str) -> Vec<String> {
        self.asked_count.fetch_add(1, Ordering::Relaxed);
        if mime == "a/b" { vec![self.name.to_owned()] } else { Vec::new() }
    }

    fn read(
        &self,
        parts: &mut MessageParts<'_>,
        _: &BTreeSet<String>,
        is_stopped: &dyn Fn() -> bool,
    ) -> AttachmentTexts {
        let mut read = AttachmentTexts { is_stopped: is_stopped(), ..AttachmentTexts::default() };
        for (number, mime) in parts.types() {
            if !self.is_usable {
                read.unusable = self.filters_for(&mime);
            } else if mime == "a/b" && !read.is_stopped {
                (self.meanwhile)(self.count.load(Ordering::Relaxed));
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

fn make(name: &'static str, is_usable: bool, meanwhile: impl Fn(u64) + Send + Sync + 'static) -> Arc<Reader> {
    let (count, asked_count) = Default::default();
    Arc::new(Reader { name, is_usable, count, asked_count, meanwhile: Box::new(meanwhile) })
}

fn reader(name: &'static str) -> Arc<Reader> {
    make(name, true, |_| ())
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

fn put(fixture: &Fixture, number: u32) {
    fixture.put("f", "cur", &format!("{number}:2,S"), &message(number));
}

fn fixture(count: u32) -> Fixture {
    let fixture = Fixture::new();
    (0..count).for_each(|number| put(&fixture, number));
    fixture.put("f", "cur", "plain:2,S", "Subject: none\nMessage-ID: <n@x>\n\nplain\n");
    fixture
}

fn read_with(
    fixture: &Fixture,
    reader: &Arc<Reader>,
    look: Look,
    progress: &dyn Progress,
) -> index::Result<AttachmentsRead> {
    index::read_attachments(&fixture.environment, &options(reader), look, progress, &|| ())
}

fn read(fixture: &Fixture, reader: &Arc<Reader>) -> AttachmentsRead {
    read_with(fixture, reader, Look::New, &Silent).unwrap()
}

fn read_all(fixture: &Fixture, reader: &Arc<Reader>) -> AttachmentsRead {
    read_with(fixture, reader, Look::All, &Silent).unwrap()
}

fn messages(count: u64) -> AttachmentsRead {
    AttachmentsRead { messages: count, ..AttachmentsRead::default() }
}

#[test]
fn a_pass_asks_no_reader_and_the_text_is_found_after_it() {
    let fixture = fixture(2);
    let reader = reader("f1");
    fixture.update_with(&options(&reader));
    assert_eq!(reader.asked_count.load(Ordering::Relaxed), 0);
    assert_eq!(fixture.find("body:plain").len(), 3);
    assert_eq!(read(&fixture, &reader), messages(2));
    for found in ["embed:hidden", "body:hidden", "hidden", "embed:\"hidden text\""] {
        assert_eq!(fixture.find(found), ["s00", "s01"], "{found}");
    }
    assert_eq!(fixture.find("embed:plain"), [""; 0]);
    // What has read a message is no header field and no word.
    for nothing in ["body:f1", "f1", "embed:f1", "subject:f1"] {
        assert_eq!(fixture.find(nothing), [""; 0], "{nothing}");
    }
    assert_eq!(read_all(&fixture, &reader), messages(0), "all is read");
    assert_eq!(reader.count.load(Ordering::Relaxed), 2);
    fixture.check();
}

#[test]
fn what_was_looked_at_is_not_opened_again() {
    let fixture = fixture(2);
    let reader = reader("f1");
    fixture.update();
    let asked = || reader.asked_count.swap(0, Ordering::Relaxed);
    assert_eq!((read(&fixture, &reader), asked() > 0), (messages(2), true));
    let mailbox = fixture.mailbox();
    assert_eq!((read(&fixture, &reader), asked()), (messages(0), 0));
    assert!(mailbox.newer(&fixture.environment).unwrap().is_none(), "nothing is written");
    put(&fixture, 2);
    fixture.update();
    assert_eq!((read(&fixture, &reader), asked() > 0), (messages(1), true));
    // Nor are segments that merge.
    for number in 3..20 {
        put(&fixture, number);
        fixture.update();
        assert_eq!((read(&fixture, &reader), asked() > 0), (messages(1), true));
    }
    assert_eq!((read(&fixture, &reader), asked()), (messages(0), 0));
    assert_eq!(fixture.find("embed:hidden").len(), 20);
    fixture.check();
}

#[test]
fn messages_that_are_too_large_for_memory_have_it_too() {
    let fixture = Fixture::new();
    let reader = reader("f1");
    let large = |number| message(number).replace("plain", &"word ".repeat(100_000));
    fixture.put("f", "cur", "1:2,S", &large(1));
    fixture.put("f", "cur", "2:2,S", &large(2));
    let options = UpdateOptions { message_bytes_max: 1000, ..options(&reader) };
    fixture.update_with(&options);
    assert_eq!(fixture.find("embed:hidden"), [""; 0]);
    let read = index::read_attachments(&fixture.environment, &options, Look::New, &Silent, &|| ()).unwrap();
    assert_eq!(read, messages(2));
    assert_eq!(fixture.find("embed:hidden"), ["s01", "s02"]);
}

#[test]
fn older_messages_are_read_once_by_each_filter() {
    let fixture = fixture(3);
    fixture.update_with(&UpdateOptions { headers: vec!["X-Spam".into()], ..UpdateOptions::default() });
    let before = fixture.mailbox();
    let first = reader("f1");
    assert_eq!(read(&fixture, &first), messages(3));
    assert_eq!(fixture.find("embed:hidden"), ["s00", "s01", "s02"]);
    assert_eq!(subjects(&before, "embed:hidden"), [""; 0], "who reads an older state goes on with it");
    assert_eq!(fixture.find_with("X-Spam:yes", &["X-Spam"]).len(), 3, "fields that are known are kept");
    put(&fixture, 3);
    fixture.update();
    assert_eq!(read(&fixture, &first), messages(1));
    assert_eq!(first.count.load(Ordering::Relaxed), 4);
    let second = reader("f2");
    assert_eq!(read(&fixture, &second), messages(4), "another filter looks at all");
    assert_eq!(read(&fixture, &second), messages(0));
    assert_eq!(fixture.find("embed:hidden").len(), 4);
    fixture.check();
}

#[test]
fn a_filter_that_cannot_be_used_reads_them_when_it_is_asked_for() {
    let fixture = fixture(2);
    let unusable = make("f1", false, |_| ());
    fixture.update();
    assert_eq!(read(&fixture, &unusable), messages(0));
    let usable = reader("f1");
    assert_eq!(read(&fixture, &usable), messages(0), "each run would try it again");
    assert_eq!(read_all(&fixture, &usable), messages(2));
    assert_eq!(fixture.find("embed:hidden").len(), 2);
}

#[test]
fn messages_without_a_file_are_left_out_and_those_that_move_are_read_later() {
    let fixture = fixture(3);
    fixture.update();
    fs::remove_file(fixture.root().join("f/cur/0:2,S")).unwrap();
    fixture.update();
    let reader = reader("f1");
    fs::rename(fixture.root().join("f/cur/1:2,S"), fixture.root().join("f/cur/1:2,FS")).unwrap();
    let done = read(&fixture, &reader);
    assert_eq!((done.messages, done.without_file), (1, 2));
    assert_eq!(fixture.find("embed:hidden"), ["s02"]);
    fixture.update();
    let done = read(&fixture, &reader);
    assert_eq!((done.messages, done.without_file), (1, 1));
    assert_eq!(fixture.find("embed:hidden"), ["s01", "s02"]);
    assert_eq!(read(&fixture, &reader), messages(0));
    // Its file comes back.
    put(&fixture, 0);
    fixture.update();
    assert_eq!(read_all(&fixture, &reader), messages(1));
    assert_eq!(fixture.find("embed:hidden").len(), 3);
}

#[test]
fn work_that_is_stopped_keeps_what_is_done_and_goes_on_there() {
    let fixture = fixture(40);
    fixture.update();
    let reader = reader("f1");
    let stopped = read_with(&fixture, &reader, Look::New, &StopAfter::new(7));
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
fn what_is_read_is_published_before_all_is_read() {
    let fixture = fixture(8);
    fixture.update();
    let environment = fixture.environment.clone();
    // Two threads read a message each, or two and one if one is faster.
    let reader = make("f1", true, move |before| {
        let found = Mailbox::open(&environment).unwrap().count(&query("embed:hidden")).unwrap();
        assert!(found + 2 >= before, "{found} of {before}");
    });
    let options = UpdateOptions { batch_time: Duration::ZERO, ..options(&reader) };
    let read = index::read_attachments(&fixture.environment, &options, Look::New, &Silent, &|| ()).unwrap();
    assert_eq!(read, messages(8));
    assert_eq!(fixture.find("embed:hidden").len(), 8);
}

#[test]
fn others_write_and_merge_while_a_message_is_read() {
    let fixture = Arc::new(fixture(1));
    fixture.update();
    let other = Arc::clone(&fixture);
    let reader = make("f1", true, move |before| {
        if before > 0 {
            return;
        }
        // Enough passes for a merge of what is worked on.
        for number in 10..20 {
            put(&other, number);
            assert_eq!(other.update().new_messages, 1);
        }
        assert_eq!(other.find("body:plain").len(), 12);
        let second = reader_of_nothing();
        let read = index::read_attachments(&other.environment, &options(&second), Look::New, &Silent, &|| ())
            .unwrap();
        assert_eq!(read.is_read_by.as_deref(), Some("a test"), "each is read once");
    });
    assert_eq!(read(&fixture, &reader), messages(11));
    assert_eq!(reader.count.load(Ordering::Relaxed), 11);
    assert_eq!(fixture.find("embed:hidden").len(), 11);
    fixture.check();
}

fn reader_of_nothing() -> Arc<Reader> {
    make("f2", true, |_| panic!("it has nothing to read"))
}

/// Returns how many messages have had more text since a token.
fn texts_since(mailbox: &Mailbox, token: &str) -> u64 {
    let mut count = 0;
    let counted = |change: index::Change| {
        count += u64::from(change.what == Happened::Text);
        index::Result::Ok(())
    };
    mailbox.changes(Some(token)).unwrap().each(mailbox, counted).unwrap();
    count
}

#[test]
fn what_asks_for_text_sees_messages_come_when_it_was_read() {
    let fixture = fixture(2);
    fixture.update();
    let token = fixture.mailbox().changes(None).unwrap().token;
    let came = |asked: &str| fixture.mailbox().came_since(&token, &query(asked)).unwrap().count();
    let unreadable = make("f0", false, |_| ());
    read(&fixture, &unreadable);
    assert_eq!((texts_since(&fixture.mailbox(), &token), came("embed:hidden")), (0, 0));
    read(&fixture, &reader("f1"));
    assert_eq!(texts_since(&fixture.mailbox(), &token), 2);
    for (asked, count) in
        [("embed:hidden", 2), ("hidden", 2), ("not (hidden or flag:seen)", 2), ("subject:s00", 0)]
    {
        assert_eq!(came(asked), count, "{asked}");
    }
}

#[test]
fn new_messages_are_seen_once_more_when_their_text_comes() {
    let fixture = fixture(1);
    let environment = &fixture.environment;
    fixture.update();
    assert!(Arrivals::take(environment, &fixture.mailbox(), Looked::Everywhere).unwrap().is_some());
    index::expect_arrivals(environment).unwrap();
    (1..4).for_each(|number| put(&fixture, number));
    fixture.update();
    let mailbox = fixture.mailbox();
    let numbers = |asked: &str| mailbox.evaluate(&query(asked)).unwrap();
    let mut arrivals = Arrivals::take(environment, &mailbox, Looked::Everywhere).unwrap().unwrap();
    assert_eq!(arrivals.for_rule(7), numbers("subject:s01 or subject:s02 or subject:s03"));
    arrivals.await_text(&mailbox, 7, &numbers("subject:s01 or subject:s02"));
    arrivals.await_text(&mailbox, 8, &numbers("subject:s02"));
    arrivals.commit(environment, &mailbox, &[]).unwrap();
    assert!(Arrivals::take_text(environment, &mailbox).unwrap().is_none());
    // That of older messages is read, too.
    assert_eq!(read(&fixture, &reader("f1")), messages(4));
    // Whoever asks first stops before the commit.
    for _ in 0..2 {
        let again = Arrivals::take_text(environment, &fixture.mailbox()).unwrap().unwrap();
        assert_eq!(again.new_messages(), &numbers("subject:s01 or subject:s02"));
        assert_eq!(again.for_rule(7), numbers("subject:s01 or subject:s02"));
        assert_eq!(again.for_rule(8), numbers("subject:s02"));
        assert!(again.for_rule(9).is_empty(), "it was written later, or had matched");
    }
    let again = Arrivals::take_text(environment, &fixture.mailbox()).unwrap().unwrap();
    again.commit(environment, &fixture.mailbox(), &[]).unwrap();
    assert!(Arrivals::take_text(environment, &fixture.mailbox()).unwrap().is_none());
    assert!(index::awaited_text(environment).unwrap().is_empty());
}

#[test]
fn a_process_killed_at_any_operation_leaves_the_old_or_the_new_text() {
    let fixture = fixture(3);
    let environment = |disk: &SimDisk| environment(Arc::new(disk.clone()), Path::new("/data"));
    let indexed = SimDisk::new(1);
    index::update(&environment(&indexed), &fixture.roots, &UpdateOptions::default(), &Silent).unwrap();
    let read = |disk: &SimDisk| {
        index::read_attachments(&environment(disk), &options(&reader("f1")), Look::New, &Silent, &|| ())
            .map(|read| read.messages)
    };
    let found = |disk: &SimDisk| {
        let damage = index::check(&environment(disk), index::Depth::Deep).unwrap();
        assert!(damage.is_empty(), "{damage:#?}");
        let mailbox = Mailbox::open(&environment(disk)).unwrap();
        assert_eq!(mailbox.count(&query("body:plain")).unwrap(), 4);
        mailbox.count(&query("embed:hidden")).unwrap()
    };
    let token = Mailbox::open(&environment(&indexed)).unwrap().changes(None).unwrap().token;
    let logged = |disk: &SimDisk| texts_since(&Mailbox::open(&environment(disk)).unwrap(), &token);
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
            assert_eq!(logged(&image.disk), seen, "crash at {number}, {}", image.description);
            assert_eq!(read(&image.disk).unwrap() + seen, 3, "crash at {number}, {}", image.description);
            assert_eq!((found(&image.disk), logged(&image.disk)), (3, 3), "crash at {number}");
        }
    }
}

/// Reads this in what is encrypted, and nothing else.
#[derive(Debug)]
struct Opener(Mutex<AttachmentTexts>);

impl AttachmentReader for Opener {
    fn filters(&self) -> Vec<String> {
        vec!["d1".to_owned()]
    }

    fn filters_for(&self, _: &str) -> Vec<String> {
        Vec::new()
    }

    fn filter_for_encrypted(&self) -> Option<String> {
        Some("d1".to_owned())
    }

    fn read(
        &self,
        parts: &mut MessageParts<'_>,
        filters: &BTreeSet<String>,
        _: &dyn Fn() -> bool,
    ) -> AttachmentTexts {
        assert!(filters.contains("d1") && parts.bytes().is_some());
        self.0.lock().unwrap().clone()
    }
}

fn opened(text: &str) -> AttachmentTexts {
    AttachmentTexts { texts: vec![text.to_owned()], ..AttachmentTexts::default() }
}

#[test]
fn encrypted_messages_have_a_filter_of_their_own_however_they_are_encrypted() {
    let fixture = Fixture::new();
    let block = "-----BEGIN PGP MESSAGE-----\n\nhQ==\n-----END PGP MESSAGE-----\n";
    let container = "Content-Type: multipart/encrypted; boundary=b\n\n--b\n\n1\n--b\n\nx\n--b--\n";
    for (number, body) in [
        (1, format!("\nA block:\n{block}")),
        (2, container.to_owned()),
        (3, format!("\n> {}", block.replace('\n', "\n> "))),
        (4, "\nbegin a pgp message\n".to_owned()),
    ] {
        let date = format!("Date: Mon, 2 Jan 2023 10:00:0{}", 9 - number);
        let message = format!("Subject: s{number}\nMessage-ID: <{number}@x>\n{date} +0000\n{body}");
        fixture.put("f", "cur", &format!("{number}:2,S"), &message);
    }
    let attachments: Arc<dyn AttachmentReader> = Arc::new(Opener(Mutex::new(opened("opened"))));
    let options = UpdateOptions { attachments: Some(attachments), ..UpdateOptions::default() };
    fixture.update_with(&options);
    assert!(!index::is_read_by(&fixture.environment, "d1").unwrap());
    let read = |look| index::read_attachments(&fixture.environment, &options, look, &Silent, &|| ()).unwrap();
    assert_eq!(read(Look::New), messages(2));
    assert_eq!(fixture.find("opened"), ["s1", "s2"]);
    assert!(index::is_read_by(&fixture.environment, "d1").unwrap());
    assert!(!index::is_read_by(&fixture.environment, "d2").unwrap());
    assert_eq!([read(Look::New), read(Look::All)], [messages(0), messages(0)]);
    fixture.check();
}

#[test]
fn text_of_a_part_is_found_and_stays_until_all_can_be_read() {
    let fixture = Fixture::new();
    let container = "Content-Type: multipart/encrypted; boundary=b\n\n--b\n\n1\n--b\n\nx\n--b--\n";
    fixture.put("f", "cur", "1:2,S", &format!("Subject: s\nMessage-ID: <1@x>\n{container}"));
    let partly = |text| AttachmentTexts { partly: vec!["d1".to_owned()], ..opened(text) };
    let opener = Arc::new(Opener(Mutex::new(partly("first"))));
    let attachments: Arc<dyn AttachmentReader> = opener.clone();
    let options = UpdateOptions { attachments: Some(attachments), ..UpdateOptions::default() };
    fixture.update_with(&options);
    let read = |look| index::read_attachments(&fixture.environment, &options, look, &Silent, &|| ()).unwrap();
    let found = || ["first", "second", "whole"].map(|word| fixture.find(word).len());
    assert_eq!((read(Look::New), found()), (messages(1), [1, 0, 0]));
    assert!(index::is_read_by(&fixture.environment, "d1").unwrap());
    let nothing = AttachmentTexts { unusable: vec!["d1".to_owned()], ..AttachmentTexts::default() };
    for other in [partly("second"), nothing] {
        *opener.0.lock().unwrap() = other;
        assert_eq!((read(Look::All), found()), (messages(0), [1, 0, 0]));
    }
    *opener.0.lock().unwrap() = opened("whole");
    assert_eq!((read(Look::New), found()), (messages(0), [1, 0, 0]), "it is not tried by itself");
    assert_eq!((read(Look::All), found()), (messages(1), [0, 0, 1]));
    assert_eq!(read(Look::All), messages(0));
    fixture.check();
}
