//! The flags that a message shows: those of its files, and those derived from its content.
//!
//! Input: sets of flags. Output: rows of the query language's table of flags, so that `flag:NAME` finds
//! exactly the messages that show NAME.

use mail::{ContentFlags, Flags};
use query::FlagName;
use query::flags::{FLAGS, FlagInfo};

/// Returns the flags that a message shows, in the order of the table.
///
/// A message has a flag of file names if any of its files or its copies' files has it. It is unread if any of
/// these files is not seen: reading one file does not mark the others as read. Without files, such flags are
/// unknown, and the message is neither seen nor unread.
pub fn shown_flags(
    files: impl IntoIterator<Item = Flags>,
    derived: ContentFlags,
) -> impl Iterator<Item = &'static FlagInfo> {
    let (mut flags, mut is_unread) = (Flags::NONE, false);
    for file in files {
        flags |= file;
        is_unread |= !file.contains(Flags::SEEN);
    }
    FLAGS.iter().filter(move |info| match info.flag {
        FlagName::Draft => flags.contains(Flags::DRAFT),
        FlagName::Flagged => flags.contains(Flags::FLAGGED),
        FlagName::Passed => flags.contains(Flags::PASSED),
        FlagName::Replied => flags.contains(Flags::REPLIED),
        FlagName::Seen => flags.contains(Flags::SEEN),
        FlagName::Trashed => flags.contains(Flags::TRASHED),
        FlagName::New => flags.contains(Flags::NEW),
        FlagName::Unread => is_unread,
        FlagName::Attach => derived.contains(ContentFlags::ATTACHMENT),
        FlagName::Signed => derived.contains(ContentFlags::SIGNED),
        FlagName::Encrypted => derived.contains(ContentFlags::ENCRYPTED),
        FlagName::List => derived.contains(ContentFlags::LIST),
        FlagName::Calendar => derived.contains(ContentFlags::CALENDAR),
        FlagName::Personal => derived.contains(ContentFlags::PERSONAL),
        // It is a tag, and shown as one.
        FlagName::Muted => false,
    })
}

/// Joins the flags of two copies: all their flags, and the higher priority. Copies differ only in headers
/// that mailing lists add.
pub(super) fn joined(left: ContentFlags, right: ContentFlags) -> ContentFlags {
    let either = left.bits() | right.bits();
    let both = left.bits() & right.bits();
    ContentFlags::from_bits(either & !ContentFlags::LOW.bits() | both & ContentFlags::LOW.bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_copies_all_flags_count_and_the_highest_priority() {
        let (list, high, low) = (ContentFlags::LIST, ContentFlags::HIGH, ContentFlags::LOW);
        let both = |a: ContentFlags, b: ContentFlags| ContentFlags::from_bits(a.bits() | b.bits());
        assert_eq!(joined(both(list, low), ContentFlags::ATTACHMENT), both(list, ContentFlags::ATTACHMENT));
        assert_eq!(joined(low, high), high);
        assert_eq!(joined(both(list, low), low), both(list, low));
        assert_eq!(joined(ContentFlags::NONE, high), high);
    }
}
