//! The text of attachments that the index cannot read by itself, such as PDF.
//!
//! Input: a message and its parts. Output: texts for its document, and the names of the filters that read
//! them: a document keeps these names, so that the index knows which messages a filter has not read yet. One
//! filter may be for messages that are encrypted, however that is told. Must not know how a filter reads, nor
//! how texts become terms.

use mail::{ContentFlags, MessageParts};
use std::collections::BTreeSet;
use std::fmt::Debug;
use work::Progress;

/// Reads the text of attachments. Many threads use it at a time.
pub trait AttachmentReader: Debug + Send + Sync {
    /// Returns the names of all filters.
    fn filters(&self) -> Vec<String>;

    /// Returns the names of the filters for a MIME type. A name is one word of ASCII letters and digits, and
    /// changes with what the filter does.
    fn filters_for(&self, mime: &str) -> Vec<String>;

    /// Returns the name of the filter for encrypted messages, if there is one.
    fn filter_for_encrypted(&self) -> Option<String> {
        None
    }

    /// Returns the texts of a message's parts, for which these filters are. Ends early if `is_stopped`.
    fn read(
        &self,
        parts: &mut MessageParts<'_>,
        filters: &BTreeSet<String>,
        is_stopped: &dyn Fn() -> bool,
    ) -> AttachmentTexts;
}

/// The texts of a message's parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttachmentTexts {
    /// A text for each part that has one.
    pub texts: Vec<String>,
    /// The names of filters that could not be used now. The message is read again when they can.
    pub unusable: Vec<String>,
    /// The names of filters that could read only a part now. The message is read again when they can read all
    /// of it; the text stays until then.
    pub partly: Vec<String>,
    /// Whether a filter failed, or had no time left.
    pub has_failed: bool,
    /// Whether reading ended early. The message is then read again.
    pub is_stopped: bool,
}

/// What the document of a message gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Attached {
    /// The texts.
    pub texts: Vec<String>,
    /// The names of the filters that have read the message, and of those that have read a part of it.
    pub filters: Vec<String>,
    /// Whether a filter could not be used, read only a part, failed, or had no time left.
    pub is_partial: bool,
    /// Whether the message is to be read again, since reading ended early.
    pub is_stopped: bool,
}

/// Returns the name that a document keeps of a filter that has read a part of its message.
pub(crate) fn partly(filter: &str) -> String {
    format!("{filter}part")
}

/// A reader, and who may stop it.
#[derive(Clone, Copy)]
pub(crate) struct Asking<'a> {
    /// The reader.
    pub reader: &'a dyn AttachmentReader,
    /// Says when to stop.
    pub observer: &'a dyn Progress,
}

impl Asking<'_> {
    /// Reads the attachments of a message. `split` returns its parts; it is called only if a filter is for
    /// the message.
    pub(crate) fn read<'m>(
        &self,
        message: &mail::Message,
        split: impl FnOnce() -> mail::Result<MessageParts<'m>>,
    ) -> Attached {
        let mut filters: BTreeSet<String> =
            message.mime_types.iter().flat_map(|mime| self.reader.filters_for(mime)).collect();
        if message.flags.contains(ContentFlags::ENCRYPTED) {
            filters.extend(self.reader.filter_for_encrypted());
        }
        let is_stopped = self.observer.is_cancelled();
        if filters.is_empty() || is_stopped {
            return Attached { is_stopped, ..Attached::default() };
        }
        // A file that cannot be read now is read another time.
        let Ok(mut parts) = split() else { return Attached { is_stopped: true, ..Attached::default() } };
        let read = self.reader.read(&mut parts, &filters, &|| self.observer.is_cancelled());
        let is_done = |name: &String| !read.unusable.contains(name) && !read.partly.contains(name);
        filters.retain(|name| !read.is_stopped && is_done(name));
        filters.extend(read.partly.iter().map(|name| partly(name)));
        Attached {
            texts: read.texts,
            filters: filters.into_iter().collect(),
            is_partial: read.has_failed || !read.unusable.is_empty() || !read.partly.is_empty(),
            is_stopped: read.is_stopped,
        }
    }
}
