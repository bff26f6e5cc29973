//! The columns of a table of messages.
//!
//! Input: a message as the index knows it. Output: the value of each column, exactly as the message has it.
//! Does not know formats.

use columnar::{Field, Kind};
use index::{FileView, MessageParts, MessageView, PairList, shown_flags};
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

/// Takes the value of a column in one row.
pub trait Cell {
    /// Takes a text.
    fn text(self, text: &str);
    /// Takes a number.
    fn number(self, number: i64);
    /// Takes a time, if there is one.
    fn time(self, time: Option<Timestamp>);
    /// Takes several texts.
    fn texts<'a>(self, texts: impl Iterator<Item = Cow<'a, str>>);
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
    pub fn field(self) -> Field<'static> {
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
    pub(super) fn parts(self) -> MessageParts {
        let none = MessageParts::default();
        match self {
            Column::Date => none,
            Column::Subject | Column::Size => MessageParts { line: true, ..none },
            Column::Folders | Column::Paths => MessageParts { files: true, ..none },
            Column::Flags => MessageParts { line: true, files: true, ..none },
            Column::Tags => MessageParts { tags: true, ..none },
            _ => MessageParts { rest: true, ..none },
        }
    }

    /// Puts the value of a message into a cell. `thread` is the Message-ID of the first message of its
    /// conversation.
    pub fn put(self, message: &MessageView<'_>, thread: &str, cell: impl Cell) {
        let rest = &message.rest;
        match self {
            Column::MessageId => cell.text(rest.message_id),
            Column::Sha256 => cell.text(&printable::hex(&message.sha256)),
            Column::Date => {
                cell.time(message.date.and_then(|date| Timestamp::from_second(date).ok()));
            }
            Column::FromName => cell.text(rest.from.iter().next().map_or("", |(name, _)| name)),
            Column::FromAddress => cell.text(rest.from.iter().next().map_or("", |(_, address)| address)),
            Column::To => cell.texts(addresses(rest.to)),
            Column::Cc => cell.texts(addresses(rest.cc)),
            Column::Bcc => cell.texts(addresses(rest.bcc)),
            Column::Subject => cell.text(message.subject),
            Column::Size => cell.number(i64::try_from(message.size_bytes).unwrap_or(i64::MAX)),
            Column::Flags => {
                let shown = shown_flags(message.files.iter().map(|file| file.flags), message.derived);
                cell.texts(shown.map(|info| Cow::Borrowed(info.name)));
            }
            Column::Tags => cell.texts(message.tags.iter().map(|tag| Cow::Borrowed(tag.as_str()))),
            Column::ListId => cell.text(rest.list_id),
            Column::Language => cell.text(rest.language),
            Column::Attachments => cell.texts(rest.attachments.iter().map(Cow::Borrowed)),
            Column::Thread => cell.text(thread),
            Column::References => cell.texts(rest.references.iter().map(Cow::Borrowed)),
            Column::Folders => cell.texts(folders(message.files)),
            Column::Paths => cell.texts(message.files.iter().map(|file| Cow::Owned(file.path()))),
            Column::Snippet => cell.text(rest.snippet),
        }
    }
}

/// Returns the addresses of contacts that have one: names of groups have none.
fn addresses(contacts: PairList<'_>) -> impl Iterator<Item = Cow<'_, str>> {
    contacts.iter().filter(|(_, address)| !address.is_empty()).map(|(_, address)| Cow::Borrowed(address))
}

/// Returns the folders of files, each once.
fn folders<'a>(files: &'a [FileView<'a>]) -> impl Iterator<Item = Cow<'a, str>> {
    let is_first = |place: usize, name: &str| !files.iter().take(place).any(|file| file.maildir() == name);
    let named = files.iter().map(FileView::maildir).enumerate();
    named.filter(move |(place, name)| is_first(*place, name)).map(|(_, name)| Cow::Borrowed(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{as_view, sample};
    use index::Message;

    #[derive(Debug, PartialEq)]
    enum Value {
        Text(String),
        Number(i64),
        Time(Option<Timestamp>),
        Texts(Vec<String>),
    }

    impl Cell for &mut Option<Value> {
        fn text(self, text: &str) {
            *self = Some(Value::Text(text.to_owned()));
        }

        fn number(self, number: i64) {
            *self = Some(Value::Number(number));
        }

        fn time(self, time: Option<Timestamp>) {
            *self = Some(Value::Time(time));
        }

        fn texts<'a>(self, texts: impl Iterator<Item = Cow<'a, str>>) {
            *self = Some(Value::Texts(texts.map(Cow::into_owned).collect()));
        }
    }

    fn value(column: Column, message: &Message) -> Value {
        let mut value = None;
        as_view(message, |message| column.put(message, "t@x", &mut value));
        value.unwrap()
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    fn texts<const N: usize>(texts: [&str; N]) -> Value {
        Value::Texts(texts.map(str::to_owned).to_vec())
    }

    #[test]
    fn every_column_has_its_name_and_kind() {
        for column in Column::ALL {
            assert_eq!(Column::of_name(column.field().name), Some(column));
            let kind = match value(column, &sample().message) {
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
        assert_eq!(value(Column::Date, &message), Value::Time(None));
        assert_eq!(value(Column::FromName, &message), text("Ana\u{1b}[31m"));
        assert_eq!(value(Column::To, &message), texts(["bo@example.org", "cy@example.org"]));
        assert_eq!(value(Column::Cc, &sample().message), texts([]), "a name without an address");
        assert_eq!(value(Column::Subject, &message), text("Grüße\nFrom: x\u{202e}"));
        assert_eq!(value(Column::Flags, &message), texts(["flagged", "seen", "unread", "attach"]));
        assert_eq!(value(Column::Tags, &message), texts(["todo", "work"]));
        assert_eq!(value(Column::Folders, &message), texts(["/lists", "/copies"]));
        let paths = ["/m/lists/cur/1:2,S", "/m/copies/cur/2:2,F", "/m/lists/cur/1:2,S"];
        assert_eq!(value(Column::Paths, &message), texts(paths));
        assert_eq!(value(Column::Thread, &message), text("t@x"));
        message.rest.from.clear();
        assert_eq!(value(Column::FromAddress, &message), text(""));
    }
}
