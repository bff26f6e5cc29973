//! Words of other programs for fields: of notmuch, mairix, and the search boxes of web mail. Input: the text
//! before a colon, and the value. Output: how the same is written here. Knows nothing of how a query is
//! parsed.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

/// Field names of notmuch that nothing here replaces. Treating them as text would silently give wrong
/// answers.
const UNSUPPORTED: [(&str, &str); 4] = [
    ("property", "notmuch's \"property:\""),
    ("lastmod", "notmuch's \"lastmod:\""),
    ("sexp", "notmuch's \"sexp:\""),
    ("macro", "\"macro:\""),
];

/// Names that mean something here under another name: what comes before and after the value, and an example
/// of a value.
const RENAMED: &[(&[&str], (&str, &str), &str)] = &[
    (&["before", "older", "until", "older_than"], ("date:..", ""), "2w"),
    (&["after", "newer", "since", "newer_than"], ("date:", ".."), "2w"),
    (&["larger", "bigger"], ("size:", ".."), "1M"),
    (&["smaller"], ("size:..", ""), "1M"),
    (&["in"], ("maildir:/", ""), "inbox"),
    (&["rfc822msgid"], ("msgid:", ""), "1234@example.org"),
    (&["sender", "author"], ("from:", ""), "ana"),
    (&["recipient", "recipients", "deliveredto"], ("recip:", ""), "ana"),
];

/// The beginning of what web mail calls an attachment.
const ATTACHMENT: &str = "attach";

/// Returns what a name that no field has means elsewhere, if nothing here means the same.
pub(crate) fn unsupported(name: &str) -> Option<&'static str> {
    UNSUPPORTED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, what)| *what)
}

/// Returns how to write what a name and its value mean elsewhere, if that is known. An empty value stands for
/// any.
pub(crate) fn written_here(name: &str, value: &str) -> Option<String> {
    if name.eq_ignore_ascii_case("has") {
        let is_any = value.is_empty() || value.to_ascii_lowercase().starts_with(ATTACHMENT);
        return Some(if is_any { "flag:attach".to_owned() } else { format!("file:{value}") });
    }
    let (_, (before, after), example) =
        RENAMED.iter().find(|(names, ..)| names.iter().any(|known| known.eq_ignore_ascii_case(name)))?;
    let value = if value.is_empty() { example } else { value };
    Some(format!("{before}{}{after}", value.trim_start_matches('/')))
}
