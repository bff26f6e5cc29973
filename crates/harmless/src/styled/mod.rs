//! A message's own HTML as it looks, for a frame in which nothing runs.
//!
//! Input: HTML, and which pictures of it there are. Output: HTML, its style sheet and the attributes of its
//! body, in which nothing is left that runs, or that loads anything but pictures: those of the message, and
//! those of the network only if they are wanted. [`crate::formatted`] shows less: text and links. Must not
//! know how it is served; the policy that it is served under forbids all of this once more.

mod css;
mod outside;
mod pictures;

pub use pictures::Pictures;

use crate::cost::is_bearable;
use crate::stoppable::Stoppable;
use ammonia::{Builder, Url, UrlRelative};
use pictures::Origins;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};
use work::Cancel;

/// How long all of it may take.
const TIME_MAX: Duration = Duration::from_secs(3);

/// Elements that are kept beside those that are anyway.
const ELEMENTS: [&str; 7] = ["address", "big", "font", "main", "nobr", "section", "tfoot"];
/// Elements that are removed with what is in them, beside scripts and styles.
const REMOVED: [&str; 16] = [
    "applet", "audio", "canvas", "iframe", "math", "noembed", "noframes", "noscript", "object", "select",
    "svg", "template", "textarea", "title", "video", "xmp",
];
/// Attributes that say how an element looks, and what it is for those who do not see it.
const ATTRIBUTES: [&str; 21] = [
    "align",
    "aria-hidden",
    "aria-label",
    "bgcolor",
    "border",
    "cellpadding",
    "cellspacing",
    "class",
    "color",
    "dir",
    "face",
    "height",
    "hspace",
    "id",
    "nowrap",
    "role",
    "size",
    "style",
    "type",
    "valign",
    "width",
];

/// What is left of HTML.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Styled {
    /// The HTML of the body.
    pub html: String,
    /// Its style sheet. Has no `<`.
    pub style: String,
    /// The attributes of its body, escaped, each with a space before it.
    pub body: String,
    /// The origins of pictures of the network, in order: `https://a.example`, with a port if it has one.
    pub origins: Vec<String>,
}

/// Returns what is left of HTML; `None` of HTML that is too large, too deep or takes too long, or once
/// `cancel` says so.
pub fn clean(html: &str, pictures: Pictures, cancel: &Cancel) -> Option<Styled> {
    let cancel = cancel.clone().with_deadline(Instant::now() + TIME_MAX);
    if !is_bearable(html, &cancel) {
        return None;
    }
    let outside = outside::read(html, &cancel)?;
    let origins = Arc::new(Origins::default());
    let bytes = Stoppable { rest: html.as_bytes(), cancel: &cancel };
    let document = cleaner(pictures, Arc::clone(&origins)).clean_from_reader(bytes).ok()?;
    let (style, body) = (css::sheet(&outside.style), outside.body());
    Some(Styled { html: document.to_string(), style, body, origins: origins.list() })
}

fn cleaner(pictures: Pictures, origins: Arc<Origins>) -> Builder<'static> {
    let mut builder = Builder::default();
    builder
        .add_tags(ELEMENTS)
        .rm_tags(["area", "map"])
        .add_clean_content_tags(REMOVED)
        .add_generic_attributes(ATTRIBUTES)
        .add_tag_attributes("ol", ["start", "reversed"])
        .add_tag_attributes("details", ["open"])
        .set_tag_attribute_value("a", "target", "_blank")
        .url_schemes(["http", "https", "mailto", "tel", "cid", "data"].into())
        // The filter decides: addresses of the message's own pictures are relative.
        .url_relative(UrlRelative::PassThrough);
    builder.attribute_filter(move |element, attribute, value| match (element, attribute) {
        (_, "style") => Some(css::declarations(value)).filter(|kept| !kept.is_empty()).map(Cow::Owned),
        ("img", "src") => pictures.source(value, &origins).map(Cow::Owned),
        ("a", "href") => link(value).map(Cow::Owned),
        (_, "src" | "href" | "cite") => None,
        _ => Some(Cow::Borrowed(value)),
    });
    builder
}

