//! The header fields that are protected with a signed or encrypted entity, beside those of the message.
//!
//! Input: the bytes of an entity that was signed or decrypted, and those of the message around it. Output:
//! the protected fields, and where both headers differ (RFC 9788, and `protected-headers="v1"` before it).
//! Does not know whether a signature is good.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::bytes::{before, with_line_feeds};
use crate::decode::encoded_words::decode_value;
use crate::header::block::{Block, skip_envelope, split};
use crate::limits::LIST_BYTES_MAX;
use crate::mime::content_fields::has_protected_fields;
use crate::problem::Problems;

/// The fields that are compared: those that a reader sees, and the one that programs know a message by.
const COMPARED: [&str; 6] = ["From", "To", "Cc", "Date", "Subject", "Message-ID"];
/// What programs wrote outside in place of an encrypted subject before RFC 9788, which has a field for it.
const HIDDEN_SUBJECTS: [&str; 3] = ["...", "[...]", "Encrypted Message"];

/// A field of which the header of the message, which anybody on the way may write, differs from the
/// protected one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderDifference {
    /// The name of the field.
    pub name: &'static str,
    /// Its value in what is signed or encrypted; `None` if it is not there.
    pub inside: Option<String>,
    /// Its value in the header of the message; `None` if it is not there.
    pub outside: Option<String>,
    /// The sender says that the message has this value outside, to keep that inside secret. It is true only
    /// of what is encrypted.
    pub is_meant: bool,
}

/// Returns the header fields that are protected with a decrypted or signed entity: they are those of the
/// message. Returns `None` if there are none.
#[must_use]
pub fn protected_fields(entity: &[u8]) -> Option<Vec<(String, String)>> {
    let block = split(skip_envelope(entity));
    let mut problems = Problems::default();
    if !has_protected_fields(&block, &mut problems) {
        return None;
    }
    let is_content = |name: &[u8]| {
        let name = name.to_ascii_lowercase();
        name.starts_with(b"content-") || matches!(name.as_slice(), b"mime-version" | b"hp-outer")
    };
    let fields = block.fields.iter().filter(|field| !is_content(field.name));
    let fields = fields.map(|field| {
        let value = decode_value(before(field.value(), LIST_BYTES_MAX), None, &mut problems);
        (String::from_utf8_lossy(field.name).into_owned(), value)
    });
    Some(fields.collect())
}

/// Returns the main fields that differ in the header of a message from those that are protected with the
/// entity in it. Returns `None` if the entity protects none.
#[must_use]
pub fn header_differences(message: &[u8], entity: &[u8]) -> Option<Vec<HeaderDifference>> {
    let (message, entity) = (with_line_feeds(message), with_line_feeds(entity));
    let (outer, inner) = (split(skip_envelope(&message)), split(skip_envelope(&entity)));
    if !has_protected_fields(&inner, &mut Problems::default()) {
        return None;
    }
    let told = values(&inner, "hp-outer");
    let difference = |name: &'static str| {
        let joined = |values: Vec<String>| (!values.is_empty()).then(|| values.join(", "));
        let (inside, outside) = (joined(values(&inner, name)), joined(values(&outer, name)));
        let is_meant = match &outside {
            _ if inside.is_none() => false,
            // The field names all that is outside.
            None => !told.is_empty(),
            Some(outside) => {
                let is_told = |told: &String| {
                    told.split_once(':').is_some_and(|(told, value)| {
                        told.trim().eq_ignore_ascii_case(name) && value.trim() == outside
                    })
                };
                told.iter().any(is_told)
                    || (name == "Subject" && told.is_empty() && HIDDEN_SUBJECTS.contains(&outside.as_str()))
            }
        };
        (inside != outside).then_some(HeaderDifference { name, inside, outside, is_meant })
    };
    Some(COMPARED.into_iter().filter_map(difference).collect())
}

/// Returns the values of all fields of a name, decoded, with single spaces: a server may fold a line
/// elsewhere.
fn values(block: &Block<'_>, name: &str) -> Vec<String> {
    let mut problems = Problems::default();
    let value = |value: &[u8]| decode_value(before(value, LIST_BYTES_MAX), None, &mut problems);
    block.all(&name.to_ascii_lowercase()).map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_protected_if_the_entity_says_so() {
        let fields = |more: &str| {
            let entity =
                format!("Content-Type: text/plain; {more}\nSubject: =?utf-8?q?caf=C3=A9?=\nHP-Outer: x\n\nx");
            protected_fields(entity.as_bytes())
        };
        let subject = vec![("Subject".to_owned(), "caf\u{e9}".to_owned())];
        for said in ["protected-headers=\"v1\"", "hp=\"cipher\"", "HP=clear"] {
            assert_eq!(fields(said), Some(subject.clone()), "{said}");
        }
        for other in ["protected-headers=\"v2\"", "hp=x", "charset=utf-8"] {
            assert_eq!(fields(other), None, "{other}");
        }
    }

    /// A line for each difference.
    fn differences(message: &str, entity: &str) -> Vec<String> {
        let entity = format!("Content-Type: text/plain; hp=cipher\n{entity}\n\nx");
        let found = header_differences(format!("{message}\n\nx").as_bytes(), entity.as_bytes()).unwrap();
        let or_none = |value: Option<String>| value.unwrap_or("-".to_owned());
        let line = |one: HeaderDifference| {
            let meant = if one.is_meant { " meant" } else { "" };
            format!("{}: {} / {}{meant}", one.name, or_none(one.inside), or_none(one.outside))
        };
        found.into_iter().map(line).collect()
    }

    #[test]
    fn fields_that_differ_are_told() {
        let same = "From: Ana <ana@example.org>\nTo: bo@example.org\nSubject: one two\nDate: x";
        assert_eq!(differences(same, same), [""; 0]);
        let folded = same.replace("one two", "=?utf-8?q?one?=\r\n  two").replace("From", "FROM");
        assert_eq!(differences(&folded, same), [""; 0]);
        assert_eq!(
            differences(
                "From: boss@example.org\nCc: cy@example.org\nX: y",
                "From: ana@example.org\nX: z\nTo: bo"
            ),
            ["From: ana@example.org / boss@example.org", "To: bo / -", "Cc: - / cy@example.org",]
        );
        // A second field may be the one that another program shows.
        assert_eq!(differences("Subject: a\nSubject: b", "Subject: a"), ["Subject: a / a, b"]);
        assert_eq!(header_differences(b"Subject: a\n\n", b"Subject: b\n\n"), None);
    }

    #[test]
    fn what_is_hidden_by_its_sender_is_meant() {
        let hidden = "Subject: secret\nCc: cy\nHP-Outer: Subject: [...]\nHP-Outer: Date: x\nDate: y";
        assert_eq!(
            differences("Subject: [...]\nDate: z", hidden),
            ["Cc: cy / - meant", "Date: y / z", "Subject: secret / [...] meant"]
        );
        assert_eq!(differences("Subject: ...", "Subject: secret"), ["Subject: secret / ... meant"]);
        assert_eq!(differences("Subject: hi", "Subject: secret"), ["Subject: secret / hi"]);
        // The sender wrote something else outside.
        assert_eq!(
            differences("Subject: ...", "Subject: secret\nHP-Outer: Subject: [...]"),
            ["Subject: secret / ..."]
        );
    }
}
