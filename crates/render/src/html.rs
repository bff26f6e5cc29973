//! Messages as a page for a browser, without active content.
//!
//! Input: records, and the HTML that messages bring along. Output: one HTML document. Of a message's own HTML
//! only formatting of text and links are kept: no scripts, styles, forms, frames, images, or anything that
//! would be loaded. A policy in the head forbids a browser all that, too. Characters that reverse or hide
//! text in a terminal are written as references, or replaced where HTML cannot hold them.

use crate::record::Record;
use harmless::formatted;
use printable::sanitise::{REPLACEMENT, is_harmful};
use std::borrow::Cow;
use std::fmt::Write;
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
        Some(own) => match formatted(own, cancel) {
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
    with_references(&format!("{BEGIN}<title>{title}</title>\n</head>\n<body>\n")).into_owned()
}

/// Returns the HTML between two messages of a page.
pub const BETWEEN: &str = "<hr>\n";

impl Article {
    /// Returns the HTML of the message.
    pub fn html(&self) -> Cow<'_, str> {
        with_references(&self.html)
    }
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
fn with_references(page: &str) -> Cow<'_, str> {
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
    fn html_beyond_the_limits_is_shown_as_text() {
        let too_deep = "<div>".repeat(3000);
        let too_long = " ".repeat(harmless::HTML_BYTES_MAX + 1);
        let mut record = Record::new(&[0; 32], Some(0), 0);
        record.text = Some("its <text>");
        for hostile in [too_deep, too_long] {
            let html = article(&record, "", Some(&hostile), &Cancel::new()).html;
            assert!(html.contains("too large or nested too deeply"), "{html}");
            assert!(html.contains("<pre>its &lt;text&gt;</pre>"), "{html}");
        }
    }

    #[test]
    fn every_character_is_harmless_in_a_page() {
        for character in '\0'..=char::MAX {
            let text = format!("a{character}b");
            let shown = with_references(&text);
            assert!(
                !shown.contains(|left| is_harmful(left) && left != '\n' && left != '\t'),
                "{character:?}"
            );
        }
        assert_eq!(with_references("a\u{200f}b"), "a&#x200f;b");
    }
}
