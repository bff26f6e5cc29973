//! Collects the targets of links in HTML.
//!
//! Input: the tags `a` and `area` with their attributes, and the text written so far. Output: for each link
//! to another place, the range of its text, and its target as a browser reads it. Relative links lead
//! somewhere only after a `base` with an address of the web; links within the page lead nowhere in a message.
//! Does not depend on how links are shown.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::ops::Range;

use crate::bytes::cut;
use crate::limits::{LINK_BYTES_MAX, LINK_COUNT_MAX};
use crate::text::entities::decode_attribute;
use crate::text::hidden::next_attribute;

/// Whether links are collected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// No.
    #[default]
    Ignored,
    /// Yes.
    Listed,
}

/// A link of a text that was HTML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The range of its text in [`Message::text`](crate::Message::text); empty for a picture.
    pub text: Range<usize>,
    /// The target. It has a scheme, which may be any, and may contain control characters. A target longer
    /// than [`LINK_BYTES_MAX`] is cut, and ends in `…`.
    pub target: String,
    /// The end of the text of its part.
    pub part_end: usize,
}

/// The links of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkList {
    /// Each in the order in which they end, [`LINK_COUNT_MAX`] at most.
    pub list: Vec<Link>,
    /// How many links were left out.
    pub left_out_count: usize,
}

impl LinkList {
    /// Adds a link if there is room.
    pub(crate) fn add(&mut self, link: Link) {
        if self.list.len() < LINK_COUNT_MAX {
            self.list.push(link);
        } else {
            self.left_out_count = self.left_out_count.saturating_add(1);
        }
    }
}

/// Collects the links of one HTML.
#[derive(Default)]
pub(crate) struct Collector {
    base: Base,
    open: Option<Open>,
    found: LinkList,
}

/// What relative links are relative to.
#[derive(Default)]
enum Base {
    /// No element `base` was read yet.
    #[default]
    Unknown,
    /// The first one names no address of the web, so relative links lead nowhere.
    Unusable,
    /// An address with the scheme `http` or `https`, without query and fragment.
    Web(String),
}

/// A link whose end was not read yet.
struct Open {
    target: String,
    start: usize,
    is_hidden: bool,
}

impl Collector {
    /// Sets what the relative links that follow are relative to. As in browsers, the first `base` with an
    /// address counts.
    pub(crate) fn base(&mut self, attributes: &str) {
        if matches!(self.base, Base::Unknown)
            && let Some(address) = address(attributes)
        {
            self.base = web_base(&address).map_or(Base::Unusable, Base::Web);
        }
    }

    /// Starts a link. `out` is the text before it. Ends the one that is open: links are not nested.
    pub(crate) fn start(&mut self, attributes: &str, out: &str, is_hidden: bool) {
        self.end(out);
        let target = self.target(attributes);
        self.open = target.map(|target| Open { target, start: out.len(), is_hidden });
    }

    /// Adds a link of a picture.
    pub(crate) fn area(&mut self, attributes: &str, out: &str, is_hidden: bool) {
        if let Some(target) = self.target(attributes).filter(|_| !is_hidden) {
            self.found.add(Link { text: out.len()..out.len(), target, part_end: 0 });
        }
    }

    /// Returns where a link with these attributes leads, if to another place.
    fn target(&self, attributes: &str) -> Option<String> {
        let address = address(attributes)?;
        let mut target = match &self.base {
            _ if is_absolute(&address) => address,
            Base::Web(base) => join(base, &address)?,
            Base::Unknown | Base::Unusable => return None,
        };
        if target.len() > LINK_BYTES_MAX {
            target.truncate(target.floor_char_boundary(LINK_BYTES_MAX));
            target.push('…');
        }
        Some(target)
    }

    /// Ends the open link, if there is one. `out` is the text so far. A link that starts hidden and has no
    /// text is left out, as a reader cannot see it.
    pub(crate) fn end(&mut self, out: &str) {
        let Some(Open { target, start, is_hidden }) = self.open.take() else { return };
        let written = out.get(start..).unwrap_or_default();
        let end = start.saturating_add(written.trim_end().len());
        let start = out.len().saturating_sub(written.trim_start().len()).min(end);
        if start < end || !is_hidden {
            self.found.add(Link { text: start..end, target, part_end: 0 });
        }
    }

