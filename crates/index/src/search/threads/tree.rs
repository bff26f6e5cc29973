//! How the messages of one thread answer each other: a tree, in the manner of Zawinski's message threading
//! (<https://www.jwz.org/doc/threading.html>).
//!
//! Input: messages sorted by date, each with its node and the node of the message that it answers, and the
//! chains of ancestors that messages name. Output: the order in which to show them, with depths. Pure: the
//! order in which messages were indexed does not matter.

use crate::tables::NO_NODE;
use std::collections::HashMap;

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// The node of its Message-ID. Several messages may share one.
    pub node: u32,
    /// The node of the message that it answers, or [`NO_NODE`].
    pub parent: u32,
    /// Whether it is shown. A message that is not shown only connects others.
    pub is_shown: bool,
}

/// Where a message is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TreePosition {
    /// Its index among the items.
    pub index: usize,
    /// How many messages are above it.
    pub depth: u32,
}

/// Arranges messages by the message that each answers.
pub(super) fn by_parents(items: &[Item]) -> Vec<TreePosition> {
    let mut links = Links::new(items);
    links.own_parents(items);
    links.places(items)
}

/// Arranges messages by the message that each answers. Where that is missing or unknown, uses the chains of
/// ancestors that messages name. `chains` has one chain per item, oldest first.
pub(super) fn by_chains(items: &[Item], chains: &[Vec<u32>]) -> Vec<TreePosition> {
    let mut links = Links::new(items);
    links.own_parents(items);
    for chain in chains {
        for pair in chain.windows(2) {
            if let [parent, child] = pair {
                links.link(*child, *parent);
            }
        }
    }
    links.places(items)
}

/// A node and its parent. It has no item if no message of the node is shown.
#[derive(Debug, Default)]
struct Container {
    parent: Option<usize>,
    /// A node closer to the root of its tree, as in a union-find.
    towards_top: usize,
    first_item: Option<usize>,
}

#[derive(Debug, Default)]
struct Links {
    containers: Vec<Container>,
    by_node: HashMap<u32, usize>,
}

impl Links {
    fn new(items: &[Item]) -> Links {
        let mut links = Links::default();
        for (index, item) in items.iter().enumerate() {
            let container = links.container(item.node);
            if item.is_shown {
                links.containers[container].first_item.get_or_insert(index);
            }
        }
        links
    }

    fn own_parents(&mut self, items: &[Item]) {
        for item in items.iter().filter(|item| item.parent != NO_NODE) {
            self.link(item.node, item.parent);
        }
    }

    fn container(&mut self, node: u32) -> usize {
        if let Some(index) = self.by_node.get(&node) {
            return *index;
        }
        let index = self.containers.len();
        self.containers.push(Container { towards_top: index, ..Container::default() });
        self.by_node.insert(node, index);
        index
    }

    /// Puts a node below another, unless it already has a parent or would become its own ancestor.
    fn link(&mut self, child: u32, parent: u32) {
        let (child, parent) = (self.container(child), self.container(parent));
        if self.containers[child].parent.is_none() && self.top(parent) != child {
            self.containers[child].parent = Some(parent);
            self.containers[child].towards_top = parent;
        }
    }

    fn top(&mut self, container: usize) -> usize {
        let mut top = container;
        while self.containers[top].towards_top != top {
            let next = self.containers[top].towards_top;
            // Halves the path for the next search.
            self.containers[top].towards_top = self.containers[next].towards_top;
            top = next;
        }
        top
    }

    /// Returns the parent item of each item. Nodes without a shown message are skipped. If several items
    /// share a node, all are placed where the first one is.
    fn parents(&self, items: &[Item]) -> Vec<Option<usize>> {
        // For each container, the nearest message above it, so that long chains of ghosts are walked only
        // once.
        let mut nearest: Vec<Option<Option<usize>>> = vec![None; self.containers.len()];
        let mut way = Vec::new();
        let mut above = |container: usize| {
            let mut at = container;
            let found = loop {
                if let Some(known) = nearest[at] {
                    break known;
                }
                way.push(at);
                match self.containers[at].parent {
                    None => break None,
                    Some(parent) => match self.containers[parent].first_item {
                        Some(item) => break Some(item),
                        None => at = parent,
                    },
                }
            };
            way.drain(..).for_each(|passed| nearest[passed] = Some(found));
            found
        };
        items.iter().map(|item| above(self.by_node[&item.node])).collect()
    }

