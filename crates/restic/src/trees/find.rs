//! Finds nodes in many snapshots at once.
//!
//! Input: the trees of snapshots, and a filter. Output: each matching path, with the snapshots that have it.
//! Does not depend on patterns or times.
//!
//! A directory that thirty snapshots share is read once, and its matches are returned once, with all thirty
//! snapshots. The same holds for an unchanged file in a directory that changed.

use crate::encoding::id::Id;
use crate::error::Result;
use crate::format::tree::{Node, NodeKind};
use crate::repository::Repository;
use crate::snapshots::select::instant;
use crate::trees::walk::{RootSet, Sharing, VisitedDirectory, Visitor, WalkProblem, walk};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use work::Progress;

/// A match. A file with another content, size, kind or time at the same path is another match; a directory is
/// always the same.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its path: "/home/ana/1:2,S".
    pub path: Vec<u8>,
    /// What it is.
    pub node: Node<'static>,
    /// The snapshots that have it, by their position among the roots.
    pub roots: RootSet,
}

/// Decides what matches.
pub struct FindFilter<'a> {
    /// Returns whether a node matches, given the path of its directory.
    pub matches: &'a (dyn Fn(&[u8], &Node<'_>) -> bool + Sync),
    /// Returns whether anything in the directory at that path may match.
    pub may_hold: &'a (dyn Fn(&[u8]) -> bool + Sync),
}

/// Returns all nodes below `roots` that match, by path and then by the first snapshot that has them, and the
/// trees that could not be read.
///
/// # Errors
/// The index cannot be read, or [`Error::Interrupted`](crate::Error::Interrupted).
pub fn find(
    repository: &Repository,
    roots: &[Id],
    wish: &FindFilter<'_>,
    progress: &dyn Progress,
) -> Result<(Vec<Found>, Vec<WalkProblem>)> {
    let finder = Finder { wish, found: Mutex::default() };
    let problems = walk(repository, roots, Sharing::ByPath, &finder, progress)?;
    let found = finder.found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut found: Vec<Found> = found
        .into_iter()
        .flat_map(|(path, nodes)| {
            nodes.into_iter().map(move |(node, roots)| Found { path: path.clone(), node, roots })
        })
        .collect();
    found.sort_by(|one, other| {
        one.path.cmp(&other.path).then_with(|| one.roots.iter().next().cmp(&other.roots.iter().next()))
    });
    Ok((found, problems))
}

/// What was found at one path.
type Nodes = Vec<(Node<'static>, RootSet)>;

struct Finder<'a> {
    wish: &'a FindFilter<'a>,
    found: Mutex<HashMap<Vec<u8>, Nodes>>,
}

impl Visitor for Finder<'_> {
    fn enters(&self, visited: &VisitedDirectory<'_>, node: &Node<'_>) -> bool {
        (self.wish.may_hold)(&visited.path_of(node))
    }

    fn visit(&self, visited: &VisitedDirectory<'_>, node: &Node<'_>) -> Result<()> {
        if (self.wish.matches)(visited.path, node) {
            let path = visited.path_of(node);
            let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            let nodes = found.entry(path).or_default();
            match nodes.iter_mut().find(|(known, _)| is_same(known, node)) {
                Some((_, roots)) => _ = roots.add(visited.roots),
                None => nodes.push((node.clone().into_owned(), visited.roots.clone())),
            }
        }
        Ok(())
    }
}

/// Returns whether two nodes at one path count as the same match.
fn is_same(one: &Node<'_>, other: &Node<'_>) -> bool {
    let of = |node: &Node<'_>| (node.size, instant(&node.modified), node.device);
    let is_alike =
        || of(one) == of(other) && one.content == other.content && one.link_target == other.link_target;
    one.kind == other.kind && (one.kind == NodeKind::Directory || is_alike())
}
