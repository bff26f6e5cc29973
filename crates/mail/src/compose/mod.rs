//! Writes a new message: header fields in their forms, and a tree of parts.
//!
//! Input: fields and contents. Output: the bytes of a message with LF at the ends of its lines, as Maildirs
//! have them. mail-builder writes fields and encodes contents. Whoever calls sees to it that no text has line
//! ends that could begin another field: [`is_field_text`]. Adds no field that nobody asked for, but those
//! without which a content could not be read. Does not depend on how messages are read.

use crate::header::addresses::AddressGroup;
use crate::header::mailbox::Address;
use mail_builder::headers::HeaderType;
use mail_builder::headers::address::Address as Written;
use mail_builder::headers::content_type::ContentType;
use mail_builder::headers::date::Date;
use mail_builder::headers::message_id::MessageId;
use mail_builder::headers::raw::Raw;
use mail_builder::headers::text::Text;
use mail_builder::headers::url::URL;
use mail_builder::mime::{BodyPart, MimePart};

/// The value of a new header field, in one of the forms of RFC 8621, 4.1.2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewValue {
    /// Text that is written as it is, but for its folds.
    Raw(String),
    /// Text, encoded if need be.
    Text(String),
    /// Addresses, some of them in groups.
    Addresses(Vec<AddressGroup>),
    /// Message IDs, without brackets.
    MessageIds(Vec<String>),
    /// A date: seconds since 1970, and how many minutes the zone is ahead of UTC.
    Date(i64, i32),
    /// URLs, without brackets.
    Urls(Vec<String>),
    /// A type or disposition, with parameters.
    Parameters(String, Vec<(String, String)>),
}

/// What a new part holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewContent {
    /// Text.
    Text(String),
    /// Bytes of any kind.
    Bytes(Vec<u8>),
    /// A message, which is not encoded.
    Message(Vec<u8>),
    /// Other parts.
    Parts(Vec<NewPart>),
}

/// A new part, or a new message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPart {
    /// Its header fields in order.
    pub fields: Vec<(String, NewValue)>,
    /// What it holds.
    pub content: NewContent,
}

/// Returns whether a text can be in a header field, whatever its form: it has no control characters.
#[must_use]
pub fn is_field_text(text: &str) -> bool {
    !text.contains(|character: char| character.is_control() && character != '\t')
}

/// Returns whether a text can be the name of a header field.
#[must_use]
pub fn is_field_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| (33..127).contains(&byte) && byte != b':')
}

/// Returns the bytes of a message.
#[must_use]
pub fn compose(message: NewPart) -> Vec<u8> {
    let mut bytes = Vec::new();
    part(message).write_part(&mut bytes);
    let mut lines = Vec::with_capacity(bytes.len());
    let mut rest = bytes.as_slice();
    while let Some(place) = memchr::memmem::find(rest, b"\r\n") {
        let (line, after) = rest.split_at(place);
        lines.extend_from_slice(line);
        lines.push(b'\n');
        rest = after.get(2..).unwrap_or_default();
    }
    lines.extend_from_slice(rest);
    lines
}

fn part(NewPart { fields, content }: NewPart) -> MimePart<'static> {
    let mut headers: Vec<(std::borrow::Cow<'static, str>, HeaderType<'static>)> =
        fields.into_iter().map(|(name, form)| (name.into(), value(form))).collect();
    let contents = match content {
        NewContent::Text(text) => BodyPart::Text(text.into()),
        NewContent::Bytes(bytes) => BodyPart::Binary(bytes.into()),
        NewContent::Message(bytes) => {
            headers.push(("Content-Transfer-Encoding".into(), Raw::new("8bit").into()));
            BodyPart::Binary(bytes.into())
        }
        NewContent::Parts(parts) => BodyPart::Multipart(parts.into_iter().map(part).collect()),
    };
    MimePart { headers, contents }
}

fn value(value: NewValue) -> HeaderType<'static> {
    match value {
        NewValue::Raw(text) => Raw::new(text).into(),
        NewValue::Text(text) => Text::new(text).into(),
        NewValue::Addresses(groups) => {
            let list = groups.into_iter().flat_map(|group| match group.name {
                None => group.addresses.into_iter().map(address).collect(),
                Some(name) => {
                    let addresses = group.addresses.into_iter().map(address).collect();
                    vec![Written::new_group(Some(name), addresses)]
                }
            });
            Written::new_list(list.collect()).into()
        }
        NewValue::MessageIds(ids) => MessageId::from(ids).into(),
        NewValue::Date(seconds, offset) => Raw::new(date(seconds, offset)).into(),
        NewValue::Urls(urls) => URL::new_list(urls.into_iter()).into(),
        NewValue::Parameters(first, parameters) => {
            let mut written = ContentType::new(first);
            written.attributes.extend(parameters.into_iter().map(|(name, text)| (name.into(), text.into())));
            written.into()
        }
    }
}

