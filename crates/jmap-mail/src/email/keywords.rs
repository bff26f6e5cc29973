//! Keywords: flags of files, and tags (RFC 8621, section 4.1.1).
//!
//! Input: flags and tags. Output: keywords, and back. A content has the keyword of a flag if any of its files
//! has the flag: `$seen` too, so that it was read if any file says so. `T`, marked for deletion, is no
//! keyword. A tag is a keyword in lower case; a character that a keyword may not have is written as the bytes
//! of its UTF-8, each as `=` and two digits, and so is `=` itself. A tag that would be the keyword of a flag
//! does not count: only files say that. One that would be longer than a keyword may be is left out.

use mail::Flags;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The longest keyword.
const KEYWORD_BYTES_MAX: usize = 255;

/// The keywords of flags.
const FLAGS: [(&str, Flags); 5] = [
    ("$answered", Flags::REPLIED),
    ("$draft", Flags::DRAFT),
    ("$flagged", Flags::FLAGGED),
    ("$forwarded", Flags::PASSED),
    ("$seen", Flags::SEEN),
];

/// What a keyword stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Keyword {
    /// A flag of files.
    Flag(Flags),
    /// A tag, by its name in lower case.
    Tag(String),
    /// Nothing that a content can have.
    None,
}

impl Keyword {
    /// Reads a keyword, in any case.
    pub(crate) fn read(keyword: &str) -> Keyword {
        let keyword = keyword.to_ascii_lowercase();
        if let Some((_, flag)) = FLAGS.iter().find(|(name, _)| *name == keyword) {
            return Keyword::Flag(*flag);
        }
        // A text that no tag is written as stands for none.
        let tag = decoded(&keyword).filter(|tag| of_tag(tag).as_ref() == Some(&keyword));
        tag.map_or(Keyword::None, Keyword::Tag)
    }
}

/// Returns the keywords of a content.
pub(crate) fn keywords<'t>(flags: Flags, tags: impl Iterator<Item = &'t String>) -> BTreeSet<String> {
    let of_flags = FLAGS.iter().filter(|(_, flag)| flags.contains(*flag)).map(|(name, _)| (*name).to_owned());
    of_flags.chain(tags.filter_map(|tag| of_tag(tag))).collect()
}

/// Returns the keyword of a tag.
pub(crate) fn of_tag(tag: &str) -> Option<String> {
    let tag = tag.to_lowercase();
    let mut keyword = String::with_capacity(tag.len());
    for byte in tag.bytes() {
        if is_allowed(byte) && byte != b'=' {
            keyword.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(keyword, "={byte:02x}");
        }
    }
    let is_keyword = (1..=KEYWORD_BYTES_MAX).contains(&keyword.len());
    (is_keyword && !FLAGS.iter().any(|(name, _)| *name == keyword)).then_some(keyword)
}

/// Returns the tag that a keyword stands for.
fn decoded(keyword: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(keyword.len());
    let mut rest = keyword.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        if *first == b'=' {
            let (digits, behind) = rest.split_at_checked(2)?;
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = behind;
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

pub(crate) fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_graphic() && !br#"(){]%*"\"#.contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tags_and_flags_are_keywords() {
        let tags = ["Work", "to do", "größe", "a=b", "$seen", "$Flagged", "50%", &"ü".repeat(99)];
        let tags = tags.map(str::to_owned);
        let flags = Flags::SEEN | Flags::TRASHED | Flags::PASSED | Flags::NEW;
        let found: Vec<String> = keywords(flags, tags.iter()).into_iter().collect();
        let expected = ["$forwarded", "$seen", "50=25", "a=3db", "gr=c3=b6=c3=9fe", "to=20do", "work"];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_keyword_is_read_in_any_case() {
        assert_eq!(Keyword::read("$SEEN"), Keyword::Flag(Flags::SEEN));
        assert_eq!(Keyword::read("Work"), Keyword::Tag("work".to_owned()));
        assert_eq!(Keyword::read("gr=C3=B6=c3=9fe"), Keyword::Tag("größe".to_owned()));
        for wrong in ["", "a=", "a=g1", "=41", "a b", "a%20b", "=ff", "=+1"] {
            assert_eq!(Keyword::read(wrong), Keyword::None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn the_keyword_of_a_tag_stands_for_it(tag in "\\PC{1,20}") {
            let keyword = of_tag(&tag);
            // No tag of these is too long.
            let is_flag = FLAGS.iter().any(|(name, _)| *name == tag.to_lowercase());
            prop_assert_eq!(keyword.is_none(), is_flag);
            if let Some(keyword) = keyword {
                prop_assert!(keyword.bytes().all(is_allowed));
                prop_assert_eq!(Keyword::read(&keyword), Keyword::Tag(tag.to_lowercase()));
            }
        }
    }
}
