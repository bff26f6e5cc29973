//! Which rows of logs the files of vinyl have already.
//!
//! Input: the newest tree of each space of vinyl, and rows of logs. Output: whether a row is to be applied,
//! and whether the rows of the tree are to be loaded before. Does not read files.
//!
//! A tree has the rows up to its last dump. Rows before the tree was created are of a tree before it, which
//! was dropped or truncated since. Numbers are signatures, that is, sums of a VClock.
//!
//! The rows of a tree are loaded when the first row that it lacks arrives, or after the last row. Then the
//! space has the definition that the tree was last written with.

use crate::space::Space;
use crate::space::table::SpaceTable;
use crate::vinyl::VinylTree;
use std::collections::BTreeMap;
use store::Loaded;

/// Loads the rows of trees.
pub(crate) trait TreeSource {
    /// Returns the rows of a tree, as those of its space.
    ///
    /// # Errors
    /// Why they cannot be loaded; the source keeps the reason.
    fn load(&self, tree: &VinylTree, space: &Space, table: &SpaceTable) -> Result<Loaded, String>;

    /// Returns whether upserts whose result does not fit the format of the space are ignored.
    fn checks_format(&self) -> bool;
}

/// The trees whose rows were not loaded yet, by space.
#[derive(Default)]
pub(super) struct PendingTrees<'v> {
    trees: BTreeMap<u32, PendingTree<'v>>,
    source: Option<&'v dyn TreeSource>,
}

/// A tree of a space.
struct PendingTree<'v> {
    tree: &'v VinylTree,
    is_loaded: bool,
}

/// What to do with a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pending {
    /// Apply it.
    Apply,
    /// Load the rows of the tree, then apply it.
    Load,
    /// The tree has it already, or it was of a tree before it.
    Skip,
}

impl<'v> PendingTrees<'v> {
    pub(super) fn new(
        trees: impl Iterator<Item = &'v VinylTree>,
        source: &'v dyn TreeSource,
    ) -> PendingTrees<'v> {
        let pending = |tree: &'v VinylTree| (tree.space, PendingTree { tree, is_loaded: false });
        PendingTrees { trees: trees.map(pending).collect(), source: Some(source) }
    }

    /// Returns what to do with a row of a space, in a transaction that ends at `signature`.
    #[inline]
    pub(super) fn of_row(&self, space: u32, signature: i64) -> Pending {
        if self.trees.is_empty() {
            return Pending::Apply;
        }
        let Some(PendingTree { tree, is_loaded }) = self.trees.get(&space) else { return Pending::Apply };
        let is_before = tree.create_lsn.is_some_and(|created| signature < created);
        if is_before || signature <= tree.dump_lsn || tree.drop_lsn.is_some() {
            return Pending::Skip;
        }
        if *is_loaded { Pending::Apply } else { Pending::Load }
    }

    /// Returns the rows of a space's tree, which count as loaded from then on.
    ///
    /// # Errors
    /// Why they cannot be loaded.
    pub(super) fn load(&mut self, space: &Space, table: &SpaceTable) -> Result<Option<Loaded>, String> {
        let (Some(pending), Some(source)) = (self.trees.get_mut(&space.id), self.source) else {
            return Ok(None);
        };
        pending.is_loaded = true;
        source.load(pending.tree, space, table).map(Some)
    }

    /// Records that a transaction that ends at `signature` removed all rows of a space. If the newest tree is
    /// older, it ends there, and a prepared one begins.
    pub(super) fn end(&mut self, space: u32, signature: i64) {
        let Some(PendingTree { tree, .. }) = self.trees.get(&space) else { return };
        let created = tree.create_lsn.unwrap_or(-1);
        if signature <= created || tree.drop_lsn.is_some_and(|dropped| signature < dropped) {
            return;
        }
        match tree.prepared.as_deref() {
            Some(tree) => self.trees.insert(space, PendingTree { tree, is_loaded: false }),
            None => self.trees.remove(&space),
        };
    }

    /// Returns whether upserts whose result does not fit the format of the space are ignored.
    pub(super) fn checks_format(&self) -> bool {
        self.source.is_some_and(TreeSource::checks_format)
    }

    /// Returns the spaces whose tree was not loaded, with the tree.
    pub(super) fn rest(&self) -> Vec<(u32, &'v VinylTree)> {
        let rest = self.trees.iter().filter(|(_, pending)| !pending.is_loaded);
        rest.map(|(&space, pending)| (space, pending.tree)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl TreeSource for Nothing {
        fn load(&self, _: &VinylTree, _: &Space, table: &SpaceTable) -> Result<Loaded, String> {
            Loaded::new(&table.schema, Vec::new(), &[]).map_err(|error| error.to_string())
        }

        fn checks_format(&self) -> bool {
            true
        }
    }

    fn tree(create_lsn: i64, dump_lsn: i64) -> VinylTree {
        VinylTree { space: 512, create_lsn: Some(create_lsn), dump_lsn, ..VinylTree::default() }
    }

    #[test]
    fn rows_that_a_tree_has_or_that_are_of_an_older_one_are_skipped() {
        let newest = tree(10, 20);
        let mut trees = PendingTrees::new([&newest].into_iter(), &Nothing);
        let of = |trees: &PendingTrees| [9, 10, 20, 21].map(|signature| trees.of_row(512, signature));
        assert_eq!(of(&trees), [Pending::Skip, Pending::Skip, Pending::Skip, Pending::Load]);
        assert_eq!(trees.of_row(513, 1), Pending::Apply);
        let space = Space { id: 512, ..Space::default() };
        trees.load(&space, &SpaceTable::new(&space)).unwrap().unwrap();
        assert_eq!(of(&trees), [Pending::Skip, Pending::Skip, Pending::Skip, Pending::Apply]);
        // It was created by the truncation at 10. One at 30 has another tree, of which nothing is known.
        trees.end(512, 10);
        assert_eq!(trees.of_row(512, 9), Pending::Skip);
        trees.end(512, 30);
        assert_eq!(trees.of_row(512, 9), Pending::Apply);
        assert!(trees.rest().is_empty());
        // A tree that was never dumped does not have the rows of the one before it.
        let empty = tree(10, 0);
        let trees = PendingTrees::new([&empty].into_iter(), &Nothing);
        assert_eq!([9, 10].map(|signature| trees.of_row(512, signature)), [Pending::Skip, Pending::Load]);
    }

    #[test]
    fn a_prepared_tree_follows_the_one_that_it_was_made_for() {
        let next = VinylTree { space: 512, dump_lsn: -1, ..VinylTree::default() };
        let newest = VinylTree { prepared: Some(Box::new(next)), ..tree(10, 20) };
        let mut trees = PendingTrees::new([&newest].into_iter(), &Nothing);
        trees.end(512, 15);
        assert_eq!(trees.of_row(512, 16), Pending::Load);
        assert_eq!(trees.rest().len(), 1);
    }

    #[test]
    fn rows_of_a_dropped_tree_count_for_nothing_until_it_is_dropped() {
        let dropped = VinylTree { drop_lsn: Some(30), ..tree(10, 20) };
        let mut trees = PendingTrees::new([&dropped].into_iter(), &Nothing);
        assert_eq!(trees.of_row(512, 25), Pending::Skip);
        trees.end(512, 29);
        assert_eq!(trees.of_row(512, 29), Pending::Skip);
        trees.end(512, 30);
        assert_eq!(trees.of_row(512, 31), Pending::Apply);
    }
}
