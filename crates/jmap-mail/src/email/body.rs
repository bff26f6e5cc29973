//! The properties of an Email that its bytes tell (RFC 8621, sections 4.1.3 and 4.1.4).
//!
//! Input: a message that was split, and what is wanted of it. Output: values. Counts what it gives out, so
//! that a request has a limit. Does not know where the message comes from.

use super::header::{headers, nfc};
use super::properties::{BodyProperty, BodyWanted, Property};
use crate::abridged::Abridged;
use crate::blob_id::BlobId;
use mail::{BodyPart, Email, HeaderField};
use serde_json::{Map, Value, json};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// What a property of a part costs at least, in bytes: its name, and its value in memory.
const PROPERTY_BYTES: u64 = 64;

/// A message that was split.
pub(super) struct Message<'m> {
    email: &'m Email<'m>,
    blob: &'m BlobId,
    /// What is held of the message, if it is too large.
    abridged: Option<&'m Abridged>,
    fields: Vec<HeaderField<'m>>,
    /// The parts that are no multiparts, by their numbers.
    leaves: BTreeMap<usize, &'m BodyPart>,
    given_bytes: Cell<u64>,
}

impl<'m> Message<'m> {
    /// Takes a message, which is the blob `blob`.
    pub(super) fn new(email: &'m Email<'m>, blob: &'m BlobId, abridged: Option<&'m Abridged>) -> Message<'m> {
        let fields = email.header_fields(&email.structure);
        let mut leaves = BTreeMap::new();
        add_leaves(&email.structure, &mut leaves);
        Message { email, blob, abridged, fields, leaves, given_bytes: Cell::new(0) }
    }

    /// Returns whether it has no header: it may be no message.
    pub(super) fn has_no_header(&self) -> bool {
        self.fields.is_empty()
    }

    /// Returns how much was given out: roughly the bytes that it takes.
    pub(super) fn given_bytes(&self) -> u64 {
        self.given_bytes.get()
    }

    /// Returns the value of a property; null for one that only the index has.
    pub(super) fn value(&self, property: &Property, wanted: &BodyWanted) -> Value {
        match property {
            Property::Indexed("hasAttachment") => self.email.has_attachment.into(),
            Property::Indexed(_) | Property::Gone(_) => Value::Null,
            Property::Header(field) => self.counted(field.value(&self.fields)),
            Property::Headers => self.counted(headers(&self.fields)),
            Property::BodyStructure => self.part(&self.email.structure, wanted),
            Property::TextBody => self.list(&self.email.text_body, wanted),
            Property::HtmlBody => self.list(&self.email.html_body, wanted),
            Property::Attachments => self.list(&self.email.attachments, wanted),
            Property::BodyValues => self.values(wanted),
        }
    }

    fn list(&self, numbers: &[usize], wanted: &BodyWanted) -> Value {
        numbers
            .iter()
            .filter_map(|number| self.leaves.get(number))
            .map(|part| self.part(part, wanted))
            .collect()
    }

    fn part(&self, part: &BodyPart, wanted: &BodyWanted) -> Value {
        let is_multipart = part.part_id.is_none();
        let needs_fields = |(_, property): &(String, BodyProperty)| {
            matches!(property, BodyProperty::Header(_) | BodyProperty::Headers)
        };
        let has_fields = wanted.properties.iter().any(needs_fields);
        let fields = if has_fields { self.email.header_fields(part) } else { Vec::new() };
        let mut object = Map::new();
        for (name, property) in &wanted.properties {
            let value = match property {
                BodyProperty::Own(name) => self.own(part, name),
                BodyProperty::SubParts => Value::Null,
                BodyProperty::Header(field) => self.counted(field.value(&fields)),
                BodyProperty::Headers => self.counted(headers(&fields)),
            };
            self.count(PROPERTY_BYTES);
            object.insert(name.clone(), value);
        }
        if is_multipart {
            let parts = part.sub_parts.iter().map(|part| self.part(part, wanted));
            object.insert("subParts".to_owned(), parts.collect());
        }
        object.into()
    }

    fn own(&self, part: &BodyPart, name: &str) -> Value {
        match name {
            "partId" => part.part_id.map(|number| number.to_string()).into(),
            "blobId" => {
                let id = part.part_id.and_then(|number| self.blob.part(number).id());
                id.map_or(Value::Null, Value::from)
            }
            "size" => {
                let whole = self.abridged.zip(part.part_id);
                let size_bytes = whole.and_then(|(abridged, number)| abridged.size_bytes(number));
                size_bytes.unwrap_or(part.size_bytes).into()
            }
            "name" => part.name.clone().map(nfc).into(),
            "type" => part.mime.clone().into(),
            "charset" => part.charset.clone().into(),
            "disposition" => part.disposition.clone().into(),
            "cid" => part.content_id.clone().into(),
            "language" => part.languages.clone().into(),
            "location" => part.location.clone().into(),
            _ => Value::Null,
        }
    }

    /// Returns the texts of the parts that are wanted, by the parts' ids.
    fn values(&self, wanted: &BodyWanted) -> Value {
        let mut numbers = BTreeSet::new();
        if wanted.all_values {
            numbers.extend(self.leaves.keys());
        }
        if wanted.text_values {
            numbers.extend(&self.email.text_body);
        }
        if wanted.html_values {
            numbers.extend(&self.email.html_body);
        }
        let last = self.leaves.keys().next_back();
        let is_cut = |number: usize| {
            self.abridged.is_some_and(|abridged| abridged.is_cut(number, last == Some(&number)))
        };
        let value = |number: usize| {
            let text = self.email.value(self.leaves.get(&number)?, wanted.value_bytes_max)?;
            self.count(text.value.len() as u64);
            let value = json!({
                "value": text.value,
                "isEncodingProblem": text.is_encoding_problem,
                "isTruncated": text.is_truncated || is_cut(number),
            });
            Some((number.to_string(), value))
        };
        numbers.into_iter().filter_map(value).collect::<Map<_, _>>().into()
    }

    fn count(&self, bytes: u64) {
        self.given_bytes.set(self.given_bytes.get().saturating_add(bytes));
    }

    fn counted(&self, value: Value) -> Value {
        self.count(text_bytes(&value));
        value
    }
}

fn add_leaves<'m>(part: &'m BodyPart, leaves: &mut BTreeMap<usize, &'m BodyPart>) {
    leaves.extend(part.part_id.map(|number| (number, part)));
    part.sub_parts.iter().for_each(|part| add_leaves(part, leaves));
}

/// Returns the bytes of all texts in a value, and something for each value itself.
fn text_bytes(value: &Value) -> u64 {
    let inner = match value {
        Value::String(text) => text.len() as u64,
        Value::Array(values) => values.iter().map(text_bytes).sum(),
        Value::Object(members) => members.values().map(text_bytes).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    inner.saturating_add(PROPERTY_BYTES)
}
