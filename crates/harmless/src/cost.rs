//! Decides whether HTML is cheap enough to be sanitised.
//!
//! Input: HTML. Output: whether its tree stays within limits. Sanitising parses HTML as a browser does,
//! cannot be stopped within a step, and takes time and memory in proportion to the tree. A few bytes may add
//! thousands of nodes: HTML begins open elements again in each paragraph, attributes and all. So the same
//! parser first runs here, in small pieces and without building a tree, and counts. Does not depend on what
//! is kept of the HTML.

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, Tracer, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::{Attribute, ExpandedName, ParseOpts, Parser, QualName, local_name, ns, parse_fragment};
use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;
use work::Cancel;

/// Bytes of HTML that are parsed, and bytes of all attributes in the tree. Letters have less than 1 MiB; this
/// has room for pictures within the text.
pub const HTML_BYTES_MAX: usize = 16 << 20;
/// Elements, attributes, comments and parse errors that the parser keeps: some 60 MB. Long newsletters come
/// to a tenth of it.
const NODE_COUNT_MAX: usize = 300_000;
/// Elements that are open at once. Some end tags take as many steps as the square of this.
const DEPTH_MAX: usize = 2_000;
/// Looks at open elements, each some nanoseconds, and at siblings.
const STEP_COUNT_MAX: usize = 100_000_000;
/// Siblings that are looked at in one step: they lie side by side in memory.
const SIBLINGS_PER_STEP: usize = 4;

/// Bytes that are parsed between two looks at the limits: a few tags.
const PIECE_BYTES: usize = 16;
/// New nodes between two looks at the depth, which visit every open element.
const DEPTH_LOOK_NODES: usize = 256;

/// Returns whether HTML is within the limits; not once `cancel` says so.
pub(crate) fn is_bearable(html: &str, cancel: &Cancel) -> bool {
    if html.len() > HTML_BYTES_MAX {
        return false;
    }
    // As ammonia parses.
    let context = QualName::new(None, ns!(html), local_name!("div"));
    let mut parser = parse_fragment(Count::default(), ParseOpts::default(), context, Vec::new(), false);
    let mut rest = html;
    let mut looked_at_nodes = 0;
    while !rest.is_empty() {
        let (piece, next) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES));
        parser.process(StrTendril::from_slice(piece));
        rest = next;
        let count = &parser.tokenizer.sink.sink;
        if cancel.is_cancelled() || !count.is_within_limits() {
            return false;
        }
        if count.nodes.get() >= looked_at_nodes + DEPTH_LOOK_NODES {
            looked_at_nodes = count.nodes.get();
            if depth(&parser) > DEPTH_MAX {
                return false;
            }
        }
    }
    parser.finish()
}

/// Returns how many elements are open, those that a paragraph would begin again counted twice.
fn depth(parser: &Parser<Count>) -> usize {
    let handles = HandleCount::default();
    parser.tokenizer.sink.trace_handles(&handles);
    handles.0.get()
}

/// What an element is for the parser.
#[derive(Debug)]
struct Element {
    name: QualName,
    is_mathml_annotation_xml_integration_point: bool,
    /// How many children were added, or moved here.
    children: Cell<usize>,
}

/// Counts what the parser builds, and keeps nothing.
struct Count {
    document: Rc<Element>,
    nodes: Cell<usize>,
    attribute_bytes: Cell<usize>,
    steps: Cell<usize>,
    /// The most children that one element was given as their parent.
    children_max: Cell<usize>,
    /// Children that some element was given beside another child.
    beside_children: Cell<usize>,
}

impl Default for Count {
    fn default() -> Count {
        Count {
            document: element(QualName::new(None, ns!(html), local_name!("html")), false),
            nodes: Cell::default(),
            attribute_bytes: Cell::default(),
            steps: Cell::default(),
            children_max: Cell::default(),
            beside_children: Cell::default(),
        }
    }
}

