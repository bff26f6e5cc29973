//! Writes messages as one mbox, in the form called mboxrd: nothing is lost, and everything comes back.
//!
//! In: hits. Out: for each a line `From SENDER DATE`, the message as it is on the disk now or in the archive, and an empty line. Every line of a message
//! that would look like the beginning of another gets one more `>`. docs/OUTPUT.md says it exactly.

use super::Troubles;
use crate::archived::Keeper;
use crate::exit::Outcome;
use crate::locate::{self, Asked};
use crate::output::Output;
use crate::sanitise::many_lines;
use anyhow::Result;
use index::{Hit, Mailbox, Message, PayloadReader};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Who sent a message that does not say it.
const NOBODY: &str = "MAILER-DAEMON";

/// Writes all hits.
///
/// # Errors
/// Damage in the store; the output cannot be written.
pub(crate) fn write(
    (mailbox, hits): (&Mailbox, &[Hit]),
    keeper: &Keeper<'_>,
    mut output: Output,
) -> Result<Outcome> {
    let mut troubles = Troubles::default();
    let mut reader = PayloadReader::new();
    let mut entry = Vec::new();
    for hit in hits {
        let message = mailbox.message(hit, &mut reader)?;
        let located = match locate::read(&message, Asked::Message, keeper) {
            Ok(located) => located,
            Err(error) => {
                troubles.add(error);
                continue;
            }
        };
        if let Some(path) = located.path.as_ref().filter(|_| located.content.truncated) {
            troubles.add(format!("{} is very large; only the beginning is written", path.display()));
        }
        entry.clear();
        append(&first_line(&message), &located.content.bytes, &mut entry);
        if output.terminal.is_terminal() {
            output.bytes(many_lines(&String::from_utf8_lossy(&entry)).as_bytes())?;
        } else {
            output.bytes(&entry)?;
        }
    }
    output.finish()?;
    Ok(troubles.outcome())
}

/// Returns the line that begins a message: its sender, and its date as asctime writes it, in UTC.
fn first_line(message: &Message) -> String {
    let sender = message.rest.from.first().map_or("", |contact| &contact.address);
    let is_plain = |character: char| character.is_ascii_graphic();
    let sender: String =
        sender.chars().map(|character| if is_plain(character) { character } else { '-' }).collect();
    let sender = if sender.is_empty() { NOBODY } else { &sender };
    let time = Timestamp::from_second(message.line.date.unwrap_or(0)).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("From {sender} {}\n", time.to_zoned(TimeZone::UTC).strftime("%a %b %e %H:%M:%S %Y"))
}

/// Appends a message.
fn append(first_line: &str, content: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(first_line.as_bytes());
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        let quotes = line.iter().take_while(|byte| **byte == b'>').count();
        if line.get(quotes..).is_some_and(|rest| rest.starts_with(b"From ")) {
            out.push(b'>');
        }
        out.extend_from_slice(line);
    }
    if !content.ends_with(b"\n") {
        out.push(b'\n');
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::listed::tests::sample;

    #[test]
    fn lines_that_begin_messages_are_quoted_once_more() {
        let mut out = Vec::new();
        let content = b"Subject: x\r\n\r\nFrom here\n>From there\n>>From \n From\nFrom\n>from x\nFrom";
        append("From a@b x\n", content, &mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "From a@b x\nSubject: x\r\n\r\n>From here\n>>From there\n>>>From \n From\nFrom\n>from x\nFrom\n\n"
        );
    }

    #[test]
    fn the_first_line_has_a_sender_and_a_date() {
        let mut message = sample().message;
        assert_eq!(first_line(&message), "From ana@example.org Tue Mar  5 14:02:11 2024\n");
        message.rest.from[0].address = "a b\n\u{202e}c@x".into();
        message.line.date = Some(i64::MAX);
        assert_eq!(first_line(&message), "From a-b--c@x Thu Jan  1 00:00:00 1970\n");
        message.rest.from.clear();
        assert!(first_line(&message).starts_with("From MAILER-DAEMON Thu"));
    }
}
