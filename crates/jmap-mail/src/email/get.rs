//! Email/get (RFC 8621, section 4.2).
//!
//! Input: ids and names of properties. Output: objects. What the index has is answered from there; the bytes
//! of a message are read only for what else is asked of it, and once. An email of which no file can be read
//! is not found then; or, if the index knows that it has none, what needs the bytes is null.
//!
//! The index has the first Subject and Message-ID and all fields with addresses, where the standard wants the
//! last; white space in its texts is single spaces; a field without addresses counts as none. A message with
//! such fields is answered in this way here, and exactly by properties of the form `header:To:asAddresses`.

use super::body::Message;
use super::gone::Gone;
use super::header::{address, nfc};
use super::keywords::keywords;
use super::properties::{BODY_ARGUMENTS, BodyWanted, Named, Property, stored};
use crate::account::Account;
use crate::blob_id::{BlobId, BlobSource};
use crate::conversation;
use crate::error::failed;
use crate::ids;
use crate::messages::Messages;
use jmap::{Arguments, Context, Date, GetResponse, Id, MethodError, MethodErrorKind};
use mail::{ContentFlags, Email, Flags};
use pneu::{Contact, Content, Hit, RecordReader};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The end of a Message-ID that a message does not have itself: see [`mail::Message::message_id`].
const DERIVED: &str = "@derived.pneu";

impl Account<'_> {
    pub(crate) fn email_get(
        &self,
        arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        let (mut get, (wanted, has_conversation)) =
            self.get(arguments, &BODY_ARGUMENTS, context, |names| {
                let (names, has_conversation) = conversation::take_property(names, context);
                Ok((stored(names.as_deref())?, has_conversation))
            })?;
        let body = BodyWanted::read(&mut get.rest)?;
        let ids = match get.ids {
            Some(ids) => ids,
            None => self.all_emails(context.limits.max_objects_in_get)?,
        };
        let mut gone = Gone::new(self, &wanted, &ids, context)?;
        let mailboxes = self.mailbox_ids().map_err(failed)?;
        let mut reader = RecordReader::new();
        let mut not_found = get.unknown;
        let mut list = Vec::with_capacity(ids.len());
        for id in ids {
            let sha256 = ids::email_content(&id);
            let hit = sha256.map(|sha256| self.hit(&sha256, context)).transpose()?;
            let object = match hit.flatten() {
                Some(hit) => {
                    let content = self.view.content(&hit, &mut reader).map_err(failed)?;
                    let mut object =
                        self.object((&hit, &content), (&wanted, &body), &mailboxes, (&mut gone, context))?;
                    if let Some(object) = object.as_mut().filter(|_| has_conversation) {
                        object[conversation::PROPERTY] = self.conversation_of(&hit)?;
                    }
                    object
                }
                None => None,
            };
            match object {
                Some(object) => {
                    context.count(&object)?;
                    list.push(object);
                }
                None => not_found.push(id.into()),
            }
        }
        let state = self.state()?.to_owned();
        let response = GetResponse { account_id: get.account_id, state, list, not_found };
        Ok(gone.added_to(response.into()))
    }

    /// Returns an email; `None` if its bytes are needed and cannot be read.
    fn object(
        &self,
        (hit, content): (&Hit, &Content),
        (wanted, body): (&Named<Property>, &BodyWanted),
        mailboxes: &HashMap<u32, Id>,
        (gone, context): (&mut Gone, &Context<'_>),
    ) -> Result<Option<Value>, MethodError> {
        let mut object = Map::new();
        let mut of_bytes = Vec::new();
        for (name, property) in wanted {
            if let Property::Gone(of_gone) = property {
                let value = gone.value(self, (hit, &content.message.sha256), of_gone)?;
                object.insert(name.clone(), value);
                continue;
            }
            match indexed(content, (name, property), body, mailboxes) {
                Some(value) => {
                    object.insert(name.clone(), value);
                }
                None => of_bytes.push((name, property)),
            }
        }
        if !of_bytes.is_empty() {
            let Some(reading) = gone.reading(self, (hit, &content.message), context)? else {
                object.extend(of_bytes.into_iter().map(|(name, _)| (name.clone(), Value::Null)));
                return Ok(gone.says_why(&content.message.sha256).then_some(Value::Object(object)));
            };
            let email = Email::of_bytes(reading.bytes());
            let blob = BlobId::whole(BlobSource::Message(content.message.sha256));
            let message = Message::new(&email, &blob, reading.abridged());
            for (name, property) in of_bytes {
                object.insert(name.clone(), message.value(property, body));
                Messages::check_given(message.given_bytes(), reading.content.size_bytes)?;
            }
            self.messages.count_given(message.given_bytes());
        }
        Ok(Some(object.into()))
    }

    /// Returns the ids of all emails, if they are not too many for one call.
    fn all_emails(&self, max: usize) -> Result<Vec<Id>, MethodError> {
        let all = self.view.contents().map_err(failed)?;
        if all.count() > max as u64 {
            return Err(MethodErrorKind::RequestTooLarge.into());
        }
        let hits = self.view.sorted(&all, &pneu::Order::default()).map_err(failed)?.list;
        Ok(self.view.content_ids(&hits).map_err(failed)?.iter().map(ids::email).collect())
    }
}

