//! Tells which text of HTML a reader does not see, because an element around it is hidden.
//!
//! In: the tags one by one, with their attributes. Out: whether text at this place is shown. These hide: the
//! attribute `hidden`, and in `style` `display: none`, `visibility: hidden`, `opacity: 0`, a `font-size` of
//! zero, and a width or height of zero where overflow is hidden. Style sheets are not read, and colours are
//! not compared. This file must not know how text is laid out.
//!
//! Outside of hidden elements nothing is tracked. Inside one, the open elements are tracked, for two reasons:
//! end tags may be missing, and an element may have a size again (newsletters put their text into cells of
//! size zero). In doubt text is shown, because text that is shown is found.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

/// Elements within a hidden one that are tracked. Deeper ones may end it too early.
const DEPTH_MAX: usize = 256;

/// How often open elements are looked at for one that ends, in one HTML. After that all text is shown: such HTML
/// is nobody's letter.
const LOOK_COUNT_MAX: usize = 16 << 20;

/// The first bytes of an element's name in lower case; zeros follow it.
pub(crate) type Name = [u8; 10];

/// What an element does to the text in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// Nothing in it is shown.
    Gone,
    /// Nothing in it is shown but elements that have a size of their own.
    Tiny,
    Shown,
}

/// The elements that are open since a hidden one began, that one first.
#[derive(Default)]
pub(crate) struct Hidden {
    open: Vec<(Name, Effect)>,
    /// How often an open element was looked at.
    look_count: usize,
}

impl Hidden {
    /// Says whether text is hidden here.
    pub(crate) fn is_hidden(&self) -> bool {
        self.open.last().is_some_and(|(_, effect)| *effect != Effect::Shown)
    }

    /// Takes note of a tag. `name` is that of its element.
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
            Some((_, Effect::Gone)) => Effect::Gone,
            Some((_, inherited)) => own.unwrap_or(*inherited),
            None => own.unwrap_or(Effect::Shown),
        };
        if self.open.len() < DEPTH_MAX {
            self.open.push((*name, effect));
        }
    }

    fn end(&mut self, name: &Name) {
        match self.open.iter().rposition(|(open, _)| open == name) {
            Some(place) => self.open.truncate(place),
            // What held the hidden element ends, and that with it.
            None if is_one_of(name, &HOLDERS) => self.open.clear(),
            None => {}
        }
    }

    /// Ends the elements that end where this one begins.
    fn end_implied(&mut self, name: &Name) {
        let Some((_, peers, scope)) = IMPLIED.iter().find(|(names, ..)| is_one_of(name, names)) else {
            return;
        };
        let mut first = None;
        for (place, (open, _)) in self.open.iter().enumerate().rev() {
            if is_one_of(open, peers) {
                first = Some(place);
            } else if is_one_of(open, scope) {
                break;
            }
        }
        if let Some(place) = first {
            self.open.truncate(place);
        }
    }
}

/// Elements without an end tag.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track",
    "wbr",
];

/// Elements that hold others, and whose end is seldom one too many.
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

/// Elements that begin; the open ones that this ends; and those that hide these from it.
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

/// Returns what the attributes of a tag say of the text in it.
fn effect(attributes: &str) -> Option<Effect> {
    let mut found = None;
    let mut rest = attributes;
    while let Some((name, value, next)) = next_attribute(rest) {
        rest = next;
        let says = if name.eq_ignore_ascii_case("hidden") {
            Some(Effect::Gone)
        } else if name.eq_ignore_ascii_case("style") {
            effect_of_style(value)
        } else {
            None
        };
        found = if says == Some(Effect::Gone) { says } else { found.or(says) };
    }
    found
}

/// Returns the name and the value of the first attribute, and what follows it.
fn next_attribute(text: &str) -> Option<(&str, &str, &str)> {
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
            return Some(Effect::Gone);
        }
        if is("font-size") {
            size = effect_of_size(value).or(size);
        }
        has_no_room |= (is("max-height") || is("height") || is("max-width") || is("width")) && is_zero(value);
        hides_what_is_over |= is("overflow") && says("hidden");
    }
    if has_no_room && hides_what_is_over { Some(Effect::Gone) } else { size }
}

/// Returns what a `font-size` does; one that is relative to the size around it does nothing.
fn effect_of_size(value: &str) -> Option<Effect> {
    let is_relative = value.ends_with('%')
        || (value.ends_with("em") && !value.ends_with("rem"))
        || ["inherit", "smaller", "larger"].iter().any(|word| value.eq_ignore_ascii_case(word));
    match (is_zero(value), is_relative) {
        (true, _) => Some(Effect::Tiny),
        (false, true) => None,
        (false, false) => Some(Effect::Shown),
    }
}

/// Says whether a number, with a unit or without, is zero.
fn is_zero(value: &str) -> bool {
    let number =
        value.trim_end_matches(|character: char| character.is_ascii_alphabetic() || character == '%');
    !number.is_empty() && number.bytes().all(|byte| matches!(byte, b'0' | b'.')) && number != "."
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::html_to_text;

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
        let mut hidden = Hidden::default();
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
        let mut hidden = Hidden::default();
        let open_all = |hidden: &mut Hidden| {
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
