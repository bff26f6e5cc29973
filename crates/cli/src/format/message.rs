//! One message for a person to read: a block of header lines, an empty line, the text.
//!
//! In: a record with its text. Out: text without anything that a terminal would act on. Must not know where the message came from.

use crate::format::record::{Contact, Record};
use crate::sanitise::{many_lines, one_line};
use crate::terminal::{Look, Terminal};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::fmt::Write;

/// Returns a message as text, each line with its end: the header lines, an empty line, the text.
pub(crate) fn text(record: &Record<'_>, zone: &TimeZone, terminal: Terminal) -> String {
    let body = body(record.text.unwrap_or_default(), terminal);
    format!("{}\n{body}", header(record, zone, terminal))
}

/// Returns the line between two messages: a form feed, which no text of a message holds; on a terminal one to be seen.
pub(crate) fn separator(terminal: Terminal) -> String {
    match terminal.columns {
        None => "\u{c}\n".to_owned(),
        Some(columns) => format!("\n{}\n\n", terminal.paint(Look::Label, &"─".repeat(columns))),
    }
}

/// Returns the header lines of a message.
pub(crate) fn header(record: &Record<'_>, zone: &TimeZone, terminal: Terminal) -> String {
    let mut out = String::new();
    let mut field = |name: &str, value: &str| {
        if !value.is_empty() {
            let label = format!("{name}:");
            writeln!(out, "{} {}", terminal.paint(Look::Label, &label), one_line(value))
                .expect("writing to a string");
        }
    };
    field("From", &people(&record.from));
    field("To", &people(&record.to));
    field("Cc", &people(&record.cc));
    field("Bcc", &people(&record.bcc));
    field("Date", &record.date_unix.map(|seconds| date(seconds, zone)).unwrap_or_default());
    field("Subject", record.subject);
    field("List", record.list_id);
    field("Message-ID", record.message_id);
    field("Flags", &record.flags.join(" "));
    for attachment in &record.attachments {
        let size = attachment.size.map(|size| format!("{size} bytes"));
        let details: Vec<&str> = [attachment.mime, size.as_deref()].into_iter().flatten().collect();
        let name = if attachment.name.is_empty() { "(no name)" } else { attachment.name };
        field("Attachment", &format!("{name} ({})", details.join(", ")));
    }
    for form in &record.also {
        let says = match (form.text.is_empty(), form.mime) {
            (true, _) => "the same words",
            (false, "text/html") => "more words: --prefer html",
            (false, "text/plain") => "more words: --prefer plain",
            (false, _) => "more words",
        };
        field("Also", &format!("{} ({says})", form.mime));
    }
    for file in &record.files {
        match (file.path, &file.path_base64) {
            (Some(path), _) => field("File", path),
            (None, Some(path)) => field("File", &format!("{path} (base64: the name is not UTF-8)")),
            (None, None) => {}
        }
    }
    for problem in record.problems.iter() {
        field("Problem", problem);
    }
    out
}

/// Returns the text of a message, each line with its end.
fn body(text: &str, terminal: Terminal) -> String {
    let text = many_lines(text);
    let text = text.trim_end();
    if !terminal.has_color {
        return if text.is_empty() { String::new() } else { format!("{text}\n") };
    }
    let mut out = String::with_capacity(text.len() * 2);
    let mut is_signature = false;
    for line in text.lines() {
        is_signature |= line == "-- ";
        let look = match quote_depth(line) {
            0 if is_signature => Look::Aside,
            0 => Look::Plain,
            depth => Look::Quote(depth),
        };
        out.push_str(&terminal.paint(look, line));
        out.push('\n');
    }
    out
}

/// Returns how many `>` a line begins with, spaces between them not counted.
fn quote_depth(line: &str) -> usize {
    line.chars()
        .take_while(|character| matches!(character, '>' | ' '))
        .filter(|character| *character == '>')
        .count()
}

/// Returns a date as mail writes it.
fn date(seconds: i64, zone: &TimeZone) -> String {
    match Timestamp::from_second(seconds) {
        Ok(time) => time.to_zoned(zone.clone()).strftime("%a, %d %b %Y %H:%M:%S %z").to_string(),
        Err(_) => "?".to_owned(),
    }
}

fn people(list: &[Contact<'_>]) -> String {
    let people: Vec<String> = list.iter().map(person).collect();
    people.join(", ")
}

fn person(contact: &Contact<'_>) -> String {
    match (contact.name, contact.address) {
        ("", address) => address.to_owned(),
        (name, "") => name.to_owned(),
        (name, address) => format!("{name} <{address}>"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::record::{Attachment, File, OtherForm};
    use mail::Flags;
    use std::path::Path;

    const PIPE: Terminal = Terminal { columns: None, has_color: false };

    fn record() -> Record<'static> {
        let contact = |name: &'static str, address: &'static str| Contact { name, address };
        let mut record = Record::new(&[7; 32], Some(1_709_647_331), 100);
        record.from = vec![contact("Ana", "ana@example.org")];
        record.to = vec![contact("", "bo@example.org"), contact("undisclosed", "")];
        record.subject = "Hi\u{1b}]0;owned\u{7}\r\nBcc: x";
        record.attachments = vec![Attachment { name: "a.pdf", mime: Some("application/pdf"), size: Some(9) }];
        record.files = vec![File::unknown(Path::new("/m/cur/1:2,S"), Flags::SEEN)];
        record.problems = vec!["the message has no date".to_owned()].into();
        record.text = Some("one\r\ntwo\u{9b}2J\n\n\n");
        record.also =
            vec![OtherForm { mime: "text/html", text: "three" }, OtherForm { mime: "a/\u{1b}", text: "" }];
        record
    }

    #[test]
    fn a_message_reads_as_text_and_nothing_escapes() {
        insta::assert_snapshot!(text(&record(), &TimeZone::UTC, PIPE).replace('\u{fffd}', "?"), @r"
        From: Ana <ana@example.org>
        To: bo@example.org, undisclosed
        Date: Tue, 05 Mar 2024 14:02:11 +0000
        Subject: Hi?]0;owned? Bcc: x
        Attachment: a.pdf (application/pdf, 9 bytes)
        Also: text/html (more words: --prefer html)
        Also: a/? (the same words)
        File: /m/cur/1:2,S
        Problem: the message has no date

        one
        two?2J
        ");
    }

    #[test]
    fn quotes_and_signatures_are_painted_line_by_line() {
        let terminal = Terminal { columns: Some(80), has_color: true };
        let text = "a\n> b\n> > c\n>>>> d\ne > f\n-- \nAna\n> g\n\n";
        let painted = body(text, terminal).replace('\u{1b}', "^");
        insta::assert_snapshot!(painted, @r##"
        a
        ^[34m> b^[0m
        ^[32m> > c^[0m
        ^[34m>>>> d^[0m
        e > f
        ^[2m-- ^[0m
        ^[2mAna^[0m
        ^[34m> g^[0m
        "##);
        assert_eq!(body(text, PIPE), text.trim_end().to_owned() + "\n");
    }

    #[test]
    fn labels_are_painted_where_there_are_colours() {
        let terminal = Terminal { columns: Some(80), has_color: true };
        assert!(text(&record(), &TimeZone::UTC, terminal).starts_with("\u{1b}[1mFrom:\u{1b}[0m Ana <"));
    }
}
