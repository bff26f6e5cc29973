//! Updates of emails: their keywords and mailboxes (RFC 8621, section 4.6).
//!
//! Input: patches. Output: what became of each email. All changes of flags of a call are one action, and so
//! are those of folders: see [`pneu::Host::edit_contents`]. A tag is set on the copies of a message, too. An
//! email that leaves a mailbox keeps all its keywords: all its files get the flags first. What was done is
//! what the next view shows. Does not know files.

use crate::account::Account;
use crate::email::keywords::keywords;
use crate::error::failed;
use crate::ids;
use crate::write::keywords::{self as set_keywords, KeywordChange, KeywordFault, Spelling};
use crate::write::not_done;
use jmap::{
    Arguments, Context, Id, IdReference, MethodError, SetError, SetErrorKind, SetResponse, apply_patch,
};
use mail::Flags;
use pneu::{Content, ContentEdit, Hit, RecordReader, TagChange, TagEdit};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

/// What an email has that can be changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Changeable {
    keywords: BTreeSet<String>,
    mailboxes: BTreeSet<Id>,
}

/// What is to become of an email.
struct Update {
    reference: IdReference,
    id: Id,
    hit: Hit,
    after: Changeable,
    edit: ContentEdit,
    tags: TagChange,
}

/// What all updates of a call share.
struct Shared {
    folders: HashMap<Id, PathBuf>,
    ids: HashMap<u32, Id>,
    spelling: Spelling,
    reader: RecordReader,
}

impl Account<'_> {
    /// Updates emails. Returns the contents that were to change.
    pub(super) fn update_emails(
        &mut self,
        update: Vec<(IdReference, Map<String, Value>)>,
        will_destroy: &HashSet<Id>,
        context: &Context<'_>,
        response: &mut SetResponse,
    ) -> Result<Vec<[u8; 32]>, MethodError> {
        let mut shared = self.shared()?;
        let mut updates: Vec<Update> = Vec::with_capacity(update.len());
        let mut seen = HashSet::new();
        for (reference, patch) in update {
            let id = context.created_ids.resolve(&reference);
            let read = match id {
                None => Err(SetErrorKind::NotFound.into()),
                Some(id) if will_destroy.contains(&id) => Err(SetErrorKind::WillDestroy.into()),
                Some(id) if !seen.insert(id.clone()) => {
                    Err(SetError::new(SetErrorKind::InvalidPatch, "the email is updated twice"))
                }
                Some(id) => self.read_update((reference.clone(), id), patch, context, &mut shared)?,
            };
            match read {
                Ok(update) => updates.push(update),
                Err(error) => _ = response.not_updated.insert(reference, error),
            }
        }
        if updates.is_empty() {
            return Ok(Vec::new());
        }
        let done = self.carry_out(&updates);
        self.renew_after(done, response.old_state.as_deref())?;
        let mut shared = self.shared()?;
        let contents = updates.iter().map(|update| update.edit.sha256).collect();
        for Update { reference, id, after, edit, .. } in updates {
            let hit = self.view.content_hit(&edit.sha256).map_err(failed)?;
            let now = hit.map(|hit| self.content(&hit, &mut shared)).transpose()?;
            if now.is_some_and(|content| changeable(&content, &shared) == after) {
                response.updated.insert(id, None);
            } else {
                let error = not_done("a file of the email changed just now, or cannot be changed");
                response.not_updated.insert(reference, error);
            }
        }
        Ok(contents)
    }

    fn shared(&self) -> Result<Shared, MethodError> {
        let folders = self.folder_ids().map_err(failed)?;
        Ok(Shared {
            ids: folders.iter().map(|(folder, id)| (folder.number, id.clone())).collect(),
            folders: (folders.into_iter())
                .map(|(folder, id)| (id, folder.place.path.components().collect()))
                .collect(),
            spelling: Spelling::default(),
            reader: RecordReader::new(),
        })
    }

    fn content(&self, hit: &Hit, shared: &mut Shared) -> Result<Content, MethodError> {
        self.view.content(hit, &mut shared.reader).map_err(failed)
    }

    /// Reads a patch. The inner error refuses it.
    fn read_update(
        &self,
        (reference, id): (IdReference, Id),
        mut patch: Map<String, Value>,
        context: &Context<'_>,
        shared: &mut Shared,
    ) -> Result<Result<Update, SetError>, MethodError> {
        let sha256 = ids::email_content(&id);
        let hit = sha256.map(|sha256| self.view.content_hit(&sha256)).transpose().map_err(failed)?.flatten();
        let (Some(sha256), Some(hit)) = (sha256, hit) else { return Ok(Err(SetErrorKind::NotFound.into())) };
        let content = self.content(&hit, shared)?;
        if context.created_ids.resolve_property(&mut patch, "mailboxIds").is_err() {
            return Ok(Err(SetError::invalid_properties(["mailboxIds"])));
        }
        let (patch, others): (Map<_, _>, Map<_, _>) =
            patch.into_iter().partition(|(pointer, _)| is_changeable(pointer));
        let mut wrong = self.different(&id, others, context)?;
        let before = changeable(&content, shared);
        let patched = match apply_patch(&before.json(), lower_case(patch)) {
            Ok(patched) => patched,
            Err(error) => return Ok(Err(error)),
        };
        let keywords = set_keywords::read(patched.get("keywords"));
        let mailboxes = mailboxes(patched.get("mailboxIds"), &shared.folders);
        let keywords = keywords.map_err(|_| wrong.push("keywords".to_owned())).unwrap_or_default();
        let mailboxes = mailboxes.ok_or_else(|| wrong.push("mailboxIds".to_owned())).unwrap_or_default();
        if !wrong.is_empty() {
            return Ok(Err(SetError::invalid_properties(wrong)));
        }
        let after = Changeable { keywords, mailboxes };
        let sets = (&before.keywords, &after.keywords);
        let change = match self.keyword_change(Some(&content), sets, &mut shared.spelling)? {
            Ok(change) => change,
            Err(KeywordFault::Invalid) => return Ok(Err(SetError::invalid_properties(["keywords"]))),
            Err(KeywordFault::Label) => {
                let what = "the message itself has one of these keywords, so it cannot be removed";
                return Ok(Err(SetError::new(SetErrorKind::Forbidden, what)));
            }
        };
        let KeywordChange { add_flags, remove_flags, tags } = change;
        let paths = |ids: &BTreeSet<Id>, others: &BTreeSet<Id>| {
            ids.difference(others).filter_map(|id| shared.folders.get(id).cloned()).collect()
        };
        let add_to = paths(&after.mailboxes, &before.mailboxes);
        let remove_from: BTreeSet<PathBuf> = paths(&before.mailboxes, &after.mailboxes);
        // The file that goes may be the only one with a flag.
        let kept = if remove_from.is_empty() { Flags::NONE } else { set_keywords::flags(&after.keywords) };
        let add_flags = add_flags | kept;
        let edit = ContentEdit { sha256, add_flags, remove_flags, add_to, remove_from };
        Ok(Ok(Update { reference, id, hit, after, edit, tags }))
    }

    /// Returns the names of those properties that are not as the email has them.
    fn different(
        &self,
        id: &Id,
        others: Map<String, Value>,
        context: &Context<'_>,
    ) -> Result<Vec<String>, MethodError> {
        let mut wrong = Vec::new();
        for (name, value) in others {
            let properties =
                json!({"accountId": ids::account_id().as_str(), "ids": [id.as_str()], "properties": [name]});
            let Value::Object(arguments) = properties else { continue };
            let has = match self.email_get(Arguments::new(arguments), context) {
                Ok(found) => found.get("list").and_then(|list| list.get(0)?.get(&name)).cloned(),
                Err(_) => None,
            };
            if has != Some(value) {
                wrong.push(name);
            }
        }
        Ok(wrong)
    }

    /// Carries updates out: flags and folders first, then tags, in one commit.
    fn carry_out(&self, updates: &[Update]) -> pneu::Result<()> {
        let edits: Vec<ContentEdit> = updates.iter().map(|update| update.edit.clone()).collect();
        self.host.edit_contents(&edits, &self.patience())?;
        let mut by_change: BTreeMap<(&BTreeSet<String>, &BTreeSet<String>), Vec<Hit>> = BTreeMap::new();
        for Update { hit, tags, .. } in updates {
            if *tags != TagChange::default() {
                by_change.entry((&tags.add, &tags.remove)).or_default().push(*hit);
            }
        }
        let change = |((add, remove), hits): ((&BTreeSet<_>, &BTreeSet<_>), Vec<Hit>)| {
            (hits, TagEdit::Change(TagChange { add: add.clone(), remove: remove.clone() }))
        };
        let edits: Vec<(Vec<Hit>, TagEdit)> = by_change.into_iter().map(change).collect();
        if !edits.is_empty() {
            self.host.edit_tags_for(&self.view, &edits, &self.patience())?;
        }
        Ok(())
    }
}

