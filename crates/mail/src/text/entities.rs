//! Decodes the entities of HTML, in text and in attributes.
//!
//! Input: text starting with an ampersand, or an attribute. Output: the decoded text. An ampersand that
//! starts no entity is text. Uses mail-parser's table of entities.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use mail_parser::decoders::html::add_html_token;

/// An entity at the start of a text.
pub(crate) struct Entity<'a> {
    /// The decoded text; `None` if this is not an entity.
    pub(crate) character: Option<String>,
    /// It ends with a semicolon, or is a number.
    is_certain: bool,
    /// The text after the entity, or after the ampersand if this is not an entity.
    pub(crate) rest: &'a str,
}

/// Reads the entity at the start of a text, which is an ampersand.
pub(crate) fn read_entity(text: &str) -> Entity<'_> {
    let after = text.get(1..).unwrap_or_default();
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'#';
    let length = after.bytes().take(32).take_while(is_name).count();
    let (name, rest) = after.split_at_checked(length).unwrap_or((after, ""));
    let rest = rest.strip_prefix(';').unwrap_or(rest);
    let is_closed = after.len() > length.saturating_add(rest.len());
    let character = decode_entity(name, is_closed);
    let rest = if character.is_some() { rest } else { after };
    Entity { character, is_certain: is_closed || name.starts_with('#'), rest }
}

/// Returns the value of an attribute. A name without a semicolon before `=` belongs to the query of an
/// address.
pub(crate) fn decode_attribute(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut text = value;
    while let Some(start) = memchr::memchr(b'&', text.as_bytes()) {
        let (plain, from_entity) = text.split_at_checked(start).unwrap_or((text, ""));
        out.push_str(plain);
        let Entity { character, is_certain, rest } = read_entity(from_entity);
        match character.filter(|_| is_certain || !rest.starts_with('=')) {
            Some(character) => {
                out.push_str(&character);
                text = rest;
            }
            None => {
                out.push('&');
                text = from_entity.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(text);
    out
}

/// Returns the character of an entity. Some may lack their semicolon.
fn decode_entity(name: &str, is_closed: bool) -> Option<String> {
    const OPEN: [&str; 8] = ["nbsp", "amp", "lt", "gt", "quot", "copy", "reg", "shy"];
    if let Some(number) = name.strip_prefix('#') {
        return decode_number(number);
    }
    if name.is_empty() || !(is_closed || OPEN.contains(&name)) {
        return None;
    }
    let token = ["&", name, ";"].concat();
    let mut decoded = String::new();
    add_html_token(&mut decoded, token.as_bytes(), false);
    (decoded != token).then_some(decoded)
}

/// Returns the character of a decimal or hexadecimal number. Numbers of C1 control characters mean those of
/// windows-1252.
fn decode_number(number: &str) -> Option<String> {
    let code = match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => number.parse().ok()?,
    };
    if let (0x80..=0x9f, Ok(byte)) = (code, u8::try_from(code)) {
        return Some(encoding_rs::WINDOWS_1252.decode_without_bom_handling(&[byte]).0.into_owned());
    }
    char::from_u32(code).map(String::from)
}
