//! The fields of a message that a list can show, and lists of fields as users write them: mu's letters (`d f
//! s`), or names (`date,from`).
//!
//! Takes a list of fields and messages. Returns the text of each field as the message has it: the printer
//! makes it safe. Does not know how lines are laid out.

use crate::sanitise::is_harmful;
use index::{Contact, Message, MessageFile};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use printable::Look;
use render::Position;
use render::priority;
use render::{Need, flag_letters};
use std::borrow::Cow;
use std::os::unix::ffi::OsStrExt;

/// The columns of a list by default: date, sender, subject.
pub(crate) const FIELDS_DEFAULT: &str = "d f s";

/// Levels of replies that are indented; deeper ones have the same indent.
pub(crate) const INDENT_DEPTH_MAX: usize = 20;

/// A message with what a line shows of its files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    /// The message.
    pub message: &'a Message,
    /// Its files. The first is shown, but flags are those of all files.
    pub files: &'a [MessageFile],
    /// The time zone of dates.
    pub zone: &'a TimeZone,
    /// Its place in its conversation, if conversations are listed.
    pub place: Option<&'a Position<String>>,
    /// Levels of replies that are indented.
    pub indent_depth_max: usize,
}

/// How a field becomes narrower on a terminal that is too narrow for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shrink {
    /// Its text is cut.
    Text,
    /// A time becomes a day.
    Day,
    /// It does not.
    Never,
}

/// Which side of its column a field is aligned to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// A field of a message that a line can show.
#[derive(Debug)]
pub(crate) struct Field {
    /// Its letter, that of mu and of the query language.
    pub letter: char,
    /// Its name in the query language.
    pub name: &'static str,
    /// Columns that it takes, unless it is the last.
    pub columns: usize,
    /// The data that must be read for it.
    pub need: Need,
    /// Its alignment.
    pub side: Side,
    /// How it becomes narrower.
    pub shrink: Shrink,
    /// What it looks like.
    pub look: Look,
    /// Its text.
    pub value: for<'a> fn(&Row<'a>) -> Cow<'a, str>,
}

/// Every field. A new field is one more line here.
pub(crate) static FIELDS: [Field; 18] = [
    Field {
        look: Look::Date,
        shrink: Shrink::Day,
        ..field('d', "date", 16, Need::NOTHING, |row| {
            row.message.line.date.map_or(text(""), |seconds| date(seconds, row))
        })
    },
    Field { look: Look::Person, ..field('f', "from", 24, Need::LINE, |row| text(&row.message.line.from)) },
    field('t', "to", 24, Need::ALL, |row| people(&row.message.rest.to)),
    field('c', "cc", 24, Need::ALL, |row| people(&row.message.rest.cc)),
    field('h', "bcc", 24, Need::ALL, |row| people(&row.message.rest.bcc)),
    field('s', "subject", 40, Need::LINE, subject),
    field('i', "message-id", 40, Need::ALL, |row| text(&row.message.rest.message_id)),
    field('m', "maildir", 16, Need::FILES, |row| {
        row.files.first().map_or(text(""), |file| text(&file.maildir))
    }),
    field('l', "path", 40, Need::FILES, path),
    Field { shrink: Shrink::Never, ..field('g', "flags", 6, Need::LINE_AND_FILES, letters) },
    Field {
        side: Side::Right,
        shrink: Shrink::Never,
        ..field('z', "size", 9, Need::LINE, |row| Cow::Owned(row.message.line.size_bytes.to_string()))
    },
    field('v', "list", 24, Need::ALL, |row| text(&row.message.rest.list_id)),
    field('j', "attachment", 24, Need::ALL, |row| Cow::Owned(row.message.rest.attachments.join(", "))),
    field('r', "references", 40, Need::ALL, |row| Cow::Owned(row.message.rest.references.join(" "))),
    field('x', "tag", 16, Need::ALL, |row| Cow::Owned(row.message.tags.join(","))),
    field('p', "priority", 8, Need::LINE, |row| text(priority(row.message.line.derived).unwrap_or("normal"))),
    field('a', "language", 8, Need::ALL, |row| text(&row.message.rest.language)),
    Field {
        shrink: Shrink::Day,
        ..field('k', "changed", 16, Need::FILES, |row| {
            changed(row).map_or(text(""), |seconds| date(seconds, row))
        })
    },
];

