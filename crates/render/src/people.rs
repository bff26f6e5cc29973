//! People in the formats of address books and of mail programs.
//!
//! Input: people as the index knows them. Output: lines that are safe to print. Strangers choose names and
//! addresses: none of them can begin a line or a column of its own. Must not know a terminal.

use crate::csv::CsvLine;
use index::Person;
use jiff::Timestamp;
use printable::json;
use printable::sanitise::one_line;
use serde::Serialize;

/// Longest line of a vCard in bytes (RFC 6350, section 3.2).
const VCARD_LINE_BYTES_MAX: usize = 75;

/// How people are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeopleFormat {
    /// JSON Lines.
    Json,
    /// CSV with a line of names.
    Csv,
    /// vCard 4.0.
    Vcard,
    /// For `query_command` of mutt and neomutt: a line that the program shows, then address, name and remark
    /// with tabs between.
    Mutt,
    /// For `address-book-cmd` of aerc: address and name with a tab between.
    Aerc,
}

/// A line of JSON.
#[derive(Serialize)]
struct Line<'a> {
    version: u32,
    #[serde(rename = "type")]
    kind: &'static str,
    address: &'a str,
    name: &'a str,
    list: bool,
    own: bool,
    sent: u32,
    received: u32,
    written: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_unix: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_unix: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_written_unix: Option<i64>,
}

/// Returns what comes before the people; `count` is their number.
pub fn head(format: PeopleFormat, count: usize) -> Vec<u8> {
    match format {
        PeopleFormat::Json | PeopleFormat::Vcard | PeopleFormat::Aerc => Vec::new(),
        PeopleFormat::Csv => {
            let names =
                ["address", "name", "kind", "sent", "received", "written", "first", "last", "last_written"];
            CsvLine::of_names(&names).finish()
        }
        PeopleFormat::Mutt if count == 1 => b"1 person\n".to_vec(),
        PeopleFormat::Mutt => format!("{count} people\n").into_bytes(),
    }
}

/// Returns a person with a line feed, or with the line end of the format, at the end.
pub fn person(format: PeopleFormat, person: &Person) -> Vec<u8> {
    match format {
        PeopleFormat::Json => json_line(person),
        PeopleFormat::Csv => csv_line(person),
        PeopleFormat::Vcard => vcard(person),
        PeopleFormat::Mutt => {
            let remark = if person.is_list { "list" } else { "" };
            format!("{}\t{}\t{remark}\n", one_line(&person.address), one_line(&person.name)).into_bytes()
        }
        PeopleFormat::Aerc => {
            format!("{}\t{}\n", one_line(&person.address), one_line(&person.name)).into_bytes()
        }
    }
}

/// Returns whether a person has a name that says more than the address. Some programs write the address
/// twice.
pub fn has_own_name(person: &Person) -> bool {
    !one_line(&person.name).trim().is_empty() && !person.name.eq_ignore_ascii_case(&person.address)
}

fn kind(person: &Person) -> &'static str {
    match (person.is_list, person.is_own) {
        (true, _) => "list",
        (_, true) => "own",
        _ => "person",
    }
}

fn json_line(person: &Person) -> Vec<u8> {
    let line = Line {
        version: 1,
        kind: "contact",
        address: &person.address,
        name: &person.name,
        list: person.is_list,
        own: person.is_own,
        sent: person.sent_count,
        received: person.received_count,
        written: person.written_count,
        first_unix: person.first,
        last_unix: person.last,
        last_written_unix: person.last_written,
    };
    let mut out = Vec::new();
    json::put(&line, &mut out);
    out.push(b'\n');
    out
}

fn csv_line(person: &Person) -> Vec<u8> {
    // A date that no calendar has is left out.
    let date = |seconds: Option<i64>| seconds.and_then(|seconds| Timestamp::from_second(seconds).ok());
    CsvLine::default()
        .text(&person.address)
        .text(&person.name)
        .text(kind(person))
        .plain(Some(person.sent_count))
        .plain(Some(person.received_count))
        .plain(Some(person.written_count))
        .plain(date(person.first))
        .plain(date(person.last))
        .plain(date(person.last_written))
        .finish()
}

fn vcard(person: &Person) -> Vec<u8> {
    let name = if has_own_name(person) { &person.name } else { &person.address };
    let kind = if person.is_list { "group" } else { "individual" };
    let mut out = String::new();
    for line in [
        "BEGIN:VCARD".to_owned(),
        "VERSION:4.0".to_owned(),
        format!("KIND:{kind}"),
        format!("FN:{}", vcard_text(name)),
        format!("EMAIL:{}", vcard_text(&person.address)),
        "END:VCARD".to_owned(),
    ] {
        put_folded(&line, &mut out);
    }
    out.into_bytes()
}

