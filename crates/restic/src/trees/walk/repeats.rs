//! Detects directories that name each other so that their paths multiply without end.
//!
//! Input: each tree that is met at a path, with its number of nodes. Output: whether a file system can have
//! such directories.
//!
//! A tree may lie at many paths: all empty directories are the same tree, and a directory with a thousand
//! copies of another one has a thousand nodes that name one tree. But if each of sixty trees names the next
//! one twice, there are 2^60 paths. So the nodes met at paths are counted against the different nodes in
//! trees: no file system has many more of the former.

use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::format::blob::BlobKind;
use std::collections::HashSet;

/// This many nodes may be met in any case.
const NODE_COUNT_FREE: u64 = 100_000;
/// Of each node of a tree so many may be met at paths: a year of hours, each a directory with a copy of the
/// same files, is 9,000. But no more than there are nodes: each copy is one.
const REPEAT_COUNT_MAX: u64 = 10_000;

/// What was met so far.
#[derive(Debug)]
pub struct Repeats {
    trees: HashSet<Id>,
    different_count: u64,
    met_count: u64,
    root_count: u64,
}

impl Repeats {
    /// Returns one for a walk that begins at so many trees, each of which may have all the others' files at
    /// paths of its own.
    pub fn new(root_count: usize) -> Repeats {
        let root_count = root_count.max(1) as u64;
        Repeats { trees: HashSet::new(), different_count: 0, met_count: 0, root_count }
    }

    /// Takes note of a tree with so many nodes, which was met at one path more.
    ///
    /// # Errors
    /// [`Error::Damage`] if there can be no such directory.
    pub fn meet(&mut self, tree: &Id, node_count: usize) -> Result<()> {
        let node_count = node_count as u64;
        self.met_count = self.met_count.saturating_add(node_count);
        if self.trees.insert(*tree) {
            self.different_count += node_count;
        }
        let (met, different) = (self.met_count, self.different_count);
        let repeats = different.min(REPEAT_COUNT_MAX).saturating_mul(self.root_count);
        if met <= different.saturating_mul(repeats).max(NODE_COUNT_FREE) {
            return Ok(());
        }
        let what =
            format!("directories repeat in it without end: of {met} entries met, {different} are different");
        Err(Error::damage(BlobKind::Tree.named(tree), what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(number: u64) -> Id {
        Id::of(&number.to_le_bytes())
    }

    #[test]
    fn what_multiplies_ends_and_what_repeats_does_not() {
        let mut repeats = Repeats::new(1);
        repeats.meet(&tree(0), 100).unwrap();
        let met = (1..).take_while(|_| repeats.meet(&tree(0), 100).is_ok()).count() as u64;
        assert_eq!((met + 1) * 100, NODE_COUNT_FREE);
        // Five million directories with nothing in them, and copies of a directory in one that names it each
        // time.
        let mut repeats = Repeats::new(1);
        repeats.meet(&tree(0), 5_000_000).unwrap();
        (0..5_000_000).for_each(|_| repeats.meet(&tree(1), 0).unwrap());
        let mut repeats = Repeats::new(1);
        repeats.meet(&tree(0), 9_000).unwrap();
        (0..9_000).for_each(|_| repeats.meet(&tree(1), 100_000).unwrap());
    }

    #[test]
    fn each_snapshot_may_repeat_what_the_others_have() {
        let count = |root_count| {
            let mut repeats = Repeats::new(root_count);
            (0..).take_while(|_| repeats.meet(&tree(0), 1_000).is_ok()).count() as u64
        };
        assert_eq!((count(0), count(1), count(3)), (1_000, 1_000, 3_000), "as often as it has nodes");
    }
}
