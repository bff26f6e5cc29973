//! Statistics as JSON Lines, CSV and a picture.
//!
//! Input: figures of groups. Output: text that is safe to print. Names of groups come from mail. Must not
//! know a terminal.

use crate::csv::CsvLine;
use index::{Dimension, Figures, Group, Replies, Stats};
use printable::json;
use printable::sanitise::one_line;
use serde::Serialize;
use std::fmt::Write as _;

/// Most bars of a picture.
pub const BAR_COUNT_MAX: usize = 1000;
/// Most characters of a name in a picture.
const NAME_LENGTH_MAX: usize = 40;
/// Height of a line of a picture, in its units, which are about a pixel.
const LINE_HEIGHT: usize = 20;
/// Width of a character of ASCII, and of others, of which some are wide. About; fonts differ.
const CHARACTER_WIDTH: usize = 8;
const WIDE_CHARACTER_WIDTH: usize = 14;
/// Width of the longest bar.
const BAR_WIDTH: u64 = 480;
/// Room for the number after a bar.
const NUMBER_WIDTH: usize = 100;

/// A line of JSON.
#[derive(Serialize)]
struct Line<'a> {
    version: u32,
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
    messages: u64,
    bytes: u64,
    threads: u64,
    own_replies: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    own_reply_seconds: Option<u64>,
    other_replies: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    other_reply_seconds: Option<u64>,
}

/// Returns the name of a dimension.
pub fn dimension_name(by: Dimension) -> &'static str {
    match by {
        Dimension::Year => "year",
        Dimension::Month => "month",
        Dimension::Hour => "hour",
        Dimension::Weekday => "weekday",
        Dimension::Folder => "folder",
        Dimension::Sender => "sender",
        Dimension::List => "list",
        Dimension::Type => "type",
        Dimension::Language => "language",
    }
}

/// Returns statistics as JSON Lines: a line for each group, then one for all messages.
pub fn json_lines(stats: &Stats, by: Dimension) -> Vec<u8> {
    let mut out = Vec::new();
    let mut put = |kind, by, key, figures: Figures| {
        let Replies { count: own_replies, median_seconds: own_reply_seconds } = figures.own_replies;
        let Replies { count: other_replies, median_seconds: other_reply_seconds } = figures.other_replies;
        let line = Line {
            version: 1,
            kind,
            by,
            key,
            messages: figures.message_count,
            bytes: figures.size_bytes,
            threads: figures.thread_count,
            own_replies,
            own_reply_seconds,
            other_replies,
            other_reply_seconds,
        };
        json::put(&line, &mut out);
        out.push(b'\n');
    };
    for group in &stats.groups {
        put("group", Some(dimension_name(by)), group.key.as_deref(), group.figures);
    }
    put("total", None, None, stats.total);
    out
}

/// Returns statistics as CSV: a line of names, then one for each group.
pub fn csv_lines(stats: &Stats, by: Dimension) -> Vec<u8> {
    let names = [
        dimension_name(by),
        "messages",
        "bytes",
        "threads",
        "own_replies",
        "own_reply_seconds",
        "other_replies",
        "other_reply_seconds",
    ];
    let mut out = CsvLine::of_names(&names).finish();
    for Group { key, figures } in &stats.groups {
        let line = CsvLine::default()
            .text(key.as_deref().unwrap_or_default())
            .plain(Some(figures.message_count))
            .plain(Some(figures.size_bytes))
            .plain(Some(figures.thread_count))
            .plain(Some(figures.own_replies.count))
            .plain(figures.own_replies.median_seconds)
            .plain(Some(figures.other_replies.count))
            .plain(figures.other_replies.median_seconds);
        out.extend(line.finish());
    }
    out
}