fn element(name: QualName, is_mathml_annotation_xml_integration_point: bool) -> Rc<Element> {
    Rc::new(Element { name, is_mathml_annotation_xml_integration_point, children: Cell::new(0) })
}

impl Count {
    fn is_within_limits(&self) -> bool {
        self.nodes.get() <= NODE_COUNT_MAX
            && self.attribute_bytes.get() <= HTML_BYTES_MAX
            && self.steps.get() <= STEP_COUNT_MAX
    }

    fn add_attributes(&self, attributes: &[Attribute]) {
        let bytes: usize = attributes.iter().map(|it| it.name.local.len() + it.value.len()).sum();
        self.attribute_bytes.set(self.attribute_bytes.get().saturating_add(bytes));
        add(&self.nodes, attributes.len());
    }

    fn add_children(&self, parent: &Element, more: usize) {
        add(&parent.children, more);
        self.children_max.set(self.children_max.get().max(parent.children.get()));
    }

    /// Counts a search among the children of one element, as if it were the one with most of them.
    fn search_siblings(&self) {
        let children = self.children_max.get().saturating_add(self.beside_children.get());
        add(&self.steps, 1 + children / SIBLINGS_PER_STEP);
    }

    fn add_beside(&self, child: &NodeOrText<Rc<Element>>) {
        add(&self.beside_children, count_with_text(child));
        self.search_siblings();
    }
}

/// Returns how many children an element has more with a new one. Texts that follow one another become one, so
/// there is at most one for each other child, which is counted with that.
fn count_with_text(child: &NodeOrText<Rc<Element>>) -> usize {
    match child {
        NodeOrText::AppendNode(_) => 2,
        NodeOrText::AppendText(_) => 0,
    }
}

fn add(count: &Cell<usize>, more: usize) {
    count.set(count.get().saturating_add(more));
}

impl TreeSink for Count {
    type Handle = Rc<Element>;
    type Output = bool;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> bool {
        self.is_within_limits()
    }

    fn parse_error(&self, _message: Cow<'static, str>) {
        add(&self.nodes, 1);
    }

    fn get_document(&self) -> Rc<Element> {
        Rc::clone(&self.document)
    }

    fn elem_name<'a>(&'a self, target: &'a Rc<Element>) -> ExpandedName<'a> {
        add(&self.steps, 1);
        target.name.expanded()
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, flags: ElementFlags) -> Rc<Element> {
        add(&self.nodes, 1);
        self.add_attributes(&attributes);
        if &*name.local == "selectedcontent" {
            // Sanitising looks at all elements around one.
            add(&self.steps, NODE_COUNT_MAX);
        }
        element(name, flags.mathml_annotation_xml_integration_point)
    }

    fn create_comment(&self, _text: StrTendril) -> Rc<Element> {
        add(&self.nodes, 1);
        Rc::clone(&self.document)
    }

    fn create_pi(&self, _target: StrTendril, _data: StrTendril) -> Rc<Element> {
        add(&self.nodes, 1);
        Rc::clone(&self.document)
    }

    fn append(&self, parent: &Rc<Element>, child: NodeOrText<Rc<Element>>) {
        self.add_children(parent, count_with_text(&child));
    }

    fn append_based_on_parent_node(
        &self,
        _element: &Rc<Element>,
        _previous: &Rc<Element>,
        child: NodeOrText<Rc<Element>>,
    ) {
        self.add_beside(&child);
    }

    fn append_doctype_to_document(&self, _name: StrTendril, _public_id: StrTendril, _system_id: StrTendril) {
        add(&self.nodes, 1);
    }

    fn get_template_contents(&self, _target: &Rc<Element>) -> Rc<Element> {
        Rc::clone(&self.document)
    }

    fn same_node(&self, one: &Rc<Element>, other: &Rc<Element>) -> bool {
        add(&self.steps, 1);
        Rc::ptr_eq(one, other)
    }

    fn set_quirks_mode(&self, _mode: QuirksMode) {}

    fn append_before_sibling(&self, _sibling: &Rc<Element>, child: NodeOrText<Rc<Element>>) {
        self.add_beside(&child);
    }

