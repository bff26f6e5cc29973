//! Decides which parts of a message are attachments.
//!
//! Input: parts. Output: the role of each. Does not read contents.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::mime::content_fields::Disposition;
use crate::mime::parts::{Body, Part};

/// One attachment of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attachment {
    /// The file name given by the sender, or empty. Never use it as a path.
    pub name: String,
    /// Type and subtype in lower case.
    pub mime: String,
    /// The size of the decoded content.
    pub size_bytes: u64,
}

/// The role of a part in its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartRole {
    /// Part of the message itself.
    Content,
    /// A file that belongs to the text, such as a picture. It is listed, but the message does not count as
    /// having attachments because of it.
    Embedded,
    /// An attachment.
    Attached,
}

/// Returns the role of a part, by its type, its disposition and the part that contains it.
pub(crate) fn role(part: &Part<'_>, parts: &[Part<'_>]) -> PartRole {
    let parent =
        part.parent.and_then(|number| parts.get(number)).map_or("", |parent| parent.content.mime.as_str());
    let content = &part.content;
    let is_asked = content.disposition == Disposition::Attachment;
    match part.body {
        Body::Multipart => PartRole::Content,
        Body::Smime { .. } => PartRole::Content,
        _ if content.is_signature() || content.is_smime() || parent == "multipart/encrypted" => {
            PartRole::Content
        }
        Body::Message { .. } if !is_asked && matches!(parent, "multipart/digest" | "multipart/report") => {
            PartRole::Content
        }
        Body::Message { .. } => PartRole::Attached,
        Body::Leaf(_) if is_asked => PartRole::Attached,
        Body::Leaf(_) if content.is_text() && (content.name.is_empty() || part.parent.is_none()) => {
            PartRole::Content
        }
        Body::Leaf(_) if parent == "multipart/related" => PartRole::Embedded,
        Body::Leaf(_) => PartRole::Attached,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::block::split;
    use crate::mime::parts::take_apart;
    use crate::problem::Problems;

    fn judge(parent: &str, header: &str) -> PartRole {
        let text =
            format!("Content-Type: multipart/{parent}; boundary=b\n\n--b\n{header}\n\nA: b\n\nx\n--b--");
        let block = split(text.as_bytes());
        let parts = take_apart(&block, &mut Problems::default());
        role(&parts[1], &parts)
    }

    #[test]
    fn parts_are_judged() {
        for (parent, header, expected) in [
            ("mixed", "Content-Type: text/plain", PartRole::Content),
            ("mixed", "Content-Type: text/plain; name=a.txt", PartRole::Attached),
            ("mixed", "Content-Disposition: attachment", PartRole::Attached),
            ("mixed", "Content-Type: application/pdf", PartRole::Attached),
            ("mixed", "Content-Type: image/png\nContent-Disposition: inline", PartRole::Attached),
            ("related", "Content-Type: image/png", PartRole::Embedded),
            ("related", "Content-Type: image/png\nContent-Disposition: attachment", PartRole::Attached),
            ("signed", "Content-Type: application/pgp-signature; name=a.asc", PartRole::Content),
            (
                "mixed",
                "Content-Type: application/pkcs7-mime\nContent-Disposition: attachment",
                PartRole::Content,
            ),
            ("encrypted", "Content-Type: application/octet-stream", PartRole::Content),
            ("mixed", "Content-Type: message/rfc822", PartRole::Attached),
            ("report", "Content-Type: message/rfc822", PartRole::Content),
            ("report", "Content-Type: message/delivery-status", PartRole::Content),
            ("digest", "Content-Type: message/rfc822", PartRole::Content),
        ] {
            assert_eq!(judge(parent, header), expected, "{parent} {header}");
        }
        let block = split(b"Content-Type: text/plain; name=a.txt\n\nx");
        let parts = take_apart(&block, &mut Problems::default());
        assert_eq!(role(&parts[0], &parts), PartRole::Content);
    }
}
