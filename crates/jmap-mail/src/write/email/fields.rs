//! Header fields that a client sets, of an email or of a part (RFC 8621, sections 4.1.2, 4.1.3 and 4.6).
//!
//! Input: properties. Output: fields with their values, checked: nothing in them can begin another field.
//! Does not know parts.

use jmap::Date;
use mail::{Address, AddressGroup, HeaderForm, NewValue, is_field_name, is_field_text};
use serde_json::Value;

/// The properties that stand for header fields, in the order in which these are written.
const CONVENIENT: [(&str, &str, HeaderForm); 11] = [
    ("sentAt", "Date", HeaderForm::Date),
    ("from", "From", HeaderForm::Addresses),
    ("sender", "Sender", HeaderForm::Addresses),
    ("replyTo", "Reply-To", HeaderForm::Addresses),
    ("to", "To", HeaderForm::Addresses),
    ("cc", "Cc", HeaderForm::Addresses),
    ("bcc", "Bcc", HeaderForm::Addresses),
    ("subject", "Subject", HeaderForm::Text),
    ("messageId", "Message-ID", HeaderForm::MessageIds),
    ("inReplyTo", "In-Reply-To", HeaderForm::MessageIds),
    ("references", "References", HeaderForm::MessageIds),
];

/// A header field.
pub(super) type Field = (String, NewValue);

/// What a property says of header fields.
#[derive(Clone, Copy, Debug)]
struct Asked<'p> {
    name: &'p str,
    form: HeaderForm,
    is_all: bool,
}

/// Returns whether a property stands for a header field.
pub(super) fn is_field(property: &str) -> bool {
    property.starts_with("header:") || CONVENIENT.iter().any(|(known, ..)| *known == property)
}

/// Reads the properties of an email that stand for header fields.
///
/// # Errors
/// The properties that are wrong.
pub(super) fn read<'p>(
    properties: impl Iterator<Item = (&'p String, &'p Value)>,
) -> Result<Vec<Field>, Vec<String>> {
    let (mut fields, mut wrong): (Vec<(usize, Field)>, Vec<String>) = (Vec::new(), Vec::new());
    let mut names: Vec<String> = Vec::new();
    for (property, value) in properties {
        let place = CONVENIENT.iter().position(|(known, ..)| known == property);
        let convenient = CONVENIENT.iter().find(|(known, ..)| known == property);
        let asked = match convenient {
            Some((_, name, form)) => Some(Asked { name, form: *form, is_all: false }),
            None => asked(property),
        };
        let values = asked.and_then(|asked| values(asked, value).map(|values| (asked.name, values)));
        match values {
            Some((name, values)) if !names.contains(&name.to_ascii_lowercase()) => {
                names.push(name.to_ascii_lowercase());
                let place = place.unwrap_or(CONVENIENT.len());
                fields.extend(values.into_iter().map(|value| (place, (name.to_owned(), value))));
            }
            _ => wrong.push(property.clone()),
        }
    }
    fields.sort_by_key(|(place, _)| *place);
    if wrong.is_empty() { Ok(fields.into_iter().map(|(_, field)| field).collect()) } else { Err(wrong) }
}

/// Reads a property such as `header:X-Name:asText:all`.
fn asked(property: &str) -> Option<Asked<'_>> {
    let mut parts = property.strip_prefix("header:")?.split(':');
    let name = parts.next().filter(|name| is_field_name(name))?;
    let mut asked = Asked { name, form: HeaderForm::Raw, is_all: false };
    let mut next = parts.next();
    let form = match next {
        Some("asRaw") => Some(HeaderForm::Raw),
        Some("asText") => Some(HeaderForm::Text),
        Some("asAddresses") => Some(HeaderForm::Addresses),
        Some("asGroupedAddresses") => Some(HeaderForm::GroupedAddresses),
        Some("asMessageIds") => Some(HeaderForm::MessageIds),
        Some("asDate") => Some(HeaderForm::Date),
        Some("asURLs") => Some(HeaderForm::Urls),
        _ => None,
    };
    if let Some(form) = form {
        asked.form = form;
        next = parts.next();
    }
    if next == Some("all") {
        asked.is_all = true;
        next = parts.next();
    }
    // What says how contents are written belongs to the parts.
    let is_free = !name.to_ascii_lowercase().starts_with("content-")
        && !name.eq_ignore_ascii_case("MIME-Version")
        && asked.form.is_allowed(name);
    (next.is_none() && is_free).then_some(asked)
}

/// Reads the value of a property: one field, none if it is null, or several.
fn values(asked: Asked<'_>, value: &Value) -> Option<Vec<NewValue>> {
    match value {
        Value::Null => Some(Vec::new()),
        Value::Array(items) if asked.is_all => items.iter().map(|item| form(asked.form, item)).collect(),
        _ if asked.is_all => None,
        value => form(asked.form, value).map(|value| vec![value]),
    }
}

