//! One message for a person to read: a block of header lines, an empty line, the text.
//!
//! Input: a record with its text. Output: text without anything that a terminal would act on. Does not depend
//! on where the message came from.

use crate::record::{Contact, Record};
use index::Origin;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use printable::Look;
use printable::sanitise::{many_lines, one_line};
use std::borrow::Cow;
use std::fmt::Write;

/// Marks a piece of text, as with a colour.
pub type Paint<'a> = dyn Fn(Look, &str) -> String + 'a;

/// Returns how this front end shows the form with this MIME type: the end of a line, such as an option.
pub type HowToShow = fn(&str) -> Option<&'static str>;

/// Levels of replies whose heads are indented; deeper ones have the same indent.
const INDENT_DEPTH_MAX: u32 = 20;

/// Most people in To and in Cc of a short header.
const RECIPIENT_COUNT_MAX: usize = 5;

/// The place of a message in a conversation that is shown whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadHead<'a> {
    /// Its number in the conversation, from 1 on.
    pub number: usize,
    /// How many messages the conversation has.
    pub count: usize,
    /// The number of the message above it.
    pub above: Option<usize>,
    /// The Message-ID of the message that it replies to, if that is not shown.
    pub missing: Option<&'a str>,
}

/// Returns for each message of a conversation the number, from 1 on, of the message that it stands below.
/// `depths` has how many messages stand above each.
pub fn numbers_above(depths: &[u32]) -> Vec<Option<usize>> {
    let mut open: Vec<usize> = Vec::new();
    let mut found = Vec::with_capacity(depths.len());
    for (index, depth) in depths.iter().enumerate() {
        open.truncate(*depth as usize);
        found.push(open.last().copied());
        open.push(index + 1);
    }
    found
}

/// Returns a message as text, each line with its end: the header lines, an empty line, the text. With `head`
/// the header is short.
pub fn text(
    record: &Record<'_>,
    head: Option<&ThreadHead<'_>>,
    zone: &TimeZone,
    paint: Option<&Paint<'_>>,
    how_to_show: HowToShow,
) -> String {
    let body = body(&record.shown_text(), paint);
    format!("{}\n{body}", header(record, head, zone, paint, how_to_show))
}

/// Returns all fields of a message's header as lines. Nothing of this program is among them.
pub fn all_headers(fields: &[(String, String)], paint: Option<&Paint<'_>>) -> String {
    let mut out = String::new();
    for (name, value) in fields {
        let label = format!("{}:", one_line(name));
        let label = paint.map_or(Cow::Borrowed(&*label), |paint| paint(Look::Label, &label).into());
        writeln!(out, "{label} {}", one_line(value)).expect("writing to a string");
    }
    out
}

