//! `pneu view --part`: shows one part of a message.
//!
//! Takes a message that was read, and the number of a part. A part that is a message is shown like any
//! message. Does not know how parts are found.

use super::options::{Format, How};
use super::writer;
use crate::exit::{NotFound, Outcome};
use crate::output::{self, Output};
use crate::sanitise::{many_lines, one_line};
use crate::search::locate::Located;
use crate::session::Session;
use anyhow::{Result, bail};
use mail::{FileContent, Links, MessageParts, PartRead, PartText};
use render::message;

/// Most bytes of an attached message that is shown.
const MESSAGE_BYTES_MAX: usize = 100 << 20;

/// What is shown of a part.
enum Shown {
    /// A message.
    Message(Vec<u8>),
    /// Text.
    Text(PartText),
    /// Its exact content, which is written already.
    Written(PartRead),
}

/// Shows the part with this number.
///
/// # Errors
/// Several messages are given; there is no such part, or it cannot be shown; the output cannot be written.
pub(super) fn show(found: &[Located], number: usize, how: How, session: &Session) -> Result<Outcome> {
    let [located] = found else { bail!("--part shows a part of one message") };
    match located.with_parts(|parts| read(parts, number, how, session))?? {
        Shown::Written(read) => ending(read, number),
        Shown::Message(bytes) => {
            let mut content = FileContent::default();
            content.bytes = bytes;
            writer::write_all(&[Located::new(None, content)], how, session)?;
            Ok(Outcome::Done)
        }
        Shown::Text(_) if how.format != Format::Plain || how.headers.is_some() => {
            bail!("part {number} is text without a header; only --format plain and raw show it")
        }
        Shown::Text(part) => {
            if part.is_cut {
                output::complain(format!(
                    "the text is very long; this is its beginning. Save it: pneu extract --part {number}"
                ));
            }
            let text = if how.no_links { part.text.as_str().into() } else { render::part_text(&part) };
            let mut output = session.paged_output(how.paging);
            output.bytes(message::body(&text, None).as_bytes())?;
            output.finish()?;
            Ok(Outcome::Done)
        }
    }
}

/// Reads what is shown of a part, or writes its exact content.
fn read(parts: &mut MessageParts<'_>, number: usize, how: How, session: &Session) -> Result<Shown> {
    if how.format == Format::Raw {
        let mut output = session.paged_output(how.paging);
        let read = write_content(parts, number, &mut output)?;
        output.finish()?;
        return Ok(Shown::Written(read));
    }
    let list = parts.list()?;
    let Some(part) = number.checked_sub(1).and_then(|position| list.get(position)) else {
        return Err(no_part(number, list.len()));
    };
    if part.is_message {
        let (mut bytes, mut is_cut) = (Vec::new(), false);
        let read = parts.each_block(number, &mut |block| {
            is_cut |= bytes.len() + block.len() > MESSAGE_BYTES_MAX;
            if !is_cut {
                bytes.extend_from_slice(block);
            }
        })?;
        if is_cut {
            bail!("part {number} is a very large message; save it: pneu extract --part {number}");
        }
        return ending(read, number).map(|_| Shown::Message(bytes));
    }
    match parts.text(number, Links::Listed)? {
        Some(text) => Ok(Shown::Text(text)),
        None => {
            let mime = one_line(&part.mime);
            bail!("part {number} is {mime}, not text; save it: pneu extract --part {number}")
        }
    }
}

/// Returns the error for a number that no part has.
pub(crate) fn no_part(number: usize, count: usize) -> anyhow::Error {
    NotFound(format!("the message has no part {number}; its last part is {count}")).into()
}

/// Writes the decoded content of a part; on a terminal as text.
///
/// # Errors
/// The message cannot be read; the output cannot be written.
pub(crate) fn write_content(
    parts: &mut MessageParts<'_>,
    number: usize,
    output: &mut Output,
) -> Result<PartRead> {
    let mut written = Ok(());
    let is_terminal = output.terminal.is_terminal();
    let read = parts.each_block(number, &mut |block| {
        if written.is_ok() && is_terminal {
            written = output.bytes(many_lines(&String::from_utf8_lossy(block)).as_bytes());
        } else if written.is_ok() {
            written = output.bytes(block);
        }
    })?;
    written.map(|()| read)
}

/// Says what is wrong with a content that was written, and returns what that means.
///
/// # Errors
/// Nothing was written.
pub(crate) fn ending(read: PartRead, number: usize) -> Result<Outcome> {
    match read {
        PartRead::Clean => Ok(Outcome::Done),
        PartRead::Damaged => {
            output::complain(format!(
                "part {number}: its encoding is damaged; this is what could be decoded"
            ));
            Ok(Outcome::Partly)
        }
        PartRead::NoSuchPart => Err(NotFound(format!("the message has no part {number}")).into()),
        PartRead::TooMany => bail!("part {number} cannot be decoded again"),
    }
}
