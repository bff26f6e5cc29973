//! Messages as a page for a browser, without active content.
//!
//! Input: records, and the HTML that messages bring along. Output: one HTML document. Of a message's own HTML
//! only formatting of text and links are kept: no scripts, styles, forms, frames, images, or anything that
//! would be loaded. A policy in the head forbids a browser all that, too. Characters that reverse or hide
//! text in a terminal are written as references, or replaced where HTML cannot hold them.

use crate::record::Record;
use ammonia::{Builder, UrlRelative};
use printable::sanitise::{REPLACEMENT, is_harmful};
use std::borrow::Cow;
use std::collections::HashMap;
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
        Some(own) => match clean_in_time(own, cancel) {
            Some(clean) => clean,
            None => format!("<p>(Its own HTML is nested too deeply; this is its text.)</p>\n{}", text()),
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

/// How long HTML may be parsed that passed `is_bearable` but is expensive.
const PARSE_TIME_MAX: Duration = Duration::from_secs(2);
/// Bytes that are parsed between two checks of the clock: a few tags.
const PIECE_BYTES: usize = 64;

/// Returns HTML with nothing left but formatted text and links; `None` for HTML that takes too long, or once
/// `cancel` says so.
fn clean_in_time(html: &str, cancel: &Cancel) -> Option<String> {
    if !is_bearable(html) {
        return None;
    }
    let cancel = cancel.clone().with_deadline(Instant::now() + PARSE_TIME_MAX);
    let pieces = Pieces { rest: html.as_bytes(), cancel: &cancel };
    cleaner().clean_from_reader(pieces).ok().map(|document| document.to_string())
}

/// Passes HTML to the parser in small pieces, and fails when the time is over: the parser itself cannot be
/// stopped.
struct Pieces<'a> {
    rest: &'a [u8],
    cancel: &'a Cancel,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let count = buffer.len().min(PIECE_BYTES).min(self.rest.len());
        let (piece, rest) = self.rest.split_at(count);
        buffer[..count].copy_from_slice(piece);
        self.rest = rest;
        Ok(count)
    }
}

/// The limit of the number of elements open at once, times the number of tags: parsing takes that many steps,
/// and makes as many elements if open ones are repeated in each paragraph, as HTML requires. Long newsletters
/// reach a tenth of it.
const STEPS_MAX: u64 = 4_000_000;
/// Elements without an end tag.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track",
    "wbr",
];

/// Elements that end where the next one begins, so that they do not nest unless other elements are between.
const ENDED_BY_THE_NEXT: [&str; 8] = ["p", "li", "td", "th", "tr", "dt", "dd", "option"];

/// Returns whether HTML seems to need little time and memory to parse. An attacker can make expensive HTML
/// pass this test.
fn is_bearable(html: &str) -> bool {
    let mut open: HashMap<String, u64> = HashMap::new();
    let (mut depth, mut depth_max, mut tags) = (0_u64, 0_u64, 0_u64);
    for tag in html.split('<').skip(1) {
        let (is_end, tag) = tag.strip_prefix('/').map_or((false, tag), |rest| (true, rest));
        let name_end = tag.find(|character: char| !character.is_ascii_alphanumeric()).unwrap_or(tag.len());
        let name = tag.get(..name_end).unwrap_or_default().to_ascii_lowercase();
        if name.is_empty() || VOID.contains(&name.as_str()) {
            continue;
        }
        tags += 1;
        if ENDED_BY_THE_NEXT.contains(&name.as_str()) {
            continue;
        }
        let count = open.entry(name).or_default();
        if !is_end {
            *count += 1;
            depth += 1;
        } else if *count > 0 {
            *count -= 1;
            depth -= 1;
        }
        depth_max = depth_max.max(depth);
    }
    depth_max.saturating_mul(tags) <= STEPS_MAX
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

fn escaped(text: &str) -> String {
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
        insta::assert_snapshot!(clean_in_time(html, &Cancel::new()).unwrap(), @r#"<p>text <b>bold</b></p><img width="1" alt="cat"><img><img><a href="http://e/link" rel="noopener noreferrer">link</a><a rel="noopener noreferrer">bad</a><a rel="noopener noreferrer">here</a><blockquote>quote</blockquote>"#);
    }

    #[test]
    fn html_that_would_take_for_ever_is_left_alone() {
        let newsletter =
            format!("<table>{}</table>", "<tr><td><a href=x>one</a><br><b>two</b></td></tr>".repeat(20_000));
        assert!(is_bearable(&"<p>text ".repeat(5000)), "end tags may be left out");
        assert!(is_bearable(&newsletter) && is_bearable("") && is_bearable("a < b <> </ <"));
        assert!(is_bearable(&format!("{}text{}", "<DIV>".repeat(500), "</div>".repeat(500))));
        for hostile in [
            "<div>".repeat(3000),
            "<a href=x>".repeat(3000),
            // End tags of nothing close nothing.
            "<div></x>".repeat(3000),
            // Each paragraph begins all the fonts again.
            (0..500).map(|size| format!("<font size={size}>")).collect::<String>()
                + &"<p></p>".repeat(10_000),
        ] {
            assert!(!is_bearable(&hostile), "{}", &hostile[..20]);
            let mut record = Record::new(&[0; 32], Some(0), 0);
            record.text = Some("its <text>");
            let html = article(&record, "", Some(&hostile), &Cancel::new()).html;
            assert!(html.contains("too deeply") && html.contains("<pre>its &lt;text&gt;</pre>"), "{html}");
        }
    }

    #[test]
    fn html_that_only_looks_bearable_is_given_up_when_time_is_over() {
        // End tags in comments close nothing: the parser has all of these open.
        let hostile = "<b><!-- </b> -->".repeat(400_000);
        assert!(is_bearable(&hostile));
        let cancelled = Cancel::new();
        cancelled.cancel();
        assert_eq!(clean_in_time(&hostile, &cancelled), None);
        // Characters of several bytes may lie across two pieces.
        let text = "Grüße \u{1f4ee} ".repeat(500);
        assert_eq!(clean_in_time(&text, &Cancel::new()), Some(text));
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
