//! Tracks which text of HTML is hidden by an element around it.
//!
//! Input: the tags one by one, with their attributes. Output: whether text at this position is shown. An
//! element is hidden by the attribute `hidden`, and in `style` by `display: none`, `visibility: hidden`,
//! `opacity: 0`, a `font-size` of zero, and a width or height of zero with overflow hidden. Style sheets are
//! not read, and colours are not compared. Does not depend on layout.
//!
//! Outside hidden elements nothing is tracked. Inside one, the open elements are tracked, for two reasons:
//! end tags may be missing, and an element may have a size again (newsletters put their text into cells of
//! size zero). When in doubt, text counts as shown, so that it is found.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

/// Elements tracked within a hidden one. Deeper ones may end it too early.
const DEPTH_MAX: usize = 256;

/// Comparisons with open elements in one HTML. After that, all text counts as shown: no letter has such HTML.
const LOOK_COUNT_MAX: usize = 16 << 20;

/// The first bytes of an element's name in lower case, padded with zeros.
pub(crate) type Name = [u8; 10];

/// The effect of an element on the text in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// Everything in it is hidden.
    Hidden,
    /// Everything in it is hidden, except elements with a size of their own.
    ZeroSize,
    Shown,
}

/// The open elements, starting with the hidden one.
#[derive(Default)]
pub(crate) struct HiddenElements {
    open: Vec<(Name, Effect)>,
    /// Comparisons with open elements so far.
    look_count: usize,
}

impl HiddenElements {
    /// Returns whether text is hidden here.
    pub(crate) fn is_hidden(&self) -> bool {
        self.open.last().is_some_and(|(_, effect)| *effect != Effect::Shown)
    }

    /// Updates the state with a tag. `name` is that of its element.
    pub(crate) fn tag(&mut self, name: &Name, is_end: bool, attributes: &str) {
        self.look_count = self.look_count.saturating_add(self.open.len());
        if self.look_count > LOOK_COUNT_MAX {
            return self.open.clear();
        }
        if is_end {
            return self.end(name);
        }
        if is_one_of(name, &VOID) {
            return;
        }
        if !self.open.is_empty() {
            self.end_implied(name);
        }
        let own = effect(attributes);
        let effect = match self.open.last() {
            None if matches!(own, None | Some(Effect::Shown)) => return,
            Some((_, Effect::Hidden)) => Effect::Hidden,
            Some((_, inherited)) => own.unwrap_or(*inherited),
            None => own.unwrap_or(Effect::Shown),
        };
        if self.open.len() < DEPTH_MAX {
            self.open.push((*name, effect));
        }
    }

    fn end(&mut self, name: &Name) {
        match self.open.iter().rposition(|(open, _)| open == name) {
            Some(index) => self.open.truncate(index),
            // The element around the hidden one ends, and the hidden one with it.
            None if is_one_of(name, &HOLDERS) => self.open.clear(),
            None => {}
        }
    }

    /// Closes the elements whose end tag the start of this one implies.
    fn end_implied(&mut self, name: &Name) {
        let Some((_, peers, scope)) = IMPLIED.iter().find(|(names, ..)| is_one_of(name, names)) else {
            return;
        };
        let mut first = None;
        for (index, (open, _)) in self.open.iter().enumerate().rev() {
            if is_one_of(open, peers) {
                first = Some(index);
            } else if is_one_of(open, scope) {
                break;
            }
        }
        if let Some(index) = first {
            self.open.truncate(index);
        }
    }
}

/// Elements without an end tag.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track",
    "wbr",
];

/// Container elements. Their end tags are seldom superfluous.
const HOLDERS: [&str; 16] = [
    "div",
    "td",
    "th",
    "tr",
    "table",
    "tbody",
    "body",
    "html",
    "center",
    "blockquote",
    "ul",
    "ol",
    "dl",
    "form",
    "section",
    "article",
];

/// Elements that start; the open elements that this closes; and the elements that limit how far out.
const IMPLIED: [(&[&str], &[&str], &[&str]); 6] = [
    (&["td", "th"], &["td", "th"], &["table"]),
    (&["tr"], &["tr", "td", "th"], &["table"]),
    (&["li"], &["li"], &["ul", "ol"]),
    (&["dt", "dd"], &["dt", "dd"], &["dl"]),
    (&["option"], &["option"], &["select"]),
    (
        &[
            "p",
            "div",
            "table",
            "ul",
            "ol",
            "dl",
            "blockquote",
            "pre",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "center",
            "form",
            "address",
        ],
        &["p"],
        &["td", "th", "div", "table", "li", "blockquote", "center", "button"],
    ),
];

