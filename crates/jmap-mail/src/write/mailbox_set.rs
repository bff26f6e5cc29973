//! Mailbox/set (RFC 8621, section 2.5).
//!
//! Input: mailboxes to create, rename, move, order, subscribe and destroy. Output: the response, and folders.
//! A mailbox keeps its id when it is renamed or moved. Which folder has a role is said by the configuration,
//! so it cannot be set. Does not know how folders lie on disk, or where orders and subscriptions are kept.

use crate::account::Account;
use crate::email::keywords::keywords;
use crate::error::failed;
use crate::ids;
use crate::mailbox::{Tree, first_order};
use crate::write::keywords as set_keywords;
use crate::write::not_done;
use jmap::{
    Arguments, Context, Id, IdReference, MethodError, SetArguments, SetError, SetErrorKind, SetResponse,
    apply_patch, check_state, creation_order,
};
use mail::Flags;
use pneu::{Above, ContentEdit, Error, IndexedFolder, Order, RecordReader, View};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A mailbox of the account is at most this deep below another one, so that a circle ends.
const DEPTH_MAX: usize = 1_000;

/// The properties that can be set.
const SETTABLE: [&str; 4] = ["name", "parentId", "sortOrder", "isSubscribed"];
/// No place is this high (RFC 8621, section 2).
const ORDER_END: u32 = 1 << 31;

type Object = Map<String, Value>;

/// The properties that are kept for the user, and say nothing of the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kept {
    /// `None` for the place that a mailbox has at first.
    sort_order: Option<u32>,
    is_subscribed: bool,
}

impl Default for Kept {
    fn default() -> Kept {
        Kept { sort_order: None, is_subscribed: true }
    }
}

impl Kept {
    /// Reads the properties of a mailbox. Otherwise names those that are wrong.
    fn read(object: &Object) -> Result<Kept, Vec<String>> {
        let mut wrong = Vec::new();
        let sort_order = match object.get("sortOrder") {
            None | Some(Value::Null) => None,
            Some(value) => {
                let order = value.as_u64().and_then(|order| u32::try_from(order).ok());
                let order = order.filter(|order| *order < ORDER_END);
                if order.is_none() {
                    wrong.push("sortOrder".to_owned());
                }
                order
            }
        };
        let is_subscribed = match object.get("isSubscribed") {
            None | Some(Value::Null) => true,
            Some(Value::Bool(is_subscribed)) => *is_subscribed,
            Some(_) => {
                wrong.push("isSubscribed".to_owned());
                true
            }
        };
        if wrong.is_empty() { Ok(Kept { sort_order, is_subscribed }) } else { Err(wrong) }
    }
}

