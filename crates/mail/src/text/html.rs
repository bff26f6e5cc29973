//! Converts HTML to the text that a reader would see.
//!
//! Input: HTML. Output: text without tags, scripts, styles and hidden elements, with entities decoded, white
//! space as a browser shows it, and a line for every block, so that words of different blocks do not run
//! together. This is not an HTML parser: wrong nesting does not matter to it. Does not depend on mail.
//!
//! mail-parser's conversion is not used: it knows no blocks but `<p>` and `<br>`, so that table cells run
//! together, and no entities without a semicolon.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::bytes::{after, before, cut};
use crate::text::entities::{Entity, read_entity};
use crate::text::hidden::{HiddenElements, Name};
use crate::text::links::{Collector, LinkList};

/// Returns the text of `html`, `length_max` bytes at most.
pub(crate) fn html_to_text(html: &str, length_max: usize) -> String {
    read(html, length_max, None).0
}

/// Returns the same text, and its links.
pub(crate) fn html_to_linked_text(html: &str, length_max: usize) -> (String, LinkList) {
    read(html, length_max, Some(Collector::default()))
}

fn read(html: &str, length_max: usize, links: Option<Collector>) -> (String, LinkList) {
    let mut reader = Reader { rest: html, links, ..Reader::default() };
    reader.text.out.reserve(html.len().div_euclid(4));
    while let Some(start) = memchr::memchr(b'<', reader.rest.as_bytes()) {
        let (plain, rest) = reader.rest.split_at_checked(start).unwrap_or((reader.rest, ""));
        reader.add(plain);
        reader.rest = rest;
        reader.read_markup();
        if reader.text.out.len() > length_max {
            break;
        }
    }
    let rest = reader.rest;
    if reader.text.out.len() <= length_max {
        reader.add(rest);
    }
    let Reader { text: Text { out: mut text, .. }, links, .. } = reader;
    let length = cut(text.trim_end(), length_max).len();
    let links = links.map(|links| links.finish(&text, length)).unwrap_or_default();
    text.truncate(length);
    (text, links)
}

/// The text written so far.
#[derive(Default)]
struct Text {
    out: String,
    /// The white space to write before the next word.
    gap: Gap,
    /// Within `<pre>`: line ends and spaces stay.
    is_preformatted: bool,
}

/// White space that was read but not written yet.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    None,
    Space,
    Line,
    Paragraph,
}

impl Text {
    fn gap(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    /// Adds text in which entities are still encoded.
    fn add_encoded(&mut self, mut text: &str) {
        while let Some(start) = memchr::memchr(b'&', text.as_bytes()) {
            let (plain, from_entity) = text.split_at_checked(start).unwrap_or((text, ""));
            self.add(plain);
            text = self.add_entity(from_entity);
        }
        self.add(text);
    }

    /// Adds the entity at the start of the text, and returns the rest. An ampersand that starts no entity is
    /// text.
    fn add_entity<'a>(&mut self, text: &'a str) -> &'a str {
        let Entity { character, rest, .. } = read_entity(text);
        self.add(character.as_deref().unwrap_or("&"));
        rest
    }

    /// Adds plain text.
    fn add(&mut self, text: &str) {
        if self.is_preformatted {
            return self.add_preformatted(text);
        }
        let mut rest = text;
        while !rest.is_empty() {
            let space = rest.len().saturating_sub(rest.trim_start_matches(is_space).len());
            if space > 0 {
                self.gap(Gap::Space);
            }
            rest = rest.get(space..).unwrap_or_default();
            let end = rest.find(is_space).unwrap_or(rest.len());
            let (word, next) = rest.split_at_checked(end).unwrap_or((rest, ""));
            self.add_word(word);
            rest = next;
        }
    }

    fn add_word(&mut self, word: &str) {
        if word.is_empty() {
            return;
        }
        if !self.out.is_empty() {
            self.out.push_str(match self.gap {
                Gap::None => "",
                Gap::Space => " ",
                Gap::Line => "\n",
                Gap::Paragraph => "\n\n",
            });
        }
        self.gap = Gap::None;
        self.out.push_str(word);
    }

    fn add_preformatted(&mut self, text: &str) {
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 && !self.out.is_empty() {
                self.out.push('\n');
                self.gap = Gap::None;
            }
            self.add_word(line.trim_end_matches('\r'));
        }
    }
}

/// White space of HTML, and the no-break space, which must not join words in the index.
fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\x0c' | '\0' | '\u{a0}')
}

#[derive(Default)]
struct Reader<'a> {
    rest: &'a str,
    text: Text,
    hidden: HiddenElements,
    /// The links so far, if requested.
    links: Option<Collector>,
    lacks_double_quote: bool,
    lacks_single_quote: bool,
    /// End marks that are known not to follow.
    missing: Vec<&'static str>,
}

impl<'a> Reader<'a> {
    /// Adds text, unless it is hidden here.
    fn add(&mut self, encoded: &str) {
        if !self.hidden.is_hidden() {
            self.text.add_encoded(encoded);
        }
    }

