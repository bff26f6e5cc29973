//! Emails whose files may be gone: their bytes, and the properties `isDeleted`, `deletedAt`, `inArchive`.
//!
//! Input: a hit. Output: values, bytes, and why there are none. Whether the archive has the emails of a call
//! is asked once, and only if the call wants to know. Does not know the other properties.

use super::properties::{Named, Property};
use crate::account::Account;
use crate::capabilities::ARCHIVE;
use crate::error::failed;
use crate::ids;
use crate::messages::Reading;
use crate::past::Read;
use jmap::{Context, Date, Id, MethodError};
use pneu::{Hit, Message};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;

/// What is known of the emails of a call.
#[derive(Debug, Default)]
pub(super) struct Gone {
    /// Whether the archive has a content; none, if it cannot be asked.
    in_archive: HashMap<[u8; 32], bool>,
    /// Why the archive does not give the bytes of an email, by its id.
    not_read: Map<String, Value>,
}

impl Gone {
    /// Asks the archive for these emails, if the call wants that.
    ///
    /// # Errors
    /// `invalidArguments`, if the request does not use the capability.
    pub(super) fn new(
        account: &Account<'_>,
        wanted: &Named<Property>,
        ids: &[Id],
        context: &Context<'_>,
    ) -> Result<Gone, MethodError> {
        let mut names = wanted.iter().filter_map(|(_, property)| property.of_gone()).peekable();
        if names.peek().is_some() && !context.uses(ARCHIVE) {
            return Err(MethodError::invalid_argument("properties", "names a property that is not known"));
        }
        let mut gone = Gone::default();
        if names.any(|name| name == "inArchive")
            && let Ok(archive) = account.archive()
        {
            let contents: Vec<[u8; 32]> = ids.iter().filter_map(ids::email_content).collect();
            if let Ok(held) = archive.holds(&account.view, &contents) {
                gone.in_archive = contents.into_iter().zip(held).collect();
            }
        }
        Ok(gone)
    }

    /// Returns the bytes of a message; `None` if no file of it can be read, and the archive does not give
    /// them either.
    ///
    /// # Errors
    /// `requestTooLarge`; the request is cancelled; damage.
    pub(super) fn reading(
        &mut self,
        account: &Account<'_>,
        (hit, message): (&Hit, &Message),
        context: &Context<'_>,
    ) -> Result<Option<Arc<Reading>>, MethodError> {
        Ok(match account.read_now_or_archived(hit, message, context)? {
            Read::Here(reading) => Some(reading),
            Read::Nowhere => None,
            Read::NotInArchive(why) => {
                self.not_read.insert(ids::email(&message.sha256).to_string(), why.into_json().into());
                None
            }
        })
    }

    /// Returns whether the response says why an email has no bytes.
    pub(super) fn says_why(&self, sha256: &[u8; 32]) -> bool {
        self.not_read.contains_key(ids::email(sha256).as_str())
    }

    /// Adds to a response why emails have no bytes, if some have none.
    pub(super) fn added_to(self, mut response: Map<String, Value>) -> Map<String, Value> {
        if !self.not_read.is_empty() {
            response.insert("notRead".to_owned(), self.not_read.into());
        }
        response
    }

    /// Returns a property.
    pub(super) fn value(
        &self,
        account: &Account<'_>,
        (hit, sha256): (&Hit, &[u8; 32]),
        name: &str,
    ) -> Result<Value, MethodError> {
        let since = || account.view.gone_since(hit).map_err(failed);
        Ok(match name {
            "isDeleted" => since()?.is_some().into(),
            "deletedAt" => since()?.and_then(|seconds| Date::utc(seconds).text()).into(),
            _ => self.in_archive.get(sha256).copied().into(),
        })
    }
}
