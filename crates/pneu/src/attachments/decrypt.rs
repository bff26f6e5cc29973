//! Reads the text of encrypted messages, if the configuration says so: what gpg and gpgsm can decrypt now
//! without asking anybody.
//!
//! Input: the bytes of a message, limits. Output: texts for the index, and sentences about what could not be
//! read, which hold nothing of a message. A text goes to the index and nowhere else: not to the commands of
//! the configuration either. Does not know how programs are run.

use crate::crypt::unasked::{Limits, Unasked};
use crate::crypt::{Decryption, OpenedContent};
use crate::setup::attachments::AttachmentConfiguration;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The name of this filter in the index. It changes with what the filter does.
pub(crate) const NAME: &str = "decrypt1";

/// Reads encrypted messages.
#[derive(Debug)]
pub(super) struct Decrypter {
    unasked: Unasked,
    limits: AttachmentConfiguration,
    problems: Mutex<BTreeMap<Fault, u64>>,
}

/// What became of a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Decrypted {
    /// It was read.
    Texts {
        /// The texts in what is encrypted.
        texts: Vec<String>,
        /// Nothing was left out that can perhaps be decrypted another time. Else it is to be read again.
        is_all: bool,
    },
    /// Nothing in it can be decrypted now. It is to be read another time.
    NotNow,
    /// All work stops.
    Stopped,
}

/// Why messages were not read, or not all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    NotOpened,
    PartlyOpened,
    TooLarge,
    Cut,
}

/// What was found in a message.
#[derive(Default)]
struct Found {
    texts: Vec<String>,
    /// Something could not be decrypted.
    is_any_closed: bool,
    /// Something is larger than it may be.
    is_any_too_large: bool,
}

impl Decrypter {
    /// Returns one with these limits.
    pub(super) fn new(limits: AttachmentConfiguration) -> Decrypter {
        Decrypter { unasked: Unasked::default(), limits, problems: Mutex::default() }
    }

    /// Begins a reading: a key that was missing in the last one may be there now.
    pub(super) fn begin(&self) {
        self.unasked.begin();
    }

    /// Returns a sentence for each kind of problem since the last call.
    pub(super) fn take_problems(&self) -> Vec<String> {
        let problems = std::mem::take(&mut *self.problems.lock().unwrap_or_else(PoisonError::into_inner));
        problems.into_iter().map(|(fault, count)| self.sentence(fault, count)).collect()
    }

    fn sentence(&self, fault: Fault, count: u64) -> String {
        let of = if count == 1 { "1 message".to_owned() } else { format!("{count} messages") };
        let what = match fault {
            Fault::NotOpened => format!(
                "gpg and gpgsm cannot decrypt {of} now without asking; when they can, \"pneu index \
                 --attachments\" reads what they left out"
            ),
            Fault::PartlyOpened => format!(
                "gpg and gpgsm can decrypt only a part of {of} now without asking; when they can decrypt all \
                 of it, \"pneu index --attachments\" reads the rest"
            ),
            Fault::TooLarge => {
                format!("{of} too large to be decrypted (input_mib = {})", self.limits.input_mib)
            }
            Fault::Cut => format!(
                "the text of {of} is too long; its beginning is indexed (text_mib = {})",
                self.limits.text_mib
            ),
        };
        format!("index.decrypt: {what}")
    }

    fn note(&self, fault: Fault) {
        *self.problems.lock().unwrap_or_else(PoisonError::into_inner).entry(fault).or_default() += 1;
    }

    /// Reads a message, of which there are no bytes if it is larger than any that is decrypted.
    pub(super) fn read(
        &self,
        message: Option<&[u8]>,
        (end, text_bytes): (Instant, usize),
        is_stopped: &dyn Fn() -> bool,
    ) -> Decrypted {
        let bytes_max = self.limits.input_bytes();
        let Some(message) = message.filter(|message| message.len() <= bytes_max) else {
            self.note(Fault::TooLarge);
            return Decrypted::Texts { texts: Vec::new(), is_all: true };
        };
        let AttachmentConfiguration { time_seconds, memory_mib, .. } = self.limits;
        let limits = Limits { end, cpu_seconds: time_seconds, memory_mib, bytes_max };
        let opened = self.unasked.open(message, &limits, is_stopped);
        if is_stopped() {
            return Decrypted::Stopped;
        }
        let mut found = Found::default();
        found.add(&opened.contents);
        if found.is_any_too_large {
            self.note(Fault::TooLarge);
        }
        if found.is_any_closed && found.texts.is_empty() {
            self.note(Fault::NotOpened);
            return Decrypted::NotNow;
        }
        if found.is_any_closed {
            self.note(Fault::PartlyOpened);
        }
        if cut(&mut found.texts, text_bytes) {
            self.note(Fault::Cut);
        }
        Decrypted::Texts { texts: found.texts, is_all: !found.is_any_closed }
    }
}

