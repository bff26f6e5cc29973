//! EmailSubmission/set (RFC 8621, section 7.5).
//!
//! Input: emails to send, each with an identity. Output: the response, and that of the Email/set which
//! follows if it was sent. A message is sent once, at once, and only from an address of an identity. Does not
//! know how the command is called.

use super::STATE;
use super::identity::Identity;
use crate::account::Account;
use crate::error::failed;
use crate::ids;
use crate::write::not_done;
use jmap::{
    Answer, Arguments, Context, Date, Id, IdReference, MethodError, SetArguments, SetError, SetErrorKind,
    SetResponse, check_state,
};
use mail::Email;
use pneu::{RecordReader, SendError};
use printable::hex;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The largest message that is sent.
const MESSAGE_BYTES_MAX: usize = 100 << 20;
/// Most recipients of a message.
const RECIPIENT_COUNT_MAX: usize = 1_000;
/// Bytes of the hash in the id of a submission.
const HASH_BYTES: usize = 16;
/// The further arguments of the method.
const FURTHER: [&str; 2] = ["onSuccessUpdateEmail", "onSuccessDestroyEmail"];
/// The properties that a client sets. Others may have the value only that the server gives them.
const PROPERTIES: [&str; 3] = ["identityId", "emailId", "envelope"];

type Object = Map<String, Value>;

/// Who sends an email, and who gets it.
#[derive(Debug)]
struct Sending {
    root: String,
    mail_from: String,
    recipients: Vec<String>,
}

impl Account<'_> {
    pub(in crate::write) fn submission_set(
        &mut self,
        arguments: Arguments,
        context: &mut Context<'_>,
    ) -> Result<Vec<Answer>, MethodError> {
        let mut set = SetArguments::read(arguments, &FURTHER, context)?;
        self.check(&set.account_id)?;
        let update = set.rest.optional_objects("onSuccessUpdateEmail", IdReference::new)?.unwrap_or_default();
        let destroy = set.rest.optional_references("onSuccessDestroyEmail")?.unwrap_or_default();
        check_state(set.if_in_state.as_deref(), STATE)?;
        self.renew()?;
        let mut response = SetResponse::new(set.account_id, STATE);
        let mut sent: BTreeMap<Id, Id> = BTreeMap::new();
        for (creation, object) in set.create {
            match self.submit(object, context)? {
                Ok((id, email, told)) => {
                    sent.insert(creation.clone(), email);
                    context.created_ids.add(creation.clone(), id);
                    response.created.insert(creation, told);
                }
                Err(error) => _ = response.not_created.insert(creation, error),
            }
        }
        let not_found = || SetError::from(SetErrorKind::NotFound);
        response.not_updated = set.update.into_iter().map(|(one, _)| (one, not_found())).collect();
        response.not_destroyed = set.destroy.into_iter().map(|one| (one, not_found())).collect();
        let mut answers = vec![Answer::new("EmailSubmission/set", response.into())];
        answers.extend(self.follow_up((update, destroy), &sent, context));
        Ok(answers)
    }

    /// Makes the Email/set that follows, if anything was sent that it is about.
    fn follow_up(
        &mut self,
        (update, destroy): (Vec<(IdReference, Object)>, Vec<IdReference>),
        sent: &BTreeMap<Id, Id>,
        context: &mut Context<'_>,
    ) -> Option<Answer> {
        let email = |reference: &IdReference| match reference {
            IdReference::Created(creation) => sent.get(creation).map(Id::to_string),
            // One that was sent before is not kept.
            IdReference::Id(_) => None,
        };
        let update: Object =
            update.into_iter().filter_map(|(one, patch)| Some((email(&one)?, patch.into()))).collect();
        let destroy: Vec<String> = destroy.iter().filter_map(email).collect();
        if update.is_empty() && destroy.is_empty() {
            return None;
        }
        let arguments =
            json!({"accountId": ids::account_id().as_str(), "update": update, "destroy": destroy});
        let Value::Object(arguments) = arguments else { return None };
        Some(match self.email_set(Arguments::new(arguments), context) {
            Ok(response) => Answer::new("Email/set", response),
            Err(error) => error.into(),
        })
    }

    /// Sends an email. Returns the id of the submission, that of the email, and what the client is told.
    fn submit(
        &self,
        mut object: Object,
        context: &Context<'_>,
    ) -> Result<Result<(Id, Id, Object), SetError>, MethodError> {
        let mut wrong: Vec<String> = Vec::new();
        for name in ["identityId", "emailId"] {
            if context.created_ids.resolve_property(&mut object, name).is_err() {
                wrong.push(name.to_owned());
            }
        }
        let is_given = |name: &&String| match object.get(*name) {
            Some(value) if *name == "undoStatus" => value == "final",
            Some(Value::Null) => true,
            _ => PROPERTIES.contains(&name.as_str()),
        };
        wrong.extend(object.keys().filter(|name| !is_given(name)).cloned());
        let id = |name: &str| object.get(name).and_then(Value::as_str).and_then(Id::new);
        let identities = self.identities()?;
        let identity = id("identityId").and_then(|id| identities.iter().find(|identity| identity.id == id));
        let email = id("emailId");
        let hit = match email.as_ref().and_then(ids::email_content) {
            Some(sha256) => self.view.content_hit(&sha256).map_err(failed)?.map(|hit| (hit, sha256)),
            None => None,
        };
        wrong.extend(identity.is_none().then(|| "identityId".to_owned()));
        wrong.extend(hit.is_none().then(|| "emailId".to_owned()));
        wrong.dedup();
        let (Some(identity), Some((hit, sha256)), Some(email), true) =
            (identity, hit, email, wrong.is_empty())
        else {
            return Ok(Err(SetError::invalid_properties(wrong)));
        };
        let Ok(bytes) = self.bytes_to_write(&ids::blob(&sha256), MESSAGE_BYTES_MAX) else {
            return Ok(Err(SetError::from(SetErrorKind::TooLarge).with("maxSize", MESSAGE_BYTES_MAX)));
        };
        let sending = match sending(&bytes, object.get("envelope"), (identity, &identities)) {
            Ok(sending) => sending,
            Err(error) => return Ok(Err(error)),
        };
        let thread = self.view.content(&hit, &mut RecordReader::new()).map_err(failed)?.thread;
        if let Err(error) = self.host.send(&sending.root, &sending.recipients, &bytes) {
            return Ok(Err(not_sent(&error)));
        }
        let now_ns = self.view.settings().environment.context.now_ns();
        let told = told(&sending, (&email, now_ns), ids::thread(thread));
        let id = told.get("id").and_then(Value::as_str).and_then(Id::new);
        Ok(id.map(|id| (id, email, told)).ok_or_else(|| not_done("the email is sent")))
    }
}

