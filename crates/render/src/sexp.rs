//! S-expressions for Emacs: one message on one line, a property list as packages for mu read it.
//!
//! Input: records. Output: lines that the Lisp reader takes. Characters that a terminal would act on, and
//! bytes that are not UTF-8, are written as escapes of the reader, so that nothing is lost. docs/OUTPUT.md
//! lists the keys.

use crate::links::Link;
use crate::listed::{Listed, Need, Printer};
use crate::position::Position;
use crate::record::{Attachment, Contact, Record};
use crate::thread::{Author, ThreadSummary};
use index::Origin;
use printable::sanitise::is_harmful;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Prints property lists.
#[derive(Clone, Copy, Debug)]
pub struct Sexp;

impl Printer for Sexp {
    fn need(&self) -> Need {
        Need::ALL
    }

    fn print(&self, listed: &Listed, out: &mut Vec<u8>) {
        line(&Record::from_list(listed), out);
    }
}

/// Appends a record as a line. Keys without a value are left out.
pub fn line(record: &Record<'_>, out: &mut Vec<u8>) {
    let mut list = List { out, is_begun: false };
    if let Some(file) = record.files.first() {
        list.value("path", |out| path(file.place, out));
    }
    if record.files.len() > 1 {
        list.values("paths", &record.files, |file, out| path(file.place, out));
    }
    if let Some(maildir) = record.files.first().and_then(|file| file.maildir) {
        list.value("maildir", |out| string(maildir, out));
    }
    list.value("size", |out| number(record.size, out));
    if let Some(date) = record.date_unix {
        list.value("date", |out| time(date, out));
    }
    if let Some(changed) = record.files.iter().filter_map(|file| file.changed).max() {
        list.value("changed", |out| time(changed, out));
    }
    list.text("message-id", record.message_id);
    list.text("sha256", &record.sha256);
    list.text("subject", record.subject);
    list.values("from", &record.from, contact);
    list.values("to", &record.to, contact);
    list.values("cc", &record.cc, contact);
    list.values("bcc", &record.bcc, contact);
    list.text("list", record.list_id);
    list.values("references", record.references, |id, out| string(id, out));
    list.value("priority", |out| out.extend_from_slice(record.priority.unwrap_or("normal").as_bytes()));
    list.text("language", record.language);
    list.values("flags", &record.flags, |name, out| out.extend_from_slice(name.as_bytes()));
    list.values("attachments", &record.attachments, attachment);
    list.values("tags", record.tags, |tag, out| string(tag, out));
    if let Some(position) = record.position {
        list.value("meta", |out| meta(&position, out));
    }
    list.text("body-txt", record.text.unwrap_or_default());
    list.values("links", &record.links, link);
    if let Some(count) = record.links_left_out {
        list.value("links-left-out", |out| number(count.get() as u64, out));
    }
    list.end();
    out.push(b'\n');
}

/// Appends a conversation as a line. Keys without a value are left out.
pub fn thread_line(thread: &ThreadSummary, out: &mut Vec<u8>) {
    let mut list = List { out, is_begun: false };
    list.value("thread", |out| string(&thread.id, out));
    if let Some(date) = thread.date_unix {
        list.value("date", |out| time(date, out));
    }
    list.value("messages", |out| number(thread.messages as u64, out));
    list.value("found", |out| number(thread.found as u64, out));
    list.value("unread", |out| number(thread.unread as u64, out));
    list.values("authors", &thread.authors, author);
    list.text("subject", &thread.subject);
    let tags: Vec<&String> = thread.tags.iter().collect();
    list.values("tags", &tags, |tag, out| string(tag, out));
    list.end();
    out.push(b'\n');
}

fn author(author: &Author, out: &mut Vec<u8>) {
    let mut list = List { out, is_begun: false };
    list.value("email", |out| string(&author.address, out));
    list.text("name", &author.name);
    if !author.found {
        list.value("related", |out| out.push(b't'));
    }
    list.end();
}

