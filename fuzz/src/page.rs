//! Looks at a page as a browser would: what of it runs, loads something, or leads elsewhere.
//!
//! Input: a page, and what it may load. Output: what is wrong with it. Parses the page once more, and its
//! styles with another parser of CSS than the one that cleaned them. Must not know how it was cleaned: what
//! is not on the lists here is a fault.

use cssparser::{BasicParseError, ParseError, Parser, Token};
use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::{Attribute, ExpandedName, ParseOpts, QualName, local_name, ns, parse_document};
use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

/// Elements that only show text and pictures, and those around all of them.
const ELEMENTS: &str = "\
    html head body style a abbr acronym address article aside b bdi bdo big blockquote br caption center \
    cite code col colgroup data dd del details dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 \
    h5 h6 header hgroup hr i img ins kbd li main mark nav nobr ol p pre q rp rt rtc ruby s samp section \
    small span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr";
/// Attributes that load nothing, whatever they say.
const ATTRIBUTES: &str = "\
    align alt aria-hidden aria-label bgcolor border cellpadding cellspacing char charoff class color \
    colspan datetime dir face headers height hreflang hspace id lang nowrap open rel reversed role rowspan \
    scope size span start summary target text title type valign width";
/// Functions of styles that load something, or may.
const LOADING: &str = "url src image image-set cross-fade element paint expression var env attr if symbols";
/// Kinds of pictures that may be within a page.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// What a page may load.
#[derive(Clone, Copy, Debug)]
pub struct Allowed<'a> {
    /// Where the addresses of pictures of the message begin; a number follows.
    pub folder: &'a str,
    /// Origins of the network.
    pub origins: &'a [String],
}

/// Returns what of a page runs, loads what it must not, or is on no list here.
pub fn faults(page: &str, allowed: Allowed<'_>) -> Vec<String> {
    let elements = parse_document(Elements::default(), ParseOpts::default()).one(page);
    let mut faults = Vec::new();
    for element in &elements {
        let name = &*element.name.local;
        if element.name.ns != ns!(html) || !ELEMENTS.split_whitespace().any(|known| known == name) {
            faults.push(format!("there is an element {name}"));
        }
        if name == "style" {
            rules_of(&element.text.borrow(), &mut faults);
        }
        for attribute in element.attributes.borrow().iter() {
            if let Some(fault) = fault_of(name, attribute, allowed) {
                faults.push(fault);
            }
        }
    }
    faults
}

fn fault_of(element: &str, attribute: &Attribute, allowed: Allowed<'_>) -> Option<String> {
    let (name, value) = (&*attribute.name.local, &*attribute.value);
    let is_harmless = match (element, name) {
        ("a", "href") => ["http://", "https://", "mailto:", "tel:"].iter().any(|it| value.starts_with(it)),
        ("img", "src") => may_load(value, allowed),
        (_, "style") => {
            let mut faults = Vec::new();
            declarations_of(value, &mut faults);
            return faults.pop();
        }
        (_, name) => ATTRIBUTES.split_whitespace().any(|known| known == name),
    };
    (!is_harmless).then(|| format!("{element} has {name}={value:?}"))
}

fn may_load(address: &str, allowed: Allowed<'_>) -> bool {
    if let Some(data) = address.strip_prefix("data:") {
        let kind = data.split([';', ',']).next().unwrap_or_default().to_ascii_lowercase();
        return PICTURES.contains(&kind.as_str());
    }
    let number = address.strip_prefix(allowed.folder);
    if number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())) {
        return true;
    }
    let is_end = |rest: &str| rest.is_empty() || rest.starts_with(['/', '?', '#']);
    allowed.origins.iter().any(|origin| address.strip_prefix(origin.as_str()).is_some_and(is_end))
}

/// Adds the faults of a style sheet.
fn rules_of(sheet: &str, faults: &mut Vec<String>) {
    let mut parser = Parser::new(sheet);
    let _: Result<(), BasicParseError> = rules(&mut parser, faults);
}

/// Adds the faults of a style attribute.
fn declarations_of(style: &str, faults: &mut Vec<String>) {
    let mut parser = Parser::new(style);
    let _: Result<(), BasicParseError> = declarations(&mut parser, faults);
}

/// Looks at rules. What is before a block loads nothing, unless it begins with `@`.
fn rules(parser: &mut Parser<'_>, faults: &mut Vec<String>) -> Result<(), BasicParseError> {
    let (mut is_at, mut is_first) = (false, true);
    while let Ok(token) = parser.next_including_whitespace().cloned() {
        match token {
            Token::WhiteSpace(_) | Token::CDO | Token::CDC if is_first => continue,
            Token::AtKeyword(name) if is_first => {
                is_at = true;
                if !name.eq_ignore_ascii_case("media") {
                    faults.push(format!("there is a rule @{name}"));
                }
            }
            Token::Semicolon if is_at => {
                (is_at, is_first) = (false, true);
                continue;
            }
            Token::CurlyBracketBlock => {
                let look = if is_at { rules } else { declarations };
                nested(parser, |inner| look(inner, faults));
                (is_at, is_first) = (false, true);
                continue;
            }
            _ => {}
        }
        is_first = false;
    }
    Ok(())
}