    /// Reads the markup that begins with `<`. Anything else after `<` is text.
    fn read_markup(&mut self) {
        let after = self.rest.get(1..).unwrap_or_default();
        match after.as_bytes() {
            [b'!', b'-', b'-', ..] => self.skip_past("-->"),
            [b'!' | b'?', ..] => self.skip_past(">"),
            [b'/', byte, ..] | [byte, ..] if byte.is_ascii_alphabetic() => self.read_tag(),
            _ => {
                self.add("<");
                self.rest = after;
            }
        }
    }

    /// Skips past the next `end`. Without one, only the bracket is left out.
    fn skip_past(&mut self, end: &'static str) {
        let found = self.find(end, |rest| memchr::memmem::find(rest, end.as_bytes()));
        let length = found.map_or(1, |start| start.saturating_add(end.len()));
        self.rest = self.rest.get(length..).unwrap_or_default();
    }

    /// Searches for `end`, unless an earlier search already failed.
    fn find(&mut self, end: &'static str, search: impl Fn(&[u8]) -> Option<usize>) -> Option<usize> {
        if self.missing.contains(&end) {
            return None;
        }
        let found = search(self.rest.as_bytes());
        if found.is_none() {
            self.missing.push(end);
        }
        found
    }

    fn read_tag(&mut self) {
        let after = self.rest.get(1..).unwrap_or_default();
        let (is_end, after) = after.strip_prefix('/').map_or((false, after), |after| (true, after));
        let length = after.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b':').count();
        let mut name = Name::default();
        for (to, from) in name.iter_mut().zip(after.bytes().take(length)) {
            *to = from.to_ascii_lowercase();
        }
        let attributes = self.skip_attributes(after.get(length..).unwrap_or_default());
        self.hidden.tag(&name, is_end, attributes);
        let name = if length <= name.len() { name.get(..length).unwrap_or_default() } else { b"" };
        self.read_link(name, is_end, attributes);
        match name {
            b"script" if !is_end => self.skip_element("script"),
            b"style" if !is_end => self.skip_element("style"),
            b"title" if !is_end => self.skip_element("title"),
            b"template" if !is_end => self.skip_element("template"),
            b"xml" if !is_end => self.skip_element("xml"),
            b"pre" => {
                self.text.gap(Gap::Line);
                self.text.is_preformatted = !is_end;
            }
            name => self.text.gap(gap_of(name)),
        }
    }

    /// Notes a tag that starts or ends a link, or says where relative links lead.
    fn read_link(&mut self, name: &[u8], is_end: bool, attributes: &str) {
        let Some(links) = &mut self.links else { return };
        let (out, is_hidden) = (&self.text.out, self.hidden.is_hidden());
        match (name, is_end) {
            (b"a", false) => links.start(attributes, out, is_hidden),
            (b"a", true) => links.end(out),
            (b"base", false) => links.base(attributes),
            (b"area", _) => links.area(attributes, out, is_hidden),
            _ => {}
        }
    }

    /// Skips past the `>` of a tag, ignoring those within quotes; a quote that is never closed is not a
    /// quote. Without a `>` this is not a tag, and neither is anything after it. Returns the attributes.
    fn skip_attributes(&mut self, attributes: &'a str) -> &'a str {
        let mut from = 0_usize;
        loop {
            let bytes = after(attributes.as_bytes(), from);
            let Some(found) = memchr::memchr3(b'>', b'"', b'\'', bytes) else {
                self.add(self.rest);
                self.rest = "";
                return "";
            };
            let is_value = before(bytes, found).trim_ascii_end().ends_with(b"=");
            from = from.saturating_add(found).saturating_add(1);
            let following = after(attributes.as_bytes(), from);
            let quoted = match bytes.get(found) {
                Some(b'"') if is_value => memchr_once(b'"', following, &mut self.lacks_double_quote),
                Some(b'\'') if is_value => memchr_once(b'\'', following, &mut self.lacks_single_quote),
                Some(b'"' | b'\'') => None,
                _ => break,
            };
            from = from.saturating_add(quoted.map_or(0, |length| length.saturating_add(1)));
        }
        self.rest = attributes.get(from..).unwrap_or_default();
        attributes.get(..from.saturating_sub(1)).unwrap_or_default()
    }

    /// Skips to the end of the element. Without an end, only its tag is left out.
    fn skip_element(&mut self, name: &'static str) {
        let end = self.find(name, |bytes| {
            memchr::memmem::find_iter(bytes, b"</").find(|start| {
                let tag = before(after(bytes, start.saturating_add(2)), name.len());
                tag.eq_ignore_ascii_case(name.as_bytes())
            })
        });
        self.rest = self.rest.get(end.unwrap_or_default()..).unwrap_or_default();
    }
}