/// A property list that is being written.
struct List<'o> {
    out: &'o mut Vec<u8>,
    is_begun: bool,
}

impl List<'_> {
    fn value(&mut self, key: &str, write: impl FnOnce(&mut Vec<u8>)) {
        self.out.push(if self.is_begun { b' ' } else { b'(' });
        self.is_begun = true;
        self.out.push(b':');
        self.out.extend_from_slice(key.as_bytes());
        self.out.push(b' ');
        write(self.out);
    }

    fn text(&mut self, key: &str, text: &str) {
        if !text.is_empty() {
            self.value(key, |out| string(text, out));
        }
    }

    fn values<T>(&mut self, key: &str, values: &[T], write: impl Fn(&T, &mut Vec<u8>)) {
        if values.is_empty() {
            return;
        }
        self.value(key, |out| {
            for (place, value) in values.iter().enumerate() {
                out.push(if place == 0 { b'(' } else { b' ' });
                write(value, out);
            }
            out.push(b')');
        });
    }

    fn end(self) {
        self.out.push(b')');
    }
}

fn contact(contact: &Contact<'_>, out: &mut Vec<u8>) {
    let mut list = List { out, is_begun: false };
    list.value("email", |out| string(contact.address, out));
    list.text("name", contact.name);
    list.end();
}

fn meta(position: &Position<&str>, out: &mut Vec<u8>) {
    let mut list = List { out, is_begun: false };
    list.value("level", |out| number(u64::from(position.depth), out));
    list.value("thread", |out| string(position.thread, out));
    for (key, is_so) in [("root", position.depth == 0), ("related", position.origin == Origin::Related)] {
        if is_so {
            list.value(key, |out| out.push(b't'));
        }
    }
    list.end();
}

fn attachment(attachment: &Attachment<'_>, out: &mut Vec<u8>) {
    let mut list = List { out, is_begun: false };
    list.value("name", |out| string(attachment.name, out));
    list.text("mime-type", attachment.mime.unwrap_or_default());
    if let Some(size) = attachment.size {
        list.value("size", |out| number(size, out));
    }
    list.end();
}

fn link(link: &Link<'_>, out: &mut Vec<u8>) {
    let mut list = List { out, is_begun: false };
    list.value("target", |out| string(link.target, out));
    list.text("text", link.text);
    list.end();
}

fn number(number: u64, out: &mut Vec<u8>) {
    write!(out, "{number}").expect("writing to memory does not fail");
}

/// Writes a time as Emacs has it: the high bits of the seconds, the low 16, and microseconds.
fn time(seconds: i64, out: &mut Vec<u8>) {
    write!(out, "({} {} 0)", seconds >> 16, seconds & 0xffff).expect("writing to memory does not fail");
}

fn path(path: &Path, out: &mut Vec<u8>) {
    out.push(b'"');
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        escaped(chunk.valid(), out);
        for byte in chunk.invalid() {
            write!(out, "\\{byte:03o}").expect("writing to memory does not fail");
        }
    }
    out.push(b'"');
}

fn string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    escaped(text, out);
    out.push(b'"');
}

