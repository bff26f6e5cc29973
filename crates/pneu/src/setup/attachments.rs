//! The table `[attachments]` of the configuration: which commands read the text of attachments, and what they
//! may use.
//!
//! Input: the table. Output: its values, checked. Does not know how commands are run.

use serde::Deserialize;
use std::collections::BTreeMap;

/// Most filters that a configuration may name.
const FILTER_COUNT_MAX: usize = 64;

/// The commands that read the text of attachments, and their limits.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AttachmentConfiguration {
    /// The commands, by the type of the parts that they read: `application/pdf`, `image/*`.
    pub filters: BTreeMap<String, String>,
    /// How long all attachments of one message may take, in seconds.
    pub time_seconds: u64,
    /// How much memory a command may take, in MiB.
    pub memory_mib: u64,
    /// The largest part, and the largest encrypted message, that is read, in MiB.
    pub input_mib: u64,
    /// How much text all attachments of one message may have, in MiB.
    pub text_mib: u64,
}

impl Default for AttachmentConfiguration {
    fn default() -> AttachmentConfiguration {
        AttachmentConfiguration {
            filters: BTreeMap::new(),
            time_seconds: 60,
            memory_mib: 1024,
            input_mib: 64,
            text_mib: 4,
        }
    }
}

impl AttachmentConfiguration {
    /// Returns the size of the largest part that is read, in bytes.
    pub(crate) fn input_bytes(&self) -> usize {
        mebibytes(self.input_mib)
    }

    /// Returns how much text all attachments of one message may have, in bytes.
    pub(crate) fn text_bytes(&self) -> usize {
        mebibytes(self.text_mib)
    }
}

fn mebibytes(count: u64) -> usize {
    usize::try_from(count.saturating_mul(1 << 20)).unwrap_or(usize::MAX)
}

/// Why a table cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttachmentFault {
    /// A key is no type.
    #[error("filters: \"{pattern}\" is not a type such as application/pdf or image/*")]
    Pattern {
        /// The key.
        pattern: String,
    },
    /// A command is empty.
    #[error("filters: the command for \"{pattern}\" is empty")]
    NoCommand {
        /// The key.
        pattern: String,
    },
    /// There are too many filters.
    #[error("filters: {count} types, at most {FILTER_COUNT_MAX} are allowed")]
    TooMany {
        /// How many there are.
        count: usize,
    },
    /// A limit is out of range.
    #[error("{key} = {value}: must be from 1 to {max}")]
    Limit {
        /// The key.
        key: &'static str,
        /// Its value.
        value: u64,
        /// The largest value.
        max: u64,
    },
}

/// Checks a table.
///
/// # Errors
/// The first fault that is found.
pub(super) fn check(table: &AttachmentConfiguration) -> Result<(), AttachmentFault> {
    let AttachmentConfiguration { filters, time_seconds, memory_mib, input_mib, text_mib } = table;
    if filters.len() > FILTER_COUNT_MAX {
        return Err(AttachmentFault::TooMany { count: filters.len() });
    }
    for (pattern, command) in filters {
        if !is_pattern(pattern) {
            return Err(AttachmentFault::Pattern { pattern: pattern.clone() });
        }
        if command.trim().is_empty() {
            return Err(AttachmentFault::NoCommand { pattern: pattern.clone() });
        }
    }
    let limits = [
        ("time_seconds", *time_seconds, 3_600),
        ("memory_mib", *memory_mib, 1 << 20),
        ("input_mib", *input_mib, 4_096),
        ("text_mib", *text_mib, 64),
    ];
    match limits.into_iter().find(|(_, value, max)| !(1..=*max).contains(value)) {
        Some((key, value, max)) => Err(AttachmentFault::Limit { key, value, max }),
        None => Ok(()),
    }
}

/// Returns whether a text is a MIME type, or a kind of types and a star.
fn is_pattern(text: &str) -> bool {
    let is_token = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
    };
    text.split_once('/').is_some_and(|(kind, rest)| is_token(kind) && (rest == "*" || is_token(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_for_types_and_has_a_command() {
        let said = |pattern: &str, command: &str| {
            let filters = [(pattern.to_owned(), command.to_owned())].into();
            let table = AttachmentConfiguration { filters, ..AttachmentConfiguration::default() };
            check(&table).map_err(|fault| fault.to_string())
        };
        for good in ["application/pdf", "image/*", "application/vnd.ms-excel", "Image/SVG+xml"] {
            assert_eq!(said(good, "cat"), Ok(()));
        }
        for bad in ["", "pdf", "*/*", "*", "image/", "a/b*", "a/b/c", "a b/c", "/x"] {
            assert!(said(bad, "cat").unwrap_err().contains("is not a type"), "{bad}");
        }
        assert!(said("a/b", " ").unwrap_err().contains("is empty"));
    }

    #[test]
    fn limits_are_in_range() {
        let base = AttachmentConfiguration::default;
        assert_eq!(check(&base()), Ok(()));
        for (table, key) in [
            (AttachmentConfiguration { time_seconds: 0, ..base() }, "time_seconds"),
            (AttachmentConfiguration { memory_mib: u64::MAX, ..base() }, "memory_mib"),
            (AttachmentConfiguration { input_mib: 4_097, ..base() }, "input_mib"),
            (AttachmentConfiguration { text_mib: 65, ..base() }, "text_mib"),
        ] {
            assert!(check(&table).unwrap_err().to_string().starts_with(key));
        }
        let filters = (0..=FILTER_COUNT_MAX).map(|n| (format!("a/{n}"), "cat".to_owned())).collect();
        let many = AttachmentConfiguration { filters, ..base() };
        assert_eq!(check(&many), Err(AttachmentFault::TooMany { count: 65 }));
    }
}