fn form(form: HeaderForm, value: &Value) -> Option<NewValue> {
    match form {
        HeaderForm::Raw => text(value).filter(|text| text.is_ascii()).map(NewValue::Raw),
        HeaderForm::Text => text(value).map(NewValue::Text),
        HeaderForm::Addresses => {
            let addresses = list(value, address)?;
            Some(NewValue::Addresses(vec![AddressGroup { name: None, addresses }]))
        }
        HeaderForm::GroupedAddresses => {
            let group = |value: &Value| {
                let name = optional(value.get("name")).ok()?;
                Some(AddressGroup { name, addresses: list(value.get("addresses")?, address)? })
            };
            list(value, group).map(NewValue::Addresses)
        }
        HeaderForm::MessageIds => list(value, token).map(NewValue::MessageIds),
        HeaderForm::Date => {
            let date = Date::read(value.as_str()?)?;
            Some(NewValue::Date(date.seconds, date.offset_minutes))
        }
        HeaderForm::Urls => list(value, token).map(NewValue::Urls),
    }
}

/// Reads an array that is not empty.
fn list<T>(value: &Value, read: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    let items = value.as_array().filter(|items| !items.is_empty())?;
    items.iter().map(read).collect()
}

/// Reads a text that can be in a header field.
pub(super) fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| is_field_text(text)).map(str::to_owned)
}

/// Reads a text that can be in a header field, or null.
pub(super) fn optional(value: Option<&Value>) -> Result<Option<String>, ()> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(value) => text(value).map(Some).ok_or(()),
    }
}

/// Reads what stands in angle brackets.
pub(super) fn token(value: &Value) -> Option<String> {
    let is_token = |text: &String| {
        !text.is_empty() && text.is_ascii() && !text.contains(|c: char| c.is_whitespace() || "<>".contains(c))
    };
    text(value).filter(is_token)
}

/// Reads an EmailAddress that can be in a header field.
pub(in crate::write) fn address(value: &Value) -> Option<Address> {
    let name = optional(value.get("name")).ok()?.unwrap_or_default();
    let is_written = |text: &String| {
        !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || "<>,;:\"()".contains(c))
    };
    Some(Address { name, address: text(value.get("email")?).filter(is_written)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, json};

    fn fields(value: Value) -> Result<Vec<Field>, Vec<String>> {
        let Value::Object(object) = value else { panic!("{value}") };
        let object: Map<String, Value> = object;
        read(object.iter())
    }

    #[test]
    fn fields_have_the_values_of_their_forms() {
        let read = fields(json!({
            "subject": "ü", "header:X-A:asText:all": ["one", "two"], "header:X-B": "raw", "cc": null,
            "sentAt": "2025-03-01T10:00:00+01:00", "header:List-Post:asURLs": ["mailto:a@x"],
        }));
        let field = |name: &str, value| (name.to_owned(), value);
        let text = |text: &str| NewValue::Text(text.to_owned());
        let expected = vec![
            field("Date", NewValue::Date(1_740_819_600, 60)),
            field("Subject", text("ü")),
            field("List-Post", NewValue::Urls(vec!["mailto:a@x".to_owned()])),
            field("X-A", text("one")),
            field("X-A", text("two")),
            field("X-B", NewValue::Raw("raw".to_owned())),
        ];
        assert_eq!(read, Ok(expected));
    }

    #[test]
    fn what_is_no_value_or_would_be_another_field_is_wrong() {
        for (property, value) in [
            ("subject", json!("a\nBcc: x@y")),
            ("subject", json!(1)),
            ("from", json!([{"name": "A\r\nB: c", "email": "a@x"}])),
            ("from", json!([{"email": "a@x>, <b@y"}])),
            ("from", json!([{"name": "A"}])),
            ("from", json!([])),
            ("messageId", json!(["a b"])),
            ("messageId", json!("a@x")),
            ("sentAt", json!("yesterday")),
            ("header:Subject:asDate", json!("2025-03-01T10:00:00Z")),
            ("header:X-A:asNothing", json!("x")),
            ("header:X-A:all:asText", json!(["x"])),
            ("header:X-A:all", json!("x")),
            ("header:X A", json!("x")),
            ("header:X-A", json!("ü")),
            ("header:", json!("x")),
            ("header:Content-Type", json!("text/html")),
            ("header:MIME-Version", json!("2.0")),
        ] {
            assert_eq!(fields(json!({property: value})), Err(vec![property.to_owned()]), "{value}");
        }
        let twice = fields(json!({"subject": "a", "header:SUBJECT:asText": "b"}));
        assert_eq!(twice.map_err(|wrong| wrong.len()), Err(1));
    }
}
