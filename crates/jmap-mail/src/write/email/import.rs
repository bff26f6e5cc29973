//! Email/import (RFC 8621, section 4.8), and Email/copy (section 4.7).
//!
//! Input: blobs that are messages, with mailboxes and keywords. Output: the response. A message that is there
//! already is not stored twice. The date of an email is that of its header, so `receivedAt` counts only if it
//! has none. There is one account, so nothing is ever copied between two.

use super::store::PLACING;
use crate::account::Account;
use crate::ids::account_id;
use crate::write::keywords::Spelling;
use jmap::{
    Arguments, Context, CopyArguments, Id, MethodError, MethodErrorKind, SetError, SetErrorKind, check_state,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The largest message that is imported.
const MESSAGE_BYTES_MAX: usize = 256 << 20;

type Object = Map<String, Value>;

impl Account<'_> {
    pub(in crate::write) fn email_import(
        &mut self,
        mut arguments: Arguments,
        context: &mut Context<'_>,
    ) -> Result<Object, MethodError> {
        let account = arguments.id("accountId")?;
        self.check(&account)?;
        let if_in_state = arguments.optional_string("ifInState")?;
        let emails = arguments.optional_objects("emails", |key| Id::new(key))?;
        let emails = emails.ok_or_else(|| arguments.fault("emails", "is missing"))?;
        arguments.finish()?;
        if emails.len() > context.limits.max_objects_in_set {
            return Err(MethodErrorKind::RequestTooLarge.into());
        }
        self.renew()?;
        let old_state = self.state()?.to_owned();
        check_state(if_in_state.as_deref(), &old_state)?;
        let mut spelling = Spelling::default();
        let (mut created, mut not_created) = (Object::new(), Object::new());
        let mut contents = BTreeSet::new();
        for (creation, object) in emails {
            match self.import_one(object, context, &mut spelling)? {
                Ok((id, told)) => {
                    contents.extend(crate::ids::email_content(&id));
                    context.created_ids.add(creation.clone(), id);
                    created.insert(creation.into(), told.into());
                }
                Err(error) => _ = not_created.insert(creation.into(), error.into_json()),
            }
        }
        let or_null = |map: Object| if map.is_empty() { Value::Null } else { map.into() };
        let new_state = self.state()?.to_owned();
        let response = json!({
            "accountId": account_id().as_str(),
            "oldState": self.only_changed(&contents, old_state),
            "newState": new_state,
            "created": or_null(created),
            "notCreated": or_null(not_created),
        });
        if let Value::Object(response) = response { Ok(response) } else { Ok(Object::new()) }
    }

    fn import_one(
        &mut self,
        mut object: Object,
        context: &Context<'_>,
        spelling: &mut Spelling,
    ) -> Result<Result<(Id, Object), SetError>, MethodError> {
        let placing = self.placing(&mut object, context, spelling)?;
        let blob = object.get("blobId").and_then(Value::as_str).and_then(Id::new);
        let bytes = blob.and_then(|blob| self.bytes_to_write(&blob, MESSAGE_BYTES_MAX).ok());
        let is_known = |name: &&String| PLACING.contains(&name.as_str()) || *name == "blobId";
        let mut wrong: Vec<String> = object.keys().filter(|name| !is_known(name)).cloned().collect();
        if bytes.is_none() {
            wrong.push("blobId".to_owned());
        }
        match (placing, bytes) {
            (Ok(placing), Some(bytes)) if wrong.is_empty() => {
                if !crate::email::is_message(&bytes) {
                    return Ok(Err(SetErrorKind::Other("invalidEmail").into()));
                }
                self.store(&bytes, &placing, context)
            }
            (placing, _) => {
                wrong.extend(placing.err().unwrap_or_default());
                Ok(Err(SetError::invalid_properties(wrong)))
            }
        }
    }

    pub(in crate::write) fn email_copy(
        &self,
        arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Object, MethodError> {
        // The same account twice is an invalid argument.
        let copy = CopyArguments::read(arguments, &[], context)?;
        self.check(&copy.account_id)?;
        Err(MethodErrorKind::FromAccountNotFound.into())
    }
}
