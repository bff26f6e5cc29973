//! Plain lines: one message or one file per line.
//!
//! Takes fields and messages. Returns lines with aligned columns, which fit into the width of a terminal; in
//! pipes nothing is cut. Nothing in a message can break a line or control the terminal. Does not know which
//! fields there are.

use crate::format::FileChoice;
use crate::format::fields::{Field, INDENT_DEPTH_MAX, Piece, Row, Shrink, Side};
use crate::format::layout::{DAY_COLUMNS, Placed, between, layout};
use crate::format::paths::End;
use crate::sanitise::one_line;
use jiff::tz::TimeZone;
use pneu::Origin;
use printable::Look;
use render::{Listed, Need, Printer};
use std::borrow::Cow;
use terminal::screen::{Terminal, cut, width};

/// Prints lines.
#[derive(Clone, Debug)]
pub(crate) struct Plain {
    /// The parts of a line, with their widths.
    pieces: Vec<Placed>,
    /// The byte after each line.
    end: End,
    /// Whether each file has a line.
    places: FileChoice,
    /// The time zone of dates.
    zone: TimeZone,
    /// The abilities of the output.
    terminal: Terminal,
    /// Levels of replies that are indented. The indent takes at most half of the subject's column.
    indent_depth_max: usize,
}

impl Printer for Plain {
    fn need(&self) -> Need {
        let need = |placed: &Placed| match placed.piece {
            Piece::Between(_) => Need::NOTHING,
            Piece::Field(field) => field.need,
        };
        let each_file = if self.places == FileChoice::All { Need::FILES } else { Need::NOTHING };
        self.pieces.iter().map(need).fold(each_file, |all, one| all | one)
    }

    fn print(&self, listed: &Listed, out: &mut Vec<u8>) {
        let message = &listed.message;
        let place = listed.position.as_ref();
        let indent_depth_max = self.indent_depth_max;
        let row = Row { message, files: &message.files, zone: &self.zone, place, indent_depth_max };
        match self.places {
            FileChoice::First => self.row(&row, out),
            FileChoice::All => {
                row.files
                    .iter()
                    .for_each(|file| self.row(&Row { files: std::slice::from_ref(file), ..row }, out));
            }
        }
    }
}

impl Plain {
    /// Chooses the columns for the terminal.
    pub(crate) fn new(
        pieces: &[Piece],
        (end, places): (End, FileChoice),
        zone: TimeZone,
        terminal: Terminal,
    ) -> Plain {
        let pieces = layout(pieces, terminal.columns);
        let subject =
            pieces.iter().find(|placed| matches!(placed.piece, Piece::Field(field) if field.letter == 's'));
        let levels = subject.map_or(0, |placed| placed.columns / 4);
        let indent_depth_max =
            if terminal.is_terminal() { levels.min(INDENT_DEPTH_MAX) } else { INDENT_DEPTH_MAX };
        Plain { pieces, end, places, zone, terminal, indent_depth_max }
    }

