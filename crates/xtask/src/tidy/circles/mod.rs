//! No two modules of a crate use each other, directly or through others.
//!
//! Input: a [`Tree`]. Output: a finding for each circle, with the uses that close it. Circles are among
//! files: a folder's `mod.rs` is a file like any other. Declaring a child and re-exporting its items is no
//! use; tests do not count. Method calls are not seen, because only a type checker knows whose method is
//! called.

mod components;
mod modules;
mod names;
mod tokens;
mod uses;

use super::finding::Finding;
use super::tree::Tree;
use modules::Crate;
use std::collections::{BTreeMap, BTreeSet};
use uses::{Use, Uses};

/// The files with which a crate can begin.
const ROOTS: [&str; 2] = ["/src/lib.rs", "/src/main.rs"];

/// Checks that no files of a crate use each other in a circle.
pub(super) fn circles(tree: &Tree) -> Vec<Finding> {
    let is_root = |path: &str| ROOTS.iter().any(|root| path.ends_with(root));
    let roots = tree.rust().map(|(path, _)| path).filter(|path| is_root(path));
    roots.flat_map(|root| found(&names::uses(&Crate::read(tree, root)))).collect()
}

/// Returns a finding for each circle among `uses`.
fn found(uses: &Uses) -> Vec<Finding> {
    let arrows: BTreeMap<&str, BTreeSet<&str>> = uses
        .iter()
        .map(|(from, targets)| (from.as_str(), targets.keys().map(String::as_str).collect()))
        .collect();
    let circles = components::components(&arrows);
    circles
        .iter()
        .map(|circle| finding(uses, circle, &components::shortest_circle(&arrows, circle)))
        .collect()
}

/// Describes a circle: all its files, and the uses that close the shortest way around.
fn finding(uses: &Uses, files: &BTreeSet<&str>, shortest: &[&str]) -> Finding {
    let next = shortest.iter().cycle().skip(1);
    let steps: Vec<(&str, &str, &Use)> =
        shortest.iter().zip(next).map(|(&from, &to)| (from, to, &uses[from][to])).collect();
    let (first, rest) = steps.split_first().expect("a circle has at least two files");
    let rest = rest.iter().map(|(from, to, by)| format!("{from}:{} uses {} of {to}", by.line, by.name));
    let rest: Vec<String> = rest.collect();
    let more = match files.len() - shortest.len() {
        0 => String::new(),
        _ => format!("; the whole circle is {}", files.iter().copied().collect::<Vec<_>>().join(", ")),
    };
    Finding {
        path: first.0.to_owned(),
        line: first.2.line,
        what: format!(
            "uses {} of {} in a circle: {}{more}; move what they share into a file of its own",
            first.2.name,
            first.1,
            rest.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests;
