//! Header fields as properties (RFC 8621, sections 4.1.2 and 4.1.3).
//!
//! Input: the name of a property; the header fields of a message or part. Output: which field is meant in
//! which form, and its value. Text is normalised to NFC. Does not know where the fields come from.

use jmap::Date;
use mail::{Address, AddressGroup, HeaderField, HeaderForm};
use serde_json::{Value, json};
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// Properties that stand for one field in one form.
const CONVENIENT: [(&str, &str, HeaderForm); 11] = [
    ("messageId", "Message-ID", HeaderForm::MessageIds),
    ("inReplyTo", "In-Reply-To", HeaderForm::MessageIds),
    ("references", "References", HeaderForm::MessageIds),
    ("sender", "Sender", HeaderForm::Addresses),
    ("from", "From", HeaderForm::Addresses),
    ("to", "To", HeaderForm::Addresses),
    ("cc", "Cc", HeaderForm::Addresses),
    ("bcc", "Bcc", HeaderForm::Addresses),
    ("replyTo", "Reply-To", HeaderForm::Addresses),
    ("subject", "Subject", HeaderForm::Text),
    ("sentAt", "Date", HeaderForm::Date),
];

const FORMS: [(&str, HeaderForm); 7] = [
    ("asRaw", HeaderForm::Raw),
    ("asText", HeaderForm::Text),
    ("asAddresses", HeaderForm::Addresses),
    ("asGroupedAddresses", HeaderForm::GroupedAddresses),
    ("asMessageIds", HeaderForm::MessageIds),
    ("asDate", HeaderForm::Date),
    ("asURLs", HeaderForm::Urls),
];

/// A header field in a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HeaderProperty {
    /// The name of the field, in any case.
    field: String,
    form: HeaderForm,
    /// All fields of this name count, not only the last.
    is_all: bool,
}

impl HeaderProperty {
    /// Reads the name of a property that stands for a field. Some fields may not be read in some forms.
    pub(super) fn convenient(name: &str) -> Option<HeaderProperty> {
        let (_, field, form) = CONVENIENT.iter().find(|(known, ..)| *known == name)?;
        Some(HeaderProperty { field: (*field).to_owned(), form: *form, is_all: false })
    }

    /// Reads `header:NAME:asFORM:all`, where the last two may be missing. `None` if it is none, or the field
    /// may not be read in this form.
    pub(super) fn read(property: &str) -> Option<HeaderProperty> {
        let mut parts = property.strip_prefix("header:")?.split(':');
        let field = parts.next().filter(|field| !field.is_empty() && field.bytes().all(is_of_name))?;
        let mut part = parts.next();
        let named = part.and_then(|part| FORMS.iter().find(|(name, _)| *name == part));
        let form = named.map_or(HeaderForm::Raw, |(_, form)| *form);
        if named.is_some() {
            part = parts.next();
        }
        let is_all = part == Some("all");
        let is_whole = (part.is_none() || is_all) && parts.next().is_none();
        let property = HeaderProperty { field: field.to_owned(), form, is_all };
        (is_whole && form.is_allowed(field)).then_some(property)
    }

    /// Returns the value of the property, from the fields of a message or part in their order.
    pub(super) fn value(&self, fields: &[HeaderField<'_>]) -> Value {
        let is_meant = |field: &&HeaderField<'_>| field.name().eq_ignore_ascii_case(&self.field);
        if self.is_all {
            return fields.iter().filter(is_meant).map(|field| in_form(field, self.form)).collect();
        }
        let last = fields.iter().rev().find(is_meant);
        last.map_or(Value::Null, |field| in_form(field, self.form))
    }
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_graphic() && byte != b':'
}

/// Returns all fields of a message or part, in raw form.
pub(super) fn headers(fields: &[HeaderField<'_>]) -> Value {
    fields.iter().map(|field| json!({"name": field.name(), "value": field.raw()})).collect()
}

fn in_form(field: &HeaderField<'_>, form: HeaderForm) -> Value {
    match form {
        HeaderForm::Raw => field.raw().into(),
        HeaderForm::Text => nfc(field.text()).into(),
        HeaderForm::Addresses => addresses(&field.addresses()),
        HeaderForm::GroupedAddresses => field.grouped_addresses().iter().map(group).collect(),
        HeaderForm::MessageIds => field.message_ids().map_or(Value::Null, Value::from),
        HeaderForm::Date => {
            let date = field.date().and_then(|date| {
                let offset_minutes = i32::try_from(date.offset_minutes).unwrap_or(0);
                Date { offset_minutes, ..Date::utc(date.seconds) }.text()
            });
            date.map_or(Value::Null, Value::from)
        }
        HeaderForm::Urls => field.urls().map_or(Value::Null, Value::from),
    }
}

fn addresses(list: &[Address]) -> Value {
    list.iter().map(|one| address(&one.name, &one.address)).collect()
}

fn group(group: &AddressGroup) -> Value {
    json!({"name": group.name.clone().map(nfc), "addresses": addresses(&group.addresses)})
}

/// Returns an address as an object. A name alone has an empty address.
pub(super) fn address(name: &str, address: &str) -> Value {
    let name = if name.is_empty() { Value::Null } else { nfc(name.to_owned()).into() };
    json!({"name": name, "email": address})
}

/// Returns a text in Normalization Form C.
pub(crate) fn nfc(text: String) -> String {
    if is_nfc(&text) { text } else { text.nfc().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_properties_are_read() {
        let read = |name: &str| {
            HeaderProperty::read(name).map(|read| format!("{} {:?} {}", read.field, read.form, read.is_all))
        };
        for (name, expected) in [
            ("header:Subject", Some("Subject Raw false")),
            ("header:subject:asText", Some("subject Text false")),
            ("header:X:all", Some("X Raw true")),
            ("header:From:asRaw:all", Some("From Raw true")),
            ("header:Resent-To:asAddresses:all", Some("Resent-To Addresses true")),
            ("header:all:asURLs", Some("all Urls false")),
            ("header:asText", Some("asText Raw false")),
            ("header:From:asDate", None),
            ("header:Subject:astext", None),
            ("header:Subject:all:asText", None),
            ("header:Subject:asText:all:all", None),
            ("header:Subject:", None),
            ("header:a b", None),
            ("header:é", None),
            ("header::all", None),
            ("header:", None),
            ("Header:Subject", None),
            ("headers", None),
        ] {
            assert_eq!(read(name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn text_is_composed() {
        assert_eq!(nfc("u\u{308}".to_owned()), "\u{fc}");
        assert_eq!(address("u\u{308}", "a@b"), json!({"name": "\u{fc}", "email": "a@b"}));
    }
}
