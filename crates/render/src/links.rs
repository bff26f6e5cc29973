//! Shows where the links of a text lead: a number in brackets after the text of each, and a list of the
//! numbers' targets below the part.
//!
//! Input: a text with its links. Output: text. A link whose text is its target has no number. Links with one
//! target have one number. The caller sanitises the text; targets are on one line each here.

use printable::sanitise::one_line;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// A link of a text that was HTML.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Link<'a> {
    /// Its text; empty for a picture.
    pub text: &'a str,
    /// Its target.
    pub target: &'a str,
    /// Where its text ends.
    #[serde(skip)]
    pub end: usize,
    /// Where the text of its part ends.
    #[serde(skip)]
    pub part_end: usize,
}

/// Returns the links of a text.
pub(crate) fn of_text<'m>(text: &'m str, links: &'m mail::LinkList) -> Vec<Link<'m>> {
    let link = |link: &'m mail::Link| {
        let text = text.get(link.text.clone()).unwrap_or_default();
        Link { text, target: &link.target, end: link.text.end, part_end: link.part_end }
    };
    links.list.iter().map(link).collect()
}

/// Returns the text of one part, with its links.
pub fn part_text(part: &mail::PartText) -> Cow<'_, str> {
    let links = of_text(&part.text, &part.links);
    let links: Vec<Link<'_>> =
        links.into_iter().map(|link| Link { part_end: part.text.len(), ..link }).collect();
    with_links(&part.text, &links, part.links.left_out_count)
}

/// Returns a text with numbers and lists. `left_out_count` is how many more links the message has.
pub fn with_links<'a>(text: &'a str, links: &[Link<'_>], left_out_count: usize) -> Cow<'a, str> {
    if links.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut shown = Shown { text, copied: 0, out: String::with_capacity(text.len() * 2) };
    let mut numbers = Numbers::default();
    for part in links.chunk_by(|a, b| a.part_end == b.part_end) {
        let first = numbers.targets.len();
        for link in part.iter().filter(|link| !link.text.is_empty()) {
            if let Some(number) = numbers.of_text(link) {
                shown.copy_to(link.end);
                write!(shown.out, "[{number}]").expect("writing to a string");
            }
        }
        part.iter().filter(|link| link.text.is_empty()).for_each(|link| numbers.of_picture(link));
        shown.copy_to(part.first().map_or(0, |link| link.part_end));
        shown.list(&numbers, first);
    }
    if left_out_count > 0 {
        let links = if left_out_count == 1 { "link is" } else { "links are" };
        write!(shown.out, "\n({left_out_count} more {links} not listed)").expect("writing to a string");
    }
    shown.copy_to(text.len());
    Cow::Owned(shown.out)
}

/// A text that is copied, with insertions.
struct Shown<'a> {
    text: &'a str,
    copied: usize,
    out: String,
}

impl Shown<'_> {
    fn copy_to(&mut self, end: usize) {
        if let Some(piece) = self.text.get(self.copied..end) {
            self.out.push_str(piece);
            self.copied = end;
        }
    }

    /// Adds the targets from the number after `first` on.
    fn list(&mut self, numbers: &Numbers<'_>, first: usize) {
        for (index, (target, is_picture)) in numbers.targets.iter().enumerate().skip(first) {
            let begin = if index > first {
                ""
            } else if self.out.is_empty() {
                "Links:\n"
            } else {
                "\n\nLinks:\n"
            };
            let end = if index + 1 < numbers.targets.len() { "\n" } else { "" };
            let note = if *is_picture { " (picture)" } else { "" };
            write!(self.out, "{begin}[{}] {}{note}{end}", index + 1, on_one_line(target))
                .expect("writing to a string");
        }
    }
}

/// The numbers of targets.
#[derive(Default)]
struct Numbers<'a> {
    /// In order, and whether only a picture has this target.
    targets: Vec<(&'a str, bool)>,
    known: HashMap<&'a str, usize>,
    /// Targets that are in the text.
    written: HashSet<&'a str>,
}

impl<'a> Numbers<'a> {
    /// Returns the number of a link, if it needs one.
    fn of_text(&mut self, link: &Link<'a>) -> Option<usize> {
        if is_own_target(link.text, link.target) {
            self.written.insert(link.target);
            return None;
        }
        Some(self.number(link.target, false))
    }

    /// Lists a picture's target, unless it is listed or visible already.
    fn of_picture(&mut self, link: &Link<'a>) {
        if !self.written.contains(link.target) {
            self.number(link.target, true);
        }
    }

    fn number(&mut self, target: &'a str, is_picture: bool) -> usize {
        if let Some(number) = self.known.get(target) {
            return *number;
        }
        self.targets.push((target, is_picture));
        self.known.insert(target, self.targets.len());
        self.targets.len()
    }
}

