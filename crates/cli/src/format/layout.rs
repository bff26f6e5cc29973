//! How wide the columns of a plain line are on a terminal.
//!
//! Takes the parts of a line and the terminal's width. Returns those that fit, with their widths: first texts
//! and dates are shortened, then the least important fields are left out. Does not know messages.

use crate::format::fields::{Field, Piece, Shrink};
use terminal::screen::width;

/// Fewest columns of the subject, and of the last field, which takes what the others leave.
const MAIN_COLUMNS_MIN: usize = 16;

/// The letter of the subject.
const SUBJECT: char = 's';

/// Fewest columns of any other text.
const TEXT_COLUMNS_MIN: usize = 8;

/// Columns between the places of tabs on terminals.
const TAB_COLUMNS: usize = 8;

/// Columns of a date without its time.
pub(crate) const DAY_COLUMNS: usize = 10;

/// The fields' letters. The last of these is left out first.
const BY_IMPORTANCE: &str = "sfdtmlgizxvjchrpka";

/// A part of a line, and its width.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    /// The part.
    pub piece: Piece,
    /// Columns that it takes; of the last field, at most this many on a terminal.
    pub columns: usize,
}

/// Returns the parts that fit into so many columns; in pipes, all with the widths that they want.
pub(crate) fn layout(pieces: &[Piece], columns: Option<usize>) -> Vec<Placed> {
    let mut pieces = pieces.to_vec();
    let Some(all) = columns else { return placed(&pieces, usize::MAX, wanted) };
    while sum(&pieces, least) > all && fields(&pieces).count() > 1 {
        leave_out_one(&mut pieces);
    }
    if sum(&pieces, wanted_at_least) <= all {
        return placed(&pieces, all, wanted);
    }
    let spare = all.saturating_sub(sum(&pieces, least));
    let last = fields(&pieces).last().map(|(place, _)| place);
    let missing: usize = fields(&pieces).map(|(place, field)| lacking(field, last == Some(place))).sum();
    placed(&pieces, all, |field, is_last| {
        let least = least(field, is_last);
        match field.shrink {
            Shrink::Text => {
                let lacking = lacking(field, is_last);
                least + (spare * lacking / missing.max(1)).min(lacking)
            }
            Shrink::Day | Shrink::Never => least,
        }
    })
}

/// Gives each field its width, and all that is left to the last.
fn placed(pieces: &[Piece], all: usize, width: impl Fn(&Field, bool) -> usize) -> Vec<Placed> {
    let last = fields(pieces).last().map(|(place, _)| place);
    let mut used: usize = 0;
    let place = |(place, piece): (usize, &Piece)| {
        let columns = match piece {
            Piece::Between(character) => between(*character, used),
            Piece::Field(_) if last == Some(place) => all.saturating_sub(used),
            Piece::Field(field) => width(field, false).min(all.saturating_sub(used)),
        };
        used = used.saturating_add(columns);
        Placed { piece: *piece, columns }
    };
    pieces.iter().enumerate().map(place).collect()
}

fn sum(pieces: &[Piece], width: fn(&Field, bool) -> usize) -> usize {
    let last = fields(pieces).last().map(|(place, _)| place);
    let add = |used, (place, piece): (usize, &Piece)| match piece {
        Piece::Between(character) => used + between(*character, used),
        Piece::Field(field) => used + width(field, last == Some(place)),
    };
    pieces.iter().enumerate().fold(0, add)
}

/// Returns how many columns a character takes. A tab leads to the next place that a terminal has for them.
pub(crate) fn between(character: char, used: usize) -> usize {
    match character {
        '\t' => TAB_COLUMNS - used % TAB_COLUMNS,
        other => width(other.encode_utf8(&mut [0; 4])),
    }
}

fn wanted(field: &Field, _is_last: bool) -> usize {
    field.columns
}

/// Returns how much a field needs so that no other has to shrink for it.
fn wanted_at_least(field: &Field, is_last: bool) -> usize {
    if is_last { field.columns.min(MAIN_COLUMNS_MIN) } else { field.columns }
}

/// Returns how many columns more a text can use.
fn lacking(field: &Field, is_last: bool) -> usize {
    if field.shrink == Shrink::Text { field.columns.saturating_sub(least(field, is_last)) } else { 0 }
}

fn least(field: &Field, is_last: bool) -> usize {
    match field.shrink {
        Shrink::Text if is_last || field.letter == SUBJECT => field.columns.min(MAIN_COLUMNS_MIN),
        Shrink::Text => field.columns.min(TEXT_COLUMNS_MIN),
        Shrink::Day => DAY_COLUMNS,
        Shrink::Never => field.columns,
    }
}

/// Leaves out the least important field, with the characters that separate it from the field before it, or
/// else from the next.
fn leave_out_one(pieces: &mut Vec<Piece>) {
    let rank = |(_, field): &(usize, &Field)| BY_IMPORTANCE.find(field.letter);
    let Some(place) = fields(pieces).max_by_key(rank).map(|(place, _)| place) else { return };
    let before = fields(pieces).map(|(other, _)| other).take_while(|other| *other < place).last();
    let behind = fields(pieces).map(|(other, _)| other).find(|other| *other > place);
    match (before, behind) {
        (Some(before), _) => drop(pieces.drain(before + 1..=place)),
        (None, Some(behind)) => drop(pieces.drain(place..behind)),
        (None, None) => {}
    }
}

fn fields(pieces: &[Piece]) -> impl Iterator<Item = (usize, &'static Field)> {
    pieces.iter().enumerate().filter_map(|(place, piece)| match piece {
        Piece::Field(field) => Some((place, *field)),
        Piece::Between(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::fields::{FIELDS, parse};

    fn shown(list: &str, columns: usize) -> String {
        let shown = |placed: &Placed| match placed.piece {
            Piece::Between(character) => character.to_string(),
            Piece::Field(field) => format!("{}{}", field.letter, placed.columns),
        };
        layout(&parse(list).unwrap(), Some(columns)).iter().map(shown).collect()
    }

    #[test]
    fn columns_shrink_and_then_the_least_important_go() {
        for (list, columns, expected) in [
            ("d f s", 100, "d16 f24 s58"),
            ("d f s", 80, "d16 f24 s38"),
            ("d f s", 58, "d16 f24 s16"),
            ("d f s", 57, "d10 f16 s29"),
            ("d f s", 40, "d10 f9 s19"),
            ("d f s", 30, "f10 s19"),
            ("d f s", 20, "s20"),
            ("d f s", 1, "s1"),
            ("d f s z", 80, "d10 f21 s36 z10"),
            ("d f s z", 40, "d10 f9 s19"),
            ("f d", 40, "f24 d15"),
            ("d g x|f\ts p", 40, "d10|f8\ts16"),
            ("d\tf\ts", 80, "d16\tf24\ts24"),
            ("d\u{3000}s", 80, "d16\u{3000}s62"),
        ] {
            assert_eq!(shown(list, columns), expected, "{list} {columns}");
        }
    }

    #[test]
    fn nothing_is_wider_than_the_terminal() {
        let letters: String = FIELDS.iter().map(|field| format!("{} ", field.letter)).collect();
        for list in [letters.trim(), "d f s", "z g", "s d", "k|z|s", "d\tf\ts", "f d", "z\u{3000}\ts"] {
            for columns in 1..400 {
                let all: usize = layout(&parse(list).unwrap(), Some(columns)).iter().map(|p| p.columns).sum();
                assert!(all <= columns, "{list}: {all} of {columns}");
            }
        }
        assert!(FIELDS.iter().all(|field| BY_IMPORTANCE.contains(field.letter)));
    }
}