/// Returns the header lines of a message; the short ones with `head`, after a line that tells its place.
pub fn header(
    record: &Record<'_>,
    head: Option<&ThreadHead<'_>>,
    zone: &TimeZone,
    paint: Option<&Paint<'_>>,
    how_to_show: HowToShow,
) -> String {
    let mut out = head.map(|head| place(record, head, paint)).unwrap_or_default();
    let mut field = |name: &str, value: &str| {
        if !value.is_empty() {
            let label = format!("{name}:");
            let label = paint.map_or(Cow::Borrowed(&*label), |paint| paint(Look::Label, &label).into());
            writeln!(out, "{label} {}", one_line(value)).expect("writing to a string");
        }
    };
    field("From", &people(&record.from));
    let recipients = |list| if head.is_some() { some_people(list) } else { people(list) };
    field("To", &recipients(&record.to));
    field("Cc", &recipients(&record.cc));
    if head.is_none() {
        field("Bcc", &people(&record.bcc));
    }
    field("Date", &record.date_unix.map(|seconds| date(seconds, zone)).unwrap_or_default());
    field("Subject", record.subject);
    if let Some(head) = head {
        field("Missing", head.missing.unwrap_or_default());
    } else {
        field("List", record.list_id);
        field("Message-ID", record.message_id);
    }
    field("Flags", &record.flags.join(" "));
    for attachment in &record.attachments {
        let size = attachment.size.map(|size| format!("{size} bytes"));
        let details: Vec<&str> = [attachment.mime, size.as_deref()].into_iter().flatten().collect();
        let name = if attachment.name.is_empty() { "(no name)" } else { attachment.name };
        field("Attachment", &format!("{name} ({})", details.join(", ")));
    }
    for (name, value) in record.events.iter().flat_map(|event| event.lines(zone)) {
        field(name, &value);
    }
    if head.is_some() {
        return out;
    }
    for form in &record.also {
        let says = match (form.text.is_empty(), how_to_show(form.mime)) {
            (true, _) => "the same words".to_owned(),
            (false, Some(how)) => format!("more words: {how}"),
            (false, None) => "more words".to_owned(),
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

/// Returns the line with a message's place in its conversation. A star marks a message that was asked for.
fn place(record: &Record<'_>, head: &ThreadHead<'_>, paint: Option<&Paint<'_>>) -> String {
    let (depth, is_found) =
        record.position.map_or((0, false), |position| (position.depth, position.origin == Origin::Found));
    let indent = "  ".repeat(depth.saturating_sub(1).min(INDENT_DEPTH_MAX) as usize);
    let branch = if depth == 0 { "" } else { "└ " };
    let above = head.above.map(|above| format!(", below {above}")).unwrap_or_default();
    let star = if is_found { " *" } else { "" };
    let line = format!("{indent}{branch}{} of {}{above}{star}", head.number, head.count);
    let line = paint.map_or(Cow::Borrowed(&*line), |paint| paint(Look::Label, &line).into());
    format!("{line}\n")
}

/// Returns the text of a message, each line with its end.
pub fn body(text: &str, paint: Option<&Paint<'_>>) -> String {
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

/// Returns the first of many people, and how many more there are.
fn some_people(list: &[Contact<'_>]) -> String {
    match list.split_at_checked(RECIPIENT_COUNT_MAX) {
        Some((first, [_, ..])) => {
            format!("{}, and {} more", people(first), list.len() - first.len())
        }
        _ => people(list),
    }
}

fn person(contact: &Contact<'_>) -> String {
    match (contact.name, contact.address) {
        ("", address) => address.to_owned(),
        (name, "") => phrase(name).into_owned(),
        (name, address) => format!("{} <{address}>", phrase(name)),
    }
}

/// Returns a name, in quotes if it looks like an address or like several people.
fn phrase(name: &str) -> Cow<'_, str> {
    match name.contains(['<', '>', '@', ',']) {
        true => format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"")).into(),
        false => name.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::Position;
    use crate::record::{Attachment, File, OtherForm};
    use mail::Flags;
    use std::path::Path;

    fn marked(look: Look, text: &str) -> String {
        if look == Look::Plain { text.to_owned() } else { format!("{look:?}[{text}]") }
    }

    fn text(
        record: &Record<'_>,
        head: Option<&ThreadHead<'_>>,
        zone: &TimeZone,
        paint: Option<&Paint<'_>>,
    ) -> String {
        super::text(record, head, zone, paint, |mime| (mime == "text/html").then_some("press h"))
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
    fn a_name_that_looks_like_an_address_is_quoted() {
        let shown = |name: &'static str| person(&Contact { name, address: "mal@evil.example" });
        assert_eq!(shown("Ana Ito"), "Ana Ito <mal@evil.example>");
        for name in ["Ana <ana@example.org>", "ana@example.org", "Ana,", "x>"] {
            assert_eq!(shown(name), format!("\"{name}\" <mal@evil.example>"));
        }
        assert_eq!(shown("a\" \\<b@c>"), "\"a\\\" \\\\<b@c>\" <mal@evil.example>");
        assert_eq!(person(&Contact { name: "b@c, d", address: "" }), "\"b@c, d\"");
    }

    #[test]
    fn a_message_reads_as_text_and_nothing_escapes() {
        insta::assert_snapshot!(text(&record(), None, &TimeZone::UTC, None).replace('\u{fffd}', "?"), @r"
        From: Ana <ana@example.org>
        To: bo@example.org, undisclosed
        Date: Tue, 05 Mar 2024 14:02:11 +0000
        Subject: Hi?]0;owned? Bcc: x
        Attachment: a.pdf (application/pdf, 9 bytes)
        Also: text/html (more words: press h)
        Also: a/? (the same words)
        File: /m/cur/1:2,S
        Problem: the message has no date

        one
        two?2J
        ");
    }

    fn position(depth: u32, origin: Origin) -> Position<&'static str> {
        Position { thread: "x@y", depth, origin }
    }

    #[test]
    fn a_message_of_a_conversation_has_a_short_head_and_its_text_whole() {
        let mut answer = record();
        answer.position = Some(position(3, Origin::Found));
        answer.text = Some("one\n  two");
        answer.cc = vec![Contact { name: "", address: "cy@example.org" }; RECIPIENT_COUNT_MAX + 2];
        let head = ThreadHead { number: 4, count: 12, above: Some(2), missing: Some("z@\u{1b}y") };
        insta::assert_snapshot!(text(&answer, Some(&head), &TimeZone::UTC, None).replace('\u{fffd}', "?"), @r"
            └ 4 of 12, below 2 *
        From: Ana <ana@example.org>
        To: bo@example.org, undisclosed
        Cc: cy@example.org, cy@example.org, cy@example.org, cy@example.org, cy@example.org, and 2 more
        Date: Tue, 05 Mar 2024 14:02:11 +0000
        Subject: Hi?]0;owned? Bcc: x
        Missing: z@?y
        Attachment: a.pdf (application/pdf, 9 bytes)

        one
          two
        ");
        answer.position = Some(position(0, Origin::Related));
        let first = ThreadHead { number: 1, count: 2, above: None, missing: None };
        assert!(
            text(&answer, Some(&first), &TimeZone::UTC, Some(&marked))
                .starts_with("Label[1 of 2]\nLabel[From:]")
        );
        answer.position = Some(position(u32::MAX, Origin::Related));
        assert!(text(&answer, Some(&head), &TimeZone::UTC, None).find('└').unwrap() <= 40);
    }

    #[test]
    fn each_message_stands_below_another_or_at_the_top() {
        assert_eq!(numbers_above(&[0, 1, 2, 1, 0, 1]), [None, Some(1), Some(2), Some(1), None, Some(5)]);
        assert_eq!(numbers_above(&[]), []);
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
    fn all_fields_are_lines_whatever_they_hold() {
        let fields =
            [("X\u{1b}".to_owned(), "a\nFile: /etc\u{202e}".to_owned()), ("To".to_owned(), String::new())];
        let shown = all_headers(&fields, None).replace('\u{fffd}', "?");
        assert_eq!(shown, "X?: a File: /etc?\nTo: \n");
        assert!(all_headers(&fields, Some(&marked)).ends_with("Label[To:] \n"));
    }

    #[test]
    fn labels_are_painted_where_there_are_colours() {
        assert!(text(&record(), None, &TimeZone::UTC, Some(&marked)).starts_with("Label[From:] Ana <"));
    }
}
