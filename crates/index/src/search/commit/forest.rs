//! The root of every node of the thread forest, kept in memory and carried forward from commit to commit.
//!
//! Input: rows of the table `threads`, which edges count. Output: the root of a node: of all edges that of a
//! conversation, without the late ones the head of a thread. Must not know messages.
//!
//! The lowest node of a tree is its root and identifies it. Nodes are never removed and trees never split, so
//! a later commit only adds nodes and joins trees. A forest therefore shares one resolved array with the
//! forests of older commits, and keeps later changes separately.

use crate::edges::Grouping;
use crate::error::{Error, Result};
use crate::set::NumberSet;
use crate::tables::threads;
use std::collections::HashMap;
use std::sync::Arc;
use store::{RowId, Snapshot};

/// How many changes a forest keeps before it is resolved into a new array.
const CHANGE_COUNT_MAX: usize = 1 << 16;

/// The root of every node.
#[derive(Clone, Debug)]
pub(crate) struct Forest {
    /// Which nodes are one tree.
    grouping: Grouping,
    /// The root of each node that existed when the table was last read completely.
    resolved: Arc<[u32]>,
    /// The roots of nodes added since then.
    added: Vec<u32>,
    /// Roots that were joined to a lower node since then.
    joined: HashMap<u32, u32>,
    /// The keys of `joined`: tested first, because almost no root is in it.
    is_joined: NumberSet,
}

impl Forest {
    /// Reads the table and resolves all nodes. The parent of a node has a lower number, so one pass in
    /// ascending order suffices.
    ///
    /// # Errors
    /// Damage in the store.
    pub(crate) fn load(snapshot: &Snapshot, node_count: u32, grouping: Grouping) -> Result<Forest> {
        let mut roots: Vec<u32> = (0..node_count).collect();
        for part in snapshot.table(threads::TABLE)?.parts() {
            let nodes = part.u32s(threads::NODE, 0..part.row_count())?;
            let above = part.u32s(threads::ABOVE, 0..part.row_count())?;
            for (_, (node, above)) in part.live_values(nodes.iter().zip(above.iter())) {
                let above = grouping.above(*node, *above).ok_or(OUT_OF_RANGE)?;
                *roots.get_mut(*node as usize).ok_or(OUT_OF_RANGE)? = above;
            }
        }
        for node in 0..roots.len() {
            roots[node] = roots[roots[node] as usize];
        }
        Ok(Forest::resolved(roots, grouping))
    }

    fn resolved(roots: Vec<u32>, grouping: Grouping) -> Forest {
        Forest {
            grouping,
            resolved: roots.into(),
            added: Vec::new(),
            joined: HashMap::new(),
            is_joined: NumberSet::new(0),
        }
    }

    /// Returns the forest of a later commit: this one with the rows that only the later commit has.
    ///
    /// # Errors
    /// The rows do not continue this forest; damage in the store.
    pub(crate) fn with_rows(&self, snapshot: &Snapshot, rows: &[RowId]) -> Result<Forest> {
        let table = snapshot.table(threads::TABLE)?;
        let mut links = Vec::with_capacity(rows.len());
        for id in rows {
            let part = table.part(*id);
            let (node, above) = (part.u32_at(threads::NODE, id.row)?, part.u32_at(threads::ABOVE, id.row)?);
            links.push((node, self.grouping.above(node, above).ok_or(OUT_OF_RANGE)?));
        }
        links.sort_unstable();
        let mut forest = self.clone();
        for (node, above) in links {
            forest.link(node, above)?;
        }
        Ok(forest.compacted())
    }

    /// Puts `node` below `above`, which is a lower node or `node` itself. Nodes come in ascending order.
    fn link(&mut self, node: u32, above: u32) -> Result<()> {
        if above > node || node > self.bound() {
            return Err(OUT_OF_RANGE);
        }
        if node == self.bound() {
            let root = if above == node { node } else { self.of(above) };
            self.added.push(root);
            return Ok(());
        }
        let (one, other) = (self.of(node), self.of(above));
        let (lower, higher) = (one.min(other), one.max(other));
        if lower < higher {
            self.is_joined.grow(higher + 1);
            self.is_joined.insert(higher);
            self.joined.insert(higher, lower);
        }
        Ok(())
    }

    /// Resolves the changes into a new array if there are many.
    fn compacted(self) -> Forest {
        if self.added.len() + self.joined.len() <= CHANGE_COUNT_MAX {
            return self;
        }
        Forest::resolved((0..self.bound()).map(|node| self.of(node)).collect(), self.grouping)
    }

