//! Loads the rows of vinyl's spaces for a recovery.
//!
//! Input: the plan of vinyl's files. Output: the rows of a space, and what they lack. Does not know when they
//! are needed.

use crate::error::{Error, Result};
use crate::load::OnDamage;
use crate::space::table::SpaceTable;
use crate::space::{Space, Spaces};
use crate::state::TreeSource;
use crate::vinyl::{TreeRows, TreeTarget, VinylPlan, VinylTree};
use std::cell::RefCell;
use std::path::Path;
use store::Loaded;
use work::Progress;

/// Loads rows of vinyl's spaces, and keeps what it could not load.
pub(super) struct VinylRows<'a> {
    pub(super) plan: Option<&'a VinylPlan>,
    pub(super) on_damage: OnDamage,
    pub(super) thread_count: usize,
    pub(super) progress: &'a dyn Progress,
    /// Why rows could not be loaded.
    pub(super) failure: RefCell<Option<Error>>,
    /// What the rows lack, a line each.
    pub(super) lost: RefCell<Vec<String>>,
}

impl VinylRows<'_> {
    /// Returns the error that the rows could not be loaded with, if there is one.
    pub(super) fn check(&self) -> Result<()> {
        self.failure.borrow_mut().take().map_or(Ok(()), Err)
    }

    /// Returns whether vinyl has a tree of a space.
    pub(super) fn has_tree(&self, spaces: &Spaces, id: u32) -> bool {
        let space = spaces.get(id).ok().flatten();
        space.is_some_and(|space| space.is_vinyl_with_key())
            && self.plan.is_some_and(|plan| plan.tree(id).is_some())
    }

    /// Loads the rows of a tree.
    fn rows(&self, tree: &VinylTree, space: &Space, table: &SpaceTable) -> Result<Loaded> {
        let Some(plan) = self.plan else { return Ok(Loaded::new(&table.schema, Vec::new(), &[])?) };
        let VinylRows { on_damage, thread_count, progress, .. } = *self;
        let target = TreeTarget { space, table, on_damage, thread_count, progress };
        let TreeRows { batches, lost } = plan.load(tree, target)?;
        self.lost.borrow_mut().extend(lost);
        Ok(Loaded::new(&table.schema, batches, &[])?)
    }
}

impl TreeSource for VinylRows<'_> {
    fn load(
        &self,
        tree: &VinylTree,
        space: &Space,
        table: &SpaceTable,
    ) -> std::result::Result<Loaded, String> {
        self.rows(tree, space, table).map_err(|error| {
            let what = error.to_string();
            *self.failure.borrow_mut() = Some(error);
            what
        })
    }

    fn checks_format(&self) -> bool {
        self.plan.is_some_and(VinylPlan::checks_format)
    }
}

/// Looks for a tree of each vinyl space of a snapshot. Returns a line for each space without one: its rows
/// from before the snapshot are not known.
///
/// # Errors
/// If a space has none, unless it is to be listed; an invalid definition.
pub(super) fn without_tree(
    plan: Option<&VinylPlan>,
    spaces: &Spaces,
    path: &Path,
    on_damage: OnDamage,
) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for id in spaces.ids() {
        let space = spaces.get(id).map_err(|damage| damage.in_file(path, 0))?;
        let Some(space) = space.filter(Space::is_vinyl_with_key) else { continue };
        if plan.is_some_and(|plan| plan.tree(id).is_some_and(|tree| tree.create_lsn.is_some())) {
            continue;
        }
        let name = format!("space {} ({id})", space.name);
        if let (Some(plan), OnDamage::Refuse) = (plan, on_damage) {
            let what = format!(
                "{name} is kept by vinyl, and there is no .vylog that has it: name the directory of vinyl \
                 with --vinyl-dir"
            );
            return Err(Error::Refused { path: plan.directory().to_owned(), what });
        }
        lines.push(format!("{name}: all rows from before the snapshot, which vinyl keeps in its own files"));
    }
    Ok(lines)
}
