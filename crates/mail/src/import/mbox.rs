//! Reads the messages of an mbox, whatever program wrote it.
//!
//! Input: a stream of any length, untrusted. Output: each message in pieces, byte for byte as it was before
//! it came into the mbox: without the line `From ` before it, without the empty line after it, and without
//! the quotes of lines that would look like the beginning of a message. Memory is bounded, however long a
//! message or a line is. Does not know where messages go.

#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::import::from_line::{self, FROM, LINE_BYTES_MAX, Separators, begins_message};
use crate::import::window::Window;
use std::io::{self, Read};

/// How far a Content-Length may reach. One that reaches farther is not believed.
pub const CONTENT_LENGTH_MAX: usize = 32 << 20;
/// With more quotes, a line is not one that was quoted.
const QUOTE_COUNT_MAX: usize = 256;
/// How far the reader looks from the beginning of a line: two lines, or all quotes.
const LOOK_BYTES: usize = 2 * LINE_BYTES_MAX;
/// The field that some programs end messages by.
const CONTENT_LENGTH: &[u8] = b"content-length:";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How the programs that write an mbox keep lines of text apart from lines that begin a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Is found out: as `Mboxcl2` where a message has a Content-Length that is right, else as `Mboxrd`.
    #[default]
    Any,
    /// `From ` in text is written as `>From `.
    Mboxo,
    /// `From ` in text gets one more `>`, after other `>` as well.
    Mboxrd,
    /// As `Mboxo`, and each message has a Content-Length.
    Mboxcl,
    /// Each message has a Content-Length, and no line is quoted.
    Mboxcl2,
}

/// The messages of an mbox.
#[derive(Debug)]
pub struct Mbox<R> {
    window: Window<R>,
    dialect: Dialect,
    separators: Separators,
    has_begun: bool,
    /// Every message so far has a Content-Length that is right.
    has_lengths: bool,
}

/// What an mbox says of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Envelope {
    /// When the message came, in seconds since 1970.
    pub date_seconds: Option<i64>,
}

/// What takes the pieces of a message.
pub(crate) type Take<'t> = &'t mut dyn FnMut(&[u8]) -> io::Result<()>;

/// What a line is, from its first bytes.
enum Line {
    /// The beginning of the next message, or the end of the file.
    Next,
    /// Empty, with so many bytes.
    Empty(usize),
    /// It has a quote too many.
    Quoted,
    /// Anything else.
    Plain,
}

/// How the lines of a message are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    Kept,
    /// Of `>From `.
    One,
    /// Of `>From `, `>>From ` and so on.
    Any,
}

impl<R: Read> Mbox<R> {
    /// Begins to read.
    pub fn new(reader: R, dialect: Dialect) -> Mbox<R> {
        let separators = match dialect {
            Dialect::Mboxo | Dialect::Mboxrd | Dialect::Mboxcl => Separators::Any,
            Dialect::Any | Dialect::Mboxcl2 => Separators::Known,
        };
        Mbox { window: Window::new(reader), dialect, separators, has_begun: false, has_lengths: true }
    }

    /// Reads the next message, and gives it to `take` in pieces. Returns `None` at the end. Messages without
    /// any byte are left out.
    ///
    /// # Errors
    /// Those of the stream and of `take`; the stream does not begin as an mbox does.
    pub fn next(&mut self, take: Take<'_>) -> io::Result<Option<Envelope>> {
        if !self.has_begun {
            self.has_begun = true;
            self.begin()?;
        }
        loop {
            let bytes = self.window.look(LOOK_BYTES)?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let line = from_line::first_line(bytes).map_or(&[][..], |(line, _)| line);
            let envelope = Envelope { date_seconds: from_line::date(line) };
            self.skip_line()?;
            let mut is_empty = true;
            self.message(&mut |piece| {
                is_empty &= piece.is_empty();
                take(piece)
            })?;
            if !is_empty {
                return Ok(Some(envelope));
            }
        }
    }

