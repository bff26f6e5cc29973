//! A message with everything that is shown of it, whether it comes from the index or was just read.
//!
//! Input: the library's messages. Output: one value, which borrows from them and serialises as docs/OUTPUT.md
//! describes it. Does not depend on how it is printed.

use crate::event::Event;
use crate::flags;
use crate::links::{self, Link};
use crate::listed::Listed;
use crate::position::Position;
use index::{Message, MessageFile};
use jiff::Timestamp;
use mail::{ContentFlags, Flags};
use serde::Serialize;
use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The version of the JSON output. Keys may be added under the same version; none is removed or changes its
/// meaning.
pub const VERSION: u32 = 1;

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Record<'a> {
    version: u32,
    #[serde(rename = "type")]
    kind: &'static str,
    /// Without angle brackets.
    pub message_id: &'a str,
    /// Of the content, 64 digits.
    pub sha256: String,
    /// In UTC; none if there is none, or the date is past what a calendar has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// In seconds since 1970, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_unix: Option<i64>,
    /// Of the content, in bytes.
    pub size: u64,
    /// Names of flags, of any file and of the content.
    pub flags: Vec<&'static str>,
    /// Senders.
    pub from: Vec<Contact<'a>>,
    /// Recipients.
    pub to: Vec<Contact<'a>>,
    /// Recipients of a copy.
    pub cc: Vec<Contact<'a>>,
    /// Recipients of a blind copy.
    pub bcc: Vec<Contact<'a>>,
    /// The subject.
    pub subject: &'a str,
    /// The mailing list; empty if there is none.
    pub list_id: &'a str,
    /// Message-IDs of earlier messages, oldest first.
    pub references: &'a [String],
    /// Tags, and labels in its header.
    pub tags: &'a [String],
    /// Attachments.
    pub attachments: Vec<Attachment<'a>>,
    /// `high` or `low`; none if it is normal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<&'static str>,
    /// The language of the text; empty if it is not known.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub language: &'a str,
    /// Header fields that the configuration names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<Header<'a>>,
    /// The first words of the text.
    pub snippet: &'a str,
    /// What is wrong with the message, a sentence each.
    pub problems: Cow<'a, [String]>,
    /// Its files.
    pub files: Vec<File<'a>>,
    /// Its place in its conversation, if conversations are listed.
    #[serde(rename = "thread", skip_serializing_if = "Option::is_none")]
    pub position: Option<Position<&'a str>>,
    /// The text, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<&'a str>,
    /// The links of what was HTML in the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link<'a>>,
    /// How many more links there are, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links_left_out: Option<NonZeroUsize>,
    /// Other forms of the text, and their additional lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<OtherForm<'a>>,
    /// The events of its invitations, where they were read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event<'a>>,
}

/// A form of the text that is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct OtherForm<'a> {
    /// Its MIME type.
    #[serde(rename = "type")]
    pub mime: &'a str,
    /// Its lines that hold a word which the text lacks.
    pub text: &'a str,
}

/// A name with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Contact<'a> {
    /// The display name.
    pub name: &'a str,
    /// The address.
    pub address: &'a str,
}

/// A header field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Header<'a> {
    /// The name, as the configuration has it.
    pub name: &'a str,
    /// The decoded value.
    pub value: &'a str,
}

/// An attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Attachment<'a> {
    /// Its file name.
    pub name: &'a str,
    /// Its MIME type, where the message was read for it.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub mime: Option<&'a str>,
    /// Its size in bytes, where the message was read for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// A file that holds the message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct File<'a> {
    /// The root's name; none if the file is not indexed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<&'a str>,
    /// The folder as queries name it; none if the file is not indexed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maildir: Option<&'a str>,
    /// Its path, if that is UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<&'a str>,
    /// Its path in base64, if that is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_base64: Option<String>,
    /// Names of its flags.
    pub flags: Vec<&'static str>,
    /// Where it is.
    #[serde(skip)]
    pub place: &'a Path,
    /// When it was last changed, in seconds since 1970; none if the file is not indexed.
    #[serde(skip)]
    pub changed: Option<i64>,
}

