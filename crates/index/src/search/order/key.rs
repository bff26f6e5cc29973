//! What found messages are sorted by, and which end comes first.

/// What to sort by. Messages that are alike in it come by date, those of one second by SHA-256. Of several
/// files of a message the first counts, in the order of paths, but for flags and times of change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortKey {
    /// The date.
    #[default]
    Date,
    /// The size.
    Size,
    /// The subject, folded, without `Re:` and `Fwd:`.
    Subject,
    /// The sender: the name, or else the address, folded.
    From,
    /// The recipients, in the same way, one after the other.
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
    /// The flags: a message with the first of all flags is smaller than one without.
    Flags,
    /// The priority: high is smaller than normal, and that than low.
    Priority,
    /// The language of the text; what has none is the smallest.
    Language,
    /// When a file of it last changed.
    Changed,
}

/// Which end comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Smallest or oldest first.
    Ascending,
    /// Largest or newest first.
    #[default]
    Descending,
}
