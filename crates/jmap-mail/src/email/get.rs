//! Email/get (RFC 8621, section 4.2), of what the index has.
//!
//! Input: ids and names of properties. Output: objects. Reads no mail: properties that need the bytes of a
//! message belong to a file of their own.

use super::keywords::keywords;
use crate::account::Account;
use crate::error::failed;
use crate::ids;
use crate::mailbox::get::wanted;
use jmap::{Arguments, Context, Date, GetArguments, GetResponse, Id, MethodError, MethodErrorKind};
use mail::{ContentFlags, Flags};
use pneu::{Contact, Content, RecordReader};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The properties that the index has.
const PROPERTIES: [&str; 15] = [
    "id",
    "blobId",
    "threadId",
    "mailboxIds",
    "keywords",
    "size",
    "receivedAt",
    "messageId",
    "from",
    "to",
    "cc",
    "bcc",
    "subject",
    "hasAttachment",
    "preview",
];

/// The end of a Message-ID that a message does not have itself: see [`mail::Message::message_id`].
const DERIVED: &str = "@derived.pneu";

impl Account<'_> {
    pub(crate) fn email_get(
        &self,
        arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        let get = GetArguments::read(arguments, &[], context)?;
        self.check(&get.account_id)?;
        let wanted = wanted(get.properties.as_deref(), &PROPERTIES)?;
        let ids = match get.ids {
            Some(ids) => ids,
            None => self.all_emails(context.limits.max_objects_in_get)?,
        };
        let mailboxes = self.mailbox_ids();
        let mut reader = RecordReader::new();
        let mut not_found = get.unknown;
        let mut list = Vec::with_capacity(ids.len());
        for id in ids {
            let sha256 = ids::email_content(&id);
            let hit = sha256.map(|sha256| self.view.content_hit(&sha256)).transpose().map_err(failed)?;
            let Some(hit) = hit.flatten() else {
                not_found.push(id.into());
                continue;
            };
            let content = self.view.content(&hit, &mut reader).map_err(failed)?;
            let values = wanted.iter().map(|name| ((*name).to_owned(), property(&content, name, &mailboxes)));
            list.push(Value::Object(values.collect()));
        }
        let state = self.state()?.to_owned();
        Ok(GetResponse { account_id: get.account_id, state, list, not_found }.into())
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

fn property(content: &Content, name: &str, mailboxes: &HashMap<u32, Id>) -> Value {
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
        "messageId" => match &*message.rest.message_id {
            "" => Value::Null,
            id if id.ends_with(DERIVED) => Value::Null,
            id => json!([id]),
        },
        "from" => addresses(&message.rest.from),
        "to" => addresses(&message.rest.to),
        "cc" => addresses(&message.rest.cc),
        "bcc" => addresses(&message.rest.bcc),
        "subject" => match &*message.line.subject {
            "" => Value::Null,
            subject => subject.into(),
        },
        "hasAttachment" => message.line.derived.contains(ContentFlags::ATTACHMENT).into(),
        "preview" => message.rest.snippet.clone().into(),
        _ => Value::Null,
    }
}

/// Returns the date by which mail is sorted, which is that of the message itself, or else that of its file's
/// name. One that has none has the beginning of 1970, as each email has a date.
fn received_at(seconds: Option<i64>) -> String {
    let text = |seconds| Date::utc(seconds).text();
    let seconds = seconds.unwrap_or(0);
    text(seconds).or_else(|| text(0)).unwrap_or_default()
}

/// Returns addresses as objects, or null if there are none.
fn addresses(contacts: &[Contact]) -> Value {
    let nullable = |text: &str| if text.is_empty() { Value::Null } else { text.into() };
    let address = |one: &Contact| json!({"name": nullable(&one.name), "email": one.address});
    if contacts.is_empty() { Value::Null } else { contacts.iter().map(address).collect() }
}