const fn field(
    letter: char,
    name: &'static str,
    columns: usize,
    need: Need,
    value: for<'a> fn(&Row<'a>) -> Cow<'a, str>,
) -> Field {
    Field { letter, name, columns, need, side: Side::Left, shrink: Shrink::Text, look: Look::Plain, value }
}

/// A part of a line: a field, or a character between fields.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Piece {
    /// A character that is printed as it is.
    Between(char),
    /// A field.
    Field(&'static Field),
}

/// Parses a list of fields. Names, or names and letters, are separated by commas or spaces, and are shown
/// with a space between them. In a list of letters alone, every character except letters and digits is
/// printed as it is.
///
/// # Errors
/// A sentence that lists the fields.
pub(crate) fn parse(list: &str) -> Result<Vec<Piece>, String> {
    let words: Vec<&str> = list.split([',', ' ']).filter(|word| !word.is_empty()).collect();
    let is_name = |word: &&str| word.chars().count() > 1 && find(word).is_some();
    let pieces = if words.iter().any(is_name) {
        by_name(&words)?
    } else {
        list.chars().map(by_letter).collect::<Result<_, _>>()?
    };
    if pieces.iter().any(|piece| matches!(piece, Piece::Field(_))) {
        Ok(pieces)
    } else {
        Err(format!("a line needs a field; {}", known()))
    }
}

fn by_name(words: &[&str]) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    for word in words {
        if !pieces.is_empty() {
            pieces.push(Piece::Between(' '));
        }
        pieces.push(Piece::Field(find(word).ok_or_else(|| unknown(word))?));
    }
    Ok(pieces)
}

fn by_letter(character: char) -> Result<Piece, String> {
    match find(&character.to_string()) {
        Some(field) => Ok(Piece::Field(field)),
        None if character.is_alphanumeric() => Err(unknown(&character.to_string())),
        None => Ok(Piece::Between(if is_harmful(character) && character != '\t' { ' ' } else { character })),
    }
}

/// Returns the field that the query language knows by this name or letter.
fn find(name: &str) -> Option<&'static Field> {
    let info = query::fields::find(name)?;
    FIELDS.iter().find(|field| info.letter == Some(field.letter))
}

fn unknown(word: &str) -> String {
    match query::fields::find(word) {
        Some(info) => format!("'{word}' ({}) can be searched but not listed; {}", info.name, known()),
        None => format!("there is no field '{word}'; {}", known()),
    }
}

fn known() -> String {
    let list: Vec<String> = FIELDS.iter().map(|field| format!("{} {}", field.letter, field.name)).collect();
    format!("fields are {}", list.join(", "))
}

/// Returns the subject, indented if the message is a reply.
fn subject<'a>(row: &Row<'a>) -> Cow<'a, str> {
    let subject = &row.message.line.subject;
    match row.place.map_or(0, |place| place.depth) {
        0 => text(subject),
        depth => {
            let indent = (depth.saturating_sub(1) as usize).min(row.indent_depth_max);
            Cow::Owned(format!("{}└ {subject}", "  ".repeat(indent)))
        }
    }
}

fn text(text: &str) -> Cow<'_, str> {
    Cow::Borrowed(text)
}

/// Returns a date as lists show it, to the minute.
fn date<'a>(seconds: i64, row: &Row<'_>) -> Cow<'a, str> {
    Cow::Owned(minute(seconds, row.zone))
}

/// Returns a date to the minute.
pub(crate) fn minute(seconds: i64, zone: &TimeZone) -> String {
    let Ok(time) = Timestamp::from_second(seconds) else { return "?".to_owned() };
    let at = zone.to_datetime(time);
    let (year, sign) = (at.year().unsigned_abs(), if at.year() < 0 { "-" } else { "" });
    // Long lists have many dates, and a template of the standard library takes several times as long.
    let of = |number: i8| u16::from(number.unsigned_abs());
    let pairs = [year / 100, year % 100, of(at.month()), of(at.day()), of(at.hour()), of(at.minute())];
    let mut text = String::with_capacity(17);
    text.push_str(sign);
    for (pair, behind) in pairs.into_iter().zip(["", "-", "-", " ", ":", ""]) {
        text.extend([pair / 10, pair % 10].map(|digit| char::from(b'0' + u8::try_from(digit).unwrap_or(0))));
        text.push_str(behind);
    }
    text
}

