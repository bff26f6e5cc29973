//! The rows of all spaces, and how rows of logs change them.
//!
//! Input: rows, one by one, in order. Output: the rows that remain. Rows of `_space`, `_index` and
//! `_truncate` change the spaces too. A space's rows get their new keys when the space is next used, so
//! several new indexes cost one pass. Does not depend on transactions.

use super::operate::{self, Outcome};
use super::space_rows::{Before, FinishedSpace, SpaceRows};
use super::vinyl::{Pending, PendingTrees};
use crate::error::Damage;
use crate::file::row::{Row, RowKind};
use crate::msgpack::Reader;
use crate::space::{
    Engine, SPACE_COLLATION, SPACE_INDEX, SPACE_SPACE, SPACE_SYSTEM_MAX, SPACE_TRUNCATE, Spaces,
};
use std::collections::{BTreeMap, BTreeSet};
use store::{Loaded, OwnedValue};

/// The rows of all spaces.
pub(super) struct Tables<'v> {
    spaces: Spaces,
    rows: BTreeMap<u32, SpaceRows>,
    /// Spaces whose definitions changed since they were last used.
    stale: BTreeSet<u32>,
    /// The space of the previous row, which is known to be up to date.
    fresh: Option<u32>,
    /// Spaces whose transactions wait for replicas. Old logs state this nowhere else.
    synchronous: BTreeSet<u32>,
    /// How many changes to rows without a usable key were left out, by space.
    unkeyed: BTreeMap<u32, u64>,
    /// The files of vinyl.
    trees: PendingTrees<'v>,
    /// The sum of the VClock after the current transaction.
    signature: i64,
}

/// Whether an inserted row's key may already have a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Existing {
    /// It may: rows are missing, and one of them may have deleted the old row.
    Possible,
    /// It cannot.
    Impossible,
}

/// The tuple that a key had before, if any.
pub(super) struct Undo {
    space: u32,
    key: Vec<OwnedValue>,
    tuple: Option<Vec<u8>>,
}