impl Changeable {
    fn json(&self) -> Map<String, Value> {
        let set = |names: &mut dyn Iterator<Item = String>| {
            Value::Object(names.map(|name| (name, Value::Bool(true))).collect())
        };
        let keywords = set(&mut self.keywords.iter().cloned());
        let mailboxes = set(&mut self.mailboxes.iter().map(Id::to_string));
        Map::from_iter([("keywords".to_owned(), keywords), ("mailboxIds".to_owned(), mailboxes)])
    }
}

/// Returns what a content has that can be changed.
fn changeable(content: &Content, shared: &Shared) -> Changeable {
    let message = &content.message;
    let flags = message.files.iter().fold(Flags::NONE, |flags, file| flags | file.flags);
    Changeable {
        keywords: keywords(flags, message.tags.iter()),
        mailboxes: content.folders.iter().filter_map(|number| shared.ids.get(number).cloned()).collect(),
    }
}

fn is_changeable(pointer: &str) -> bool {
    ["keywords", "mailboxIds"].contains(&pointer.split('/').next().unwrap_or_default())
}

/// Returns a patch with its keywords in lower case, as they are stored.
fn lower_case(patch: Map<String, Value>) -> Map<String, Value> {
    let lower = |(pointer, value): (String, Value)| match pointer.strip_prefix("keywords/") {
        Some(keyword) => (format!("keywords/{}", keyword.to_ascii_lowercase()), value),
        None => (pointer, value),
    };
    patch.into_iter().map(lower).collect()
}

/// Reads the property `mailboxIds`: at least one that there is.
pub(in crate::write) fn mailboxes(
    value: Option<&Value>,
    known: &HashMap<Id, PathBuf>,
) -> Option<BTreeSet<Id>> {
    let Value::Object(members) = value? else { return None };
    let id = |(name, value): (&String, &Value)| {
        let id = Id::new(name.as_str()).filter(|id| known.contains_key(id))?;
        (*value == Value::Bool(true)).then_some(id)
    };
    let ids: BTreeSet<Id> = members.iter().map(id).collect::<Option<_>>()?;
    (!ids.is_empty()).then_some(ids)
}
