//! The account as one request sees it: which methods there are, and what they share.
//!
//! Input: a host, and calls. Output: responses. The view is taken once, when the account is made.

use crate::cache::Cache;
use crate::capabilities::CONVERSATIONS;
use crate::error::failed;
use crate::ids::account_id;
use crate::mailbox::Folders;
use crate::messages::Messages;
use crate::session::{MAIL, Session};
use crate::uploads::Uploads;
use jmap::{Answer, Arguments, CORE, Context, Id, MethodError, MethodErrorKind, Methods};
use pneu::archive::SharedArchive;
use pneu::{Cancel, Host, NumberSet, View};
use serde_json::{Map, Value};
use std::cell::OnceCell;
use std::sync::Arc;

/// The methods of RFC 8620 itself.
const OF_CORE: [&str; 3] = ["Blob/copy", "PushSubscription/get", "PushSubscription/set"];

/// The method that conversations have.
const CONVERSATION_GET: &str = "Conversation/get";

/// The methods that read.
const READING: [&str; 12] = [
    "Email/changes",
    "Email/get",
    "Email/parse",
    "Email/query",
    "Email/queryChanges",
    "Mailbox/changes",
    "Mailbox/get",
    "Mailbox/query",
    "Mailbox/queryChanges",
    "SearchSnippet/get",
    "Thread/changes",
    "Thread/get",
];

/// The account, for one request.
#[derive(Debug)]
pub struct Account<'c> {
    pub(crate) host: &'c Host,
    pub(crate) view: View,
    pub(crate) cancel: Cancel,
    pub(crate) cache: &'c Cache,
    session_state: String,
    pub(crate) state: OnceCell<String>,
    pub(crate) folders: OnceCell<Arc<Folders>>,
    pub(crate) messages: Messages,
    pub(crate) uploads: Option<&'c Uploads>,
    pub(crate) archive: Option<&'c SharedArchive>,
    /// Contents of the view that no query finds.
    pub(crate) left_out: Option<NumberSet>,
}

impl<'c> Account<'c> {
    /// Takes a view of the current state, from which the calls of a request are answered. A call that writes
    /// takes the newest state, and those after it see what it wrote.
    ///
    /// # Errors
    /// There is no index yet; it is damaged, or of a newer version.
    pub fn new(host: &'c Host, cache: &'c Cache, session: &Session) -> pneu::Result<Account<'c>> {
        let session_state = session.state().to_owned();
        let (state, folders) = (OnceCell::new(), OnceCell::new());
        let (view, cancel, messages) = (host.view()?, Cancel::new(), Messages::default());
        let (uploads, archive, left_out) = (None, None, None);
        Ok(Account {
            host,
            view,
            cancel,
            cache,
            session_state,
            state,
            folders,
            messages,
            uploads,
            archive,
            left_out,
        })
    }

    /// Returns the same account for a request that may be stopped: calls that take time are then refused
    /// with `serverUnavailable`.
    #[must_use]
    pub fn with_cancel(self, cancel: Cancel) -> Account<'c> {
        Account { view: self.view.with_cancel(cancel.clone()), cancel, ..self }
    }

    /// Returns the same account with uploads, which have blobs.
    #[must_use]
    pub fn with_uploads(self, uploads: &'c Uploads) -> Account<'c> {
        Account { uploads: Some(uploads), ..self }
    }

    /// Returns the same account with an archive, for messages whose files are gone.
    #[must_use]
    pub fn with_archive(self, archive: &'c SharedArchive) -> Account<'c> {
        Account { archive: Some(archive), ..self }
    }

    /// Returns the same account for a request that may read this many bytes of messages, and give them out as
    /// text. Calls for more are then refused with `requestTooLarge`, unless they need only one message.
    #[must_use]
    pub fn with_read_limit(self, bytes_max: u64) -> Account<'c> {
        Account { messages: Messages::new(bytes_max), ..self }
    }

    /// Returns the state of all records: the token of the change log.
    ///
    /// # Errors
    /// The index is damaged, or its commits cannot be made durable.
    pub(crate) fn state(&self) -> Result<&str, MethodError> {
        if self.state.get().is_none() {
            let token = self.view.changes(None).map_err(failed)?.token;
            self.state.get_or_init(|| token);
        }
        Ok(self.state.get().map_or("", String::as_str))
    }

    /// Checks that a call is about this account.
    pub(crate) fn check(&self, id: &Id) -> Result<(), MethodError> {
        if *id == account_id() { Ok(()) } else { Err(MethodErrorKind::AccountNotFound.into()) }
    }

    /// Answers a call of a method that reads.
    pub(crate) fn read(
        &self,
        name: &str,
        arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        match name {
            "Blob/copy" => Err(self.blob_copy(arguments)),
            CONVERSATION_GET => self.conversation_get(arguments, context),
            "Email/changes" => self.email_changes(arguments),
            "Email/get" => self.email_get(arguments, context),
            "Email/parse" => self.email_parse(arguments, context),
            "Email/query" => self.email_query(arguments, context),
            "Email/queryChanges" => self.email_query_changes(arguments, context),
            "Mailbox/changes" => self.mailbox_changes(arguments),
            "Mailbox/get" => self.mailbox_get(arguments, context),
            "Mailbox/query" => self.mailbox_query(arguments, context),
            "Mailbox/queryChanges" => self.mailbox_query_changes(arguments, context),
            "PushSubscription/get" => self.push_subscription_get(arguments, context),
            "PushSubscription/set" => self.push_subscription_set(arguments, context),
            "SearchSnippet/get" => self.search_snippet_get(arguments, context),
            "Thread/changes" => self.thread_changes(arguments),
            "Thread/get" => self.thread_get(arguments, context),
            _ => Err(MethodErrorKind::UnknownMethod.into()),
        }
    }
}

impl Methods for Account<'_> {
    fn capability(&self, name: &str) -> Option<&str> {
        if OF_CORE.contains(&name) {
            return Some(CORE);
        }
        if name == CONVERSATION_GET {
            return Some(CONVERSATIONS);
        }
        if READING.contains(&name) {
            return Some(MAIL);
        }
        Self::capability_of_writing(name).or_else(|| Self::capability_of_tool(name))
    }

    fn call(
        &mut self,
        name: &str,
        arguments: Arguments,
        context: &mut Context<'_>,
    ) -> Result<Vec<Answer>, MethodError> {
        if Self::capability_of_writing(name).is_some() {
            return self.write(name, arguments, context);
        }
        if Self::capability_of_tool(name).is_some() {
            return Ok(vec![Answer::new(name, self.tool(name, arguments, context)?)]);
        }
        Ok(vec![Answer::new(name, self.read_now_or_then(name, arguments, context)?)])
    }

    fn session_state(&self) -> String {
        self.session_state.clone()
    }
}
