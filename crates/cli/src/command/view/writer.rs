//! Writes messages in the format of `view`, one after the other.
//!
//! Takes messages that were read, and what the index knows of them. Each is written before the next is read.
//! Does not know how they were found.

use super::options::{Form, Format, How};
use crate::environment;
use crate::output::Output;
use crate::sanitise::many_lines;
use crate::search::locate::Located;
use crate::session::Session;
use anyhow::{Result, anyhow};
use jiff::tz::TimeZone;
use mail::{Flags, PreferredAlternative};
use printable::Look;
use render::message::{self, ThreadHead};
use render::{File, Record, Thread, html};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use terminal::screen::Terminal;
use work::Cancel;

/// Writes messages.
pub(super) struct Writer {
    how: How,
    output: Output,
    zone: TimeZone,
    /// Messages written so far.
    count: usize,
}

/// Where a message stands in its conversation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    /// For records.
    pub thread: Thread<'a>,
    /// For text.
    pub head: ThreadHead<'a>,
}

impl Writer {
    /// Takes the output.
    pub(super) fn new(how: How, session: &Session) -> Writer {
        let zone = environment::now().time_zone().clone();
        Writer { how, output: session.paged_output(how.paging), zone, count: 0 }
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
        let message = located.parsed(match self.how.prefer {
            None => PreferredAlternative::Better,
            Some(Form::Plain) => PreferredAlternative::Plain,
            Some(Form::Html) => PreferredAlternative::Html,
        });
        let mut record = record(&message, located, known);
        record.thread = place.map(|place| place.thread);
        if self.how.no_links {
            record.leave_out_links();
        }
        let head = place.map(|place| &place.head);
        let mut bytes = Vec::new();
        match self.how.format {
            Format::Plain | Format::Raw => bytes = self.plain(&record, head).into_bytes(),
            Format::Html => bytes = self.html(&record, head, located).into_bytes(),
            Format::Json => render::json_line(&record, &mut bytes),
            Format::Sexp => render::sexp_line(&record, &mut bytes),
        }
        self.output.bytes(&bytes)?;
        // The user can read the first while the others are read from disk.
        if self.output.terminal.is_terminal() && self.count == 1 { self.output.flush() } else { Ok(()) }
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

    fn plain(&self, record: &Record<'_>, head: Option<&ThreadHead<'_>>) -> String {
        let terminal = self.output.terminal;
        let paint = |look, text: &str| terminal.paint(look, text).into_owned();
        let paint: Option<&message::Paint<'_>> = terminal.has_color.then_some(&paint);
        let text = message::text(record, head, &self.zone, paint);
        if self.count == 1 { text } else { separator(terminal) + &text }
    }

    fn html(&self, record: &Record<'_>, head: Option<&ThreadHead<'_>>, located: &Located) -> String {
        let own = mail::html_part(&located.content.bytes).filter(|_| self.how.prefer != Some(Form::Plain));
        let header = message::header(record, head, &self.zone, None);
        let article = html::article(record, &header, own.as_deref(), &Cancel::new());
        let before = if self.count == 1 { html::page_start(&article) } else { html::BETWEEN.to_owned() };
        before + &article.html()
    }
}

/// Returns the line between two messages: a form feed, which no text of a message holds; on a terminal a
/// visible line.
fn separator(terminal: Terminal) -> String {
    match terminal.columns {
        None => "\u{c}\n".to_owned(),
        Some(columns) => format!("\n{}\n\n", terminal.paint(Look::Label, &"─".repeat(columns))),
    }
}

/// Returns everything that is shown of a message.
fn record<'a>(
    message: &'a mail::Message,
    located: &'a Located,
    known: Option<&'a pneu::Message>,
) -> Record<'a> {
    let files = match (known, &located.path) {
        (Some(known), _) => (Vec::new(), known.files.iter().map(File::from_index).collect()),
        (None, Some(path)) => {
            let flags = flags_of(path);
            (vec![flags], vec![File::unknown(path, flags)])
        }
        (None, None) => (Vec::new(), Vec::new()),
    };
    let mut record = Record::from_mail(message, &located.sha256, located.size_bytes, files);
    if message.date.is_none() {
        record.date_by(known.map_or_else(|| date_of_name(located), |known| known.line.date));
    }
    if let Some(known) = known {
        record.add_known(known);
    }
    record
}

/// Returns the date from the file name, for a message without a date.
fn date_of_name(located: &Located) -> Option<i64> {
    mail::name_seconds(located.path.as_ref()?.file_name()?.as_bytes())
}

/// Returns the flags that a file's name and place give it.
fn flags_of(path: &Path) -> Flags {
    let mut flags = mail::parse_name(path.file_name().unwrap_or_default().as_bytes()).flags;
    if path.parent().is_some_and(|parent| parent.ends_with("new")) {
        flags |= Flags::NEW;
    }
    flags
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
