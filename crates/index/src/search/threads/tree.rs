//! How the messages of one thread answer each other: a tree, in the manner of Zawinski's message threading
//! (<https://www.jwz.org/doc/threading.html>).
//!
//! In: messages in the order of their dates, each with its node and that of the message it answers, and the
//! chains of ancestors that they name. Out: the order in which to show them, with depths. Pure: what came
//! first to the index does not matter.

use crate::tables::NO_NODE;
use std::collections::HashMap;

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// The node of its Message-ID; several messages may have the same.
    pub node: u32,
    /// The node of the message that it answers, or [`NO_NODE`].
    pub parent: u32,
    /// Whether it is to be shown; one that is not only tells what stands above others.
    pub is_shown: bool,
}

/// Where a message is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TreePosition {
    /// Its place among the items.
    pub index: usize,
    /// How many messages stand above it.
    pub depth: u32,
}

/// Arranges messages by what each answers.
pub(super) fn by_parents(items: &[Item]) -> Vec<TreePosition> {
    let mut links = Links::new(items);
    links.own_parents(items);
    links.places(items)
}

/// Arranges messages by what each answers, and those whose parent is missing or unknown also by the chains of
/// ancestors that messages name: `chains` has one for each item, the oldest first.
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

/// A node and what stands above it; one without a message to show has no item.
#[derive(Debug, Default)]
struct Container {
    parent: Option<usize>,
    /// Towards the top of its tree, which a union-find finds fast.
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

    /// Puts a node below another, unless it has a parent already or would stand above itself.
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
            // Halves the way for the next time.
            self.containers[top].towards_top = self.containers[next].towards_top;
            top = next;
        }
        top
    }

    /// Returns for each item the item that it stands below. What has no message to show is passed over; an
    /// item whose node another one has, too, stands where the first one does.
    fn parents(&self, items: &[Item]) -> Vec<Option<usize>> {
        // The nearest message above a ghost, for each container, so that long rows of ghosts are walked once.
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

    /// Items from text: `node` or `node<parent`, in the order of their dates; with a `-` behind, one that is
    /// not shown.
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

    /// Shows places as nodes with a dot for each level.
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
            // Twice the same Message-ID, and an answer to it.
            ("1 1 2<1", "1 .2 1"),
            // Circles.
            ("1<2 2<1", "2 .1"),
            ("1<1 2<1", "1 .2"),
            ("1<3 2<1 3<2", "3 .1 ..2"),
            // The parent is missing: both stand alone.
            ("2<9 3<9", "2 3"),
            // The parent is not shown, and tells what is above.
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
            // Two rows of ghosts.
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
