//! Emails that are made of properties (RFC 8621, section 4.6).
//!
//! Input: properties. Output: the bytes of a message, stored. A message gets a date and an id if the client
//! gives none. Does not know how bytes are written.

use super::body::Body;
use super::fields;
use super::store::PLACING;
use crate::account::Account;
use crate::session::ATTACHMENT_BYTES_MAX;
use crate::write::keywords::Spelling;
use jmap::{Context, Id, MethodError, SetError, SetResponse};
use mail::{NewValue, compose};
use printable::hex;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The properties of the body.
const BODY: [&str; 5] = ["bodyStructure", "textBody", "htmlBody", "attachments", "bodyValues"];
/// Bytes of the hash in an id of a message.
const HASH_BYTES: usize = 16;

type Object = Map<String, Value>;

impl Account<'_> {
    /// Creates emails. Returns their contents.
    pub(super) fn create_emails(
        &mut self,
        create: BTreeMap<Id, Object>,
        context: &mut Context<'_>,
        response: &mut SetResponse,
    ) -> Result<Vec<[u8; 32]>, MethodError> {
        let mut contents = Vec::new();
        let mut spelling = Spelling::default();
        for (creation, object) in create {
            match self.create_email(object, context, &mut spelling)? {
                Ok((id, told)) => {
                    contents.extend(crate::ids::email_content(&id));
                    context.created_ids.add(creation.clone(), id);
                    response.created.insert(creation, told);
                }
                Err(error) => _ = response.not_created.insert(creation, error),
            }
        }
        Ok(contents)
    }

    fn create_email(
        &mut self,
        mut object: Object,
        context: &Context<'_>,
        spelling: &mut Spelling,
    ) -> Result<Result<(Id, Object), SetError>, MethodError> {
        let is_known = |name: &&String| {
            PLACING.contains(&name.as_str()) || BODY.contains(&name.as_str()) || fields::is_field(name)
        };
        let mut wrong: Vec<String> = object.keys().filter(|name| !is_known(name)).cloned().collect();
        let placing = self.placing(&mut object, context, spelling)?;
        let fields = fields::read(object.iter().filter(|(name, _)| fields::is_field(name)));
        let (placing, mut fields) = match (placing, fields) {
            (Ok(placing), Ok(fields)) if wrong.is_empty() => (placing, fields),
            (placing, fields) => {
                wrong.extend(placing.err().into_iter().chain(fields.err()).flatten());
                return Ok(Err(SetError::invalid_properties(wrong)));
            }
        };
        let bytes_max = usize::try_from(ATTACHMENT_BYTES_MAX).unwrap_or(usize::MAX);
        // One byte more shows that a blob is too large.
        let blob = |id: &Id| self.bytes_to_write(id, bytes_max.saturating_add(1)).ok();
        let mut message = match Body::of(&object, &blob, bytes_max) {
            Ok(message) => message,
            Err(error) => return Ok(Err(error)),
        };
        self.add_missing(&mut fields, &object);
        fields.push(("MIME-Version".to_owned(), NewValue::Raw("1.0".to_owned())));
        message.fields = [fields, message.fields].concat();
        self.store(&compose(message), &placing, context)
    }

    /// Adds the date and the id of a message, if it has none.
    fn add_missing(&self, fields: &mut Vec<fields::Field>, object: &Object) {
        let has = |fields: &[fields::Field], name: &str| {
            fields.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
        };
        let environment = &self.view.settings().environment;
        let now_ns = environment.context.now_ns();
        if !has(fields, "Date") {
            let date = NewValue::Date(now_ns.div_euclid(1_000_000_000), 0);
            fields.insert(0, ("Date".to_owned(), date));
        }
        if !has(fields, "Message-ID") {
            let mut hash = Sha256::new();
            hash.update(now_ns.to_le_bytes());
            hash.update(environment.seed.to_le_bytes());
            hash.update(std::process::id().to_le_bytes());
            hash.update(Value::Object(object.clone()).to_string());
            let unique = hex(hash.finalize().get(..HASH_BYTES).unwrap_or_default());
            let from = object.get("from").and_then(|from| from.get(0)?.get("email")?.as_str());
            let domain =
                from.and_then(|from| from.rsplit_once('@')).map_or("localhost", |(_, domain)| domain);
            let domain = if domain.is_ascii() && !domain.is_empty() { domain } else { "localhost" };
            let id = NewValue::MessageIds(vec![format!("{unique}@{domain}")]);
            fields.push(("Message-ID".to_owned(), id));
        }
    }
}
