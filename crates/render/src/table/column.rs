//! The columns of a table of messages.
//!
//! Input: a message as the index knows it. Output: the value of each column, exactly as the message has it.
//! Does not know formats.

use crate::flags;
use crate::listed::Need;
use columnar::{Field, Kind};
use index::{Contact, Message};
use jiff::Timestamp;
use std::borrow::Cow;

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Without angle brackets.
    MessageId,
    /// Of the content, 64 digits.
    Sha256,
    /// In UTC; none if there is none, or no calendar has it.
    Date,
    /// The name of the first sender.
    FromName,
    /// The address of the first sender.
    FromAddress,
    /// Addresses of recipients.
    To,
    /// Addresses of those who got a copy.
    Cc,
    /// Addresses of those who got a blind copy.
    Bcc,
    /// The subject.
    Subject,
    /// Of the content, in bytes.
    Size,
    /// Names of flags.
    Flags,
    /// Tags, and labels in the message.
    Tags,
    /// The mailing list.
    ListId,
    /// The language of the text.
    Language,
    /// Names of attachments.
    Attachments,
    /// Message-ID of the first message of the conversation.
    Thread,
    /// Message-IDs of earlier messages, oldest first.
    References,
    /// Folders of its files, each once.
    Folders,
    /// Paths of its files.
    Paths,
    /// The first words of the text.
    Snippet,
}

/// The value of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// A text.
    Text(Cow<'a, str>),
    /// A number.
    Number(i64),
    /// A time, if there is one.
    Time(Option<Timestamp>),
    /// Several texts.
    Texts(Vec<Cow<'a, str>>),
}

impl Column {
    /// All columns, in the order of a table.
    pub const ALL: [Column; 20] = [
        Column::MessageId,
        Column::Sha256,
        Column::Date,
        Column::FromName,
        Column::FromAddress,
        Column::To,
        Column::Cc,
        Column::Bcc,
        Column::Subject,
        Column::Size,
        Column::Flags,
        Column::Tags,
        Column::ListId,
        Column::Language,
        Column::Attachments,
        Column::Thread,
        Column::References,
        Column::Folders,
        Column::Paths,
        Column::Snippet,
    ];

    /// Returns the columns of a table for which nobody chose any: what may hold secrets of others, or is
    /// large, must be named.
    pub fn default_choice() -> Vec<Column> {
        let is_named = |column: &Column| matches!(column, Column::Bcc | Column::References | Column::Snippet);
        Column::ALL.into_iter().filter(|column| !is_named(column)).collect()
    }

    /// Returns the column of this name.
    pub fn of_name(name: &str) -> Option<Column> {
        Column::ALL.into_iter().find(|column| column.field().name == name)
    }

    /// Returns the column's name and kind.
    pub fn field(self) -> Field {
        let (name, kind) = match self {
            Column::MessageId => ("message_id", Kind::Text),
            Column::Sha256 => ("sha256", Kind::Text),
            Column::Date => ("date", Kind::Time),
            Column::FromName => ("from_name", Kind::Text),
            Column::FromAddress => ("from_address", Kind::Text),
            Column::To => ("to", Kind::Texts),
            Column::Cc => ("cc", Kind::Texts),
            Column::Bcc => ("bcc", Kind::Texts),
            Column::Subject => ("subject", Kind::Text),
            Column::Size => ("size", Kind::Number),
            Column::Flags => ("flags", Kind::Texts),
            Column::Tags => ("tags", Kind::Texts),
            Column::ListId => ("list_id", Kind::Text),
            Column::Language => ("language", Kind::Text),
            Column::Attachments => ("attachments", Kind::Texts),
            Column::Thread => ("thread", Kind::Text),
            Column::References => ("references", Kind::Texts),
            Column::Folders => ("folders", Kind::Texts),
            Column::Paths => ("paths", Kind::Texts),
            Column::Snippet => ("snippet", Kind::Text),
        };
        Field { name, kind }
    }

    /// Returns what must be read of each message for it.
    pub(super) fn need(self) -> Need {
        match self {
            Column::Date => Need::NOTHING,
            Column::Subject | Column::Size => Need::LINE,
            Column::Folders | Column::Paths => Need::FILES,
            Column::Flags => Need::LINE_AND_FILES,
            _ => Need::ALL,
        }
    }

    /// Returns the value for a message. `thread` is the Message-ID of the first message of its conversation.
    pub fn value<'a>(self, message: &'a Message, thread: &'a str) -> Value<'a> {
        let Message { line, rest, .. } = message;
        match self {
            Column::MessageId => text(&rest.message_id),
            Column::Sha256 => Value::Text(Cow::Owned(printable::hex(&message.sha256))),
            Column::Date => Value::Time(line.date.and_then(|date| Timestamp::from_second(date).ok())),
            Column::FromName => text(rest.from.first().map_or("", |sender| &sender.name)),
            Column::FromAddress => text(rest.from.first().map_or("", |sender| &sender.address)),
            Column::To => addresses(&rest.to),
            Column::Cc => addresses(&rest.cc),
            Column::Bcc => addresses(&rest.bcc),
            Column::Subject => text(&line.subject),
            Column::Size => Value::Number(i64::try_from(line.size_bytes).unwrap_or(i64::MAX)),
            Column::Flags => texts(flags::names(message.files.iter().map(|file| file.flags), line.derived)),
            Column::Tags => texts(message.tags.iter().map(String::as_str)),
            Column::ListId => text(&rest.list_id),
            Column::Language => text(&rest.language),
            Column::Attachments => texts(rest.attachments.iter().map(String::as_str)),
            Column::Thread => text(thread),
            Column::References => texts(rest.references.iter().map(String::as_str)),
            Column::Folders => texts(folders(message)),
            Column::Paths => {
                Value::Texts(message.files.iter().map(|file| file.path.to_string_lossy()).collect())
            }
            Column::Snippet => text(&rest.snippet),
        }
    }
}

fn text(text: &str) -> Value<'_> {
    Value::Text(Cow::Borrowed(text))
}

