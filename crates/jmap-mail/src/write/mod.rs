//! The methods that write, and those about what is sent.
//!
//! Input: calls. Output: responses, and actions of the library, which know files. Each method has a file of
//! its own. What all of them share is here: the newest view, how long they wait, and what a failure is
//! called.

mod blobs;
mod email;
mod keywords;
mod mailbox_set;
mod patience;
mod submission;

use crate::account::Account;
use crate::capabilities::ARCHIVE;
use crate::error::failed;
use crate::session::MAIL;
use jmap::{Answer, Arguments, Context, MethodError, MethodErrorKind, SetError, SetErrorKind};
use patience::Patience;
use pneu::{Error, IndexError};
use std::cell::OnceCell;
use std::collections::BTreeSet;
pub use submission::SUBMISSION;
pub(crate) use submission::identity_state;

/// These methods, each with its capability.
const METHODS: [(&str, &str); 13] = [
    ("Email/copy", MAIL),
    ("Email/import", MAIL),
    ("Email/restore", ARCHIVE),
    ("Email/set", MAIL),
    ("EmailSubmission/changes", SUBMISSION),
    ("EmailSubmission/get", SUBMISSION),
    ("EmailSubmission/query", SUBMISSION),
    ("EmailSubmission/queryChanges", SUBMISSION),
    ("EmailSubmission/set", SUBMISSION),
    ("Identity/changes", SUBMISSION),
    ("Identity/get", SUBMISSION),
    ("Identity/set", SUBMISSION),
    ("Mailbox/set", MAIL),
];

impl Account<'_> {
    /// Returns the capability of one of these methods.
    pub(crate) fn capability_of_writing(name: &str) -> Option<&'static str> {
        METHODS.iter().find(|(known, _)| *known == name).map(|(_, capability)| *capability)
    }

    /// Answers a call of one of these methods.
    pub(crate) fn write(
        &mut self,
        name: &str,
        arguments: Arguments,
        context: &mut Context<'_>,
    ) -> Result<Vec<Answer>, MethodError> {
        let response = match name {
            "Email/copy" => self.email_copy(arguments, context)?,
            "Email/import" => self.email_import(arguments, context)?,
            "Email/restore" => self.email_restore(arguments, context)?,
            "Email/set" => self.email_set(arguments, context)?,
            "EmailSubmission/changes" => self.submission_changes(arguments)?,
            "EmailSubmission/get" => self.submission_get(arguments, context)?,
            "EmailSubmission/query" => self.submission_query(arguments, context)?,
            "EmailSubmission/queryChanges" => self.submission_query_changes(arguments, context)?,
            // One more answer may follow.
            "EmailSubmission/set" => return self.submission_set(arguments, context),
            "Identity/changes" => self.identity_changes(arguments)?,
            "Identity/get" => self.identity_get(arguments, context)?,
            "Identity/set" => self.identity_set(arguments, context)?,
            "Mailbox/set" => self.mailbox_set(arguments, context)?,
            _ => return Err(MethodErrorKind::UnknownMethod.into()),
        };
        Ok(vec![Answer::new(name, response)])
    }

    /// Takes the newest view, which shows what was written.
    pub(crate) fn renew(&mut self) -> Result<(), MethodError> {
        self.host.refresh().map_err(failed)?;
        self.view = self.host.view().map_err(failed)?.with_cancel(self.cancel.clone());
        (self.state, self.folders) = (OnceCell::new(), OnceCell::new());
        Ok(())
    }

    /// Returns what watches an action of this request.
    pub(crate) fn patience(&self) -> Patience {
        Patience::new(self.cancel.clone())
    }

    /// Takes the newest view after an action, and says what a failure of it means to the client.
    ///
    /// # Errors
    /// The action failed: in part, unless all is as it was in `old_state`, before the call.
    pub(crate) fn renew_after<T>(
        &mut self,
        done: pneu::Result<T>,
        old_state: Option<&str>,
    ) -> Result<T, MethodError> {
        let renewed = self.renew();
        match done {
            Ok(done) => renewed.map(|()| done),
            Err(error) => {
                let is_unchanged =
                    renewed.is_ok() && self.state().is_ok_and(|state| Some(state) == old_state);
                Err(if is_unchanged {
                    not_written(&error)
                } else {
                    MethodErrorKind::ServerPartialFail.into()
                })
            }
        }
    }

    /// Returns the state before a call, if nothing but these contents changed since then: else the client
    /// would take changes of others for its own.
    fn only_changed(&self, contents: &BTreeSet<[u8; 32]>, old_state: String) -> Option<String> {
        let fates = self.fates(&old_state).ok()?;
        fates.keys().all(|sha256| contents.contains(sha256)).then_some(old_state)
    }
}

/// Returns what a client is told of an action that did nothing.
pub(crate) fn not_written(error: &Error) -> MethodError {
    match error {
        Error::Cancelled | Error::Index(IndexError::Disk(_)) => {
            let what = "another process writes at the moment, or the request was stopped before its end";
            MethodError::new(MethodErrorKind::ServerUnavailable, what)
        }
        _ => MethodError::new(MethodErrorKind::ServerFail, "nothing was written"),
    }
}

/// Returns the refusal of a record that could not be changed now.
pub(crate) fn not_done(what: &str) -> SetError {
    SetError::new(SetErrorKind::Other("serverFail"), what)
}