impl<'a> Record<'a> {
    /// Returns a message of a list.
    pub fn from_list(listed: &'a Listed) -> Record<'a> {
        let position = listed.position.as_ref().map(|position| position.of(position.thread.as_str()));
        Record { position, ..Record::from_index(&listed.message) }
    }

    /// Returns a message from the index.
    pub fn from_index(message: &'a Message) -> Record<'a> {
        let rest = &message.rest;
        Record {
            message_id: &rest.message_id,
            flags: flags::names(message.files.iter().map(|file| file.flags), message.line.derived),
            from: contacts(&rest.from),
            to: contacts(&rest.to),
            cc: contacts(&rest.cc),
            bcc: contacts(&rest.bcc),
            subject: &message.line.subject,
            list_id: &rest.list_id,
            references: &rest.references,
            tags: &message.tags,
            attachments: rest
                .attachments
                .iter()
                .map(|name| Attachment { name, mime: None, size: None })
                .collect(),
            priority: priority(message.line.derived),
            language: &rest.language,
            headers: headers(&rest.headers),
            snippet: &rest.snippet,
            problems: Cow::Borrowed(&rest.problems),
            files: message.files.iter().map(File::from_index).collect(),
            ..Record::new(&message.sha256, message.line.date, message.line.size_bytes)
        }
    }

    /// Returns a message that was just read, from files with these flags.
    pub fn from_mail(
        message: &'a mail::Message,
        sha256: &[u8; 32],
        size: u64,
        (sets, files): (Vec<Flags>, Vec<File<'a>>),
    ) -> Record<'a> {
        let attachment = |attachment: &'a mail::Attachment| Attachment {
            name: &attachment.name,
            mime: Some(&attachment.mime),
            size: Some(attachment.size_bytes),
        };
        Record {
            message_id: &message.message_id,
            flags: flags::names(sets, message.flags),
            from: addresses(&message.from),
            to: addresses(&message.to),
            cc: addresses(&message.cc),
            bcc: addresses(&message.bcc),
            subject: &message.subject,
            list_id: &message.list_id,
            references: &message.references,
            tags: &message.labels,
            attachments: message.attachments.iter().map(attachment).collect(),
            priority: priority(message.flags),
            language: message.language,
            headers: headers(&message.headers),
            snippet: &message.snippet,
            problems: message.problems.iter().map(ToString::to_string).collect(),
            files,
            text: Some(&message.text),
            links: links::of_text(&message.text, &message.links),
            links_left_out: NonZeroUsize::new(message.links.left_out_count),
            also: message.other_forms.iter().map(other_form).collect(),
            ..Record::new(sha256, message.date_seconds(), size)
        }
    }

    /// Adds the index's data of a message that was read, and that of its copies: flags, list, tags.
    pub fn add_known(&mut self, known: &'a Message) {
        self.flags = flags::names(known.files.iter().map(|file| file.flags), known.line.derived);
        self.priority = priority(known.line.derived);
        self.list_id = &known.rest.list_id;
        // They include the labels in the message's header.
        self.tags = &known.tags;
    }

    /// Sets the date of a message that has none of its own.
    pub fn date_by(&mut self, date_unix: Option<i64>) {
        (self.date, self.date_unix) = (calendar(date_unix), date_unix);
    }

    /// Leaves out the targets of the links.
    pub fn leave_out_links(&mut self) {
        (self.links, self.links_left_out) = (Vec::new(), None);
    }

    /// Returns the text as it is shown: with the targets of its links. Empty if there is none.
    pub fn shown_text(&self) -> Cow<'a, str> {
        links::with_links(
            self.text.unwrap_or_default(),
            &self.links,
            self.links_left_out.map_or(0, NonZeroUsize::get),
        )
    }