fn is_one_of(name: &Name, names: &[&str]) -> bool {
    let length = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    names.iter().any(|known| name.get(..length) == Some(known.as_bytes()))
}

/// Returns the effect of a tag's attributes on the text in it.
fn effect(attributes: &str) -> Option<Effect> {
    let mut found = None;
    let mut rest = attributes;
    while let Some((name, value, next)) = next_attribute(rest) {
        rest = next;
        let says = if name.eq_ignore_ascii_case("hidden") {
            Some(Effect::Hidden)
        } else if name.eq_ignore_ascii_case("style") {
            effect_of_style(value)
        } else {
            None
        };
        found = if says == Some(Effect::Hidden) { says } else { found.or(says) };
    }
    found
}

/// Returns the name and value of the first attribute, and the rest.
pub(crate) fn next_attribute(text: &str) -> Option<(&str, &str, &str)> {
    let text = text.trim_start_matches(|character: char| character.is_ascii_whitespace() || character == '/');
    if text.is_empty() {
        return None;
    }
    let is_end = |character: char| character.is_ascii_whitespace() || matches!(character, '=' | '/');
    // A `=` at the start belongs to the name.
    let length = text.char_indices().skip(1).find(|(_, character)| is_end(*character));
    let (name, rest) = text.split_at_checked(length.map_or(text.len(), |(at, _)| at))?;
    let Some(value) = rest.trim_ascii_start().strip_prefix('=') else { return Some((name, "", rest)) };
    let value = value.trim_ascii_start();
    for quote in ['"', '\''] {
        if let Some(quoted) = value.strip_prefix(quote) {
            let (value, rest) = quoted.split_once(quote).unwrap_or((quoted, ""));
            return Some((name, value, rest));
        }
    }
    let length = value.find(|character: char| character.is_ascii_whitespace()).unwrap_or(value.len());
    let (value, rest) = value.split_at_checked(length)?;
    Some((name, value, rest))
}

fn effect_of_style(style: &str) -> Option<Effect> {
    let (mut size, mut has_no_room, mut hides_what_is_over) = (None, false, false);
    for declaration in style.split(';') {
        let Some((property, value)) = declaration.split_once(':') else { continue };
        let value = value.split('!').next().unwrap_or_default().trim_ascii();
        let is = |name: &str| property.trim_ascii().eq_ignore_ascii_case(name);
        let says = |word: &str| value.eq_ignore_ascii_case(word);
        if (is("display") && says("none"))
            || (is("visibility") && (says("hidden") || says("collapse")))
            || (is("opacity") && is_zero(value))
        {
            return Some(Effect::Hidden);
        }
        if is("font-size") {
            size = effect_of_size(value).or(size);
        }
        has_no_room |= (is("max-height") || is("height") || is("max-width") || is("width")) && is_zero(value);
        hides_what_is_over |= is("overflow") && says("hidden");
    }
    if has_no_room && hides_what_is_over { Some(Effect::Hidden) } else { size }
}

/// Returns the effect of a `font-size`; a relative one has none.
fn effect_of_size(value: &str) -> Option<Effect> {
    let is_relative = value.ends_with('%')
        || (value.ends_with("em") && !value.ends_with("rem"))
        || ["inherit", "smaller", "larger"].iter().any(|word| value.eq_ignore_ascii_case(word));
    match (is_zero(value), is_relative) {
        (true, _) => Some(Effect::ZeroSize),
        (false, true) => None,
        (false, false) => Some(Effect::Shown),
    }
}

