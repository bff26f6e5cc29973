//! Email/restore: brings emails back that only the archive has.
//!
//! Input: ids, and a mailbox if all are to go there. Output: where they are now, or why they are not back.
//! All of them are one action, which can be undone. Does not know how the archive is read.

use crate::account::Account;
use crate::error::failed;
use crate::ids;
use crate::past::archive_fault;
use crate::write::not_done;
use jmap::{Arguments, Context, Id, IdReference, MethodError, MethodErrorKind, SetError, SetErrorKind};
use pneu::archive::Unopened;
use pneu::{BackupRemedy, RecordReader, Restored};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

type Object = Map<String, Value>;

impl Account<'_> {
    pub(in crate::write) fn email_restore(
        &mut self,
        mut arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Object, MethodError> {
        let account = arguments.id("accountId")?;
        let references = arguments.optional_references("ids")?;
        let references = references.ok_or_else(|| arguments.fault("ids", "is missing"))?;
        let mailbox = arguments.optional_id("mailboxId")?;
        arguments.finish()?;
        self.check(&account)?;
        if references.len() > context.limits.max_objects_in_set {
            return Err(MethodErrorKind::RequestTooLarge.into());
        }
        self.renew()?;
        let folder = mailbox.map(|id| self.folder_path(&id)).transpose()?;
        let mut not_restored = Object::new();
        let mut wanted: Vec<(Id, [u8; 32])> = Vec::new();
        for reference in references {
            match self.gone(&reference, context)? {
                Ok(one) if wanted.contains(&one) => {}
                Ok(one) => wanted.push(one),
                Err(error) => _ = not_restored.insert(reference.to_string(), error.into_json()),
            }
        }
        let restored = if wanted.is_empty() {
            Restored::default()
        } else {
            let archive = self.archive.ok_or_else(|| archive_fault(Unopened::NotNamed.into()))?;
            let repository = archive.repository().map_err(archive_fault)?;
            let contents: Vec<[u8; 32]> = wanted.iter().map(|(_, sha256)| *sha256).collect();
            let old_state = self.state()?.to_owned();
            let done = self.host.restore(&contents, &repository, folder.as_deref(), &self.patience());
            self.renew_after(done, Some(&old_state))?
        };
        let mailboxes = self.mailbox_ids().map_err(failed)?;
        let mut back = Object::new();
        for (id, sha256) in wanted {
            match self.view.content_hit(&sha256).map_err(failed)? {
                Some(hit) => {
                    let content = self.view.content(&hit, &mut RecordReader::new()).map_err(failed)?;
                    let ids = content.folders.iter().filter_map(|number| mailboxes.get(number));
                    let ids: Object = ids.map(|id| (id.to_string(), Value::Bool(true))).collect();
                    back.insert(id.to_string(), json!({ "mailboxIds": ids }));
                }
                None => {
                    let error = self.why_not_back(&sha256, &restored)?;
                    not_restored.insert(id.to_string(), error.into_json());
                }
            }
        }
        let response = json!({
            "accountId": account.as_str(), "newState": self.state()?,
            "restored": back, "notRestored": not_restored,
        });
        if let Value::Object(response) = response { Ok(response) } else { Ok(Object::new()) }
    }

    fn folder_path(&self, mailbox: &Id) -> Result<PathBuf, MethodError> {
        let folders = self.folder_ids().map_err(failed)?;
        let folder = folders.into_iter().find(|(_, id)| id == mailbox);
        let unknown = || MethodError::invalid_argument("mailboxId", "is the id of no mailbox");
        Ok(folder.ok_or_else(unknown)?.0.place.path)
    }

    /// Returns an email that has no file, or why there is nothing to restore.
    fn gone(
        &self,
        reference: &IdReference,
        context: &Context<'_>,
    ) -> Result<Result<(Id, [u8; 32]), SetError>, MethodError> {
        let id = context.created_ids.resolve(reference);
        let Some((id, sha256)) = id.and_then(|id| Some((id.clone(), ids::email_content(&id)?))) else {
            return Ok(Err(SetErrorKind::NotFound.into()));
        };
        if self.view.content_hit(&sha256).map_err(failed)?.is_some() {
            return Ok(Err(SetError::already_exists(id)));
        }
        let known = self.view.known_content(&sha256).map_err(failed)?;
        Ok(if known.is_some() { Ok((id, sha256)) } else { Err(SetErrorKind::NotFound.into()) })
    }

    /// Returns why a content has no file still.
    fn why_not_back(&self, sha256: &[u8; 32], restored: &Restored) -> Result<SetError, MethodError> {
        let Some(hit) = self.view.known_content(sha256).map_err(failed)? else {
            return Ok(SetErrorKind::NotFound.into());
        };
        if !self.view.is_absent(&hit).map_err(failed)? {
            return Ok(not_done("another copy of the message is there"));
        }
        let name = format!("<{}>", self.view.message(&hit).map_err(failed)?.rest.message_id);
        let problem = restored.report.problems.iter().find(|problem| problem.path.as_os_str() == &*name);
        Ok(match problem.map(|problem| &problem.remedy) {
            Some(Some(BackupRemedy::ShowMessage)) => {
                SetError::new(SetErrorKind::NotFound, "no snapshot of the archive has it")
            }
            Some(Some(BackupRemedy::ChooseFolder)) => SetError::new(
                SetErrorKind::InvalidProperties,
                "it lay outside of the mail that is indexed: name a mailboxId",
            ),
            _ => not_done("it cannot be put back"),
        })
    }
}
