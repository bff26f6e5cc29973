//! Messages as a page for a browser, without active content.
//!
//! Input: records, and the HTML that messages bring along. Output: one HTML document. Of a message's own HTML
//! only formatting of text and links are kept: no scripts, styles, forms, frames, images, or anything that
//! would be loaded. A policy in the head forbids a browser all that, too. Characters that reverse or hide
//! text in a terminal are written as references, or replaced where HTML cannot hold them.

use crate::html_cost::is_bearable;
use crate::record::Record;
use ammonia::{Builder, UrlRelative};
use printable::sanitise::{REPLACEMENT, is_harmful};
use std::borrow::Cow;
use std::fmt::Write;
use std::io::{self, Read};
use std::time::{Duration, Instant};
use work::Cancel;

/// The beginning of a page.
const BEGIN: &str = "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n\
    <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; form-action 'none'; base-uri \
    'none'\">\n\
    <meta name=\"referrer\" content=\"no-referrer\">\n";
/// The end of a page.
pub const PAGE_END: &str = "</body>\n</html>\n";

/// A message for a page.
pub struct Article {
    title: String,
    html: String,
}

/// Returns a message as a part of a page. `header` are its header lines as text, `own` is its own HTML.
pub fn article(record: &Record<'_>, header: &str, own: Option<&str>, cancel: &Cancel) -> Article {
    let text = || format!("<pre>{}</pre>", escaped(&record.shown_text()));
    let body = match own {
        Some(own) => match clean(own, cancel) {
            Some(clean) => clean,
            None => format!(
                "<p>(Its own HTML is too large or nested too deeply; this is its text.)</p>\n{}",
                text()
            ),
        },
        None => text(),
    };
    let html = format!("<article>\n<pre>{}</pre>\n<hr>\n{body}\n</article>\n", escaped(header));
    Article { title: record.subject.to_owned(), html }
}

/// Returns the beginning of a page with this message first.
pub fn page_start(first: &Article) -> String {
    let title = escaped(&first.title);
    harmless(&format!("{BEGIN}<title>{title}</title>\n</head>\n<body>\n")).into_owned()
}

/// Returns the HTML between two messages of a page.
pub const BETWEEN: &str = "<hr>\n";

impl Article {
    /// Returns the HTML of the message.
    pub fn html(&self) -> Cow<'_, str> {
        harmless(&self.html)
    }
}

/// How long parsing may take, which some HTML does within the limits of its tree: a tag with a hundred
/// thousand attributes.
const PARSE_TIME_MAX: Duration = Duration::from_secs(2);

/// Returns HTML with nothing left but formatted text and links; `None` for HTML that is too large, too deep
/// or takes too long, or once `cancel` says so.
fn clean(html: &str, cancel: &Cancel) -> Option<String> {
    let cancel = cancel.clone().with_deadline(Instant::now() + PARSE_TIME_MAX);
    if !is_bearable(html, &cancel) {
        return None;
    }
    let bytes = Stoppable { rest: html.as_bytes(), cancel: &cancel };
    cleaner().clean_from_reader(bytes).ok().map(|document| document.to_string())
}

/// Hands HTML to the parser, and ends with an error when the time is over: the parser itself cannot be
/// stopped. What follows the last byte takes time in proportion to the tree, which has limits.
pub(crate) struct Stoppable<'a> {
    pub(crate) rest: &'a [u8],
    pub(crate) cancel: &'a Cancel,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.rest.read(buffer)
    }
}

/// Returns the sanitiser, which keeps only formatted text and links to other places.
fn cleaner() -> Builder<'static> {
    let mut builder = Builder::default();
    builder.url_schemes(["http", "https", "mailto"].into()).url_relative(UrlRelative::Deny);
    // Loading an image would tell the sender that the message was read. Its description is kept.
    builder.attribute_filter(|element, attribute, value| match (element, attribute) {
        ("a", _) => Some(Cow::Borrowed(value)),
        (_, "src" | "href" | "cite" | "background" | "srcset") => None,
        _ => Some(Cow::Borrowed(value)),
    });
    builder
}

/// Returns a text as HTML.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(character),
        }
    }
    out
}