/// Returns whether a number, with or without a unit, is zero.
fn is_zero(value: &str) -> bool {
    let number =
        value.trim_end_matches(|character: char| character.is_ascii_alphabetic() || character == '%');
    !number.is_empty() && number.bytes().all(|byte| matches!(byte, b'0' | b'.')) && number != "."
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::html::html_to_text;

    fn show(html: &str) -> String {
        html_to_text(html, 1 << 20)
    }

    #[test]
    fn hidden_elements_are_left_out() {
        for tag in [
            "div hidden",
            "span HIDDEN=''",
            "div style=\"display:none\"",
            "div style='color: red; Display : NONE !important'",
            "div style=display:none",
            "font style=\"visibility:hidden\"",
            "p style=\"font-size:0\"",
            "p style=\"font-size: 0.0px;\"",
            "div style='opacity:0'",
            "div style='max-height:0px;overflow:hidden'",
            "td class=x style='display:none' width=1",
        ] {
            let name = tag.split(' ').next().unwrap_or_default();
            let text = show(&format!("a <{tag}>x <b>y</b> <br>z</{name}>b"));
            assert_eq!(text.split_ascii_whitespace().collect::<Vec<_>>(), ["a", "b"], "{tag}");
        }
    }

    #[test]
    fn other_elements_are_shown() {
        for tag in [
            "div",
            "div class=hidden",
            "div data-x='style=display:none'",
            "div style='display:block'",
            "div style='font-size:0.5px'",
            "div style='max-height:0'",
            "div style='overflow:hidden;height:10px'",
            "div style='opacity:0.5'",
            "div style",
            "div aria-hidden=true",
        ] {
            assert_eq!(show(&format!("a<{tag}>x</div>")), "a\nx", "{tag}");
        }
        assert_eq!(show("a<img hidden>b<br hidden>c<input type=hidden>d"), "a b\nc d");
    }

    #[test]
    fn the_right_end_ends_what_is_hidden() {
        for (html, expected) in [
            ("<div hidden>x<div>y</div>z</div>a", "a"),
            ("<div hidden>x<p>y<p>z</div>a", "a"),
            ("<p hidden>x<p>a", "a"),
            ("<p hidden>x<b>y<div>a</div>", "a"),
            ("<tr><td hidden>x<td>a<tr><td>b", "a\nb"),
            ("<td hidden>x<table><tr><td>y</table>z</td><td>a", "a"),
            ("<tr hidden><td>x<tr><td>a", "a"),
            ("<ul><li hidden>x<ul><li>y</ul>z<li>a</ul>", "a"),
            // What holds it ends.
            ("<div><span hidden>x</div>a", "a"),
            ("<table><tr><td><font hidden>x</table>a", "a"),
            // An end tag too many ends nothing.
            ("<div hidden>x</b>y</p>z</div>a", "a"),
            ("<span hidden>x", ""),
        ] {
            assert_eq!(show(html), expected, "{html}");
        }
    }

    #[test]
    fn a_size_within_a_size_of_nothing_is_shown() {
        for (html, expected) in [
            ("<td style='font-size:0px'>x<div style='font-size:14px'>a <b>b</b></div>y</td>c", "a b\nc"),
            ("<td style='font-size:0'><div style='font-size:120%'>x</div></td>", ""),
            ("<div hidden><div style='font-size:14px'>x</div></div>a", "a"),
            (
                "<td style='font-size:0'><p style='font-size:1rem'>a<p hidden>x<p style='font-size:9px'>b",
                "a\n\nb",
            ),
        ] {
            assert_eq!(show(html), expected, "{html}");
        }
    }

    #[test]
    fn depth_has_a_limit() {
        let mut hidden = HiddenElements::default();
        let name = |text: &str| {
            let mut name = Name::default();
            name[..text.len()].copy_from_slice(text.as_bytes());
            name
        };
        for _ in 0..10 * DEPTH_MAX {
            hidden.tag(&name("div"), false, "hidden");
        }
        assert_eq!((hidden.open.len(), hidden.is_hidden()), (DEPTH_MAX, true));
        for _ in 0..DEPTH_MAX {
            hidden.tag(&name("div"), true, "");
        }
        assert!(!hidden.is_hidden());
    }

    #[test]
    fn what_takes_too_long_is_shown() {
        let mut hidden = HiddenElements::default();
        let open_all = |hidden: &mut HiddenElements| {
            for _ in 0..DEPTH_MAX {
                hidden.tag(b"div\0\0\0\0\0\0\0", false, "hidden");
            }
        };
        open_all(&mut hidden);
        for _ in 0..=LOOK_COUNT_MAX / DEPTH_MAX {
            hidden.tag(b"li\0\0\0\0\0\0\0\0", true, "");
        }
        assert!(!hidden.is_hidden());
        open_all(&mut hidden);
        assert!(!hidden.is_hidden());
    }
}
