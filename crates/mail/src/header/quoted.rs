//! Removes quotation marks, backslashes and parentheses (RFC 5322, 3.2).
//!
//! Does not depend on addresses and parameters.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::borrow::Cow;

/// Removes quotation marks around the whole of a decoded name: they were encoded with it, or quoted twice.
pub(crate) fn without_quotes(name: String) -> String {
    let Some(inner) = name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return name };
    let mut is_escaped = false;
    for byte in inner.bytes() {
        if byte == b'"' && !is_escaped {
            return name;
        }
        is_escaped = byte == b'\\' && !is_escaped;
    }
    // If the last mark is escaped, it does not close the string.
    if is_escaped || inner.trim().is_empty() { name } else { unescape(inner).trim().to_owned() }
}

/// Splits a comment, without its parentheses, from the rest; `None` if it is not closed.
pub(crate) fn comment(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    let mut is_escaped = false;
    for (offset, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'(' => depth = depth.saturating_add(1),
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return Some((text.get(1..offset)?, text.get(offset.saturating_add(1)..)?));
        }
    }
    None
}

/// Removes comments in parentheses from a text without quoted strings.
pub(crate) fn without_comments(text: &str) -> String {
    let mut depth = 0_usize;
    text.chars()
        .filter(|character| {
            match character {
                '(' => depth = depth.saturating_add(1),
                ')' => {
                    depth = depth.saturating_sub(1);
                    return false;
                }
                _ => {}
            }
            depth == 0
        })
        .collect()
}

/// Removes backslashes that escape a character.
pub(crate) fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        let escaped = if character == '\\' { characters.next() } else { None };
        plain.push(escaped.unwrap_or(character));
    }
    Cow::Owned(plain)
}