    /// Returns the links of a text that was cut to a length.
    pub(crate) fn finish(mut self, out: &str, length: usize) -> LinkList {
        self.end(out);
        for link in &mut self.found.list {
            link.text = link.text.start.min(length)..link.text.end.min(length);
            link.part_end = length;
        }
        self.found
    }
}

/// Returns the address in `href`, as browsers read it: https://url.spec.whatwg.org/#concept-basic-url-parser
fn address(attributes: &str) -> Option<String> {
    let mut rest = attributes;
    let href = loop {
        let (name, value, next) = next_attribute(rest)?;
        if name.eq_ignore_ascii_case("href") {
            break value;
        }
        rest = next;
    };
    // A byte of a target may be written as an entity of some ten.
    let decoded = decode_attribute(cut(href, LINK_BYTES_MAX.saturating_mul(16)));
    let trimmed = decoded.trim_matches(|character: char| character <= ' ');
    Some(trimmed.replace(['\t', '\n', '\r'], ""))
}

/// Returns an address without query and fragment, if it is one of the web that can be joined with relative
/// links: it names a host, and no user.
fn web_base(address: &str) -> Option<String> {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = address.split_once("://")?;
    let host = rest.split('/').next().unwrap_or_default();
    let is_strange = |character: char| character <= ' ' || character.is_control() || character == '\\';
    let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    let is_usable = is_web
        && !host.is_empty()
        && !host.contains('@')
        && !address.contains(is_strange)
        && address.len() <= LINK_BYTES_MAX;
    is_usable.then(|| address.to_owned())
}

/// Returns where a relative link leads. `.` and `..` stay in it: they lead to the same place. `None` for a
/// link within the page, and for one that browsers may read otherwise: with a backslash, or with a colon
/// before the first slash.
fn join(base: &str, relative: &str) -> Option<String> {
    let first = relative.split(['/', '?', '#']).next().unwrap_or_default();
    if relative.is_empty() || relative.starts_with('#') || relative.contains('\\') || first.contains(':') {
        return None;
    }
    let (scheme, rest) = base.split_once("://")?;
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let folder = path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
    Some(if let Some(other) = relative.strip_prefix("//") {
        let other_host = other.split(['/', '?', '#']).next().unwrap_or_default();
        return (!other_host.is_empty()).then(|| format!("{scheme}://{other}"));
    } else if relative.starts_with('/') {
        format!("{scheme}://{host}{relative}")
    } else if relative.starts_with('?') {
        format!("{scheme}://{host}/{path}{relative}")
    } else {
        format!("{scheme}://{host}/{folder}{relative}")
    })
}