/// Returns whether the text of a link is its target, as a reader would write it.
fn is_own_target(text: &str, target: &str) -> bool {
    let bare = |address: &'_ str| address.strip_suffix('/').unwrap_or(address).len();
    let (text, target) = (text.trim(), target.trim());
    let (text, target) =
        (text.get(..bare(text)).unwrap_or(text), target.get(..bare(target)).unwrap_or(target));
    let schemes = ["https://", "http://", "mailto:"];
    text == target || schemes.iter().any(|scheme| target.strip_prefix(scheme) == Some(text))
}

/// Returns a target as one word: no white space of it can make it look like two, or like a line of the list.
pub(crate) fn on_one_line(target: &str) -> String {
    let mut out = String::with_capacity(target.len());
    for character in one_line(target).chars() {
        if character.is_whitespace() {
            let mut bytes = [0; 4];
            character.encode_utf8(&mut bytes).bytes().for_each(|byte| {
                write!(out, "%{byte:02X}").expect("writing to a string");
            });
        } else {
            out.push(character);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes links of `{text|target}` in a text; a part ends with `~`.
    fn shown(marked: &str, left_out_count: usize) -> String {
        let (mut text, mut ranges, mut first) = (String::new(), Vec::new(), 0);
        for part in marked.split('~') {
            for piece in part.split('}') {
                let (before, link) =
                    piece.split_once('{').map_or((piece, None), |(before, link)| (before, Some(link)));
                text.push_str(before);
                if let Some((shown, target)) = link.and_then(|link| link.split_once('|')) {
                    let start = text.len();
                    text.push_str(shown);
                    ranges.push((start..text.len(), target, 0));
                }
            }
            ranges[first..].iter_mut().for_each(|range| range.2 = text.len());
            first = ranges.len();
        }
        let link = |(range, target, part_end): &(std::ops::Range<usize>, &'static str, usize)| Link {
            text: text.get(range.clone()).unwrap(),
            target,
            end: range.end,
            part_end: *part_end,
        };
        // The marks are constants of the tests.
        let ranges: Vec<_> = ranges
            .into_iter()
            .map(|(range, target, end)| (range, &*Box::leak(target.to_owned().into_boxed_str()), end))
            .collect();
        let links: Vec<Link<'_>> = ranges.iter().map(link).collect();
        with_links(&text, &links, left_out_count).into_owned()
    }

    #[test]
    fn numbers_stand_behind_links_and_targets_below() {
        let text = "See {the page|https://a/x} or {write|mailto:a@b}, or {here|https://a/x}.";
        insta::assert_snapshot!(shown(text, 0), @r"
        See the page[1] or write[2], or here[1].

        Links:
        [1] https://a/x
        [2] mailto:a@b
        ");
        assert_eq!(shown("none", 0), "none");
    }

    #[test]
    fn each_part_has_its_list() {
        insta::assert_snapshot!(shown("{one|x:1}~\n\n{two|x:2} {again|x:1}~\n\n{ours|x:1}", 3), @r"
        one[1]

        Links:
        [1] x:1

        two[2] again[1]

        Links:
        [2] x:2

        ours[1]
        (3 more links are not listed)
        ");
    }

    #[test]
    fn a_link_that_is_its_own_target_is_not_repeated_and_one_that_only_looks_so_is() {
        for (text, target) in [
            ("https://a.example/x", "https://a.example/x"),
            ("a.example", "https://a.example/"),
            ("www.a.example/", "http://www.a.example"),
            ("ana@example.org", "mailto:ana@example.org"),
        ] {
            assert!(is_own_target(text, target), "{text}");
        }
        for (text, target) in [
            ("https://bank.example", "https://bank.example.evil.example"),
            ("https://bank.example", "http://bank.example"),
            ("https://bank.ex\u{430}mple", "https://bank.example"),
            ("ana@example.org", "mailto:ana@example.org?subject=x"),
            ("bank.example", "https://ana@bank.example"),
        ] {
            assert!(!is_own_target(text, target), "{text}");
        }
        assert_eq!(
            shown("{https://bank.example|https://evil.example}", 1),
            "https://bank.example[1]\n\nLinks:\n[1] https://evil.example\n(1 more link is not listed)"
        );
    }

    #[test]
    fn pictures_have_no_number_in_the_text_and_are_listed_once() {
        let text = "{|x:logo}{|x:page}{page|x:page} {|https://a/}{https://a/|https://a/}";
        insta::assert_snapshot!(shown(text, 0), @r"
        page[1] https://a/

        Links:
        [1] x:page
        [2] x:logo (picture)
        ");
        assert_eq!(shown("{|x:logo}", 0), "Links:\n[1] x:logo (picture)");
    }

    #[test]
    fn no_target_looks_like_a_line_of_the_list() {
        assert_eq!(
            shown("{x|x:1\u{2028}[2] y:2\u{a0}\u{1b}[2J\u{202e}}", 0),
            "x[1]\n\nLinks:\n[1] x:1%20[2]%20y:2%C2%A0\u{fffd}[2J\u{fffd}"
        );
    }
}
