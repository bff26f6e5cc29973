//! Words of other programs for fields: of notmuch, mairix, and the search boxes of web mail. Input: the text
//! before a colon, and the value. Output: how the same is written here. Knows nothing of how a query is
//! parsed.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::ops::RangeInclusive;

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
    // These exclude the day or the year that they name.
    (&["before", "older"], ("not date:", ".."), "2w"),
    (&["until", "older_than"], ("date:..", ""), "2w"),
    (&["after", "newer", "since", "newer_than"], ("date:", ".."), "2w"),
    (&["larger", "bigger"], ("size:", ".."), "1M"),
    (&["smaller"], ("size:..", ""), "1M"),
    (&[IN], ("maildir:", ""), "/inbox"),
    (&["rfc822msgid"], ("msgid:", ""), "1234@example.org"),
    (&["sender", "author"], ("from:", ""), "ana"),
    (&["recipient", "recipients", "deliveredto"], ("recip:", ""), "ana"),
    (&[HAS], ("flag:", ""), "attach"),
];

/// The name before folders.
const IN: &str = "in";
/// The name before kinds of attachments, and before labels.
const HAS: &str = "has";

/// The beginning of what web mail calls an attachment.
const ATTACHMENT: &str = "attach";

/// Values of `has:` that are ends of file names.
const FILE_ENDS: [&str; 18] = [
    "pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "ods", "odp", "csv", "zip", "jpg", "jpeg",
    "png", "gif", "ics", "txt",
];

/// Values of `in:` that are no folders.
const NO_FOLDERS: [&str; 3] = ["anywhere", "all", "any"];

/// How many digits a time in seconds since 1970 has. With fewer or more they may be a date.
const UNIX_DIGIT_COUNTS: RangeInclusive<usize> = 9..=11;

/// How to write here what a field of another program means.
pub(crate) struct Meaning {
    /// With the value as typed, unless nothing here means the same.
    pub(crate) typed: Option<String>,
    /// With a value that the field surely takes.
    pub(crate) example: String,
}

/// Returns what a name that no field has means elsewhere, if nothing here means the same.
pub(crate) fn unsupported(name: &str) -> Option<&'static str> {
    UNSUPPORTED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, what)| *what)
}

/// Returns whether a field of another program has the name.
pub(crate) fn is_known(name: &str) -> bool {
    renamed(name).is_some()
}

/// Returns what a name and its value mean elsewhere, if that is known. An empty value stands for any.
pub(crate) fn meaning(name: &str, value: &str) -> Option<Meaning> {
    let (names, (before, after), example) = renamed(name)?;
    let example = format!("{before}{example}{after}");
    let plain = value.trim_matches('"').to_ascii_lowercase();
    let typed = match () {
        () if value.is_empty() => Some(example.clone()),
        () if names.contains(&HAS) => {
            let is_file = FILE_ENDS.contains(&&*plain);
            let is_any = plain.starts_with(ATTACHMENT);
            is_any.then(|| example.clone()).or_else(|| is_file.then(|| format!("file:{plain}")))
        }
        () if names.contains(&IN) => {
            (!NO_FOLDERS.contains(&&*plain)).then(|| format!("{before}{}", folder(value)))
        }
        () if before.ends_with("date:") || before.ends_with("date:..") => {
            let is_unix =
                UNIX_DIGIT_COUNTS.contains(&plain.len()) && plain.bytes().all(|byte| byte.is_ascii_digit());
            Some(if is_unix { format!("{before}@{plain}{after}") } else { format!("{before}{value}{after}") })
        }
        () => Some(format!("{before}{value}{after}")),
    };
    Some(Meaning { typed, example })
}

fn renamed(
    name: &str,
) -> Option<&'static (&'static [&'static str], (&'static str, &'static str), &'static str)> {
    RENAMED.iter().find(|(names, ..)| names.iter().any(|known| known.eq_ignore_ascii_case(name)))
}

/// Returns the value with a slash before it. A regular expression has one.
fn folder(value: &str) -> String {
    match value.strip_prefix('"') {
        Some(quoted) => format!("\"/{}", quoted.trim_start_matches('/')),
        None => format!("/{}", value.trim_start_matches('/')),
    }
}