    fn row(&self, row: &Row<'_>, out: &mut Vec<u8>) {
        let start = out.len();
        let last = self.pieces.iter().rposition(|placed| matches!(placed.piece, Piece::Field(_)));
        let mut used: usize = 0;
        for (place, Placed { piece, columns }) in self.pieces.iter().enumerate() {
            match piece {
                Piece::Between(character) => {
                    used = used.saturating_add(between(*character, used));
                    if self.terminal.columns.is_none_or(|all| used <= all) {
                        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                }
                Piece::Field(field) => {
                    used += self.field((field, last == Some(place)), row, *columns, out);
                }
            }
        }
        let line = out.get(start..).unwrap_or_default();
        let spaces = line.iter().rev().take_while(|byte| **byte == b' ').count();
        out.truncate(out.len() - spaces);
        out.extend_from_slice(self.end.bytes());
    }

    /// Appends a field, the last one or not, and returns how many columns it took.
    fn field(
        &self,
        (field, is_last): (&Field, bool),
        row: &Row<'_>,
        columns: usize,
        out: &mut Vec<u8>,
    ) -> usize {
        let value = (field.value)(row);
        let value = one_line(&value);
        let shown = match field.shrink {
            _ if !self.terminal.is_terminal() => Cow::Borrowed(&*value),
            Shrink::Day if columns < field.columns => {
                cut(value.get(..DAY_COLUMNS).unwrap_or(&value), columns)
            }
            _ => cut(&value, columns),
        };
        let taken = width(&shown);
        let fill = if is_last { 0 } else { columns.saturating_sub(taken) };
        let is_related = row.place.is_some_and(|place| place.origin == Origin::Related);
        let look = if is_related { Look::Aside } else { field.look };
        if field.side == Side::Right {
            out.resize(out.len() + fill, b' ');
        }
        out.extend_from_slice(self.terminal.paint(look, &shown).as_bytes());
        if field.side == Side::Left {
            out.resize(out.len() + fill, b' ');
        }
        taken + fill
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::fields::parse;
    use render::testing::sample;

    const PIPE: Terminal = Terminal { columns: None, has_color: false };

    fn plain(fields: &str, terminal: Terminal) -> Plain {
        let pieces = parse(fields).unwrap();
        Plain::new(&pieces, (End::Line, FileChoice::First), TimeZone::UTC, terminal)
    }

    fn shown(fields: &str, terminal: Terminal) -> String {
        let mut out = Vec::new();
        plain(fields, terminal).print(&sample(), &mut out);
        String::from_utf8(out).unwrap().strip_suffix('\n').unwrap().to_owned()
    }

    #[test]
    fn columns_are_aligned_and_nothing_breaks_the_line() {
        assert_eq!(
            shown("d f s", PIPE),
            "2024-03-05 14:02 Ana\u{fffd}[31m                 Grüße From: x\u{fffd}"
        );
        assert_eq!(shown("z|g\tm", PIPE), "     4096|FSua  \t/lists");
        assert_eq!(shown("l", PIPE), "/m/lists/cur/1:2,S");
    }

    #[test]
    fn every_field_has_its_letter() {
        let lines = crate::format::fields::FIELDS.iter().map(|field| {
            let shown = shown(&field.letter.to_string(), PIPE).replace('\u{fffd}', "?");
            format!("{} {:<12}{}\n", field.letter, field.name, shown.trim())
        });
        insta::assert_snapshot!(lines.collect::<String>(), @r#"
        d date        2024-03-05 14:02
        f from        Ana?[31m
        t to          bo@example.org, Cy
        c cc          undisclosed
        h bcc         Dee
        s subject     Grüße From: x?
        i message-id  x"y\@example.org
        m maildir     /lists
        l path        /m/lists/cur/1:2,S
        g flags       FSua
        z size        4096
        v list        tubes.example.org
        j attachment  plan.pdf, ä.txt
        r references  v@example.org w@example.org
        x tag         todo,work
        p priority    normal
        a language    en
        k changed     2024-05-01 12:00
        "#);
    }

    #[test]
    fn terminals_cut_and_color() {
        let narrow = |columns| Terminal { columns: Some(columns), has_color: false };
        assert_eq!(
            shown("d f s", narrow(58)),
            "2024-03-05 14:02 Ana\u{fffd}[31m                 Grüße From: x\u{fffd}"
        );
        assert_eq!(shown("d f s", narrow(40)), "2024-03-05 Ana\u{fffd}[31m  Grüße From: x\u{fffd}");
        assert_eq!(shown("d f s", narrow(20)), "Grüße From: x\u{fffd}");
        assert_eq!(shown("d f s", narrow(8)), "Grüße F…");
        for columns in 1..200 {
            for fields in
                ["d f s", "d g f s z", "s f d", "i|l|k", "||z||s", "z", "d\tf\ts", "z\u{3000}z\ts\t\t"]
            {
                let line = shown(fields, narrow(columns));
                let with_tabs = line.chars().fold(0, |used, character| match character {
                    '\t' => (used / 8 + 1) * 8,
                    _ => used + width(character.encode_utf8(&mut [0; 4])),
                });
                assert!(with_tabs <= columns, "{columns} {fields}: {line}");
            }
        }
        let colored = Terminal { columns: None, has_color: true };
        assert!(shown("d s", colored).starts_with("\u{1b}[36m2024-03-05 14:02\u{1b}[0m Gr"));
    }

    #[test]
    fn replies_are_indented_by_half_of_the_column_at_most() {
        let mut reply = sample();
        reply.position = Some(render::Position { thread: String::new(), depth: 30, origin: Origin::Found });
        let shown = |columns| {
            let mut out = Vec::new();
            plain("s", Terminal { columns, has_color: false }).print(&reply, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(shown(None).find('└'), Some(40));
        assert_eq!(shown(Some(80)).find('└'), Some(40));
        assert_eq!(shown(Some(24)), format!("{:12}└ Grüße Fro…\n", ""));
    }

    #[test]
    fn each_file_has_its_line_and_its_flags() {
        let mut out = Vec::new();
        Plain { places: FileChoice::All, ..plain("m g", PIPE) }.print(&sample(), &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "/lists           Sa\n/copies          Fua\n");
    }

    #[test]
    fn only_what_is_needed_is_read() {
        let need = |fields| plain(fields, PIPE).need();
        assert_eq!(need("d"), Need::NOTHING);
        assert_eq!(need("d f s z"), Need::LINE);
        assert_eq!(need("d g"), Need::LINE_AND_FILES);
        assert_eq!(need("l i"), Need::ALL);
        assert_eq!(Plain { places: FileChoice::All, ..plain("d", PIPE) }.need(), Need::FILES);
    }
}
