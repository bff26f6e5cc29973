//! The order of Email/query (RFC 8621, section 4.4.2).
//!
//! Input: comparators. Output: what is asked of the library. It sorts by keys, one after the other; before
//! that come keywords, each of which divides the results in two. A keyword after a key is unsupported.
//! `receivedAt` and `sentAt` are one date to the index.

use jmap::{Comparator, MethodError, MethodErrorKind};
use pneu::{Direction, SortKey};

/// The properties by which emails can be sorted.
pub(crate) const SORT_PROPERTIES: [&str; 9] = [
    "receivedAt",
    "sentAt",
    "size",
    "from",
    "to",
    "subject",
    "hasKeyword",
    "allInThreadHaveKeyword",
    "someInThreadHaveKeyword",
];

/// An order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sort {
    /// What divides the results before they are sorted.
    pub(super) keywords: Vec<KeywordOrder>,
    pub(super) key: SortKey,
    pub(super) direction: Direction,
    /// All keys, the first one too, if that and the date in the same direction are not enough.
    pub(super) several: Vec<(SortKey, Direction)>,
}

/// Which results come first by a keyword.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeywordOrder {
    pub(super) keyword: String,
    pub(super) whose: Whose,
    /// Whether those that have it come last.
    pub(super) is_ascending: bool,
}

/// Who must have a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    Own,
    AllInThread,
    SomeInThread,
}

impl Sort {
    /// Reads an order. Without any, the newest come first.
    ///
    /// # Errors
    /// `unsupportedSort`; `invalidArguments`, if a comparator has a wrong member.
    pub(super) fn read(comparators: Vec<Comparator>) -> Result<Sort, MethodError> {
        let (mut keywords, mut keys) = (Vec::new(), Vec::new());
        for mut comparator in comparators {
            let is_ascending = comparator.is_ascending;
            let whose = match comparator.property.as_str() {
                "hasKeyword" => Some(Whose::Own),
                "allInThreadHaveKeyword" => Some(Whose::AllInThread),
                "someInThreadHaveKeyword" => Some(Whose::SomeInThread),
                _ => None,
            };
            if let Some(whose) = whose {
                let keyword = comparator.rest.string("keyword")?;
                if !keys.is_empty() {
                    return Err(unsupported("a keyword can only come before all other properties"));
                }
                keywords.push(KeywordOrder { keyword, whose, is_ascending });
            } else {
                let key = key(&comparator.property)?;
                // Of one property, the first comparator decides.
                if keys.iter().all(|(known, _)| *known != key) {
                    keys.push((key, direction(is_ascending)));
                }
            }
        }
        let (key, direction) = keys.first().copied().unwrap_or((SortKey::Date, Direction::Descending));
        let is_simple = match keys.as_slice() {
            [] | [_] => true,
            [_, (SortKey::Date, same)] => *same == direction,
            _ => false,
        };
        let several = if is_simple { Vec::new() } else { keys };
        Ok(Sort { keywords, key, direction, several })
    }

    /// Returns whether other emails of a thread count.
    pub(super) fn is_of_threads(&self) -> bool {
        self.keywords.iter().any(|order| order.whose != Whose::Own)
    }

    /// Returns whether only the date counts.
    pub(super) fn is_by_date(&self) -> bool {
        self.keywords.is_empty() && self.key == SortKey::Date && self.several.is_empty()
    }
}

fn key(property: &str) -> Result<SortKey, MethodError> {
    match property {
        "receivedAt" | "sentAt" => Ok(SortKey::Date),
        "size" => Ok(SortKey::Size),
        "from" => Ok(SortKey::From),
        "to" => Ok(SortKey::To),
        "subject" => Ok(SortKey::Subject),
        _ => Err(unsupported("emails cannot be sorted by this property")),
    }
}

fn direction(is_ascending: bool) -> Direction {
    if is_ascending { Direction::Ascending } else { Direction::Descending }
}

fn unsupported(what: &str) -> MethodError {
    MethodError::new(MethodErrorKind::UnsupportedSort, what)
}