/// Writes harmful characters so that only a browser acts on them. There are no elements left in which a
/// reference stands for itself.
fn harmless(page: &str) -> Cow<'_, str> {
    let is_kept = |character| matches!(character, '\n' | '\t') || !is_harmful(character);
    if page.chars().all(is_kept) {
        return Cow::Borrowed(page);
    }
    let mut out = String::with_capacity(page.len());
    for character in page.chars() {
        match character {
            _ if is_kept(character) => out.push(character),
            // References to controls stand for other characters, or for none.
            _ if character.is_control() => out.push(REPLACEMENT),
            _ => write!(out, "&#x{:x};", u32::from(character)).expect("writing to a string"),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_holds_header_and_text() {
        let page = |article: &Article| [&*page_start(article), &article.html(), PAGE_END].concat();
        let mut record = Record::new(&[0; 32], Some(0), 0);
        record.subject = "a <b> \"c\"";
        record.text = Some("one & <two>\nthree\u{202e}\u{1b}[2J\u{9b}");
        let article = article(&record, "From: x <y>\n", None, &Cancel::new());
        insta::assert_snapshot!(page(&article).replace(REPLACEMENT, "?"), @r##"
        <!DOCTYPE html>
        <html>
        <head>
        <meta charset="utf-8">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; form-action 'none'; base-uri 'none'">
        <meta name="referrer" content="no-referrer">
        <title>a &lt;b&gt; &quot;c&quot;</title>
        </head>
        <body>
        <article>
        <pre>From: x &lt;y&gt;
        </pre>
        <hr>
        <pre>one &amp; &lt;two&gt;
        three&#x202e;?[2J?</pre>
        </article>
        </body>
        </html>
        "##);
    }

    #[test]
    fn nothing_active_or_loaded_is_left_of_html() {
        let html = "<html><head><style>p{}</style><script>alert(1)</script><meta http-equiv=refresh \
            content=0></head><body background=http://e/x onload=x()><p style='background:url(http://e)' \
            onclick=x()>text <b>bold</b></p><img src=http://e/pixel alt=cat width=1><img \
            src=\"data:image/svg+xml,x\"><img srcset='http://e/1 1x'><a href=http://e/link>link</a><a \
            href=javascript:x()>bad</a><a href=/relative>here</a><iframe src=http://e></iframe><form \
            action=http://e><input name=password></form><svg onload=x()></svg><object \
            data=http://e></object><blockquote cite=http://e>quote</blockquote><link rel=stylesheet \
            href=http://e><video src=http://e></video></body></html>";
        insta::assert_snapshot!(clean(html, &Cancel::new()).unwrap(), @r#"<p>text <b>bold</b></p><img width="1" alt="cat"><img><img><a href="http://e/link" rel="noopener noreferrer">link</a><a rel="noopener noreferrer">bad</a><a rel="noopener noreferrer">here</a><blockquote>quote</blockquote>"#);
    }

    #[test]
    fn html_beyond_the_limits_is_shown_as_text() {
        let too_deep = "<div>".repeat(3000);
        let too_long = " ".repeat(crate::html_cost::HTML_BYTES_MAX + 1);
        let mut record = Record::new(&[0; 32], Some(0), 0);
        record.text = Some("its <text>");
        for hostile in [too_deep, too_long] {
            let html = article(&record, "", Some(&hostile), &Cancel::new()).html;
            assert!(html.contains("too large or nested too deeply"), "{html}");
            assert!(html.contains("<pre>its &lt;text&gt;</pre>"), "{html}");
        }
    }

    #[test]
    fn a_request_that_was_stopped_cleans_nothing() {
        let cancelled = Cancel::new();
        cancelled.cancel();
        assert_eq!(clean("text", &cancelled), None);
        let mut bytes = Stoppable { rest: b"text", cancel: &cancelled };
        assert!(bytes.read(&mut [0; 8]).is_err());
        let text = "Grüße \u{1f4ee} ".repeat(500);
        assert_eq!(clean(&text, &Cancel::new()), Some(text));
    }

    #[test]
    fn every_character_is_harmless_in_a_page() {
        for character in '\0'..=char::MAX {
            let text = format!("a{character}b");
            let shown = harmless(&text);
            assert!(
                !shown.contains(|left| is_harmful(left) && left != '\n' && left != '\t'),
                "{character:?}"
            );
        }
        assert_eq!(harmless("a\u{200f}b"), "a&#x200f;b");
    }
}
