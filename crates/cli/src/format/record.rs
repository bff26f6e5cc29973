//! A message with all that is shown of it, whether it comes from the index or was just read.
//!
//! In: the library's messages. Out: one value, which serialises as docs/OUTPUT.md describes it. Must not know how it is printed.

use crate::format::flags;
use index::{Message, MessageFile};
use jiff::Timestamp;
use mail::Flags;
use serde::Serialize;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The version of the JSON output. Keys may be added under the same version, none changes its meaning or goes.
pub(crate) const VERSION: u32 = 1;

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Record {
    version: u32,
    #[serde(rename = "type")]
    kind: &'static str,
    /// Without angle brackets.
    pub message_id: String,
    /// Of the content, 64 digits.
    pub sha256: String,
    /// In UTC; none if the date is past what a calendar has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// In seconds since 1970.
    pub date_unix: i64,
    /// Of the content, in bytes.
    pub size: u64,
    /// Names of flags, of any file and of the content.
    pub flags: Vec<&'static str>,
    /// Senders.
    pub from: Vec<Contact>,
    /// Recipients.
    pub to: Vec<Contact>,
    /// Recipients of a copy.
    pub cc: Vec<Contact>,
    /// Recipients of a blind copy.
    pub bcc: Vec<Contact>,
    /// The subject.
    pub subject: String,
    /// The mailing list; empty if there is none.
    pub list_id: String,
    /// Message-IDs of earlier messages, oldest first.
    pub references: Vec<String>,
    /// Attachments.
    pub attachments: Vec<Attachment>,
    /// The first words of the text.
    pub snippet: String,
    /// What is wrong with the message, a sentence each.
    pub problems: Vec<String>,
    /// Its files.
    pub files: Vec<File>,
    /// The text, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A name with an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Contact {
    /// The display name.
    pub name: String,
    /// The address.
    pub address: String,
}

/// An attachment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Attachment {
    /// Its file name.
    pub name: String,
    /// Its MIME type, where the message was read for it.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub mime: Option<String>,
    /// Its size in bytes, where the message was read for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// A file that holds the message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct File {
    /// The root's name; none if the file is not indexed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// The folder as queries name it; none if the file is not indexed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maildir: Option<String>,
    /// Where it is.
    #[serde(flatten)]
    pub path: FilePath,
    /// Names of its flags.
    pub flags: Vec<&'static str>,
}

/// A path, as text where it is UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) enum FilePath {
    /// As it is.
    #[serde(rename = "path")]
    Text(String),
    /// The bytes in base64.
    #[serde(rename = "path_base64")]
    Base64(String),
}

impl Record {
    /// Returns what the index knows of a message.
    pub(crate) fn from_index(message: Message) -> Record {
        let flags = flags::names(message.flags(), message.line.derived, !message.files.is_empty());
        let rest = message.rest;
        let named = |name| Attachment { name, mime: None, size: None };
        Record {
            message_id: rest.message_id,
            flags,
            from: contacts(&rest.from),
            to: contacts(&rest.to),
            cc: contacts(&rest.cc),
            bcc: contacts(&rest.bcc),
            subject: message.line.subject,
            list_id: rest.list_id,
            references: rest.references,
            attachments: rest.attachments.into_iter().map(named).collect(),
            snippet: rest.snippet,
            problems: rest.problems,
            files: message.files.into_iter().map(File::from_index).collect(),
            ..Record::new(&message.sha256, message.line.date, message.line.size_bytes)
        }
    }

