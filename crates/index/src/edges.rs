//! The ways up in `threads`: which node stands above another one, and where a thread ends.
//!
//! Input: rows. Output: the node above, or that there is none for a question. Must not know messages.
//!
//! An edge is **late** if it joins threads of earlier commits after the first index was complete. All edges
//! together make conversations. Without the late ones they make threads, whose ids never change:
//!
//! - The head of a node is the first node on its way up that is a root or has a late edge. The thread of a
//!   message is named by the head of its node.
//! - A commit adds rows, and changes only rows of roots: it puts each of them below another root, by a late
//!   edge (`pass/commit/link.rs`).
//! - So no row between a node and its head ever changes, as these are no roots. The row of the head may
//!   change, if it is a root; then it has a late edge, and is still the head. A row with a late edge never
//!   changes again. No later commit gives any node another head.
//!
//! Merges and sweeps write rows as they are, and never remove one of `threads`.

/// The bit of a late edge in the column `above`. Nodes have lower numbers.
pub(crate) const LATE: u32 = 1 << 31;

/// Which messages are together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// Those of a thread: a later message never joins two. Ways end at heads.
    Threads,
    /// All that name each other, directly or through others. Ways end at roots.
    Conversations,
}

impl Grouping {
    /// Returns the node above one by the column `above` of its row: the node itself, if its way ends there.
    /// Returns `None` if the row is damaged: an edge leads to a lower number, and a root has no mark.
    #[inline]
    pub(crate) fn above(self, node: u32, column: u32) -> Option<u32> {
        let above = column & !LATE;
        if above >= node && column != node {
            return None;
        }
        Some(if self == Grouping::Threads && above != column { node } else { above })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_edges_end_ways_in_threads_only() {
        let both = |node, column| {
            [Grouping::Conversations, Grouping::Threads].map(|grouping| grouping.above(node, column))
        };
        assert_eq!(both(7, 3), [Some(3), Some(3)]);
        assert_eq!(both(7, 3 | LATE), [Some(3), Some(7)]);
        assert_eq!(both(7, LATE), [Some(0), Some(7)]);
        assert_eq!([both(7, 7), both(0, 0)], [[Some(7); 2], [Some(0); 2]]);
        for damaged in [8, 8 | LATE, 7 | LATE, u32::MAX] {
            assert_eq!(both(7, damaged), [None; 2], "{damaged:#x}");
        }
    }
}
