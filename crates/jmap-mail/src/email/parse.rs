//! Email/parse (RFC 8621, section 4.9).
//!
//! Input: ids of blobs: messages, parts of messages, uploads. Output: emails that have what their bytes
//! tell, and null for what only the index has. Bytes without any header field are no message. A message that
//! is gone comes from the archive, as it does for Email/get.

use super::body::Message;
use super::header::nfc;
use super::properties::{BODY_ARGUMENTS, BodyWanted, Named, Property, parsed};
use crate::account::Account;
use crate::blob::{BlobBytes, Found};
use crate::blob_id::BlobId;
use crate::messages::Messages;
use jmap::{Arguments, Context, MethodError, MethodErrorKind};
use mail::Email;
use serde_json::{Map, Value};
use std::collections::HashSet;

impl Account<'_> {
    pub(crate) fn email_parse(
        &self,
        mut arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        let account_id = arguments.id("accountId")?;
        let ids = arguments.optional_references("blobIds")?;
        let ids = ids.ok_or_else(|| arguments.fault("blobIds", "is missing"))?;
        let properties = arguments.optional_strings("properties")?;
        let mut arguments = arguments.only(&BODY_ARGUMENTS)?;
        let wanted = parsed(properties.as_deref())?;
        let body = BodyWanted::read(&mut arguments)?;
        self.check(&account_id)?;
        if ids.len() > context.limits.max_objects_in_get {
            return Err(MethodErrorKind::RequestTooLarge.into());
        }
        let (mut emails, mut not_parsable, mut not_found) = (Map::new(), Vec::new(), Vec::new());
        let (mut not_read, mut seen) = (Map::new(), HashSet::new());
        for reference in ids.into_iter().filter(|reference| seen.insert(reference.clone())) {
            let id = context.created_ids.resolve(&reference);
            let blob = id.as_ref().and_then(BlobId::read);
            let found = blob.as_ref().map(|blob| self.blob_bytes(blob, context)).transpose()?;
            let (Some(id), Some(blob), Some(Found::Bytes(bytes))) = (id, blob, &found) else {
                if let Some(Found::NotRead(why)) = found {
                    not_read.insert(reference.to_string(), why.into_json().into());
                }
                not_found.push(Value::from(reference.to_string()));
                continue;
            };
            match self.parsed(&blob, bytes, &wanted, &body)? {
                Some(email) => {
                    context.count(&email)?;
                    emails.insert(id.into(), email);
                }
                None => not_parsable.push(id.into()),
            }
        }
        let list = |ids: Vec<Value>| if ids.is_empty() { Value::Null } else { ids.into() };
        let emails = if emails.is_empty() { Value::Null } else { emails.into() };
        let response = [
            ("accountId", account_id.into()),
            ("parsed", emails),
            ("notParsable", list(not_parsable)),
            ("notFound", list(not_found)),
        ];
        let response = response.into_iter().map(|(name, value)| (name.to_owned(), value));
        let why = (!not_read.is_empty()).then(|| ("notRead".to_owned(), not_read.into()));
        Ok(response.chain(why).collect())
    }

    /// Returns a blob as an email; `None` if it is no message.
    ///
    /// # Errors
    /// `requestTooLarge`.
    fn parsed(
        &self,
        blob: &BlobId,
        bytes: &BlobBytes,
        wanted: &Named<Property>,
        body: &BodyWanted,
    ) -> Result<Option<Value>, MethodError> {
        let email = Email::of_bytes(bytes.bytes());
        let message = Message::new(&email, blob, bytes.abridged());
        if message.has_no_header() {
            return Ok(None);
        }
        let value = |property: &Property| match property {
            Property::Indexed("blobId") => blob.id().map_or(Value::Null, Value::from),
            Property::Indexed("size") => bytes.size_bytes().into(),
            Property::Indexed("preview") => preview(bytes.bytes()),
            property => message.value(property, body),
        };
        let mut object = Map::new();
        for (name, property) in wanted {
            object.insert(name.clone(), value(property));
            Messages::check_given(message.given_bytes(), bytes.size_bytes())?;
        }
        self.messages.count_given(message.given_bytes());
        Ok(Some(object.into()))
    }
}

/// Returns whether bytes are a message: they have a header field.
pub(crate) fn is_message(bytes: &[u8]) -> bool {
    let email = Email::of_bytes(bytes);
    !email.header_fields(&email.structure).is_empty()
}

/// Returns the first words of a message, as the index has them.
fn preview(bytes: &[u8]) -> Value {
    // The present only tells which dates are odd.
    nfc(mail::parse(bytes, &mail::Context::new(0)).snippet).into()
}