/// Returns people as text: names, or else addresses.
fn people(list: &[Contact]) -> Cow<'static, str> {
    let names: Vec<&str> = list
        .iter()
        .map(|one| if one.name.is_empty() { one.address.as_str() } else { one.name.as_str() })
        .collect();
    Cow::Owned(names.join(", "))
}

fn path<'a>(row: &Row<'a>) -> Cow<'a, str> {
    row.files.first().map_or(text(""), |file| String::from_utf8_lossy(file.path.as_os_str().as_bytes()))
}

fn letters<'a>(row: &Row<'a>) -> Cow<'a, str> {
    Cow::Owned(flag_letters(row.files.iter().map(|file| file.flags), row.message.line.derived))
}

/// Returns when a file of the message changed last.
fn changed(row: &Row<'_>) -> Option<i64> {
    row.files.iter().map(|file| file.changed_seconds).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(list: &str) -> String {
        let shown = |piece: &Piece| match piece {
            Piece::Between(character) => character.to_string(),
            Piece::Field(field) => format!("<{}>", field.name),
        };
        parse(list).unwrap().iter().map(shown).collect()
    }

    #[test]
    fn fields_are_written_as_letters_or_as_names() {
        assert_eq!(read("d f s"), "<date> <from> <subject>");
        assert_eq!(read("ds|z\tm"), "<date><subject>|<size>\t<maildir>");
        assert_eq!(read("date,from,subject"), "<date> <from> <subject>");
        assert_eq!(read("date f, msgid"), "<date> <from> <message-id>");
        assert_eq!(read("size"), "<size>");
        assert_eq!(read("d,s"), "<date>,<subject>");
        // A second letter, and letters in upper case, as in queries.
        assert_eq!(read("q D"), "<tag> <date>");
    }

    #[test]
    fn unknown_fields_are_refused() {
        let refused = |list: &str| parse(list).unwrap_err();
        assert!(refused("d o").starts_with("there is no field 'o'; fields are d date, f from"));
        assert!(refused("b").starts_with("'b' (body) can be searched but not listed"));
        assert!(refused("date,form").starts_with("there is no field 'form'; fields"));
        assert!(refused("date body").starts_with("'body' (body) can be searched but not listed"));
        assert!(refused(" - ").starts_with("a line needs a field"));
        assert!(refused("").starts_with("a line needs a field"));
    }

    #[test]
    fn what_can_be_listed_is_not_said_to_be_none() {
        let names = query::fields::names().map(str::to_owned);
        for name in names.chain(('a'..='z').chain('A'..='Z').map(String::from)) {
            let Err(said) = parse(&name) else { continue };
            let listed = said.split_once("fields are ").unwrap().1;
            let info = query::fields::find(&name);
            assert!(!info.is_some_and(|info| listed.contains(&format!(" {}", info.name))), "{name}: {said}");
        }
    }

    #[test]
    fn dates_are_written_to_the_minute() {
        for (seconds, expected) in [
            (0, "1970-01-01 00:00"),
            (1_709_647_379, "2024-03-05 14:02"),
            (253_402_207_200, "9999-12-30 22:00"),
            (-62_198_755_200, "-0001-01-01 00:00"),
            (-377_673_580_800, "-9998-01-01 00:00"),
            (i64::MAX, "?"),
        ] {
            assert_eq!(minute(seconds, &TimeZone::UTC), expected, "{seconds}");
        }
    }

    #[test]
    fn letters_are_those_of_the_query_language() {
        for field in &FIELDS {
            let by_letter = query::fields::find(&field.letter.to_string()).unwrap();
            assert_eq!(by_letter.name, query::fields::find(field.name).unwrap().name);
        }
    }
}
