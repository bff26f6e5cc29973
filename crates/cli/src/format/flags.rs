//! Flags as words and letters, those of files and those that follow from a message's content.
//!
//! In: sets of flags. Out: names and letters as the query language has them, so that `flag:NAME` finds what shows NAME.

use mail::{Derived, Flags};
use query::flags::FLAGS;
use query::{FlagName, flags::FlagInfo};

/// Returns the flags' names, such as `seen`.
pub(crate) fn names(flags: Flags, derived: Derived, has_file: bool) -> Vec<&'static str> {
    shown(flags, derived, has_file).map(|info| info.name).collect()
}

/// Returns the flags' letters, such as `S`.
pub(crate) fn letters(flags: Flags, derived: Derived, has_file: bool) -> String {
    shown(flags, derived, has_file).map(|info| info.letter).collect()
}

/// Without a file nothing is known of flags that file names carry, so such a message is not unread either.
fn shown(flags: Flags, derived: Derived, has_file: bool) -> impl Iterator<Item = &'static FlagInfo> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_have_the_names_and_letters_of_the_query_language() {
        let flags = Flags::SEEN | Flags::FLAGGED;
        assert_eq!(names(flags, Derived::ATTACHMENT, true), ["flagged", "seen", "attach"]);
        assert_eq!(letters(flags, Derived::ATTACHMENT, true), "FSa");
        assert_eq!(letters(Flags::NEW, Derived::NONE, true), "Nu");
        assert_eq!(letters(Flags::NONE, Derived::NONE, false), "");
    }
}
