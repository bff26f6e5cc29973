//! Statistics as lines with bars, for people.
//!
//! Takes figures, columns and whether the terminal shows blocks. Returns lines. Names of groups come from
//! mail and are sanitised here.

use crate::amount::people;
use crate::sanitise::one_line;
use pneu::{Dimension, Figures, Replies, Stats};
use render::stats::{dimension_name, shown_key};
use terminal::screen::{cut, padding, width};

/// Columns of lines in a pipe or file.
const COLUMNS_DEFAULT: usize = 80;
/// Most columns of a name.
const NAME_COLUMNS_MAX: usize = 32;
/// Fewest columns of a name, and of the longest bar.
const NAME_COLUMNS_MIN: usize = 8;
const BAR_COLUMNS_MIN: usize = 4;
/// Parts of a block, from one eighth to seven eighths.
const PARTS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// What bars are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bars {
    /// Unicode's blocks, in steps of an eighth.
    Blocks,
    /// `#`, for terminals that show ASCII only.
    Ascii,
}

/// Returns the lines: a heading, the groups, and all messages.
pub(crate) fn lines(stats: &Stats, by: Dimension, columns: Option<usize>, bars: Bars) -> Vec<String> {
    let mut table = vec![heading(by)];
    table.extend(stats.groups.iter().map(|group| row(&one_line(shown_key(group)), group.figures)));
    table.push(row("total", stats.total));
    // Columns without any value are left out.
    let is_used = |place: usize| table.iter().skip(1).any(|row| !row[place].is_empty());
    let used: Vec<usize> = (1..table[0].len()).filter(|place| is_used(*place)).collect();
    let widest = |place: usize| table.iter().map(|row| width(&row[place])).max().unwrap_or(0);
    let values: usize = used.iter().map(|place| widest(*place) + 2).sum();
    let columns = columns.unwrap_or(COLUMNS_DEFAULT);
    let room = columns.saturating_sub(values + 2 + BAR_COLUMNS_MIN).clamp(NAME_COLUMNS_MIN, NAME_COLUMNS_MAX);
    let name_columns = widest(0).min(room);
    let bar_columns = columns.saturating_sub(name_columns + values + 2).min(columns / 2);
    let most = stats.groups.iter().map(|group| group.figures.message_count).max().unwrap_or(0);
    let bar = |place: usize| match place.checked_sub(1).and_then(|place| stats.groups.get(place)) {
        Some(group) => bar(group.figures.message_count, most, bar_columns, bars),
        None => String::new(),
    };
    let line = |(place, row): (usize, &Vec<String>)| {
        let name = cut(&row[0], name_columns);
        let mut line = format!("{name}{}", padding(&name, name_columns));
        for place in &used {
            line.push_str(&format!("  {}{}", padding(&row[*place], widest(*place)), row[*place]));
        }
        let line = format!("{line}  {}", bar(place)).trim_end().to_owned();
        cut(&line, columns).into_owned()
    };
    table.iter().enumerate().map(line).collect()
}

fn heading(by: Dimension) -> Vec<String> {
    [dimension_name(by), "messages", "size", "threads", "you replied", "they replied"]
        .map(str::to_owned)
        .into()
}

fn row(name: &str, figures: Figures) -> Vec<String> {
    vec![
        name.to_owned(),
        figures.message_count.to_string(),
        people(figures.size_bytes),
        figures.thread_count.to_string(),
        reply(figures.own_replies),
        reply(figures.other_replies),
    ]
}

/// Returns the median time of replies, in the largest unit of which there are two.
fn reply(replies: Replies) -> String {
    let Some(seconds) = replies.median_seconds else { return String::new() };
    let units = [(86_400, "d"), (3600, "h"), (60, "min")];
    let unit = units.iter().find(|(size, _)| seconds >= 2 * size);
    unit.map_or_else(|| format!("{seconds} s"), |(size, name)| format!("{} {name}", seconds / size))
}

/// Returns a bar for `count` of `most`. Whatever is there has a bar.
fn bar(count: u64, most: u64, columns: usize, bars: Bars) -> String {
    let steps = match bars {
        Bars::Blocks => 8,
        Bars::Ascii => 1,
    };
    let whole = columns as u128 * steps;
    let length = (u128::from(count) * whole).div_ceil(u128::from(most.max(1)));
    let length = usize::try_from(length).unwrap_or(0);
    match bars {
        Bars::Ascii => "#".repeat(length),
        Bars::Blocks => {
            let part = (length % 8).checked_sub(1).and_then(|part| PARTS.get(part));
            "█".repeat(length / 8).chars().chain(part.copied()).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pneu::Group;

    #[test]
    fn bars_are_as_long_as_their_share() {
        for (count, most, columns, blocks, ascii) in [
            (8, 8, 4, "████", "####"),
            (4, 8, 4, "██", "##"),
            (1, 8, 1, "▏", "#"),
            (3, 16, 2, "▍", "#"),
            (0, 8, 4, "", ""),
            (0, 0, 4, "", ""),
            (u64::MAX, u64::MAX, 3, "███", "###"),
            (5, 8, 0, "", ""),
        ] {
            assert_eq!(bar(count, most, columns, Bars::Blocks), blocks, "{count} of {most}");
            assert_eq!(bar(count, most, columns, Bars::Ascii), ascii, "{count} of {most}");
        }
    }

    #[test]
    fn lines_fit_and_have_no_columns_without_values() {
        let figures =
            |count| Figures { message_count: count, size_bytes: 2048, thread_count: 1, ..Figures::default() };
        let group = |key: &str, count| Group { key: Some(key.to_owned()), figures: figures(count) };
        let mut stats = Stats { total: figures(9), groups: vec![group("a\u{1b}[1m\nb", 6), group("c", 3)] };
        let shown = lines(&stats, Dimension::List, Some(40), Bars::Ascii);
        let expected = [
            "list     messages     size  threads",
            "a\u{fffd}[1m b         6  2.0 KiB        1  ###",
            "c               3  2.0 KiB        1  ##",
            "total           9  2.0 KiB        1",
        ];
        assert_eq!(shown, expected);
        stats.groups[0].figures.own_replies = Replies { count: 1, median_seconds: Some(7200) };
        stats.groups.push(group(&"日".repeat(50), 1));
        for columns in 0..120 {
            for line in lines(&stats, Dimension::List, Some(columns), Bars::Blocks) {
                assert!(width(&line) <= columns, "{columns}: {line}");
            }
        }
        assert!(lines(&stats, Dimension::List, None, Bars::Blocks)[0].contains("you replied"));
        for (seconds, expected) in
            [(119, "119 s"), (120, "2 min"), (7199, "119 min"), (7200, "2 h"), (200_000, "2 d")]
        {
            assert_eq!(reply(Replies { count: 1, median_seconds: Some(seconds) }), expected);
        }
    }
}