    fn places(&self, items: &[Item]) -> Vec<TreePosition> {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); items.len()];
        let mut tops = Vec::new();
        for (index, parent) in self.parents(items).into_iter().enumerate() {
            match parent {
                _ if !items[index].is_shown => {}
                Some(parent) => children[parent].push(index),
                None => tops.push(index),
            }
        }
        let mut places = Vec::with_capacity(items.len());
        let mut waiting: Vec<TreePosition> =
            tops.into_iter().rev().map(|index| TreePosition { index, depth: 0 }).collect();
        while let Some(place) = waiting.pop() {
            places.push(place);
            let below = children[place.index].iter().rev();
            waiting.extend(
                below.map(|index| TreePosition { index: *index, depth: place.depth.saturating_add(1) }),
            );
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses items: `node` or `node<parent`, sorted by date. A trailing `-` marks an item that is not shown.
    fn items(text: &str) -> Vec<Item> {
        let number = |text: &str| text.trim_end_matches('-').parse().unwrap();
        let item = |word: &str| match word.split_once('<') {
            Some((node, parent)) => {
                Item { node: number(node), parent: number(parent), is_shown: !word.ends_with('-') }
            }
            None => Item { node: number(word), parent: NO_NODE, is_shown: !word.ends_with('-') },
        };
        text.split_whitespace().map(item).collect()
    }

    /// Shows positions as nodes, with a dot per level.
    fn shown(items: &[Item], places: &[TreePosition]) -> String {
        let show =
            |place: &TreePosition| format!("{}{}", ".".repeat(place.depth as usize), items[place.index].node);
        places.iter().map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn answers_stand_below_what_they_answer() {
        for (text, expected) in [
            ("1 2<1 3<2 4<1", "1 .2 ..3 .4"),
            ("1 2 3<1", "1 .3 2"),
            // An answer dated before the question.
            ("2<1 1 3<2", "1 .2 ..3"),
            // The same Message-ID twice, and an answer to it.
            ("1 1 2<1", "1 .2 1"),
            // Circles.
            ("1<2 2<1", "2 .1"),
            ("1<1 2<1", "1 .2"),
            ("1<3 2<1 3<2", "3 .1 ..2"),
            // The parent is missing, so both stand alone.
            ("2<9 3<9", "2 3"),
            // The parent is not shown, but connects the others.
            ("1 2<1- 3<2", "1 .3"),
            ("1- 2<1 3<1", "2 3"),
            ("", ""),
        ] {
            let items = items(text);
            assert_eq!(shown(&items, &by_parents(&items)), expected, "{text}");
        }
    }

    #[test]
    fn chains_tell_what_is_above_missing_messages() {
        for (text, chains, expected) in [
            // 9 is missing; 3 says that it answers 1.
            ("1 2<9 3<9", vec![vec![], vec![9], vec![1, 9]], "1 .2 .3"),
            // 2 lost its references, 3 has them.
            ("1 2 3<2", vec![vec![], vec![], vec![1, 2]], "1 .2 ..3"),
            // A chain that would make a circle.
            ("1 2<1 3<2 4", vec![vec![], vec![1], vec![2], vec![3, 1]], "1 .2 ..3 4"),
            // Two chains of ghosts.
            ("1 2<8 3<9", vec![vec![], vec![1, 7, 8], vec![7, 9]], "1 .2 .3"),
        ] {
            let items = items(text);
            assert_eq!(shown(&items, &by_chains(&items, &chains)), expected, "{text}");
        }
    }

    #[test]
    fn a_chain_as_long_as_may_be_takes_no_square_of_time() {
        let count = 200_000;
        for reversed in [false, true] {
            let mut items: Vec<Item> =
                (1..count).map(|node| Item { node, parent: node - 1, is_shown: true }).collect();
            if reversed {
                items.reverse();
            }
            let places = by_parents(&items);
            assert_eq!(places.iter().map(|place| place.depth).max(), Some(count - 2));
        }
    }
}