/// Returns whether a target names a scheme, and something of it.
fn is_absolute(target: &str) -> bool {
    let Some((scheme, rest)) = target.split_once(':') else { return false };
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(is_inner)
        && !rest.trim_matches(['/', ' ']).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::html::html_to_linked_text;

    /// Shows links as `text -> target`.
    fn links(html: &str) -> Vec<String> {
        let (text, found) = html_to_linked_text(html, 1 << 20);
        found.list.iter().map(|link| format!("{} -> {}", &text[link.text.clone()], link.target)).collect()
    }

    #[test]
    fn links_have_a_text_and_a_target() {
        for (html, expected) in [
            (
                "see <a href=\"https://a.example/x?y=1&amp;z\"> the\n <b>page</b> </a>.",
                "the page -> https://a.example/x?y=1&z",
            ),
            ("<A class=x HREF='mailto:a@b'>write</A>", "write -> mailto:a@b"),
            ("<a href=javascript:x()>go</a>", "go -> javascript:x()"),
            ("<a href='https://a/'><img alt=cat src=x></a>", " -> https://a/"),
            ("<map><area href=https://a/></map>", " -> https://a/"),
            ("<a href=https://a/>one<a href=https://b/>two", "one -> https://a/|two -> https://b/"),
            ("<a href=https://a/ href=https://b/>first</a>", "first -> https://a/"),
            ("<a href=https://a/><p>one</p><p>two</p></a>", "one\n\ntwo -> https://a/"),
            ("<a href=\" \u{1} java\nscr\tipt:x \">go</a>", "go -> javascript:x"),
            ("<a href='&#x68;ttps://a/&#10;b'>go</a>", "go -> https://a/b"),
            // Without a semicolon, a name before `=` is part of a query.
            (
                "<a href='https://a/?b=1&copy=2&lt=3&amp=4&#38=5'>go</a>",
                "go -> https://a/?b=1&copy=2&lt=3&amp=4&=5",
            ),
            ("<a href=#top>top</a><a href=/x>x</a><a href=x.html>y</a><a href=//h/x>z</a>", ""),
            ("<a href=''>x</a><a href='http://'>y</a><a name=z>z</a><a href='mailto:'>m</a>", ""),
            ("<a href='1http:x'>x</a><a href=':x'>y</a><a href='a b:c'>z</a>", ""),
            ("&lt;a href=https://a/&gt;no", ""),
        ] {
            assert_eq!(links(html).join("|"), expected, "{html}");
        }
    }

    #[test]
    fn relative_links_lead_where_the_base_says() {
        let base = "<base target=_blank><base href='https://a.example/news/1.html?x#y'>";
        for (html, expected) in [
            ("<a href=2.html>x</a>", "x -> https://a.example/news/2.html"),
            ("<a href='2?a=1&amp;b'>x</a>", "x -> https://a.example/news/2?a=1&b"),
            ("<a href=../z>x</a>", "x -> https://a.example/news/../z"),
            ("<a href=/z>x</a>", "x -> https://a.example/z"),
            ("<a href=?page=2>x</a>", "x -> https://a.example/news/1.html?page=2"),
            ("<a href=//b.example/z>x</a>", "x -> https://b.example/z"),
            ("<a href=http://c.example/>x</a>", "x -> http://c.example/"),
            ("<area href=2>", " -> https://a.example/news/2"),
            // A browser may read these in another way.
            ("<a href='\\\\b.example'>x</a><a href='/\\b.example'>y</a><a href=1http:x>z</a>", ""),
            ("<a href=#top>x</a><a href=''>y</a><a href=//>z</a><a href=http://>z</a><a href=mailto:>m", ""),
            // The first one counts.
            ("<base href=https://b.example/><a href=z>x</a>", "x -> https://a.example/news/z"),
        ] {
            assert_eq!(links(&format!("{base}{html}")).join("|"), expected, "{html}");
        }
        assert_eq!(links("<base href=HTTP://a><a href=z>x</a>"), ["x -> HTTP://a/z"]);
        for unusable in
            ["ftp://a/", "/a/", "https://", "https://u@a/", "https:\\\\a/", "https://a b/", "javascript:x"]
        {
            let html = format!("<base href='{unusable}'><base href=https://b/><a href=z>x</a>");
            assert_eq!(links(&html).join("|"), "", "{unusable}");
        }
    }

    #[test]
    fn what_is_hidden_is_no_link_unless_its_text_is_shown() {
        for (html, expected) in [
            ("<div style='display:none'><a href=https://a/>x</a></div>y", ""),
            ("<div hidden><area href=https://a/></div>y", ""),
            // A browser ends the division, and goes on with the link.
            ("<div hidden><a href=https://a/>x</div>shown</a>", "shown -> https://a/"),
            ("<a href=https://a/><span hidden>good</span>bad</a>", "bad -> https://a/"),
        ] {
            assert_eq!(links(html).join("|"), expected, "{html}");
        }
    }

    #[test]
    fn links_change_no_text_and_have_limits() {
        let long = format!("<a href='data:{}é'>x</a>", "é".repeat(LINK_BYTES_MAX));
        let found = html_to_linked_text(&long, 100).1;
        assert!(found.list[0].target.ends_with("é…") && found.list[0].target.len() <= LINK_BYTES_MAX + 3);
        let many = "<a href=https://a/>four</a> ".repeat(LINK_COUNT_MAX + 3);
        let (text, found) = html_to_linked_text(&many, 1 << 20);
        assert_eq!(text, crate::text::html::html_to_text(&many, 1 << 20));
        assert_eq!((found.list.len(), found.left_out_count), (LINK_COUNT_MAX, 3));
        for limit in 0..40 {
            let (text, found) = html_to_linked_text(&many, limit);
            assert!(found.list.iter().all(|link| text.get(link.text.clone()).is_some()), "{limit}");
        }
    }
}
