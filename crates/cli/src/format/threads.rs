//! Conversations, one per line.
//!
//! Takes the summary of a conversation. Returns a line: date of the newest message, messages that match and
//! all, how many are unread, authors, subject, tags. On a terminal columns are cut to its width; in pipes
//! nothing is cut, and a tab separates the columns. Does not know how conversations were found.

use crate::format::fields::minute;
use crate::format::layout::DAY_COLUMNS;
use crate::format::paths::End;
use crate::sanitise::one_line;
use jiff::tz::TimeZone;
use printable::Look;
use render::ThreadSummary;
use terminal::screen::{Terminal, cut, padding, width};

/// How wide the columns are.
#[derive(Clone, Copy, Debug)]
struct Columns {
    date: usize,
    authors: usize,
    /// Whether the number of unread messages and the tags are shown.
    has_rest: bool,
}

/// The columns in pipes, and on terminals that have room for a subject beside them.
const WIDE: Columns = Columns { date: 16, authors: 24, has_rest: true };
/// Fewest columns of a terminal for each choice of columns.
const BY_WIDTH: [(usize, Columns); 4] = [
    (72, WIDE),
    (52, Columns { date: DAY_COLUMNS, authors: 14, has_rest: true }),
    (34, Columns { date: DAY_COLUMNS, authors: 8, has_rest: false }),
    (0, Columns { date: 0, authors: 0, has_rest: false }),
];
/// Columns of the subject, if tags follow.
const SUBJECT_COLUMNS_MIN: usize = 12;

/// Appends a conversation as a plain line.
pub(crate) fn plain(
    thread: &ThreadSummary,
    (zone, end, terminal): (&TimeZone, End, Terminal),
    out: &mut Vec<u8>,
) {
    let line = match terminal.columns {
        None => separated(thread, zone, terminal),
        Some(all) => fitted(thread, zone, (terminal, all)),
    };
    out.extend_from_slice(line.trim_end_matches(' ').as_bytes());
    out.extend_from_slice(end.bytes());
}

/// Returns all columns, with a tab after each but the last. No value contains a tab, and authors and subjects
/// have any length.
fn separated(thread: &ThreadSummary, zone: &TimeZone, terminal: Terminal) -> String {
    let names = thread.author_names();
    let names = one_line(&names);
    format!(
        "{}\t{:>7}\t{}\t{}{}\t{}\t{}",
        terminal.paint(Look::Date, &format!("{:16}", date(thread, zone))),
        counts(thread),
        unread(thread, terminal),
        terminal.paint(Look::Person, &names),
        padding(&names, WIDE.authors),
        one_line(&thread.subject),
        painted_if_any(terminal, &tags(thread)),
    )
}

/// Returns the columns that fit into the width of a terminal.
fn fitted(thread: &ThreadSummary, zone: &TimeZone, (terminal, all): (Terminal, usize)) -> String {
    let columns = BY_WIDTH.iter().find(|(least, _)| all >= *least).map_or(WIDE, |(_, columns)| *columns);
    let mut line = String::new();
    let mut used = 0;
    let mut put = |text: &str, width: usize| {
        line.push_str(text);
        used += width;
    };
    if columns.date > 0 {
        let date = date(thread, zone);
        let date = format!("{:1$} ", date.get(..columns.date).unwrap_or(&date), columns.date);
        put(&terminal.paint(Look::Date, &date), columns.date + 1);
    }
    let counts = format!("{:>7} ", counts(thread));
    put(&cut(&counts, all), width(&counts).min(all));
    if columns.has_rest {
        put(&format!("{} ", unread(thread, terminal)), width(&unread(thread, PLAIN)) + 1);
    }
    if columns.authors > 0 {
        let names = thread.author_names();
        let names = one_line(&names);
        let names = cut(&names, columns.authors);
        let fill = padding(&names, columns.authors);
        put(&format!("{}{fill} ", terminal.paint(Look::Person, &names)), columns.authors + 1);
    }
    let room = all.saturating_sub(used);
    let tags = if columns.has_rest { tags(thread) } else { String::new() };
    let tag_room = if tags.is_empty() { 0 } else { width(&tags) + 1 };
    let subject = one_line(&thread.subject);
    let subject = cut(&subject, room.saturating_sub(tag_room).max(SUBJECT_COLUMNS_MIN).min(room));
    let tags = cut(&tags, room.saturating_sub(width(&subject) + 1));
    format!("{line}{subject} {}", painted_if_any(terminal, &tags))
}

/// A terminal without abilities.
const PLAIN: Terminal = Terminal { columns: None, has_color: false };

fn date(thread: &ThreadSummary, zone: &TimeZone) -> String {
    thread.date_unix.map(|seconds| minute(seconds, zone)).unwrap_or_default()
}

fn counts(thread: &ThreadSummary) -> String {
    format!("[{}/{}]", thread.found, thread.messages)
}

fn unread(thread: &ThreadSummary, terminal: Terminal) -> String {
    match thread.unread {
        0 => " ".repeat(4),
        count => terminal.paint(Look::Label, &format!("{:>4}", format!("{count}u"))).into_owned(),
    }
}

fn tags(thread: &ThreadSummary) -> String {
    let tags = thread.tags.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    if tags.is_empty() { tags } else { format!("({})", one_line(&tags)) }
}

fn painted_if_any(terminal: Terminal, tags: &str) -> String {
    if tags.is_empty() { String::new() } else { terminal.paint(Look::Aside, tags).into_owned() }
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
        let narrow = Terminal { columns: Some(72), ..pipe };
        assert_eq!(width(line(narrow).trim_end()), 72, "{}", line(narrow));
        for columns in 1..100 {
            let shown = line(Terminal { columns: Some(columns), ..pipe });
            assert!(width(shown.trim_end()) <= columns, "{columns}: {shown}");
        }
        let shown = |columns| line(Terminal { columns: Some(columns), ..pipe });
        assert_eq!(shown(60), "2024-03-05   [1/2]   2u Ana?[31m       Grüße From:… (todo w…\n");
        assert_eq!(shown(40), "2024-03-05   [1/2] Ana?[31m Grüße From:…\n");
        assert_eq!(shown(20), "  [1/2] Grüße From:…\n");
        let colored = line(Terminal { has_color: true, ..pipe });
        assert!(
            colored.contains("\u{1b}[36m2024-03-05 14:02\u{1b}[0m\t  [1/2]\t\u{1b}[1m  2u\u{1b}[0m"),
            "{colored:?}"
        );
    }
}
