//! Flags as words and letters, those of files and those that follow from a message's content.
//!
//! Input: sets of flags. Output: names and letters as the query language has them, so that `flag:NAME` finds
//! what shows NAME.

use index::shown_flags;
use mail::{ContentFlags, Flags};

/// Returns the flags' names, such as `seen`. `files` are the flags of each file.
pub fn names(files: impl IntoIterator<Item = Flags>, derived: ContentFlags) -> Vec<&'static str> {
    shown_flags(files, derived).map(|info| info.name).collect()
}

/// Returns the flags' letters, such as `S`. `files` are the flags of each file.
pub fn letters(files: impl IntoIterator<Item = Flags>, derived: ContentFlags) -> String {
    shown_flags(files, derived).map(|info| info.letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_have_the_names_and_letters_of_the_query_language() {
        let flags = Flags::SEEN | Flags::FLAGGED;
        assert_eq!(names([flags], ContentFlags::ATTACHMENT), ["flagged", "seen", "attach"]);
        assert_eq!(letters([flags], ContentFlags::ATTACHMENT), "FSa");
        assert_eq!(letters([Flags::NEW], ContentFlags::NONE), "Nu");
        assert_eq!(letters([], ContentFlags::LIST), "l");
        assert_eq!(
            letters([flags, Flags::REPLIED], ContentFlags::NONE),
            "FRSu",
            "one of the files is not seen"
        );
    }
}
