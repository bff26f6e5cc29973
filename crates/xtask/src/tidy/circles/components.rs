//! Circles in a graph of names.
//!
//! Input: which name leads to which. Output: the sets of names that lead to each other, and the shortest way
//! around. Does not depend on files or Rust.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Which names each name leads to.
pub(super) type Arrows<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Returns the sets of at least two names that all lead to each other, directly or through others.
pub(super) fn components<'a>(arrows: &Arrows<'a>) -> Vec<BTreeSet<&'a str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        arrows.keys().map(|&from| (from, distances(arrows, from).into_keys().collect())).collect();
    let mut found: Vec<BTreeSet<&str>> = Vec::new();
    for (&from, targets) in &reached {
        let leads_back = |to: &&&str| reached.get(**to).is_some_and(|targets| targets.contains(from));
        let mut component: BTreeSet<&str> = targets.iter().filter(leads_back).copied().collect();
        component.insert(from);
        if component.len() > 1 && !found.contains(&component) {
            found.push(component);
        }
    }
    found
}

/// Returns the shortest way around in `component`, one of the sets that [`components`] returns. It leads from
/// each name to the next, and from the last one to the first.
pub(super) fn shortest_circle<'a>(arrows: &Arrows<'a>, component: &BTreeSet<&'a str>) -> Vec<&'a str> {
    let mut shortest: Option<Vec<&str>> = None;
    for &first in component {
        let before = distances(arrows, first);
        let mut way = vec![first];
        let mut name = before.get(first).copied();
        while let Some(step) = name.filter(|&step| step != first) {
            way.push(step);
            name = before.get(step).copied();
        }
        way[1..].reverse();
        if name.is_some() && shortest.as_ref().is_none_or(|shortest| way.len() < shortest.len()) {
            shortest = Some(way);
        }
    }
    shortest.expect("the names of a component lead to each other")
}

/// Returns all names that `from` leads to, each with the name before it on the shortest way. `from` is among
/// them only if a way leads back to it.
fn distances<'a>(arrows: &Arrows<'a>, from: &'a str) -> BTreeMap<&'a str, &'a str> {
    let mut before = BTreeMap::new();
    let mut waiting = VecDeque::from([from]);
    while let Some(name) = waiting.pop_front() {
        for &next in arrows.get(name).into_iter().flatten() {
            if !before.contains_key(next) {
                before.insert(next, name);
                waiting.push_back(next);
            }
        }
    }
    before
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_found_and_the_shortest_way_around() {
        let pairs =
            [("a", "b"), ("b", "c"), ("c", "a"), ("c", "b"), ("c", "d"), ("e", "f"), ("f", "e"), ("g", "a")];
        let mut arrows = Arrows::new();
        for (from, to) in pairs {
            arrows.entry(from).or_default().insert(to);
        }
        let found = components(&arrows);
        assert_eq!(found, [BTreeSet::from(["a", "b", "c"]), BTreeSet::from(["e", "f"])]);
        assert_eq!(shortest_circle(&arrows, &found[0]), ["b", "c"]);
        assert!(components(&Arrows::from([("a", BTreeSet::from(["b"]))])).is_empty());
    }
}
