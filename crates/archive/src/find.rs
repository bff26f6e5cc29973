//! Finding nodes over many snapshots at once.
//!
//! Comes in: the trees of snapshots, and what is looked for. Goes out: each place that matches, with the snapshots that have it. Must not
//! know patterns or times: the caller decides what matches.
//!
//! What thirty snapshots share is read once, and found once with thirty numbers.

use crate::error::Result;
use crate::id::Id;
use crate::progress::Progress;
use crate::repository::Repository;
use crate::tree::Node;
use crate::walk::{Place, RootSet, Sharing, Visitor, WalkProblem, walk};
use std::sync::{Mutex, PoisonError};

/// A node that was looked for.
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
    /// Says whether a node is looked for, by its path.
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
    let mut found = finder.found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by_cached_key(|found| (found.path.clone(), found.roots.iter().next()));
    Ok((found, problems))
}

struct Finder<'a> {
    wish: &'a Wish<'a>,
    found: Mutex<Vec<Found>>,
}

impl Visitor for Finder<'_> {
    fn enters(&self, place: &Place<'_>, node: &Node<'_>) -> bool {
        (self.wish.may_hold)(&place.path_of(node))
    }

    fn visit(&self, place: &Place<'_>, node: &Node<'_>) -> Result<()> {
        let path = place.path_of(node);
        if (self.wish.matches)(&path, node) {
            let node = node.clone().into_owned();
            let found = Found { path, node, roots: place.roots.clone() };
            self.found.lock().unwrap_or_else(PoisonError::into_inner).push(found);
        }
        Ok(())
    }
}
