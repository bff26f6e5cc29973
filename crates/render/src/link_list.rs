//! Lists where the links of a message lead: those of HTML, and addresses written in plain text.
//!
//! Input: a record with its text and links. Output: targets in the order of the text, each once. Does not
//! load anything.

use crate::links::{Link, on_one_line};
use crate::record::{Record, VERSION};
use linkify::{LinkFinder, LinkKind};
use mail::limits::LINK_BYTES_MAX;
use serde::Serialize;
use std::collections::HashSet;
use std::num::NonZeroUsize;

/// Most targets that are listed of one message.
const TARGET_COUNT_MAX: usize = 10_000;

/// A line of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LinkLine<'a> {
    version: u32,
    #[serde(rename = "type")]
    kind: &'static str,
    /// Where the link leads.
    pub target: &'a str,
}

impl LinkLine<'_> {
    /// Returns the line of a target.
    pub fn new(target: &str) -> LinkLine<'_> {
        LinkLine { version: VERSION, kind: "link", target }
    }
}

/// Returns the targets of all links, in the order of the text, each once and as one word. Targets that differ
/// only in a slash at the end count as one. Also returns how many more links there are: too many for a list.
pub fn link_targets(record: &Record<'_>) -> (Vec<String>, usize) {
    let text = record.text.unwrap_or_default();
    let mut found: Vec<(usize, &str)> = record.links.iter().map(|link| (start(link), link.target)).collect();
    let mut finder = LinkFinder::new();
    finder.kinds(&[LinkKind::Url]);
    // The text of a link of HTML is no link itself: it may show another address.
    let mut own = record.links.iter().filter(|link| !link.text.is_empty()).peekable();
    for link in finder.links(text).filter(|link| link.as_str().len() <= LINK_BYTES_MAX) {
        while own.next_if(|shown| shown.end <= link.start()).is_some() {}
        if own.peek().is_none_or(|shown| start(shown) >= link.end()) {
            found.push((link.start(), link.as_str()));
        }
    }
    found.sort_by_key(|(start, _)| *start);
    let mut known = HashSet::new();
    let is_new = |target: &&str| known.insert(target.strip_suffix('/').unwrap_or(target).to_owned());
    let mut targets: Vec<&str> = found.iter().map(|(_, target)| *target).filter(is_new).collect();
    let more = targets.len().saturating_sub(TARGET_COUNT_MAX);
    targets.truncate(TARGET_COUNT_MAX);
    let left_out = record.links_left_out.map_or(0, NonZeroUsize::get).saturating_add(more);
    (targets.into_iter().map(on_one_line).collect(), left_out)
}

/// Returns where the text of a link begins.
fn start(link: &Link<'_>) -> usize {
    link.end.saturating_sub(link.text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mail::{Context, Links};

    fn targets(message: &str) -> Vec<String> {
        let context = Context { links: Links::Listed, ..Context::new(0) };
        let message = mail::parse(message.as_bytes(), &context);
        all(&message).0
    }

    fn all(message: &mail::Message) -> (Vec<String>, usize) {
        link_targets(&Record::from_mail(message, &[0; 32], 0, (Vec::new(), Vec::new())))
    }

    #[test]
    fn links_of_html_and_of_plain_text_are_listed_once_and_in_order() {
        let message = "Content-Type: multipart/mixed; boundary=b\n\n\
            --b\n\nSee https://one.example/a, (http://two.example).\nftp://three.example/x\nana@example.org\n\
            --b\nContent-Type: text/html\n\n\
            <p><a href=\"https://four.example/\">https://bank.example/</a> https://five.example\n\
            <a href=\"mailto:bo@example.org\">Bo</a> <a href=\"https://one.example/a\">again</a>\
            <a href=\"http://two.example/\">two</a><img src=\"x\"></p>\n--b--\n";
        assert_eq!(
            targets(message),
            [
                "https://one.example/a",
                "http://two.example",
                "ftp://three.example/x",
                "https://four.example/",
                "https://five.example",
                "mailto:bo@example.org",
            ]
        );
    }

    #[test]
    fn a_target_is_one_word_and_there_are_not_too_many() {
        let html = "Content-Type: text/html\n\n<a href=\"x:a b\u{202e}\">y</a>";
        assert_eq!(targets(html), ["x:a%20b\u{fffd}"]);
        let many: String =
            (0..TARGET_COUNT_MAX + 5).map(|number| format!("https://e.example/{number}\n")).collect();
        let context = Context { links: Links::Listed, ..Context::new(0) };
        let (found, more) = all(&mail::parse(format!("Subject: x\n\n{many}").as_bytes(), &context));
        assert_eq!((found.len(), more), (TARGET_COUNT_MAX, 5));
        let html = "<a href=https://a/>four</a> ".repeat(mail::limits::LINK_COUNT_MAX + 3);
        let html = format!("Content-Type: text/html\n\n{html}");
        assert_eq!(all(&mail::parse(html.as_bytes(), &context)).1, 3);
        let long = format!("Subject: x\n\nhttps://e.example/{}\n", "x".repeat(LINK_BYTES_MAX));
        assert_eq!(targets(&long), [""; 0]);
    }
}
