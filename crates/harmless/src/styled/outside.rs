//! What a message's HTML says outside of its text: its style sheets, and how its body looks. Input: HTML.
//! Output: both. The cleaner keeps neither.

use super::css;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use std::cell::{Cell, RefCell};
use std::fmt::Write;
use work::Cancel;

/// Bytes of all style sheets. Large newsletters have a tenth of it.
const STYLE_BYTES_MAX: usize = 512 << 10;
/// Bytes that are read between two looks at the clock.
const PIECE_BYTES: usize = 4096;
/// Attributes of a body that are kept.
const ATTRIBUTES: [&str; 7] = ["bgcolor", "class", "dir", "id", "lang", "style", "text"];

/// What there is outside.
#[derive(Debug, Default)]
pub(super) struct Outside {
    /// All style sheets, as they are.
    pub(super) style: String,
    body: Vec<(String, String)>,
}

impl Outside {
    /// Returns the attributes of the body, escaped, each with a space before it.
    pub(super) fn body(&self) -> String {
        let mut out = String::new();
        for (name, value) in &self.body {
            let value = if name == "style" { css::declarations(value) } else { value.clone() };
            let value = value.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
            if !value.is_empty() {
                write!(out, " {name}=\"{value}\"").expect("writing to a string");
            }
        }
        out
    }
}

/// Reads HTML; `None` once `cancel` says so.
pub(super) fn read(html: &str, cancel: &Cancel) -> Option<Outside> {
    let tokenizer = Tokenizer::new(Reader::default(), TokenizerOpts::default());
    let queue = BufferQueue::default();
    let mut rest = html;
    while !rest.is_empty() {
        if cancel.is_cancelled() {
            return None;
        }
        let (piece, next) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES));
        queue.push_back(StrTendril::from_slice(piece));
        let _ = tokenizer.feed(&queue);
        rest = next;
    }
    tokenizer.end();
    Some(tokenizer.sink.outside.take())
}

#[derive(Default)]
struct Reader {
    outside: RefCell<Outside>,
    is_in_style: Cell<bool>,
}

impl TokenSink for Reader {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        match token {
            Token::TagToken(tag) => {
                self.is_in_style.set(false);
                if tag.kind == TagKind::StartTag {
                    return self.begin(&tag);
                }
            }
            Token::CharacterTokens(text) if self.is_in_style.get() => {
                let style = &mut self.outside.borrow_mut().style;
                if style.len() + text.len() <= STYLE_BYTES_MAX {
                    style.push_str(&text);
                }
            }
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

impl Reader {
    /// Takes what an element says, and tells how its content is read.
    fn begin(&self, tag: &Tag) -> TokenSinkResult<()> {
        match &*tag.name {
            "body" => self.take_body(tag),
            "style" => {
                self.is_in_style.set(true);
                self.outside.borrow_mut().style.push('\n');
                return TokenSinkResult::RawData(RawKind::Rawtext);
            }
            "script" => return TokenSinkResult::RawData(RawKind::ScriptData),
            "title" | "textarea" => return TokenSinkResult::RawData(RawKind::Rcdata),
            "xmp" | "iframe" | "noembed" | "noframes" | "noscript" => {
                return TokenSinkResult::RawData(RawKind::Rawtext);
            }
            _ => {}
        }
        TokenSinkResult::Continue
    }

    fn take_body(&self, tag: &Tag) {
        let body = &mut self.outside.borrow_mut().body;
        for attribute in &tag.attrs {
            let name = &*attribute.name.local;
            if ATTRIBUTES.contains(&name) && !body.iter().any(|(known, _)| known == name) {
                body.push((name.to_owned(), attribute.value.to_string()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_and_the_body_are_found_and_nothing_else_is() {
        let html = "<style>a{}</style><body bgcolor=red onload=x() dir=rtl style='color:red;x:url(y)' \
                    class='\"><b'><script><style>b{}</style></script><title><style>c{}</style></title>\
                    <textarea><body text=red></textarea><style>d{}</style><body dir=ltr text=blue>";
        let found = read(html, &Cancel::new()).unwrap();
        assert_eq!(found.style, "\na{}\nd{}");
        assert_eq!(
            found.body(),
            " bgcolor=\"red\" dir=\"rtl\" style=\"color:red;x:;\" class=\"&quot;>&lt;b\" text=\"blue\""
        );
    }

    #[test]
    fn style_sheets_have_a_limit_and_reading_ends_when_it_is_stopped() {
        let long = format!("<style>a{{}}</style><style>{}</style>", "b".repeat(STYLE_BYTES_MAX + 1));
        assert!(read(&long, &Cancel::new()).unwrap().style.len() <= STYLE_BYTES_MAX + 2);
        let cancelled = Cancel::new();
        cancelled.cancel();
        assert!(read("x", &cancelled).is_none());
    }
}
