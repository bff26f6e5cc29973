//! Cuts HTML between its tags.
//!
//! Input: HTML and a length. Output: its beginning. What is a tag is decided as in `html.rs`: quoted values
//! may hold a `>`, a quote that is never closed is none, and without a `>` nothing that follows is a tag.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::bytes::{after, before};

/// Returns the first `length` bytes of HTML at most, without a character, tag or comment that is cut.
pub(crate) fn cut_html(html: &str, length: usize) -> &str {
    let end = html.floor_char_boundary(length);
    let mut from = 0_usize;
    let mut lacks_comment_end = false;
    while let Some(found) =
        memchr::memchr(b'<', before(after(html.as_bytes(), from), end.saturating_sub(from)))
    {
        let start = from.saturating_add(found);
        let markup = after(html.as_bytes(), start);
        let markup_length = match after(markup, 1) {
            [b'!', b'-', b'-', ..] => {
                let found = if lacks_comment_end { None } else { memchr::memmem::find(markup, b"-->") };
                lacks_comment_end = found.is_none();
                found.map_or(1, |found| found.saturating_add(3))
            }
            [b'!' | b'?', ..] => match memchr::memchr(b'>', markup) {
                Some(found) => found.saturating_add(1),
                None => break,
            },
            [b'/', byte, ..] | [byte, ..] if byte.is_ascii_alphabetic() => match tag_length(markup) {
                Some(length) => length,
                None => break,
            },
            _ => 1,
        };
        from = start.saturating_add(markup_length);
        if from > end {
            return html.get(..start).unwrap_or_default();
        }
    }
    html.get(..end).unwrap_or_default()
}

/// Returns the length of the tag at the start of the bytes; `None` if it is not closed.
fn tag_length(markup: &[u8]) -> Option<usize> {
    let mut from = 1_usize;
    let (mut lacks_double, mut lacks_single) = (false, false);
    loop {
        let rest = after(markup, from);
        let found = memchr::memchr3(b'>', b'"', b'\'', rest)?;
        let is_value = before(rest, found).trim_ascii_end().ends_with(b"=");
        from = from.saturating_add(found).saturating_add(1);
        let (quote, lacks) = match rest.get(found) {
            Some(b'"') => (b'"', &mut lacks_double),
            Some(b'\'') => (b'\'', &mut lacks_single),
            _ => return Some(from),
        };
        if is_value && !*lacks {
            let closing = memchr::memchr(quote, after(markup, from));
            *lacks = closing.is_none();
            from = from.saturating_add(closing.map_or(0, |closing| closing.saturating_add(1)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_is_cut_between_tags() {
        let html = "<p a=\"x > y\">é <b>bold</b> 1 < 2 <!-- a > b --> <a href=x";
        let beginnings: Vec<&str> = (0..=html.len()).map(|length| cut_html(html, length)).collect();
        let mut expected = beginnings.clone();
        expected.dedup();
        assert!(beginnings.iter().enumerate().all(|(length, cut)| cut.len() <= length));
        let tags = ["<p a=\"x > y\">", "<b>", "</b>", "<!-- a > b -->"];
        for cut in &expected {
            assert!(html.starts_with(cut));
            for tag in tags {
                let place = html.find(tag).unwrap_or_default();
                assert!(cut.len() <= place || cut.len() >= place + tag.len(), "{cut:?} is cut in {tag}");
            }
        }
        // Everything else is a place to cut: each character outside of the tags, and the tag that is not
        // closed.
        assert_eq!(expected.len(), html.chars().count() - tags.join("").len() + tags.len() + 1);
    }

    #[test]
    fn a_quote_that_is_not_closed_is_none_and_nonsense_is_read_once() {
        assert_eq!(cut_html("<a b=\"c>text</a>", 14), "<a b=\"c>text");
        assert_eq!(cut_html("<!-- open text", 10), "<!-- open ");
        for piece in ["<a b=\"", "<a b='>", "<!--", "<!", "<a <b ", "<", "=\"", "<a b=\">'"] {
            let html = piece.repeat((1 << 20) / piece.len());
            assert!(cut_html(&html, html.len() - 1).len() < html.len());
        }
    }
}
