//! Which flags a message shows: those of its files, and those that follow from its content.
//!
//! In: sets of flags. Out: rows of the query language's table of flags, so that `flag:NAME` finds what shows
//! NAME.

use mail::{ContentFlags, Flags};
use query::FlagName;
use query::flags::{FLAGS, FlagInfo};

/// Returns the flags that a message shows, in the order of the table.
///
/// It has a flag of file names if any of its files has it, those of its copies among them; it is unread if
/// any of them is not seen, so that one that was read marks no other as read. Without a file nothing is known
/// of such flags, and it is neither.
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
    })
}

/// Returns what two copies say together: all their flags, and the higher priority. They differ in headers of
/// lists alone.
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
