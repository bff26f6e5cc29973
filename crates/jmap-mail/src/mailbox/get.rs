//! Mailbox/get (RFC 8621, section 2.1).
//!
//! Input: ids and names of properties. Output: objects. Does not know how mailboxes are counted.

use super::list::Folder;
use crate::account::Account;
use crate::get::wanted;
use jmap::{Arguments, Context, GetResponse, MethodError, MethodErrorKind};
use serde_json::{Map, Value, json};

/// The properties of a mailbox.
const PROPERTIES: [&str; 11] = [
    "id",
    "name",
    "parentId",
    "role",
    "sortOrder",
    "totalEmails",
    "unreadEmails",
    "totalThreads",
    "unreadThreads",
    "myRights",
    "isSubscribed",
];

/// How many mailboxes a call gets that asks for all: more than by their ids, because most clients begin so.
const ALL_MAX: usize = 10_000;

impl Account<'_> {
    pub(crate) fn mailbox_get(
        &self,
        arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        let (get, wanted) = self.get(arguments, &[], context, |names| wanted(names, &PROPERTIES))?;
        let folders = self.folders()?;
        let mut not_found = get.unknown;
        let mut found = Vec::new();
        match get.ids {
            Some(ids) => {
                for id in ids {
                    match folders.find(&id) {
                        Some(folder) => found.push(folder),
                        None => not_found.push(id.into()),
                    }
                }
            }
            None if folders.list.len() > ALL_MAX => return Err(MethodErrorKind::RequestTooLarge.into()),
            None => found.extend(&folders.list),
        }
        let mut list = Vec::with_capacity(found.len());
        for folder in found {
            let object = object(folder, &wanted);
            context.count(&object)?;
            list.push(object);
        }
        let state = self.state()?.to_owned();
        Ok(GetResponse { account_id: get.account_id, state, list, not_found }.into())
    }
}

fn object(folder: &Folder, wanted: &[&str]) -> Value {
    wanted.iter().map(|name| ((*name).to_owned(), property(folder, name))).collect::<Map<_, _>>().into()
}

fn property(folder: &Folder, name: &str) -> Value {
    let counts = folder.counts;
    match name {
        "id" => folder.id.clone().into(),
        "name" => folder.name.clone().into(),
        "parentId" => folder.parent.clone().map_or(Value::Null, Value::from),
        "role" => folder.role.into(),
        "sortOrder" => folder.sort_order().into(),
        "totalEmails" => counts.contents.into(),
        "unreadEmails" => counts.unread.into(),
        "totalThreads" => counts.threads.into(),
        "unreadThreads" => counts.unread_threads.into(),
        "myRights" => json!({
            "mayReadItems": true, "mayAddItems": true, "mayRemoveItems": true, "maySetSeen": true,
            "maySetKeywords": true, "mayCreateChild": folder.has_children_below,
            "mayRename": !folder.is_fixed, "mayDelete": !folder.is_fixed, "maySubmit": false,
        }),
        "isSubscribed" => folder.is_subscribed.into(),
        _ => Value::Null,
    }
}
