//! Flags as words and letters, those of files and those that follow from a message's content.
//!
//! In: sets of flags. Out: names and letters as the query language has them, so that `flag:NAME` finds what shows NAME.

use index::shown_flags;
use mail::{Derived, Flags};

/// Returns the flags' names, such as `seen`.
pub(crate) fn names(flags: Flags, derived: Derived, has_file: bool) -> Vec<&'static str> {
    shown_flags(flags, derived, has_file).map(|info| info.name).collect()
}

/// Returns the flags' letters, such as `S`.
pub(crate) fn letters(flags: Flags, derived: Derived, has_file: bool) -> String {
    shown_flags(flags, derived, has_file).map(|info| info.letter).collect()
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