    /// Skips what may precede the first message.
    fn begin(&mut self) -> io::Result<()> {
        if self.window.look(LOOK_BYTES)?.starts_with(BYTE_ORDER_MARK) {
            self.window.take(BYTE_ORDER_MARK.len());
        }
        while let Some(length) = empty_line(self.window.look(LOOK_BYTES)?) {
            self.window.take(length);
        }
        let bytes = self.window.look(LOOK_BYTES)?;
        if bytes.is_empty() {
            return Ok(());
        }
        if bytes.starts_with(FROM) {
            let first = from_line::first_line(bytes).map_or(bytes, |(line, _)| line);
            if Separators::after(first) == Separators::Any {
                self.separators = Separators::Any;
            }
            return Ok(());
        }
        let what = "it does not begin with a line \"From \", as an mbox does";
        Err(io::Error::new(io::ErrorKind::InvalidData, what))
    }

    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let bytes = self.window.look(1)?;
            let (count, is_done) = match memchr::memchr(b'\n', bytes) {
                Some(end) => (end.saturating_add(1), true),
                None => (bytes.len(), bytes.is_empty()),
            };
            self.window.take(count);
            if is_done {
                return Ok(());
            }
        }
    }

    fn message(&mut self, take: Take<'_>) -> io::Result<()> {
        let mut length = None;
        // Its last lines are written once it is known that they are not the empty line between messages.
        let mut held = None;
        loop {
            match self.line(held, Quotes::Kept)? {
                Line::Next => return Ok(()),
                Line::Empty(count) => {
                    held = Some(count);
                    break;
                }
                Line::Quoted | Line::Plain => {
                    length = length.or(content_length(self.window.look(LOOK_BYTES)?));
                    self.copy_line(take)?;
                }
            }
        }
        let length = match length {
            Some(length) if self.is_right(held, length)? => Some(length),
            _ => None,
        };
        self.has_lengths &= length.is_some();
        let quotes = match (self.dialect, length) {
            (Dialect::Mboxcl2, _) | (Dialect::Any, Some(_)) => Quotes::Kept,
            (Dialect::Mboxo | Dialect::Mboxcl, _) => Quotes::One,
            (Dialect::Mboxrd | Dialect::Any, _) => Quotes::Any,
        };
        match length {
            Some(length) => self.body_of_length(length, (held, quotes), take),
            None => self.body(None, (held, quotes), take),
        }
    }

    /// Copies a body whose length is known. Skips the line ends after it.
    fn body_of_length(
        &mut self,
        length: usize,
        (held, quotes): (Option<usize>, Quotes),
        take: Take<'_>,
    ) -> io::Result<()> {
        let count = held.unwrap_or_default();
        if quotes == Quotes::Kept {
            let bytes = self.window.look(count.saturating_add(length))?;
            take(bytes.get(..count.saturating_add(length)).unwrap_or(bytes))?;
            self.window.take(count.saturating_add(length));
        } else {
            self.body(Some(count.saturating_add(length)), (held, quotes), take)?;
        }
        while let Some(count) = empty_line(self.window.look(LOOK_BYTES)?) {
            self.window.take(count);
        }
        Ok(())
    }

    /// Copies lines up to the next message, or as many bytes as are `left`. `held` are the bytes of an empty
    /// line that the window still has.
    fn body(
        &mut self,
        mut left: Option<usize>,
        (mut held, quotes): (Option<usize>, Quotes),
        take: Take<'_>,
    ) -> io::Result<()> {
        // The empty line after the header is in the window, as any held line is.
        loop {
            if left == Some(0) {
                return Ok(());
            }
            if left.is_some() {
                held = None;
            }
            match self.line(held, quotes)? {
                Line::Next if left.is_none() || self.window.look(1)?.is_empty() => {
                    self.window.take(held.unwrap_or_default());
                    return Ok(());
                }
                Line::Empty(count) if left.is_none() => {
                    self.give(held, take)?;
                    held = Some(count);
                }
                Line::Quoted => {
                    self.give(held.take(), take)?;
                    self.window.take(1);
                    left = left.map(|left| left.saturating_sub(1));
                    self.copy(&mut left, take)?;
                }
                Line::Next | Line::Empty(_) | Line::Plain => {
                    self.give(held.take(), take)?;
                    self.copy(&mut left, take)?;
                }
            }
        }
    }

    /// Gives a held line to `take`.
    fn give(&mut self, held: Option<usize>, take: Take<'_>) -> io::Result<()> {
        let Some(count) = held else { return Ok(()) };
        take(self.window.look(count)?.get(..count).unwrap_or_default())?;
        self.window.take(count);
        Ok(())
    }

    /// Returns what the line after the held one is.
    fn line(&mut self, held: Option<usize>, quotes: Quotes) -> io::Result<Line> {
        let skipped = held.unwrap_or_default();
        let bytes = self.window.look(LOOK_BYTES)?.get(skipped..).unwrap_or_default();
        Ok(match bytes {
            [] => Line::Next,
            [b'F', ..] if begins_message(bytes, held.is_some(), self.separators) => Line::Next,
            [b'\n' | b'\r', ..] => empty_line(bytes).map_or(Line::Plain, Line::Empty),
            [b'>', ..] if is_quoted(bytes, quotes) => Line::Quoted,
            _ => Line::Plain,
        })
    }

    /// Copies the rest of a line.
    fn copy_line(&mut self, take: Take<'_>) -> io::Result<()> {
        loop {
            let bytes = self.window.look(1)?;
            let end = memchr::memchr(b'\n', bytes).map(|end| end.saturating_add(1));
            let count = end.unwrap_or(bytes.len());
            take(bytes.get(..count).unwrap_or_default())?;
            self.window.take(count);
            if end.is_some() || count == 0 {
                return Ok(());
            }
        }
    }

    /// Copies a line, and the lines after it up to one that may be more than text.
    fn copy(&mut self, left: &mut Option<usize>, take: Take<'_>) -> io::Result<()> {
        loop {
            let bytes = self.window.look(1)?;
            let bytes = bytes.get(..left.unwrap_or(bytes.len())).unwrap_or(bytes);
            let (count, is_whole) = text_length(bytes);
            take(bytes.get(..count).unwrap_or_default())?;
            *left = left.map(|left| left.saturating_sub(count));
            self.window.take(count);
            if is_whole || count == 0 {
                return Ok(());
            }
        }
    }

    /// Returns whether a body of a Content-Length ends where a message ends.
    ///
    /// Whoever sends a message may write any length into it, and so hide the messages after it. So a body
    /// that has lines of messages is believed only where each message has a length, and the messages in it
    /// have none.
    fn is_right(&mut self, held: Option<usize>, length: usize) -> io::Result<bool> {
        if matches!(self.dialect, Dialect::Mboxo | Dialect::Mboxrd) || length > CONTENT_LENGTH_MAX {
            return Ok(false);
        }
        let start = held.unwrap_or_default();
        let end = start.saturating_add(length);
        let may_hold_messages = self.has_lengths || self.dialect != Dialect::Any;
        let bytes = self.window.look(end.saturating_add(LOOK_BYTES))?;
        let (Some(body), Some(mut rest)) = (bytes.get(..end), bytes.get(end..)) else { return Ok(false) };
        for _ in 0..2 {
            rest = rest.get(empty_line(rest).unwrap_or_default()..).unwrap_or_default();
        }
        if !rest.is_empty() && !begins_message(rest, true, self.separators) {
            return Ok(false);
        }
        let inner = memchr::memmem::find_iter(body, b"\nFrom ").filter_map(|place| {
            let before = body.get(..place)?;
            let before = before.strip_suffix(b"\r").unwrap_or(before);
            let is_after_empty = before.is_empty() || before.ends_with(b"\n");
            let at = body.get(place.saturating_add(1)..)?;
            begins_message(at, is_after_empty, self.separators).then_some(at)
        });
        // A body of ten million lines "From " shall not take hours.
        const INNER_COUNT_MAX: usize = 1000;
        for (count, at) in inner.enumerate() {
            if !may_hold_messages || count >= INNER_COUNT_MAX || has_length(at) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Returns whether the header at the beginning of `bytes` has a Content-Length. Looks at the first lines.
fn has_length(bytes: &[u8]) -> bool {
    const LINE_COUNT_MAX: usize = 200;
    let lines = bytes.split(|byte| *byte == b'\n').take(LINE_COUNT_MAX);
    lines.take_while(|line| !matches!(line, [] | [b'\r'])).any(|line| content_length(line).is_some())
}

/// Returns the length that a field at the beginning of `bytes` gives.
fn content_length(bytes: &[u8]) -> Option<usize> {
    let name = bytes.get(..CONTENT_LENGTH.len())?;
    if !name.eq_ignore_ascii_case(CONTENT_LENGTH) {
        return None;
    }
    let (line, _) = from_line::first_line(bytes.get(CONTENT_LENGTH.len()..)?)?;
    std::str::from_utf8(line).ok()?.trim().parse().ok()
}

/// Returns the length of the empty line at the beginning of `bytes`.
fn empty_line(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [b'\n', ..] => Some(1),
        [b'\r', b'\n', ..] => Some(2),
        _ => None,
    }
}

/// Returns whether a line has a quote that was put before it.
fn is_quoted(bytes: &[u8], quotes: Quotes) -> bool {
    let count =
        bytes.iter().take(QUOTE_COUNT_MAX.saturating_add(1)).take_while(|byte| **byte == b'>').count();
    let limit = match quotes {
        Quotes::Kept => 0,
        Quotes::One => 1,
        Quotes::Any => QUOTE_COUNT_MAX,
    };
    count <= limit && bytes.get(count..).is_some_and(|rest| rest.starts_with(FROM))
}

/// Returns how many bytes can be copied: up to a line that has to be looked at, or all. Also returns whether
/// they end at the end of a line.
fn text_length(bytes: &[u8]) -> (usize, bool) {
    for end in memchr::memchr_iter(b'\n', bytes) {
        let next = end.saturating_add(1);
        match bytes.get(next) {
            None | Some(b'F' | b'>' | b'\n' | b'\r') => return (next, true),
            Some(_) => {}
        }
    }
    (bytes.len(), false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Gives a few bytes at a time.
    struct Slow<'b>(&'b [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(buffer.len()).min(self.0.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn read(bytes: &[u8], dialect: Dialect) -> Vec<Vec<u8>> {
        let mut mbox = Mbox::new(Slow(bytes, 1000), dialect);
        let mut messages = Vec::new();
        loop {
            let mut message = Vec::new();
            let next = mbox.next(&mut |piece| {
                message.extend_from_slice(piece);
                Ok(())
            });
            match next.unwrap() {
                Some(_) => messages.push(message),
                None => return messages,
            }
        }
    }

    fn texts(mbox: &str, dialect: Dialect) -> Vec<String> {
        read(mbox.as_bytes(), dialect).into_iter().map(|it| String::from_utf8(it).unwrap()).collect()
    }

    const A: &str = "From ana@x Mon Jan  5 10:00:00 2004\n";
    const B: &str = "From ben@x Tue Jan  6 10:00:00 2004\n";

    #[test]
    fn messages_come_without_what_an_mbox_puts_around_them() {
        for (mbox, messages) in [
            (
                format!("{A}Subject: 1\n\none\n\n{B}Subject: 2\n\ntwo\n\n"),
                vec!["Subject: 1\n\none\n", "Subject: 2\n\ntwo\n"],
            ),
            (
                format!("{A}Subject: 1\n\none\n\n\n{B}Subject: 2\n\ntwo"),
                vec!["Subject: 1\n\none\n\n", "Subject: 2\n\ntwo"],
            ),
            // Without an empty line between them, and without bodies.
            (
                format!("{A}Subject: 1\n\none\n{B}Subject: 2\n{A}Subject: 3\n\n"),
                vec!["Subject: 1\n\none\n", "Subject: 2\n", "Subject: 3\n"],
            ),
            (format!("\u{feff}\n\n{A}\n{B}Subject: 3\n\n"), vec!["Subject: 3\n"]),
            (String::new(), vec![]),
            (A.to_owned(), vec![]),
            (
                format!("{A}Subject: 1\n\nFrom here on\n\nFrom there\nX: y\n"),
                vec!["Subject: 1\n\nFrom here on\n\nFrom there\nX: y\n"],
            ),
            (
                "From \nX-Mozilla-Status: 0001\n\none\n\nFrom \nSubject: 2\n\ntwo\n\n".into(),
                vec!["X-Mozilla-Status: 0001\n\none\n", "Subject: 2\n\ntwo\n"],
            ),
        ] {
            assert_eq!(texts(&mbox, Dialect::Any), messages, "{mbox:?}");
            let windows: Vec<String> = messages.iter().map(|it| it.replace('\n', "\r\n")).collect();
            assert_eq!(texts(&mbox.replace('\n', "\r\n"), Dialect::Any), windows, "{mbox:?} with CRLF");
        }
    }

    #[test]
    fn each_dialect_quotes_in_its_own_way() {
        let mbox = format!("{A}S: 1\n>From x\n\n>From a\n>>From b\n> From c\n>from d\n\n");
        let any = "S: 1\n>From x\n\nFrom a\n>From b\n> From c\n>from d\n";
        let one = "S: 1\n>From x\n\nFrom a\n>>From b\n> From c\n>from d\n";
        let none = "S: 1\n>From x\n\n>From a\n>>From b\n> From c\n>from d\n";
        for (dialect, expected) in [
            (Dialect::Any, any),
            (Dialect::Mboxrd, any),
            (Dialect::Mboxo, one),
            (Dialect::Mboxcl, one),
            (Dialect::Mboxcl2, none),
        ] {
            assert_eq!(texts(&mbox, dialect), [expected], "{dialect:?}");
        }
        let deep = format!("{A}S: 1\n\n{0}From a\n>{0}From b\n", ">".repeat(QUOTE_COUNT_MAX));
        let expected = format!("S: 1\n\n{0}From a\n>>{0}From b\n", ">".repeat(QUOTE_COUNT_MAX - 1));
        assert_eq!(texts(&deep, Dialect::Any), [expected]);
    }

    #[test]
    fn a_length_that_is_right_ends_a_message() {
        let body = format!("text\n\n{B}Subject: inner\n\n>From x\n");
        let mbox = format!("{A}Content-Length: {}\n\n{body}\n{B}Content-Length: 4\n\ntwo\n\n", body.len());
        let first = format!("Content-Length: {}\n\n{body}", body.len());
        for dialect in [Dialect::Any, Dialect::Mboxcl2] {
            assert_eq!(texts(&mbox, dialect), [first.as_str(), "Content-Length: 4\n\ntwo\n"], "{dialect:?}");
        }
        let unquoted = first.replace(">From x", "From x");
        assert_eq!(texts(&mbox, Dialect::Mboxcl), [unquoted.as_str(), "Content-Length: 4\n\ntwo\n"]);
        assert_eq!(texts(&mbox, Dialect::Mboxrd).len(), 3);
    }

    #[test]
    fn a_length_that_is_wrong_hides_no_message() {
        for length in ["0", "1", "3", "5", "6", "7", "400", "99999999999", "18446744073709551615", "-1", "x"]
        {
            let mbox = format!("{A}Content-Length: {length}\n\n>From\n\n{B}Subject: 2\n\ntwo\n\n");
            let found = texts(&mbox, Dialect::Any);
            assert_eq!(found.len(), 2, "{length}");
            assert_eq!(found[1], "Subject: 2\n\ntwo\n", "{length}");
        }
        // It would be right, and covers a whole message of somebody else.
        let hidden = format!("one\n\n{B}Subject: 2\n\ntwo\n");
        let liar = format!("{A}Content-Length: {}\n\n{hidden}\n", hidden.len());
        let plain = format!("{A}Subject: 0\n\nzero\n\n");
        assert_eq!(texts(&format!("{plain}{liar}{plain}"), Dialect::Any).len(), 4);
        let hidden = format!("one\n\n{B}Content-Length: 4\n\ntwo\n");
        let liar = format!("{A}Content-Length: {}\n\n{hidden}\n", hidden.len());
        assert_eq!(texts(&format!("{liar}{plain}"), Dialect::Any).len(), 3);
    }

    #[test]
    fn lines_and_messages_may_be_longer_than_the_window() {
        let line = "x".repeat(3_000_000);
        let mbox = format!("{A}S: {line}\n\n{line}\n>From {line}\n\n{B}S: 2\n\ntwo\n\n");
        assert_eq!(
            texts(&mbox, Dialect::Any),
            [format!("S: {line}\n\n{line}\nFrom {line}\n"), "S: 2\n\ntwo\n".to_owned()]
        );
    }

    #[test]
    fn what_is_no_mbox_is_refused() {
        for bytes in [&b"Subject: x\n\n"[..], b"\x00\x01", b"Fro", b">From ana\n"] {
            assert!(Mbox::new(bytes, Dialect::Any).next(&mut |_| Ok(())).is_err(), "{bytes:?}");
        }
    }

    /// Lines that a reader could take for others.
    fn lines() -> impl Strategy<Value = Vec<String>> {
        let line = prop_oneof![
            Just(String::new()),
            Just("text".to_owned()),
            Just("\r".to_owned()),
            Just(A.trim_end().to_owned()),
            Just("From ".to_owned()),
            Just("Content-Length: 20".to_owned()),
            "[>]{0,3}From [ab]{0,3}",
            "[>F\r ]{0,3}",
        ];
        proptest::collection::vec(line, 0..12)
    }

    proptest! {
        /// Messages that are written as the format mboxrd says are read as they were.
        #[test]
        fn what_is_quoted_comes_back(bodies in proptest::collection::vec(lines(), 1..5)) {
            let mut mbox = String::new();
            let mut expected = Vec::new();
            for body in bodies {
                let lines: String = body.iter().map(|line| format!("{line}\n")).collect();
                expected.push(format!("Subject: x\n\n{lines}"));
                mbox += &format!("{A}Subject: x\n\n");
                for line in body {
                    let is_quoted = line.trim_start_matches('>').starts_with("From ");
                    mbox += &format!("{}{line}\n", if is_quoted { ">" } else { "" });
                }
                mbox += "\n";
            }
            prop_assert_eq!(texts(&mbox, Dialect::Any), expected.clone());
            prop_assert_eq!(texts(&mbox, Dialect::Mboxrd), expected);
        }

        /// However the pieces come, the messages are the same, and no byte is there twice.
        #[test]
        fn any_bytes_are_messages(lines in lines(), step in 1_usize..50) {
            let mbox = format!("{A}{}", lines.join("\n"));
            use Dialect::{Any, Mboxcl, Mboxcl2, Mboxo, Mboxrd};
            for dialect in [Any, Mboxo, Mboxrd, Mboxcl, Mboxcl2] {
                let whole = read(mbox.as_bytes(), dialect);
                let mut slow = Mbox::new(Slow(mbox.as_bytes(), step), dialect);
                for expected in &whole {
                    let mut message = Vec::new();
                    slow.next(&mut |piece| { message.extend_from_slice(piece); Ok(()) }).unwrap();
                    prop_assert_eq!(&message, expected);
                }
                prop_assert!(whole.iter().map(Vec::len).sum::<usize>() <= mbox.len());
            }
        }
    }
}
