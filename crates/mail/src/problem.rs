//! What may be wrong with a message, each as a value with its sentence.
//!
//! Whoever reads a message adds here what it had to guess or leave out; nobody decides anything by it. Knows nothing
//! of parsing.

use crate::limits::PROBLEM_COUNT_MAX;

/// Something wrong with a message, which was read all the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// No field at all.
    #[error("the message has no header")]
    NoHeader,
    /// A line in the header that is no field.
    #[error("a line in the header is not a field and was left out")]
    HeaderJunk,
    /// Over `FIELD_COUNT_MAX` fields, or one longer than is read.
    #[error("the header is too long; the rest of it was left out")]
    HeaderCut,
    /// Raw bytes in a header field that are not UTF-8.
    #[error("a header field holds raw bytes that are not UTF-8; their charset was guessed")]
    HeaderCharsetGuessed,
    /// Over `ADDRESS_COUNT_MAX` addresses.
    #[error("there are too many addresses; the rest was left out")]
    AddressesCut,
    /// No Message-ID, or one that cannot be used.
    #[error("the message has no usable Message-ID; one was derived from its content")]
    MessageIdMissing,
    /// Over `REFERENCE_COUNT_MAX` references.
    #[error("there are too many references; the first and the newest were kept")]
    ReferencesCut,
    /// No Date.
    #[error("the message has no date")]
    DateMissing,
    /// A Date that nobody can read.
    #[error("the date cannot be read")]
    DateUnreadable,
    /// A Date before 1970.
    #[error("the date lies before 1970")]
    DateTooOld,
    /// A Date over a year ahead.
    #[error("the date lies more than a year ahead")]
    DateInFuture,
    /// A charset that is not known.
    #[error("the charset {0:?} is not known; another was guessed")]
    CharsetUnknown(String),
    /// Text that is neither ASCII nor UTF-8, without a charset.
    #[error("some text names no charset and is not UTF-8; its charset was guessed")]
    CharsetUnsaid,
    /// Bytes that the charset they claim does not have.
    #[error("some text is not in the charset {0:?} that it claims")]
    CharsetWrong(String),
    /// A Content-Transfer-Encoding that is not known.
    #[error("the transfer encoding {0:?} is not known; the content was taken as it stands")]
    TransferUnknown(String),
    /// Base64 or quoted-printable with faults.
    #[error("some encoded content is damaged; what could be decoded was kept")]
    TransferDamaged,
    /// A multipart whose boundary is missing or never comes.
    #[error("a multipart has no parts that could be found; it was read as text")]
    BoundaryMissing,
    /// A multipart that does not end.
    #[error("a multipart is not closed; the message may have been cut")]
    BoundaryUnclosed,
    /// Nested deeper than `MIME_DEPTH_MAX`.
    #[error("the parts are nested too deep; what lies deeper was read as text")]
    NestedTooDeep,
    /// An encoded message within the message, of over `LARGE_NESTED_BYTES_MAX` bytes.
    #[error("an encoded message within the message is too large; it was not taken apart")]
    NestedTooLarge,
    /// Over `PART_COUNT_MAX` parts.
    #[error("there are too many parts; the rest was left out")]
    PartsCut,
    /// Over `ATTACHMENT_COUNT_MAX` attachments.
    #[error("there are too many attachments; the rest is not listed")]
    AttachmentsCut,
    /// Over `TEXT_BYTES_MAX` bytes of text.
    #[error("there is too much text; the rest was left out")]
    TextCut,
    /// S/MIME that is damaged.
    #[error("signed or compressed content (S/MIME) is damaged; it was left out")]
    SealedDamaged,
    /// Over `UNSEALED_BYTES_MAX` bytes of content, or over `MIME_DEPTH_MAX` levels of it.
    #[error("there is too much signed or compressed content (S/MIME); the rest was left out")]
    SealedCut,
    /// NUL bytes in the header or in text.
    #[error("there are NUL bytes in the header or in text; they were left out")]
    NulBytes,
}

/// The problems met so far: each once, `PROBLEM_COUNT_MAX` at most.
#[derive(Default)]
pub(crate) struct Problems {
    list: Vec<Problem>,
    is_cut: bool,
}

impl Problems {
    /// Adds a problem unless it is there already.
    pub(crate) fn add(&mut self, problem: Problem) {
        self.is_cut |= matches!(
            problem,
            Problem::HeaderCut | Problem::AddressesCut | Problem::ReferencesCut | Problem::PartsCut
        );
        if self.list.len() < PROBLEM_COUNT_MAX && !self.list.contains(&problem) {
            self.list.push(problem);
        }
    }

    /// Says whether anything was left out that copies are compared by, listed or not.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Returns all problems in the order in which they were met.
    pub(crate) fn into_list(self) -> Vec<Problem> {
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
