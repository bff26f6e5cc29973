//! Action/get and Action/undo: what can be undone, and its undo.
//!
//! Input: calls. Output: actions as data, each with an English text besides, and without paths of the
//! machine. Does not know how an action is undone.

use super::state_of;
use crate::account::Account;
use crate::error::failed;
use crate::get::wanted;
use crate::ids;
use crate::write::not_written;
use jmap::{Arguments, Context, Date, GetResponse, Id, MethodError, MethodErrorKind};
use pneu::{LeftAlone, Undoable, Undone};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// The properties of an action.
const PROPERTIES: [&str; 7] = ["id", "at", "kind", "counts", "text", "fromMailboxIds", "toMailboxIds"];

/// What the id of an action has before its number.
const LETTER: char = 'A';

/// The mailboxes of folders, by their paths.
type Mailboxes = HashMap<PathBuf, Id>;

impl Account<'_> {
    /// Lists what can be undone, the newest first.
    pub(super) fn action_get(
        &self,
        arguments: Arguments,
        context: &Context<'_>,
    ) -> Result<Map<String, Value>, MethodError> {
        let (get, wanted) = self.get(arguments, &[], context, |names| wanted(names, &PROPERTIES))?;
        let actions = self.undoable()?;
        let mailboxes = self.mailboxes_by_path();
        let mut list = Vec::new();
        let mut not_found = get.unknown;
        let mut add = |action: &Undoable| {
            let mut object = object(action, &mailboxes);
            object.retain(|name, _| wanted.contains(&name.as_str()));
            let object = Value::Object(object);
            context.count(&object)?;
            list.push(object);
            Ok::<(), MethodError>(())
        };
        match get.ids {
            None => actions.iter().try_for_each(add)?,
            Some(ids) => {
                for id in ids {
                    match actions.iter().find(|action| Some(action.number) == number(&id)) {
                        Some(action) => add(action)?,
                        None => not_found.push(id.into()),
                    }
                }
            }
        }
        Ok(GetResponse { account_id: get.account_id, state: state(&actions), list, not_found }.into())
    }

    /// Undoes the newest action, or the one that is named, if that is the newest.
    pub(super) fn action_undo(
        &mut self,
        mut arguments: Arguments,
    ) -> Result<Map<String, Value>, MethodError> {
        let account_id = arguments.id("accountId")?;
        let id = arguments.optional_id("id")?;
        arguments.finish()?;
        self.check(&account_id)?;
        self.renew()?;
        let before = self.state()?.to_owned();
        let not_newest = || {
            let what = "this action is not the newest one that can be undone";
            MethodError::new(MethodErrorKind::StateMismatch, what)
        };
        let patience = self.patience();
        let undone = match &id {
            None => self.host.undo(&patience),
            Some(id) => self.host.undo_only(number(id).ok_or_else(not_newest)?, &patience),
        };
        // Files go back into folders of the time before the action, too.
        let mut mailboxes = self.mailboxes_by_path();
        let undone = self.renew_after(undone, Some(&before))?;
        mailboxes.extend(self.mailboxes_by_path());
        if undone.is_none() && id.is_some() {
            return Err(not_newest());
        }
        let undone = undone.map(|Undone { action, restored_count, left }| {
            let mut undone = object(&action, &mailboxes);
            undone.insert("restored".to_owned(), restored_count.into());
            undone.insert("left".to_owned(), left_alone(&left, &mailboxes));
            Value::Object(undone)
        });
        let response = [("accountId", account_id.into()), ("undone", undone.into())];
        Ok(response.map(|(name, value): (_, Value)| (name.to_owned(), value)).into_iter().collect())
    }

    fn undoable(&self) -> Result<Vec<Undoable>, MethodError> {
        self.host.undoable_unless(&self.patience()).map_err(|error| match error {
            pneu::Error::Cancelled => not_written(&error),
            other => failed(other),
        })
    }

    fn mailboxes_by_path(&self) -> Mailboxes {
        let folders = self.view.indexed_folders().into_iter();
        folders.map(|folder| (folder.place.path, ids::mailbox(&folder.root, &folder.path))).collect()
    }
}

/// Returns the number of the action that an id names.
fn number(id: &Id) -> Option<u64> {
    let digits = id.as_str().strip_prefix(LETTER)?;
    let number: u64 = digits.parse().ok()?;
    (number.to_string() == digits).then_some(number)
}

fn state(actions: &[Undoable]) -> String {
    state_of(actions.iter().map(|action| format!("{} {}", action.number, action.files.len())))
}

/// Returns all properties of an action.
fn object(action: &Undoable, mailboxes: &Mailboxes) -> Map<String, Value> {
    let (count, (one, several)) = (action.files.len(), action.kind.things());
    let thing = if count == 1 { one } else { several };
    let places = |place: fn(&(PathBuf, PathBuf)) -> &PathBuf| {
        let paths = action.files.iter().map(place);
        let all: BTreeSet<&Id> = paths.filter_map(|path| mailbox_of(path, mailboxes)).collect();
        all.into_iter().map(Id::as_str).collect::<Value>()
    };
    let object = json!({
        "id": format!("{LETTER}{}", action.number),
        "at": Date::utc(action.time).text(),
        "kind": action.kind,
        "counts": { several: count },
        "text": format!("{count} {thing} {}", action.kind.done()),
        "fromMailboxIds": places(|(old, _)| old),
        "toMailboxIds": places(|(_, new)| new),
    });
    let Value::Object(object) = object else { unreachable!("an object is written above") };
    object
}

/// Returns what was left alone, by the reason and the mailbox.
fn left_alone(left: &[LeftAlone], mailboxes: &Mailboxes) -> Value {
    let mut counts: BTreeMap<(&str, Option<&Id>), u64> = BTreeMap::new();
    for LeftAlone { path, why } in left {
        *counts.entry((why, mailbox_of(path, mailboxes))).or_default() += 1;
    }
    let groups = counts.into_iter().map(
        |((why, mailbox), count)| json!({ "why": why, "count": count, "mailboxId": mailbox.map(Id::as_str) }),
    );
    groups.collect()
}

/// Returns the mailbox of a file, or of the directory of a folder.
fn mailbox_of<'m>(path: &Path, mailboxes: &'m Mailboxes) -> Option<&'m Id> {
    path.ancestors().take(3).find_map(|folder| mailboxes.get(folder))
}
