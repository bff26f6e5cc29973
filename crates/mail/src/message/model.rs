//! The parsed message, and the options of parsing.
//!
//! Does not depend on how a message is parsed or stored.

use std::ops::Range;

use crate::body::alternatives::PreferredAlternative;
use crate::body::attachments::Attachment;
use crate::body::read::OtherForm;
use crate::header::dates::DateSource;
use crate::header::mailbox::Address;
use crate::message::content_flags::ContentFlags;
use crate::problem::Problem;
use crate::text::links::{LinkList, Links};

/// Options of parsing, and the current time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Context<'a> {
    /// The current time. Dates far in the future are not believed.
    pub now_seconds: i64,
    /// The form of a text that is shown, if there are several.
    pub preferred: PreferredAlternative,
    /// Whether the links of texts that were HTML are returned.
    pub links: Links,
    /// Names of further header fields to return.
    pub headers: &'a [String],
}

impl Context<'_> {
    /// Returns the default options; no links and no further header fields are returned.
    #[must_use]
    pub const fn new(now_seconds: i64) -> Context<'static> {
        Context { now_seconds, preferred: PreferredAlternative::Better, links: Links::Ignored, headers: &[] }
    }
}

/// A parsed message. All strings are UTF-8. Those of the header are one line, without NULs, but may contain
/// other control characters, which a program must filter before showing them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The decoded subject.
    pub subject: String,
    /// From.
    pub from: Vec<Address>,
    /// To.
    pub to: Vec<Address>,
    /// Cc.
    pub cc: Vec<Address>,
    /// Bcc.
    pub bcc: Vec<Address>,
    /// Reply-To.
    pub reply_to: Vec<Address>,
    /// The Message-ID without brackets, or one derived from the content: 32 hexadecimal digits and
    /// `@derived.pneu`.
    pub message_id: String,
    /// The Message-ID was derived.
    pub message_id_derived: bool,
    /// The IDs of References and In-Reply-To, each once, the oldest first and the parent last.
    pub references: Vec<String>,
    /// The IDs of In-Reply-To.
    pub in_reply_to: Vec<String>,
    /// Its date in seconds since 1970, UTC, and the source of the date; `None` if it has no usable date.
    pub date: Option<(i64, DateSource)>,
    /// The ID of the mailing list, or empty.
    pub list_id: String,
    /// The attachments, in order.
    pub attachments: Vec<Attachment>,
    /// The types of all parts, in lower case, each once.
    pub mime_types: Vec<String>,
    /// The text of all parts, with HTML converted to text. Of several forms it has the one that is shown.
    /// Lines end with LF.
    pub text: String,
    /// The links in the HTML parts of the text, if the context asks for them. Nothing else depends on it.
    pub links: LinkList,
    /// The other forms of the text.
    pub other_forms: Vec<OtherForm>,
    /// The ranges of `text` that were attached: nested messages, and text files.
    pub embedded: Vec<Range<usize>>,
    /// The language of the text that its author wrote (ISO 639-1), or empty if that is not certain.
    pub language: &'static str,
    /// The first words of the text that its author wrote.
    pub snippet: String,
    /// The hash of everything that a reader sees: equal for copies that came different ways, and for nothing
    /// else. `None` if a limit cut anything that counts; the message is then a copy of nothing. See
    /// `copy_hash.rs`.
    pub copy_hash: Option<u128>,
    /// The flags that follow from the content.
    pub flags: ContentFlags,
    /// The labels of X-Keywords, X-Label and Keywords.
    pub labels: Vec<String>,
    /// The header fields that the context names, with the name as given there and the decoded value. Every
    /// occurrence is listed, in the context's order.
    pub headers: Vec<(String, String)>,
    /// What is wrong with the message.
    pub problems: Vec<Problem>,
}

impl Message {
    /// Returns its date in seconds since 1970, UTC, if it has one.
    #[must_use]
    pub fn date_seconds(&self) -> Option<i64> {
        self.date.map(|(seconds, _)| seconds)
    }

    /// Returns the texts that were attached.
    pub fn embedded_texts(&self) -> impl Iterator<Item = &str> {
        self.embedded.iter().filter_map(|range| self.text.get(range.clone()))
    }
}
