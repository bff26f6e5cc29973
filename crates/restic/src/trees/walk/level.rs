//! The directories of one depth, each once.
//!
//! Input: directories as a walk meets them. Output: all of them, without those met before.

use super::problem::WalkProblem;
use super::roots::RootSet;
use crate::encoding::id::Id;
use crate::error::Error;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What counts as one tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// A tree is visited once, at the first path where it is met: to count what is used.
    ByTree,
    /// A tree is visited once for each path at which it lies, with the set of all roots that have it there.
    ByPath,
}

/// A directory to be read.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) tree: Id,
    pub(super) path: Vec<u8>,
    pub(super) roots: Arc<RootSet>,
}

impl Item {
    /// Returns what to say of a directory that cannot be read.
    pub(super) fn problem(&self, error: Error) -> WalkProblem {
        WalkProblem { tree: self.tree, path: self.path.clone(), error }
    }
}

/// The directories of one depth.
#[derive(Debug)]
pub(super) enum Level {
    /// Each tree once in the whole walk.
    ByTree {
        /// All that were met at any depth.
        seen: HashSet<Id>,
        /// Those of this depth.
        items: Vec<Item>,
    },
    /// Each pair of tree and path once.
    ByPath(HashMap<(Id, Vec<u8>), Arc<RootSet>>),
    /// There were more than memory is meant for.
    Full,
}

impl Level {
    /// Returns an empty level; `seen` are the trees that levels above it met.
    pub(super) fn new(sharing: Sharing, seen: HashSet<Id>) -> Level {
        match sharing {
            Sharing::ByTree => Level::ByTree { seen, items: Vec::new() },
            Sharing::ByPath => Level::ByPath(HashMap::new()),
        }
    }

    /// Adds a directory. If there are more than `count_max`, none are kept: a few trees that each name the
    /// next one several times have paths without end.
    pub(super) fn add(&mut self, item: Item, count_max: usize) {
        match self {
            Level::Full => {}
            Level::ByTree { seen, items } => {
                if seen.insert(item.tree) {
                    items.push(item);
                }
            }
            Level::ByPath(items) => {
                let Item { tree, path, roots } = item;
                let known = items.entry((tree, path)).or_insert_with(|| Arc::clone(&roots));
                if !Arc::ptr_eq(known, &roots) {
                    Arc::make_mut(known).add(&roots);
                }
                if items.len() > count_max {
                    *self = Level::Full;
                }
            }
        }
    }

    /// Returns the directories, and the trees met so far. Nothing if they were too many.
    pub(super) fn into_items(self) -> Option<(Vec<Item>, HashSet<Id>)> {
        Some(match self {
            Level::Full => return None,
            Level::ByTree { seen, items } => (items, seen),
            Level::ByPath(items) => {
                let items = items.into_iter().map(|((tree, path), roots)| Item { tree, path, roots });
                (items.collect(), HashSet::new())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_level_is_larger_than_memory_is_meant_for() {
        let item = |number: u8| {
            let roots = Arc::new(RootSet::of(0, 1));
            Item { tree: Id([7; Id::BYTES]), path: vec![number], roots }
        };
        let level = |count: u8| {
            let mut level = Level::new(Sharing::ByPath, HashSet::new());
            (0..count).for_each(|number| level.add(item(number), 2));
            level.add(item(0), 2);
            level.into_items().map(|(items, _)| items.len())
        };
        assert_eq!([1, 2, 3, 9].map(level), [Some(1), Some(2), None, None]);
    }
}