impl Account<'_> {
    pub(super) fn mailbox_set(
        &mut self,
        arguments: Arguments,
        context: &mut Context<'_>,
    ) -> Result<Object, MethodError> {
        let mut set = SetArguments::read(arguments, &["onDestroyRemoveEmails"], context)?;
        self.check(&set.account_id)?;
        let removes_emails = set.rest.boolean("onDestroyRemoveEmails", false)?;
        self.renew()?;
        // Mailboxes of this state can be compared with later ones.
        self.folders()?;
        let old_state = self.state()?.to_owned();
        check_state(set.if_in_state.as_deref(), &old_state)?;
        let mut response = SetResponse::new(set.account_id, &old_state);
        for creation in creation_order(&set.create, &["parentId"]) {
            let Some(object) = set.create.remove(&creation) else { continue };
            match self.create_mailbox(object, context)? {
                Ok((id, properties)) => {
                    context.created_ids.add(creation.clone(), id);
                    response.created.insert(creation, properties);
                }
                Err(error) => _ = response.not_created.insert(creation, error),
            }
        }
        let destroy = set.destroy;
        for (reference, patch) in set.update {
            let is_destroyed = |other: &IdReference| {
                context.created_ids.resolve(other) == context.created_ids.resolve(&reference)
            };
            let updated = match context.created_ids.resolve(&reference) {
                Some(_) if destroy.iter().any(is_destroyed) => Err(SetErrorKind::WillDestroy.into()),
                Some(id) => self.update_mailbox(&id, patch, context)?.map(|changed| (id, changed)),
                None => Err(SetErrorKind::NotFound.into()),
            };
            match updated {
                Ok((id, changed)) => _ = response.updated.insert(id, changed),
                Err(error) => _ = response.not_updated.insert(reference, error),
            }
        }
        for reference in self.children_first(destroy, context)? {
            match self.destroy_mailbox(context.created_ids.resolve(&reference), removes_emails)? {
                Ok(id) => response.destroyed.push(id),
                Err(error) => _ = response.not_destroyed.insert(reference, error),
            }
        }
        response.new_state = self.state()?.to_owned();
        // So can those of this one.
        self.folders()?;
        Ok(response.into())
    }

    /// Returns references so that a mailbox comes after those below it.
    fn children_first(
        &self,
        mut references: Vec<IdReference>,
        context: &Context<'_>,
    ) -> Result<Vec<IdReference>, MethodError> {
        let tree = self.tree()?;
        references.sort_by_cached_key(|reference| {
            let mut next = context.created_ids.resolve(reference);
            let mut depth = 0;
            while let Some(id) = next.filter(|_| depth < DEPTH_MAX) {
                next =
                    tree.iter().find(|(_, place)| place.id == id).and_then(|(_, place)| place.parent.clone());
                depth += 1;
            }
            std::cmp::Reverse(depth)
        });
        Ok(references)
    }

    /// Creates a mailbox. Returns its id, and the properties that the client did not set.
    fn create_mailbox(
        &mut self,
        mut object: Object,
        context: &Context<'_>,
    ) -> Result<Result<(Id, Object), SetError>, MethodError> {
        if context.created_ids.resolve_property(&mut object, "parentId").is_err() {
            return Ok(Err(SetError::invalid_properties(["parentId"])));
        }
        let tree = self.tree()?;
        let (parent, name) = match parent_and_name(&object, &tree) {
            Ok(place) => place,
            Err(error) => return Ok(Err(error)),
        };
        let is_settable = |(property, value): &(&String, &Value)| match property.as_str() {
            "name" | "parentId" | "sortOrder" | "isSubscribed" => true,
            "role" => value.is_null(),
            _ => false,
        };
        let others =
            object.iter().filter(|member| !is_settable(member)).map(|(property, _)| property.clone());
        let mut wrong: BTreeSet<String> = others.collect();
        let kept = Kept::read(&object).unwrap_or_else(|faults| {
            wrong.extend(faults);
            Kept::default()
        });
        if !wrong.is_empty() {
            return Ok(Err(SetError::invalid_properties(wrong)));
        }
        let Some((above, own)) = above(parent.as_ref(), &name, &tree, &self.view) else {
            return Ok(Err(SetError::invalid_properties(["parentId"])));
        };
        if let Some(error) = taken(&tree, parent.as_ref(), &name) {
            return Ok(Err(error));
        }
        let created = self.host.create_child(above, own, &self.patience());
        let path = match Self::folder_written(created) {
            Ok(path) => path,
            Err(error) => return Ok(Err(error)),
        };
        self.renew()?;
        let is_it = |folder: &&IndexedFolder| folder.place.path == path;
        let folders = self.view.indexed_folders();
        let Some(folder) = folders.iter().find(is_it) else {
            return Ok(Err(not_done("the folder is not indexed")));
        };
        if kept != Kept::default() {
            // The response says whether it is so.
            let _ = self.keep(folder, kept);
            self.renew()?;
        }
        let Some(id) = self.id_at(&path)? else { return Ok(Err(not_done("the folder is not indexed"))) };
        let mut properties = self.mailbox_object(&id, context)?;
        properties.retain(|property, _| !["name", "parentId"].contains(&property.as_str()));
        Ok(Ok((id, properties)))
    }

    /// Updates a mailbox. Returns the properties that the client set to their defaults, if any.
    fn update_mailbox(
        &mut self,
        id: &Id,
        mut patch: Object,
        context: &Context<'_>,
    ) -> Result<Result<Option<Object>, SetError>, MethodError> {
        let tree = self.tree()?;
        let Some((folder, place)) = tree.iter().find(|(_, place)| place.id == *id) else {
            return Ok(Err(SetErrorKind::NotFound.into()));
        };
        if context.created_ids.resolve_property(&mut patch, "parentId").is_err() {
            return Ok(Err(SetError::invalid_properties(["parentId"])));
        }
        let before = self.mailbox_object(id, context)?;
        let sets = ["sortOrder", "isSubscribed"].map(|name| patch.contains_key(name));
        let after = match apply_patch(&before, patch) {
            Ok(after) => after,
            Err(error) => return Ok(Err(error)),
        };
        let all: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let value = |object: &Object, name: &str| object.get(name).cloned().unwrap_or_default();
        let is_different = |name: &&&String| value(&before, name) != value(&after, name);
        let is_fixed = |name: &&&String| !SETTABLE.contains(&name.as_str());
        let wrong: Vec<String> =
            all.iter().filter(is_fixed).filter(is_different).map(|name| (*name).clone()).collect();
        if !wrong.is_empty() {
            return Ok(Err(SetError::invalid_properties(wrong)));
        }
        let (parent, name) = match parent_and_name(&after, &tree) {
            Ok(place) => place,
            Err(error) => return Ok(Err(error)),
        };
        let wanted = match Kept::read(&after) {
            Ok(wanted) => wanted,
            Err(wrong) => return Ok(Err(SetError::invalid_properties(wrong))),
        };
        let mut folder = folder.clone();
        if (&parent, &name) != (&place.parent, &place.name) {
            folder = match self.move_mailbox(&folder, (parent.as_ref(), &name), &tree)? {
                Ok(moved) => moved,
                Err(error) => return Ok(Err(error)),
            };
        }
        if !sets.contains(&true) {
            return Ok(Ok(None));
        }
        // A mailbox may have another role by its new name.
        let (own_order, role) = self.folders()?.order_and_role(id);
        let [sets_order, _] = sets;
        let sort_order = if sets_order {
            wanted.sort_order.filter(|order| *order != first_order(role))
        } else {
            own_order
        };
        if let Err(error) = Self::folder_written(self.keep(&folder, Kept { sort_order, ..wanted })) {
            return Ok(Err(error));
        }
        self.renew()?;
        let is_unset = |name: &str| after.get(name).is_none_or(Value::is_null);
        let defaults = [("sortOrder", json!(first_order(role))), ("isSubscribed", json!(true))];
        let told: Object = (defaults.into_iter())
            .filter(|(name, _)| is_unset(name))
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        Ok(Ok((!told.is_empty()).then_some(told)))
    }

    /// Gives a mailbox another name or parent. Returns its folder.
    fn move_mailbox(
        &mut self,
        folder: &IndexedFolder,
        (parent, name): (Option<&Id>, &str),
        tree: &Tree,
    ) -> Result<Result<IndexedFolder, SetError>, MethodError> {
        if View::is_fixed(folder) {
            return Ok(Err(SetError::new(SetErrorKind::Forbidden, "an inbox keeps its name and its place")));
        }
        let Some((above, own)) = above(parent, name, tree, &self.view) else {
            return Ok(Err(SetError::invalid_properties(["parentId"])));
        };
        if let Some(error) = taken(tree, parent, name) {
            return Ok(Err(error));
        }
        let renamed = self.host.move_child(folder, (above, own), &self.patience());
        let renamed = match Self::folder_written(renamed) {
            Ok(renamed) => renamed,
            Err(error) => return Ok(Err(error)),
        };
        self.renew()?;
        let path = renamed.directories.first().map(|directory| directory.to.clone());
        let now = self.view.indexed_folders().into_iter().find(|now| Some(&now.place.path) == path.as_ref());
        Ok(now.ok_or_else(|| not_done("the folder is not indexed")))
    }

    fn keep(&self, folder: &IndexedFolder, Kept { sort_order, is_subscribed }: Kept) -> pneu::Result<()> {
        self.host.change_kept_folder(folder, (sort_order, is_subscribed), &self.patience())
    }

    /// Returns the id of the mailbox at a path.
    fn id_at(&self, path: &Path) -> Result<Option<Id>, MethodError> {
        Ok(self
            .folder_ids()
            .map_err(failed)?
            .into_iter()
            .find(|(folder, _)| folder.place.path == path)
            .map(|(_, id)| id))
    }

    /// Destroys a mailbox. Returns its id.
    fn destroy_mailbox(
        &mut self,
        id: Option<Id>,
        removes_emails: bool,
    ) -> Result<Result<Id, SetError>, MethodError> {
        let tree = self.tree()?;
        let found = tree.iter().find(|(_, place)| Some(&place.id) == id.as_ref());
        let Some((folder, place)) = found else { return Ok(Err(SetErrorKind::NotFound.into())) };
        if View::is_fixed(folder) {
            return Ok(Err(SetError::new(SetErrorKind::Forbidden, "an inbox stays")));
        }
        if tree.iter().any(|(_, other)| other.parent.as_ref() == Some(&place.id)) {
            return Ok(Err(SetErrorKind::Other("mailboxHasChild").into()));
        }
        let contents = self.view.contents_in(folder.number).map_err(failed)?;
        if contents.count() > 0 && !removes_emails {
            return Ok(Err(SetErrorKind::Other("mailboxHasEmail").into()));
        }
        if contents.count() > 0 {
            self.remove_emails(folder)?;
        }
        let removed = self.host.remove_folder(folder, &self.patience());
        match Self::folder_written(removed) {
            Ok(()) => self.renew().map(|()| Ok(place.id.clone())),
            Err(error) => Ok(Err(error)),
        }
    }

    /// Takes all emails out of a folder. Those that are in no other one are destroyed.
    fn remove_emails(&mut self, folder: &IndexedFolder) -> Result<(), MethodError> {
        let found = self.view.contents_in(folder.number).map_err(failed)?;
        let mut reader = RecordReader::new();
        let (mut last, mut edits) = (Vec::new(), Vec::new());
        for hit in self.view.sorted(&found, &Order::default()).map_err(failed)?.list {
            let content = self.view.content(&hit, &mut reader).map_err(failed)?;
            let sha256 = content.message.sha256;
            if content.folders.len() == 1 {
                last.push(sha256);
            } else {
                let remove_from = [folder.place.path.components().collect()].into();
                // The file that goes may be the only one with a flag.
                let flags = content.message.files.iter().fold(Flags::NONE, |flags, file| flags | file.flags);
                let add_flags = set_keywords::flags(&keywords(flags, [].iter()));
                edits.push(ContentEdit { sha256, add_flags, remove_from, ..ContentEdit::default() });
            }
        }
        let edited = self.host.edit_contents(&edits, &self.patience());
        self.renew_after(edited, None)?;
        if !last.is_empty() {
            let removed = self.host.remove_contents(&last, &self.patience());
            self.renew_after(removed, None)?;
        }
        Ok(())
    }

    /// Says what a failure means to the client.
    fn folder_written<T>(done: pneu::Result<T>) -> Result<T, SetError> {
        match done {
            Ok(done) => Ok(done),
            Err(Error::FolderName { what, .. }) => {
                let error = SetError::invalid_properties(["name"]);
                Err(SetError { description: Some(format!("the name cannot be used: {what}")), ..error })
            }
            Err(Error::FolderExists { .. }) => {
                let error = SetError::invalid_properties(["name"]);
                Err(SetError { description: Some("there is such a mailbox".to_owned()), ..error })
            }
            Err(Error::FolderStays { what, .. }) => Err(SetError::new(SetErrorKind::Forbidden, what)),
            Err(Error::Cancelled) => Err(not_done("another process writes at the moment")),
            Err(_) => Err(not_done("the folder cannot be written")),
        }
    }

    /// Returns all properties of a mailbox.
    fn mailbox_object(&self, id: &Id, context: &Context<'_>) -> Result<Object, MethodError> {
        let Value::Object(arguments) = json!({"accountId": ids::account_id().as_str(), "ids": [id.as_str()]})
        else {
            return Ok(Object::new());
        };
        let mut found = self.mailbox_get(Arguments::new(arguments), context)?;
        match found.get_mut("list").and_then(|list| list.get_mut(0)).map(Value::take) {
            Some(Value::Object(object)) => Ok(object),
            _ => Ok(Object::new()),
        }
    }
}

