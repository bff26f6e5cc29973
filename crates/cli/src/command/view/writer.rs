//! Writes messages in the format of `view`, one after the other.
//!
//! Takes messages that were read, and what the index knows of them. Each is written before the next is read.
//! Does not know how they were found.

use super::input::known;
use super::options::{Form, Format, Headers, How};
use crate::amount::count;
use crate::environment;
use crate::output::{Output, complain};
use crate::sanitise::many_lines;
use crate::search::locate::Located;
use crate::session::Session;
use anyhow::{Result, anyhow};
use jiff::tz::TimeZone;
use mail::{Calendar, PreferredAlternative};
use printable::Look;
use render::message::{self, ThreadHead};
use render::{Content, Event, Header, Position, Record, html};
use std::io::Read;
use terminal::screen::{Terminal, pieces};
use terminal::signals::is_interrupted;
use work::Cancel;

/// What stands before each line of a message, where lines of the program are beside it.
pub(super) const MARGIN: &str = "| ";
/// What stands before the second and later rows of a line of the program, where the terminal breaks it.
const INDENT: &str = "    ";

/// Writes messages, one after the other.
///
/// # Errors
/// The output cannot be written; for the format raw, the file cannot be read.
pub(super) fn write_all(found: &[Located], how: How, session: &Session) -> Result<()> {
    let mut writer = Writer::new(how, session);
    for located in found {
        writer.message(located, known(located, session).as_ref(), None)?;
    }
    writer.finish()
}

/// Writes messages.
pub(super) struct Writer {
    how: How,
    output: Output,
    zone: TimeZone,
    /// Each line of a message has a mark before it.
    has_margin: bool,
    /// Messages written so far.
    count: usize,
}

/// Names and values of header fields.
type Fields<'a> = &'a [(String, String)];

/// Where a message stands in its conversation: as records have it, and as text has it.
pub(super) type Place<'a> = (Position<&'a str>, ThreadHead<'a>);

impl Writer {
    /// Takes the output.
    pub(super) fn new(how: How, session: &Session) -> Writer {
        let zone = environment::now().time_zone().clone();
        Writer { how, output: session.paged_output(how.paging), zone, has_margin: false, count: 0 }
    }

    /// Takes the output. Each line of a message gets a mark, without which only the program writes lines.
    pub(super) fn with_margin(how: How, session: &Session) -> Writer {
        Writer { has_margin: true, ..Writer::new(how, session) }
    }

    /// Writes a message, of which the index knows `known`. With a place, its head is short and names the
    /// place.
    ///
    /// # Errors
    /// The output cannot be written; for the format raw, the file cannot be read.
    pub(super) fn message(
        &mut self,
        located: &Located,
        known: Option<&pneu::Message>,
        place: Option<&Place<'_>>,
    ) -> Result<()> {
        self.count += 1;
        if self.how.format == Format::Raw {
            return raw(located, &mut self.output);
        }
        let message = located.parsed(preferred(self.how.prefer));
        let fields = match self.how.headers {
            Some(Headers::All) => {
                let (fields, is_cut) = located.with_parts(|parts| parts.header_fields())?;
                if is_cut {
                    complain("the header is too long; the rest of it is not shown");
                }
                Some(fields)
            }
            Some(Headers::Main) | None => None,
        };
        let calendars = calendars(located, &message)?;
        let content = Content {
            message: &message,
            sha256: &located.sha256,
            size_bytes: located.size_bytes,
            path: located.path.as_deref(),
        };
        let mut record = Record::from_content(&content, known);
        record.position = place.map(|(position, _)| *position);
        if self.how.no_links {
            record.leave_out_links();
        }
        for (text, calendar) in &calendars {
            let new: Vec<Event<'_>> = calendar.events.iter().map(Event::new).collect();
            // Where all header fields are shown, events are not.
            let shows_events = fields.is_none() && matches!(self.how.format, Format::Plain | Format::Html);
            if shows_events && calendar.is_whole && !new.is_empty() {
                record.leave_out_calendar(text);
            }
            // Some programs send an invitation twice: as a form of the text, and attached.
            let known = record.events.clone();
            if calendar.left_out_count > 0 {
                let more = count(calendar.left_out_count as u64, "event");
                complain(format!(
                    "a calendar has {more} more than the {} that are listed",
                    calendar.events.len()
                ));
            }
            record.events.extend(new.into_iter().filter(|event| !known.contains(event)));
        }
        if let Some(fields) = &fields {
            record.headers = fields.iter().map(|(name, value)| Header { name, value }).collect();
        }
        let head = place.map(|(_, head)| head);
        let mut bytes = Vec::new();
        match self.how.format {
            Format::Plain | Format::Raw => bytes = self.plain(&record, head, fields.as_deref()).into_bytes(),
            Format::Html => bytes = self.html(&record, (head, fields.as_deref()), located).into_bytes(),
            Format::Json => render::json_line(&record, &mut bytes),
            Format::Sexp => render::sexp_line(&record, &mut bytes),
        }
        self.output.bytes(&bytes)?;
        // The user can read the first while the others are read from disk.
        if self.output.terminal.is_terminal() && self.count == 1 { self.output.flush() } else { Ok(()) }
    }

