//! The tags that can stand for flags of files: unread, flagged, replied, passed and draft, as in notmuch.
//!
//! Input: the name of a tag. Output: its flag. Must not know whether they do.

use mail::Flags;

/// Where these tags come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlagTags {
    /// They are tags like all others.
    #[default]
    Stored,
    /// They are the flags of the files. What is stored under their names does not count.
    Derived,
}

/// A tag that stands for a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlagTag {
    /// Its name.
    pub name: &'static str,
    /// The flag.
    pub flag: Flags,
    /// Whether files with the flag have the tag; else those without it have it.
    pub is_set: bool,
}

/// All of them.
pub const FLAG_TAGS: [FlagTag; 5] = [
    FlagTag { name: "draft", flag: Flags::DRAFT, is_set: true },
    FlagTag { name: "flagged", flag: Flags::FLAGGED, is_set: true },
    FlagTag { name: "passed", flag: Flags::PASSED, is_set: true },
    FlagTag { name: "replied", flag: Flags::REPLIED, is_set: true },
    FlagTag { name: "unread", flag: Flags::SEEN, is_set: false },
];

impl FlagTags {
    /// Returns the flag that a tag stands for. Ignores case.
    pub fn find(self, tag: &str) -> Option<&'static FlagTag> {
        self.all().iter().find(|known| known.name.eq_ignore_ascii_case(tag))
    }

    /// Returns the tags that stand for flags.
    pub fn all(self) -> &'static [FlagTag] {
        match self {
            FlagTags::Stored => &[],
            FlagTags::Derived => &FLAG_TAGS,
        }
    }
}