/// Returns the address of a link as browsers read it.
fn link(value: &str) -> Option<String> {
    let url = Url::parse(value).ok()?;
    matches!(url.scheme(), "http" | "https" | "mailto" | "tel").then(|| url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(html: &str, pictures: Pictures) -> Styled {
        clean(html, pictures, &Cancel::new()).unwrap()
    }

    /// Each place of HTML that runs or loads something.
    const ACTIVE: &str = "<html><head><title>t</title><base href=http://e.example/><meta http-equiv=refresh \
        content='0;url=http://e.example/'><link rel=stylesheet href=http://e.example/a.css><link \
        rel=prefetch href=http://e.example/><script>x()</script><style>@import \
        'http://e.example/i.css';@font-face{src:\
        url(http://e.example/f)}p{color:red;background:url(http://e.example/p)}</style></head><body \
        bgcolor=#eee background=http://e.example/b onload=x() style='margin:0;background:url(\
        http://e.example)'><p style='color:blue;background:url(http://e.example/)' onclick=x()>one</p><form \
        action=http://e.example><input type=image src=http://e.example/i name=a></form><iframe \
        src=http://e.example></iframe><object data=http://e.example></object><embed src=http://e.example>\
        <svg><script>x()</script><image href=http://e.example /></svg><video poster=http://e.example \
        src=http://e.example></video><audio src=http://e.example></audio><img srcset='http://e.example/1 1x'>\
        <picture><source srcset=http://e.example/2><img src=http://e.example/3 alt=cat name=body \
        onerror=x()></picture><table background=http://e.example/t><tr><td background=http://e.example/d>two\
        </table><a href=javascript:x()>bad</a><a href='data:text/html,x'>worse</a><a href=/here>here</a><a \
        href=' HTTP://L.example/a b' ping=http://e.example>link</a><map><area href=http://e.example></map>\
        <blockquote cite=http://e.example type=cite>q</blockquote></body></html>";

    #[test]
    fn nothing_that_runs_or_loads_is_left_and_looks_stay() {
        let found = cleaned(ACTIVE, Pictures::default());
        // The cleaner adds these two in any order.
        let is_link = |html: &str| html.matches(" target=\"_blank\"").count() == 4;
        assert!(is_link(&found.html), "{}", found.html);
        let html = found.html.replace(" target=\"_blank\"", "").replace(" rel=\"noopener noreferrer\"", "");
        insta::assert_snapshot!(html, @r#"<p style="color:blue;background:;">one</p><img><img alt="cat"><table><tbody><tr><td>two</td></tr></tbody></table><a>bad</a><a>worse</a><a>here</a><a href="http://l.example/a%20b">link</a><blockquote type="cite">q</blockquote>"#);
        assert_eq!(found.style, "p{color:red;background:;}");
        assert_eq!(found.body, " bgcolor=\"#eee\" style=\"margin:0;background:;\"");
        assert_eq!(found.origins, ["http://e.example"]);
        let wanted = Pictures { are_loaded: true, ..Pictures::default() };
        let html = cleaned(ACTIVE, wanted).html;
        let loaded = "<img src=\"http://e.example/3\" alt=\"cat\">";
        assert!(html.contains(loaded), "{html}");
        assert!(!html.replace(loaded, "").contains("e.example"), "{html}");
    }

    #[test]
    fn html_beyond_the_limits_is_none() {
        let none = |html: &str| clean(html, Pictures::default(), &Cancel::new()).is_none();
        assert!(none(&"<div>".repeat(3000)));
        assert!(!none(&"<div>".repeat(300)));
        let cancelled = Cancel::new();
        cancelled.cancel();
        assert_eq!(clean("text", Pictures::default(), &cancelled), None);
    }

    #[test]
    fn what_the_parser_puts_together_again_is_harmless() {
        for html in [
            "<svg><style><img src=x onerror=x()></style></svg>",
            "<math><mtext><table><mglyph><style><!--</style><i title=\"--&gt;&lt;img src onerror=x()&gt;\">",
            "<noscript><p title=\"</noscript><img src=x onerror=x()>\">",
            "<style>a{}</style/><img src=x onerror=x()>",
            "<style>a{content:\"</style><img onerror=x()>\"}</style>",
            "<textarea><img title=\"</textarea><img src onerror=x()>\">",
        ] {
            let found = cleaned(html, Pictures::default());
            assert!(!found.html.contains("onerror=") || found.html.contains("&lt;img"), "{html}: {found:?}");
            assert!(!found.style.contains('<'), "{html}: {found:?}");
        }
    }
}
