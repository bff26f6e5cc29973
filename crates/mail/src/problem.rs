//! Problems of a message, each with its sentence and the word that queries find it by.
//!
//! The parsers add a problem for everything they had to guess or leave out. No decision depends on these
//! values, except that a cut message has no copy hash.

use crate::limits::PROBLEM_COUNT_MAX;

/// Defines each problem once: its documentation, its sentence, and the word that queries find it by.
macro_rules! problems {
    ($($(#[doc = $doc:tt])+ #[error($sentence:tt)] #[kind($kind:tt)] $name:ident $(($inner:ty))?,)+) => {
        /// Something wrong with a message that was parsed nevertheless.
        #[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
        pub enum Problem {
            $($(#[doc = $doc])+ #[error($sentence)] $name $(($inner))?,)+
        }

        impl Problem {
            /// The kinds of all problems.
            pub const KINDS: &[&str] = &[$($kind,)+];

            /// Returns its kind, a word that queries find: the name of its group, or the group's name, a
            /// hyphen and a word.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Problem::$name { .. } => $kind,)+
                }
            }
        }
    };
}

problems! {
    /// The message has no header fields.
    #[error("the message has no header")]
    #[kind("header-missing")]
    NoHeader,
    /// A line in the header is not a field.
    #[error("a line in the header is not a field and was left out")]
    #[kind("header-junk")]
    HeaderJunk,
    /// More than `FIELD_COUNT_MAX` fields, or one longer than the limit.
    #[error("the header is too long; the rest of it was left out")]
    #[kind("cut-header")]
    HeaderCut,
    /// Raw bytes in a header field that are not UTF-8.
    #[error("a header field holds raw bytes that are not UTF-8; their charset was guessed")]
    #[kind("charset-header")]
    HeaderCharsetGuessed,
    /// More than `ADDRESS_COUNT_MAX` addresses.
    #[error("there are too many addresses; the rest was left out")]
    #[kind("cut-addresses")]
    AddressesCut,
    /// No Message-ID, or an unusable one.
    #[error("the message has no usable Message-ID; one was derived from its content")]
    #[kind("id-missing")]
    MessageIdMissing,
    /// More than `REFERENCE_COUNT_MAX` references.
    #[error("there are too many references; the first and the newest were kept")]
    #[kind("cut-references")]
    ReferencesCut,
    /// No Date.
    #[error("the message has no date")]
    #[kind("date-missing")]
    DateMissing,
    /// A Date that cannot be parsed.
    #[error("the date cannot be read")]
    #[kind("date-unreadable")]
    DateUnreadable,
    /// A Date before 1970.
    #[error("the date lies before 1970")]
    #[kind("date-old")]
    DateTooOld,
    /// A Date more than a year ahead.
    #[error("the date lies more than a year ahead")]
    #[kind("date-future")]
    DateInFuture,
    /// An unknown charset.
    #[error("the charset {0:?} is not known; another was guessed")]
    #[kind("charset-unknown")]
    CharsetUnknown(String),
    /// Text that is neither ASCII nor UTF-8, without a charset.
    #[error("some text names no charset and is not UTF-8; its charset was guessed")]
    #[kind("charset-unsaid")]
    CharsetUnsaid,
    /// Bytes that are invalid in the charset they claim.
    #[error("some text is not in the charset {0:?} that it claims")]
    #[kind("charset-wrong")]
    CharsetWrong(String),
    /// An unknown Content-Transfer-Encoding.
    #[error("the transfer encoding {0:?} is not known; the content was taken as it stands")]
    #[kind("transfer-unknown")]
    TransferUnknown(String),
    /// Damaged base64 or quoted-printable.
    #[error("some encoded content is damaged; what could be decoded was kept")]
    #[kind("transfer-damaged")]
    TransferDamaged,
    /// A multipart whose boundary is not named or never found.
    #[error("a multipart has no parts that could be found; it was read as text")]
    #[kind("multipart-missing")]
    BoundaryMissing,
    /// A multipart without its closing boundary.
    #[error("a multipart is not closed; the message may have been cut")]
    #[kind("multipart-unclosed")]
    BoundaryUnclosed,
    /// Nested deeper than `MIME_DEPTH_MAX`.
    #[error("the parts are nested too deep; what lies deeper was read as text")]
    #[kind("cut-depth")]
    NestedTooDeep,
    /// An encoded message within the message, larger than `LARGE_NESTED_BYTES_MAX`.
    #[error("an encoded message within the message is too large; it was not taken apart")]
    #[kind("cut-nested")]
    NestedTooLarge,
    /// More than `PART_COUNT_MAX` parts.
    #[error("there are too many parts; the rest was left out")]
    #[kind("cut-parts")]
    PartsCut,
    /// More than `ATTACHMENT_COUNT_MAX` attachments.
    #[error("there are too many attachments; the rest is not listed")]
    #[kind("cut-attachments")]
    AttachmentsCut,
    /// More than `TEXT_BYTES_MAX` bytes of text.
    #[error("there is too much text; the rest was left out")]
    #[kind("cut-text")]
    TextCut,
    /// Damaged S/MIME content.
    #[error("signed or compressed content (S/MIME) is damaged; it was left out")]
    #[kind("smime-damaged")]
    SmimeDamaged,
    /// More than `SMIME_BYTES_MAX` bytes of S/MIME content, or more than `MIME_DEPTH_MAX` levels of it.
    #[error("there is too much signed or compressed content (S/MIME); the rest was left out")]
    #[kind("cut-smime")]
    SmimeCut,
    /// NUL bytes in the header or in text.
    #[error("there are NUL bytes in the header or in text; they were left out")]
    #[kind("nul")]
    NulBytes,
}

/// The kind of a message that was not read to its end. Set by the caller that read it.
pub const MESSAGE_CUT: &str = "cut-message";

/// Returns whether `word` is the kind of a problem, or a group of kinds.
pub fn is_problem_kind(word: &str) -> bool {
    problem_kinds().any(|kind| kind == word || problem_group(kind) == word)
}

/// Returns all kinds of problems, without their groups.
pub fn problem_kinds() -> impl Iterator<Item = &'static str> {
    Problem::KINDS.iter().copied().chain([MESSAGE_CUT])
}

/// Returns all groups of kinds, sorted.
pub fn problem_groups() -> Vec<&'static str> {
    let mut groups: Vec<&str> = Problem::KINDS.iter().map(|kind| problem_group(kind)).collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}

