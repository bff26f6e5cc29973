//! The sort keys of found messages, and the direction.

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