    /// Returns the root of a node. A node that does not exist is its own root; `check` reports it.
    #[inline]
    pub(crate) fn of(&self, node: u32) -> u32 {
        let mut root = self.known_root(node);
        while self.is_joined.contains(root)
            && let Some(lower) = self.joined.get(&root)
        {
            root = *lower;
        }
        root
    }

    /// Returns a test of whether nodes belong to one of these roots. It is faster than [`Forest::of`] for
    /// each of many nodes.
    pub(crate) fn members(&self, roots: &NumberSet) -> Members<'_> {
        let mut known_roots = roots.clone();
        known_roots.grow(self.is_joined.bound());
        // Roots that were joined to one of them since.
        self.joined.keys().filter(|root| roots.contains(self.of(**root))).for_each(|root| {
            known_roots.insert(*root);
        });
        Members { forest: self, known_roots }
    }

    /// Returns the root that a node had before later roots were joined.
    #[inline]
    fn known_root(&self, node: u32) -> u32 {
        let at = node as usize;
        let known = self.resolved.get(at).or_else(|| self.added.get(at.wrapping_sub(self.resolved.len())));
        known.copied().unwrap_or(node)
    }

    /// Returns the number of nodes.
    pub(crate) fn bound(&self) -> u32 {
        u32::try_from(self.resolved.len() + self.added.len()).expect("nodes are numbered by u32")
    }
}

/// The nodes of some roots.
pub(crate) struct Members<'a> {
    forest: &'a Forest,
    known_roots: NumberSet,
}

impl Members<'_> {
    /// Returns whether a node belongs to one of the roots.
    #[inline]
    pub(crate) fn contains(&self, node: u32) -> bool {
        self.known_roots.contains(self.forest.known_root(node))
    }
}

const OUT_OF_RANGE: Error = Error::Inconsistent { what: "a node of a thread is out of its range" };

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Resolves links one by one: slow but obvious.
    fn roots(above: &[u32]) -> Vec<u32> {
        let root = |node: usize| {
            let mut node = node;
            while above[node] as usize != node {
                node = above[node] as usize;
            }
            u32::try_from(node).unwrap()
        };
        (0..above.len()).map(root).collect()
    }

    proptest! {
        #[test]
        fn a_forest_carried_forward_has_the_roots_of_one_made_anew(
            links in proptest::collection::vec((any::<bool>(), any::<u32>(), any::<u32>()), 1..200),
            compacts in any::<bool>(),
        ) {
            let mut above: Vec<u32> = Vec::new();
            let mut forest = Forest::resolved(Vec::new(), Grouping::Conversations);
            for (is_new, one, other) in links {
                let count = u32::try_from(above.len()).unwrap();
                if is_new || count < 2 {
                    let parent = one % (count + 1);
                    above.push(parent);
                    forest.link(count, parent).unwrap();
                } else {
                    // Like the pass, puts the higher of two roots below the lower.
                    let all = roots(&above);
                    let (a, b) = (all[(one % count) as usize], all[(other % count) as usize]);
                    above[a.max(b) as usize] = a.min(b);
                    forest.link(a.max(b), a.min(b)).unwrap();
                }
                if compacts && above.len().is_multiple_of(7) {
                    let roots = (0..forest.bound()).map(|node| forest.of(node)).collect();
                    forest = Forest::resolved(roots, Grouping::Conversations);
                }
                let carried: Vec<u32> = (0..forest.bound()).map(|node| forest.of(node)).collect();
                let mut wanted = NumberSet::new(forest.bound());
                carried.iter().filter(|root| **root % 3 == 0).for_each(|root| wanted.insert(*root));
                let members = forest.members(&wanted);
                for (node, root) in (0..).zip(&carried) {
                    prop_assert_eq!(members.contains(node), root % 3 == 0);
                }
                prop_assert_eq!(carried, roots(&above));
            }
        }
    }

    #[test]
    fn nodes_that_leave_a_gap_or_point_up_are_refused() {
        let mut forest = Forest::resolved(vec![0, 0], Grouping::Conversations);
        assert!(forest.link(3, 0).is_err());
        assert!(forest.link(1, 2).is_err());
        assert!(forest.link(2, 2).is_ok());
        assert_eq!((forest.of(2), forest.of(9)), (2, 9));
    }
}