/// Returns what a client is told of an email that was sent.
fn told(sending: &Sending, (email, now_ns): (&Id, i64), thread: Id) -> Object {
    let mut hash = Sha256::new();
    hash.update(email.as_str());
    hash.update(now_ns.to_le_bytes());
    let id = format!("S{}", hex(hash.finalize().get(..HASH_BYTES).unwrap_or_default()));
    let address = |text: &String| json!({"email": text, "parameters": null});
    let told = json!({
        "id": id,
        "threadId": String::from(thread),
        "undoStatus": "final",
        "sendAt": Date::utc(now_ns.div_euclid(1_000_000_000)).text(),
        "envelope": {
            "mailFrom": address(&sending.mail_from),
            "rcptTo": sending.recipients.iter().map(address).collect::<Vec<_>>(),
        },
        "deliveryStatus": null,
        "dsnBlobIds": [],
        "mdnBlobIds": [],
    });
    if let Value::Object(told) = told { told } else { Object::new() }
}

/// Decides who sends a message and who gets it.
fn sending(
    bytes: &[u8],
    envelope: Option<&Value>,
    (identity, identities): (&Identity, &[Identity]),
) -> Result<Sending, SetError> {
    let is_own = |address: &str| identities.iter().any(|own| own.address.eq_ignore_ascii_case(address));
    let message = Email::of_bytes(bytes);
    let fields = message.header_fields(&message.structure);
    let addresses = |name: &str| -> Vec<String> {
        let named = fields.iter().filter(|field| field.name().eq_ignore_ascii_case(name));
        named.flat_map(mail::HeaderField::addresses).map(|address| address.address).collect()
    };
    let from = addresses("From");
    if from.is_empty() {
        let error = SetError::from(SetErrorKind::Other("invalidEmail"));
        return Err(SetError { properties: vec!["from".to_owned()], ..error });
    }
    if !from.iter().all(|address| is_own(address)) {
        return Err(SetErrorKind::Other("forbiddenFrom").into());
    }
    let (mail_from, recipients) = match envelope {
        None | Some(Value::Null) => {
            let sender = addresses("Sender").into_iter().chain(from).next().filter(|sender| is_own(sender));
            let recipients = ["To", "Cc", "Bcc"].iter().flat_map(|name| addresses(name)).collect();
            (sender.unwrap_or_else(|| identity.address.clone()), recipients)
        }
        Some(envelope) => {
            read_envelope(envelope).ok_or_else(|| SetError::invalid_properties(["envelope"]))?
        }
    };
    if !is_own(&mail_from) {
        return Err(SetErrorKind::Other("forbiddenMailFrom").into());
    }
    let mut each: Vec<String> = Vec::new();
    for recipient in recipients {
        if !each.contains(&recipient) {
            each.push(recipient);
        }
    }
    match each.len() {
        0 => Err(SetErrorKind::Other("noRecipients").into()),
        1..=RECIPIENT_COUNT_MAX => Ok(Sending { root: identity.root.clone(), mail_from, recipients: each }),
        _ => {
            let error = SetError::from(SetErrorKind::Other("tooManyRecipients"));
            Err(error.with("maxRecipients", RECIPIENT_COUNT_MAX))
        }
    }
}

/// Reads an envelope: the sender and the recipients. Parameters of SMTP are not offered.
fn read_envelope(envelope: &Value) -> Option<(String, Vec<String>)> {
    let address = |value: &Value| {
        let has_none = match value.get("parameters") {
            None | Some(Value::Null) => true,
            Some(parameters) => parameters.as_object().is_some_and(Map::is_empty),
        };
        value.get("email").and_then(Value::as_str).filter(|_| has_none).map(str::to_owned)
    };
    let recipients = envelope.get("rcptTo")?.as_array()?;
    Some((address(envelope.get("mailFrom")?)?, recipients.iter().map(address).collect::<Option<_>>()?))
}

/// Returns what a client is told of an email that was not sent.
fn not_sent(error: &SendError) -> SetError {
    match error {
        SendError::Recipient(wrong) => SetError::from(SetErrorKind::Other("invalidRecipients"))
            .with("invalidRecipients", vec![wrong.clone()]),
        SendError::NoCommand | SendError::OtherRecipients => {
            SetError::new(SetErrorKind::Other("forbiddenToSend"), error.to_string())
        }
        SendError::Failed(_) | SendError::Unknown => not_done(&error.to_string()),
    }
}
