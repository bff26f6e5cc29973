//! Plain lines: one message, or one file, on each.
//!
//! In: a list of fields as mu writes it (`d f s`), messages. Out: lines with their columns aligned; on a terminal cut to its width,
//! in pipes never. Nothing of a message can break a line or reach the terminal as anything but text.

use crate::format::flags;
use crate::sanitise::{is_harmful, one_line, one_line_of_bytes};
use crate::terminal::{Look, Terminal, cut, padding, width};
use index::{Contact, Line, Message, MessageFile};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use mail::Flags;
use std::borrow::Cow;
use std::os::unix::ffi::OsStrExt;

/// What a list shows of a message if nothing else is asked for: date, sender, subject.
pub(crate) const FIELDS_DEFAULT: &str = "d f s";

/// Something of a message that a line can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Date,
    From,
    To,
    Cc,
    Bcc,
    Subject,
    MessageId,
    Maildir,
    Path,
    Flags,
    Size,
    List,
    Attachments,
}

/// A field's letter, name and columns; the letters are those of mu and of the query language.
const TABLE: [(Field, char, &str, usize); 13] = [
    (Field::Date, 'd', "date", 16),
    (Field::From, 'f', "from", 24),
    (Field::To, 't', "to", 24),
    (Field::Cc, 'c', "cc", 24),
    (Field::Bcc, 'h', "bcc", 24),
    (Field::Subject, 's', "subject", 40),
    (Field::MessageId, 'i', "message-id", 40),
    (Field::Maildir, 'm', "maildir", 16),
    (Field::Path, 'l', "path", 40),
    (Field::Flags, 'g', "flags", 6),
    (Field::Size, 'z', "size", 9),
    (Field::List, 'v', "list", 24),
    (Field::Attachments, 'j', "attachment", 24),
];

/// A part of a line: what stands between fields, or a field with its columns.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Between(char),
    Field(Field, usize),
}

/// What a line shows, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fields(Vec<Piece>);

/// How much of a message must be read for a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    /// What a list shows.
    Line,
    /// Also its files.
    Files,
    /// Everything.
    All,
}

/// A message as far as it was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    /// What a list shows.
    pub line: &'a Line,
    /// Its files, if they are needed. Of several the first stands for all, but for flags.
    pub files: &'a [MessageFile],
    /// Everything, if it is needed.
    pub message: Option<&'a Message>,
}

impl Fields {
    /// Reads a list of fields: a letter is a field, anything that is no letter or digit stands for itself.
    ///
    /// # Errors
    /// A sentence that lists the letters.
    pub(crate) fn parse(text: &str) -> Result<Fields, String> {
        let mut pieces = Vec::new();
        for character in text.chars() {
            pieces.push(match TABLE.iter().find(|(_, letter, ..)| *letter == character) {
                Some((field, _, _, columns)) => Piece::Field(*field, *columns),
                None if character.is_alphanumeric() => return Err(unknown(character)),
                None => {
                    Piece::Between(if is_harmful(character) && character != '\t' { ' ' } else { character })
                }
            });
        }
        if pieces.iter().any(|piece| matches!(piece, Piece::Field(..))) {
            Ok(Fields(pieces))
        } else {
            Err(format!("a line needs a field; {}", letters()))
        }
    }

    /// Returns how much of a message a line needs.
    pub(crate) fn need(&self) -> Need {
        let need = |piece: &Piece| match piece {
            Piece::Between(_) => Need::Line,
            Piece::Field(field, _) => field.need(),
        };
        self.0.iter().map(need).max().unwrap_or(Need::Line)
    }

    /// Returns the line of a message, without its end.
    pub(crate) fn line(&self, row: &Row<'_>, zone: &TimeZone, terminal: Terminal) -> String {
        let mut line = String::with_capacity(128);
        let mut used = 0;
        let last = self.0.iter().rposition(|piece| matches!(piece, Piece::Field(..)));
        for (place, piece) in self.0.iter().enumerate() {
            let (field, columns) = match piece {
                Piece::Between(character) => {
                    line.push(*character);
                    used += 1;
                    continue;
                }
                Piece::Field(field, columns) => (*field, *columns),
            };
            let value = field.value(row, zone);
            let value = one_line(&value);
            let is_last = last == Some(place);
            let room = terminal.columns.map(|all| if is_last { all.saturating_sub(used) } else { columns });
            let shown = room.map_or(Cow::Borrowed(&*value), |room| cut(&value, room));
            let fill = if is_last { String::new() } else { padding(&shown, columns) };
            let painted = terminal.paint(field.look(), &shown);
            line.push_str(if field == Field::Size { &fill } else { &painted });
            line.push_str(if field == Field::Size { &painted } else { &fill });
            used += width(&shown) + fill.len();
        }
        line.truncate(line.trim_end_matches(' ').len());
        line
    }
}

impl Field {
    fn need(self) -> Need {
        match self {
            Field::Date | Field::From | Field::Subject | Field::Size => Need::Line,
            Field::Maildir | Field::Path | Field::Flags => Need::Files,
            Field::To | Field::Cc | Field::Bcc | Field::MessageId | Field::List | Field::Attachments => {
                Need::All
            }
        }
    }

    fn look(self) -> Look {
        match self {
            Field::Date => Look::Date,
            Field::From => Look::Person,
            _ => Look::Plain,
        }
    }