    /// Writes lines of the program itself.
    ///
    /// # Errors
    /// The output cannot be written.
    pub(super) fn lines(&mut self, text: &str) -> Result<()> {
        self.output.bytes(rows(text, "", INDENT, self.output.terminal).as_bytes())
    }

    /// Writes lines of a message, each with its mark.
    ///
    /// # Errors
    /// The output cannot be written.
    pub(super) fn content(&mut self, text: &str) -> Result<()> {
        self.output.bytes(rows(text, MARGIN, MARGIN, self.output.terminal).as_bytes())
    }

    /// Writes the line that separates messages, which no text of a message holds.
    ///
    /// # Errors
    /// The output cannot be written.
    pub(super) fn separator(&mut self) -> Result<()> {
        let line = separator(self.output.terminal);
        self.output.bytes(line.as_bytes())
    }

    /// Ends the output.
    ///
    /// # Errors
    /// The output cannot be written.
    pub(super) fn finish(mut self) -> Result<()> {
        if self.how.format == Format::Html && self.count > 0 {
            self.output.bytes(html::PAGE_END.as_bytes())?;
        }
        self.output.finish()
    }

    fn plain(
        &self,
        record: &Record<'_>,
        head: Option<&ThreadHead<'_>>,
        fields: Option<Fields<'_>>,
    ) -> String {
        let terminal = self.output.terminal;
        let paint = |look, text: &str| terminal.paint(look, text).into_owned();
        // A painted line cannot be broken.
        let has_color = terminal.has_color && !self.has_margin;
        let paint: Option<&message::Paint<'_>> = has_color.then_some(&paint);
        let text = match fields {
            Some(fields) => {
                let header = message::all_headers(fields, paint);
                format!("{header}\n{}", message::body(&record.shown_text(), paint))
            }
            None => message::text(record, head, &self.zone, paint, option_for),
        };
        let text = if self.has_margin { rows(&text, MARGIN, MARGIN, terminal) } else { text };
        if self.count == 1 { text } else { separator(terminal) + &text }
    }

    fn html(
        &self,
        record: &Record<'_>,
        (head, fields): (Option<&ThreadHead<'_>>, Option<Fields<'_>>),
        located: &Located,
    ) -> String {
        let own = mail::html_part(&located.content.bytes).filter(|_| self.how.prefer != Some(Form::Plain));
        let header = match fields {
            Some(fields) => message::all_headers(fields, None),
            None => message::header(record, head, &self.zone, None, option_for),
        };
        let article = html::article(record, &header, own.as_deref(), &Cancel::when(is_interrupted));
        let before = if self.count == 1 { html::page_start(&article) } else { html::BETWEEN.to_owned() };
        before + &article.html()
    }
}