    fn add_attrs_if_missing(&self, _target: &Rc<Element>, attributes: Vec<Attribute>) {
        self.add_attributes(&attributes);
        self.search_siblings();
    }

    fn remove_from_parent(&self, _target: &Rc<Element>) {
        self.search_siblings();
    }

    fn reparent_children(&self, node: &Rc<Element>, new_parent: &Rc<Element>) {
        let moved = node.children.take();
        self.add_children(new_parent, moved);
        add(&self.steps, 1 + moved);
    }

    fn is_mathml_annotation_xml_integration_point(&self, target: &Rc<Element>) -> bool {
        target.is_mathml_annotation_xml_integration_point
    }
}

/// Counts the elements that the parser holds.
#[derive(Default)]
struct HandleCount(Cell<usize>);

impl Tracer for HandleCount {
    type Handle = Rc<Element>;

    fn trace_handle(&self, _node: &Rc<Element>) {
        add(&self.0, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_bearable(html: &str) -> bool {
        super::is_bearable(html, &Cancel::new())
    }

    #[test]
    fn mail_is_bearable() {
        let newsletter =
            format!("<table>{}</table>", "<tr><td><a href=x>one</a><br><b>two</b></td></tr>".repeat(20_000));
        assert!(is_bearable(&"<p>text ".repeat(5000)), "end tags may be left out");
        assert!(is_bearable(&newsletter) && is_bearable("") && is_bearable("a < b <> </ <"));
        assert!(is_bearable(&format!("{}text{}", "<DIV>".repeat(500), "</div>".repeat(500))));
        assert!(is_bearable(&"Grüße \u{1f4ee} ".repeat(500)));
        let picture = format!("<img src='data:image/png;base64,{}'>", "A".repeat(4 << 20));
        assert!(is_bearable(&picture));
        assert!(is_bearable("<math><annotation-xml encoding=text/html><p>x</p></annotation-xml></math>"));
        assert!(is_bearable(&"<b><p>x</b>".repeat(5000)), "badly nested");
        assert!(is_bearable(&"<a><table><tr>y<td><a>z</table></a>".repeat(3000)), "text beside rows");
        assert!(is_bearable("<template><p>x</template><svg><style><b></style></svg>"));
    }

    #[test]
    fn a_tree_has_limits_however_it_is_written() {
        let fonts: String = (0..500).map(|size| format!("<font size={size}>")).collect();
        for (what, hostile) in [
            ("depth", "<div>".repeat(3000)),
            ("end tags of nothing close nothing", "<div></x>".repeat(3000)),
            ("end tags in comments close nothing", "<b><!-- </b> -->".repeat(3000)),
            ("end tags in attributes close nothing", "<b title='</b>'>".repeat(3000)),
            ("end tags in scripts close nothing", "<b><script></b></script>".repeat(3000)),
            ("each paragraph begins all fonts again", format!("<p>{fonts}{}", "</p><p>x".repeat(1000))),
            (
                "an attribute is copied",
                format!("<p><i title={}>{}", "x".repeat(20_000), "</p><p>x".repeat(2000)),
            ),
            ("comments", "<!---->".repeat(NODE_COUNT_MAX + 1)),
            ("attributes", format!("<p {}>", "a ".repeat(10)).repeat(NODE_COUNT_MAX)),
            ("errors", "\0".repeat(NODE_COUNT_MAX + 1)),
            ("text before a table", format!("<table>{}", "<b></b>".repeat(40_000))),
            ("searches around elements", "<selectedcontent></selectedcontent>".repeat(1000)),
            ("length", " ".repeat(HTML_BYTES_MAX + 1)),
        ] {
            assert!(!is_bearable(&hostile), "{what}");
        }
    }

    #[test]
    fn a_request_that_was_stopped_ends() {
        let cancelled = Cancel::new();
        cancelled.cancel();
        assert!(!super::is_bearable("text", &cancelled));
    }
}