impl<'v> Tables<'v> {
    pub(super) fn new(spaces: Spaces) -> Tables<'v> {
        let is_synchronous =
            |id: &u32| spaces.get(*id).ok().flatten().is_some_and(|space| space.is_synchronous);
        Tables {
            stale: spaces.ids().collect(),
            fresh: None,
            synchronous: spaces.ids().filter(is_synchronous).collect(),
            spaces,
            rows: BTreeMap::new(),
            unkeyed: BTreeMap::new(),
            trees: PendingTrees::default(),
            signature: 0,
        }
    }

    /// Sets the files of vinyl.
    pub(super) fn set_trees(&mut self, trees: PendingTrees<'v>) {
        self.trees = trees;
    }

    /// Begins a transaction. `signature` is the sum of the VClock after it.
    pub(super) fn begin(&mut self, signature: i64) {
        self.signature = signature;
    }

    /// Returns whether a row is to be applied. Loads the rows of its space if the files of vinyl have them.
    ///
    /// # Errors
    /// If they cannot be loaded.
    #[inline]
    pub(super) fn takes(&mut self, row: &Row) -> Result<bool, String> {
        let Some(id) = row.body.space else { return Ok(true) };
        match self.trees.of_row(id, self.signature) {
            Pending::Apply => Ok(true),
            Pending::Skip => Ok(false),
            Pending::Load => self.load_tree(id).map(|()| true),
        }
    }

    /// Loads the rows that the files of vinyl have of a space.
    fn load_tree(&mut self, id: u32) -> Result<(), String> {
        self.freshen(id)?;
        let Some(rows) = self.rows.get(&id).filter(|rows| rows.space.is_vinyl_with_key()) else {
            return Ok(());
        };
        if let Some(base) = self.trees.load(&rows.space, &rows.table)? {
            let space = rows.space.clone();
            self.rows.insert(id, SpaceRows::new(space, Some(base)));
        }
        Ok(())
    }

    /// Loads what the files of vinyl have of spaces that no row was applied to. Returns a line for each space
    /// whose rows they do not have.
    fn load_rest(&mut self, reached: i64) -> Result<Vec<String>, String> {
        let mut left_out = Vec::new();
        for (id, tree) in self.trees.rest() {
            let Some(space) = self.rows.get(&id).map(|rows| &rows.space) else { continue };
            if !space.is_vinyl_with_key() {
                continue;
            }
            if tree.drop_lsn.is_none() && tree.create_lsn.is_none_or(|created| created <= reached) {
                self.load_tree(id)?;
                continue;
            }
            left_out.push(format!(
                "space {} ({id}): all rows: the log of vinyl says that they were dropped, by a row that the \
                 logs lack",
                space.name
            ));
        }
        Ok(left_out)
    }

    /// Sets the snapshot's rows of a space. The rows must have been made for its table.
    ///
    /// # Errors
    /// If there is no such space, or it has a different table.
    pub(super) fn set_base(&mut self, id: u32, base: Loaded) -> Result<(), String> {
        let space = self.spaces.get(id).ok().flatten().ok_or_else(|| format!("there is no space {id}"))?;
        let schema = std::sync::Arc::clone(base.schema());
        let rows = SpaceRows::new(space, Some(base));
        if *rows.schema() != schema {
            return Err(format!("the rows of space {id} were made for another table"));
        }
        self.stale.remove(&id);
        self.rows.insert(id, rows);
        Ok(())
    }

    /// Returns the current spaces.
    pub(super) fn spaces(&self) -> &Spaces {
        &self.spaces
    }

    /// Returns whether transactions of a space wait for replicas.
    pub(super) fn is_synchronous(&self, id: u32) -> bool {
        self.synchronous.contains(&id)
    }

    /// Applies a row. `existing` states whether an inserted key may already have a row.
    ///
    /// # Errors
    /// Why the row cannot be applied.
    pub(super) fn change(&mut self, row: &Row, existing: Existing) -> Result<(), String> {
        let id = match (row.kind, row.body.space) {
            (
                RowKind::Insert | RowKind::Replace | RowKind::Update | RowKind::Delete | RowKind::Upsert,
                Some(id),
            ) => id,
            (RowKind::InsertArrow | RowKind::DeleteRange | RowKind::Other(_), _) => {
                return Err(format!("rows of kind {} cannot be carried out", row.kind.number()));
            }
            _ => return Ok(()),
        };
        if self.fresh != Some(id) {
            self.freshen(id)?;
            self.fresh = Some(id);
        }
        let Some(rows) = self.rows.get_mut(&id) else { return Err(format!("there is no space {id}")) };
        if !rows.space.has_rows() {
            return Ok(());
        }
        let what = |damage: Damage| damage.what.to_owned();
        let missing = || "a row lacks its tuple or its key".to_owned();
        if let (RowKind::Insert | RowKind::Replace, Some(tuple)) = (row.kind, row.body.tuple) {
            let is_sure = row.kind == RowKind::Insert && existing == Existing::Impossible;
            let before = if is_sure { Before::Nothing } else { Before::Perhaps };
            rows.put(tuple, before).map_err(what)?;
            if row.kind == RowKind::Replace && rows.table.primary().is_none() {
                *self.unkeyed.entry(id).or_default() += 1;
            }
            return if id <= SPACE_SYSTEM_MAX { self.define(id, tuple) } else { Ok(()) };
        }
        rows.settle();
        let Some(primary) = rows.table.primary() else {
            *self.unkeyed.entry(id).or_default() += 1;
            return Ok(());
        };
        // When a request by another index changes a tuple, Tarantool logs the tuple's primary key. A row that
        // still names another index changed nothing.
        if row.body.index.is_some_and(|index| index != 0) {
            return Ok(());
        }
        let new = match row.kind {
            RowKind::Delete => {
                let key = row.body.key.ok_or_else(missing)?;
                let values = rows.read_key(key, primary).map_err(what)?;
                rows.delete(&values);
                return if id <= SPACE_SYSTEM_MAX { self.undefine(id, key) } else { Ok(()) };
            }
            RowKind::Update => {
                let (key, operations) = row.body.key.zip(row.body.tuple).ok_or_else(missing)?;
                let key = rows.read_key(key, primary).map_err(what)?;
                operate::update(rows, &key, operations, row.body.index_base)?
            }
            _ => {
                let is_unchecked = rows.space.engine == Engine::Vinyl && self.trees.checks_format();
                let outcome = if is_unchecked { Outcome::Unchecked } else { Outcome::Checked };
                operate::upsert(rows, &row.body, outcome)?
            }
        };
        match new {
            Some(new) if id <= SPACE_SYSTEM_MAX => self.define(id, &new),
            _ => Ok(()),
        }
    }

    /// Updates a space's rows to the keys of its newest definition.
    fn freshen(&mut self, id: u32) -> Result<(), String> {
        if self.stale.is_empty() || !self.stale.remove(&id) {
            return Ok(());
        }
        let Some(space) = self.spaces.get(id).map_err(|damage| damage.what)? else {
            self.rows.remove(&id);
            return Ok(());
        };
        match self.rows.get_mut(&id) {
            Some(rows) => rows.redefine(space).map_err(|damage| damage.what.to_owned()),
            None => {
                self.rows.insert(id, SpaceRows::new(space, None));
                Ok(())
            }
        }
    }

    /// Applies a tuple of a system space.
    fn define(&mut self, id: u32, tuple: &[u8]) -> Result<(), String> {
        let what = |damage: Damage| damage.what.to_owned();
        let changed = match id {
            SPACE_SPACE => {
                let space = self.spaces.set_space(tuple).map_err(what)?;
                if self.spaces.get(space).map_err(what)?.is_some_and(|space| space.is_synchronous) {
                    self.synchronous.insert(space);
                } else {
                    self.synchronous.remove(&space);
                }
                space
            }
            SPACE_INDEX => self.spaces.set_index(tuple).map_err(what)?,
            SPACE_COLLATION => {
                self.spaces.set_collation(tuple);
                self.look_at_all();
                return Ok(());
            }
            SPACE_TRUNCATE => {
                let [truncated, _] = numbers(tuple).map_err(what)?;
                if let Some(rows) = self.rows.get_mut(&truncated) {
                    rows.truncate();
                }
                self.trees.end(truncated, self.signature);
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.stale.insert(changed);
        self.fresh = None;
        Ok(())
    }

    /// Applies the deletion of a tuple in a system space.
    fn undefine(&mut self, id: u32, key: &[u8]) -> Result<(), String> {
        let what = |damage: Damage| damage.what.to_owned();
        let [space, index] = match id {
            SPACE_SPACE | SPACE_INDEX | SPACE_COLLATION => numbers(key).map_err(what)?,
            _ => return Ok(()),
        };
        if id == SPACE_COLLATION {
            self.spaces.remove_collation(space);
            self.look_at_all();
            return Ok(());
        }
        if id == SPACE_SPACE {
            self.spaces.remove_space(space);
            self.synchronous.remove(&space);
            self.rows.remove(&space);
            self.trees.end(space, self.signature);
        } else {
            self.spaces.remove_index(space, index);
            // Without its first index a space has no rows. A new first index starts empty.
            if index == 0 {
                self.rows.get_mut(&space).into_iter().for_each(SpaceRows::truncate);
                self.trees.end(space, self.signature);
            }
        }
        self.stale.insert(space);
        self.fresh = None;
        Ok(())
    }

    /// Looks at the definitions of all spaces again when they are next used: a collation changed, and any
    /// index may use it.
    fn look_at_all(&mut self) {
        self.stale.extend(self.spaces.ids());
        self.fresh = None;
    }

    /// Returns what a row is about to change. Returns `None` if it changes nothing, cannot be applied, or its
    /// space has no usable key.
    pub(super) fn before(&mut self, row: &Row) -> Option<Undo> {
        let space = row.body.space?;
        self.freshen(space).ok()?;
        let rows = self.rows.get_mut(&space)?;
        let primary = rows.table.primary()?;
        let key = match row.kind {
            RowKind::Insert | RowKind::Replace | RowKind::Upsert => rows.key_of_tuple(row.body.tuple?),
            RowKind::Update | RowKind::Delete => rows.read_key(row.body.key?, primary),
            _ => return None,
        };
        let key = key.ok()?;
        rows.settle();
        let tuple = rows.find(&key).map(|found| rows.tuple(found).to_vec());
        Some(Undo { space, key, tuple })
    }

    /// Returns the tuple that has the primary key of another one; `None` if there is none, or no usable key.
    ///
    /// # Errors
    /// There is no such space, or the tuple does not fit its keys.
    pub(super) fn same_key(&mut self, space: u32, tuple: &[u8]) -> Result<Option<Vec<u8>>, String> {
        self.freshen(space)?;
        if self.trees.of_row(space, i64::MAX) == Pending::Load {
            self.load_tree(space)?;
        }
        let Some(rows) = self.rows.get_mut(&space) else { return Err(format!("there is no space {space}")) };
        if rows.table.primary().is_none() {
            return Ok(None);
        }
        let key = rows.key_of_tuple(tuple).map_err(|damage| damage.what.to_owned())?;
        rows.settle();
        Ok(rows.find(&key).map(|found| rows.tuple(found).to_vec()))
    }

    /// Visits the tuples of a space.
    ///
    /// # Errors
    /// What `show` returns.
    pub(super) fn each_tuple(
        &mut self,
        space: u32,
        show: impl FnMut(&[u8]) -> Result<(), Damage>,
    ) -> Result<(), Damage> {
        self.rows.get_mut(&space).map_or(Ok(()), |rows| rows.each_tuple(show))
    }

    /// Undoes the change of a row.
    pub(super) fn take_back(&mut self, undo: &Undo) {
        let Some(rows) = self.rows.get_mut(&undo.space) else { return };
        match &undo.tuple {
            Some(tuple) => rows.put(tuple, Before::Perhaps).expect("it was there before"),
            None => rows.delete(&undo.key),
        }
    }

    /// Returns the rows of every space with durable rows, and a line for each space with changes that could
    /// not be made. Adds remarks to `remarks`.
    ///
    /// # Errors
    /// Errors of the store for a row that is too large; an invalid definition.
    pub(super) fn finish(
        mut self,
        reached: i64,
        remarks: &mut Vec<String>,
    ) -> Result<(Vec<FinishedSpace>, Vec<String>), String> {
        for id in self.stale.clone() {
            self.freshen(id)?;
        }
        let mut left_out = self.load_rest(reached)?;
        for (id, count) in &self.unkeyed {
            let name = self.rows.get(id).map_or("", |rows| &rows.space.name);
            left_out.push(format!(
                "space {name} ({id}): {count} changes in the logs left the old tuples as they were, \
                 because its primary key cannot be represented"
            ));
        }
        let mut spaces = Vec::new();
        for (_, mut rows) in self.rows {
            if rows.space.has_rows() && (rows.row_count() > 0 || rows.table.primary().is_some()) {
                remarks.extend(rows.table.remarks.iter().cloned());
                spaces.push(rows.finish().map_err(|error| error.to_string())?);
            }
        }
        Ok((spaces, left_out))
    }
}

/// Reads the first two numbers of an array. A missing number is 0.
fn numbers(array: &[u8]) -> Result<[u32; 2], Damage> {
    let mut reader = Reader::new(array);
    let mut numbers = [0; 2];
    let count = reader.array_len()? as usize;
    for number in numbers.iter_mut().take(count) {
        let damage = reader.damage("a definition's number is over 32 bits");
        *number = u32::try_from(reader.uint()?).map_err(|_| damage)?;
    }
    Ok(numbers)
}
