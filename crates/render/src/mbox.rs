//! The mbox format, in the form called mboxrd, from which every message can be restored exactly.
//!
//! Input: a message in blocks. Output: a line `From SENDER DATE`, the message, and an empty line. Every line
//! of a message that would look like the beginning of another gets one more `>`. docs/OUTPUT.md has the
//! details.

use index::Message;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The sender of a message that does not name one.
const NOBODY: &str = "MAILER-DAEMON";

/// What begins a message in an mbox, and is quoted in one, also after quotes.
const FROM: &[u8] = b"From ";

/// Returns the line that begins a message, with its end: its sender, and its date as asctime writes it, in
/// UTC.
pub fn first_line(message: &Message) -> String {
    let sender = message.rest.from.first().map_or("", |contact| &contact.address);
    let is_plain = |character: char| character.is_ascii_graphic();
    let sender: String =
        sender.chars().map(|character| if is_plain(character) { character } else { '-' }).collect();
    let sender = if sender.is_empty() { NOBODY } else { &sender };
    let time = Timestamp::from_second(message.line.date.unwrap_or(0)).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("From {sender} {}\n", time.to_zoned(TimeZone::UTC).strftime("%a %b %e %H:%M:%S %Y"))
}

/// Quotes the lines of a message that arrives in blocks, for lines of any length.
#[derive(Clone, Debug, Default)]
pub struct Quoting {
    /// How much of [`FROM`] the open line has after its quotes, which is not written yet.
    matched: usize,
    /// The open line can no longer be one that is quoted.
    is_inside: bool,
    /// The last byte that came.
    last: Option<u8>,
}

impl Quoting {
    /// Appends the lines of a block.
    pub fn add(&mut self, block: &[u8], out: &mut Vec<u8>) {
        for piece in block.split_inclusive(|byte| *byte == b'\n') {
            let rest = if self.is_inside { piece } else { self.begin(piece, out) };
            out.extend_from_slice(rest);
            self.last = piece.last().copied();
            // The line has ended, so it is known whether it is quoted: FROM contains no line end.
            self.is_inside &= self.last != Some(b'\n');
        }
    }

    /// Appends quotes, and the part of FROM after them as far as it is decided. Returns the rest of the
    /// block.
    fn begin<'p>(&mut self, mut piece: &'p [u8], out: &mut Vec<u8>) -> &'p [u8] {
        if self.matched == 0 {
            let (quotes, rest) = piece.split_at(piece.iter().take_while(|byte| **byte == b'>').count());
            out.extend_from_slice(quotes);
            piece = rest;
        }
        let (begun, wanted) = FROM.split_at(self.matched);
        let common = wanted.iter().zip(piece).take_while(|(wanted, byte)| wanted == byte).count();
        if common == wanted.len() {
            out.push(b'>');
        } else if common == piece.len() {
            self.matched += common;
            return &[];
        }
        out.extend_from_slice(begun);
        (self.matched, self.is_inside) = (0, true);
        piece
    }

    /// Appends the end of the message, and the empty line after it.
    pub fn finish(self, out: &mut Vec<u8>) {
        out.extend_from_slice(FROM.get(..self.matched).unwrap_or_default());
        if self.last != Some(b'\n') {
            out.push(b'\n');
        }
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sample;

    #[test]
    fn lines_that_begin_messages_are_quoted_once_more() {
        let mut out = Vec::new();
        let content = b"Subject: x\r\n\r\nFrom here\n>From there\n>>From \n From\nFrom\n>from x\nFrom";
        let expected = "Subject: x\r\n\r\n>From here\n>>From there\n>>>From \n From\nFrom\n>from x\nFrom\n\n";
        for length in [1, 2, 7, 1000] {
            out.clear();
            let mut quoting = Quoting::default();
            content.chunks(length).for_each(|block| quoting.add(block, &mut out));
            quoting.finish(&mut out);
            assert_eq!(String::from_utf8_lossy(&out), expected, "in blocks of {length}");
        }
        out.clear();
        Quoting::default().finish(&mut out);
        assert_eq!(out, b"\n\n", "an empty message");
    }

    #[test]
    fn lines_may_be_of_any_length() {
        for quotes in [0, 1, 10_000] {
            let (mut quoting, mut out) = (Quoting::default(), Vec::new());
            let line = [&b">".repeat(quotes), &b"From "[..], &b"x".repeat(10_000), b"From \n"].concat();
            line.chunks(4_096).for_each(|block| quoting.add(block, &mut out));
            assert_eq!(out, [b">", line.as_slice()].concat(), "{quotes} quotes");
        }
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
