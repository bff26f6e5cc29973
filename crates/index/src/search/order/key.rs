//! The sort keys of found messages, and the direction.

use std::cmp::Ordering;

/// What to sort by. Messages with equal keys are sorted by date, then by SHA-256. If a message has several
/// files, the first path counts, except for flags and times of change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortKey {
    /// The date.
    #[default]
    Date,
    /// The size.
    Size,
    /// The subject, folded, without `Re:` and `Fwd:`.
    Subject,
    /// The sender's name, or the address if there is no name, folded.
    From,
    /// The recipients, likewise, one after the other.
    To,
    /// The recipients of a copy.
    Cc,
    /// The recipients of a blind copy.
    Bcc,
    /// The mailing list, folded.
    List,
    /// Names of attachments, folded.
    Attachment,
    /// The Message-ID.
    MessageId,
    /// The folder, folded.
    Maildir,
    /// The path.
    Path,
    /// The flags: a message with the first flag of the table sorts before one without it.
    Flags,
    /// The priority: high before normal before low.
    Priority,
    /// The language of the text; messages without one come first.
    Language,
    /// When one of its files last changed.
    Changed,
    /// How well it matches the words of a query, if there is one ([`crate::Mailbox::by_relevance`]).
    Relevance,
    /// When the index first had it: the order in which it is read fastest.
    Arrival,
}

/// Which end of the order comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Smallest or oldest first.
    Ascending,
    /// Largest or newest first.
    #[default]
    Descending,
}

impl SortKey {
    /// Returns which end people want first: the newest, the largest, the most relevant, and else A.
    pub fn natural(self) -> Direction {
        match self {
            SortKey::Date | SortKey::Size | SortKey::Changed | SortKey::Relevance => Direction::Descending,
            _ => Direction::Ascending,
        }
    }
}

impl Direction {
    /// Returns how two values follow each other in this direction.
    pub(in crate::search) fn of<T: Ord>(self, a: &T, b: &T) -> Ordering {
        match self {
            Direction::Ascending => a.cmp(b),
            Direction::Descending => b.cmp(a),
        }
    }

    /// Returns the other direction.
    #[must_use]
    pub fn turned(self) -> Direction {
        match self {
            Direction::Ascending => Direction::Descending,
            Direction::Descending => Direction::Ascending,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_the_largest_and_a_come_first() {
        for (key, natural) in [
            (SortKey::Date, Direction::Descending),
            (SortKey::Size, Direction::Descending),
            (SortKey::Changed, Direction::Descending),
            (SortKey::Subject, Direction::Ascending),
        ] {
            assert_eq!(key.natural(), natural, "{key:?}");
            assert_ne!(natural.turned(), natural);
        }
    }
}