    /// Returns what a message says that was read just now, from these files.
    pub(crate) fn from_mail(
        message: &mail::Message,
        sha256: &[u8; 32],
        size: u64,
        (set, files): (Flags, Vec<File>),
    ) -> Record {
        let attachment = |attachment: &mail::Attachment| Attachment {
            name: attachment.name.clone(),
            mime: Some(attachment.mime.clone()),
            size: Some(attachment.size_bytes),
        };
        Record {
            message_id: message.message_id.clone(),
            flags: flags::names(set, message.flags, !files.is_empty()),
            from: addresses(&message.from),
            to: addresses(&message.to),
            cc: addresses(&message.cc),
            bcc: addresses(&message.bcc),
            subject: message.subject.clone(),
            list_id: message.list_id.clone(),
            references: message.references.clone(),
            attachments: message.attachments.iter().map(attachment).collect(),
            snippet: message.snippet.clone(),
            problems: message.problems.iter().map(ToString::to_string).collect(),
            files,
            text: Some(message.text.clone()),
            ..Record::new(sha256, message.date_seconds, size)
        }
    }

    /// Returns a message of which nothing else is known.
    pub(crate) fn new(sha256: &[u8; 32], date_unix: i64, size: u64) -> Record {
        Record {
            version: VERSION,
            kind: "message",
            message_id: String::new(),
            sha256: hex(sha256),
            date: Timestamp::from_second(date_unix).ok().map(|date| date.to_string()),
            date_unix,
            size,
            flags: Vec::new(),
            from: Vec::new(),
            to: Vec::new(),
            cc: Vec::new(),
            bcc: Vec::new(),
            subject: String::new(),
            list_id: String::new(),
            references: Vec::new(),
            attachments: Vec::new(),
            snippet: String::new(),
            problems: Vec::new(),
            files: Vec::new(),
            text: None,
        }
    }
}

impl File {
    /// Returns what the index knows of a file.
    pub(crate) fn from_index(file: MessageFile) -> File {
        File {
            root: Some(file.root),
            maildir: Some(file.maildir),
            path: FilePath::new(&file.path),
            flags: flags::names(file.flags, mail::Derived::NONE, true),
        }
    }

    /// Returns a file that the index does not know.
    pub(crate) fn unknown(path: &Path, set: Flags) -> File {
        File {
            root: None,
            maildir: None,
            path: FilePath::new(path),
            flags: flags::names(set, mail::Derived::NONE, true),
        }
    }
}

impl FilePath {
    /// Returns a path as JSON can hold it.
    pub(crate) fn new(path: &Path) -> FilePath {
        match path.to_str() {
            Some(text) => FilePath::Text(text.to_owned()),
            None => FilePath::Base64(base64(path.as_os_str().as_bytes())),
        }
    }
}

fn contacts(list: &[index::Contact]) -> Vec<Contact> {
    list.iter()
        .map(|contact| Contact { name: contact.name.clone(), address: contact.address.clone() })
        .collect()
}

fn addresses(list: &[mail::Address]) -> Vec<Contact> {
    list.iter()
        .map(|address| Contact { name: address.name.clone(), address: address.address.clone() })
        .collect()
}

/// Returns bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns bytes in base64 with padding (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let at = |place: usize| group.get(place).copied().map_or(0, u32::from);
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4 {
            let is_there = place <= group.len();
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if is_there { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn base64_is_that_of_the_specification() {
        let pairs = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (bytes, text) in pairs {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xff, 0xfe, 0xfd]), "//79");
    }

    #[test]
    fn paths_are_text_where_they_can_be() {
        let json = |bytes: &[u8]| {
            serde_json::to_string(&FilePath::new(Path::new(OsStr::from_bytes(bytes)))).unwrap()
        };
        assert_eq!(json("/m/ä".as_bytes()), r#"{"path":"/m/ä"}"#);
        assert_eq!(json(b"/m/\xff"), r#"{"path_base64":"L20v/w=="}"#);
    }

    #[test]
    fn a_date_past_the_calendar_is_none() {
        assert_eq!(Record::new(&[0; 32], i64::MAX, 0).date, None);
        let date = Record::new(&[0; 32], 1_709_647_331, 0).date.unwrap();
        assert_eq!(date, "2024-03-05T14:02:11Z");
    }
}