    fn value<'a>(self, row: &Row<'a>, zone: &TimeZone) -> Cow<'a, str> {
        let rest = row.message.map(|message| &message.rest);
        let people = |list: fn(&'a index::Rest) -> &'a [Contact]| {
            Cow::Owned(rest.map(|rest| persons(list(rest))).unwrap_or_default())
        };
        match self {
            Field::Date => Cow::Owned(date(row.line.date, zone)),
            Field::From => Cow::Borrowed(&row.line.from),
            Field::Subject => Cow::Borrowed(&row.line.subject),
            Field::Size => Cow::Owned(row.line.size_bytes.to_string()),
            Field::To => people(|rest| &rest.to),
            Field::Cc => people(|rest| &rest.cc),
            Field::Bcc => people(|rest| &rest.bcc),
            Field::MessageId => Cow::Borrowed(rest.map_or("", |rest| &rest.message_id)),
            Field::List => Cow::Borrowed(rest.map_or("", |rest| &rest.list_id)),
            Field::Attachments => {
                Cow::Owned(rest.map(|rest| rest.attachments.join(", ")).unwrap_or_default())
            }
            Field::Maildir => Cow::Borrowed(row.files.first().map_or("", |file| &file.maildir)),
            Field::Path => Cow::Owned(
                row.files
                    .first()
                    .map(|file| one_line_of_bytes(file.path.as_os_str().as_bytes()))
                    .unwrap_or_default(),
            ),
            Field::Flags => {
                let set = row.files.iter().fold(Flags::NONE, |set, file| set | file.flags);
                Cow::Owned(flags::letters(set, row.line.derived, !row.files.is_empty()))
            }
        }
    }
}

/// Returns a date as lists show it, to the minute.
pub(crate) fn date(seconds: i64, zone: &TimeZone) -> String {
    match Timestamp::from_second(seconds) {
        Ok(time) => time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string(),
        Err(_) => "?".to_owned(),
    }
}

/// Returns who that is for people: names, or else addresses.
fn persons(list: &[Contact]) -> String {
    let names: Vec<&str> = list
        .iter()
        .map(|one| if one.name.is_empty() { one.address.as_str() } else { one.name.as_str() })
        .collect();
    names.join(", ")
}

fn unknown(character: char) -> String {
    let known = query::fields::find(&character.to_string());
    match known {
        Some(info) => format!("'{character}' ({}) can be searched but not listed; {}", info.name, letters()),
        None => format!("there is no field '{character}'; {}", letters()),
    }
}

fn letters() -> String {
    let list: Vec<String> = TABLE.iter().map(|(_, letter, name, _)| format!("{letter} {name}")).collect();
    format!("fields are {}", list.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mail::Derived;

    const PIPE: Terminal = Terminal { columns: None, has_color: false };

    fn line() -> Line {
        Line {
            date: 1_709_647_331,
            size_bytes: 4096,
            derived: Derived::ATTACHMENT,
            from: "Ana\u{1b}[31m".into(),
            subject: "Grüße\nFrom: x\u{202e}".into(),
        }
    }

    fn file() -> MessageFile {
        MessageFile {
            root: "mail".into(),
            maildir: "/lists".into(),
            path: "/m/lists/cur/1:2,S".into(),
            flags: Flags::SEEN,
            keywords: 0,
        }
    }

    fn shown(fields: &str, terminal: Terminal) -> String {
        let (line, files) = (line(), [file()]);
        let row = Row { line: &line, files: &files, message: None };
        Fields::parse(fields).unwrap().line(&row, &TimeZone::UTC, terminal)
    }

    #[test]
    fn columns_are_aligned_and_nothing_breaks_the_line() {
        assert_eq!(
            shown("d f s", PIPE),
            "2024-03-05 14:02 Ana\u{fffd}[31m                 Grüße From: x\u{fffd}"
        );
        assert_eq!(shown("z|g\tm", PIPE), "     4096|Sa    \t/lists");
        assert_eq!(shown("l", PIPE), "/m/lists/cur/1:2,S");
        assert_eq!(shown("t f", PIPE).trim(), "Ana\u{fffd}[31m");
    }

    #[test]
    fn terminals_cut_and_color() {
        let terminal = Terminal { columns: Some(46), has_color: false };
        assert_eq!(shown("d f s", terminal), "2024-03-05 14:02 Ana\u{fffd}[31m                 Grü…");
        let colored = Terminal { columns: None, has_color: true };
        assert!(shown("d s", colored).starts_with("\u{1b}[36m2024-03-05 14:02\u{1b}[0m Gr"));
    }

    #[test]
    fn unknown_letters_are_refused() {
        assert!(
            Fields::parse("d o").unwrap_err().starts_with("there is no field 'o'; fields are d date, f from")
        );
        assert!(Fields::parse("p").unwrap_err().starts_with("'p' (priority) can be searched but not listed"));
        assert!(Fields::parse(" - ").is_err());
        assert!(Fields::parse("").is_err());
    }

    #[test]
    fn only_what_is_needed_is_read() {
        let need = |fields| Fields::parse(fields).unwrap().need();
        assert_eq!(need("d f s z"), Need::Line);
        assert_eq!(need("d g"), Need::Files);
        assert_eq!(need("l i"), Need::All);
    }

    #[test]
    fn letters_are_those_of_the_query_language() {
        for (_, letter, name, _) in TABLE {
            let by_letter = query::fields::find(&letter.to_string()).unwrap();
            assert_eq!(by_letter.name, query::fields::find(name).unwrap().name);
        }
    }
}
