//! The text of HTML with its formatting and links. Input: HTML. Output: HTML, of which only this is left.
//! Must not know the page that it is put into.

use crate::cost::is_bearable;
use crate::stoppable::Stoppable;
use ammonia::{Builder, UrlRelative};
use std::borrow::Cow;
use std::time::{Duration, Instant};
use work::Cancel;

/// How long parsing may take, which some HTML does within the limits of its tree: a tag with a hundred
/// thousand attributes.
const PARSE_TIME_MAX: Duration = Duration::from_secs(2);

/// Returns HTML with nothing left but formatted text and links; `None` for HTML that is too large, too deep
/// or takes too long, or once `cancel` says so.
pub fn formatted(html: &str, cancel: &Cancel) -> Option<String> {
    let cancel = cancel.clone().with_deadline(Instant::now() + PARSE_TIME_MAX);
    if !is_bearable(html, &cancel) {
        return None;
    }
    let bytes = Stoppable { rest: html.as_bytes(), cancel: &cancel };
    cleaner().clean_from_reader(bytes).ok().map(|document| document.to_string())
}

/// Returns the sanitiser, which keeps only formatted text and links to other places.
fn cleaner() -> Builder<'static> {
    let mut builder = Builder::default();
    builder.url_schemes(["http", "https", "mailto"].into()).url_relative(UrlRelative::Deny);
    // Loading an image would tell the sender that the message was read. Its description is kept.
    builder.attribute_filter(|element, attribute, value| match (element, attribute) {
        ("a", _) => Some(Cow::Borrowed(value)),
        (_, "src" | "href" | "cite" | "background" | "srcset") => None,
        _ => Some(Cow::Borrowed(value)),
    });
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_active_or_loaded_is_left_of_html() {
        let html = "<html><head><style>p{}</style><script>alert(1)</script><meta http-equiv=refresh \
            content=0></head><body background=http://e/x onload=x()><p style='background:url(http://e)' \
            onclick=x()>text <b>bold</b></p><img src=http://e/pixel alt=cat width=1><img \
            src=\"data:image/svg+xml,x\"><img srcset='http://e/1 1x'><a href=http://e/link>link</a><a \
            href=javascript:x()>bad</a><a href=/relative>here</a><iframe src=http://e></iframe><form \
            action=http://e><input name=password></form><svg onload=x()></svg><object \
            data=http://e></object><blockquote cite=http://e>quote</blockquote><link rel=stylesheet \
            href=http://e><video src=http://e></video></body></html>";
        insta::assert_snapshot!(formatted(html, &Cancel::new()).unwrap(), @r#"<p>text <b>bold</b></p><img width="1" alt="cat"><img><img><a href="http://e/link" rel="noopener noreferrer">link</a><a rel="noopener noreferrer">bad</a><a rel="noopener noreferrer">here</a><blockquote>quote</blockquote>"#);
    }

    #[test]
    fn a_request_that_was_stopped_cleans_nothing() {
        let cancelled = Cancel::new();
        cancelled.cancel();
        assert_eq!(formatted("text", &cancelled), None);
        let text = "Grüße \u{1f4ee} ".repeat(500);
        assert_eq!(formatted(&text, &Cancel::new()), Some(text));
    }
}
