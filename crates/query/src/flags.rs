//! The names of flags and priorities. Input: a name or letter as typed. Output: the flag or priority. Knows
//! neither where a flag is stored nor what sets it.

/// A flag that a query can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlagName {
    /// A message being written (`D`).
    Draft,
    /// Marked by the user (`F`).
    Flagged,
    /// Forwarded or bounced (`P`).
    Passed,
    /// Answered (`R`).
    Replied,
    /// Read (`S`).
    Seen,
    /// To be deleted (`T`).
    Trashed,
    /// Lies in `new/`.
    New,
    /// Not seen: at least one of its files is not.
    Unread,
    /// Has an attachment.
    Attach,
    /// Carries a signature.
    Signed,
    /// Is encrypted.
    Encrypted,
    /// Came through a mailing list.
    List,
    /// Carries an invitation.
    Calendar,
    /// Names an address of the user.
    Personal,
    /// In a thread that the user muted.
    Muted,
}

/// The table's row for one flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlagInfo {
    /// The flag.
    pub flag: FlagName,
    /// Its name.
    pub name: &'static str,
    /// Its letter, as in mu. No two letters differ only in case.
    pub letter: char,
    /// Other names.
    pub synonyms: &'static [&'static str],
    /// A few words for help.
    pub description: &'static str,
}

/// The priority that a message's sender gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Priority {
    /// Low.
    Low,
    /// Normal, or none given.
    Normal,
    /// High.
    High,
}

const fn info(
    flag: FlagName,
    name: &'static str,
    letter: char,
    synonyms: &'static [&'static str],
    description: &'static str,
) -> FlagInfo {
    FlagInfo { flag, name, letter, synonyms, description }
}

/// Every flag.
pub const FLAGS: &[FlagInfo] = &[
    info(FlagName::Draft, "draft", 'D', &[], "a message being written"),
    info(FlagName::Flagged, "flagged", 'F', &["starred"], "marked by the user"),
    info(FlagName::Passed, "passed", 'P', &["forwarded"], "forwarded or bounced"),
    info(FlagName::Replied, "replied", 'R', &["answered"], "replied to"),
    info(FlagName::Seen, "seen", 'S', &["read"], "read"),
    info(FlagName::Trashed, "trashed", 'T', &["deleted"], "marked for deletion"),
    info(FlagName::New, "new", 'N', &[], "still in `new/`"),
    info(FlagName::Unread, "unread", 'u', &["unseen"], "not seen, or a file of it is not"),
    info(FlagName::Attach, "attach", 'a', &["attachment"], "has an attachment"),
    info(FlagName::Signed, "signed", 'z', &[], "carries a signature"),
    info(FlagName::Encrypted, "encrypted", 'x', &[], "is encrypted"),
    info(FlagName::List, "list", 'l', &[], "came by a mailing list"),
    info(FlagName::Calendar, "calendar", 'c', &["invitation"], "carries an invitation"),
    info(FlagName::Personal, "personal", 'q', &[], "names an address of the user in To, Cc or Bcc"),
    info(FlagName::Muted, "muted", 'm', &[], "in a conversation that `pneu mute` muted"),
];

impl FlagName {
    /// Returns the flag with this name, synonym or letter. Ignores case.
    pub fn from_name(name: &str) -> Option<FlagName> {
        let named = |info: &&FlagInfo| {
            info.name.eq_ignore_ascii_case(name)
                || info.synonyms.iter().any(|synonym| synonym.eq_ignore_ascii_case(name))
                || (name.len() == 1 && name.starts_with(|c: char| c.eq_ignore_ascii_case(&info.letter)))
        };
        FLAGS.iter().find(named).map(|info| info.flag)
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        FLAGS.iter().find(|info| info.flag == self).map_or("", |info| info.name)
    }
}

impl Priority {
    /// Every priority.
    pub const ALL: [Priority; 3] = [Priority::Low, Priority::Normal, Priority::High];

    /// Returns the priority with this name or first letter. Ignores case.
    pub fn from_name(name: &str) -> Option<Priority> {
        Priority::ALL.into_iter().find(|priority| {
            let full = priority.name();
            full.eq_ignore_ascii_case(name) || (name.len() == 1 && full[..1].eq_ignore_ascii_case(name))
        })
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Priority::Low => "low",
            Priority::Normal => "normal",
            Priority::High => "high",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_synonym_and_letter_finds_its_own_flag() {
        for info in FLAGS {
            let letter = info.letter.to_string();
            for name in [info.name, &info.name.to_uppercase(), &letter].iter().chain(info.synonyms) {
                assert_eq!(FlagName::from_name(name), Some(info.flag), "{name}");
            }
            assert_eq!(info.flag.name(), info.name);
        }
        assert_eq!(FlagName::from_name("unknown"), None);
        assert_eq!(FlagName::from_name(""), None);
    }

    #[test]
    fn priorities_have_names_and_letters() {
        for priority in Priority::ALL {
            assert_eq!(Priority::from_name(priority.name()), Some(priority));
            assert_eq!(Priority::from_name(&priority.name()[..1].to_uppercase()), Some(priority));
        }
        assert_eq!(Priority::from_name("urgent"), None);
    }
}
