//! Decides which parts of a message are attachments.
//!
//! Parts come in, for each a verdict goes out. Knows nothing of contents.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::content::Disposition;
use crate::derived::is_signature;
use crate::parts::{Body, Part};

/// One attachment of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attachment {
    /// The name of the file as the sender gave it, never to be used as a path; or empty.
    pub name: String,
    /// Type and subtype in lower case.
    pub mime: String,
    /// The size of the decoded content.
    pub size_bytes: u64,
}

/// Whether a part is an attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is the message itself.
    Content,
    /// It is a file, but one that belongs into the text, such as a picture. Listed, and no reason to say that the message
    /// has attachments.
    Embedded,
    /// It is an attachment.
    Attached,
}

/// Judges a part by its type, its disposition and the part it lies in.
pub(crate) fn verdict(part: &Part<'_>, parts: &[Part<'_>]) -> Verdict {
    let parent =
        part.parent.and_then(|number| parts.get(number)).map_or("", |parent| parent.content.mime.as_str());
    let content = &part.content;
    let is_asked = content.disposition == Disposition::Attachment;
    match part.body {
        Body::Multipart => Verdict::Content,
        Body::Sealed { .. } => Verdict::Content,
        _ if is_signature(&content.mime) || content.is_smime() || parent == "multipart/encrypted" => {
            Verdict::Content
        }
        Body::Message { .. } if !is_asked && matches!(parent, "multipart/digest" | "multipart/report") => {
            Verdict::Content
        }
        Body::Message { .. } => Verdict::Attached,
        Body::Leaf(_) if is_asked => Verdict::Attached,
        Body::Leaf(_) if content.is_text() && (content.name.is_empty() || part.parent.is_none()) => {
            Verdict::Content
        }
        Body::Leaf(_) if parent == "multipart/related" => Verdict::Embedded,
        Body::Leaf(_) => Verdict::Attached,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::split;
    use crate::parts::take_apart;
    use crate::problem::Problems;

    fn judge(parent: &str, header: &str) -> Verdict {
        let text =
            format!("Content-Type: multipart/{parent}; boundary=b\n\n--b\n{header}\n\nA: b\n\nx\n--b--");
        let block = split(text.as_bytes());
        let parts = take_apart(&block, &mut Problems::default());
        verdict(&parts[1], &parts)
    }

    #[test]
    fn parts_are_judged() {
        for (parent, header, expected) in [
            ("mixed", "Content-Type: text/plain", Verdict::Content),
            ("mixed", "Content-Type: text/plain; name=a.txt", Verdict::Attached),
            ("mixed", "Content-Disposition: attachment", Verdict::Attached),
            ("mixed", "Content-Type: application/pdf", Verdict::Attached),
            ("mixed", "Content-Type: image/png\nContent-Disposition: inline", Verdict::Attached),
            ("related", "Content-Type: image/png", Verdict::Embedded),
            ("related", "Content-Type: image/png\nContent-Disposition: attachment", Verdict::Attached),
            ("signed", "Content-Type: application/pgp-signature; name=a.asc", Verdict::Content),
            (
                "mixed",
                "Content-Type: application/pkcs7-mime\nContent-Disposition: attachment",
                Verdict::Content,
            ),
            ("encrypted", "Content-Type: application/octet-stream", Verdict::Content),
            ("mixed", "Content-Type: message/rfc822", Verdict::Attached),
            ("report", "Content-Type: message/rfc822", Verdict::Content),
            ("report", "Content-Type: message/delivery-status", Verdict::Content),
            ("digest", "Content-Type: message/rfc822", Verdict::Content),
        ] {
            assert_eq!(judge(parent, header), expected, "{parent} {header}");
        }
        let block = split(b"Content-Type: text/plain; name=a.txt\n\nx");
        let parts = take_apart(&block, &mut Problems::default());
        assert_eq!(verdict(&parts[0], &parts), Verdict::Content);
    }
}