/// Looks at declarations, and at whatever is in them.
fn declarations(parser: &mut Parser<'_>, faults: &mut Vec<String>) -> Result<(), BasicParseError> {
    while let Ok(token) = parser.next().cloned() {
        match &token {
            Token::UnquotedUrl(_) | Token::BadUrl(_) | Token::AtKeyword(_) => {
                faults.push(format!("a style has {token:?}"));
            }
            Token::Function(name) => {
                let name = name.to_ascii_lowercase();
                let plain = ["-webkit-", "-moz-", "-o-", "-ms-"].iter().find_map(|it| name.strip_prefix(it));
                let plain = plain.unwrap_or(&name);
                if LOADING.split_whitespace().any(|known| known == plain) {
                    faults.push(format!("a style has {name}()"));
                }
                nested(parser, |inner| declarations(inner, faults));
            }
            Token::ParenthesisBlock | Token::SquareBracketBlock | Token::CurlyBracketBlock => {
                nested(parser, |inner| declarations(inner, faults));
            }
            _ => {}
        }
    }
    Ok(())
}

fn nested<'i>(parser: &mut Parser<'i>, look: impl FnOnce(&mut Parser<'i>) -> Result<(), BasicParseError>) {
    let _: Result<(), ParseError<()>> = parser.parse_nested_block(|inner| look(inner).map_err(Into::into));
}

/// An element of a page.
struct Element {
    name: QualName,
    attributes: RefCell<Vec<Attribute>>,
    /// The texts in it, without those of other elements in it.
    text: RefCell<String>,
}

impl Element {
    fn new(name: QualName, attributes: Vec<Attribute>) -> Rc<Element> {
        Rc::new(Element { name, attributes: RefCell::new(attributes), text: RefCell::default() })
    }
}

/// Keeps each element that the parser makes, also what it would put elsewhere later.
struct Elements {
    document: Rc<Element>,
    made: RefCell<Vec<Rc<Element>>>,
}

impl Default for Elements {
    fn default() -> Elements {
        let name = QualName::new(None, ns!(html), local_name!("html"));
        Elements { document: Element::new(name, Vec::new()), made: RefCell::default() }
    }
}

impl TreeSink for Elements {
    type Handle = Rc<Element>;
    type Output = Vec<Rc<Element>>;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> Vec<Rc<Element>> {
        self.made.into_inner()
    }

    fn parse_error(&self, _message: Cow<'static, str>) {}

    fn get_document(&self) -> Rc<Element> {
        Rc::clone(&self.document)
    }

    fn elem_name<'a>(&'a self, target: &'a Rc<Element>) -> ExpandedName<'a> {
        target.name.expanded()
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> Rc<Element> {
        let element = Element::new(name, attributes);
        self.made.borrow_mut().push(Rc::clone(&element));
        element
    }

    fn create_comment(&self, _text: StrTendril) -> Rc<Element> {
        Rc::clone(&self.document)
    }

    fn create_pi(&self, _target: StrTendril, _data: StrTendril) -> Rc<Element> {
        Rc::clone(&self.document)
    }

    fn append(&self, parent: &Rc<Element>, child: NodeOrText<Rc<Element>>) {
        if let NodeOrText::AppendText(text) = child {
            parent.text.borrow_mut().push_str(&text);
        }
    }

    fn append_based_on_parent_node(
        &self,
        _element: &Rc<Element>,
        _previous: &Rc<Element>,
        _child: NodeOrText<Rc<Element>>,
    ) {
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &Rc<Element>) -> Rc<Element> {
        Rc::clone(target)
    }

    fn same_node(&self, one: &Rc<Element>, other: &Rc<Element>) -> bool {
        Rc::ptr_eq(one, other)
    }

    fn set_quirks_mode(&self, _mode: QuirksMode) {}

    fn append_before_sibling(&self, _sibling: &Rc<Element>, _child: NodeOrText<Rc<Element>>) {}

    fn add_attrs_if_missing(&self, target: &Rc<Element>, attributes: Vec<Attribute>) {
        target.attributes.borrow_mut().extend(attributes);
    }

    fn remove_from_parent(&self, _target: &Rc<Element>) {}

    fn reparent_children(&self, _node: &Rc<Element>, _new_parent: &Rc<Element>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults_of(page: &str) -> Vec<String> {
        faults(page, Allowed { folder: "/image/", origins: &["http://a.example".to_owned()] })
    }

    #[test]
    fn what_is_harmless_has_no_fault() {
        for page in [
            "<!DOCTYPE html><html><head><style>a,b{color:rgb(1,2,3);}@media (x){p{}}</style></head><body>x",
            "<p style=\"color:red;background:linear-gradient(red, blue);\" class=x>",
            "<img src=\"/image/12\"><img src=\"data:image/png;base64,AA\"><img src=\"http://a.example/b\">",
            "<a href=\"https://e.example/\" rel=\"noopener\" target=_blank>",
            "<style>a[b=url(x)]{}</style>",
        ] {
            assert_eq!(faults_of(page), [""; 0], "{page}");
        }
    }

    #[test]
    fn what_runs_or_loads_is_a_fault() {
        for page in [
            "<script>",
            "<p onclick=x()>",
            "<svg></svg>",
            "<iframe src=x>",
            "<img src=\"http://e.example/\">",
            "<img src=\"http://a.example.org/\">",
            "<img src=\"/image/../x\">",
            "<img src=\"data:image/svg+xml,x\">",
            "<img srcset=x>",
            "<a href=\"javascript:x()\">",
            "<a href=\"/x\">",
            "<table background=x>",
            "<body><body onload=x()>",
            "<p style=\"a:url(x)\">",
            "<p style=\"a:u\\72l(x)\">",
            "<p style=\"a:b(c(url('x')))\">",
            "<style>@import 'x';</style>",
            "<style>a{}@font-face{b:c}</style>",
            "<style>@media x{a{b:-webkit-image-set('x' 1x)}}</style>",
            "<style>a{b:\"\n;c:url(x)}</style>",
        ] {
            assert_ne!(faults_of(page), [""; 0], "{page}");
        }
    }
}
