//! Conversations, one per line.
//!
//! Takes conversations and a view. Returns lines: date of the newest message, messages that match and all,
//! how many are unread, authors, subject, tags. On a terminal columns are cut to its width. Does not know how
//! conversations were found.

use crate::format::fields::minute;
use crate::format::paths::End;
use crate::output::Output;
use crate::sanitise::one_line;
use anyhow::Result;
use jiff::tz::TimeZone;
use pneu::{RecordReader, Thread, Threads, View};
use printable::Look;
use rayon::prelude::*;
use render::{Listed, Need, ThreadMessage, ThreadSummary};
use std::borrow::Cow;
use terminal::screen::{Terminal, cut, padding, width};

/// Conversations that are read before other threads are woken for more.
const FIRST_COUNT: usize = 32;
/// Conversations whose lines wait to be written.
const WAITING_COUNT: usize = 1024;
/// Conversations that a thread takes at a time.
const TAKEN_COUNT: usize = 16;
/// Columns of the authors.
const AUTHOR_COLUMNS: usize = 24;
/// Columns of the subject, if tags follow.
const SUBJECT_COLUMNS_MIN: usize = 12;

/// Turns a conversation into a line: one format.
pub(crate) type ShowThread<'a> = dyn Fn(&ThreadSummary, &mut Vec<u8>) + Sync + 'a;

/// Prints conversations.
///
/// # Errors
/// Damage in the store; the output cannot be written.
pub(crate) fn print(
    view: &View,
    threads: &Threads,
    show: &ShowThread<'_>,
    output: &mut Output,
) -> Result<()> {
    let (first, others) = threads.list.split_at(threads.list.len().min(FIRST_COUNT));
    output.bytes(&printed(view, first, show, &mut RecordReader::new())?)?;
    if output.terminal.is_terminal() {
        output.flush()?;
    }
    for waiting in others.chunks(WAITING_COUNT) {
        let pieces: Vec<index::Result<Vec<u8>>> = waiting
            .par_chunks(TAKEN_COUNT)
            .map_init(RecordReader::new, |reader, taken| printed(view, taken, show, reader))
            .collect();
        for piece in pieces {
            output.bytes(&piece?)?;
        }
    }
    Ok(())
}

fn printed(
    view: &View,
    threads: &[Thread],
    show: &ShowThread<'_>,
    reader: &mut RecordReader,
) -> index::Result<Vec<u8>> {
    let mut out = Vec::new();
    for thread in threads {
        let read = |entry: &pneu::ThreadEntry| {
            let listed = Listed::read(view.mailbox(), &entry.hit, Need::ALL, reader)?;
            Ok(ThreadMessage::new(listed, entry.origin))
        };
        let messages = thread.entries.iter().map(read).collect::<index::Result<Vec<_>>>()?;
        show(&ThreadSummary::new(&messages), &mut out);
    }
    Ok(out)
}

/// Appends a conversation as a plain line.
pub(crate) fn plain(
    thread: &ThreadSummary,
    (zone, end, terminal): (&TimeZone, End, Terminal),
    out: &mut Vec<u8>,
) {
    let date = thread.date_unix.map(|seconds| minute(seconds, zone)).unwrap_or_default();
    let count = format!("[{}/{}]", thread.found, thread.messages);
    let unread = if thread.unread == 0 { String::new() } else { format!("{}u", thread.unread) };
    let names = thread.author_names();
    let (names, subject) = (one_line(&names), one_line(&thread.subject));
    let tags = thread.tags.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    let tags = if tags.is_empty() { tags } else { format!(" ({})", one_line(&tags)) };
    let names = if terminal.is_terminal() { cut(&names, AUTHOR_COLUMNS) } else { names };
    let begin = format!("{date:16} {count:>7} {unread:>4} ");
    let fill = padding(&names, AUTHOR_COLUMNS);
    let (subject, tags) = match terminal.columns {
        None => (subject, tags),
        Some(all) => {
            let room = all.saturating_sub(width(&begin) + width(&names) + fill.len() + 1);
            let subject = cut(&subject, room.saturating_sub(width(&tags)).max(SUBJECT_COLUMNS_MIN).min(room));
            let tags = cut(&tags, room.saturating_sub(width(&subject)));
            (Cow::Owned(subject.into_owned()), tags.into_owned())
        }
    };
    let paint = |look, text: &str| terminal.paint(look, text).into_owned();
    let unread =
        if unread.is_empty() { "    ".to_owned() } else { paint(Look::Label, &format!("{unread:>4}")) };
    let line = format!(
        "{} {count:>7} {unread} {}{fill} {subject}{}",
        paint(Look::Date, &format!("{date:16}")),
        paint(Look::Person, &names),
        if tags.is_empty() { String::new() } else { paint(Look::Aside, &tags) },
    );
    out.extend_from_slice(line.trim_end_matches(' ').as_bytes());
    out.extend_from_slice(end.bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use pneu::Origin;
    use render::testing::sample;

    fn line(terminal: Terminal) -> String {
        let messages = [Origin::Found, Origin::Related].map(|origin| ThreadMessage::new(sample(), origin));
        let summary = ThreadSummary::new(&messages);
        let mut out = Vec::new();
        plain(&summary, (&TimeZone::UTC, End::Line, terminal), &mut out);
        String::from_utf8(out).unwrap().replace('\u{fffd}', "?")
    }

    #[test]
    fn a_conversation_is_a_line_and_nothing_breaks_it() {
        let pipe = Terminal { columns: None, has_color: false };
        let whole =
            "2024-03-05 14:02   [1/2]   2u Ana?[31m                 Gr\u{fc}\u{df}e From: x? (todo work)\n";
        assert_eq!(line(pipe), whole);
        let narrow = Terminal { columns: Some(70), ..pipe };
        assert_eq!(width(line(narrow).trim_end()), 70, "{}", line(narrow));
        for columns in 0..100 {
            let shown = line(Terminal { columns: Some(columns), ..pipe });
            assert!(width(shown.trim_end()) <= columns.max(56), "{columns}: {shown}");
        }
        let colored = line(Terminal { has_color: true, ..pipe });
        assert!(
            colored.contains("\u{1b}[36m2024-03-05 14:02\u{1b}[0m   [1/2] \u{1b}[1m  2u\u{1b}[0m"),
            "{colored:?}"
        );
    }
}