/// Returns the properties `parentId` and `name` of a mailbox.
fn parent_and_name(object: &Object, tree: &Tree) -> Result<(Option<Id>, String), SetError> {
    let parent = match object.get("parentId") {
        None | Some(Value::Null) => Some(None),
        Some(Value::String(text)) => {
            Id::new(text.as_str()).filter(|id| tree.iter().any(|(_, place)| place.id == *id)).map(Some)
        }
        Some(_) => None,
    };
    match (parent, object.get("name").and_then(Value::as_str)) {
        (Some(parent), Some(name)) => Ok((parent, name.to_owned())),
        (None, Some(_)) => Err(SetError::invalid_properties(["parentId"])),
        (Some(_), None) => Err(SetError::invalid_properties(["name"])),
        (None, None) => Err(SetError::invalid_properties(["name", "parentId"])),
    }
}

/// Returns the refusal of a name that another mailbox has at this place.
fn taken(tree: &Tree, parent: Option<&Id>, name: &str) -> Option<SetError> {
    let (_, place) = tree.iter().find(|(_, place)| place.parent.as_ref() == parent && place.name == name)?;
    let error = SetError::already_exists(place.id.clone());
    Some(SetError { properties: vec!["name".to_owned()], ..error })
}

/// Returns what a mailbox lies below, and its name there. `None` if there can be none below it: the folder
/// that is the only root has all others beside it, and of several roots one must be named.
fn above<'t>(
    parent: Option<&Id>,
    name: &'t str,
    tree: &'t Tree,
    view: &View,
) -> Option<(Above<'t>, &'t str)> {
    let has_several = view.roots().len() > 1;
    let roots: BTreeMap<&str, bool> = tree
        .iter()
        .map(|(folder, _)| (folder.root.as_str(), folder.path.is_empty()))
        .fold(BTreeMap::new(), |mut roots, (root, is_root)| {
            *roots.entry(root).or_default() |= is_root;
            roots
        });
    match parent {
        Some(id) => {
            let (folder, _) = tree.iter().find(|(_, place)| place.id == *id)?;
            (has_several || !folder.path.is_empty()).then_some((Above::Folder(folder), name))
        }
        None if !has_several => Some((Above::Root(None), name)),
        None => {
            let (root, name) = name.split_once('/')?;
            let (root, _) = roots.into_iter().find(|(known, is_mailbox)| *known == root && !is_mailbox)?;
            Some((Above::Root(Some(root)), name))
        }
    }
}
