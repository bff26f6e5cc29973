//! A part of a message as RFC 8621, 4.1.4, describes it (EmailBodyPart).
//!
//! Defines the tree that `structure` builds, and finds a part in it. Does not depend on how it is built.

use std::ops::Range;

use crate::mime::content_fields::ContentFields;

/// A part of a message.
#[derive(Clone, Debug, Default)]
pub struct BodyPart {
    /// Its number, from 1, the one that [`MessageParts`](crate::MessageParts) gives it; `None` for a
    /// multipart.
    pub part_id: Option<usize>,
    /// The range of its content in the message, still in its transfer encoding; empty for a multipart.
    pub encoded: Range<usize>,
    /// The size of the decoded content; 0 for a multipart.
    pub size_bytes: u64,
    /// The file name given by the sender. Never use it as a path.
    pub name: Option<String>,
    /// Type and subtype in lower case.
    pub mime: String,
    /// The charset that the header names; `us-ascii` for text and parts without a type that name none.
    pub charset: Option<String>,
    /// The disposition in lower case, without parameters.
    pub disposition: Option<String>,
    /// Content-ID without brackets.
    pub content_id: Option<String>,
    /// The tags in Content-Language.
    pub languages: Option<Vec<String>>,
    /// Content-Location.
    pub location: Option<String>,
    /// The parts of a multipart.
    pub sub_parts: Vec<BodyPart>,
    /// The highest number up to its end.
    pub(super) last: usize,
    /// The range of its header block in the message.
    pub(super) header: Range<usize>,
    pub(super) content: ContentFields,
    /// The name of its transfer encoding is not known.
    pub(super) is_transfer_unknown: bool,
}

impl BodyPart {
    /// Returns the part with this number: this one, or one in it.
    pub(super) fn find(&self, part_id: usize) -> Option<&BodyPart> {
        let mut part = self;
        while part.part_id != Some(part_id) {
            // Numbers ascend: only one of the parts can have it.
            let place = part.sub_parts.partition_point(|below| below.last < part_id);
            part = part.sub_parts.get(place)?;
        }
        Some(part)
    }
}
