//! Decides which parts of a message are meant.
//!
//! Input: numbers, patterns and types, and a list of parts. Output: the parts that any of them names, in the
//! order of the message. Reads nothing.

use mail::{PartInfo, PartRole};
use std::ops::RangeInclusive;

/// Most ranges in one list of numbers.
const RANGE_COUNT_MAX: usize = 1_000;

/// Which parts are meant: those that any field names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Numbers of parts.
    pub numbers: Vec<NumberList>,
    /// Patterns of names, with `*` and `?`. Case is ignored.
    pub names: Vec<String>,
    /// Patterns of MIME types.
    pub types: Vec<String>,
    /// Which parts are meant besides.
    pub besides: Besides,
}

/// Parts that are meant whatever their names and types are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Besides {
    /// None.
    #[default]
    Nothing,
    /// All attachments, including pictures that belong to a text.
    Attachments,
    /// All parts.
    All,
}

/// Numbers of parts, as in `2,5-7`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberList(Vec<RangeInclusive<usize>>);

impl std::str::FromStr for NumberList {
    type Err = String;

    fn from_str(text: &str) -> Result<NumberList, String> {
        let explained = || "write numbers of parts, from 1: 2, 2,4 or 3-6".to_owned();
        let number = |text: &str| text.parse().ok().filter(|number| *number > 0).ok_or_else(explained);
        let range = |text: &str| {
            let (first, last) = text.split_once('-').unwrap_or((text, text));
            let (first, last) = (number(first)?, number(last)?);
            if first > last { Err(explained()) } else { Ok(first..=last) }
        };
        let ranges: Vec<RangeInclusive<usize>> =
            text.split(',').take(RANGE_COUNT_MAX + 1).map(range).collect::<Result<_, String>>()?;
        if ranges.len() > RANGE_COUNT_MAX {
            return Err(format!("more than {RANGE_COUNT_MAX} numbers or ranges"));
        }
        Ok(NumberList(ranges))
    }
}

impl Choice {
    /// Returns whether nothing is named.
    pub fn is_empty(&self) -> bool {
        *self == Choice::default()
    }

    /// Returns the parts that are meant.
    pub fn of<'p>(&self, parts: &'p [PartInfo]) -> Vec<&'p PartInfo> {
        parts.iter().filter(|part| self.means(part)).collect()
    }

    /// Returns the first number of the choice that no part has.
    pub fn missing(&self, parts: &[PartInfo]) -> Option<usize> {
        let ranges = self.numbers.iter().flat_map(|NumberList(ranges)| ranges);
        ranges
            .map(|range| *range.end())
            .find(|last| *last > parts.len())
            .map(|last| last.max(parts.len() + 1))
    }

    fn means(&self, part: &PartInfo) -> bool {
        let is_besides = match self.besides {
            Besides::Nothing => false,
            Besides::Attachments => part.role != PartRole::Content,
            Besides::All => true,
        };
        let has_number =
            |NumberList(ranges): &NumberList| ranges.iter().any(|range| range.contains(&part.number));
        is_besides
            || self.numbers.iter().any(has_number)
            || self.names.iter().any(|pattern| !part.name.is_empty() && matches(pattern, &part.name))
            || self.types.iter().any(|pattern| matches(pattern, &part.mime))
    }
}

/// Returns whether a pattern means the whole of a text. `*` stands for any characters, `?` for one. Case is
/// ignored. The time grows with the product of both lengths.
fn matches(pattern: &str, text: &str) -> bool {
    let lower = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<Vec<char>>();
    let (pattern, text) = (lower(pattern), lower(text));
    let (mut at, mut place) = (0, 0);
    // Where to go on if the text does not fit: after the last star, which then takes one character more.
    let mut last_star: Option<(usize, usize)> = None;
    while place < text.len() {
        match pattern.get(at) {
            Some('*') => {
                last_star = Some((at + 1, place));
                at += 1;
            }
            Some(wanted) if *wanted == '?' || text.get(place) == Some(wanted) => {
                at += 1;
                place += 1;
            }
            _ => match last_star {
                Some((after_star, taken)) => {
                    last_star = Some((after_star, taken + 1));
                    (at, place) = (after_star, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(at).all(|character| *character == '*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::testing::part;

    fn parts() -> Vec<PartInfo> {
        vec![
            part(1, "text/plain", "", PartRole::Content),
            part(2, "image/png", "logo.PNG", PartRole::Embedded),
            part(3, "application/pdf", "Report März.pdf", PartRole::Attached),
            part(4, "application/pdf", "", PartRole::Attached),
        ]
    }

    fn chosen(choice: &Choice) -> Vec<usize> {
        choice.of(&parts()).iter().map(|part| part.number).collect()
    }

    #[test]
    fn parts_are_meant_by_number_name_type_and_kind() {
        let numbers = |list: &str| Choice { numbers: vec![list.parse().unwrap()], ..Choice::default() };
        let names = |name: &str| Choice { names: vec![name.into()], ..Choice::default() };
        let types = |mime: &str| Choice { types: vec![mime.into()], ..Choice::default() };
        let besides = |besides| Choice { besides, ..Choice::default() };
        for (choice, expected) in [
            (Choice::default(), vec![]),
            (numbers("2"), vec![2]),
            (numbers("4,1-2"), vec![1, 2, 4]),
            (names("*.png"), vec![2]),
            (names("report m?rz*"), vec![3]),
            (names("*"), vec![2, 3]),
            (names("report"), vec![]),
            (types("application/*"), vec![3, 4]),
            (types("TEXT/plain"), vec![1]),
            (besides(Besides::Attachments), vec![2, 3, 4]),
            (besides(Besides::All), vec![1, 2, 3, 4]),
            (Choice { names: vec!["logo*".into()], ..numbers("1") }, vec![1, 2]),
        ] {
            assert_eq!(chosen(&choice), expected, "{choice:?}");
        }
    }

    #[test]
    fn a_number_that_no_part_has_is_told() {
        let missing = |list: &str| {
            Choice { numbers: vec![list.parse().unwrap()], ..Choice::default() }.missing(&parts())
        };
        assert_eq!((missing("1-4"), missing("4,5"), missing("2-9")), (None, Some(5), Some(9)));
    }

    #[test]
    fn lists_of_numbers_are_read_or_explained() {
        for wrong in ["", "0", "a", "1,", "3-2", "-1", "1-", "1 2", "99999999999999999999"] {
            assert!(wrong.parse::<NumberList>().is_err(), "{wrong}");
        }
        let many = vec!["1"; RANGE_COUNT_MAX + 1].join(",");
        assert!(many.parse::<NumberList>().unwrap_err().contains("1000"), "{many}");
        assert!("1-3,7".parse::<NumberList>().is_ok());
    }

    #[test]
    fn patterns_mean_whole_names() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("*", "", true),
            ("?", "", false),
            ("a*c", "abbc", true),
            ("a*c", "abcb", false),
            ("*a*b", "aab", true),
            ("**x", "x", true),
            ("a?c", "aéc", true),
            ("ab", "abc", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }
}