/// Appends text as the content of a string. Below 128 escapes are octal: `\u` would do, but makes a string of
/// ASCII multibyte.
fn escaped(text: &str, out: &mut Vec<u8>) {
    let mut begin = 0;
    for (at, character) in text.char_indices() {
        if !(matches!(character, '"' | '\\') || is_harmful(character)) {
            continue;
        }
        out.extend_from_slice(text.get(begin..at).unwrap_or_default().as_bytes());
        match character {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            '\n' => out.extend_from_slice(b"\\n"),
            '\t' => out.extend_from_slice(b"\\t"),
            '\0'..='\u{7f}' => {
                write!(out, "\\{:03o}", u32::from(character)).expect("writing to memory does not fail");
            }
            _ => write!(out, "\\u{:04x}", u32::from(character)).expect("writing to memory does not fail"),
        }
        begin = at + character.len_utf8();
    }
    out.extend_from_slice(text.get(begin..).unwrap_or_default().as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sample;
    use mail::Flags;
    use std::ffi::OsStr;

    fn written(record: &Record<'_>) -> String {
        let mut out = Vec::new();
        line(record, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_key_is_written() {
        let mut out = Vec::new();
        Sexp.print(&sample(), &mut out);
        insta::assert_snapshot!(String::from_utf8(out).unwrap().replace(" :", "\n:"), @r#"
        (:path "/m/lists/cur/1:2,S"
        :paths ("/m/lists/cur/1:2,S" "/m/copies/cur/2:2,F")
        :maildir "/lists"
        :size 4096
        :date (26087 9699 0)
        :changed (26162 11968 0)
        :message-id "x\"y\\@example.org"
        :sha256 "abababababababababababababababababababababababababababababababab"
        :subject "Grüße\nFrom: x\u202e"
        :from ((:email "ana@example.org"
        :name "Ana\033[31m"))
        :to ((:email "bo@example.org") (:email "cy@example.org"
        :name "Cy"))
        :cc ((:email ""
        :name "undisclosed"))
        :bcc ((:email "dee@example.org"
        :name "Dee"))
        :list "tubes.example.org"
        :references ("v@example.org" "w@example.org")
        :priority normal
        :language "en"
        :flags (flagged seen unread attach)
        :attachments ((:name "plan.pdf") (:name "ä.txt"))
        :tags ("todo" "work"))
        "#);
    }

    #[test]
    fn what_has_no_value_is_left_out() {
        let record = Record::new(&[0; 32], Some(-1), 7);
        assert_eq!(
            written(&record),
            format!("(:size 7 :date (-1 65535 0) :sha256 \"{}\" :priority normal)\n", "0".repeat(64))
        );
    }

    #[test]
    fn bytes_that_are_no_text_are_octal() {
        let file =
            crate::record::File::unknown(Path::new(OsStr::from_bytes(b"/m/\xff01\n\"\xc3\xa4")), Flags::SEEN);
        let mut record = Record::new(&[0; 32], None, 0);
        record.files = vec![file];
        assert!(
            written(&record).starts_with("(:path \"/m/\\37701\\n\\\"ä\" :size 0 "),
            "{}",
            written(&record)
        );
    }

    #[test]
    fn every_character_is_one_of_a_string_and_none_is_harmful() {
        for character in '\0'..=char::MAX {
            let mut out = Vec::new();
            string(&format!("a{character}7"), &mut out);
            let text = String::from_utf8(out).unwrap();
            assert!(!text.contains(is_harmful), "{character:?}");
            assert_eq!(read(&text), format!("a{character}7"), "{character:?}");
        }
    }

    /// Reads a string as the manual of Emacs Lisp says it.
    fn read(text: &str) -> String {
        let inner = text.strip_prefix('"').unwrap().strip_suffix('"').unwrap();
        let letters: Vec<char> = inner.chars().collect();
        let number = |digits: &[char], radix| {
            let digits: String = digits.iter().collect();
            char::from_u32(u32::from_str_radix(&digits, radix).unwrap()).unwrap()
        };
        let (mut out, mut at) = (String::new(), 0);
        while at < letters.len() {
            let (character, length) = match letters[at..] {
                ['\\', 'n', ..] => ('\n', 2),
                ['\\', 't', ..] => ('\t', 2),
                ['\\', 'u', ..] => (number(&letters[at + 2..at + 6], 16), 6),
                ['\\', '0'..='7', ..] => (number(&letters[at + 1..at + 4], 8), 4),
                ['\\', other, ..] => (other, 2),
                ['"', ..] => panic!("a string ends in the middle: {text}"),
                _ => (letters[at], 1),
            };
            out.push(character);
            at += length;
        }
        out
    }
}