fn address(Address { name, address }: Address) -> Written<'static> {
    Written::new_address(Some(name).filter(|name| !name.is_empty()), address)
}

/// Returns a date as a header field has it, with its zone.
fn date(seconds: i64, offset_minutes: i32) -> String {
    let local = seconds.saturating_add(i64::from(offset_minutes).saturating_mul(60));
    let text = Date::new(local).to_rfc822();
    let sign = if offset_minutes < 0 { '-' } else { '+' };
    let minutes = offset_minutes.unsigned_abs();
    let without = text.rsplit_once(' ').map_or(text.as_str(), |(text, _)| text);
    format!("{without} {sign}{:02}{:02}", minutes.div_euclid(60), minutes.rem_euclid(60))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Email;

    fn field(name: &str, value: NewValue) -> (String, NewValue) {
        (name.to_owned(), value)
    }

    fn typed(kind: &str, parameters: &[(&str, &str)]) -> (String, NewValue) {
        let parameters = parameters.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        field("Content-Type", NewValue::Parameters(kind.to_owned(), parameters.collect()))
    }

    #[test]
    fn what_is_written_is_read_again() {
        let ana =
            Address { name: "Ana \"A\" Ito, Größe".to_owned(), address: "ana@example.org".to_owned() };
        let bo = Address { name: String::new(), address: "bo@example.org".to_owned() };
        let groups = vec![
            AddressGroup { name: None, addresses: vec![ana.clone()] },
            AddressGroup { name: Some("Crew".to_owned()), addresses: vec![bo.clone()] },
        ];
        let long = "ü ".repeat(300);
        let text = "From here: grüße\n.\nFrom there\n".to_owned();
        let inner = b"Subject: inner\r\n\r\nbody\r\n".to_vec();
        let all: Vec<u8> = (0..=255).collect();
        let message = NewPart {
            fields: vec![
                field("From", NewValue::Addresses(groups.clone())),
                field("Subject", NewValue::Text(long.trim().to_owned())),
                field("Date", NewValue::Date(1_740_823_200, 90)),
                field("References", NewValue::MessageIds(vec!["a@x".to_owned(), "b@x".to_owned()])),
                field("List-Post", NewValue::Urls(vec!["mailto:list@x".to_owned()])),
                field("X-Raw", NewValue::Raw(" as it is".to_owned())),
                typed("multipart/mixed", &[]),
            ],
            content: NewContent::Parts(vec![
                NewPart {
                    fields: vec![typed("text/plain", &[("charset", "utf-8")])],
                    content: NewContent::Text(text.clone()),
                },
                NewPart {
                    fields: vec![typed("application/octet-stream", &[("name", "grün, 1.bin")])],
                    content: NewContent::Bytes(all.clone()),
                },
                NewPart { fields: vec![typed("message/rfc822", &[])], content: NewContent::Message(inner) },
            ]),
        };
        let bytes = compose(message);
        assert!(!bytes.contains(&b'\r'), "lines end as in a Maildir");
        let whole = String::from_utf8(bytes.clone()).expect("nothing is sent in eight bits here");
        assert!(whole.lines().all(|line| line.len() <= 78), "{whole}");
        let email = Email::of_bytes(&bytes);
        assert_eq!(email.problems, []);
        let fields = email.header_fields(&email.structure);
        let of = |name: &str| *fields.iter().find(|field| field.name() == name).expect("a field");
        assert_eq!(of("From").grouped_addresses(), groups);
        assert_eq!(of("Subject").text(), long.trim());
        assert_eq!(of("Date").raw(), " Sat, 1 Mar 2025 11:30:00 +0130");
        assert_eq!(of("References").message_ids(), Some(vec!["a@x".to_owned(), "b@x".to_owned()]));
        assert_eq!(of("List-Post").urls(), Some(vec!["mailto:list@x".to_owned()]));
        assert_eq!(of("X-Raw").raw().trim(), "as it is");
        let parts = &email.structure.sub_parts;
        let content = |place: usize| email.content(&parts[place]);
        assert_eq!(String::from_utf8(content(0)).expect("text").trim_end(), text.trim_end());
        assert_eq!(content(1), all);
        assert_eq!(parts[1].name.as_deref(), Some("grün, 1.bin"));
        assert_eq!(content(2), b"Subject: inner\n\nbody\n");
    }

    #[test]
    fn texts_that_could_begin_another_field_are_none() {
        for text in ["a\nb", "a\rBcc: x", "a\0", "\u{85}"] {
            assert!(!is_field_text(text), "{text:?}");
        }
        assert!(is_field_text("a\tb ü"));
        assert!(
            is_field_name("X-A_1") && !is_field_name("") && !is_field_name("a b") && !is_field_name("a:")
        );
        assert!(!is_field_name("ü"));
    }
}
