//! Finding nodes over many snapshots at once.
//!
//! Comes in: the trees of snapshots, and what is looked for. Goes out: each place that matches, with the snapshots that have it. Must not
//! know patterns or times: the caller decides what matches.
//!
//! What thirty snapshots share is read once, and found once with thirty numbers; so is a file that stays what it was in a directory that
//! does not.

use crate::error::Result;
use crate::id::Id;
use crate::progress::Progress;
use crate::repository::Repository;
use crate::select::instant;
use crate::tree::{Node, NodeKind};
use crate::walk::{Place, RootSet, Sharing, Visitor, WalkProblem, walk};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// A node that was looked for. A file with another content, size, kind or time at the same path is another one; a directory never is.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its path: "/home/ana/1:2,S".
    pub path: Vec<u8>,
    /// What it is.
    pub node: Node<'static>,
    /// In which of the snapshots, by their places among the roots.
    pub roots: RootSet,
}

/// What is looked for.
pub struct Wish<'a> {
    /// Says whether a node is looked for, by the path of its directory.
    pub matches: &'a (dyn Fn(&[u8], &Node<'_>) -> bool + Sync),
    /// Says whether anything in the directory of that path may be.
    pub may_hold: &'a (dyn Fn(&[u8]) -> bool + Sync),
}

/// Returns all nodes below `roots` that are looked for, by path and then by the first snapshot that has them; and the trees that could
/// not be read.
///
/// # Errors
/// The index cannot be read, or [`Error::Interrupted`](crate::Error::Interrupted).
pub fn find(
    repository: &Repository,
    roots: &[Id],
    wish: &Wish<'_>,
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
    wish: &'a Wish<'a>,
    found: Mutex<HashMap<Vec<u8>, Nodes>>,
}

impl Visitor for Finder<'_> {
    fn enters(&self, place: &Place<'_>, node: &Node<'_>) -> bool {
        (self.wish.may_hold)(&place.path_of(node))
    }

    fn visit(&self, place: &Place<'_>, node: &Node<'_>) -> Result<()> {
        if (self.wish.matches)(place.path, node) {
            let path = place.path_of(node);
            let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
            let nodes = found.entry(path).or_default();
            match nodes.iter_mut().find(|(known, _)| is_same(known, node)) {
                Some((_, roots)) => _ = roots.add(place.roots),
                None => nodes.push((node.clone().into_owned(), place.roots.clone())),
            }
        }
        Ok(())
    }
}

/// Says whether two nodes of one path are one for whoever looks for it.
fn is_same(one: &Node<'_>, other: &Node<'_>) -> bool {
    let of = |node: &Node<'_>| (node.size, instant(&node.modified), node.device);
    let is_alike =
        || of(one) == of(other) && one.content == other.content && one.link_target == other.link_target;
    one.kind == other.kind && (one.kind == NodeKind::Directory || is_alike())
}