/// Returns text as a value of a vCard (RFC 6350, section 3.4), on one line.
fn vcard_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in one_line(text).chars() {
        if matches!(character, '\\' | ',' | ';') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// Appends a line, folded: what follows a line break and a space belongs to the line before. No character is
/// cut in two.
fn put_folded(line: &str, out: &mut String) {
    let mut used = 0;
    for character in line.chars() {
        if used + character.len_utf8() > VCARD_LINE_BYTES_MAX {
            out.push_str("\r\n ");
            used = 1;
        }
        out.push(character);
        used += character.len_utf8();
    }
    out.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(name: &str, address: &str) -> Person {
        Person {
            address: address.into(),
            name: name.into(),
            sent_count: 3,
            received_count: 2,
            first: Some(0),
            last: Some(86_400),
            written_count: 1,
            last_written: None,
            is_list: false,
            is_own: false,
        }
    }

    fn text(format: PeopleFormat, of: &Person) -> String {
        String::from_utf8(person(format, of)).unwrap()
    }

    #[test]
    fn each_format_has_its_line() {
        let ana = sample("Ito, Ana", "ana@example.org");
        let list = Person { is_list: true, ..sample("", "tubes@lists.example") };
        assert_eq!(text(PeopleFormat::Mutt, &ana), "ana@example.org\tIto, Ana\t\n");
        assert_eq!(text(PeopleFormat::Mutt, &list), "tubes@lists.example\t\tlist\n");
        assert_eq!(text(PeopleFormat::Aerc, &ana), "ana@example.org\tIto, Ana\n");
        assert_eq!(
            text(PeopleFormat::Csv, &ana),
            "ana@example.org,\"Ito, Ana\",person,3,2,1,1970-01-01T00:00:00Z,1970-01-02T00:00:00Z,\r\n"
        );
        assert_eq!(
            text(PeopleFormat::Vcard, &ana),
            "BEGIN:VCARD\r\nVERSION:4.0\r\nKIND:individual\r\nFN:Ito\\, Ana\r\nEMAIL:ana@example.org\r\n\
             END:VCARD\r\n"
        );
        assert!(text(PeopleFormat::Vcard, &list).contains("KIND:group\r\nFN:tubes@lists.example\r\n"));
        assert_eq!(
            text(PeopleFormat::Json, &ana),
            "{\"version\":1,\"type\":\"contact\",\"address\":\"ana@example.org\",\"name\":\"Ito, Ana\",\
             \"list\":false,\"own\":false,\"sent\":3,\"received\":2,\"written\":1,\"first_unix\":0,\
             \"last_unix\":86400}\n"
        );
        assert_eq!(head(PeopleFormat::Mutt, 1), b"1 person\n");
        assert_eq!(head(PeopleFormat::Mutt, 0), b"0 people\n");
        assert!(head(PeopleFormat::Csv, 0).starts_with(b"address,name,kind,"));
    }

    #[test]
    fn no_name_begins_a_line_or_a_column_of_its_own() {
        let hostile = "A\tB\nC\r\nD\u{2028}E\u{85}\u{b}F\u{1b}[2J\u{202e}\"=1,;\\\nEMAIL:eve@example.com";
        let evil = sample(hostile, "x\t\r\ny@example.org");
        for (format, lines, tabs) in [
            (PeopleFormat::Json, 1, 0),
            (PeopleFormat::Csv, 1, 0),
            (PeopleFormat::Vcard, 6, 0),
            (PeopleFormat::Mutt, 1, 2),
            (PeopleFormat::Aerc, 1, 1),
        ] {
            let shown = text(format, &evil);
            assert_eq!(shown.matches('\n').count(), lines, "{shown:?}");
            assert_eq!(shown.matches('\t').count(), tabs, "{shown:?}");
            let is_harmful = |c: char| printable::sanitise::is_harmful(c) && !matches!(c, '\t' | '\r' | '\n');
            assert!(!shown.contains(is_harmful), "{shown:?}");
        }
        let card = text(PeopleFormat::Vcard, &evil).replace("\r\n ", "");
        assert_eq!(card.lines().filter(|line| line.starts_with("EMAIL:")).count(), 1, "{card}");
        assert!(card.contains("\"=1\\,\\;\\\\ EMAIL:eve"), "{card}");
    }

    #[test]
    fn lines_of_vcards_are_folded_between_characters() {
        for name in ["n".repeat(300), "日".repeat(100), format!("a{}", "é".repeat(99))] {
            let card = text(PeopleFormat::Vcard, &sample(&name, "a@x"));
            assert!(card.split("\r\n").all(|line| line.len() <= VCARD_LINE_BYTES_MAX), "{card}");
            assert!(card.replace("\r\n ", "").contains(&format!("\r\nFN:{name}\r\n")), "{card}");
        }
    }

    #[test]
    fn a_date_that_no_calendar_has_is_left_out() {
        let far = Person { first: Some(i64::MIN), last: Some(i64::MAX), ..sample("A", "a@x") };
        assert_eq!(text(PeopleFormat::Csv, &far), "a@x,A,person,3,2,1,,,\r\n");
    }
}
