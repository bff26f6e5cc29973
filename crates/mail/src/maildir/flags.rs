//! The flags of a message file: the letters in its name, and whether it is in `new`.
//!
//! Input: letters of a file name. Output: a set of bits. Does not know where in a name the letters are.

use std::fmt;
use std::ops::{BitAnd, BitOr, BitOrAssign, Sub};

/// A set of flags.
///
/// The bits are stored in the index: a bit is never given another meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Flags(u16);

/// Each flag with its letter and word, sorted by letter as in file names.
const TABLE: [(Flags, char, &str); 7] = [
    (Flags::DRAFT, 'D', "draft"),
    (Flags::FLAGGED, 'F', "flagged"),
    (Flags::NEW, 'N', "new"),
    (Flags::PASSED, 'P', "passed"),
    (Flags::REPLIED, 'R', "replied"),
    (Flags::SEEN, 'S', "seen"),
    (Flags::TRASHED, 'T', "trashed"),
];

impl Flags {
    /// No flag at all.
    pub const NONE: Flags = Flags(0);
    /// `D`: still being written.
    pub const DRAFT: Flags = Flags(1);
    /// `F`: marked as important.
    pub const FLAGGED: Flags = Flags(1 << 1);
    /// `P`: forwarded or resent.
    pub const PASSED: Flags = Flags(1 << 2);
    /// `R`: answered.
    pub const REPLIED: Flags = Flags(1 << 3);
    /// `S`: read.
    pub const SEEN: Flags = Flags(1 << 4);
    /// `T`: to be deleted.
    pub const TRASHED: Flags = Flags(1 << 5);
    /// The file is in `new`: no mail program has shown it yet. Never part of a name.
    pub const NEW: Flags = Flags(1 << 6);

    /// Returns the flag of `letter` in a file name, or no flag if it has none.
    pub const fn from_letter(letter: u8) -> Flags {
        match letter {
            b'D' => Flags::DRAFT,
            b'F' => Flags::FLAGGED,
            b'P' => Flags::PASSED,
            b'R' => Flags::REPLIED,
            b'S' => Flags::SEEN,
            b'T' => Flags::TRASHED,
            _ => Flags::NONE,
        }
    }

    /// Returns the flag with this word, such as "seen", in any case.
    pub fn from_word(word: &str) -> Option<Flags> {
        TABLE.iter().find(|(_, _, known)| known.eq_ignore_ascii_case(word)).map(|(flag, ..)| *flag)
    }

    /// Returns the set stored as `bits`. Unknown bits are dropped.
    pub const fn from_bits(bits: u16) -> Flags {
        Flags(bits & 0x7f)
    }

    /// Returns the set as bits, to be stored.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Returns whether no flag is set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns whether all flags of `other` are set.
    pub const fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the letters for a file name, sorted.
    pub fn letters(self) -> impl Iterator<Item = u8> {
        b"DFPRST".iter().copied().filter(move |letter| self.contains(Flags::from_letter(*letter)))
    }

    /// Returns the flags' words, such as "seen", in the order of their letters.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        TABLE.into_iter().filter(move |(flag, ..)| self.contains(*flag)).map(|(_, _, word)| word)
    }
}

impl BitOr for Flags {
    type Output = Flags;

    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Flags) {
        self.0 |= other.0;
    }
}

impl BitAnd for Flags {
    type Output = Flags;

    fn bitand(self, other: Flags) -> Flags {
        Flags(self.0 & other.0)
    }
}

impl Sub for Flags {
    type Output = Flags;

    /// Returns the flags of `self` that are not in `other`.
    fn sub(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }
}

/// Writes the letters in order, with `N` for [`Flags::NEW`].
impl fmt::Display for Flags {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set: String =
            TABLE.iter().filter(|(flag, ..)| self.contains(*flag)).map(|(_, letter, _)| *letter).collect();
        formatter.pad(&set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_and_flags_agree() {
        for letter in 0..=u8::MAX {
            let flag = Flags::from_letter(letter);
            assert_eq!(flag.is_empty(), !b"DFPRST".contains(&letter));
            assert_eq!(
                flag.letters().collect::<Vec<_>>(),
                if flag.is_empty() { vec![] } else { vec![letter] }
            );
        }
        for (flag, letter, word) in TABLE {
            assert_eq!(flag.to_string(), letter.to_string());
            assert_eq!(flag.words().collect::<Vec<_>>(), [word]);
            assert_eq!(Flags::from_word(&word.to_uppercase()), Some(flag));
        }
        assert_eq!(Flags::from_word("unread"), None);
    }

    #[test]
    fn bits_are_those_of_the_index() {
        let all = [1, 2, 4, 8, 16, 32, 64].map(Flags::from_bits);
        let expected = [
            Flags::DRAFT,
            Flags::FLAGGED,
            Flags::PASSED,
            Flags::REPLIED,
            Flags::SEEN,
            Flags::TRASHED,
            Flags::NEW,
        ];
        assert_eq!(all, expected);
        assert_eq!(Flags::from_bits(u16::MAX).to_string(), "DFNPRST");
        assert_eq!(Flags::from_bits(u16::MAX).bits(), 0x7f);
    }

    #[test]
    fn sets_are_joined_met_and_parted() {
        let mut flags = Flags::SEEN | Flags::NEW;
        assert_eq!(flags.letters().collect::<Vec<_>>(), b"S");
        flags |= Flags::DRAFT;
        assert!(flags.contains(Flags::DRAFT | Flags::SEEN) && !flags.contains(Flags::DRAFT | Flags::TRASHED));
        assert_eq!((flags - Flags::SEEN - Flags::TRASHED).to_string(), "DN");
        assert_eq!(flags & (Flags::SEEN | Flags::TRASHED), Flags::SEEN);
        assert_eq!(format!("[{:>4}]", Flags::SEEN), "[   S]");
    }
}
