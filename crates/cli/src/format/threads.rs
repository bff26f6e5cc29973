//! Conversations, one per line.
//!
//! Takes the summary of a conversation. Returns a line: date of the newest message, messages that match and
//! all, how many are unread, authors, subject, tags. On a terminal columns are cut to its width; in pipes
//! nothing is cut, and a tab separates the columns. Does not know how conversations were found.

use crate::format::fields::minute;
use crate::format::paths::End;
use crate::sanitise::one_line;
use jiff::tz::TimeZone;
use printable::Look;
use render::ThreadSummary;
use std::borrow::Cow;
use terminal::screen::{Terminal, cut, padding, width};

/// Columns of the authors.
const AUTHOR_COLUMNS: usize = 24;
/// Columns of the subject, if tags follow.
const SUBJECT_COLUMNS_MIN: usize = 12;

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
    let tags = if tags.is_empty() { tags } else { format!("({})", one_line(&tags)) };
    let names = if terminal.is_terminal() { cut(&names, AUTHOR_COLUMNS) } else { names };
    // No value contains a tab, and authors and subjects have any length.
    let between = if terminal.is_terminal() { ' ' } else { '\t' };
    let begin = format!("{date:16} {count:>7} {unread:>4} ");
    let fill = padding(&names, AUTHOR_COLUMNS);
    let (subject, tags) = match terminal.columns {
        None => (subject, tags),
        Some(all) => {
            let room = all.saturating_sub(width(&begin) + width(&names) + fill.len() + 1);
            let tag_room = if tags.is_empty() { 0 } else { width(&tags) + 1 };
            let subject = cut(&subject, room.saturating_sub(tag_room).max(SUBJECT_COLUMNS_MIN).min(room));
            let tags = cut(&tags, room.saturating_sub(width(&subject) + 1));
            (Cow::Owned(subject.into_owned()), tags.into_owned())
        }
    };
    let paint = |look, text: &str| terminal.paint(look, text).into_owned();
    let unread =
        if unread.is_empty() { "    ".to_owned() } else { paint(Look::Label, &format!("{unread:>4}")) };
    let line = format!(
        "{}{between}{count:>7}{between}{unread}{between}{}{fill}{between}{subject}{between}{}",
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
    use render::ThreadMessage;
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
            "2024-03-05 14:02\t  [1/2]\t  2u\tAna?[31m                \tGrüße From: x?\t(todo work)\n";
        assert_eq!(line(pipe), whole);
        let wide = Terminal { columns: Some(100), ..pipe };
        assert_eq!(line(wide), whole.replace('\t', " "));
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