/// Returns the numbers of messages as a picture in SVG, a bar for each group, without scripts and links. Only
/// the first [`BAR_COUNT_MAX`] groups are drawn.
pub fn svg(stats: &Stats, by: Dimension) -> String {
    let groups = &stats.groups[..stats.groups.len().min(BAR_COUNT_MAX)];
    let names: Vec<String> = groups.iter().map(|group| shortened(shown_key(group))).collect();
    let name_width = names.iter().map(|name| drawn_width(name)).max().unwrap_or(0) + 8;
    let most = groups.iter().map(|group| group.figures.message_count).max().unwrap_or(0).max(1);
    let title = format!("{} messages by {}", stats.total.message_count, dimension_name(by));
    let bar_width = usize::try_from(BAR_WIDTH).unwrap_or(0);
    let width = (name_width + bar_width + NUMBER_WIDTH).max(title.len() * CHARACTER_WIDTH + 16);
    let height = (groups.len() + 2) * LINE_HEIGHT;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <title>{title}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"8\" y=\"20\" font-weight=\"bold\" fill=\"#222222\">{title}</text>\n"
    );
    for (place, (group, name)) in groups.iter().zip(&names).enumerate() {
        let count = group.figures.message_count;
        let top = (place + 1) * LINE_HEIGHT + 8;
        // Whatever is there is seen.
        let length = (u128::from(count) * u128::from(BAR_WIDTH) / u128::from(most)).max(1);
        let after = name_width as u128 + length + 6;
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#222222\">{}</text>\
             <rect x=\"{name_width}\" y=\"{top}\" width=\"{length}\" height=\"{}\" fill=\"#3b75af\"/>\
             <text x=\"{after}\" y=\"{}\" fill=\"#666666\">{count}</text>",
            name_width - 6,
            top + 13,
            escaped(name),
            LINE_HEIGHT - 4,
            top + 13,
        );
    }
    out.push_str("</svg>\n");
    out
}

/// Returns the name of a group as people read it.
pub fn shown_key(group: &Group) -> &str {
    group.key.as_deref().unwrap_or("no date")
}

fn drawn_width(text: &str) -> usize {
    text.chars().map(|c| if c.is_ascii() { CHARACTER_WIDTH } else { WIDE_CHARACTER_WIDTH }).sum()
}

fn shortened(name: &str) -> String {
    let name = one_line(name);
    if name.chars().count() <= NAME_LENGTH_MAX {
        return name.into_owned();
    }
    name.chars().take(NAME_LENGTH_MAX - 1).chain(['…']).collect()
}

/// Returns text as content of XML. What XML cannot have is replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in one_line(text).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Stats {
        let replies = Replies { count: 2, median_seconds: Some(60) };
        let figures = |count| Figures {
            message_count: count,
            size_bytes: count * 10,
            thread_count: 1,
            own_replies: replies,
            ..Figures::default()
        };
        let group = |key: Option<&str>, count| Group { key: key.map(str::to_owned), figures: figures(count) };
        Stats {
            total: figures(5),
            groups: vec![
                group(Some("=x\"<script>alert(1)</script>&'\u{1b}\u{ffff}"), 4),
                group(Some(&"日".repeat(90)), 1),
                group(None, 1),
            ],
        }
    }

    #[test]
    fn groups_are_lines_of_json_and_csv() {
        let json = String::from_utf8(json_lines(&sample(), Dimension::Sender)).unwrap();
        let lines: Vec<serde_json::Value> =
            json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), 4);
        assert_eq!((lines[0]["by"].as_str(), lines[0]["messages"].as_u64()), (Some("sender"), Some(4)));
        assert_eq!(lines[0]["key"].as_str().unwrap(), sample().groups[0].key.as_deref().unwrap());
        assert!(lines[2].get("key").is_none() && lines[2].get("other_reply_seconds").is_none());
        assert_eq!(
            (lines[3]["type"].as_str(), lines[3]["own_reply_seconds"].as_u64()),
            (Some("total"), Some(60))
        );
        let csv = String::from_utf8(csv_lines(&sample(), Dimension::Sender)).unwrap();
        assert!(csv.starts_with("sender,messages,bytes,threads,own_replies,own_reply_seconds,"), "{csv}");
        assert!(
            csv.contains("\r\n\"'=x\"\"<script>alert(1)</script>&'\u{fffd}\u{ffff}\",4,40,1,2,60,0,\r\n"),
            "{csv}"
        );
    }

    #[test]
    fn a_picture_has_no_markup_of_others() {
        let picture = svg(&sample(), Dimension::Sender);
        assert!(
            picture.contains("&lt;script&gt;alert(1)&lt;/script&gt;&amp;&#39;\u{fffd}\u{fffd}<"),
            "{picture}"
        );
        assert_eq!(picture.matches("<script").count(), 0);
        assert_eq!(picture.matches("<rect").count(), 4);
        assert!(picture.contains(&format!(">{}…<", "日".repeat(39))), "{picture}");
        let many = Stats { groups: vec![Group::default(); BAR_COUNT_MAX + 1], ..Stats::default() };
        assert_eq!(svg(&many, Dimension::Year).matches("no date").count(), BAR_COUNT_MAX);
        assert!(svg(&Stats::default(), Dimension::Year).ends_with("</svg>\n"));
    }
}