/// Returns the group that a kind belongs to, which may be the kind itself.
pub fn problem_group(kind: &str) -> &str {
    kind.split('-').next().unwrap_or(kind)
}

/// The problems found so far: each once, `PROBLEM_COUNT_MAX` at most.
#[derive(Default)]
pub(crate) struct Problems {
    list: Vec<Problem>,
    is_cut: bool,
}

impl Problems {
    /// Adds a problem unless it is already listed.
    pub(crate) fn add(&mut self, problem: Problem) {
        self.is_cut |= matches!(
            problem,
            Problem::HeaderCut | Problem::AddressesCut | Problem::ReferencesCut | Problem::PartsCut
        );
        if self.list.len() < PROBLEM_COUNT_MAX && !self.list.contains(&problem) {
            self.list.push(problem);
        }
    }

    /// Returns whether anything that the copy hash covers was left out, whether the problem is listed or not.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Returns all problems in the order in which they were found.
    pub(crate) fn into_list(self) -> Vec<Problem> {
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_words_of_groups_and_stand_once() {
        let mut kinds = Problem::KINDS.to_vec();
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(kinds.len(), Problem::KINDS.len());
        for kind in kinds {
            assert!(kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{kind}");
            assert!(!problem_group(kind).is_empty(), "{kind}");
        }
        assert_eq!(Problem::CharsetUnknown("x".into()).kind(), "charset-unknown");
        assert!(is_problem_kind("date") && is_problem_kind("date-old") && is_problem_kind(MESSAGE_CUT));
        assert!(!is_problem_kind("date-") && !is_problem_kind("") && !is_problem_kind("old"));
        let groups = problem_groups();
        assert!(groups.is_sorted() && groups.contains(&problem_group(MESSAGE_CUT)), "{groups:?}");
        assert_eq!((problem_group("charset-unknown"), problem_group("nul")), ("charset", "nul"));
    }

    #[test]
    fn every_kind_stands_on_the_page_about_queries() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/query.md");
        let page = std::fs::read_to_string(path).unwrap();
        for kind in Problem::KINDS.iter().chain(&[MESSAGE_CUT]) {
            assert!(page.contains(&format!("`{kind}`")), "docs/query.md lacks the kind {kind}");
        }
    }

    #[test]
    fn problems_are_listed_once_and_not_without_end() {
        let mut problems = Problems::default();
        for number in 0..100 {
            problems.add(Problem::NoHeader);
            problems.add(Problem::CharsetUnknown(format!("x-{number}")));
        }
        assert!(!problems.is_cut());
        problems.add(Problem::PartsCut);
        assert!(problems.is_cut());
        let list = problems.into_list();
        assert_eq!(list.len(), PROBLEM_COUNT_MAX);
        assert_eq!(list.iter().filter(|problem| **problem == Problem::NoHeader).count(), 1);
        let first = list.first().map(ToString::to_string);
        assert_eq!(first.as_deref(), Some("the message has no header"));
    }
}
