//! One message for a person to read: a block of header lines, an empty line, the text.
//!
//! In: a record with its text. Out: text without anything that a terminal would act on. Must not know where
//! the message came from.

use crate::record::{Contact, Record};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use printable::Look;
use printable::sanitise::{many_lines, one_line};
use std::borrow::Cow;
use std::fmt::Write;

/// Marks a piece of text, as with a colour.
pub type Paint<'a> = dyn Fn(Look, &str) -> String + 'a;

/// Returns a message as text, each line with its end: the header lines, an empty line, the text.
pub fn text(record: &Record<'_>, zone: &TimeZone, paint: Option<&Paint<'_>>) -> String {
    let body = body(record.text.unwrap_or_default(), paint);
    format!("{}\n{body}", header(record, zone, paint))
}

/// Returns the header lines of a message.
pub fn header(record: &Record<'_>, zone: &TimeZone, paint: Option<&Paint<'_>>) -> String {
    let mut out = String::new();
    let mut field = |name: &str, value: &str| {
        if !value.is_empty() {
            let label = format!("{name}:");
            let label = paint.map_or(Cow::Borrowed(&*label), |paint| paint(Look::Label, &label).into());
            writeln!(out, "{label} {}", one_line(value)).expect("writing to a string");
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
fn body(text: &str, paint: Option<&Paint<'_>>) -> String {
    let text = many_lines(text);
    let text = text.trim_end();
    let Some(paint) = paint else {
        return if text.is_empty() { String::new() } else { format!("{text}\n") };
    };
    let mut out = String::with_capacity(text.len() * 2);
    let mut is_signature = false;
    for line in text.lines() {
        is_signature |= line == "-- ";
        let look = match quote_depth(line) {
            0 if is_signature => Look::Aside,
            0 => Look::Plain,
            depth => Look::Quote(depth),
        };
        out.push_str(&paint(look, line));
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
    use crate::record::{Attachment, File, OtherForm};
    use mail::Flags;
    use std::path::Path;

    fn marked(look: Look, text: &str) -> String {
        if look == Look::Plain { text.to_owned() } else { format!("{look:?}[{text}]") }
    }

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
        insta::assert_snapshot!(text(&record(), &TimeZone::UTC, None).replace('\u{fffd}', "?"), @r"
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
        let text = "a\n> b\n> > c\n>>>> d\ne > f\n-- \nAna\n> g\n\n";
        insta::assert_snapshot!(body(text, Some(&marked)), @r##"
        a
        Quote(1)[> b]
        Quote(2)[> > c]
        Quote(4)[>>>> d]
        e > f
        Aside[-- ]
        Aside[Ana]
        Quote(1)[> g]
        "##);
        assert_eq!(body(text, None), text.trim_end().to_owned() + "\n");
    }

    #[test]
    fn labels_are_painted_where_there_are_colours() {
        assert!(text(&record(), &TimeZone::UTC, Some(&marked)).starts_with("Label[From:] Ana <"));
    }
}
