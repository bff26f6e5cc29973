//! Which flags a message shows: those of its files, and those that follow from its content.
//!
//! In: sets of flags. Out: rows of the query language's table of flags, so that `flag:NAME` finds what shows
//! NAME.

use mail::{Derived, Flags};
use query::FlagName;
use query::flags::{FLAGS, FlagInfo};

/// Returns the flags that a message shows, in the order of the table.
///
/// It has a flag of file names if any of its files has it, those of its copies among them; it is unread if
/// any of them is not seen, so that one that was read marks no other as read. Without a file nothing is known
/// of such flags, and it is neither.
pub fn shown_flags(
    files: impl IntoIterator<Item = Flags>,
    derived: Derived,
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
        FlagName::Attach => derived.contains(Derived::ATTACHMENT),
        FlagName::Signed => derived.contains(Derived::SIGNED),
        FlagName::Encrypted => derived.contains(Derived::ENCRYPTED),
        FlagName::List => derived.contains(Derived::LIST),
        FlagName::Calendar => derived.contains(Derived::CALENDAR),
        FlagName::Personal => derived.contains(Derived::PERSONAL),
    })
}

/// Returns what two copies say together: all their flags, and the higher priority. They differ in headers of
/// lists alone.
pub(super) fn joined(left: Derived, right: Derived) -> Derived {
    let either = left.bits() | right.bits();
    let both = left.bits() & right.bits();
    Derived::from_bits(either & !Derived::LOW.bits() | both & Derived::LOW.bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_copies_all_flags_count_and_the_highest_priority() {
        let (list, high, low) = (Derived::LIST, Derived::HIGH, Derived::LOW);
        let both = |a: Derived, b: Derived| Derived::from_bits(a.bits() | b.bits());
        assert_eq!(joined(both(list, low), Derived::ATTACHMENT), both(list, Derived::ATTACHMENT));
        assert_eq!(joined(low, high), high);
        assert_eq!(joined(both(list, low), low), both(list, low));
        assert_eq!(joined(Derived::NONE, high), high);
    }
}