/// Returns the white space that a browser shows before and after an element.
fn gap_of(name: &[u8]) -> Gap {
    match name {
        b"br" | b"div" | b"tr" | b"li" | b"dt" | b"dd" | b"hr" | b"option" | b"address" | b"center"
        | b"form" | b"section" | b"article" | b"header" | b"footer" | b"figure" | b"figcaption" | b"nav"
        | b"main" | b"aside" | b"body" | b"caption" | b"legend" => Gap::Line,
        b"p" | b"table" | b"ul" | b"ol" | b"dl" | b"blockquote" | b"h1" | b"h2" | b"h3" | b"h4" | b"h5"
        | b"h6" => Gap::Paragraph,
        b"td" | b"th" | b"img" | b"input" | b"button" | b"select" | b"textarea" => Gap::Space,
        _ => Gap::None,
    }
}

/// Finds a byte, unless it is known not to follow.
fn memchr_once(byte: u8, bytes: &[u8], lacks: &mut bool) -> Option<usize> {
    let found = if *lacks { None } else { memchr::memchr(byte, bytes) };
    *lacks = found.is_none();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(html: &str) -> String {
        html_to_text(html, 1 << 20)
    }

    #[test]
    fn blocks_stand_apart_and_inline_elements_do_not() {
        for (html, expected) in [
            ("plain", "plain"),
            ("<p>one<p>two", "one\n\ntwo"),
            ("<div>one</div><div>two</div>three", "one\ntwo\nthree"),
            ("one<br>two<BR/>three", "one\ntwo\nthree"),
            ("<td>one</td><td>two</td><tr>three", "one two\nthree"),
            ("<ul><li>one</li><li>two</li></ul>", "one\ntwo"),
            ("a <b>b</b>old <i>i</i>", "a bold i"),
            ("<h1>Title</h1>text", "Title\n\ntext"),
            ("  a \n\t b&nbsp; &nbsp;c ", "a b c"),
            ("a<pre>x  y\n  z</pre>b", "a\nx  y\n  z\nb"),
            ("a<img src=x>b", "a b"),
        ] {
            assert_eq!(show(html), expected, "{html}");
        }
    }

    #[test]
    fn what_is_not_shown_is_left_out() {
        for (html, expected) in [
            ("<html><head><title>t</title><style>p { x: y }</style></head><body>b", "b"),
            ("a<script>if (a < b) { x(\"</p>\") }</SCRIPT>b", "ab"),
            ("a<!-- no <b> --> b", "a b"),
            ("<!DOCTYPE html><?xml version=1?>a", "a"),
            ("<!--[if mso]><p>no</p><![endif]-->a", "a"),
            ("<![if !mso]>a<![endif]>", "a"),
            ("<a title=\"x > y\" href='>'>link</a>", "link"),
            ("<a title=\"never closed>link</a>", "link"),
            ("<p class=it's>text</p>", "text"),
            ("a<style>never closed", "anever closed"),
            ("a<!-- never closed", "a!-- never closed"),
        ] {
            assert_eq!(show(html), expected, "{html}");
        }
    }

    #[test]
    fn entities_are_decoded() {
        for (html, expected) in [
            ("&lt;p&gt; &amp;amp; &quot;&eacute;&#233;&#xE9;&quot;", "<p> &amp; \"ééé\""),
            ("it&#146;s &#8364; &euro;", "it’s € €"),
            ("a&nbsp b &copy 2004 &amp c", "a b © 2004 & c"),
            ("AT&T &unknown; & &; &#; &#x; &#1114112;", "AT&T &unknown; & &; &#; &#x; &#1114112;"),
            ("a&#0;b", "a b"),
            ("&lt;b&gt;not a tag&lt;/b&gt;", "<b>not a tag</b>"),
        ] {
            assert_eq!(show(html), expected, "{html}");
        }
    }

    #[test]
    fn what_is_no_tag_is_text() {
        for (html, expected) in
            [("a < b > c", "a < b > c"), ("1<2", "1<2"), ("a <b and c", "a <b and c"), ("<", "<"), ("", "")]
        {
            assert_eq!(show(html), expected, "{html}");
        }
    }

    #[test]
    fn the_length_has_a_limit() {
        let html = "<p>four é</p>".repeat(1000);
        for limit in 0..40 {
            let text = html_to_text(&html, limit);
            assert!(text.len() <= limit && text.len() + 4 > limit, "{limit} {text:?}");
        }
    }

    /// Each of these would take hours if every bracket started a new search.
    #[test]
    fn a_megabyte_of_nonsense_is_read_once() {
        for piece in [
            "<",
            "<!--",
            "<!",
            "<a",
            "<a x=\"",
            "<a x='",
            "<style>",
            "</",
            "&",
            "<a x=\"'>",
            "&#",
            "<pre>\n",
            "<div hidden>",
            "<p hidden>",
            "<td hidden><table>",
            "<i hidden></b>",
            "<a hidden=\"\"=\"\" >",
        ] {
            show(&piece.repeat((1 << 20) / piece.len()));
        }
    }
}
