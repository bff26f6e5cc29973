//! The forms in which the value of a header field may be read (RFC 8621, 4.1.2).
//!
//! Input: a field's name. Output: whether a form is allowed for it. Does not read values.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

/// A form of the value of a header field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderForm {
    /// As it is written.
    Raw,
    /// Text.
    Text,
    /// Addresses, those of groups among the others.
    Addresses,
    /// Addresses by groups.
    GroupedAddresses,
    /// Message IDs.
    MessageIds,
    /// A date.
    Date,
    /// URLs.
    Urls,
}

/// Fields of RFC 5322 with text. List-Id, which the RFC lists too, is defined elsewhere and may have any
/// form.
const TEXTS: [&str; 3] = ["subject", "comments", "keywords"];

/// Fields of RFC 5322 with addresses.
const ADDRESSES: [&str; 12] = [
    "from",
    "sender",
    "reply-to",
    "to",
    "cc",
    "bcc",
    "resent-from",
    "resent-sender",
    "resent-reply-to",
    "resent-to",
    "resent-cc",
    "resent-bcc",
];

const MESSAGE_IDS: [&str; 4] = ["message-id", "in-reply-to", "references", "resent-message-id"];

const DATES: [&str; 2] = ["date", "resent-date"];

/// Fields of RFC 2369.
const URLS: [&str; 6] =
    ["list-help", "list-unsubscribe", "list-subscribe", "list-post", "list-owner", "list-archive"];

/// Fields of RFC 5322 that only have the raw form.
const RAW: [&str; 2] = ["return-path", "received"];

impl HeaderForm {
    /// Returns whether fields of this name, in any case, may be read in this form. Fields that neither RFC
    /// 5322 nor RFC 2369 defines may be read in any.
    #[must_use]
    pub fn is_allowed(self, name: &str) -> bool {
        let is_of = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        let is_own = match self {
            HeaderForm::Raw => return true,
            HeaderForm::Text => is_of(&TEXTS),
            HeaderForm::Addresses | HeaderForm::GroupedAddresses => is_of(&ADDRESSES),
            HeaderForm::MessageIds => is_of(&MESSAGE_IDS),
            HeaderForm::Date => is_of(&DATES),
            HeaderForm::Urls => is_of(&URLS),
        };
        is_own || ![&TEXTS[..], &ADDRESSES, &MESSAGE_IDS, &DATES, &URLS, &RAW].into_iter().any(is_of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use HeaderForm::{Addresses, Date, GroupedAddresses, MessageIds, Raw, Text, Urls};

    #[test]
    fn a_known_field_has_the_forms_of_its_kind_and_others_have_any() {
        let any = [Raw, Text, Addresses, GroupedAddresses, MessageIds, Date, Urls];
        for (name, expected) in [
            ("Subject", &[Raw, Text][..]),
            ("KEYWORDS", &[Raw, Text]),
            ("from", &[Raw, Addresses, GroupedAddresses]),
            ("Resent-Reply-To", &[Raw, Addresses, GroupedAddresses]),
            ("Message-ID", &[Raw, MessageIds]),
            ("Resent-Message-Id", &[Raw, MessageIds]),
            ("Resent-Date", &[Raw, Date]),
            ("List-Post", &[Raw, Urls]),
            ("Received", &[Raw]),
            ("Return-Path", &[Raw]),
            ("List-Id", &any),
            ("X-Subject", &any),
            ("Content-Type", &any),
            ("", &any),
        ] {
            let allowed: Vec<HeaderForm> = any.into_iter().filter(|form| form.is_allowed(name)).collect();
            assert_eq!(allowed, expected, "{name}");
        }
    }
}
