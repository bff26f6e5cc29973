//! The session object (RFC 8620, section 2), with the account's limits of RFC 8621, section 1.3.1.
//!
//! Input: the user's name, URLs, limits. Output: the object, and its state. Does not know where the URLs
//! lead.

use crate::capabilities::{ACTIONS, ARCHIVE, CONVERSATIONS, MOMENT, OWN, QUERY, SEARCH, STATISTICS};
use crate::ids::account_id;
use crate::write::SUBMISSION;
use jmap::{CORE, Limits};
use printable::hex;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// The capabilities that a request may use.
pub const CAPABILITIES: [&str; 10] =
    [CORE, MAIL, SUBMISSION, ACTIONS, ARCHIVE, CONVERSATIONS, MOMENT, QUERY, SEARCH, STATISTICS];

/// The capability of RFC 8621.
pub const MAIL: &str = "urn:ietf:params:jmap:mail";

/// The longest name of a mailbox, in bytes: that of a file.
pub(crate) const MAILBOX_NAME_BYTES_MAX: usize = 255;
/// Bytes of the attachments of an email that is made.
pub(crate) const ATTACHMENT_BYTES_MAX: u64 = 50_000_000;
/// Bytes of the hash that is the state.
const STATE_BYTES: usize = 8;

/// Where a client finds the server, as URLs or URL templates of RFC 8620, section 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Urls {
    /// Takes requests.
    pub api: String,
    /// A template with the variables accountId, blobId, type and name.
    pub download: String,
    /// A template with the variable accountId.
    pub upload: String,
    /// A template with the variables types, closeafter and ping.
    pub event_source: String,
}

/// The session of a user.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    object: Map<String, Value>,
    state: String,
}

impl Session {
    /// Describes the account of a user, who may have no name.
    pub fn new(username: &str, urls: &Urls, limits: &Limits) -> Session {
        let id = account_id();
        let account = json!({
            "name": username,
            "isPersonal": true,
            "isReadOnly": false,
            "accountCapabilities": {
                CORE: {}, MAIL: mail_capability(),
                SUBMISSION: { "maxDelayedSend": 0, "submissionExtensions": {} },
            },
        });
        let mut object = json!({
            "capabilities": { CORE: limits.core_capability(), MAIL: {}, SUBMISSION: {} },
            "accounts": { id.as_str(): account },
            "primaryAccounts": { MAIL: id.as_str(), SUBMISSION: id.as_str() },
            "username": username,
            "apiUrl": urls.api,
            "downloadUrl": urls.download,
            "uploadUrl": urls.upload,
            "eventSourceUrl": urls.event_source,
        });
        for own in OWN {
            object["capabilities"][own] = json!({});
            object["accounts"][id.as_str()]["accountCapabilities"][own] = json!({});
            object["primaryAccounts"][own] = id.as_str().into();
        }
        let Value::Object(mut object) = object else { unreachable!("an object is written above") };
        let state = state(&object);
        object.insert("state".to_owned(), state.clone().into());
        Session { object, state }
    }

    /// Returns the same session, which says whether a mailbox without a parent can be created: that is so if
    /// there is one root.
    #[must_use]
    pub fn with_top_level_mailboxes(mut self, may_create: bool) -> Session {
        let account = self.object.get_mut("accounts").and_then(|all| all.get_mut(account_id().as_str()));
        let capability = account.and_then(|account| account.get_mut("accountCapabilities")?.get_mut(MAIL));
        if let Some(capability) = capability {
            capability["mayCreateTopLevelMailbox"] = may_create.into();
        }
        self.object.remove("state");
        self.state = state(&self.object);
        self.object.insert("state".to_owned(), self.state.clone().into());
        self
    }

    /// Returns the object that a client gets.
    pub fn object(&self) -> &Map<String, Value> {
        &self.object
    }

    /// Returns its state, which changes with anything in it.
    pub fn state(&self) -> &str {
        &self.state
    }
}

/// Returns the state of a session: a hash of all that is in it.
fn state(object: &Map<String, Value>) -> String {
    let digest = Sha256::digest(Value::Object(object.clone()).to_string().as_bytes());
    hex(digest.get(..STATE_BYTES).unwrap_or_default())
}

/// Returns the limits of the account.
fn mail_capability() -> Value {
    json!({
        "maxMailboxesPerEmail": null,
        "maxMailboxDepth": null,
        "maxSizeMailboxName": MAILBOX_NAME_BYTES_MAX,
        "maxSizeAttachmentsPerEmail": ATTACHMENT_BYTES_MAX,
        "emailQuerySortOptions": crate::email::SORT_PROPERTIES,
        "mayCreateTopLevelMailbox": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_changes_with_the_session() {
        let url = |name: &str| format!("https://mail.example.org/{name}");
        let urls = Urls { api: url("a"), download: url("d"), upload: url("u"), event_source: url("e") };
        let session = Session::new("ana", &urls, &Limits::default());
        assert_eq!(session, Session::new("ana", &urls, &Limits::default()));
        assert_eq!(session.object()["state"], session.state());
        let other = Urls { api: url("b"), ..urls };
        assert_ne!(session.state(), Session::new("ana", &other, &Limits::default()).state());
        let may = session.clone().with_top_level_mailboxes(true);
        assert_ne!(session.state(), may.state());
        assert_eq!(may.object()["state"], may.state());
        let mail =
            |session: &Session| session.object()["accounts"]["mail"]["accountCapabilities"][MAIL].clone();
        assert_eq!(mail(&may)["mayCreateTopLevelMailbox"], true);
        assert_eq!(may.with_top_level_mailboxes(false), session);
        let account = &session.object()["accounts"]["mail"];
        assert_eq!(account["isReadOnly"], false);
        assert_eq!(session.object()["primaryAccounts"][MAIL], "mail");
    }
}