fn texts<'a>(list: impl IntoIterator<Item = &'a str>) -> Value<'a> {
    Value::Texts(list.into_iter().map(Cow::Borrowed).collect())
}

/// Returns the addresses of contacts that have one: names of groups have none.
fn addresses(contacts: &[Contact]) -> Value<'_> {
    texts(contacts.iter().map(|contact| contact.address.as_str()).filter(|address| !address.is_empty()))
}

fn folders(message: &Message) -> Vec<&str> {
    let mut folders: Vec<&str> = Vec::new();
    for file in &message.files {
        if !folders.contains(&file.maildir.as_str()) {
            folders.push(&file.maildir);
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sample;

    #[test]
    fn every_column_has_its_name_and_kind() {
        let message = sample().message;
        for column in Column::ALL {
            assert_eq!(Column::of_name(column.field().name), Some(column));
            let kind = match column.value(&message, "t") {
                Value::Text(_) => Kind::Text,
                Value::Number(_) => Kind::Number,
                Value::Time(_) => Kind::Time,
                Value::Texts(_) => Kind::Texts,
            };
            assert_eq!(kind, column.field().kind, "{column:?}");
        }
        assert_eq!(Column::of_name("From"), None);
        let choice = Column::default_choice();
        assert!(choice.len() == 17 && !choice.contains(&Column::Bcc));
    }

    #[test]
    fn values_are_those_of_the_message() {
        let mut message = sample().message;
        message.line.date = Some(i64::MAX);
        message.rest.cc.clear();
        let again = message.files[0].clone();
        message.files.push(again);
        assert_eq!(Column::Date.value(&message, ""), Value::Time(None));
        assert_eq!(Column::FromName.value(&message, ""), text("Ana\u{1b}[31m"));
        assert_eq!(Column::To.value(&message, ""), texts(["bo@example.org", "cy@example.org"]));
        assert_eq!(Column::Cc.value(&sample().message, ""), texts([]), "a name without an address");
        assert_eq!(Column::Subject.value(&message, ""), text("Grüße\nFrom: x\u{202e}"));
        assert_eq!(Column::Folders.value(&message, ""), texts(["/lists", "/copies"]));
        assert_eq!(Column::Thread.value(&message, "t@x"), text("t@x"));
        message.rest.from.clear();
        assert_eq!(Column::FromAddress.value(&message, ""), text(""));
    }
}