impl Found {
    /// Adds the texts of what was decrypted, each content by itself.
    fn add(&mut self, contents: &[OpenedContent]) {
        for content in contents {
            match (content.encryption, &content.content) {
                (Some(Some(Decryption::Done)), Some(bytes)) if content.is_text => {
                    self.texts.push(String::from_utf8_lossy(bytes).into_owned());
                }
                (Some(Some(Decryption::Done)), Some(bytes)) => self.add_entity(bytes),
                (Some(Some(Decryption::TooLarge)), _) => self.is_any_too_large = true,
                (Some(_), _) => self.is_any_closed = true,
                (None, _) => {}
            }
            self.add(&content.inner);
        }
    }

    /// Adds what a MIME entity says: the subject that is protected with it, its text, names of files.
    fn add_entity(&mut self, bytes: &[u8]) {
        let parsed = mail::parse(bytes, &mail::Context::new(0));
        self.texts.extend([parsed.subject, parsed.text]);
        self.texts.extend(parsed.other_forms.into_iter().map(|form| form.text));
        self.texts.extend(parsed.attachments.into_iter().map(|attachment| attachment.name));
        self.texts.retain(|text| !text.is_empty());
    }
}

/// Cuts texts after so many bytes. Returns whether there were more.
fn cut(texts: &mut Vec<String>, bytes_max: usize) -> bool {
    let (mut left, mut is_cut) = (bytes_max, false);
    for text in texts.iter_mut() {
        let kept = text.floor_char_boundary(left);
        is_cut |= kept < text.len();
        // Nothing follows what was cut.
        left = if is_cut { 0 } else { left.saturating_sub(kept) };
        text.truncate(kept);
    }
    texts.retain(|text| !text.is_empty());
    is_cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use mail::Protection;

    fn content(decryption: Decryption, bytes: &str, is_text: bool) -> OpenedContent {
        OpenedContent {
            protection: Protection::OpenPgp,
            encryption: Some(Some(decryption)),
            signatures: Vec::new(),
            failure: None,
            is_whole: false,
            is_text,
            is_taken_out: true,
            content: (decryption == Decryption::Done).then(|| bytes.as_bytes().to_vec()),
            is_cut: false,
            header: None,
            inner: Vec::new(),
        }
    }

    #[test]
    fn what_stays_closed_hides_nothing_else() {
        let entity = "Subject: s\nContent-Type: text/html\n\n<p>b &amp; c</p>";
        let outer = OpenedContent {
            inner: vec![content(Decryption::NoKey, "", false), content(Decryption::Done, "d", true)],
            ..content(Decryption::Done, entity, false)
        };
        let signed = OpenedContent { encryption: None, ..content(Decryption::Done, "e", true) };
        let mut found = Found::default();
        found.add(&[content(Decryption::Done, "a", true), outer, signed]);
        assert_eq!(found.texts, ["a", "s", "b & c", "d"]);
        assert!(found.is_any_closed && !found.is_any_too_large);
        let mut found = Found::default();
        found.add(&[content(Decryption::TooLarge, "", false)]);
        assert!(found.texts.is_empty() && found.is_any_too_large && !found.is_any_closed);
    }

    #[test]
    fn all_texts_together_have_a_limit() {
        let cut_to = |bytes_max| {
            let mut texts = vec!["ab".to_owned(), "cä".to_owned(), "e".to_owned()];
            let is_cut = cut(&mut texts, bytes_max);
            (texts.join("|"), is_cut)
        };
        assert_eq!(cut_to(6), ("ab|cä|e".to_owned(), false));
        assert_eq!(cut_to(5), ("ab|cä".to_owned(), true));
        assert_eq!(cut_to(4), ("ab|c".to_owned(), true), "no character is cut, and nothing follows");
        assert_eq!(cut_to(0), (String::new(), true));
    }
}
