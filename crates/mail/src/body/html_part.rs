//! Extracts the HTML of a message unchanged.
//!
//! Input: the bytes of a message. Output: the text of its first HTML part. The caller must sanitise it before
//! showing it. Does not depend on HTML.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::body::part_text::label;
use crate::bytes::with_line_feeds;
use crate::decode::charset;
use crate::decode::transfer::decode;
use crate::header::block::{skip_envelope, split};
use crate::mime::content_fields::Disposition;
use crate::mime::parts::{Body, is_inside, take_apart};
use crate::problem::Problems;

/// Returns the first HTML part of the message itself: not an attachment, and not in a nested message.
#[must_use]
pub fn html_part(bytes: &[u8]) -> Option<String> {
    let bytes = with_line_feeds(bytes);
    let mut problems = Problems::default();
    let parts = take_apart(&split(skip_envelope(&bytes)), &mut problems);
    let part = parts.iter().find(|part| {
        part.content.is_html()
            && part.content.disposition != Disposition::Attachment
            && !is_inside(part, &parts, |body| matches!(body, Body::Message { .. }))
    })?;
    let Body::Leaf(content) = &part.body else { return None };
    let (decoded, _) = decode(content, part.content.transfer);
    let label = label(&part.content, &decoded);
    let fallback = parts.iter().find_map(|part| charset::encoding(part.content.charset.as_deref()?));
    Some(charset::decode(&decoded, label.as_deref(), fallback, &mut problems).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_html_of_the_message_itself_is_decoded() {
        let html = "--b\nContent-Type: text/html; charset=latin1\n\
            Content-Transfer-Encoding: quoted-printable\n\n<p>gr=FC=DF=\ne</p>\n";
        let mixed = |parts: &str| {
            format!(
                "Content-Type: multipart/mixed; boundary=b\n\n\
                 --b\nContent-Type: text/plain\n\nhi\n{parts}--b--\n"
            )
        };
        assert_eq!(html_part(mixed(html).as_bytes()).as_deref(), Some("<p>grüße</p>"));
        let attached = html.replace("latin1\n", "latin1\nContent-Disposition: attachment\n");
        assert_eq!(html_part(mixed(&attached).as_bytes()), None);
        let nested = "--b\nContent-Type: message/rfc822\n\nContent-Type: text/html\n\n<p>inner</p>\n";
        assert_eq!(html_part(mixed(nested).as_bytes()), None);
        assert_eq!(html_part(b"Subject: x\n\ntext"), None);
        let meta = b"Content-Type: text/html\n\n<meta charset=\"iso-8859-1\">\xfc";
        assert_eq!(html_part(meta).as_deref(), Some("<meta charset=\"iso-8859-1\">ü"));
    }
}