/// Returns a property, if the index has it.
fn indexed(
    content: &Content,
    (name, property): (&str, &Property),
    body: &BodyWanted,
    mailboxes: &HashMap<u32, Id>,
) -> Option<Value> {
    match property {
        Property::Indexed(name) => Some(own(content, name, mailboxes)),
        Property::Header(_) => field(content, name),
        Property::BodyValues if !body.has_values() => Some(Map::new().into()),
        _ => None,
    }
}

/// Returns a property that only the index has.
fn own(content: &Content, name: &str, mailboxes: &HashMap<u32, Id>) -> Value {
    let message = &content.message;
    match name {
        "id" => ids::email(&message.sha256).into(),
        "blobId" => ids::blob(&message.sha256).into(),
        "threadId" => ids::thread(content.thread).into(),
        "mailboxIds" => {
            let ids = content.folders.iter().filter_map(|number| mailboxes.get(number));
            ids.map(|id| (id.to_string(), Value::Bool(true))).collect::<Map<_, _>>().into()
        }
        "keywords" => {
            let flags = message.files.iter().fold(Flags::NONE, |flags, file| flags | file.flags);
            let keywords = keywords(flags, message.tags.iter());
            keywords.into_iter().map(|keyword| (keyword, Value::Bool(true))).collect::<Map<_, _>>().into()
        }
        "size" => message.line.size_bytes.into(),
        "receivedAt" => received_at(message.line.date).into(),
        "hasAttachment" => message.line.derived.contains(ContentFlags::ATTACHMENT).into(),
        "preview" => nfc(message.rest.snippet.clone()).into(),
        _ => Value::Null,
    }
}

/// Returns a header field by the name of its property, if the index surely has what the message has.
fn field(content: &Content, name: &str) -> Option<Value> {
    let (line, rest) = (&content.message.line, &content.message.rest);
    match name {
        "messageId" => {
            let id = &*rest.message_id;
            // What has no two sides may be no ID.
            (id.contains('@') && !id.ends_with(DERIVED)).then(|| json!([id]))
        }
        "from" => addresses(&rest.from),
        "to" => addresses(&rest.to),
        "cc" => addresses(&rest.cc),
        "bcc" => addresses(&rest.bcc),
        // There may be a field without text.
        "subject" => (!line.subject.is_empty()).then(|| nfc(line.subject.clone()).into()),
        _ => None,
    }
}

/// Returns the date by which mail is sorted, which is that of the message itself, or else that of its file's
/// name. One that has none has the beginning of 1970, as each email has a date.
fn received_at(seconds: Option<i64>) -> String {
    let text = |seconds| Date::utc(seconds).text();
    let seconds = seconds.unwrap_or(0);
    text(seconds).or_else(|| text(0)).unwrap_or_default()
}

/// Returns addresses as objects, or null if there are none. An entry without an address may be the name of a
/// group, which only the message tells.
fn addresses(contacts: &[Contact]) -> Option<Value> {
    if contacts.iter().any(|one| one.address.is_empty()) {
        return None;
    }
    let objects = || contacts.iter().map(|one| address(&one.name, &one.address)).collect();
    Some(if contacts.is_empty() { Value::Null } else { objects() })
}