/// Reads the calendar parts of a message: their texts, and what is in them.
fn calendars(located: &Located, message: &mail::Message) -> Result<Vec<(String, Calendar)>> {
    let is_calendar = |mime: &String| matches!(mime.as_str(), "text/calendar" | "application/ics");
    if !message.mime_types.iter().any(is_calendar) {
        return Ok(Vec::new());
    }
    let with_events = |text: String| {
        let calendar = mail::read_calendar(&text);
        (text, calendar)
    };
    let read = located.with_parts(|parts| {
        let texts = parts.calendars()?;
        Ok::<_, mail::Error>(texts.into_iter().map(with_events).collect())
    })?;
    Ok(read?)
}

/// Returns the form of a text that an option asks for.
pub(super) fn preferred(form: Option<Form>) -> PreferredAlternative {
    match form {
        None => PreferredAlternative::Better,
        Some(Form::Plain) => PreferredAlternative::Plain,
        Some(Form::Html) => PreferredAlternative::Html,
    }
}

/// Returns the option that shows the form with this MIME type.
fn option_for(mime: &str) -> Option<&'static str> {
    match mime {
        "text/html" => Some("--prefer html"),
        "text/plain" => Some("--prefer plain"),
        _ => None,
    }
}

/// Returns lines with `first` before each; without a space at the end, if that is all of the line. Those that
/// a terminal would break are broken here, with `next` before the rest: where a row begins without a mark, a
/// text could imitate a line of the program.
fn rows(text: &str, first: &str, next: &str, terminal: Terminal) -> String {
    let room = terminal.columns.map(|columns| columns.saturating_sub(next.len() + 1).max(1));
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for line in text.lines() {
        let mut before = first;
        let pieces = room.map_or_else(|| vec![line], |room| pieces(line, room));
        for piece in pieces {
            out.push_str(if piece.is_empty() { before.trim_end() } else { before });
            out.push_str(piece);
            out.push('\n');
            before = next;
        }
    }
    out
}

/// Returns the line between two messages: a form feed, which no text of a message holds; on a terminal a
/// visible line.
fn separator(terminal: Terminal) -> String {
    match terminal.columns {
        None => "\u{c}\n".to_owned(),
        Some(columns) => format!("\n{}\n\n", terminal.paint(Look::Label, &"─".repeat(columns))),
    }
}

/// Writes the exact bytes; on a terminal as text.
fn raw(located: &Located, output: &mut Output) -> Result<()> {
    if output.terminal.is_terminal() {
        return located
            .each_block(&mut |block| output.bytes(many_lines(&String::from_utf8_lossy(block)).as_bytes()));
    }
    let Some(path) = &located.path else { return output.bytes(&located.content.bytes) };
    let unreadable = |error| anyhow!("cannot read {}: {error}", path.display());
    let mut file = disk::open_file(path).map_err(unreadable)?;
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer).map_err(unreadable)? {
            0 => return Ok(()),
            count => output.bytes(buffer.get(..count).unwrap_or_default())?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_row_of_a_message_is_without_its_mark() {
        let on = |columns| Terminal { columns, has_color: false };
        assert_eq!(rows("a\n\nb", MARGIN, MARGIN, on(None)), "| a\n|\n| b\n");
        let long = format!("{}Signature: good", "x ".repeat(40));
        assert_eq!(rows(&long, MARGIN, MARGIN, on(None)), format!("| {long}\n"));
        for columns in 0..90 {
            let shown = rows(&format!("{long}\t日本\n\n{long}"), MARGIN, MARGIN, on(Some(columns)));
            assert!(shown.lines().all(|row| row.starts_with('|')), "{columns}");
            let is_short = |row: &str| terminal::screen::width(row) <= columns.max(4);
            assert!(shown.lines().all(is_short), "{columns}: {shown}");
        }
        assert_eq!(rows("abcdefgh", "", INDENT, on(Some(9))), "abcd\n    efgh\n");
    }
}
