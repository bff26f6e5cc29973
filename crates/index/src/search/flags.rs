//! Which flags a message shows: those of its files, and those that follow from its content.
//!
//! In: sets of flags. Out: rows of the query language's table of flags, so that `flag:NAME` finds what shows NAME.

use mail::{Derived, Flags};
use query::FlagName;
use query::flags::{FLAGS, FlagInfo};

/// Returns the flags that a message shows, in the order of the table. Without a file nothing is known of flags that file names
/// carry, so such a message is not unread either.
pub fn shown_flags(
    flags: Flags,
    derived: Derived,
    has_file: bool,
) -> impl Iterator<Item = &'static FlagInfo> {
    FLAGS.iter().filter(move |info| match info.flag {
        FlagName::Draft => flags.contains(Flags::DRAFT),
        FlagName::Flagged => flags.contains(Flags::FLAGGED),
        FlagName::Passed => flags.contains(Flags::PASSED),
        FlagName::Replied => flags.contains(Flags::REPLIED),
        FlagName::Seen => flags.contains(Flags::SEEN),
        FlagName::Trashed => flags.contains(Flags::TRASHED),
        FlagName::New => flags.contains(Flags::NEW),
        FlagName::Unread => has_file && !flags.contains(Flags::SEEN),
        FlagName::Attach => derived.contains(Derived::ATTACHMENT),
        FlagName::Signed => derived.contains(Derived::SIGNED),
        FlagName::Encrypted => derived.contains(Derived::ENCRYPTED),
        FlagName::List => derived.contains(Derived::LIST),
        FlagName::Calendar => derived.contains(Derived::CALENDAR),
        FlagName::Personal => derived.contains(Derived::PERSONAL),
    })
}