    /// Returns a message of which nothing else is known.
    pub fn new(sha256: &[u8; 32], date_unix: Option<i64>, size: u64) -> Record<'a> {
        Record {
            version: VERSION,
            kind: "message",
            message_id: "",
            sha256: printable::hex(sha256),
            date: calendar(date_unix),
            date_unix,
            size,
            flags: Vec::new(),
            from: Vec::new(),
            to: Vec::new(),
            cc: Vec::new(),
            bcc: Vec::new(),
            subject: "",
            list_id: "",
            references: &[],
            tags: &[],
            attachments: Vec::new(),
            priority: None,
            language: "",
            headers: Vec::new(),
            snippet: "",
            problems: Cow::Borrowed(&[]),
            files: Vec::new(),
            position: None,
            text: None,
            links: Vec::new(),
            links_left_out: None,
            also: Vec::new(),
            events: Vec::new(),
        }
    }

    /// Leaves out calendar data at the end of the text: its events say all of it.
    pub fn leave_out_calendar(&mut self, calendar: &str) {
        let calendar = calendar.trim().replace("\r\n", "\n");
        if let Some(rest) = self.text.and_then(|text| text.trim_end().strip_suffix(&calendar)) {
            self.text = Some(rest.trim_end());
        }
    }
}

/// Returns a date in UTC, if there is one and a calendar has it.
pub(crate) fn calendar(date_unix: Option<i64>) -> Option<String> {
    Timestamp::from_second(date_unix?).ok().map(|date| date.to_string())
}

fn other_form(form: &mail::OtherForm) -> OtherForm<'_> {
    OtherForm { mime: &form.mime, text: &form.text }
}

/// Returns the name of a priority, unless it is the normal one.
pub fn priority(derived: ContentFlags) -> Option<&'static str> {
    if derived.contains(ContentFlags::HIGH) {
        return Some("high");
    }
    derived.contains(ContentFlags::LOW).then_some("low")
}

fn headers(headers: &[(String, String)]) -> Vec<Header<'_>> {
    headers.iter().map(|(name, value)| Header { name, value }).collect()
}

impl<'a> File<'a> {
    /// Returns what the index knows of a file.
    pub fn from_index(file: &'a MessageFile) -> File<'a> {
        File {
            root: Some(&file.root),
            maildir: Some(&file.maildir),
            changed: Some(file.changed_seconds),
            ..File::unknown(&file.path, file.flags)
        }
    }

    /// Returns a file that the index does not know.
    pub fn unknown(place: &'a Path, set: Flags) -> File<'a> {
        let path = place.to_str();
        let path_base64 = path.is_none().then(|| printable::json::base64(place.as_os_str().as_bytes()));
        let flags = flags::names([set], ContentFlags::NONE);
        File { root: None, maildir: None, path, path_base64, flags, place, changed: None }
    }
}

fn contacts(list: &[index::Contact]) -> Vec<Contact<'_>> {
    list.iter().map(|contact| Contact { name: &contact.name, address: &contact.address }).collect()
}

fn addresses(list: &[mail::Address]) -> Vec<Contact<'_>> {
    list.iter().map(|address| Contact { name: &address.name, address: &address.address }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn paths_are_text_where_they_can_be() {
        let json = |bytes: &[u8]| {
            let path = Path::new(OsStr::from_bytes(bytes));
            serde_json::to_string(&File::unknown(path, Flags::SEEN)).unwrap()
        };
        assert_eq!(json("/m/ä".as_bytes()), r#"{"path":"/m/ä","flags":["seen"]}"#);
        assert_eq!(json(b"/m/\xff"), r#"{"path_base64":"L20v/w==","flags":["seen"]}"#);
    }

    #[test]
    fn a_date_past_the_calendar_is_none() {
        assert_eq!(Record::new(&[0; 32], Some(i64::MAX), 0).date, None);
        let date = Record::new(&[0; 32], Some(1_709_647_331), 0).date.unwrap();
        assert_eq!(date, "2024-03-05T14:02:11Z");
    }
}
